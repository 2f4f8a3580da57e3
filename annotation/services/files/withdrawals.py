"""Taking back what a file of answers brought."""

from datetime import datetime

from django.db.models import QuerySet

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Rating
from annotation.services.answers.submit import OF_FILES
from annotation.services.derivation import outbox
from annotation.services.queue import slots
from annotation.services.transactions import in_transaction
from jobs.models import Job, record
from people.models import Team, User

WITHDRAWN = "withdrawn"
KINDS = ("import_answers", "import_foreign")
"""Of jobs that bring answers: with a file's digest and a campaign among their params."""


def answers_of(job: Job) -> int:
    """How many answers of an import stand now."""
    return _answers_of(job).filter(live=True).count()


def client_key_prefix(digest: str, campaign_id: int) -> str:
    """How the keys of a file's answers in a campaign begin: the row's number follows."""
    return f"{OF_FILES}{digest[:32]}:{campaign_id}:"


def _answers_of(job: Job) -> QuerySet[Annotation]:
    key = client_key_prefix(job.params["digest"], job.params["campaign"])
    # Who answers on a page chooses their keys themselves; what came in a file has no place in the queue.
    rows = Annotation.objects.filter(assignment__campaign=job.params["campaign"], assignment__participation=None)
    return rows.filter(client_key__startswith=key)


@in_transaction
def withdraw(job: Job, actor: User, at: datetime) -> int:
    """Take back all that an import brought: kept, neither live nor counted. Importing the file again brings it back;
    an import that was stopped half-way does not go on."""
    campaign = Campaign.objects.select_related("stage__benchmark__team").get(pk=job.params["campaign"])
    Team.objects.select_for_update(no_key=True).get(pk=campaign.stage.benchmark.team_id)
    stopped = Job.objects.select_for_update(no_key=True).get(pk=job.pk)
    Job.objects.filter(pk=job.pk).update(params={**stopped.params, "withdrawn": True})
    rows = list(_answers_of(job).filter(live=True).values_list("pk", "assignment_id"))
    annotations = [pk for pk, _assignment in rows]
    Annotation.objects.filter(pk__in=annotations).update(live=False, counted=False, uncounted_because=WITHDRAWN)
    Rating.objects.filter(annotation__in=annotations).update(live=False, counted=False)
    outbox.mark_answers_due(annotations)
    released = Assignment.objects.filter(pk__in=[assignment for _pk, assignment in rows])
    released.update(state=Assignment.State.RELEASED, changed_at=at)
    for cohort in CampaignCohort.objects.filter(campaign=campaign).order_by("pk"):
        slots.update_tally(cohort.pk, 0)
    _withdraw_skips(stopped, at)
    scope, target = campaign.stage.benchmark.scope, f"campaign:{campaign.pk}"
    record(actor, "answers.withdrawn", scope=scope, target=target, job=job.pk, answers=len(rows))
    return len(rows)


def _withdraw_skips(job: Job, at: datetime) -> None:
    """A skip of a file is known by the file's key in its note."""
    key = client_key_prefix(job.params["digest"], job.params["campaign"])
    rows = Assignment.objects.filter(campaign=job.params["campaign"], participation=None, skip_note__startswith=key)
    rows.filter(state=Assignment.State.SKIPPED).update(
        state=Assignment.State.RELEASED, changed_at=at, skip_reason="", skip_note=""
    )
