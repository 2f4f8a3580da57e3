"""Items people disagree about: the order, what stands apart, one item with every answer, and who may look."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Annotation, Campaign, Unit
from benchmarks.models import Item
from people.services.raters import rater_of
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.evaluation.test_groupings import compared  # noqa: F401  (a fixture)
from tests.evaluation.test_measures import TEXT, with_sheet
from tests.evaluation.test_selection import by_a_model
from tests.module_world import built_once
from tests.personas import World


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(20)
    return an_open_campaign(world)


@built_once
def rated(world: World, campaign: Campaign) -> list[Item]:
    """Of five natural photos the first four have two raters: 1 1, 1 2, 1 5 and 5 3.

    Four 1s, one 2, one 3, two 5s have the mid-ranks 2, 4.5, 5.5, 7: squared, they lie 0, 6.25, 25 and 2.25 apart."""
    natural = of_condition(world.items, "natural")[:5]
    table(campaign, world.egypt, natural, {world.nour: "11153", world.tarek: "1253."})
    return natural


def url(world: World, rest: str = "") -> str:
    return f"/b/{world.benchmark.slug}/disagreement/{rest}"


def page_of(world: World, rest: str = "") -> str:
    reply = world.client(world.mara).get(url(world, rest))
    assert reply.status_code == 200
    return reply.content.decode()


def keys(page: str) -> list[str]:
    return re.findall(r'<bdi dir="auto">(item-\d+)</bdi></a>', page)


def unit_of(item: Item, target: str = "Egypt") -> Unit:
    return Unit.objects.get(item=item, target=target)


def test_the_most_disagreed_stands_first(world: World, rated: list[Item]) -> None:
    page = page_of(world)
    assert keys(page) == [rated[2].key, rated[1].key, rated[3].key, rated[0].key]
    assert "1 item with fewer raters is left out." in page
    assert ">0.00</bdi>" in page, "nobody disagrees about the first"
    row = page.split(rated[2].key, 1)[1].split("</tr>", 1)[0]
    assert "<bdi>1</bdi> <small>× 1</small>" in row and "<bdi>5</bdi> <small>× 1</small>" in row


def test_the_numbers_average_to_one_minus_alpha(world: World, rated: list[Item]) -> None:
    page = page_of(world, "?field=relevance")
    values = [float(one) for one in re.findall(r'<b><bdi dir="ltr">([\d.]+)</bdi></b>', page)]
    address = f"/b/{world.benchmark.slug}/agreement.json?condition=natural&cohort={world.egypt.pk}"
    [row] = world.client(world.mara).get(address).json()["rows"]
    alpha = row["cells"][0]["estimates"]["alpha_ordinal"]["value"]
    assert sum(values) / 4 == pytest.approx(1 - alpha, abs=0.006)


def test_filters_are_those_of_agreement_and_a_least_number_of_raters(world: World, rated: list[Item]) -> None:
    assert keys(page_of(world, f"?cohort={world.brazil.pk}")) == []
    assert keys(page_of(world, "?condition=generated")) == []
    assert keys(page_of(world, "?least=3")) == []
    assert "5 items with fewer raters" in page_of(world, "?least=3")
    assert keys(page_of(world, "?until=2026-02-28")) == []
    assert len(keys(page_of(world, "?until=2026-03-01"))) == 4
    for wrong in ("least=4", "field=none", "cohort=x", "version=7.7", "since=soon"):
        assert world.client(world.mara).get(url(world, f"?{wrong}")).status_code == 400, wrong
    for wrong in ("page=0", "page=2", "page=x", "page=-1"):
        assert world.client(world.mara).get(url(world, f"?{wrong}")).status_code == 404, wrong


def test_item_page_shows_all_answers_side_by_side(world: World, campaign: Campaign, rated: list[Item]) -> None:
    [third] = world.add_annotators(world.egypt, 1)
    give_ratings(campaign, world.egypt, third, {rated[2]: "4"}, because="surplus")
    by_a_model(campaign, world, {rated[2]: "2"}, name="Seer 7")
    page = page_of(world, f"{unit_of(rated[2]).pk}/")
    for user in (world.nour, world.tarek, third):
        assert world.benchmark.pseudonym(rater_of(user).pk) in page
        assert user.name not in page
    assert "not counted: extra answer" in page
    assert "Seer 7, Models" in page
    assert "1 of 4, the most disagreement first" in page
    table_of = page.split("Answers by person", 1)[1].split("</table>", 1)[0]
    cells = re.findall(r'<td class="num(?: none)?">(\d+)</td>', table_of)
    assert cells == ["1", "0", "1", "2", "0", "1", "0", "1"], (
        "Egypt 1 and 5, the model 2; what does not count is in none"
    )


def test_the_next_and_the_earlier_one_follow_the_same_order(world: World, rated: list[Item]) -> None:
    middle = page_of(world, f"{unit_of(rated[1]).pk}/?condition=natural")
    links = dict(re.findall(r'rel="(prev|next)" href="([^"]+)"', middle))
    assert links["prev"] == url(world, f"{unit_of(rated[2]).pk}/?stage=relevance&amp;condition=natural")
    assert links["next"].startswith(url(world, f"{unit_of(rated[3]).pk}/?"))
    first = page_of(world, f"{unit_of(rated[2]).pk}/")
    assert 'rel="prev"' not in first and 'rel="next"' in first
    lonely = page_of(world, f"{unit_of(rated[4]).pk}/")
    assert "too few raters" in lonely


def test_texts_are_compared_as_texts_and_shown_side_by_side(world: World) -> None:
    campaign = with_sheet(world, {**TEXT, "key": "relevance"})
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural[:2], {world.nour: "11", world.tarek: "12"})
    texts = iter(["Pita bread", "Tea", " pita-Bread.", "Coffee <b>"])
    for one in Annotation.objects.order_by("pk"):
        one.ratings.all().delete()
        Annotation.objects.filter(pk=one.pk).update(answers={"relevance": next(texts)})
    page = page_of(world)
    assert keys(page) == [natural[1].key, natural[0].key]
    assert "case, punctuation and spaces aside" in page
    opened = page_of(world, f"{unit_of(natural[1]).pk}/")
    assert "Tea" in opened and "Coffee &lt;b&gt;" in opened and "Answers by person" not in opened


def test_texts_of_models_count_only_where_a_chosen_cohort_was_asked(world: World) -> None:
    """As codes do: what Egypt was asked for is not in the order of Brazil."""
    campaign = with_sheet(world, {**TEXT, "key": "relevance"})
    [item] = of_condition(world.items, "natural")[:1]
    by_a_model(campaign, world, {item: "1"}, name="Seer 7")
    by_a_model(campaign, world, {item: "2"}, name="Seer 8")
    for annotation, text in zip(Annotation.objects.order_by("pk"), ("Tea", "Coffee"), strict=True):
        annotation.ratings.all().delete()
        Annotation.objects.filter(pk=annotation.pk).update(answers={"relevance": text})
    assert keys(page_of(world, f"?raters=models&cohort={world.egypt.pk}")) == [item.key]
    assert keys(page_of(world, f"?raters=models&cohort={world.brazil.pk}")) == []


def test_groupings_are_compared_by_how_they_group(world: World, compared: Campaign) -> None:  # noqa: F811
    page = page_of(world, "?stage=look-alikes")
    assert "adjusted Rand index" in page
    assert re.findall(r'<bdi dir="auto">(concept-\d)</bdi></a>', page)


def test_fifty_at_a_time_and_no_more_queries_than_for_one(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara)

    def queries(rest: str = "") -> int:
        with CaptureQueriesContext(connection) as seen:
            assert client.get(url(world, rest)).status_code == 200
        return len(seen)

    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural[:2], {world.nour: "12", world.tarek: "21"})
    queries()
    few = queries()
    items = world.add_items(110)
    more: list[Any] = of_condition(items, "natural")
    table(campaign, world.egypt, more, {world.nour: "1" * len(more), world.tarek: "2" * len(more)})
    page = client.get(url(world)).content.decode()
    assert len(keys(page)) == 50
    assert queries() == few
    second = client.get(url(world, "?page=2")).content.decode()
    assert keys(second) and not set(keys(second)) & set(keys(page))
    assert f">51 to {50 + len(keys(second))} of {50 + len(keys(second))}<" in second, re.findall(
        r">[^<]* of [^<]*<", second
    )


def test_only_people_of_the_benchmark_see_it(world: World, rated: list[Item]) -> None:
    for rest in ("", f"{unit_of(rated[0]).pk}/"):
        for user in (world.mara, world.owner, world.reviewer, world.team_admin):
            assert world.client(user).get(url(world, rest)).status_code == 200, user
        for user in (world.stranger, world.rival, world.rival_rater, world.nour, world.manager):
            assert world.client(user).get(url(world, rest)).status_code == 404, user
        assert world.client().get(url(world, rest)).status_code == 302
        assert world.client(world.mara).post(url(world, rest)).status_code == 405


def test_a_unit_of_another_benchmark_is_not_found_here(world: World, rated: list[Item]) -> None:
    theirs = f"/b/{world.other_benchmark.slug}/disagreement/{unit_of(rated[0]).pk}/"
    assert world.client(world.rival).get(theirs).status_code == 404
    assert world.client(world.mara).get(url(world, "999999/")).status_code == 404


def test_before_any_campaign_it_says_what_to_do(world: World) -> None:
    assert "No campaign is open yet" in page_of(world)
