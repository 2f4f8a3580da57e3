"""Whether a person may be given work, and why not. Read anew in every claim, under the lock of the Participation."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from annotation.services.sql import fetch
from people.zones import zone_named

Reason = Literal[
    "all_done", "all_reserved", "cohort_paused", "campaign_paused", "campaign_closed", "not_started", "ended",
    "no_consent", "not_a_member", "excluded", "cohort_full",
]  # fmt: skip

# People who may not see the material now are not shown even what they have in hand.
SHUTS_OUT: frozenset[Reason] = frozenset({"no_consent", "not_a_member", "excluded", "campaign_closed"})

GATE = """
SELECT c.state, c.opens_on, c.closes_on, c.lease_minutes, cc.paused, co.time_zone, u.time_zone,
  u.is_active AND EXISTS (SELECT FROM people_cohortmember m
    WHERE m.cohort_id = co.id AND m.user_id = u.id AND m.left_at IS NULL),
  EXISTS (SELECT FROM annotation_exclusion e
    WHERE e.benchmark_id = st.benchmark_id AND e.rater_id = r.id AND e.lifted_at IS NULL),
  coalesce((SELECT EXISTS (SELECT FROM people_consent given
      WHERE given.version_id = v.id AND given.user_id = u.id AND given.withdrawn_at IS NULL)
    FROM people_consentversion v
    WHERE v.team_id = co.team_id AND v.published_at IS NOT NULL ORDER BY v.number DESC LIMIT 1), true),
  EXISTS (SELECT FROM people_consent older JOIN people_consentversion v ON v.id = older.version_id
    WHERE v.team_id = co.team_id AND older.user_id = u.id AND older.withdrawn_at IS NULL)
FROM annotation_campaigncohort cc
  JOIN annotation_campaign c ON c.id = cc.campaign_id
  JOIN benchmarks_stage st ON st.id = c.stage_id
  JOIN people_cohort co ON co.id = cc.cohort_id
  JOIN people_rater r ON r.id = %s
  JOIN people_user u ON u.id = r.user_id
WHERE cc.id = %s
"""


@dataclass(frozen=True)
class Gate:
    refused: Reason | None
    lease_minutes: int
    only_text_is_new: bool = False
    """Consent is missing only because a newer text was published: what was begun under the older one counts."""


def gate(cohort_id: int, rater_id: int, at: datetime) -> Gate:
    """Consent is to the team of the cohort: it speaks for its people."""
    row = fetch(GATE, [rater_id, cohort_id])[0]
    state, opens_on, closes_on, minutes, paused, cohort_zone, own_zone, member, excluded, consented, to_older = row
    today = at.astimezone(zone_named(own_zone or cohort_zone) or UTC).date()
    refusals: list[tuple[Reason, Any]] = [
        ("not_a_member", not member),
        ("excluded", excluded),
        ("no_consent", not consented),
        ("campaign_closed", state == "closed"),
        ("not_started", state == "draft" or (opens_on and today < opens_on)),
        ("ended", closes_on and today > closes_on),
        ("campaign_paused", state == "paused"),
        ("cohort_paused", paused),
    ]
    refused = next((reason for reason, holds in refusals if holds), None)
    return Gate(refused, minutes, only_text_is_new=refused == "no_consent" and to_older)
