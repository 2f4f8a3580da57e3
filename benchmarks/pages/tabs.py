"""The five tabs of a benchmark, and the row of pages under the tab that is open: `nav` of every page of a benchmark."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.plugin_pages import pages_of
from people.models import User

Who = Literal["see", "work_on", "roles", "reviews"]


@dataclass(frozen=True)
class Page:
    """`name` is that of its URL; `who` may open it. A page that `also` stands in another tab's row is shown there."""

    key: str
    label: str | Promise
    name: str
    who: Who = "see"
    also: str = ""


@dataclass(frozen=True)
class Tab:
    """`pages`: the first that a person may open is what the tab leads to."""

    key: str
    label: str | Promise
    pages: tuple[Page, ...]


TABS = (
    Tab(
        "overview",
        _("Overview"),
        (
            Page("overview", _("Board"), "benchmarks:detail"),
            Page("stages", _("Stages"), "annotation:stages", "work_on"),
            Page("campaigns", _("Campaigns"), "annotation:campaigns"),
            Page("review", _("Review"), "annotation:review_queue", "reviews"),
            Page("predictions", _("Predictions"), "predictions:index", "work_on"),
        ),
    ),
    Tab(
        "items",
        _("Items"),
        (
            Page("items", _("All items"), "benchmarks:items"),
            Page("import", _("Import items"), "benchmarks:import", "work_on"),
            Page("coverage", _("Coverage"), "annotation:coverage", also="overview"),
        ),
    ),
    Tab(
        "people",
        _("People"),
        (
            Page("people", _("Numbers"), "evaluation:people", "work_on"),
            Page("cohorts", _("Cohorts"), "benchmarks:cohorts"),
            Page("roles", _("Roles"), "benchmarks:roles", "roles"),
        ),
    ),
    Tab(
        "results",
        _("Results"),
        (
            Page("agreement", _("Agreement"), "evaluation:agreement"),
            Page("models", _("Models"), "evaluation:models"),
            Page("judge", pgettext_lazy("a model that judges", "Judge"), "evaluation:judge"),
            Page("tables", _("Tables"), "evaluation:tables"),
            Page("figures", pgettext_lazy("drawings", "Figures"), "evaluation:figures"),
            Page("disagreement", _("Disagreement"), "evaluation:items"),
        ),
    ),
    Tab("releases", _("Releases"), (Page("export", _("Export"), "evaluation:export", "work_on"),)),
)


class Nav(list[dict[str, Any]]):
    """The tabs that a person sees, each with key, label, url and whether it is current. `row`: the pages of the current
    one, likewise; none where it has only one page. `label`: of that row."""

    def __init__(self, tabs: list[dict[str, Any]], row: list[dict[str, Any]], label: str | Promise) -> None:
        super().__init__(tabs)
        self.row, self.label = row, label


@dataclass
class Reader:
    """What a person may open of a benchmark; each right is looked up once."""

    user: User | AnonymousUser
    benchmark: Benchmark
    rights: dict[str, bool] = field(default_factory=dict)

    def may(self, who: str) -> bool:
        if who not in self.rights:
            self.rights[who] = self._look_up(who)
        return self.rights[who]

    def _look_up(self, who: str) -> bool:
        if who == "see":  # whoever is shown a page of a benchmark sees it
            return True
        if who == "reviews":
            return can_review(self.user, self.benchmark)
        return is_permitted(self.user, self.benchmark, who)  # type: ignore[arg-type]


def tabs_for(user: User | AnonymousUser, benchmark: Benchmark, current: str) -> Nav:
    """`current` is the key of a page, or "" for none."""
    reader, row, tabs, label = Reader(user, benchmark), [], [], TABS[0].label
    for tab in TABS:
        own = list(_links(reader, tab, current))
        is_current = any(link["current"] for link in own)
        if is_current:
            row, label = own + list(_links_from_elsewhere(reader, tab)), tab.label
        if own:
            tabs.append({"key": tab.key, "label": tab.label, "url": own[0]["url"], "current": is_current})
    return Nav(tabs, row if len(row) > 1 else [], label)


def _links(reader: Reader, tab: Tab, current: str) -> Iterator[dict[str, Any]]:
    """A tab's own pages; among those of items are the pages of a plugin."""
    yield from (_link(reader.benchmark, page, current) for page in tab.pages if reader.may(page.who))
    for page in pages_of(reader.benchmark) if tab.key == "items" else ():
        if not page.imports and reader.may(page.can):
            url = reverse("benchmarks:plugin_page", args=[reader.benchmark.slug, page.key])
            yield {"key": page.key, "label": page.label, "url": url, "current": page.key == current}


def _links_from_elsewhere(reader: Reader, tab: Tab) -> Iterator[dict[str, Any]]:
    pages = (page for other in TABS for page in other.pages if page.also == tab.key)
    yield from (_link(reader.benchmark, page, "") for page in pages if reader.may(page.who))


def _link(benchmark: Benchmark, page: Page, current: str) -> dict[str, Any]:
    url = reverse(page.name, args=[benchmark.slug])
    return {"key": page.key, "label": page.label, "url": url, "current": page.key == current}


def can_review(user: User | AnonymousUser, benchmark: Benchmark) -> bool:
    """Whether this person has answers to review here, now or later."""
    by_review = benchmark.stages.filter(acceptance=Stage.Acceptance.BY_REVIEW)
    return by_review.exists() and is_permitted(user, benchmark, "review")
