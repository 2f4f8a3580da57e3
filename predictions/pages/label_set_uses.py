"""Runs that ask about a label set, for the set's page."""

from collections.abc import Iterable

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from benchmarks.models import Benchmark, LabelSet
from benchmarks.pages.label_set_uses import LabelSetUse
from predictions.models import Run

MOST = 100


def runs_with(label_set: LabelSet, benchmarks: "QuerySet[Benchmark]") -> Iterable[LabelSetUse]:
    """The newest runs that ask about this very version."""
    runs = Run.objects.filter(benchmark__in=benchmarks, selection__asked_about__has_key="sets", withdrawn_at=None)
    asked = (run for run in runs.select_related("benchmark", "rater").order_by("-pk") if _asks(run, label_set))
    for run, _number in zip(asked, range(MOST), strict=False):
        name = f"{run.rater.name} · {run.rater.setting}" if run.rater.setting else run.rater.name
        url = reverse("predictions:answer_run", args=[run.benchmark.slug, run.pk])
        yield LabelSetUse(run.benchmark.name, _("Run"), name, url)


def _asks(run: Run, label_set: LabelSet) -> bool:
    return label_set.reference in (run.selection["asked_about"]["sets"] or {}).values()
