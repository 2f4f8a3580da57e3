"""The people of a cohort and what they do in its campaigns, for those who manage it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign, CampaignCohort
from annotation.queries.board_counts import opened_for_models
from annotation.queries.progress import Progress, progress_of
from jobs.queries.statements import fetch
from people.models import Cohort, CohortMember
from people.services.consent import ConsentState, consent_states

CONSENTS: Mapping[str, tuple[str, Any]] = {
    "agreed": ("ok", _("Given")),
    "agreed_earlier": ("wait", _("Given to an earlier version")),
    "never_asked": ("wait", _("Not given yet")),
    "withdrawn": ("no", _("Withdrawn")),
    "not_needed": ("hollow", _("Not required")),
}
IDLE = timedelta(days=7)
STATES: Mapping[str, tuple[str, Any]] = {
    "active": ("ok", _("Active")),
    "idle": ("wait", _("Idle")),
    "new": ("hollow", _("Not started")),
    "off": ("no", _("Deactivated")),
    "left": ("hollow", _("Left")),
    "ended": ("no", _("Removed")),
}

# One row a person: when they were last at work for this cohort, what they hold, gave, and what was said of it.
DEEDS = """
SELECT r.user_id, max(p.last_seen_at), sum(x.held), sum(x.given), sum(x.accepted), sum(x.rejected), sum(x.skipped)
FROM annotation_participation p JOIN annotation_campaigncohort cc ON cc.id = p.cohort_id
  JOIN people_rater r ON r.id = p.rater_id
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE a.state = 'reserved') AS held,
      count(*) FILTER (WHERE a.state IN ('submitted', 'returned', 'accepted', 'rejected')) AS given,
      count(*) FILTER (WHERE a.state = 'accepted') AS accepted,
      count(*) FILTER (WHERE a.state = 'rejected') AS rejected,
      count(*) FILTER (WHERE a.state = 'skipped') AS skipped
    FROM annotation_assignment a WHERE a.participation_id = p.id
  ) x
WHERE cc.cohort_id = %s GROUP BY r.user_id
"""


@dataclass(frozen=True)
class RosterRow:
    """A member, now or before. `approval` is the share of the decided answers that was accepted."""

    member: CohortMember
    state: str
    seen: datetime | None
    held: int
    given: int
    accepted: int
    rejected: int
    skipped: int
    consent: ConsentState

    @property
    def consent_style(self) -> str:
        return CONSENTS[self.consent.key][0]

    @property
    def consent_label(self) -> str:
        return str(CONSENTS[self.consent.key][1])

    @property
    def style(self) -> str:
        return STATES[self.state][0]

    @property
    def words(self) -> str:
        return str(STATES[self.state][1])

    @property
    def decided(self) -> int:
        return self.accepted + self.rejected

    @property
    def approval(self) -> int | None:
        return round(100 * self.accepted / self.decided) if self.decided else None

    @property
    def can_come_back(self) -> bool:
        """Who left by themselves is asked by an invitation."""
        return self.state == "ended"


def roster(cohort: Cohort, at: datetime) -> list[RosterRow]:
    """Members first, those who left last."""
    deeds = {row[0]: row[1:] for row in fetch(DEEDS, [cohort.pk])}
    members = cohort.members.select_related("user").order_by(F("left_at").asc(nulls_first=True), "user__name")
    states = consent_states(cohort.team, [member.user_id for member in members])
    return [_person(member, deeds.get(member.user_id), states[member.user_id], at) for member in members]


def _person(member: CohortMember, row: tuple[Any, ...] | None, consent: ConsentState, at: datetime) -> RosterRow:
    seen, *counts = row or (None, 0, 0, 0, 0, 0)
    held, given, accepted, rejected, skipped = (int(one) for one in counts)
    return RosterRow(member, _state(member, seen, at), seen, held, given, accepted, rejected, skipped, consent)


@dataclass(frozen=True)
class ConsentFilter:
    """A choice of the roster's filter. `key` is "" for everybody."""

    key: str
    label: str
    count: int
    chosen: bool


def consent_filters(people: Sequence[RosterRow], chosen: str) -> list[ConsentFilter]:
    """Everybody, then each state that somebody is in."""
    counts = Counter(person.consent.key for person in people)
    states = [
        ConsentFilter(key, str(label), counts[key], key == chosen)
        for key, (_style, label) in CONSENTS.items()
        if counts[key] or key == chosen
    ]
    return [ConsentFilter("", gettext("All"), len(people), not chosen), *states]


def _state(member: CohortMember, last_seen_at: datetime | None, at: datetime) -> str:
    if member.left_at is not None:
        return "ended" if member.ended_by_id else "left"
    if not member.user.is_active:
        return "off"
    if last_seen_at is None:
        return "new"
    return "active" if last_seen_at > at - IDLE else "idle"


def cohort_campaigns(cohort: Cohort) -> list[tuple[CampaignCohort, Progress]]:
    """The campaigns that ask this cohort now, and how far it is in each. What is open for models alone asks nobody."""
    states = (Campaign.State.OPEN, Campaign.State.PAUSED)
    rows = CampaignCohort.objects.filter(cohort=cohort, campaign__state__in=states).select_related(
        "campaign__stage__benchmark"
    )
    rows = rows.order_by("-campaign__opened_at", "pk")
    unasked = _for_models_alone([place.campaign for place in rows])
    places = [place for place in rows if place.campaign_id not in unasked]
    done = progress_of(place.pk for place in places)
    return [(place, done[place.pk]) for place in places]


def _for_models_alone(campaigns: Sequence[Campaign]) -> set[int]:
    by_scope: dict[str, list[Campaign]] = {}
    for campaign in campaigns:
        by_scope.setdefault(campaign.stage.benchmark.scope, []).append(campaign)
    return {pk for scope, rows in by_scope.items() for pk in opened_for_models(rows, scope)}
