"""When a campaign has all answers that it wants of a cohort, and of all cohorts: recorded once, as an event."""

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Sum

from annotation.models import Campaign, CampaignCohort, Slot, Tally
from jobs.models import record


def record_complete(at: datetime) -> int:
    """Look at cohorts of open campaigns whose state may have changed. Returns how many are complete now."""
    reopened = _asked().exclude(complete_at=None).filter(Exists(_slots().filter(open=True)))
    CampaignCohort.objects.filter(pk__in=list(reopened.values_list("pk", flat=True))).update(complete_at=None)
    lacking = _slots().filter(retired=False, cell_full=False, submitted__lt=F("wanted"))
    complete = _asked().filter(
        Exists(_slots()), ~Exists(_slots().filter(open=True)), ~Exists(lacking), complete_at=None
    )
    return sum(_record(pk, at) for pk in list(complete.order_by("pk").values_list("pk", flat=True)))


def _asked() -> QuerySet[CampaignCohort]:
    return CampaignCohort.objects.filter(campaign__state=Campaign.State.OPEN)


def _slots() -> QuerySet[Slot]:
    return Slot.objects.filter(cohort=OuterRef("pk"))


def _record(pk: int, at: datetime) -> int:
    """One cohort, and its campaign if it was the last one."""
    with transaction.atomic():
        if not CampaignCohort.objects.filter(pk=pk, complete_at=None).update(complete_at=at):
            return 0
        row = CampaignCohort.objects.select_related("campaign__stage__benchmark").get(pk=pk)
        campaign, scope = row.campaign, row.campaign.stage.benchmark.scope
        target, wanted = f"campaign:{campaign.pk}", _wanted([row])
        record(None, "cohort.complete", scope=scope, target=target, implied=True, cohort=row.cohort_id, wanted=wanted)
        rows = list(campaign.cohorts.all())
        if all(other.complete_at for other in rows):
            record(None, "campaign.complete", scope=scope, target=target, implied=True, wanted=_wanted(rows))
    return 1


def _wanted(rows: list[CampaignCohort]) -> int:
    return int(Tally.objects.filter(cohort__in=rows).aggregate(all=Sum("wanted"))["all"] or 0)
