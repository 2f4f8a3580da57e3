"""How far the stages of a benchmark are, for the list of benchmarks."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.pages.board_rows import IDLE_DAYS, STUCK_NAMED
from annotation.queries.progress import Progress, cohort_progress_and_idle_days
from benchmarks.models import Stage
from benchmarks.pages.benchmark_list import CohortBar, StageSummary
from people.models import Cohort


def stage_summaries(stages: Sequence[Stage], at: datetime) -> Mapping[int, StageSummary]:
    """By stage, those that ask people. Three queries."""
    chain, idle_days = cohort_progress_and_idle_days(stages, at)
    names = {stage.pk: stage.name for stage in stages}
    return {
        pk: _summary(names[pk], cohorts, {cohort: idle_days.get((pk, cohort.pk), 0) for cohort in cohorts})
        for pk, cohorts in chain.items()
    }


def _summary(name: str, cohorts: Mapping[Cohort, Progress], idle_days: Mapping[Cohort, int]) -> StageSummary:
    total = sum(cohorts.values(), Progress())
    if not total.wanted:
        return StageSummary(name, [], note=_("No items yet"))
    idle = {cohort: days for cohort, days in idle_days.items() if days >= IDLE_DAYS}
    bars = [CohortBar(progress.twentieths, is_stuck=cohort in idle) for cohort, progress in cohorts.items()]
    note = _idle_note(idle) or _note(cohorts)
    return StageSummary(name, bars, total.submitted_text, total.target_text, note, is_stuck=bool(idle))


def _idle_note(idle: Mapping[Cohort, int]) -> str:
    """Where nobody answered for long, though work is open. Empty where there is no such cohort."""
    if not idle:
        return ""
    days = min(idle.values())
    names = [cohort.name for cohort in idle]
    listed = ", ".join(names[:STUCK_NAMED]) + (" …" if len(names) > STUCK_NAMED else "")
    text = ngettext("%(cohorts)s: no answer for %(n)s day", "%(cohorts)s: no answer for %(n)s days", days)
    return text % {"cohorts": listed, "n": days}


def _note(cohorts: Mapping[Cohort, Progress]) -> str:
    """Which cohort has the least, where they differ."""
    asked = {cohort: progress.percent for cohort, progress in cohorts.items() if progress.wanted}
    if asked and min(asked.values()) >= 100:
        return _("Complete")
    if len(asked) < 2 or round(min(asked.values())) == round(max(asked.values())):
        return ""
    least = min(asked, key=lambda cohort: asked[cohort])
    return _("Least: %(cohort)s, %(percent)s %%") % {"cohort": least.name, "percent": int(asked[least])}
