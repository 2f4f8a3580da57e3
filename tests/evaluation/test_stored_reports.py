"""Models and disagreement over many answers are stored: the same numbers, their time, and a worker that renews them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.cache import cache
from django.db.models import F
from django.http import QueryDict
from django.utils import timezone

from annotation.models import Campaign, Tally
from benchmarks.models import Item
from evaluation import tasks
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.self_agreement import SelfAgreement
from evaluation.models import Snapshot
from evaluation.queries.call_statistics import MissingAnswers
from evaluation.reports import stored_models, stored_people
from evaluation.selections.catalogue import catalogue_of
from evaluation.services import snapshots
from people.models import CohortMember
from people.services.raters import rater_of
from predictions.models import Run
from predictions.queries.code_mass import CodeMass
from tests.chains.link_client import text_of
from tests.evaluation.data import give_ratings
from tests.evaluation.test_covered import asked  # noqa: F401  (a fixture)
from tests.evaluation.test_items_page import campaign, keys, page_of, rated, unit_of, url  # noqa: F401  (fixtures)
from tests.evaluation.test_selection import by_a_model
from tests.evaluation.test_snapshots import sent  # noqa: F401  (a fixture)
from tests.personas import World
from tests.predictions.model_server import Server


def people_page(world: World, query: str = "") -> str:
    return world.client(world.mara).get(f"/b/{world.benchmark.slug}/people/{query}").content.decode()


@pytest.fixture
def compared(world: World, campaign: Campaign, rated: list[Item]) -> Campaign:  # noqa: F811
    """Five items that two people and two models rated."""
    by_a_model(campaign, world, dict(zip(rated, "11243", strict=True)), name="Seer 7")
    by_a_model(campaign, world, dict(zip(rated[:4], "5432", strict=True)), name="Seer 8")
    return campaign


def make_large(of: Campaign) -> None:
    """As if there were more answers than are read for each request."""
    row = of.cohorts.order_by("pk")[0]
    Tally.objects.filter(cohort=row, shard=0).update(submitted=snapshots.THRESHOLD)
    cache.clear()


def change_answers(of: Campaign) -> None:
    Tally.objects.filter(cohort__campaign=of, shard=0).update(changes=F("changes") + 1)
    Snapshot.objects.update(computed_at=F("computed_at") - timedelta(minutes=2))


def models_json(world: World, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = world.client(world.mara).get(f"/b/{world.benchmark.slug}/models.json?{query}").json()
    return found


def models_page(world: World, query: str = "") -> str:
    return world.client(world.mara).get(f"/b/{world.benchmark.slug}/models/{query}").content.decode()


# ---- models ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["", "statistic=pearson", "interval=none"])
def test_stored_models_have_the_same_numbers(world: World, compared: Campaign, query: str) -> None:
    live = models_json(world, query)
    assert not Snapshot.objects.exists() and len(live["models"]) == 2 and live["n_units"] == 5
    make_large(compared)
    computed, stored = models_json(world, query), models_json(world, query)
    assert computed["computed_at"] == stored["computed_at"] != live["computed_at"], "the second comes from the store"
    for report in (live, computed, stored):
        del report["computed_at"]
    assert live == computed == stored


def test_page_of_models_shows_the_time_and_a_worker_renews_it(
    world: World, compared: Campaign, rated: list[Item], sent: list[Any]  # noqa: F811
) -> None:  # fmt: skip
    assert "As of" not in models_page(world)
    make_large(compared)
    assert "nothing has changed since" in models_page(world, "?statistic=pearson")
    by_a_model(compared, world, {rated[4]: "1"}, name="Seer 9")
    change_answers(compared)
    stale = models_page(world, "?statistic=pearson")
    assert "newer answer" in stale and "Seer 9" not in stale
    assert sent == [("evaluation.renew", (world.benchmark.pk, "models", "statistic=pearson", "UTC"))]
    assert tasks.recompute_report(*sent[0][1])
    fresh = models_page(world, "?statistic=pearson")
    assert "nothing has changed since" in fresh and "Seer 9" in fresh
    assert Snapshot.objects.count() == 1
    assert not tasks.recompute_report(world.benchmark.pk, "models", "cohort=999999", "UTC")
    assert not tasks.recompute_report(world.other_benchmark.pk, "models", "", "UTC"), "it has no campaign"


def test_another_statistic_or_a_run_that_ended_is_another_report(world: World, compared: Campaign) -> None:
    make_large(compared)
    models_page(world)
    models_page(world, "?statistic=pearson")
    assert Snapshot.objects.count() == 2
    rater = compared.assignments.filter(participation=None)[0].annotations.get().rater
    run = Run.objects.create(
        benchmark=world.benchmark, rater=rater, campaign=compared, task=Run.Task.ANSWERS, state=Run.State.RUNNING
    )
    models_page(world)
    assert Snapshot.objects.count() == 2, "its answers change the stored report, and until it ends nothing else"
    Run.objects.filter(pk=run.pk).update(state=Run.State.FAILED)
    models_page(world)
    assert Snapshot.objects.count() == 3


@pytest.mark.parametrize("query", ["statistic=none", "truth=none", "statistic=accuracy"])
def test_what_a_question_does_not_allow_is_refused_and_not_stored(
    world: World, compared: Campaign, query: str
) -> None:  # fmt: skip
    make_large(compared)
    assert world.client(world.mara).get(f"/b/{world.benchmark.slug}/models/?{query}").status_code == 400
    assert not tasks.recompute_report(world.benchmark.pk, "models", query, "UTC")
    assert not Snapshot.objects.exists()


def test_names_of_stored_models_are_those_of_today(world: World, compared: Campaign) -> None:
    make_large(compared)
    models_page(world)
    rater = compared.assignments.filter(participation=None)[0].annotations.get().rater
    old = rater.name
    rater.name = "Renamed"
    rater.save()
    assert "Renamed" in models_page(world) and f">{old}<" not in models_page(world)


def test_every_part_of_a_row_survives_storage(
    world: World, asked: Run, scripted_server: Server  # noqa: F811
) -> None:  # fmt: skip
    """With calls that gave no value, repeated requests and a sample of items."""
    catalogue, at = catalogue_of(world.benchmark), timezone.now()
    report, state = stored_models.load_models(catalogue, QueryDict(), ZoneInfo("UTC"), at)
    [row] = report.lines
    assert row.covered == CodeMass(4, 0.05, pytest.approx(0.7), 1)  # type: ignore[arg-type]
    counts = {"n_units": 4, "n_raters": 1, "n_ratings": 12}
    same = Estimate.of(0.75, level=0.95, method="share", **counts, extras={"n_unreadable": 2, "worst": 0.5})
    full = replace(
        row,
        left_out=MissingAnswers({"failed": 2, "unparseable": 1}, 0.25, 0.75, 3),
        again=SelfAgreement(same, Estimate.undefined(reason="no_variation", method="alpha"), 3),
        samples=({"strata": ["concept"], "n": 5},),
        incomplete=4,
        band=(1, 2),
    )
    whole = replace(report, lines=(row, full), n_tied=3, n_tests=1, n_untested=2, too_many=True)
    read = stored_models.from_data(stored_models.to_data(whole), catalogue, report.selection, state)
    assert read.lines == whole.lines
    assert replace(read, lines=()) == replace(whole, lines=(), watermark=state.watermark, computed_at=state.computed_at)


# ---- disagreement ----------------------------------------------------------------------------------------------------


def test_stored_order_is_the_same_on_the_list_and_on_each_item(
    world: World, campaign: Campaign, rated: list[Item], sent: list[Any]  # noqa: F811
) -> None:  # fmt: skip
    live = page_of(world)
    assert "As of" not in live
    make_large(campaign)
    order = [rated[2].key, rated[1].key, rated[3].key, rated[0].key]
    for _visit in range(2):
        page = page_of(world)
        assert keys(page) == keys(live) == order and "nothing has changed since" in page
        assert "1 item with fewer raters is left out." in page
    assert Snapshot.objects.get().report == "disagreement"
    middle = page_of(world, f"{unit_of(rated[1]).pk}/")
    assert "2 of 4, the most disagreement first" in middle
    assert Snapshot.objects.count() <= 2, "an item page names its stage"


def test_worker_renews_the_order(
    world: World, campaign: Campaign, rated: list[Item], sent: list[Any]  # noqa: F811
) -> None:  # fmt: skip
    make_large(campaign)
    page_of(world, "?least=2&condition=natural")
    give_ratings(campaign, world.egypt, world.tarek, {rated[4]: "1"})
    change_answers(campaign)
    stale = page_of(world, "?least=2&condition=natural")
    assert rated[4].key not in keys(stale) and "newer answer" in stale
    assert sent == [("evaluation.renew", (world.benchmark.pk, "disagreement", "condition=natural&least=2", "UTC"))]
    assert tasks.recompute_report(*sent[0][1])
    fresh = page_of(world, "?least=2&condition=natural")
    assert rated[4].key in keys(fresh) and "nothing has changed since" in fresh
    assert keys(page_of(world, "?least=3")) == [], "another least number of raters is another order"
    assert not tasks.recompute_report(world.benchmark.pk, "disagreement", "least=4", "UTC")
    assert not tasks.recompute_report(world.other_benchmark.pk, "disagreement", "", "UTC")
    assert world.client(world.rival).get(url(world)).status_code == 404


# ---- people ----------------------------------------------------------------------------------------------------------


def without_time(page: str) -> str:
    """The visible text of the list of people, without how old it is."""
    text = text_of(page)
    return (
        text[: text.find("As of")] + text[text.find("nothing has changed since.") + 26 :] if "As of" in text else text
    )


@pytest.mark.parametrize("query", ["", "?cohort=all", "?cohort={egypt}", "?cohort={egypt}&page=1"])
def test_stored_people_have_the_same_numbers(
    world: World, campaign: Campaign, rated: list[Item], query: str  # noqa: F811
) -> None:  # fmt: skip
    query = query.format(egypt=world.egypt.pk)
    live = people_page(world, query)
    assert "As of" not in live and world.benchmark.pseudonym(rater_of(world.nour).pk) in live
    make_large(campaign)
    for _visit in range(2):
        page = people_page(world, query)
        assert "nothing has changed since" in page
        assert without_time(page).split() == without_time(live).split()
    assert Snapshot.objects.count() == 1
    people_page(world)
    assert tasks.recompute_report(world.benchmark.pk, "people", "", "UTC")
    stored = Snapshot.objects.count()
    for number in ("2", "0", "x", "9999"):
        assert world.client(world.mara).get(f"/b/{world.benchmark.slug}/people/?page={number}").status_code == 404
    assert tasks.recompute_report(world.benchmark.pk, "people", "page=9999&order=done", "UTC")
    assert Snapshot.objects.count() == stored, "a page on which nobody is is not stored, nor an order"
    assert world.client(world.rival).get(f"/b/{world.benchmark.slug}/people/").status_code == 404


def test_worker_renews_people_and_states_are_those_of_today(
    world: World, campaign: Campaign, rated: list[Item], sent: list[Any]  # noqa: F811
) -> None:  # fmt: skip
    make_large(campaign)
    query = f"?cohort={world.egypt.pk}"
    people_page(world, query)
    give_ratings(campaign, world.egypt, world.tarek, {rated[4]: "1"})
    CohortMember.objects.filter(user=world.tarek, cohort=world.egypt).update(left_at=timezone.now())
    change_answers(campaign)
    stale = people_page(world, query)
    name = world.benchmark.pseudonym(rater_of(world.tarek).pk)
    assert "newer answer" in stale
    assert "4" in stale.split(name, 1)[1].split("</tr>", 1)[0], "the count is the stored one"
    assert sent == [("evaluation.renew", (world.benchmark.pk, "people", f"cohort={world.egypt.pk}", "UTC"))]
    assert tasks.recompute_report(*sent[0][1])
    row = text_of(people_page(world, query).split(name, 1)[1].split("</tr>", 1)[0])
    assert " 5 " in f" {row} "
    assert not tasks.recompute_report(world.benchmark.pk, "people", f"cohort={world.other_cohort.pk}", "UTC")


def test_somebody_who_moved_to_a_stored_page_is_compared_too(
    world: World, campaign: Campaign, rated: list[Item], monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    """A page of one person; the first of them is gone from the list when the stored page is shown again."""
    make_large(campaign)
    monkeypatch.setattr(stored_people, "PAGE", 1)
    query = f"?cohort={world.egypt.pk}"
    first = people_page(world, query)
    names = {user: world.benchmark.pseudonym(rater_of(user).pk) for user in (world.nour, world.tarek)}
    [shown] = [user for user, name in names.items() if name in first]
    [other] = set(names) - {shown}
    snapshot = Snapshot.objects.get()
    counts = snapshot.data["report"]["counts"]
    for line in counts:
        line["withdrawn"] = line["rater"] == rater_of(shown).pk
    snapshot.save()
    page = people_page(world, query)
    assert names[other] in page and names[shown] not in page
    assert "no answers that count" not in page
