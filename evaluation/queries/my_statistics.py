"""What a person may see of their own work in numbers: how much, how fast, what was skipped. Nothing about others."""

from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, Q

from annotation.models import Annotation, Assignment, Campaign
from annotation.services.sheets.sheet_versions import sheet_of
from evaluation.metrics.partitions import Partition
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
    """One campaign. `median_seconds`: the median of active seconds, None where nothing was timed.
    `pictures_per_hour`: of sheets on which pictures are grouped, over the active time; None for other sheets."""

    name: str
    done: int
    skipped: int
    median_seconds: float | None
    pictures_per_hour: float | None = None

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
    active_rows = [row for row in rows if row["done"] or row["skipped"]]
    campaigns = Campaign.objects.select_related("sheet_version").in_bulk([row["campaign"] for row in active_rows])
    return [
        MyCampaignRow(
            campaign.name, row["done"], row["skipped"], paces.get(campaign.pk), _pictures_per_hour(user, campaign)
        )
        for row in active_rows
        for campaign in [campaigns[row["campaign"]]]
    ]


def _pictures_per_hour(user: User, campaign: Campaign) -> float | None:
    """Pictures of all timed answers over their active time. A picture that was set aside as unsure counts as well."""
    sheet = sheet_of(campaign.sheet_version)
    keys = [field.key for field in sheet.fields if sheet.level(field.key) == "partition"]
    if not keys:
        return None
    timed = Annotation.objects.filter(
        rater__user=user, live=True, assignment__campaign=campaign, assignment__participation__isnull=False
    ).filter(active_seconds__gt=0)
    pictures, seconds = 0, 0.0
    for answer, active in timed.values_list(f"answers__{keys[0]}", "active_seconds"):
        if answer:
            pictures += len(Partition.of(answer).kept) + len(answer["unsure"])
            seconds += active
    return 3600 * pictures / seconds if seconds else None
