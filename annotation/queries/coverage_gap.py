"""One cell of the matrix: what it lacks, why people skipped it, and who of the cohort could fill it."""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils.translation import ngettext_lazy

from annotation.models import CampaignCohort
from annotation.queries.coverage import ACCEPTED, SLOTS, STILL_ASKED, UNITS
from annotation.queries.gate import CONSENTED, EXCLUDED
from benchmarks.models import Stage
from jobs.queries.statements import fetch
from people.locales.time_zones import zone_named

IDLE = timedelta(days=7)
NOT_BEGUN = datetime(1970, 1, 1, tzinfo=UTC)

# In the order in which they are told; a person is in the first that fits, read from the end.
WHO: dict[str, tuple[str, Any]] = {
    "room": ("ok", ngettext_lazy("is available", "are available")),
    "idle": ("hollow", ngettext_lazy("has not been here for a week", "have not been here for a week")),
    "new": ("hollow", ngettext_lazy("has not started", "have not started")),
    "day": ("wait", ngettext_lazy("is at the limit for today", "are at their limit for today")),
    "share": ("wait", ngettext_lazy("has reached the limit", "have reached the limit")),
    "had": ("hollow", ngettext_lazy("has already answered or skipped it", "have already answered or skipped it")),
    "authors": (
        "hollow",
        ngettext_lazy(
            "contributed to the item, but this stage excludes contributors",
            "contributed to the item, but this stage excludes contributors",
        ),
    ),
    "others": (
        "hollow",
        ngettext_lazy(
            "did not contribute to the item, but this stage is for contributors",
            "did not contribute to the item, but this stage is for contributors",
        ),
    ),
    "judged": (
        "hollow",
        ngettext_lazy("judged an earlier revision of the item", "judged an earlier revision of the item"),
    ),
    "consent": (
        "back",
        ngettext_lazy("has not given consent to the current text", "have not given consent to the current text"),
    ),
    "excluded": ("no", ngettext_lazy("is excluded from this benchmark", "are excluded from this benchmark")),
}

SUMS = f"""SELECT {UNITS}, sum({STILL_ASKED}), sum(s.submitted), sum(s.reserved), count(*) FILTER (WHERE s.retired),
  count(*) FILTER (WHERE s.urgent AND s.open), count(*) FILTER (WHERE {ACCEPTED})
  FROM {SLOTS} WHERE s.id = ANY(%(slots)s)"""
SKIPS = """SELECT skip_reason, count(*) FROM annotation_assignment WHERE slot_id = ANY(%s) AND state = 'skipped'
  GROUP BY skip_reason ORDER BY count(*) DESC, skip_reason"""

# One row a member of the cohort: what keeps them from every unit that lacks answers, if anything does.
PEOPLE = f"""
WITH lacking AS MATERIALIZED (
  SELECT s.unit_id, u.item_id FROM {SLOTS} WHERE s.id = ANY(%(slots)s) AND s.submitted < {STILL_ASKED}
)
SELECT p.id, p.last_seen_at, {EXCLUDED}, {CONSENTED},
  x.free, x.had, x.judged,
  (SELECT count(*) FROM annotation_assignment a WHERE a.participation_id = p.id
    AND a.state IN ('submitted', 'returned', 'accepted', 'rejected'))
FROM annotation_campaigncohort cc JOIN annotation_campaign c ON c.id = cc.campaign_id
  JOIN benchmarks_stage st ON st.id = c.stage_id JOIN people_cohort co ON co.id = cc.cohort_id
  JOIN people_cohortmember m ON m.cohort_id = co.id AND m.left_at IS NULL
  JOIN people_user u ON u.id = m.user_id AND u.is_active
  LEFT JOIN people_rater r ON r.user_id = u.id
  LEFT JOIN annotation_participation p ON p.cohort_id = cc.id AND p.rater_id = r.id
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE a.id IS NULL AND (st.staffing = 'anyone' OR (st.staffing = 'contributors') = EXISTS (
        SELECT FROM annotation_itemcontributor k WHERE k.item_id = l.item_id AND k.rater_id = r.id
          AND (k.own OR st.staffing <> 'not_own'))) AND (st.staffing = 'contributors' OR f.id IS NULL)) AS free,
      count(a.id) AS had, count(f.id) FILTER (WHERE a.id IS NULL) AS judged
    FROM lacking l LEFT JOIN annotation_assignment a ON a.campaign_id = c.id AND a.unit_id = l.unit_id
      AND a.rater_id = r.id AND a.state <> 'released'
      LEFT JOIN benchmarks_formerjudge f ON f.item_id = l.item_id AND f.user_id = u.id
  ) x
WHERE cc.id = %(cohort)s
"""
TODAY = """SELECT a.participation_id, count(*) FROM annotation_annotation an
  JOIN annotation_assignment a ON a.id = an.assignment_id JOIN annotation_participation p ON p.id = a.participation_id
  WHERE p.cohort_id = %s AND an.submitted_at >= %s AND an.version = 1
    AND a.state IN ('submitted', 'returned', 'accepted', 'rejected') GROUP BY a.participation_id"""


@dataclass(frozen=True)
class MemberGroup:
    """So many people, and what can be said of them."""

    key: str
    style: str
    words: str
    n: int


@dataclass(frozen=True)
class CoverageGap:
    """`accepted`: of its units. `judged`: whether somebody or a rule accepts them, so that answers alone do not."""

    slots: list[int]
    units: int
    asked: int
    counted: int
    in_progress: int
    retired: int
    urgent: int
    skips: list[tuple[str, int]]
    groups: list[MemberGroup]
    members: int
    accepted: int
    judged: bool

    @property
    def percent(self) -> float:
        return min(100.0, 100 * self.counted / self.asked) if self.asked else 0.0

    @property
    def missing(self) -> int:
        return max(0, self.asked - self.counted)


def describe_gap(place: CampaignCohort, slots: Sequence[int], at: datetime) -> CoverageGap:
    """What is to be said of these slots of one cohort."""
    acceptance = place.campaign.stage.acceptance
    [sums] = fetch(SUMS, {"slots": list(slots), "acceptance": acceptance})
    skips = fetch(SKIPS, [list(slots)])
    kinds = Counter(_member_statuses(place, slots, at))
    member_groups = [
        MemberGroup(key, look, words % kinds[key], kinds[key]) for key, (look, words) in WHO.items() if kinds[key]
    ]
    units, asked, counted, reserved, retired, urgent, accepted = (int(one or 0) for one in sums)
    skip_counts = [(code, int(n)) for code, n in skips]
    judged = acceptance != Stage.Acceptance.ON_SUBMIT
    return CoverageGap(
        list(slots),
        units,
        asked,
        counted,
        reserved,
        retired,
        urgent,
        skip_counts,
        member_groups,
        kinds.total(),
        accepted,
        judged,
    )


def _member_statuses(place: CampaignCohort, slots: Sequence[int], at: datetime) -> list[str]:
    today = _answered_today(place, at) if place.most_per_day is not None else {}
    staffing = place.campaign.stage.staffing
    people = fetch(PEOPLE, {"cohort": place.pk, "slots": list(slots)})
    return [_member_status(row, place, staffing, today, at) for row in people]


def _member_status(
    row: Sequence[Any], place: CampaignCohort, staffing: str, today: dict[int, int], at: datetime
) -> str:
    seat, last_seen_at, excluded, consented, free, had, judged, n_answered = row
    statuses = [
        ("excluded", excluded),
        ("consent", not consented),
        ("had", not free and had),
        ("judged", not free and judged and staffing != "contributors"),
        ("authors", not free and staffing in ("others", "not_own")),
        ("others", not free and staffing == "contributors"),
        ("had", not free),
        ("share", place.most_per_person is not None and n_answered >= place.most_per_person),
        ("day", place.most_per_day is not None and today.get(seat, 0) >= place.most_per_day),
        ("new", seat is None),
        ("idle", (last_seen_at or NOT_BEGUN) < at - IDLE),
    ]
    return next((kind for kind, holds in statuses if holds), "room")


def _answered_today(place: CampaignCohort, at: datetime) -> dict[int, int]:
    """What was given since midnight in the cohort, by participation."""
    day = at.astimezone(zone_named(place.cohort.time_zone) or UTC)
    return dict(fetch(TODAY, [place.pk, day.replace(hour=0, minute=0, second=0, microsecond=0)]))
