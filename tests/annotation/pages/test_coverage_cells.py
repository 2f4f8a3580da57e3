"""What a stage has of what it wants: each cell, the reason for each gap, the forecast; and who may see it."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Campaign
from annotation.pages.coverage_cells import GAPS
from annotation.queries.coverage_cells import WantedCell, stage_cells
from annotation.services.answers import submit
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item, Stage
from benchmarks.rules.coverage import CoverageSpec
from benchmarks.rules.forecast import forecast, plan
from benchmarks.services.benchmarks import create_from_recipe
from people.models import User
from people.services.raters import rater_of
from tests.annotation.chain.factories import GOOD, RULE, a_stage, answer, claim_sheet, process_derivations
from tests.module_world import built_once
from tests.personas import World, make_cohort, stand_in

COLUMNS = ["full", "none", "facts", "busy", "used", "skipped"]
WANTED = {"rows": "set:globalrg-table-1", "columns": "concepts", "names": COLUMNS, "per_cell": 1}
pytestmark = pytest.mark.django_db


@built_once
def stage(world: World) -> Stage:
    """One accepted item is wanted of each of six concepts in each country; people answer items of their own country."""
    return a_stage(
        world.benchmark, "screening", GOOD, acceptance="by_rule", acceptance_rule=RULE, own_items_only=True,
        has_target=True, retire_after_skips=1, coverage=WANTED,
    )  # fmt: skip


def add(stage: Stage, concept: str, origin: str = "Egypt", n: int = 1, **more: Any) -> list[Item]:
    first = stage.items.count()
    rows = (Item(stage=stage, key=f"i{first + at}", concept=concept, origin=origin, **more) for at in range(n))
    made = Item.objects.bulk_create(rows)
    stand_in(made)
    return made


def open_to(stage: Stage, *cohorts: Any, **dates: Any) -> Campaign:
    campaign = lifecycle.create(stage, "Screening", None, dict.fromkeys(cohorts, 1), seed=7, **dates)
    lifecycle.open_campaign(campaign, None, timezone.now())
    return campaign


def work(campaign: Campaign, person: User, cohort: Any) -> None:
    """Until there is nothing: "used" is not good, "skipped" is skipped, the rest is good."""
    rater = rater_of(person)
    while sheet := claim_sheet(rater, campaign, cohort):
        concept = sheet.unit.item.concept
        if concept == "skipped":
            submit.skip(sheet.pk, rater, "unknown", "", timezone.now())
        else:
            answer(sheet, good="0" if concept == "used" else "1")
    process_derivations()


def cell_of(stage: Stage, row: str, column: str) -> WantedCell:
    spec = CoverageSpec.from_json(stage.coverage)
    assert spec
    return stage_cells(stage, spec, timezone.now()).cells[row, column]


def page_of(world: World, stage: Stage, user: User, query: str = "") -> Any:
    return world.client(user).get(f"/b/{world.benchmark.slug}/coverage/stages/{stage.pk}/{query}")


def test_each_gap_has_one_reason_and_a_full_cell_has_none(world: World, stage: Stage) -> None:
    indonesia = make_cohort(world.team, "Indonesia")
    for concept in ("full", "used", "skipped"):
        add(stage, concept)
    add(stage, "facts", intake="waiting"), add(stage, "busy", "Indonesia"), add(stage, "busy", "Brazil")
    campaign = open_to(stage, world.egypt, indonesia)
    work(campaign, world.nour, world.egypt)
    add(stage, "busy")
    lifecycle.add_slots(campaign)
    gaps = {
        "no_cohort": ("france", "full"), "no_candidates": ("egypt", "none"), "waiting_for_facts": ("egypt", "facts"),
        "campaign_closed": ("brazil", "busy"), "nobody_active": ("indonesia", "busy"), "in_work": ("egypt", "busy"),
        "candidates_used_up": ("egypt", "used"), "retired_by_skips": ("egypt", "skipped"),
    }  # fmt: skip
    assert list(gaps) == list(GAPS)
    keys = {row.label.text: row.key for row in rows_of(stage)}
    assert cell_of(stage, keys["Indonesia"], "busy").gap == "in_work", "it is asked since a moment ago"
    Campaign.objects.update(opened_at=timezone.now() - timedelta(days=8))
    for gap, (row, column) in gaps.items():
        assert cell_of(stage, keys[row.title()], column).gap == gap
    assert cell_of(stage, keys["Egypt"], "full").gap is None


def rows_of(stage: Stage) -> Any:
    spec = CoverageSpec.from_json(stage.coverage)
    assert spec
    return stage_cells(stage, spec, timezone.now()).rows


def key_of(stage: Stage, label: str) -> str:
    return next(str(row.key) for row in rows_of(stage) if row.label.text == label)


def test_an_answer_that_is_not_accepted_leaves_the_cell_unchanged_and_says_why(world: World, stage: Stage) -> None:
    add(stage, "used", n=2)
    egypt = key_of(stage, "Egypt")
    campaign = open_to(stage, world.egypt)
    before = cell_of(stage, egypt, "used")
    assert (before.done, before.counts.left) == (0, 2)
    work(campaign, world.nour, world.egypt)
    after = cell_of(stage, egypt, "used")
    assert (after.done, after.counts.rejected, after.counts.left) == (0, 2, 0)
    page = page_of(world, stage, world.mara, f"?row={egypt}&column=used").content.decode()
    assert "2 items not accepted" in page and "It is good" in page and "Import items" in page
    assert f"/b/{world.benchmark.slug}/import/?stage=screening" in page
    assert "Import items" not in page_of(world, stage, world.reviewer, f"?row={egypt}&column=used").content.decode()


def test_the_screening_of_globalrg_counts_accepted_pictures_and_the_reasons_of_the_others(world: World) -> None:
    benchmark = create_from_recipe(world.team, "globalrg-retrieval", "Universals", "universals", world.mara)
    screening = benchmark.stages.get(key="screening")
    add(screening, "music", n=2)
    campaign = open_to(screening, world.egypt)
    for raw in ({"keep": "yes"}, {"keep": "no", "reason": "text"}):
        answer(claim_sheet(rater_of(world.nour), campaign, world.egypt), **raw)
    process_derivations()
    egypt = key_of(screening, "Egypt")
    cell = cell_of(screening, egypt, "music")
    assert (cell.done, cell.wanted, cell.gap, cell.counts.reasons) == (1, 3, "candidates_used_up", {"reason=text": 1})
    address = f"/b/universals/coverage/stages/{screening.pk}/?row={egypt}&column=music"
    page = world.client(world.mara).get(address).content.decode()
    assert "It contains text" in page and "1</b> of 3000" in page


def test_cells_without_cohort_or_items_are_shown_and_rows_are_chosen_by_reason(world: World, stage: Stage) -> None:
    add(stage, "busy"), add(stage, "elsewhere")
    page = page_of(world, stage, world.mara).content.decode()
    assert "0 of 300 cells are full" in page and "labels have no cohort and are not listed." in page
    assert "France, busy" not in page, "where few cohorts work, the others would hide them"
    assert "France, busy: 0 of 1; No cohort" in page_of(world, stage, world.mara, "?gap=no_cohort").content.decode()
    assert "Egypt, none: 0 of 1; No items" in page and "1 item belongs to no cell" in page
    assert "No date set" in page and "without today; there are 0 such days" in page
    only = page_of(world, stage, world.mara, "?gap=no_candidates").content.decode()
    assert "Egypt, none" in only and "France, busy" not in only


@pytest.mark.parametrize("who", ["stranger", "rival", "nour", "manager"])
def test_outsiders_and_annotators_get_404(world: World, stage: Stage, who: str) -> None:
    assert page_of(world, stage, getattr(world, who)).status_code == 404
    assert page_of(world, stage, world.reviewer).status_code == 200
    other = world.other_benchmark.stages.get()
    assert page_of(world, other, world.mara).status_code == 404


def test_without_a_declaration_the_page_stays_as_it_was(world: World, stage: Stage) -> None:
    mara, url = world.client(world.mara), f"/b/{world.benchmark.slug}/coverage/"
    assert mara.get(url).status_code == 302, "nothing is open, and one stage says what it wants"
    Stage.objects.filter(pk=stage.pk).update(coverage={})
    assert "No campaign was opened yet." in mara.get(url).content.decode()
    assert "does not say what it wants" in page_of(world, stage, world.mara).content.decode()


def test_every_cohort_answering_every_item_has_a_row_of_its_own(world: World, stage: Stage) -> None:
    stage.own_items_only = False
    stage.coverage = {"rows": "cohorts", "columns": "concepts", "per_cell": 2, "counts": "answers"}
    stage.save()
    add(stage, "full", n=2)
    campaign = open_to(stage, world.egypt)
    work(campaign, world.nour, world.egypt)
    rows = {row.name: row.key for row in rows_of(stage)}
    egypt, brazil = (cell_of(stage, rows[name], "full") for name in ("Egypt", "Brazil"))
    assert (egypt.done, egypt.gap, brazil.done, brazil.gap) == (2, None, 0, "campaign_closed")
    assert brazil.counts.left == 2


def test_a_thousand_cells_take_as_many_queries_as_six(world: World, stage: Stage) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert page_of(world, stage, world.mara).status_code == 200
        return len(queries)

    add(stage, "busy")
    few = count()
    names = [f"concept {n}" for n in range(20)]
    stage.coverage = WANTED | {"names": names}
    stage.save()
    for label in ("Egypt", "Brazil", "France"):
        for name in names:
            add(stage, name, label)
    open_to(stage, world.egypt, world.brazil)
    assert "0 of 1000 cells are full" in page_of(world, stage, world.mara).content.decode()
    assert count() == few


def test_the_forecast_divides_what_is_missing_by_the_median_of_the_last_days() -> None:
    today = date(2026, 3, 11)
    days = {today - timedelta(days=back): n for back, n in ((8, 90), (6, 4), (5, 10), (3, 6), (1, 5))}
    found = forecast(days, 21, today)  # 4, 10, 0, 6, 0, 5: the median is 4.5
    assert (found.per_day, found.days_of_work, found.on) == (4.5, 4, today + timedelta(days=5))
    two = {today - timedelta(days=1): 5, today - timedelta(days=2): 5}
    assert forecast(two, 21, today).reason == "few_days" and forecast({}, 21, today).per_day is None
    idle = {today - timedelta(days=back): 5 for back in (7, 6, 5)}
    assert forecast(idle, 21, today).reason == "no_pace", "0 on more than half of the days"
    assert forecast(days, 0, today).reason == "complete"


def test_what_is_expected_grows_evenly_between_the_dates() -> None:
    opens, closes = date(2026, 3, 1), date(2026, 3, 31)
    found = plan(300, 80, opens, closes, date(2026, 3, 10))
    assert found and (found.elapsed, found.days, found.expected, found.ahead) == (9, 30, 90, -10)
    late = plan(300, 80, opens, closes, date(2026, 5, 1))
    assert late and (late.elapsed, late.expected) == (30, 300)
    assert plan(300, 80, opens, None, opens) is None and plan(300, 80, closes, opens, opens) is None


def test_the_page_says_how_far_behind_the_stage_is_and_when_it_is_done(world: World, stage: Stage) -> None:
    add(stage, "full", n=3)
    at = timezone.now()
    campaign = open_to(
        stage, world.egypt, opens_on=(at - timedelta(days=10)).date(), closes_on=(at + timedelta(days=10)).date()
    )
    stage.coverage = {"rows": "cohorts", "columns": "concepts", "names": ["full"], "per_cell": 20}
    stage.save()
    work(campaign, world.nour, world.egypt)
    for back, outcome in enumerate(campaign.outcomes.order_by("pk"), start=1):
        campaign.outcomes.filter(pk=outcome.pk).update(at=at - timedelta(days=back))
    page = page_of(world, stage, world.mara).content.decode()
    assert "Expected by day 10 of 20: 20." in page and "17 behind." in page
    assert "At 1 a day, the median of the last seven days, complete on" in page


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        # 30 are missing; of seven days the second highest (10) and the second lowest (2) count, the median is 5
        ((1, 2, 3, 5, 8, 10, 40), ("2026-03-11", "2026-03-08", "2026-03-20")),
        ((0, 2, 3, 5, 8, 10, 40), ("2026-03-10", "2026-03-06", "2026-03-20")),  # of six the highest and the lowest
        ((40, 10, 8, 5, 3, 2, 0), ("2026-03-11", "2026-03-08", "2026-03-20")),
        ((0, 0, 0, 0, 5, 10, 15), ("2026-03-08", "2026-03-07", "2026-03-11")),  # work began on the fifth
        ((5, 5, 5, 5, 5, 5, 5), ("2026-03-11", "2026-03-11", "2026-03-11")),
        ((1, 5, 5, 5, 5, 0, 0), ("2026-03-11", "2026-03-11", None)),  # the second lowest is 0
    ],
)
def test_a_forecast_has_a_range(days: tuple[int, ...], expected: tuple[str | None, ...]) -> None:
    today = date(2026, 3, 5)
    counts = {today - timedelta(days=7 - place): n for place, n in enumerate(days)}
    outlook = forecast(counts, 30, today)
    assert tuple(day and day.isoformat() for day in (outlook.on, outlook.earliest, outlook.latest)) == expected
