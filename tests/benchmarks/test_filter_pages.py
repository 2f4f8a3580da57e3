"""The page of a stage's filters: its numbers, its forms, decisions by hand, and who may not see it."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from benchmarks.models import FilterResult, Item, Stage
from benchmarks.services.intake import filter_versions
from jobs.models import Job
from jobs.services import runner
from tests.benchmarks.test_intake import ASPECT, PICTURES, ROWS, SAME, SCORE, SIDE, WORDS, set_up, states
from tests.importing import lines, upload
from tests.personas import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(world: World) -> Stage:
    return world.stage


@pytest.fixture
def mara(world: World) -> Client:
    return world.client(world.mara)


def address(stage: Stage, rest: str = "") -> str:
    return f"/b/{stage.benchmark.slug}/stages/{stage.pk}/filters/{rest}"


def text_of(client: Client, stage: Stage, rest: str = "") -> str:
    reply = client.get(address(stage, rest))
    assert reply.status_code == 200
    return " ".join(reply.content.decode().split())


def save(client: Client, stage: Stage, kind: str, number: int, **posted: Any) -> Any:
    reply = client.post(address(stage, "edit/"), {"kind": kind, "number": number, **posted})
    if reply.status_code == 302 and (job := Job.objects.order_by("pk").last()) and job.state == "queued":
        runner.run(job.pk)
    stage.refresh_from_db()
    return reply


def cells(page: str, name: str) -> list[str]:
    """Drops, drops alone, waits: of the row of this filter."""
    row = page.split(f"<bdi>{name}</bdi></th>")[1].split("</tr>")[0]
    numbers = [part.split("</td>")[0] for part in row.split('class="num"')[1:]]
    return [part.split(">", 1)[1].replace("</a>", "").rsplit(">", 1)[-1] for part in numbers]


def test_the_page_counts_what_each_filter_drops_and_drops_alone(stage: Stage, mara: Client) -> None:
    set_up(stage, ASPECT, SIDE, WORDS, SCORE)
    upload(mara, stage, lines(*ROWS), PICTURES)
    page = text_of(mara, stage)
    assert cells(page, "Aspect ratio") == ["2", "2", "0"]
    assert cells(page, "Shortest side") == ["1", "1", "0"]
    assert cells(page, "Blocked words") == ["1", "1", "0"]
    assert cells(page, "clip_score") == ["1", "1", "1"]
    for words in (
        "Width divided by height from 0.5 to 2", "At least 40 pixels", "None of: logo", "At least 23",
        "Width divided by height is 5, above 2", "Blocked word “logo” in the alt text", "clip_score is 22.5, below 23",
    ):  # fmt: skip
        assert words in page, words
    assert "Dropped 5" in page and "Waiting 1" in page and "Kept 1" in page
    assert "Waits for clip_score" in text_of(mara, stage, "?show=waiting")
    only = text_of(mara, stage, "?show=dropped&filter=side")
    assert '<bdi dir="ltr">small</bdi>' in only and '<bdi dir="ltr">wide</bdi>' not in only


def test_alone_counts_an_item_of_two_filters_for_neither(stage: Stage, mara: Client) -> None:
    set_up(stage, ASPECT, {**SIDE, "params": {"least": 41}})
    upload(mara, stage, lines(ROWS[1]), PICTURES)
    page = text_of(mara, stage)
    assert cells(page, "Aspect ratio") == ["1", "0", "0"] and cells(page, "Shortest side") == ["1", "0", "0"]


FORMS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("aspect", {"least": "0.5", "most": "2"}, {"least": 0.5, "most": 2}),
    ("shortest_side", {"least": "100"}, {"least": 100}),
    (
        "blocked_words", {"words": "logo\r\n map \n\nlogo", "texts": ["alt", "title"]},
        {"words": ["logo", "map"], "in": ["alt", "title"]},
    ),
    ("fact", {"key": "clip_score", "least": "23", "most": ""}, {"key": "clip_score", "least": 23}),
    ("fact", {"key": "objects", "least": "", "most": "4.5"}, {"key": "objects", "most": 4.5}),
    ("same_picture", {"within": ["origin"]}, {"within": ["origin"]}),
    ("near_duplicate", {"least": "0.9", "within": [], "fact": ""}, {"least": 0.9, "within": []}),
    ("not_in_base", {"fact": "in_base:food", "similarity": "0.95"}, {"fact": "in_base:food", "similarity": 0.95}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "posted", "params"), FORMS)
def test_each_kind_is_added_changed_and_removed_by_its_form(
    stage: Stage, mara: Client, kind: str, posted: dict[str, Any], params: dict[str, Any]
) -> None:
    assert "Save" in text_of(mara, stage, f"edit/?kind={kind}")
    assert save(mara, stage, kind, 0, **posted).status_code == 302
    [entry] = stage.filters
    assert (entry["kind"], entry["params"]) == (kind, params)
    assert stage.filter_versions.get().created_by_id is not None
    shown = mara.get(address(stage, f"edit/?filter={entry['key']}")).context["form"]
    again = {name: shown.get_initial_for_field(field, name) for name, field in shown.fields.items()}
    unchanged = {name: "" if value is None else value for name, value in again.items()}
    reply = mara.post(address(stage, "edit/"), {"filter": entry["key"], "number": 1, **unchanged})
    assert reply.status_code == 302 and stage.filter_versions.count() == 1, "saving the same makes no version"
    assert "Version 1." in text_of(mara, stage)
    mara.post(address(stage, "action/"), {"do": "remove", "filter": entry["key"], "number": 1})
    stage.refresh_from_db()
    assert stage.filters == [] and stage.filter_versions.count() == 2


@pytest.mark.parametrize(
    ("kind", "posted", "words"),
    [
        ("aspect", {"least": "2", "most": "1"}, "The upper limit is below the lower limit. Enter a larger number."),
        ("aspect", {"least": "x", "most": "1"}, "Enter a number."),
        ("fact", {"key": "clip_score"}, "A limit is missing. Enter at least one."),
        ("fact", {"key": "", "least": "1"}, "This field is required."),
        ("fact", {"key": "a", "least": "nan"}, "Enter a number."),
        ("blocked_words", {"words": " \n ", "texts": ["alt"]}, "This field is required."),
        ("blocked_words", {"words": "a", "texts": ["key"]}, "Select a valid choice."),
        ("near_duplicate", {"least": "1.1"}, "less than or equal to 1"),
        ("same_picture", {"within": ["key"]}, "Select a valid choice."),
    ],
)
def test_a_form_that_is_not_valid_says_why_and_changes_nothing(
    stage: Stage, mara: Client, kind: str, posted: dict[str, Any], words: str
) -> None:
    reply = save(mara, stage, kind, 0, **posted)
    assert reply.status_code == 400 and words in reply.content.decode()
    assert stage.filters == [] and not stage.filter_versions.exists()


def test_two_facts_are_two_filters_and_unknown_names_are_404(stage: Stage, mara: Client) -> None:
    save(mara, stage, "fact", 0, key="Clip Score", least="23")
    save(mara, stage, "fact", 1, key="Clip Score", most="40")
    assert [entry["key"] for entry in stage.filters] == ["clip-score", "clip-score-2"]
    for rest in ("edit/?kind=magic", "edit/?kind=", "edit/?filter=none", "edit/?kind=aspect&filter=none"):
        assert mara.get(address(stage, rest)).status_code == 404
    for posted in ({"do": "remove", "filter": "none"}, {"do": "magic"}, {}):
        assert mara.post(address(stage, "action/"), posted).status_code == 404


def test_a_change_from_an_old_page_is_not_saved_over_another(stage: Stage, mara: Client) -> None:
    save(mara, stage, "aspect", 0, least="0.5", most="2")
    reply = mara.post(address(stage, "edit/"), {"kind": "shortest_side", "number": 0, "least": "100"}, follow=True)
    assert "Somebody else changed the filters." in reply.content.decode()
    stage.refresh_from_db()
    assert [entry["kind"] for entry in stage.filters] == ["aspect"]


def test_a_researcher_keeps_and_drops_by_hand_with_a_reason(world: World, stage: Stage, mara: Client) -> None:
    set_up(stage, ASPECT)
    upload(mara, stage, lines(*ROWS), PICTURES)
    wide, good = stage.items.get(key="wide"), stage.items.get(key="good")
    mara.post(address(stage, f"items/{wide.pk}/"), {"state": "kept", "reason": "On purpose"})
    mara.post(address(stage, f"items/{good.pk}/"), {"state": "dropped", "reason": "Another dish"})
    assert (states(stage)["wide"], states(stage)["good"]) == ("kept", "dropped")
    page = text_of(mara, stage, "?show=by_hand")
    assert f"Kept by {world.mara.name}: On purpose" in page and "Another dish" in page
    reply = mara.post(address(stage, f"items/{wide.pk}/"), {"state": "dropped", "reason": " "}, follow=True)
    assert "A reason is missing. Enter one." in reply.content.decode()
    mara.post(address(stage, f"items/{wide.pk}/"), {"state": ""})
    assert states(stage)["wide"] == "dropped" and FilterResult.objects.filter(key="by_hand").count() == 1
    assert mara.post(address(stage, f"items/{wide.pk}/"), {"state": "waiting"}).status_code == 404
    withdrawn = Item.objects.create(stage=stage, key="gone", withdrawn_at=timezone.now())
    assert mara.post(address(stage, f"items/{withdrawn.pk}/"), {"state": "kept", "reason": "x"}).status_code == 404


def buttons(page: str, key: str) -> list[str]:
    """The states that the form of this item offers."""
    form = page.split(f'<span class="vh"> {key}</span></summary>')[1].split("</form>")[0]
    return [part.split('"')[0] for part in form.split('name="state" value="')[1:]]


@pytest.mark.parametrize("state", ["kept", "dropped"])
def test_an_item_that_waits_is_kept_or_dropped_by_hand(stage: Stage, mara: Client, state: str) -> None:
    set_up(stage, ASPECT, SCORE)
    upload(mara, stage, lines(*ROWS), PICTURES)
    waiting = text_of(mara, stage, "?show=waiting")
    assert "Keep or drop by hand" in waiting and buttons(waiting, "waits") == ["kept", "dropped"]
    assert buttons(text_of(mara, stage), "wide") == ["kept"]
    assert buttons(text_of(mara, stage, "?show=kept"), "good") == ["dropped"]
    item = stage.items.get(key="waits")
    mara.post(address(stage, f"items/{item.pk}/"), {"state": state, "reason": "Seen by us"})
    assert states(stage)["waits"] == state and "No item waits for a fact." in text_of(mara, stage, "?show=waiting")
    mara.post(address(stage, f"items/{item.pk}/"), {"state": ""})
    assert states(stage)["waits"] == "waiting"


def test_keeping_by_hand_says_which_fact_the_rule_of_the_stage_still_waits_for(stage: Stage, mara: Client) -> None:
    set_up(stage, ASPECT, SCORE)
    upload(mara, stage, lines(*ROWS), PICTURES)
    note = "The acceptance rule of this stage reads “clip_score”."
    assert note not in text_of(mara, stage, "?show=waiting"), "a stage without a rule waits for nothing"
    stage.acceptance = Stage.Acceptance.BY_RULE
    stage.acceptance_rule = {
        "clauses": [{"key": "fits", "expression": "facts.clip_score >= 0.2", "words": {"en": "It fits"}}]
    }
    stage.save()
    assert text_of(mara, stage, "?show=waiting").count(note) == 1
    assert note not in text_of(mara, stage, "?show=kept"), "these have the fact"
    item = stage.items.get(key="waits")
    mara.post(address(stage, f"items/{item.pk}/"), {"state": "kept", "reason": "Seen by us"})
    assert text_of(mara, stage, "?show=by_hand").count(note) == 1
    chosen = {"do": "keep", "item": item.pk, "query": f"stage={stage.key}"}
    form = mara.post(f"/b/{stage.benchmark.slug}/items/action/", chosen)
    assert note in " ".join(form.content.decode().split())
    drops = mara.post(f"/b/{stage.benchmark.slug}/items/action/", {**chosen, "do": "drop"})
    assert "acceptance rule" not in drops.content.decode()


def test_waiting_items_are_assigned_when_the_researcher_says_so(stage: Stage, mara: Client) -> None:
    set_up(stage, SCORE)
    assert "They are assigned to nobody" in text_of(mara, stage)
    mara.post(address(stage, "action/"), {"do": "assign"})
    stage.refresh_from_db()
    assert stage.assign_waiting and "They are assigned to people" in text_of(mara, stage)
    mara.post(address(stage, "action/"), {"do": "hold"})
    stage.refresh_from_db()
    assert not stage.assign_waiting


def test_run_again_starts_one_job(stage: Stage, mara: Client) -> None:
    set_up(stage, SCORE)
    for _ in range(2):
        mara.post(address(stage, "action/"), {"do": "run"})
    assert Job.objects.filter(kind="judge_candidates", state="queued").count() == 1
    assert "The last change is being carried out." in text_of(mara, stage)


def test_an_empty_page_says_what_to_do(stage: Stage, mara: Client) -> None:
    page = text_of(mara, stage)
    assert "No filters yet. Add a filter" in page and "No items yet." in page
    assert f"/b/{stage.benchmark.slug}/import/?stage={stage.key}" in page
    set_up(stage, ASPECT)
    upload(mara, stage, lines(ROWS[0]), PICTURES)
    assert "No item is dropped." in text_of(mara, stage)
    assert "Nobody has decided by hand." in text_of(mara, stage, "?show=by_hand")


def test_the_stage_links_to_its_filters(stage: Stage, mara: Client) -> None:
    compose = mara.get(f"/b/{stage.benchmark.slug}/stages/{stage.pk}/").content.decode()
    assert f'href="{address(stage)}"' in compose


def test_only_who_works_on_the_benchmark_sees_and_changes_filters(world: World, stage: Stage) -> None:
    filter_versions.set_filters(stage, [ASPECT], None)
    item = Item.objects.create(stage=stage, key="one")
    for user in (world.stranger, world.rival, world.reviewer, world.nour, world.manager):
        client = world.client(user)
        for rest in ("", "edit/?kind=aspect", "edit/?filter=aspect"):
            assert client.get(address(stage, rest)).status_code == 404
        posts: list[tuple[str, dict[str, Any]]] = [
            ("edit/", {"kind": "same_picture", "number": 1}), ("action/", {"do": "remove", "filter": "aspect"}),
            (f"items/{item.pk}/", {"state": "dropped", "reason": "x"}),
        ]  # fmt: skip
        for rest, posted in posts:
            assert client.post(address(stage, rest), posted).status_code == 404
    stage.refresh_from_db()
    assert len(stage.filters) == 1 and not FilterResult.objects.exists()


def test_a_page_of_many_items_takes_a_fixed_number_of_queries(
    stage: Stage, mara: Client, django_assert_max_num_queries: Any
) -> None:
    set_up(stage, ASPECT, SAME)
    Item.objects.bulk_create(Item(stage=stage, key=f"many-{n:03}", intake="dropped") for n in range(80))
    with django_assert_max_num_queries(30):
        page = text_of(mara, stage)
    assert page.count('class="key"') == 30 and "More items" in page
