"""The job that loads the chains behind the open site: a step at a time, each written whole with the job's progress.

A worker that dies leaves the steps that are done, and the next one goes on with the step that is not.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import OperationalError, transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from demo import people
from demo.chains import caire, culturalvqa, globalrg_grounding, globalrg_retrieval, valueground, xcm
from demo.context import Demo, Report
from demo.steps import Step, run_step
from jobs.models import Job, JobRow
from jobs.services import lifecycle, runner
from jobs.services.job_context import JobContext, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from people.models import Team

KIND = "load_demo"
FIRST: tuple[Step, ...] = culturalvqa.STEPS
BEHIND: tuple[Step, ...] = (
    *caire.STEPS,
    *globalrg_retrieval.STEPS,
    *globalrg_grounding.STEPS,
    *valueground.STEPS,
    *xcm.STEPS,
)  # fmt: skip
MOST_TRIES = 3  # of a step that meets the locks of a visitor in another order


def start(demo: Demo, practice_address: str) -> Job:
    """Queue the job; `practice_address` is where the practice model answers, or empty."""
    params = {"now": demo.now.isoformat(), "practice": practice_address}
    title = _("The demo's other benchmarks")
    return lifecycle.start(KIND, title, scope=f"team:{demo.team.pk}", actor=demo.actor, params=params)


def run(work: JobContext) -> None:
    """Do the steps that are not done yet."""
    time_slice = TimeSlice(work)
    demo = load_context(work.params)
    done = list(work.cursor.get("steps", []))
    work.expect(len(BEHIND))
    for step in BEHIND:
        if step.key not in done:
            work.beat()
            done.append(step.key)
            _try_step(work, step, demo, done)
            time_slice.is_over()


def load_context(params: dict[str, str], report: Report = lambda _text: None) -> Demo:
    """The demo's team and people, at the time at which they were made."""
    now = datetime.fromisoformat(params["now"])
    return people.find_demo(Team.objects.get(slug="demo"), now, report, practice_address=params["practice"])


def finish(job: Job) -> Job:
    """Do the whole job here, slice by slice: between two of them it waits for other work as in a worker."""
    for _slice in BEHIND:
        runner.run(job.pk)
        job.refresh_from_db()
        if job.state != Job.State.QUEUED:
            break
    return job


def _try_step(work: JobContext, step: Step, demo: Demo, done: Sequence[str]) -> None:
    """With the job's progress in the same transaction; a step that the database broke off is done again."""
    for attempt in range(1, MOST_TRIES + 1):
        try:
            with transaction.atomic():
                row = _row(len(done), step, run_step(step, demo))
                work.step(done=len(done), cursor={"steps": list(done)}, rows=[row])
        except OperationalError:
            if attempt == MOST_TRIES:
                raise
        else:
            return


def _row(number: int, step: Step, left_out: str) -> JobRow:
    """A step in the job's report."""
    outcome = JobRow.Outcome.ERROR if left_out else JobRow.Outcome.CREATED
    return JobRow(number=number, name=step.title, outcome=outcome, message=left_out)


def next_link(job: Job) -> NextLink:
    return NextLink(_("View benchmarks"), reverse("benchmarks:list"))


LOAD_DEMO = JobKind(KIND, run, next_link, in_steps=True)
