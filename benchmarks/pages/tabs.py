"""The five tabs of a benchmark, and the row of pages under the tab that is open: `nav` of every page of a benchmark."""

from collections.abc import Iterator, Mapping, Sequence
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
from jobs.queries.read_together import read_for_each
from people.models import User

Right = Literal["see", "work_on", "roles", "reviews"]


@dataclass(frozen=True)
class Page:
    """`name` is that of its URL; `right`: who may open it. `also`: another tab whose row it stands in, too."""

    key: str
    label: str | Promise
    name: str
    right: Right = "see"
    also: str = ""


@dataclass(frozen=True)
class MainTab:
    """`pages`: the first that a person may open is what the tab leads to."""

    key: str
    label: str | Promise
    pages: tuple[Page, ...]


TABS = (
    MainTab(
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
    MainTab(
        "items",
        _("Items"),
        (
            Page("items", _("All items"), "benchmarks:items"),
            Page("import", _("Import items"), "benchmarks:import", "work_on"),
            Page("foreign", _("From another tool"), "releases:foreign", "work_on"),
            Page("coverage", _("Coverage"), "annotation:coverage", also="overview"),
        ),
    ),
    MainTab(
        "people",
        _("People"),
        (
            Page("people", _("Numbers"), "evaluation:people", "work_on"),
            Page("cohorts", _("Cohorts"), "benchmarks:cohorts"),
            Page("roles", _("Roles"), "benchmarks:roles", "roles"),
        ),
    ),
    MainTab(
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
    MainTab(
        "releases",
        _("Releases"),
        (
            Page("releases", _("All releases"), "releases:list"),
            Page("export", _("Export"), "releases:export", "work_on"),
        ),
    ),
)


class Nav(list[dict[str, Any]]):
    """The tabs that a person sees, each with key, label, url and whether it is current. `row`: the pages of the current
    one, likewise; none where it has only one page. `label`: of that row."""

    def __init__(self, tabs: list[dict[str, Any]], row: list[dict[str, Any]], label: str | Promise) -> None:
        super().__init__(tabs)
        self.row, self.label = row, label


@dataclass
class PageRights:
    """What a person may open of a benchmark; each right is looked up once."""

    user: User | AnonymousUser
    benchmark: Benchmark
    rights: dict[str, bool] = field(default_factory=dict)

    def may(self, right: str) -> bool:
        if right not in self.rights:
            self.rights[right] = self._look_up(right)
        return self.rights[right]

    def _look_up(self, right: str) -> bool:
        if right == "see":  # whoever is shown a page of a benchmark sees it
            return True
        if right == "reviews":
            return can_review(self.user, self.benchmark)
        return is_permitted(self.user, self.benchmark, right)  # type: ignore[arg-type]


def tabs_for(user: User | AnonymousUser, benchmark: Benchmark, current: str) -> Nav:
    """`current` is the key of a page, or "" for none."""
    rights, row, tabs, label = PageRights(user, benchmark), [], [], TABS[0].label
    for tab in TABS:
        own = list(_links(rights, tab, current))
        is_current = any(link["current"] for link in own)
        if is_current:
            row, label = own + list(_links_from_elsewhere(rights, tab)), tab.label
        if own:
            tabs.append({"key": tab.key, "label": tab.label, "url": own[0]["url"], "current": is_current})
    return Nav(tabs, row if len(row) > 1 else [], label)


def _links(rights: PageRights, tab: MainTab, current: str) -> Iterator[dict[str, Any]]:
    """A tab's own pages; among those of items are the pages of a plugin."""
    yield from (_link(rights.benchmark, page, current) for page in tab.pages if rights.may(page.right))
    for page in pages_of(rights.benchmark) if tab.key == "items" else ():
        if not page.imports and rights.may(page.can):
            url = reverse("benchmarks:plugin_page", args=[rights.benchmark.slug, page.key])
            yield {"key": page.key, "label": page.label, "url": url, "current": page.key == current}


def _links_from_elsewhere(rights: PageRights, tab: MainTab) -> Iterator[dict[str, Any]]:
    """Pages of other tabs; beside the people of a benchmark those of its reader's teams."""
    pages = (page for other in TABS for page in other.pages if page.also == tab.key)
    yield from (_link(rights.benchmark, page, "") for page in pages if rights.may(page.right))
    if tab.key == "people" and rights.user.is_authenticated:
        yield {"key": "teams", "label": _("Teams and cohorts"), "url": reverse("people:teams"), "current": False}


def _link(benchmark: Benchmark, page: Page, current: str) -> dict[str, Any]:
    url = reverse(page.name, args=[benchmark.slug])
    return {"key": page.key, "label": page.label, "url": url, "current": page.key == current}


def can_review(user: User | AnonymousUser, benchmark: Benchmark) -> bool:
    """Whether this person has answers to review here, now or later."""
    return bool(read_for_each(benchmark, _with_review)) and is_permitted(user, benchmark, "review")


def _with_review(benchmarks: Sequence[Benchmark]) -> Mapping[int, bool]:
    stages = Stage.objects.filter(benchmark__in=benchmarks, acceptance=Stage.Acceptance.BY_REVIEW)
    return dict.fromkeys(stages.order_by().values_list("benchmark", flat=True), True)
