"""Reports that are kept: stale is said, never silent; made anew once; and never another team's or another filter's."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.http import QueryDict
from django.utils import timezone

from annotation.models import Campaign, Tally
from annotation.services.answers.submit import Submission, submit
from annotation.services.queue.next_work import get_or_claim_work
from evaluation import tasks
from evaluation.models import Snapshot
from evaluation.reports import stored_agreement
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import select
from evaluation.services import snapshots
from jobs.connections import broker
from people.services.raters import rater_of
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.evaluation.test_agreement_page import read_json, url
from tests.module_world import built_once
from tests.personas import World


@built_once
def rated(world: World) -> Campaign:
    world.add_items(20)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural[:5], {world.nour: "11223", world.tarek: "12233"})
    return campaign


@pytest.fixture
def large(rated: Campaign, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """As if there were more answers than are read each time."""
    row = rated.cohorts.order_by("pk")[0]
    Tally.objects.filter(cohort=row, shard=0).update(submitted=snapshots.THRESHOLD)
    cache.clear()
    return rated


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a worker was told."""
    heard: list[Any] = []
    monkeypatch.setattr(broker.current_app, "send_task", lambda name, args, **_more: heard.append((name, args)))
    return heard


def page(world: World, query: str = "") -> str:
    return world.client(world.mara).get(url(world) + query).content.decode()


def submit_one_more(world: World, campaign: Campaign) -> None:
    rater = rater_of(world.caio)
    work = get_or_claim_work(rater, campaign.cohorts.get(cohort=world.brazil), timezone.now())
    assert work.current
    submit(work.current.pk, rater, Submission({"relevance": "5"}, f"key-{work.current.pk}"), timezone.now())


def age_snapshots(minutes: int = 2) -> None:
    for one in Snapshot.objects.all():
        Snapshot.objects.filter(pk=one.pk).update(computed_at=one.computed_at - timedelta(minutes=minutes))


def test_small_data_is_read_each_time(world: World, rated: Campaign) -> None:
    assert "As of" not in page(world)
    submit_one_more(world, rated)
    assert "11 ratings" in page(world)
    assert not Snapshot.objects.exists()


def test_cached_report_shows_its_time_and_newer_answers(world: World, large: Campaign, sent: list[Any]) -> None:
    assert "nothing has changed since" in page(world)
    submit_one_more(world, large)
    stale = page(world)
    assert "1 newer answer is not in it." in stale and "10 ratings" in stale
    submit_one_more(world, large)
    assert "2 newer answers are not in it." in page(world)
    assert read_json(world)["n_ratings"] == 10, "every door shows the same"
    assert Snapshot.objects.count() == 1


def test_what_was_taken_back_is_told_too(world: World, large: Campaign, sent: list[Any]) -> None:
    page(world)
    client = world.client(world.mara)
    client.post(f"/b/{world.benchmark.slug}/people/{rater_of(world.nour).pk}/", {"do": "exclude", "reason": "x"})
    assert "Answers or items have changed since" in page(world)


def test_worker_recomputes_the_report_and_the_page_updates(world: World, large: Campaign, sent: list[Any]) -> None:
    first = page(world)
    submit_one_more(world, large)
    page(world)
    assert sent == [], "not every moment"
    age_snapshots()
    page(world)
    page(world)
    assert sent == [("evaluation.renew", (world.benchmark.pk, "agreement", "", "UTC"))], "asked once"
    assert tasks.recompute_report(*sent[0][1])
    fresh = page(world)
    assert "11 ratings" in fresh and "nothing has changed since" in fresh
    seen = first.split('data-watermark="', 1)[1].split('"', 1)[0]
    live = world.client(world.mara).get(url(world, f"agreement/live/?seen={seen}"))
    assert live.status_code == 200 and "11 ratings" in live.content.decode()
    now = fresh.split('data-watermark="', 1)[1].split('"', 1)[0]
    assert world.client(world.mara).get(url(world, f"agreement/live/?seen={now}")).status_code == 204


def test_the_button_asks_for_it_at_once(world: World, large: Campaign, sent: list[Any]) -> None:
    assert 'agreement/recompute/?measure=percent"' in page(world, "?measure=percent")
    reply = world.client(world.mara).post(url(world, "agreement/recompute/?measure=percent"))
    assert reply.status_code == 302 and reply["Location"].endswith("?measure=percent")
    assert sent == [("evaluation.renew", (world.benchmark.pk, "agreement", "measure=percent", "UTC"))]
    for user in (world.stranger, world.rival, world.nour, world.manager, world.reviewer):
        assert world.client(user).post(url(world, "agreement/recompute/")).status_code == 404
    assert "agreement/recompute/" not in world.client(world.reviewer).get(url(world)).content.decode()
    assert len(sent) == 1


def ask(world: World, user: Any, query: str = "") -> str:
    return world.client(user).post(url(world, f"agreement/recompute/{query}"), follow=True).content.decode()


def test_one_renewal_is_on_its_way_whichever_process_asks(world: World, large: Campaign, sent: list[Any]) -> None:
    page(world)
    submit_one_more(world, large)
    for user in (world.mara, world.owner, world.mara):
        cache.clear()  # as another process of the site
        assert "being recomputed" in ask(world, user)
    assert len(sent) == 1
    assert tasks.recompute_report(*sent[0][1])
    submit_one_more(world, large)
    for more in (1, 1):
        cache.clear()
        ask(world, world.mara)
        assert len(sent) == 1 + more, "what was made may be asked for again, once"
    Snapshot.objects.update(watermark=snapshots.watermark(world.benchmark))
    assert tasks.recompute_report(*sent[1][1])  # nothing to do, which is as good as made
    cache.clear()
    ask(world, world.mara)
    assert len(sent) == 3


def test_a_renewal_that_no_worker_took_is_asked_for_again(
    world: World, large: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def lost(name: str, *_args: Any, **_more: Any) -> None:
        tried.append(name)
        raise OSError

    monkeypatch.setattr(broker.current_app, "send_task", lost)
    page(world)
    for _ in range(2):
        cache.clear()
        monkeypatch.setattr(broker, "_silent_until", 0.0)  # the broker had its rest
        ask(world, world.mara)
    assert len(tried) == 2


def test_nobody_fills_the_queue(
    world: World, large: Campaign, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "computed on every visit" in ask(world, world.mara, "?since=2020-01-01"), "not what nobody has looked at"
    assert sent == [] and not Snapshot.objects.filter(data__has_key="asked").exists()
    monkeypatch.setattr(snapshots, "MOST_ASKED", 2)
    cache.clear()
    queries = [f"?since=2020-01-0{day}" for day in (1, 2, 3)]
    for query in queries:
        page(world, query)
    assert ["being recomputed" in ask(world, world.mara, query) for query in queries] == [True, True, False]
    assert "Too many requests" in ask(world, world.mara, queries[2])
    assert "being recomputed" in ask(world, world.owner, queries[2]) and len(sent) == 3


def test_small_data_is_never_queued(world: World, rated: Campaign, sent: list[Any]) -> None:
    assert "computed on every visit" in ask(world, world.mara)
    assert sent == [] and not Snapshot.objects.exists()


def test_what_was_made_longest_ago_goes(
    world: World, large: Campaign, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "KEPT", 2)
    facts = {"watermark": 0, "data": {"report": [], "last": 0}, "seconds": 0, "computed_at": timezone.now()}
    other = Snapshot.objects.create(benchmark=world.other_benchmark, report="agreement", key="k", **facts)
    for day in (1, 2, 3, 4):
        page(world, f"?since=2020-01-0{day}")
        assert Snapshot.objects.filter(benchmark=world.benchmark).count() == min(day, 2)
    first = Snapshot.objects.exclude(pk=other.pk).order_by("pk")[0]
    page(world, "?since=2020-01-03")
    assert Snapshot.objects.filter(pk__in=(other.pk, first.pk)).count() == 2, "what is looked at is not made anew"


def test_programs_are_told_what_is_kept_too(world: World, large: Campaign, sent: list[Any]) -> None:
    """The same numbers and the same moment as on the page, and not computed for each program that asks."""
    first = read_json(world)
    submit_one_more(world, large)
    api = f"/api/v1/benchmarks/{world.benchmark.slug}/agreement/"
    assert world.client(world.mara).get(api).json() == read_json(world)
    assert read_json(world)["computed_at"] == first["computed_at"] and first["n_ratings"] == 10


def test_the_same_numbers_to_the_last_digit(world: World, large: Campaign, sent: list[Any]) -> None:
    stored_report = read_json(world, "measure=table")
    Tally.objects.update(submitted=0)
    live = read_json(world, "measure=table")
    for report in (stored_report, live):
        del report["computed_at"]
    assert stored_report == live


def test_correlations_of_many_raters_are_kept_too(
    world: World, rated: Campaign, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    Tally.objects.filter(cohort__campaign=rated, shard=0).update(submitted=10)
    assert "As of" not in page(world, "?measure=table")
    monkeypatch.setattr(stored_agreement, "PAIRED", 1)
    assert "As of" in page(world, "?measure=table") and "As of" not in page(world)


def test_another_filter_team_or_code_has_another_key(world: World, large: Campaign, sent: list[Any]) -> None:
    page(world)
    assert "Brazil</bdi></th>" not in page(world, f"?cohort={world.egypt.pk}")
    assert Snapshot.objects.count() == 2
    catalogue = catalogue_of(world.benchmark)
    selection = select(catalogue, QueryDict(""))
    key = snapshots.key_of(world.benchmark, "agreement", selection)
    assert key != snapshots.key_of(world.other_benchmark, "agreement", selection)
    assert key != snapshots.key_of(world.benchmark, "models", selection)
    assert world.client(world.rival).get(url(world)).status_code == 404


def test_nothing_is_made_when_nothing_changed_or_the_address_no_longer_holds(
    world: World, large: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    page(world)
    calls: list[int] = []
    whole = stored_agreement.to_data
    monkeypatch.setattr(tasks.stored_agreement, "to_data", lambda report: calls.append(1) or whole(report))
    assert tasks.recompute_report(world.benchmark.pk, "agreement", "", "UTC") and not calls
    assert not tasks.recompute_report(world.benchmark.pk, "agreement", "cohort=999999", "UTC")
    assert not tasks.recompute_report(world.benchmark.pk, "judge", "", "UTC")


@pytest.mark.django_db(transaction=True)
def test_two_requests_are_one_computation(world: World) -> None:
    """The second waits for the first, and computes nothing; a worker that finds one at it goes away."""
    begun, go = threading.Event(), threading.Event()
    computed: list[int] = []
    turned_away: list[Any] = []

    def compute() -> list[int]:
        computed.append(1)
        begun.set()
        assert go.wait(10)
        return [7]

    def ask() -> None:
        found = snapshots.compute_and_store(world.benchmark, "agreement", "k" * 64, compute, timezone.now())
        turned_away.append(found.data["report"])
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    assert snapshots.compute_if_unlocked(world.benchmark, "agreement", "k" * 64, compute, timezone.now()) is None
    go.set()
    for one in threads:
        one.join(20)
    assert computed == [1]
    assert turned_away == [[7], [7]]
