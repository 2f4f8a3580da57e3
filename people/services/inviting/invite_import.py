"""A list of people out of a file that a program sent: a job invites them to a cohort, each by a letter.

The job belongs to the team, and its report names lines and no addresses: members of the team may read it.
"""

from datetime import datetime
from urllib.parse import urljoin

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs.models import Job, JobRow
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext, JobFailed
from jobs.services.kinds import JobKind, NextLink
from people.access import may_manage
from people.models import Cohort, User
from people.services.inviting import invite_lists
from people.services.inviting.invite_lists import InviteRow

KIND = "invite_people"
NO_ADDRESS = gettext_lazy("The row has no e-mail address. A link without one is shown by the page of the cohort.")


def start(cohort: Cohort, actor: User, text: str, root: str) -> Job:
    """`root`: the address of the site, for the links in the letters."""
    title = _("Invite people to %(cohort)s") % {"cohort": cohort.label}
    params = {"cohort": cohort.pk, "text": text, "root": root}
    return jobs.start(KIND, title, scope=f"team:{cohort.team_id}", actor=actor, params=params)


def run(work: JobContext) -> None:
    """All at once; done again it changes nothing, since each line is reported in the transaction of its invitation."""
    if work.job.rows.exists():
        return
    cohort = Cohort.objects.select_related("team").get(pk=work.params["cohort"])
    actor = work.job.created_by
    if actor is None or not may_manage(actor, cohort):
        raise JobFailed(_("Whoever started this does not manage the cohort any more."))
    at = timezone.now()
    with transaction.atomic():
        listed = invite_lists.parse_list(work.params["text"], cohort, at)
        if listed.problem:
            raise JobFailed(listed.problem)
        work.expect(len(listed.lines))
        _invite(cohort, actor, [row for row in listed.valid_rows if row.email], work.params["root"], at)
        work.step(done=len(listed.lines), cursor={}, rows=[_reported(row) for row in listed.lines])
        Job.objects.filter(pk=work.job.pk).update(params={**work.params, "text": ""})  # the addresses are not kept


def _invite(cohort: Cohort, actor: User, rows: list[InviteRow], root: str, at: datetime) -> None:
    def link(token: str) -> str:
        return urljoin(root, reverse("people:invitation", args=[token]))

    invite_lists.invite_all(cohort, actor, [(row.email, row.note) for row in rows], link, at)


def forget_lists(before: datetime) -> int:
    """Delete the addresses of lists that failed or were cancelled before this moment: they can go on no longer."""
    states = (Job.State.FAILED, Job.State.CANCELLED)
    stopped = Job.objects.filter(kind=KIND, state__in=states, finished_at__lt=before).exclude(params__text="")
    for job in stopped:
        Job.objects.filter(pk=job.pk, state__in=states).update(params={**job.params, "text": ""})
    return len(stopped)


def problem_of(row: InviteRow) -> str:
    """Why nobody is invited by a row; empty where somebody is."""
    return row.problem or ("" if row.email else str(NO_ADDRESS))


def _reported(row: InviteRow) -> JobRow:
    problem = problem_of(row)
    name = _("Line %(n)s") % {"n": row.number}
    if problem:
        return JobRow(number=row.number, name=name, outcome="error", reason="refused", message=problem)
    return JobRow(number=row.number, name=name, outcome="created")


def next_link(job: Job) -> NextLink | None:
    return NextLink(_("View the cohort"), reverse("people:cohort_invite", args=[job.params["cohort"]]))


INVITE = JobKind(KIND, run, next_link)
