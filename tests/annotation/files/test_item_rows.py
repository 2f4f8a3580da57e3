"""Items made from rows of answers, and skips that a file names: limits of each value, and what stays as it was."""

from typing import Any

import pytest

from annotation.models import Assignment, Campaign
from annotation.services.campaigns.lifecycle import CampaignRefused, create
from annotation.services.files.campaigns import can_create_items, open_for_imports
from annotation.services.files.items import LENGTHS, MOST_LETTERS, items_from_rows
from annotation.services.files.rows import ImportTarget
from annotation.services.files.skips import SkippedRow, write_skips
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.imports.problems import RowProblem
from benchmarks.models import Item, Stage
from tests.evaluation.data import NOON, an_open_campaign, give_ratings
from tests.module_world import built_once
from tests.personas import World


def make(world: World, row: dict[str, Any], key: str = "new") -> Item | RowProblem:
    return items_from_rows(world.stage, {key: row})[key]


def code_of(world: World, row: dict[str, Any], key: str = "new") -> str:
    result = make(world, row, key)
    return result.code if isinstance(result, RowProblem) else ""


def test_an_item_is_made_of_what_its_row_says_and_not_of_the_answer(world: World) -> None:
    row = {
        "item": "new", "rater": "r1", "answer.relevance": "3", "answers": {}, "country": "EG", "concept": " bread ",
        "text": "a loaf", "prompt": "p", "gold": '["Egypt"]', "more": {"a": 1}, "list": [1], "broken": "[1", "n": 3,
        "empty": "", "none": None, "zero": 0, "plain": "1",
    }  # fmt: skip
    item = make(world, row)
    assert isinstance(item, Item) and item.pk and item.stage == world.stage
    assert (item.key, item.origin, item.concept, item.text) == ("new", "Egypt", "bread", "a loaf")
    assert item.context == {
        "prompt": "p", "gold": ["Egypt"], "more": {"a": 1}, "list": [1], "broken": "[1", "n": 3, "zero": 0,
        "plain": "1",
    }  # fmt: skip


@pytest.mark.parametrize("name", [name for name in LENGTHS if name != "country"])
def test_a_value_of_an_item_at_its_limit_is_kept_and_a_longer_one_is_refused(world: World, name: str) -> None:
    most = {"key": 200, "concept": 120, "origin": 120, "condition": 60, "text": 20_000}[name]

    def result(size: int) -> Item | RowProblem:
        value = "x" * size
        return make(world, {}, value) if name == "key" else make(world, {name: value}, f"key-{size}")

    item, longer = result(most), result(most + 1)
    assert isinstance(item, Item) and len(getattr(item, name)) == most
    assert isinstance(longer, RowProblem) and longer.code == "too_long"
    assert f"“{name}” is longer than {most} characters" in longer.message


def test_other_columns_of_an_item_have_limits_too(world: World) -> None:
    kept = make(world, {f"c{n}": "v" for n in range(31)} | {"item": "new"})
    assert isinstance(kept, Item) and [*kept.context] == [f"c{n}" for n in range(30)]
    named = make(world, {"n" * 61: "x" * MOST_LETTERS}, "named")
    assert isinstance(named, Item) and {*named.context} == {"n" * 60}
    assert code_of(world, {"prompt": "x" * (MOST_LETTERS + 1)}, "long") == "too_long"
    assert code_of(world, {"prompt": ["x" * (MOST_LETTERS - 3)]}, "list") == "too_long"
    assert code_of(world, {}, " ") == "missing" and code_of(world, {"country": "Atlantis"}, "at") == "bad_country"
    assert not Item.objects.filter(stage=world.stage, key__in=["long", "list", " ", "", "at"]).exists()


def test_a_faulty_row_leaves_the_items_of_the_others(world: World) -> None:
    made = items_from_rows(world.stage, {"a": {}, "b": {"country": "Atlantis"}, "c": {"origin": "Sámi"}})
    assert [isinstance(made[key], Item) for key in "abc"] == [True, False, True]
    assert items_from_rows(world.stage, {}) == {}
    assert Item.objects.get(key="c").origin == "Sámi"


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(3)
    return an_open_campaign(world)


def skip(campaign: Campaign, number: int, item: Item, rater: str = "r1") -> str:
    cohorts = {row.cohort.label: row for row in campaign.cohorts.select_related("cohort")}
    place = ImportTarget(campaign, sheet_of(campaign.sheet_version), cohorts, "0" * 64)
    [outcome] = write_skips(place, [SkippedRow(number, item, cohorts["Egypt"].cohort, "Egypt", rater, NOON)], NOON)
    return outcome


def test_a_skip_of_a_file_is_written_once_and_never_over_an_answer(world: World, campaign: Campaign) -> None:
    first, second, _third = world.items
    assert [skip(campaign, 2, first), skip(campaign, 2, first)] == ["created", "unchanged"]
    row = Assignment.objects.get()
    assert (row.state, row.skip_reason, row.in_hand, row.reserved_at, row.repeat) == (
        "skipped",
        "imported",
        False,
        NOON,
        0,
    )
    assert row.skip_note.endswith(":2") and row.participation is None and row.rater.name == "r1"
    assert skip(campaign, 3, first, "r2") == skip(campaign, 4, second) == "created"
    assert {*Assignment.objects.values_list("unit__item", "unit__target")} == {
        (row.pk, "Egypt") for row in (first, second)
    }
    Assignment.objects.filter(pk=row.pk).update(state="released", skip_reason="", skip_note="")
    assert skip(campaign, 5, first) == "created"  # it was withdrawn
    row.refresh_from_db()
    assert (row.state, row.skip_reason, row.skip_note[-2:]) == ("skipped", "imported", ":5")
    [answer] = give_ratings(campaign, world.egypt, world.nour, {world.items[2]: "3"})
    Assignment.objects.filter(pk=answer.assignment_id).update(participation=None, rater=row.rater, state="released")
    assert skip(campaign, 6, world.items[2]) == "unchanged"
    assert Assignment.objects.get(pk=answer.assignment_id).state == "released"


def test_only_a_draft_with_cohorts_opens_for_imports(world: World) -> None:
    world.add_items(1)
    empty = create(world.stage, "Empty", world.owner, {})
    with pytest.raises(CampaignRefused) as refused:
        open_for_imports(empty, world.owner, NOON)
    assert refused.value.reasons == ["no_cohorts"]
    campaign = create(world.stage, "Imports", world.owner, {world.egypt: 1})
    open_for_imports(campaign, world.owner, NOON)
    campaign.refresh_from_db()
    assert (campaign.state, campaign.opened_at) == ("paused", NOON) and campaign.sheet_version is not None
    with pytest.raises(CampaignRefused) as refused:
        open_for_imports(campaign, world.owner, NOON)
    assert refused.value.reasons == ["is_paused"]


@pytest.mark.parametrize(
    ("state", "pictures", "may"),
    [("open", "one", False), ("open", "set", False), ("open", "none", True), ("open", "optional", True),
     ("paused", "one", True), ("closed", "one", True)],
)  # fmt: skip
def test_items_are_made_where_nobody_would_get_one_without_its_picture(state: str, pictures: str, may: bool) -> None:
    campaign = Campaign(state=state, stage=Stage(pictures=pictures))
    assert can_create_items(campaign) is may
