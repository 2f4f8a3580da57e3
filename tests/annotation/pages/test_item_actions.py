"""Bulk actions on items: on a selection or on all that match, each undone as a whole."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import ItemChange, Slot
from annotation.services import bulk_actions
from benchmarks.models import FilterResult, Item
from benchmarks.models.items import RETURNED
from benchmarks.queries import item_selection
from jobs.models import Event, Job, JobRow
from jobs.services import runner
from people.models import User
from tests import samples
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db


def act(world: World, do: str, *, user: User | None = None, items: list[Item] = [], **data: Any) -> Any:  # noqa: B006
    posted = {"do": do, "query": "", "item": [item.pk for item in items], **data}
    return world.client(user or world.mara).post(f"/b/{world.benchmark.slug}/items/action/", posted)


def undo(world: World, job: Job) -> Any:
    return world.client(world.mara).post(f"/b/{world.benchmark.slug}/items/action/{job.pk}/undo/")


def latest() -> Job:
    return Job.objects.filter(kind=bulk_actions.KIND).latest("pk")


def in_use(world: World) -> set[str]:
    return set(world.stage.items.filter(withdrawn_at=None).values_list("key", flat=True))


def test_selected_items_are_withdrawn_and_one_press_brings_exactly_these_back(world: World) -> None:
    a, b, c, d = world.add_items(4)
    Item.objects.filter(pk=d.pk).update(withdrawn_at=timezone.now(), withdrawn_because=RETURNED)
    reply = act(world, "withdraw", items=[a, b, d])
    assert in_use(world) == {c.key}
    job = latest()
    html = world.client(world.mara).get(reply["Location"]).content.decode()
    assert "2 items were withdrawn." in html and "It is withdrawn." in html and "Undo" in html
    assert Event.objects.filter(verb="item.withdrawn", actor=world.mara).count() == 2
    assert job.result["counts"] == {"updated": 2, "error": 1}
    world.client(world.reviewer).get(reply["Location"])
    act(world, "restore", items=[a])
    html = world.client(world.mara).get(undo(world, job)["Location"]).content.decode()
    assert "The change of 1 item was undone." in html and "It is in use already." in html
    assert in_use(world) == {a.key, b.key, c.key}, "what was withdrawn before stays withdrawn"
    undo(world, job)
    assert in_use(world) == {a.key, b.key, c.key}, "undo twice changes nothing"


def test_all_that_match_are_changed_by_a_job_in_steps_and_not_what_comes_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_actions, "STEP", 3)
    items = world.add_items(10)
    concept = items[0].concept
    reply = act(world, "withdraw", scope="all", query=f"concept={concept}")
    job = latest()
    assert reply["Location"] == f"/jobs/{job.pk}/" and job.state == Job.State.QUEUED
    late = Item.objects.create(stage=world.stage, key="late", concept=concept)
    runner.run(job.pk)
    job.refresh_from_db()
    gone = {item.key for item in items if item.concept == concept}
    assert job.state == Job.State.DONE and job.done == job.total == len(gone)
    assert in_use(world) == {item.key for item in items} - gone | {late.key}
    page = world.client(world.mara).get(f"/jobs/{job.pk}/").content.decode()
    assert "View items, or undo" in page
    undo(world, job)
    assert gone <= in_use(world)


def test_a_cancelled_action_can_be_undone_and_a_killed_one_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_actions, "STEP", 2)
    items = world.add_items(6)
    act(world, "withdraw", scope="all")
    job = latest()
    real, calls = bulk_actions._step, []

    def killed(*args: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(*args)

    monkeypatch.setattr(bulk_actions, "_step", killed)
    with pytest.raises(KeyboardInterrupt):
        runner.run(job.pk)
    assert len(in_use(world)) == 4
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now())
    monkeypatch.setattr(bulk_actions, "_step", real)
    assert undo(world, job).status_code == 404, "while it runs there is nothing to undo"
    runner.run(job.pk)
    assert in_use(world) == set() and JobRow.objects.filter(job=job, outcome="updated").count() == len(items)
    undo(world, job)
    assert len(in_use(world)) == 6


def test_keep_and_drop_need_a_reason_and_undo_brings_the_earlier_decision_back(world: World) -> None:
    a, b = world.add_items(2)
    act(world, "keep", items=[a], reason="The only one")
    form = act(world, "drop", items=[a, b])
    assert form.status_code == 200 and f'value="{b.pk}"' in form.content.decode() and "Reason" in form.content.decode()
    act(world, "drop", items=[a, b], reason="Blurred")
    job = latest()
    stored = {row.item_id: row for row in FilterResult.objects.filter(key="by_hand")}
    assert {row.state for row in stored.values()} == {"dropped"} and stored[b.pk].reason == "Blurred"
    undo(world, job)
    (row,) = FilterResult.objects.filter(key="by_hand")
    assert (row.item_id, row.state, row.reason, row.decided_by) == (a.pk, "kept", "The only one", world.mara)
    act(world, "drop", items=[b], reason="Again")
    job = latest()
    act(world, "keep", items=[b], reason="No, keep it", user=world.owner)
    undo(world, job)
    assert FilterResult.objects.get(item=b, key="by_hand").state == "kept", "a later decision is not undone"


def test_items_are_asked_first_in_open_campaigns_and_in_their_turn_again(world: World) -> None:
    a, b = world.add_items(2)
    opened = samples.open_campaign(world, world.egypt)
    act(world, "first", items=[a])
    assert Slot.objects.get(cohort=opened, unit__item=a).urgent and not Slot.objects.get(unit__item=b).urgent
    job = latest()
    act(world, "first", items=[a])
    assert latest().result["counts"] == {"error": 1} and not ItemChange.objects.filter(job=latest()).exists()
    undo(world, job)
    assert not Slot.objects.get(cohort=opened, unit__item=a).urgent


def test_items_are_asked_last_and_in_their_turn_again(world: World) -> None:
    world.add_items(4)
    opened = samples.open_campaign(world, world.egypt)

    def order() -> list[int]:
        rows = Slot.objects.filter(cohort=opened).order_by("position", "pk")
        return list(rows.values_list("unit__item", flat=True))

    before = order()
    moved = [Item.objects.get(pk=pk) for pk in before[:2]]
    act(world, "first", items=moved[:1])
    act(world, "last", items=moved)
    job = latest()
    assert order() == [*before[2:], moved[0].pk, moved[1].pk] or order() == [*before[2:], moved[1].pk, moved[0].pk]
    assert not Slot.objects.filter(urgent=True).exists()
    undo(world, job)
    assert order()[-1] == moved[0].pk and Slot.objects.get(unit__item=moved[0]).urgent, "it was to be asked first"
    assert order()[0] == moved[1].pk, "it is where it was"
    for user in (world.stranger, world.nour):
        assert act(world, "last", items=moved, user=user).status_code == 404


def test_keys_are_a_file_and_nothing_selected_changes_nothing(world: World) -> None:
    a, b = world.add_items(2)
    Item.objects.filter(pk=b.pk).update(key='=1,"2"')
    rows = b"".join(act(world, "keys", scope="all").streaming_content).decode()
    assert rows == f'stage,key\r\n"relevance","{a.key}"\r\n"relevance","\'=1,""2"""\r\n'
    assert b"".join(act(world, "keys", items=[a]).streaming_content).decode().count("\r\n") == 2
    reply = act(world, "withdraw")
    assert reply.status_code == 302 and len(in_use(world)) == 2 and not Job.objects.exists()


def test_only_those_who_work_on_the_benchmark_act_and_only_on_its_items(world: World) -> None:
    (item,) = world.add_items(1)
    theirs = Item.objects.create(stage=world.other_benchmark.stages.get(), key="secret")
    for user in (world.reviewer, world.team_admin, world.nour, world.stranger, world.rival):
        assert act(world, "withdraw", items=[item], user=user).status_code == 404
    act(world, "withdraw", items=[item, theirs])
    theirs.refresh_from_db()
    assert theirs.withdrawn_at is None and in_use(world) == set()
    job = latest()
    address = f"/b/{world.other_benchmark.slug}/items/action/{job.pk}/undo/"
    assert world.client(world.rival).post(address).status_code == 404
    assert (
        world.client(world.reviewer).post(f"/b/{world.benchmark.slug}/items/action/{job.pk}/undo/").status_code == 404
    )
    reviewers = world.client(world.reviewer).get(f"/b/{world.benchmark.slug}/items/?done={job.pk}").content.decode()
    assert "item was withdrawn" not in reviewers and 'id="bulk"' not in reviewers
    for data in ({"do": "explode"}, {"do": "withdraw", "query": "stage=nothing"}):
        assert act(world, **data).status_code == 404  # type: ignore[arg-type]


@built_once
def outside(world: World) -> tuple[Item, Item, Item]:
    """Two items outside the rule, and one inside that comes after them."""
    a, b, inside = world.add_items(3)
    Item.objects.filter(pk__in=(a.pk, b.pk)).update(outside_since=timezone.now())
    return a, b, inside


def test_an_action_does_not_widen_when_its_filter_goes_off_the_offer(
    world: World, outside: tuple[Item, Item, Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_actions, "STEP", 1)
    *_both, inside = outside
    act(world, "withdraw", scope="all", query="rule=outside")
    job = latest()
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.done, job.total) == (Job.State.DONE, 2, 2)
    assert in_use(world) == {inside.key}


@pytest.mark.parametrize("query", ["rule=outside", "state=dropped"])
def test_a_page_whose_filter_is_no_longer_on_offer_changes_nothing(world: World, query: str) -> None:
    items, client = world.add_items(3), world.client(world.mara)
    for do in ("withdraw", "keys"):
        posted = {"do": do, "scope": "all", "query": query}
        page = client.post(f"/b/{world.benchmark.slug}/items/action/", posted, follow=True).content.decode()
        assert "a filter of the page is no longer on offer" in page
    assert len(in_use(world)) == 3 and not Job.objects.exists()
    act(world, "withdraw", query=query, items=items[:1])
    assert len(in_use(world)) == 2, "selected items are those that were selected"


def test_an_action_looks_for_the_same_words_in_each_step(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_actions, "STEP", 1)
    monkeypatch.setattr(item_selection, "SUBSTRING_ROWS", 2)
    items = world.add_items(3)
    for item, concept in zip(items, ("cat", "cat", "education"), strict=True):
        Item.objects.filter(pk=item.pk).update(concept=concept, key=f"k{item.pk}", text="", context={})
    act(world, "withdraw", scope="all", query="text=cat")
    runner.run(latest().pk)
    assert in_use(world) == {f"k{items[2].pk}"}
