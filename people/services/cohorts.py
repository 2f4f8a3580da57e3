from collections.abc import Mapping
from datetime import datetime
from typing import TypedDict

from django.db import transaction

from jobs.models import record
from people.models import Cohort, Team, User


class CohortData(TypedDict):
    """What a person may say about a cohort."""

    label: str
    names: Mapping[str, str]
    country: str
    languages: list[str]
    direction: str
    time_zone: str


@transaction.atomic
def create_cohort(team: Team, data: CohortData, actor: User) -> Cohort:
    cohort = Cohort.objects.create(team=team, **data)
    record(actor, "cohort.created", scope=f"team:{team.pk}", target=f"cohort:{cohort.pk}", label=cohort.label)
    return cohort


@transaction.atomic
def update_cohort(cohort: Cohort, data: CohortData, actor: User) -> Cohort:
    """Change what is said about a cohort. Units already made keep the label they were made with."""
    before = Cohort.objects.select_for_update().values("label", "names").get(pk=cohort.pk)  # a form changes `cohort`
    for key, value in data.items():
        setattr(cohort, key, value)
    cohort.save(update_fields=list(data))
    scope, target = f"team:{cohort.team_id}", f"cohort:{cohort.pk}"
    now = {"label": cohort.label, "names": dict(cohort.names)}
    record(actor, "cohort.changed", scope=scope, target=target, before=before, now=now)
    return cohort


@transaction.atomic
def pause(cohort: Cohort, actor: User, at: datetime) -> None:
    """Nobody of the cohort is given new work in any campaign; what they have in hand they may finish."""
    if not Cohort.objects.filter(pk=cohort.pk, paused_at=None).update(paused_at=at):
        return
    cohort.paused_at = at
    record(actor, "cohort.paused", scope=f"team:{cohort.team_id}", target=f"cohort:{cohort.pk}")


@transaction.atomic
def resume(cohort: Cohort, actor: User) -> None:
    if not Cohort.objects.filter(pk=cohort.pk, paused_at__isnull=False).update(paused_at=None):
        return
    cohort.paused_at = None
    record(actor, "cohort.resumed", scope=f"team:{cohort.team_id}", target=f"cohort:{cohort.pk}")
