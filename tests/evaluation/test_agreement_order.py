"""The tables of the agreement page by a column; files and headline stay in the report's own order."""

import re
from datetime import timedelta

import pytest

from annotation.models import Campaign
from people.models import Cohort, Rater
from tests.chains.link_client import text_of
from tests.evaluation.data import NOON, an_open_campaign, give_ratings, of_condition, table
from tests.module_world import built_once
from tests.personas import World

NAMES = ("Brazil", "Egypt", "Kenya", "Peru")
STATES = re.compile(r'aria-sort="(\w+)"')


@built_once
def campaign(world: World) -> Campaign:
    """Alpha of natural photos is below 0 in Brazil (3 items), 1 in Egypt (5), between in Peru (4), none in Kenya."""
    world.add_items(20)
    cohorts = [world.brazil, world.egypt]
    for label in ("Kenya", "Peru"):
        cohorts.append(Cohort.objects.create(team=world.team, label=label, time_zone="UTC", languages=["en"]))
    campaign = an_open_campaign(world, cohorts=cohorts)
    codes = {"Brazil": ("121..", "212.."), "Egypt": ("12345", "12345"), "Peru": ("1234.", "1243.")}
    for cohort in cohorts:
        if cohort.label in codes:
            raters = world.add_annotators(cohort, 2, prefix=f"more-{cohort.label}")
            natural = of_condition(world.items, "natural")[:5]
            table(campaign, cohort, natural, dict(zip(raters, codes[cohort.label], strict=True)))
    return campaign


def page_of(world: World, query: str, rest: str = "agreement/") -> str:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/{rest}?{query}")
    assert reply.status_code == 200
    return reply.content.decode()


def tables(page: str) -> tuple[str, str]:
    """The table of every question, and that by condition."""
    by_question, by_condition = re.findall(r"<table.*?</table>", page, re.DOTALL)[:2]
    return by_question, by_condition


def names(part: str) -> str:
    """The first letters of the cohorts, as their rows stand."""
    return "".join(re.findall(r'<th scope="row"[^>]*>(?:<[^>]*>)*([A-Z])', part))


@pytest.mark.parametrize(
    ("order", "by_question", "by_condition"),
    [
        ("", "BEKP", "BEKP"),
        ("name", "BEKP", "BEKP"),
        ("-name", "PKEB", "PKEB"),
        ("value", "BPEK", "BEKP"),
        ("-value", "EPBK", "BEKP"),
        ("items", "KBPE", "BEKP"),
        ("value.natural", "BEKP", "BPEK"),
        ("-value.natural", "BEKP", "EPBK"),
        ("n.natural", "BEKP", "BPEK"),
        ("-n.natural", "BEKP", "EPBK"),
        ("-value.generated", "BEKP", "BEKP"),
        ("not_answered", "BEKP", "EPBK"),
    ],
)
def test_rows_are_sorted_and_what_is_undefined_is_last(
    world: World, campaign: Campaign, order: str, by_question: str, by_condition: str
) -> None:
    found = tuple(names(part) for part in tables(page_of(world, f"order={order}")))
    assert found == (by_question, by_condition)


@pytest.mark.parametrize("order", ["-", "value.", "n.none", "value.natural ", "reason", "__class__", "%00", "<b>"])
def test_an_order_that_is_not_offered_is_the_reports_own(world: World, campaign: Campaign, order: str) -> None:
    page = page_of(world, f"order={order}")
    assert [names(part) for part in tables(page)] == ["BEKP", "BEKP"]
    assert [STATES.findall(part) for part in tables(page)] == [["ascending"], ["ascending"]]
    assert 'name="order"' not in page


def test_heads_say_the_order_and_turn_it_round(world: World, campaign: Campaign) -> None:
    query = f"cohort={world.egypt.pk}&cohort={world.brazil.pk}"
    page = page_of(world, f"{query}&order=-n.natural")
    by_question, by_condition = tables(page)
    assert STATES.findall(by_question) == ["ascending"] and STATES.findall(by_condition) == ["descending"]
    links = [link.replace("&amp;", "&") for link in re.findall(r'class="sort[^"]*" href="\?([^"]*)"', by_condition)]
    keys = ["name", "-value.generated", "-n.generated", "-value.natural", "n.natural", "-not_answered"]
    assert links == [f"{query}&order={key}" for key in keys]
    form = page.partition('id="counted-form"')[2].partition("</form>")[0]
    assert '<input type="hidden" name="order" value="-n.natural">' in form
    live = re.findall(r'data-live="([^"]*)"', page)[0].replace("&amp;", "&")
    part = world.client(world.mara).get(live).content.decode()
    assert [names(one) for one in tables(part)] == [names(one) for one in tables(page)] == ["BE", "EB"]


def test_cleared_filters_and_a_recompute_keep_the_order(world: World, campaign: Campaign) -> None:
    for order, query in (("", ""), ("&order=-value", "?order=-value")):
        page = page_of(world, f"since={NOON:%Y-%m-%d}{order}")
        assert f'href="/b/{world.benchmark.slug}/agreement/{query}">Clear filters' in page
    address = f"/b/{world.benchmark.slug}/agreement/recompute/?cohort={world.egypt.pk}"
    for order in ("", "&order=-value"):
        reply = world.client(world.mara).post(address + order)
        assert reply["Location"].endswith(f"/agreement/?cohort={world.egypt.pk}{order}")


def test_files_and_the_headline_stay_in_their_own_order(world: World, campaign: Campaign) -> None:
    plain, ordered = page_of(world, "by=cohort"), page_of(world, "by=cohort&order=-name")
    assert "order=" not in "".join(re.findall(r'href="[^"]*\.(?:csv|json|tex)[^"]*"', ordered))
    for name in ("agreement.csv", "agreement.json", "agreement/questions.csv"):
        files = [re.sub(r"\d{4}-\d\d-\d\dT[^\",]*", "", page_of(world, f"order={o}", name)) for o in ("", "-name")]
        assert files[0] == files[1]
    for mark in ('class="headline"', 'id="latex"'):
        assert text_of(plain.partition(mark)[2][:300]) == text_of(ordered.partition(mark)[2][:300])


def test_all_cohorts_together_stay_first(world: World, campaign: Campaign) -> None:
    for order in ("value.natural", "-value.natural", "-name"):
        assert names(tables(page_of(world, f"by=all&order={order}"))[1])[0] == "A"
        assert names(tables(page_of(world, f"by=all&order={order.partition('.')[0]}"))[0])[0] == "A"


def test_rows_are_sorted_within_what_heads_them(world: World, campaign: Campaign) -> None:
    raters = [rater.user for rater in Rater.objects.filter(user__name__startswith="More-Egypt") if rater.user]
    later = of_condition(world.items, "natural")[5:7]
    give_ratings(campaign, world.egypt, raters[0], dict.fromkeys(later, "1"), at=NOON + timedelta(days=7))
    give_ratings(campaign, world.egypt, raters[1], dict.fromkeys(later, "5"), at=NOON + timedelta(days=7))
    heads, weeks = r'scope="rowgroup"[^>]*>(?:<[^>]*>)*(\w+)', r"week to [^<]*"
    plain, ordered = (tables(page_of(world, f"by=time&cohort={world.egypt.pk}&cohort={world.brazil.pk}{more}"))[1]
                      for more in ("", "&order=value.natural"))  # fmt: skip
    assert re.findall(heads, plain) == re.findall(heads, ordered) == ["Brazil", "Egypt"]
    assert len(re.findall(weeks, plain)) == 4 and re.findall(weeks, plain) != re.findall(weeks, ordered)
    assert re.findall(weeks, plain)[2:] == re.findall(weeks, ordered)[:1:-1], "the second week of Egypt is lower"


def test_only_who_sees_the_page_sorts_it(world: World, campaign: Campaign) -> None:
    address = f"/b/{world.benchmark.slug}/agreement/?order=value"
    for user in (world.manager, world.nour, world.stranger, world.rival):
        assert world.client(user).get(address).status_code == 404, user
    assert world.client(world.reviewer).get(address).status_code == 200
    assert world.client().get(address).status_code == 302
