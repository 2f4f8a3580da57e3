"""What numbers add to the next action of the overview: see benchmarks.pages.next_actions."""

from django.db.models import Sum
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from annotation.models import Annotation, Campaign, CampaignCohort
from benchmarks.access import is_permitted
from benchmarks.models import Benchmark
from benchmarks.pages.next_actions import NextAction
from people.models import User


def _has_answers(benchmark: Benchmark) -> bool:
    rows = Annotation.objects.filter(assignment__campaign__stage__benchmark=benchmark, live=True, counted=True)
    return rows.exists()


def _progress(benchmark: Benchmark) -> tuple[int, int]:
    """Answers there are and answers wanted, in the cohorts of running campaigns that lack some."""
    running = (Campaign.State.OPEN, Campaign.State.PAUSED)
    rows = CampaignCohort.objects.filter(campaign__stage__benchmark=benchmark, campaign__state__in=running)
    sums = rows.annotate(wanted=Sum("tallies__wanted"), submitted=Sum("tallies__submitted"))
    lacking = [
        (n or 0, wanted or 0) for n, wanted in sums.values_list("submitted", "wanted") if (n or 0) < (wanted or 0)
    ]
    return sum(n for n, _wanted in lacking), sum(wanted for _n, wanted in lacking)


def view_tables(benchmark: Benchmark, user: User) -> NextAction | None:
    """There are answers. For those who export, as long as more are wanted."""
    submitted, wanted = _progress(benchmark)
    if not _has_answers(benchmark) or (not wanted and is_permitted(user, benchmark, "work_on")):
        return None
    words = {"n": number_format(submitted, use_l10n=True), "wanted": number_format(wanted, use_l10n=True)}
    return NextAction(
        _("The tables are ready."),
        _("View the tables"),
        reverse("evaluation:tables", args=[benchmark.slug]),
        _("%(n)s of %(wanted)s answers are there; the tables follow new ones.") % words if wanted else "",
        (_("View agreement"), reverse("evaluation:agreement", args=[benchmark.slug])),
    )


def export(benchmark: Benchmark, user: User) -> NextAction | None:
    """No answer is missing."""
    if not is_permitted(user, benchmark, "work_on") or not _has_answers(benchmark):
        return None
    return NextAction(
        _("All wanted answers are there."),
        _("Export"),
        reverse("evaluation:export", args=[benchmark.slug]),
        second=(_("View the tables"), reverse("evaluation:tables", args=[benchmark.slug])),
    )
