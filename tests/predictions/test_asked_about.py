"""What a run asks about: cohorts, a label set, items' own sets, gold labels; never more and never others."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Campaign, Unit
from annotation.services.campaigns import lifecycle
from annotation.services.queue import recount
from annotation.services.queue.slot_creation import create_missing_slots
from benchmarks.models import Item, Label, LabelSet
from benchmarks.services.label_sets import create_typed, ensure, set_cohort_label
from people.services.cohorts import CohortData, update_cohort
from predictions.models import Call, Endpoint, Run
from predictions.services.runs import answer_runs
from predictions.services.runs.answer_runs import RunRefused
from predictions.services.runs.unit_selection import count_new_units, select_item_targets
from tests.annotation.files.test_answer_files import import_answers
from tests.forms import inputs_of
from tests.importing import lines, outcomes
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.request_helpers import Plainly, a_campaign, a_plan, an_endpoint, start_run, use
from tests.predictions.test_new_run import plan, press, text_of

pytestmark = pytest.mark.django_db
PLAIN = Plainly()


@built_once
def campaign(world: World) -> Campaign:
    return a_campaign(world, 4, images=True)


@built_once
def endpoint(world: World) -> Endpoint:
    return an_endpoint(world, "http://127.0.0.1:9/v1", offers=["images"])


@built_once
def lands(world: World) -> LabelSet:
    return create_typed(world.team, "Lands", "Georgia\nPeru\nChad", world.mara)[0]


def about(kind: str = "set", **more: Any) -> dict[str, Any]:
    return {"asked_about": {"kind": kind, **more}}


def targets(campaign: Campaign, selection: dict[str, Any]) -> dict[str, list[str]]:
    """By item, the targets it is asked about."""
    by_item: dict[str, list[str]] = {}
    for spot in select_item_targets(campaign, selection, 3):
        by_item.setdefault(spot.key, []).append(spot.target)
    return by_item


def rename(world: World, label: str) -> None:
    data = CohortData(label=label, names={}, country="EG", languages=["ar"], direction="rtl", time_zone="Africa/Cairo")
    update_cohort(world.egypt, data, world.team_admin)


def test_a_run_over_a_set_asks_exactly_items_times_labels(
    world: World, campaign: Campaign, endpoint: Endpoint, lands: LabelSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, PLAIN)
    run = start_run(world, a_plan(campaign, endpoint, PLAIN, selection=about(set="lands")))
    calls = Call.objects.filter(run=run)
    pairs = set(calls.values_list("item__key", "unit__target", "unit__label_set"))
    items = campaign.stage.items.values_list("key", flat=True)
    assert pairs == {(key, label, lands.pk) for key in items for label in ("Georgia", "Peru", "Chad")}
    assert calls.count() == 12
    assert run.selection["asked_about"]["sets"] == {"lands": "lands@1"}, "the version is stored"
    assert count_new_units(run) == 0 and recount.find_differences() == []


def test_later_items_are_asked_about_the_version_of_the_run(
    world: World, campaign: Campaign, endpoint: Endpoint, lands: LabelSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, PLAIN)
    run = start_run(world, a_plan(campaign, endpoint, PLAIN, selection=about(set="lands")))
    create_typed(world.team, "Lands", "Georgia\nPeru\nChad\nOman", world.mara)
    assert count_new_units(run) == 0, "a new version changes no run"
    world.add_items(1)
    assert count_new_units(run) == 3 and answer_runs.extend(run, world.mara, timezone.now()) == 3
    assert set(Call.objects.filter(run=run).values_list("unit__label_set", flat=True)) == {lands.pk}


def test_georgia_in_two_sets_makes_two_units(
    world: World, campaign: Campaign, endpoint: Endpoint, lands: LabelSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, PLAIN)
    states = create_typed(world.team, "States", "Georgia\nOhio", world.mara)[0]
    for number, key in enumerate(("lands", "states")):
        start_run(world, a_plan(campaign, endpoint, PLAIN, setting=str(number), selection=about(set=key)))
    for item in campaign.stage.items.all():
        units = Unit.objects.filter(item=item, target="Georgia")
        assert set(units.values_list("label_set", flat=True)) == {lands.pk, states.pk}
    assert create_missing_slots(campaign) == 0 and recount.find_differences() == []


def test_chosen_labels_alone_are_asked_about(campaign: Campaign, lands: LabelSet) -> None:
    chosen = targets(campaign, about(set="lands", labels=["chad", "georgia"]))
    assert set(map(tuple, chosen.values())) == {("Georgia", "Chad")} and len(chosen) == 4


def test_a_cohorts_label_is_asked_as_the_cohorts_own_unit(world: World, campaign: Campaign, lands: LabelSet) -> None:
    """People and model answer the same unit, or nothing could be compared."""
    set_cohort_label(world.egypt, lands, lands.labels.get(key="chad"), world.mara)
    spots = select_item_targets(campaign, about(set="lands"), 3)
    assert {(spot.target, spot.label_set) for spot in spots} == {
        ("Georgia", lands.pk), ("Peru", lands.pk), ("Egypt", None),
    }  # fmt: skip


def test_renaming_a_cohort_changes_no_unit(world: World, campaign: Campaign) -> None:
    before = set(Unit.objects.values_list("item", "target"))
    rename(world, "Egypt and Sudan")
    world.egypt.refresh_from_db()
    assert create_missing_slots(campaign) == 0, "nobody is asked everything again"
    assert set(Unit.objects.values_list("item", "target")) == before and recount.find_differences() == []
    assert {spot.target for spot in select_item_targets(campaign, {}, 3)} == {"Egypt"}
    world.add_items(1)
    assert create_missing_slots(campaign) == 1
    assert set(Unit.objects.values_list("target", flat=True)) == {"Egypt"}


def test_a_new_campaign_asks_by_the_new_name(world: World, campaign: Campaign) -> None:
    rename(world, "Kemet")
    world.egypt.refresh_from_db()
    second = lifecycle.create(world.stage, "Round 2", world.mara, {world.egypt: 2}, seed=7)
    lifecycle.open_campaign(second, world.mara, timezone.now())
    assert set(Unit.objects.filter(slots__cohort__campaign=second).values_list("target", flat=True)) == {"Kemet"}


def test_each_item_is_asked_about_its_own_set(world: World, campaign: Campaign, lands: LabelSet) -> None:
    create_typed(world.team, "Faiths", "Sufism", world.mara)
    first, second, third, fourth = campaign.stage.items.order_by("pk")
    for item, name in ((first, "lands"), (second, "Faiths"), (third, "unknown")):
        Item.objects.filter(pk=item.pk).update(context={"label_set": name})
    asked = targets(campaign, about("own_set"))
    assert asked == {first.key: ["Georgia", "Peru", "Chad"], second.key: ["Sufism"]}, (
        "a set that nobody knows asks nothing"
    )
    assert fourth.key not in asked


def test_gold_labels_and_others_are_drawn_by_the_seed(world: World, campaign: Campaign) -> None:
    ensure(world.team, "countries")
    for item in campaign.stage.items.all():
        item.context = {"label_set": "Countries of the world", "gold": "japan|Akita"}
        item.save()
    asked = targets(campaign, about("gold_and_others", others=3, seed=5))
    assert all(names[:2] == ["Japan", "Akita"] and len(names) == 5 for names in asked.values())
    assert len({tuple(names) for names in asked.values()}) > 1, "each item has others of its own"
    assert asked == targets(campaign, about("gold_and_others", others=3, seed=5))
    assert asked != targets(campaign, about("gold_and_others", others=3, seed=6))
    assert all(len(names) == 2 for names in targets(campaign, about("gold_and_others", others=0)).values())


def test_an_empty_set_is_refused(campaign: Campaign, endpoint: Endpoint, world: World, lands: LabelSet) -> None:
    for selection, words in (
        (about(set="lands", labels=["nowhere"]), "is empty"),
        (about(set="no-such-set"), "no label set"),
        (about("own_set"), "No item has a label set"),
        (about("gold_and_others", others=2), "No item has a label set and gold labels"),
    ):
        with pytest.raises(RunRefused, match=words):
            answer_runs.open_run(a_plan(campaign, endpoint, PLAIN, selection=selection), world.mara, timezone.now())
    Label.objects.filter(label_set=lands).delete()
    with pytest.raises(RunRefused, match="“Lands” is empty"):
        answer_runs.open_run(
            a_plan(campaign, endpoint, PLAIN, selection=about(set="lands")), world.mara, timezone.now()
        )
    assert not Run.objects.exists() and not Unit.objects.exclude(label_set=None).exists()


def test_a_set_of_another_team_is_not_asked_about(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    create_typed(world.other_team, "Secret", "Atlantis", world.rival)
    with pytest.raises(RunRefused, match="no label set"):
        answer_runs.open_run(
            a_plan(campaign, endpoint, PLAIN, selection=about(set="secret")), world.mara, timezone.now()
        )


# In the form


def test_without_a_recipe_nothing_is_chosen_silently(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    reply = press(world, **plan(campaign, endpoint, asked_about=""), do="look")
    assert reply.status_code == 400 and "Choose what the model is asked about" in text_of(reply)


def test_the_form_offers_sets_and_the_preview_counts_units_per_set(
    world: World, campaign: Campaign, endpoint: Endpoint, lands: LabelSet
) -> None:
    page = text_of(press(world, **plan(campaign, endpoint, asked_about="set"), do="form"))
    assert "Lands · 1" in page and "Countries of the world" in page
    chosen = {"asked_about": "set", "label_set": str(lands.pk)}
    page = text_of(press(world, **plan(campaign, endpoint, **chosen), do="form"))
    assert {name for name, _value in inputs_of(page)} >= {"asked_about", "label_set"} and "Chad" in page
    page = text_of(press(world, **plan(campaign, endpoint, **chosen, labels=["chad", "peru"]), do="look"))
    assert "Item 1 of 8" in page and "<bdi>Lands · 1</bdi>: 8" in page and "lands@1, 2 labels" in page
    press(world, **plan(campaign, endpoint, **chosen), do="start")
    assert Call.objects.count() == 12
    run = Run.objects.get()
    like = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/run/new/", {"like": run.pk}))
    assert ("asked_about", "set") in inputs_of(like) and ("label_set", str(lands.pk)) in inputs_of(like)


def test_a_built_in_set_is_stored_when_a_run_first_asks_about_it(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    data = plan(campaign, endpoint, asked_about="set", label_set="countries", labels=["GE", "PE"])
    assert "<bdi>Countries of the world · 1</bdi>: 8" in text_of(press(world, **data, do="look"))
    press(world, **data, do="start")
    assert set(Unit.objects.exclude(label_set=None).values_list("target", flat=True)) == {"Georgia", "Peru"}
    page = text_of(world.client(world.mara).get(f"/teams/nile-lab/targets/{LabelSet.objects.get().pk}/"))
    assert "Run" in page and "tiny" in page, "the set says which run uses it"


def test_a_set_of_a_rival_in_the_form_is_not_found(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    theirs, _new = create_typed(world.other_team, "Secret", "Atlantis", world.rival)
    for do in ("form", "look", "cost", "start"):
        reply = press(world, **plan(campaign, endpoint, asked_about="set", label_set=str(theirs.pk)), do=do)
        assert reply.status_code == 404, do
    reply = press(world, **plan(campaign, endpoint, asked_about="set", label_set="secret"), do="look")
    assert reply.status_code == 400 and "Atlantis" not in text_of(reply)
    assert not Run.objects.exists()


def test_a_recipe_chooses_the_set_of_its_paper(world: World) -> None:
    from benchmarks.services.benchmarks import create_from_recipe
    from predictions.services.runs.asked_about import default_kind

    made = create_from_recipe(world.team, "valueground", "Values", "values", world.owner)
    for key, kind in (("choice", ("set", "recipe-valueground")), ("alignment", ("cohorts", ""))):
        assert default_kind(Campaign(stage=made.stages.get(key=key))) == kind
    assert default_kind(Campaign(stage=world.stage)) == ("", "")


# Answers from files


def test_a_file_names_the_set_of_a_models_target(world: World, campaign: Campaign, lands: LabelSet) -> None:
    [item, *_rest] = world.items
    row = {"item": item.key, "rater": "heron", "rater_kind": "model", "target": "Georgia"}
    rows = [
        row | {"answers": {"relevance": "3"}, "label_set": "lands@1"},
        row | {"answers": {"relevance": "4"}},
        row | {"answers": {"relevance": "4"}, "label_set": "of-nobody"},
    ]
    job = import_answers(campaign, lines(*rows), "mine.jsonl")
    assert [outcome for outcome, _why in outcomes(job).values()] == ["created", "created", "error"], outcomes(job)
    units = Unit.objects.filter(item=item, target="Georgia")
    assert set(units.values_list("label_set", flat=True)) == {lands.pk, None}
    again = import_answers(campaign, lines(*rows[:2], rows[0] | {"rater": "ibis"}), "more.jsonl")
    assert sorted(outcome for outcome, _why in outcomes(again).values()) == ["created", "unchanged", "unchanged"]


def test_a_person_has_no_label_set(world: World, campaign: Campaign, lands: LabelSet) -> None:
    row = {"item": world.items[0].key, "rater": "a", "cohort": "Egypt", "answers": {"relevance": "3"}}
    job = import_answers(campaign, lines(row | {"label_set": "lands"}), "mine.jsonl")
    assert list(outcomes(job).values()) == [("error", "no_label_set")]
