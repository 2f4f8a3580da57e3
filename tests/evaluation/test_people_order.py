"""The list of people by a column: undefined last, the same from the store, and no order that tells what is hidden."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Campaign
from benchmarks.models import Item
from evaluation.models import Snapshot
from evaluation.reports import stored_people
from people.models import User
from people.services.raters import rater_of
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.evaluation.test_stored_reports import make_large, people_page
from tests.module_world import built_once
from tests.personas import World

HEADS = re.compile(r'<th scope="col"[^>]*?(?:aria-sort="(\w+)")?>(?:<a class="sort[^"]*" href="\?([^"]*)">)?')


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(6)
    return an_open_campaign(world)


@built_once
def people(world: World, campaign: Campaign) -> dict[str, User]:
    """By how much each agrees with the others of Egypt: 0.53, 0.28, -0.95, and without a value since all is 3."""
    flat, *more = world.add_annotators(world.egypt, 2)
    users = {"high": world.nour, "middle": world.tarek, "flat": flat, "low": more[0]}
    codes = {"high": "112345", "middle": "121435", "flat": "333", "low": "4321"}
    for hours, (name, user) in enumerate(users.items()):
        rated = dict(zip(world.items, codes[name], strict=False))
        give_ratings(campaign, world.egypt, user, rated, at=timezone.now() - timedelta(hours=hours))
    return users


def order_of(page: str, world: World, people: dict[str, User]) -> list[str]:
    """Who stands where in the list."""
    places = {name: page.find(world.benchmark.pseudonym(rater_of(user).pk)) for name, user in people.items()}
    return sorted((name for name, place in places.items() if place >= 0), key=lambda name: places[name])


def test_people_are_sorted_by_agreement_and_who_has_none_is_last(world: World, people: dict[str, User]) -> None:
    page = people_page(world, f"?cohort={world.egypt.pk}&order=agreement")
    assert "No value" in page, "who always gave the same answer has no agreement"
    assert order_of(page, world, people) == ["low", "middle", "high", "flat"]
    page = people_page(world, f"?cohort={world.egypt.pk}&order=-agreement")
    assert order_of(page, world, people) == ["high", "middle", "low", "flat"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("-done", [{"high", "middle"}, {"low"}, {"flat"}]),
        ("done", [{"flat"}, {"low"}, {"high", "middle"}]),
        ("-seen", [{"high"}, {"middle"}, {"flat"}, {"low"}]),
        ("seen", [{"low"}, {"flat"}, {"middle"}, {"high"}]),
    ],
)
def test_people_are_sorted_by_other_columns(
    world: World, people: dict[str, User], order: str, expected: list[set[str]]
) -> None:
    listed = order_of(people_page(world, f"?cohort={world.egypt.pk}&order={order}"), world, people)
    for names in expected:
        assert set(listed[: len(names)]) == names
        listed = listed[len(names) :]


@pytest.mark.parametrize("order", ["", "agree", "-", "%00", "rater__user__email", "seen,done", "--done", "cohort"])
def test_an_order_that_is_not_offered_is_that_of_names(world: World, people: dict[str, User], order: str) -> None:
    page = people_page(world, f"?cohort={world.egypt.pk}&order={order}")
    assert order_of(page, world, people) == sorted(
        people, key=lambda name: world.benchmark.pseudonym(rater_of(people[name]).pk)
    )
    assert 'aria-sort="ascending"><a class="sort by" href="?cohort=' in page


def test_an_order_tells_reviewers_nothing_that_they_do_not_see(world: World, people: dict[str, User]) -> None:
    reviewer = world.client(world.reviewer)
    address = f"/b/{world.benchmark.slug}/people/?cohort={world.egypt.pk}&order="
    by_name, by_moment, by_agreement = (
        reviewer.get(address + order).content.decode() for order in ("", "seen", "agreement")
    )
    assert order_of(by_moment, world, people) == order_of(by_name, world, people), "a moment tells who"
    assert "order=seen" not in by_moment and "order=-seen" not in by_moment
    assert order_of(by_agreement, world, people) == ["low", "middle", "high", "flat"]
    for user in (world.manager, world.nour, world.stranger, world.rival):
        assert world.client(user).get(address + "agreement").status_code == 404, user


def test_heads_are_links_that_say_the_order(world: World, people: dict[str, User]) -> None:
    cohort = f"cohort={world.egypt.pk}"
    heads = HEADS.findall(people_page(world, f"?{cohort}&page=1&order=-done"))
    queries = [query.replace("&amp;", "&") for _state, query in heads if query]
    keys = ("order=name", "order=done", "order=-seconds", "order=-agreement", "order=-change", "order=-skipped")
    assert queries == [f"{cohort}&{key}" for key in (*keys, "order=-seen")], "an order begins with its first page"
    assert [state for state, _query in heads if state] == ["descending"]
    everybody = people_page(world, "?cohort=all")
    assert "order=-cohort" in everybody and "agreement" not in "".join(q for _s, q in HEADS.findall(everybody))
    form = people_page(world, f"?{cohort}&order=-done").partition('<form class="filters"')[2].partition("</form>")[0]
    assert '<input type="hidden" name="order" value="-done">' in form, "another cohort keeps the order"


def test_pages_of_a_stored_list_are_sorted_without_another_computation(
    world: World, campaign: Campaign, people: dict[str, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_people, "PAGE", 2)
    cohort = f"?cohort={world.egypt.pk}"
    orders = ("agreement", "-agreement", "done", "-seen", "name")
    live = {order: [order_of(people_page(world, f"{cohort}&order={order}&page={n}"), world, people) for n in (1, 2)]
            for order in orders}  # fmt: skip
    assert live["agreement"] == [["low", "middle"], ["high", "flat"]]
    make_large(campaign)
    people_page(world, cohort)
    counts = set()
    for order in orders:
        for number in (1, 2):
            with CaptureQueriesContext(connection) as queries:
                page = people_page(world, f"{cohort}&order={order}&page={number}")
            assert order_of(page, world, people) == live[order][number - 1] and "As of" in page
            assert not [q for q in queries if "annotation_rating" in q["sql"]], "no answer is read"
            counts.add(len(queries))
        assert f"order={order}&amp;page=1" in page, "the neighbouring page has the same order"
    assert len(counts) == 1 and Snapshot.objects.count() == 1
    assert (
        world.client(world.mara).get(f"/b/{world.benchmark.slug}/people/{cohort}&order=done&page=3").status_code == 404
    )


def test_the_mark_of_a_change_is_the_same_on_every_page(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The correction is over all people of the cohort: over a page that is sorted by the change, it would mark more."""
    world.add_items(6)
    items: list[Item] = world.items[:10]
    for user, digits in {world.nour: "1232112321", world.tarek: "1242123532"}.items():
        for minute, (item, code) in enumerate(zip(items, digits, strict=True)):
            give_ratings(campaign, world.egypt, user, {item: code}, at=timezone.now() + timedelta(minutes=minute))
    monkeypatch.setattr(stored_people, "PAGE", 1)
    for number in (1, 2):
        page = people_page(world, f"?cohort={world.egypt.pk}&order=change&page={number}")
        assert "2 people were tested" in page and page.count(">Changed</span>") == 1
