"""The list of benchmarks: what waits comes first, each cohort has its bar, and the work does not grow with answers."""

import re
from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, Campaign, Participation, Tally
from annotation.services.campaigns import lifecycle
from benchmarks.access import visible_benchmarks as visible
from benchmarks.models import Benchmark, Role, Stage
from benchmarks.pages import benchmark_list
from benchmarks.pages.next_actions import waiting_actions
from evaluation import tasks
from people.models import Rater, User
from predictions.models import Endpoint, Run
from tests.chains.link_client import text_of
from tests.evaluation.data import give_ratings, of_condition, table
from tests.evaluation.test_board_column import rated  # noqa: F401  (a fixture)
from tests.personas import World, make_benchmark, make_items

pytestmark = pytest.mark.django_db


def page(world: World, user: User) -> str:
    reply = world.client(user).get("/benchmarks/")
    assert reply.status_code == 200
    return str(reply.content.decode())


def test_row_has_the_chain_agreement_and_one_button(world: World, rated: Campaign) -> None:  # noqa: F811
    before = text_of(page(world, world.mara))
    assert "No agreement yet" in before and "Nothing waits for you." in before
    tasks.renew_board(world.benchmark.pk)
    tally = Tally.objects.filter(cohort__cohort=world.egypt).first()
    assert tally is not None
    Tally.objects.filter(pk=tally.pk).update(submitted=15)
    Participation.objects.update(last_seen_at=timezone.now())
    shown = page(world, world.mara)
    bars = re.findall(r'<i class="v(\d+)">', shown)
    assert len(bars) == 2 and len(set(bars)) == 2, "Brazil and Egypt, which is ahead"
    text = text_of(shown)
    assert "Sea And River" in text and "Relevance rating" in text and "Least: Brazil" in text
    assert "n = 10 × 3" in text and "Open the overview" in text
    assert "fjord" not in shown.lower()


def test_cohort_without_an_answer_for_days_is_named_and_framed(world: World, rated: Campaign) -> None:  # noqa: F811
    """Six days without an answer: both cohorts. Then somebody of Egypt comes back, and Brazil is paused."""
    six_days_ago = timezone.now() - timedelta(days=6)
    Campaign.objects.filter(pk=rated.pk).update(opened_at=six_days_ago)
    Participation.objects.filter(cohort__campaign=rated).update(last_seen_at=six_days_ago)
    shown = page(world, world.mara)
    assert "Brazil, Egypt: no answer for 6 days" in text_of(shown) and shown.count(" stuck") == 2
    Participation.objects.filter(cohort__cohort=world.egypt).update(last_seen_at=timezone.now())
    shown = page(world, world.mara)
    assert "Brazil: no answer for 6 days" in text_of(shown) and shown.count(" stuck") == 1
    rated.cohorts.filter(cohort=world.brazil).update(paused=True)
    assert "no answer for" not in text_of(page(world, world.mara)), "nobody is asked there now"


def test_finished_and_closed_work_is_not_stuck(world: World, rated: Campaign) -> None:  # noqa: F811
    six_days_ago = timezone.now() - timedelta(days=6)
    Campaign.objects.filter(pk=rated.pk).update(opened_at=six_days_ago)
    Participation.objects.filter(cohort__campaign=rated).update(last_seen_at=six_days_ago)
    Tally.objects.filter(cohort__cohort=world.egypt, wanted__gt=0).update(submitted=F("wanted"))
    assert "Brazil: no answer for 6 days" in text_of(page(world, world.mara))
    Campaign.objects.filter(pk=rated.pk).update(state=Campaign.State.CLOSED)
    assert "no answer for" not in text_of(page(world, world.mara))


def test_stage_without_items_has_no_sum(world: World) -> None:
    world.add_items(3)
    campaign = lifecycle.create(world.stage, "Round 1", world.mara, {world.brazil: 1})
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    assert "0 of" in text_of(page(world, world.mara))
    world.stage.items.update(intake="dropped")
    text = text_of(page(world, world.mara))
    assert "No items yet" in text and "of 0" not in text


def test_what_waits_comes_first_and_has_the_only_primary_button(world: World, rated: Campaign) -> None:  # noqa: F811
    make_benchmark(world.team, "zoo-signs", owner=world.owner).stages.all()
    shown = page(world, world.owner)
    assert shown.index("Zoo Signs") < shown.index("Sea And River"), "it has no items: they are to be imported"
    assert shown.count('class="btn go"') == 1 and "1 benchmark waits for you." in shown
    assert "No stage asks people yet." in shown
    assert "Zoo Signs" not in page(world, world.mara), "who has no role there does not see it"


def test_beyond_the_first_benchmarks_names_stand_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark_list, "WHOLE", 1)
    make_benchmark(world.team, "zoo-signs", owner=world.owner)
    shown = page(world, world.owner)
    assert shown.count("bench-row") == 1 and "More benchmarks" in shown and "/b/zoo-signs/" in shown


def test_person_without_a_role_is_told_how_to_get_one(world: World) -> None:
    assert "The owner of a benchmark can give you a role" in page(world, world.stranger)


def test_list_takes_as_many_queries_for_more_answers_and_stages(world: World, rated: Campaign) -> None:  # noqa: F811
    tasks.renew_board(world.benchmark.pk)
    client = world.client(world.mara)
    client.get("/benchmarks/")
    with CaptureQueriesContext(connection) as few:
        client.get("/benchmarks/")
    table(rated, world.brazil, of_condition(world.items, "generated")[:5], {world.bia: "12345"})
    Stage.objects.create(
        benchmark=world.benchmark, key="next", name="Next", display="image", sheet=world.stage.sheet, position=2
    )
    with CaptureQueriesContext(connection) as many:
        client.get("/benchmarks/")
    assert len(many) <= len(few) + 1 <= 45


def benchmarks_that_wait(world: World, suffix: str) -> list[Benchmark]:
    """Two of mara's: one has answers to review and a run of a model that failed; nobody was asked in the other."""
    asked, unasked = (
        make_benchmark(world.team, f"{name}-{suffix}", researcher=world.mara) for name in ("asked", "unasked")
    )
    asked.stages.update(acceptance=Stage.Acceptance.BY_REVIEW)
    unasked.stages.update(derivation={"kind": "disagree", "from": []})
    for benchmark in (asked, unasked):
        make_items(benchmark.stages.get(), 3)
    campaign = lifecycle.create(asked.stages.get(), "Round 1", world.mara, {world.brazil: 1})
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    give_ratings(campaign, world.brazil, world.bia, dict.fromkeys(asked.stages.get().items.all()[:2], "3"))
    model = Rater.objects.create(kind="model", team=world.team, name=f"Model {suffix}", setting="main")
    endpoint = Endpoint.objects.create(team=world.team, name=f"Model {suffix}", kind="openai")
    Run.objects.create(
        benchmark=asked, rater=model, campaign=campaign, task=Run.Task.ANSWERS, endpoint=endpoint, state="failed"
    )
    return [asked, unasked]


def test_six_benchmarks_take_as_many_queries_as_two(world: World) -> None:
    client = world.client(world.mara)
    world.benchmark.roles.all().delete()
    benchmarks_that_wait(world, "0")
    client.get("/benchmarks/")
    with CaptureQueriesContext(connection) as two:
        assert client.get("/benchmarks/").content.decode().count("bench-row") == 2
    for number in "12":
        benchmarks_that_wait(world, number)
    with CaptureQueriesContext(connection) as six:
        assert client.get("/benchmarks/").content.decode().count("bench-row") == 6
    assert len(six) == len(two) <= 45


def test_list_says_what_waits_as_each_benchmark_alone_does(world: World) -> None:
    rows = [*benchmarks_that_wait(world, "0"), *benchmarks_that_wait(world, "1"), world.benchmark]
    Run.objects.filter(benchmark=rows[2]).update(withdrawn_at=timezone.now())
    rows[0].stages.update(acceptance=Stage.Acceptance.ON_SUBMIT)
    for user in (world.mara, world.team_admin, world.reviewer):
        listed = {row.benchmark.pk: [row.action, *row.further] for row in rows_of(user) if row.action}
        alone = {row.benchmark.pk: list(waiting_actions(row.benchmark, user)) for row in rows_of(user)}
        assert listed == {pk: actions for pk, actions in alone.items() if actions}
    texts = {row.action.text for row in rows_of(world.mara) if row.action}
    assert {"1 run of a model failed.", "2 answers wait for review."} <= texts


def rows_of(user: User) -> Sequence[benchmark_list.BenchmarkRow]:
    return benchmark_list.benchmark_list(visible(user), user, timezone.now()).rows


def test_other_work_of_a_benchmark_is_named_below_the_first_and_leads_there(world: World) -> None:
    asked, unasked = benchmarks_that_wait(world, "0")
    [row] = [row for row in rows_of(world.mara) if row.benchmark == asked]
    assert row.action is not None and row.action.text == "2 answers wait for review."
    assert [action.text for action in row.further] == ["1 run of a model failed."]
    shown = page(world, world.mara)
    assert f'<a href="{row.further[0].url}">1 run of a model failed.</a>' in shown
    [unopened] = [row for row in rows_of(world.mara) if row.benchmark == unasked]
    assert unopened.action is not None and not unopened.further, "its disagreements wait for the same page"


def test_head_counts_the_answers_of_a_day_and_their_people(world: World) -> None:
    assert "last 24 hours" not in page(world, world.mara), "nobody answered"
    benchmarks_that_wait(world, "0")
    Annotation.objects.update(submitted_at=timezone.now() - timedelta(hours=23))
    assert "Answers in the last 24 hours: 2, from 1 person." in text_of(page(world, world.mara))
    Annotation.objects.update(submitted_at=timezone.now() - timedelta(days=2))
    assert "last 24 hours" not in page(world, world.mara)
    assert "last 24 hours" not in page(world, world.rival), "who has no part in these benchmarks"


def test_reading_together_is_over_with_the_page(world: World) -> None:
    """A right that is taken away between two pages is gone on the second."""
    benchmarks_that_wait(world, "0")
    assert "asked-0" in page(world, world.mara)
    Role.objects.filter(user=world.mara).delete()
    assert "asked-0" not in page(world, world.mara)
