"""Every page of the site, for everybody who may open it: axe finds nothing, nothing is cut off, fingers find all."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from annotation.models import Annotation, Campaign
from benchmarks.models import Benchmark, Stage
from people.models import User
from people.services import links
from tests.browser.conftest import DESKTOP, PHONE, axe_violations, covered_keys
from tests.personas import World
from tests.samples import build
from tests.test_strangers import every_route, path_of
from tests.workflows import every_workflow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PEOPLE = ("nour", "bia", "owner", "reviewer", "manager", "team_admin", "site_admin")
# Django's own pages, and what programs read; of the latter only the description is a page.
NO_PAGES = ("admin:", "api:")
DESCRIPTION = "api:docs"
# Part of a page that another page puts in its place.
PIECES = {
    "annotation:compose_preview",
    "jobs:progress",
    "evaluation:agreement_live",
    "evaluation:person_summary",  # test_people_list.py looks at it inside its page
    "predictions:answer_run_live",
    "predictions:plan_set_live",
}
# What a finger must hit, and how large it is: a field of a label is as large as its label. WCAG 2.5.5, 2.5.8.
TARGETS = """() => {
  const small = [];
  const all = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=slider]';
  for (const one of document.querySelectorAll(all)) {
    const label = one.matches('input') ? one.labels?.[0] : null;
    const whole = label?.contains(one) ? label : one;
    const seen = whole.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (!seen || whole.closest('.vh, [inert]')) continue;
    const box = whole.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1 || box.right <= 0) continue;  // for those who listen
    const style = getComputedStyle(whole);
    const text = one.matches('a, summary') && style.display === 'inline';
    const [wide, high] = text ? [24, 24] : [44, 44];
    const line = text ? parseFloat(getComputedStyle(one.parentElement).lineHeight) || 0 : 0;
    if (Math.max(box.height, line) < high - 0.6 || box.width < wide - 0.6)
      small.push(`${box.width.toFixed(0)}x${box.height.toFixed(0)} ${whole.outerHTML.slice(0, 110)}`);
  }
  return small;
}"""


@pytest.fixture
def samples(world: World, live_server: object, media: None) -> dict[str, Any]:
    """One of everything, and a campaign of every stage of every recipe, answered by some."""
    found = dict(build(world))
    every_workflow(world)
    return found


def addresses(world: World, samples: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(name of the route, address): each route with the samples, then with what differs from stage to stage."""
    for route in every_route():
        if (not route.name.startswith(NO_PAGES) or route.name == DESCRIPTION) and route.name not in PIECES:
            yield route.name, path_of(route, samples)
    for campaign in Campaign.objects.order_by("pk"):
        sheet = reverse("annotation:sheet", args=[campaign.pk])
        yield "annotation:sheet", sheet
        yield from ((f"annotation:sheet {part}", f"{sheet}?open={part}") for part in ("why", "help", "report"))
    for benchmark in Benchmark.objects.filter(team=world.team):
        slug = benchmark.slug
        for name in ("benchmarks:detail", "benchmarks:items", "evaluation:agreement", "annotation:coverage"):
            yield name, reverse(name, args=[slug])
    for stage in Stage.objects.filter(benchmark__team=world.team):
        slug = stage.benchmark.slug
        yield "annotation:compose", reverse("annotation:compose", args=[slug, stage.pk])
        for item in stage.items.order_by("pk")[:1]:
            yield "benchmarks:item", reverse("benchmarks:item", args=[slug, item.pk])
    waiting = Annotation.objects.filter(live=True, assignment__campaign__stage__acceptance="by_review", reviews=None)
    for answer in waiting.order_by("pk")[:1]:
        slug = answer.assignment.campaign.stage.benchmark.slug
        yield "annotation:review", reverse("annotation:review", args=[slug, answer.pk])
    _made, token = links.invite(world.team, world.manager, answer.submitted_at, cohort=world.egypt)
    yield "people:invitation", reverse("people:invitation", args=[token])


def shape(html: str) -> frozenset[tuple[str, str]]:
    """Which kinds of elements a page has: pages of the same are looked at once."""
    return frozenset(re.findall(r'<(\w+)(?:[^>]*? class="([^"]*)")?', html))


def pages(world: World, samples: dict[str, Any]) -> Iterator[tuple[User | None, str]]:
    """Everything that somebody may open and that looks unlike what was opened before under the same name."""
    visited: dict[str, set[frozenset[tuple[str, str]]]] = {}
    everybody: list[User | None] = [None, *(getattr(world, name) for name in PEOPLE)]
    clients = [(user, world.client(user)) for user in everybody]
    for name, path in addresses(world, samples):
        for user, client in clients:
            reply = client.get(path)
            if reply.status_code != 200:
                continue
            if "text/html" not in reply.headers["Content-Type"]:
                break  # a file, to whoever may have it: it is made at length, and is no page
            found = shape(reply.getvalue().decode())
            if all(len(found ^ one) > 6 for one in visited.setdefault(name, set())):
                visited[name].add(found)
                yield user, path


def complaints(page: Page, phone: bool) -> Iterator[str]:
    for one in axe_violations(page):
        yield from (f"axe, {one['id']}: {node['html'][:160]}" for node in one["nodes"][:4])
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > page.evaluate("innerWidth"):
        yield f"{wide} pixels wide"
    yield from (f"words over a key: {option}" for option in covered_keys(page))
    if phone:
        yield from (f"small: {one}" for one in page.evaluate(TARGETS))


def test_every_page(
    open_as: Callable[..., Page], world: World, samples: dict[str, Any], shot: Callable[..., None]
) -> None:
    """At a desk, on a phone, and (every second page) on a phone in Arabic; which pages there are is asked once."""
    visits = list(pages(world, samples))
    assert len(visits) > 60, "the walk lost its way"
    faults: list[str] = []
    for device, size, language in (("desktop", DESKTOP, "en"), ("phone", PHONE, "en"), ("arabic", PHONE, "ar")):
        User.objects.update(language=language)
        windows: dict[User | None, Page] = {}
        for number, (user, path) in enumerate(visits[:: 2 if language == "ar" else 1], start=1):
            if user not in windows:
                windows[user] = open_as(user, **size)
                windows[user].set_default_timeout(60_000)
            page = windows[user]
            page.goto(path)
            messages = list(complaints(page, device != "desktop"))
            if messages:
                shot(page, f"everywhere-{device}-{number}", full_page=True)
            faults += [f"{path} as {user}, {device}: {message}" for message in messages]
        for page in windows.values():
            page.close()
    assert not faults, "\n" + "\n".join(faults)
