"""A benchmark has five tabs; other pages stand in the row of their tab. Nobody is shown one they may not open."""

import re

import pytest
from django.urls import reverse

from benchmarks.pages.tabs import TABS
from people.models import User
from tests.chains.link_client import LinkClient, text_of
from tests.personas import World

pytestmark = pytest.mark.django_db
BAR = re.compile(r'<nav aria-label="Main">.*?</nav>', re.DOTALL)
ROW = re.compile(r'<nav class="subnav".*?</nav>', re.DOTALL)
LINK = re.compile(r'<a href="([^"]+)"( aria-current="page")?>(.*?)</a>')


def links(pattern: re.Pattern[str], page: str) -> dict[str, str]:
    """Addresses of a menu by their labels."""
    menus = pattern.findall(page)
    assert len(menus) == 1
    return {text_of(label): address for address, _current, label in LINK.findall(menus[0])}


def page_of(world: World, user: User, address: str = "") -> str:
    reply = world.client(user).get(f"/b/{world.benchmark.slug}/{address}", follow=True)
    assert reply.status_code == 200, address
    return reply.content.decode()


def test_a_researcher_has_five_tabs_and_reaches_every_page_from_them(world: World) -> None:
    world.benchmark.stages.update(acceptance="by_review")
    world.add_items(1)
    tabs = links(BAR, page_of(world, world.owner))
    assert list(tabs) == ["Overview", "Items", "People", "Results", "Releases"]
    wanted = {reverse(page.name, args=[world.benchmark.slug]) for tab in TABS for page in tab.pages}
    reached = set(tabs.values())
    for address in sorted(wanted):
        page = world.client(world.owner).get(address).getvalue().decode()
        assert len(re.findall('aria-current="page"', BAR.findall(page)[0])) == 1, address
        assert f'<a href="{address}" aria-current="page">' in page, address
        if address in tabs.values() and ROW.search(page):
            reached |= set(links(ROW, page).values())
    assert reached == wanted | {reverse("people:teams")}, "and from there to the teams"


def test_nobody_is_shown_a_page_that_they_may_not_open(world: World) -> None:
    world.benchmark.stages.update(acceptance="by_review")
    world.add_items(1)
    for user in (world.owner, world.mara, world.reviewer, world.team_admin, world.site_admin):
        tabs = links(BAR, page_of(world, user))
        for address in set(tabs.values()):
            page = world.client(user).get(address).getvalue().decode()
            for other in links(ROW, page).values() if ROW.search(page) else ():
                assert world.client(user).get(other, follow=True).status_code == 200, (user.name, other)
    reviewer = links(BAR, page_of(world, world.reviewer))
    assert list(reviewer) == ["Overview", "Items", "People", "Results", "Releases"]
    assert not ROW.search(page_of(world, world.reviewer, "releases/")), "exports are for those who work on it"
    assert "Review" in links(ROW, page_of(world, world.reviewer))
    assert "Stages" not in links(ROW, page_of(world, world.reviewer))


def test_pages_under_a_tab_mark_it_and_others_have_no_row(world: World) -> None:
    world.add_items(1)
    visitor = LinkClient(world.client(world.mara), f"/b/{world.benchmark.slug}/")
    for label, tab in (("Results", "Results"), ("Tables", "Results"), ("Overview", "Overview"),
                       ("Coverage", "Items"), ("Import items", "Items"), ("Releases", "Releases"),
                       ("Export", "Releases")):  # fmt: skip
        visitor.follow(label)
        assert f'aria-current="page">{tab}</a>' in BAR.findall(visitor.page)[0], label
