"""What the explorer says of a bulk action that has just ended: how many items it changed, why not others, and undo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import ItemChange
from annotation.services.bulk_actions import ACTIONS, KIND, REASONS
from benchmarks.models import Benchmark
from jobs.formats.numbers import parse_id
from jobs.models import Job, JobRow

MOST_REASONS = 10


@dataclass(frozen=True)
class ActionResult:
    """`reasons`: why items were not changed, with their number. `can_undo`: there is something left to undo."""

    job: Job
    text: str
    reasons: Sequence[tuple[str, int]]
    can_undo: bool


def action_result(benchmark: Benchmark, asked: Mapping[str, str]) -> ActionResult | None:
    pk = parse_id(asked.get("done"))
    job = Job.objects.filter(pk=pk, kind=KIND, scope=benchmark.scope).first() if pk else None
    if job is None or job.params.get("action") not in ACTIONS:
        return None
    counts = job.result.get("counts", {})
    n, is_undo = counts.get(JobRow.Outcome.UPDATED, 0), bool(job.params.get("undo"))
    if is_undo:
        text = ngettext("The change of %(n)s item was undone.", "The changes of %(n)s items were undone.", n)
    else:
        text = ACTIONS[job.params["action"]].done(n)
    left = not is_undo and job.state not in Job.LIVE and ItemChange.objects.filter(job=job, undone_at=None).exists()
    state = "" if job.state == Job.State.DONE else f" {_('State')}: {job.get_state_display()}."
    return ActionResult(job, text % {"n": f"{n:,}"} + state, _reasons(job) if counts.get("error") else [], left)


def _reasons(job: Job) -> list[tuple[str, int]]:
    numbers: dict[str, int] = {}
    rows = JobRow.objects.filter(job=job, outcome=JobRow.Outcome.ERROR).order_by("number")
    for reason in rows.values_list("reason", flat=True)[:1000]:
        numbers[reason] = numbers.get(reason, 0) + 1
    return [(str(REASONS.get(reason, reason)), n) for reason, n in numbers.items()][:MOST_REASONS]
