"""How far the stages of a benchmark are, for the list of benchmarks."""

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _

from annotation.queries.progress import Progress, cohort_progress
from benchmarks.models import Stage
from benchmarks.pages.benchmark_list import StageSummary
from people.models import Cohort


def stage_summaries(stages: Sequence[Stage]) -> Mapping[int, StageSummary]:
    """By stage, those that ask people. Two queries."""
    names = {stage.pk: stage.name for stage in stages}
    return {pk: _summary(names[pk], cohorts) for pk, cohorts in cohort_progress(stages).items()}


def _summary(name: str, cohorts: Mapping[Cohort, Progress]) -> StageSummary:
    total = sum(cohorts.values(), Progress())
    bars = [progress.twentieths for progress in cohorts.values()]
    return StageSummary(name, bars, total.submitted_text, total.target_text, _note(cohorts))


def _note(cohorts: Mapping[Cohort, Progress]) -> str:
    """Which cohort has the least, where they differ."""
    asked = {cohort: progress.percent for cohort, progress in cohorts.items() if progress.wanted}
    if asked and min(asked.values()) >= 100:
        return _("Complete")
    if len(asked) < 2 or round(min(asked.values())) == round(max(asked.values())):
        return ""
    least = min(asked, key=lambda cohort: asked[cohort])
    return _("Least: %(cohort)s, %(percent)s %%") % {"cohort": least.name, "percent": int(asked[least])}
