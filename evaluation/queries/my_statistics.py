"""What a person may see of their own work in numbers: how much, how fast, what was skipped. Nothing about others."""

from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, Q

from annotation.models import Assignment, Campaign
from evaluation.rendering.number_format import format_percent
from people.models import User

State = Assignment.State
DONE = (State.SUBMITTED, State.RETURNED, State.ACCEPTED, State.REJECTED)

_PACE = """
  SELECT s.campaign_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY a.active_seconds)
  FROM annotation_annotation a
  JOIN annotation_assignment s ON s.id = a.assignment_id
  JOIN people_rater p ON p.id = a.rater_id
  WHERE p.user_id = %s AND a.live AND s.participation_id IS NOT NULL
  GROUP BY s.campaign_id
"""


@dataclass(frozen=True)
class MyCampaignRow:
    """One campaign. `median_seconds`: the median of active seconds, None where nothing was timed."""

    name: str
    done: int
    skipped: int
    median_seconds: float | None

    @property
    def skipped_share(self) -> str:
        shown = self.done + self.skipped
        return format_percent(self.skipped / shown) if shown else ""


def my_statistics(user: User) -> list[MyCampaignRow]:
    """Newest campaign first. What came in a file they did elsewhere."""
    rows = (
        Assignment.objects.filter(rater__user=user, participation__isnull=False)
        .values("campaign")
        .annotate(done=Count("pk", filter=Q(state__in=DONE)), skipped=Count("pk", filter=Q(state=State.SKIPPED)))
        .order_by("-campaign")
    )
    with connection.cursor() as cursor:
        cursor.execute(_PACE, [user.pk])
        paces = dict(cursor.fetchall())
    found = [row for row in rows if row["done"] or row["skipped"]]
    names = Campaign.objects.in_bulk([row["campaign"] for row in found])
    return [
        MyCampaignRow(names[row["campaign"]].name, row["done"], row["skipped"], paces.get(row["campaign"]))
        for row in found
    ]
