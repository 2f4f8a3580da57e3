"""Agreement on the board: computed by a worker, shown with its age; the page itself computes nothing."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Campaign
from benchmarks.models import Item
from benchmarks.pages.board import board_of
from evaluation import tasks
from evaluation.metrics.estimate import Estimate
from evaluation.models import Snapshot
from evaluation.pages import board_column
from evaluation.reports import board_agreement
from evaluation.reports.board_agreement import StageAgreement
from evaluation.selections.catalogue import POOLED
from jobs.connections import broker
from people.models import User
from tests.annotation.chain.disputed_scene import Disputes, lower
from tests.chains.link_client import text_of
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.evaluation.test_agreement_page import read_json
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
ROW = re.compile(r'<tr[^>]*role="row">(.*?)</tr>', re.DOTALL)
HEAD = re.compile(r'<th scope="row"[^>]*><bdi>(.*?)</bdi>', re.DOTALL)


@built_once
def rated(world: World) -> Campaign:
    """Three people of Egypt have rated ten pictures, one of Brazil two."""
    world.add_items(20)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    [third] = world.add_annotators(world.egypt, 1)
    codes = {world.nour: "1122334455", world.tarek: "1222334455", third: "1123334455"}
    table(campaign, world.egypt, natural, codes)
    table(campaign, world.brazil, natural[:2], {world.bia: "45"})
    return campaign


def overview(world: World, query: str = "", user: User | None = None) -> str:
    reply = world.client(user or world.mara).get(f"/b/{world.benchmark.slug}/{query}")
    assert reply.status_code == 200
    return reply.content.decode()


def column(page: str) -> dict[str, str]:
    """Text of the column by the row's name."""
    cells = {}
    for row in ROW.findall(page):
        if (head := HEAD.search(row)) and 'class="agr"' in row:
            cells[text_of(head[1])] = text_of(row.rpartition('class="agr"')[2].partition(">")[2].partition("</td>")[0])
    return cells


def renew(world: World) -> bool:
    return tasks.renew_board(world.benchmark.pk)


def test_each_cohort_has_its_value_with_interval_and_n_or_the_reason(world: World, rated: Campaign) -> None:
    assert set(column(overview(world)).values()) == {""}, "nothing is computed while the page waits"
    assert renew(world)
    cells = column(overview(world))
    [row] = [row for row in read_json(world)["questions"] if row["cohort"]["label"] == "Egypt"]
    [estimate] = row["estimates"].values()  # the agreement page's own number
    assert cells["Egypt"] == f"{estimate['shown']} {estimate['shown_interval']} n = 10 × 3"
    assert cells["Brazil"] == "No value: Too few ratings. 1 person so far; two are needed."
    assert cells["All cohorts"].endswith("n = 10 × 3")


def test_the_page_says_how_much_is_newer_until_a_worker_has_counted_it(world: World, rated: Campaign) -> None:
    renew(world)
    before = column(overview(world))
    give_ratings(rated, world.brazil, world.caio, dict.fromkeys(of_condition(world.items, "natural")[:2], "4"))
    page = overview(world)
    assert column(page) == before and "2 newer answers are not in it yet" in text_of(page)
    renew(world)
    page = overview(world)
    assert column(page)["Brazil"] != before["Brazil"] and "newer" not in text_of(page)


def test_the_beat_asks_for_what_changed_and_lets_a_slow_report_rest(
    world: World, rated: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(broker.current_app, "send_task", lambda name, args, **_more: sent.append((name, *args)))
    expected = (board_agreement.TASK, world.benchmark.pk)
    tasks.renew_boards()
    assert expected in sent
    renew(world)
    sent.clear()
    later = timezone.now() + timedelta(minutes=2)
    board_agreement.renew_all(later)
    assert expected not in sent, "nothing has changed"
    give_ratings(rated, world.brazil, world.caio, {world.items[0]: "4"})
    Snapshot.objects.update(seconds=60)
    board_agreement.renew_all(later)
    assert expected not in sent, "a minute's work is not done again every other minute"
    board_agreement.renew_all(later + timedelta(minutes=20))
    assert expected in sent


def test_linked_stages_are_compared_and_any_stage_can_be_chosen(world: World) -> None:
    scene = Disputes(world.benchmark, world.egypt)
    Item.objects.filter(stage=scene.boxes).update(origin=world.egypt.label)
    scene.draw_both(lower(0.2))
    renew(world)
    page = overview(world)
    assert column(page)[world.egypt.name].startswith("0.20") and "overlap (IoU)" in page
    options = re.findall(r'<option value="([^"]+)"( selected)?>', page)
    chosen, other = ([key for key, mark in options if bool(mark) is wanted] for wanted in (True, False))
    assert chosen[0].endswith(".linked") and other
    assert column(overview(world, f"?agreement={other[0]}"))[world.egypt.name].startswith("No value:")
    assert column(overview(world, "?agreement=nonsense")) == column(page)
    listed = text_of(world.client(world.mara).get("/benchmarks/").content.decode())
    assert f"{scene.boxes.name} / {scene.verification.name}" in listed, "those that were compared, not what settles it"


def test_its_queries_are_the_same_for_any_number_of_stages_and_answers(world: World, rated: Campaign) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            board_of(world.benchmark, world.mara, timezone.now())
        return len(queries)

    renew(world)
    before = count()
    table(rated, world.brazil, world.items[5:15], {world.bia: "1234512345", world.caio: "1234512345"})
    renew(world)
    assert count() == before


def test_a_stage_with_ratings_is_shown_before_one_that_nobody_answered() -> None:
    def stage(key: str, n_ratings: int) -> StageAgreement:
        estimate = Estimate.undefined(reason="too_few_raters", method="alpha", n_ratings=n_ratings)
        return StageAgreement(key, "alpha_ordinal", (), {POOLED: estimate})

    first, second, third = stage("first", 4), stage("second", 2), stage("third", 0)
    assert board_column._first_choice([first, second, third]) is second, "among equals the later one"
    assert board_column._first_choice([third]) is third
