"""A model names concepts, a base has articles of them, people confirm the article; links are checked as they come."""

import json
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Slot
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item, Stage
from jobs.models import Job
from predictions.models import Run
from predictions.prompts.registry import prompt
from predictions.services.knowledge import link_checks, linking
from predictions.services.knowledge.indexes import IndexRefused
from predictions.services.runs import result_runs
from tests.personas import World
from tests.predictions.knowledge.colours import RGB, Colours, built, import_entries, items_of, run_job
from tests.predictions.model_server import Act, Server
from tests.predictions.prompts.cases import text
from tests.predictions.request_helpers import a_plan, an_endpoint, drive_run, start_run

pytestmark = pytest.mark.django_db(transaction=True)
NAMES = {"p1": ("Azul", "Sea; Sky"), "p2": ("blue", "Sea"), "p3": ("Nowhere", "Sky"), "p4": ("Red", "Fire|Fire")}


def name_one(asked: Any) -> Act:
    key = next(key for key in NAMES if f"Name {key}" in asked.text)
    return Act(text=json.dumps(dict(zip(("entity", "gold"), NAMES[key], strict=True))))


@pytest.fixture
def answers(world: World, scripted_server: Server) -> Run:
    """A model was asked for four concepts, in words alone."""
    stage = world.stage
    texts = [{**text(key), "version": 1, "help": {}, "required": True} for key in ("entity", "gold")]
    stage.sheet, stage.display, stage.pictures = {"fields": texts}, "words", Stage.Pictures.NONE
    stage.save()
    for key in NAMES:
        Item.objects.create(stage=stage, key=key, text=f"Name {key}", context={"label_set": "Elements"})
    campaign = lifecycle.create(stage, "Names", world.mara, {world.egypt: 1}, seed=7)
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    scripted_server.answer_by(name_one)
    run = drive_run(start_run(world, a_plan(campaign, an_endpoint(world, scripted_server.base_url), prompt("sheet"))))
    assert run.complete, list(run.calls.values_list("notes"))
    return run


def stage_of(world: World, key: str, display: str) -> Stage:
    sheet = world.stage.sheet
    return Stage.objects.create(
        benchmark=world.benchmark, key=key, name=key, display=display, sheet=sheet, target_answers=1,
        pictures=Stage.Pictures.NONE if display == "words" else Stage.Pictures.ONE,
    )  # fmt: skip


def test_each_named_concept_with_an_article_is_confirmed_once(world: World, answers: Run) -> None:
    import_entries(world)
    asked = world.stage
    concepts = stage_of(world, link_checks.OF_WORDS, "words")
    run = linking.open_run(
        world.benchmark, world.mara, stage=asked, index=built(world, "lemmas"), method="named", answers=answers
    )
    assert run_job(Job.objects.get(pk=run.options["job"])).state == "done"
    run.refresh_from_db()
    assert link_checks.check_stage(run) == concepts and not concepts.items.exists(), "not before somebody asks"
    counts = link_checks.create_check_items(run, concepts, world.mara)
    assert (counts.made, counts.lacking) == (2, 1), "Azul and blue are one entry; nobody has an article of Nowhere"
    by_entry = {item.context["gold_entity"]: item for item in concepts.items.all()}
    assert by_entry.keys() == {"blue", "red"}
    blue = by_entry["blue"]
    assert (blue.concept, blue.context["gold"], blue.context["label_set"]) == ("Azul", "Sea|Sky", "Elements")
    assert blue.context["linked_text"].startswith("All about blue.") and not blue.images.exists()
    assert by_entry["red"].context["gold"] == "Fire"
    assert link_checks.create_check_items(run, concepts, world.mara).made == 0


def test_links_come_to_people_while_the_run_links(world: World, monkeypatch: Any) -> None:
    import_entries(world)
    items_of(world, {name: RGB[name] for name in ("red", "green", "blue")})
    linked = world.stage
    checks = stage_of(world, link_checks.OF_PICTURES, "image")
    monkeypatch.setattr(linking, "BATCH", 1)
    run = linking.open_run(world.benchmark, world.mara, stage=linked, index=built(world), method="lemma_vt")
    link_checks.create_check_items(run, checks, world.mara)  # pressed before anything is linked
    counts = []
    links = linking._links
    monkeypatch.setattr(linking, "_links", lambda *rest: counts.append(checks.items.count()) or links(*rest))
    assert run_job(Job.objects.get(pk=run.options["job"])).state == "done"
    assert counts == [0, 1, 2] and checks.items.count() == 3
    assert {item.context["linked"] for item in checks.items.all()} == {"red", "green", "azul"}


def test_a_finished_run_links_later_items_and_people_check_them_too(world: World) -> None:
    import_entries(world)
    items_of(world, {"red": RGB["red"]})
    linked = world.stage
    checks = stage_of(world, link_checks.OF_PICTURES, "image")
    run = linking.open_run(world.benchmark, world.mara, stage=linked, index=built(world), method="lemma_vt")
    path, mara = f"/b/{world.benchmark.slug}/links/{run.pk}/", world.client(world.mara)

    def press(user: Any = None) -> Any:
        return (world.client(user) if user else mara).post(f"{path}action/", {"do": "new"}, follow=True)

    assert "has not linked all its images yet" in press().content.decode()
    run_job(Job.objects.get(pk=run.options["job"]))
    link_checks.create_check_items(run, checks, world.mara)
    campaign = lifecycle.create(checks, "Checks", world.mara, {world.egypt: 1}, seed=7)
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    assert "new item" not in mara.get(path).content.decode()
    assert "Nothing is new." in press().content.decode() and Job.objects.filter(kind=linking.KIND).count() == 1
    items_of(world, {"green": RGB["green"], "blue": RGB["blue"]}, linked)
    Item.objects.filter(key="blue").update(withdrawn_at=timezone.now())
    assert "Link 1 new item<" in mara.get(path).content.decode()
    assert press(world.stranger).status_code == press(world.nour).status_code == 404
    assert "1 new item is being linked." in press().content.decode()
    assert "The new items are being linked already." in press().content.decode()
    assert "New items are being linked." in mara.get(path).content.decode()
    run.refresh_from_db()
    assert run.complete, "what it linked before is counted meanwhile"
    assert run_job(Job.objects.get(pk=run.options["job"])).state == "done"
    run.refresh_from_db()
    assert (run.state, run.options["rows"]) == ("done", 2)
    assert {item.context["linked"] for item in checks.items.all()} == {"red", "green"}
    asked = Slot.objects.filter(unit__item__stage=checks).values_list("unit__item__context__linked", flat=True)
    assert set(asked) == {"red", "green"}, "at once, and not when the beat comes round"


def test_a_run_by_names_links_a_new_item_when_the_model_has_named_it(world: World, answers: Run) -> None:
    import_entries(world)
    index = built(world, "lemmas")
    run = linking.open_run(world.benchmark, world.mara, stage=world.stage, index=index, method="named", answers=answers)
    run_job(Job.objects.get(pk=run.options["job"]))
    run.refresh_from_db()
    item = Item.objects.create(stage=world.stage, key="p5", text="Name p5", context={"label_set": "Elements"})
    assert not linking.unlinked_items(run).exists()
    answers.calls.filter(item__key="p4").update(item=item)
    assert list(linking.unlinked_items(run)) == [item]


def test_a_run_that_is_withdrawn_while_it_links_asks_people_nothing_more(
    world: World, encoder: Colours, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "BATCH", 1)
    import_entries(world)
    items_of(world, {name: RGB[name] for name in ("red", "green", "blue")})
    linked = world.stage
    checks = stage_of(world, link_checks.OF_PICTURES, "image")
    run = linking.open_run(world.benchmark, world.mara, stage=linked, index=built(world), method="lemma_vt")
    link_checks.create_check_items(run, checks, world.mara)
    encoder.seen = 0

    def withdraw() -> None:
        if encoder.seen == 2:
            result_runs.withdraw(run, world.mara, timezone.now())

    encoder.after = withdraw
    job = run_job(Job.objects.get(pk=run.options["job"]))
    assert job.state == "failed" and "withdrawn meanwhile" in job.error
    assert run.links.count() == checks.items.count() == 1
    with pytest.raises(IndexRefused, match="Restore it first"):
        link_checks.create_check_items(run, checks, world.mara)


def test_checks_leave_with_the_linked_picture_and_come_back_with_it(world: World) -> None:
    import_entries(world)
    red, green = items_of(world, {name: RGB[name] for name in ("red", "green")})
    linked = world.stage
    checks = stage_of(world, link_checks.OF_PICTURES, "image")
    run = linking.open_run(world.benchmark, world.mara, stage=linked, index=built(world), method="lemma_vt")
    link_checks.create_check_items(run, checks, world.mara)
    run_job(Job.objects.get(pk=run.options["job"]))
    by_hand = checks.items.get(concept="market", context__linked_item="green")
    campaign = lifecycle.create(checks, "Checks", world.mara, {world.egypt: 1}, seed=7)
    lifecycle.open_campaign(campaign, world.mara, timezone.now())

    def live() -> set[str]:
        return set(checks.items.filter(withdrawn_at=None).values_list("context__linked_item", flat=True))

    def wanted() -> int:
        return Slot.objects.filter(unit__item__stage=checks, open=True).count()

    at = timezone.now()
    assert link_checks.follow_linked_items(at) == 0 and (live(), wanted()) == ({"red", "green"}, 2)
    Item.objects.filter(pk=red.pk).update(withdrawn_at=at)
    assert link_checks.follow_linked_items(at) == 1 and link_checks.follow_linked_items(at) == 0
    assert (live(), wanted()) == ({"green"}, 1), "nobody is asked about a picture that was withdrawn"
    Item.objects.filter(pk=red.pk).update(withdrawn_at=None)
    assert link_checks.follow_linked_items(at) == 1 and (live(), wanted()) == ({"red", "green"}, 2)
    Item.objects.filter(pk=by_hand.pk).update(withdrawn_at=at)
    assert link_checks.follow_linked_items(at) == 0 and live() == {"red"}, "a check withdrawn by hand stays so"
    assert green.withdrawn_at is None
    Item.objects.filter(pk=red.pk).update(intake="dropped")
    assert link_checks.follow_linked_items(at) == 1 and live() == set()


def test_a_concept_stays_while_any_proposal_of_it_does(world: World, answers: Run) -> None:
    import_entries(world)
    asked = world.stage
    concepts = stage_of(world, link_checks.OF_WORDS, "words")
    run = linking.open_run(
        world.benchmark, world.mara, stage=asked, index=built(world, "lemmas"), method="named", answers=answers
    )
    link_checks.create_check_items(run, concepts, world.mara)
    run_job(Job.objects.get(pk=run.options["job"]))
    live = concepts.items.filter(withdrawn_at=None)
    assert live.count() == 2
    Item.objects.filter(key="p1").update(withdrawn_at=timezone.now())
    assert link_checks.follow_linked_items(timezone.now()) == 0 and live.count() == 2, "p2 names it as well"
    Item.objects.filter(key="p2").update(withdrawn_at=timezone.now())
    assert link_checks.follow_linked_items(timezone.now()) == 1
    assert [item.context["gold_entity"] for item in live] == ["red"]
