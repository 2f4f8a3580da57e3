"""The tabs every page of a benchmark shows: `nav` of parts/bar.html."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.plugin_pages import pages_of
from people.models import User

# key, label, URL name, and whether it is only for those who work on the benchmark
TABS = (
    ("overview", _("Overview"), "benchmarks:detail", False),
    ("items", _("Items"), "benchmarks:items", False),
    ("stages", _("Stages"), "annotation:stages", True),
    ("campaigns", _("Campaigns"), "annotation:campaigns", False),
    ("review", _("Review"), "annotation:review_queue", False),
    ("coverage", _("Coverage"), "annotation:coverage", False),
    ("predictions", _("Predictions"), "predictions:index", True),
    ("agreement", _("Agreement"), "evaluation:agreement", False),
    ("tables", _("Tables"), "evaluation:tables", False),
    ("people", _("People"), "evaluation:people", True),
    ("export", _("Export"), "evaluation:export", True),
)


def tabs_for(user: User | AnonymousUser, benchmark: Benchmark, current: str) -> list[dict[str, Any]]:
    """`current` is the key of a tab, or "" for none."""
    works = is_permitted(user, benchmark, "work_on")
    hidden = set() if can_review(user, benchmark) else {"review"}
    tabs: list[dict[str, Any]] = [
        {"key": key, "label": label, "url": reverse(name, args=[benchmark.slug]), "current": key == current}
        for key, label, name, only_workers in TABS
        if (works or not only_workers) and key not in hidden
    ]
    for page in pages_of(benchmark):
        if not page.imports and is_permitted(user, benchmark, page.can):
            url = reverse("benchmarks:plugin_page", args=[benchmark.slug, page.key])
            tabs.append({"key": page.key, "label": page.label, "url": url, "current": page.key == current})
    return tabs


def can_review(user: User | AnonymousUser, benchmark: Benchmark) -> bool:
    """Whether this person has answers to review here, now or later."""
    by_review = benchmark.stages.filter(acceptance=Stage.Acceptance.BY_REVIEW)
    return by_review.exists() and is_permitted(user, benchmark, "review")
