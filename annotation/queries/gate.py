"""Whether a person may be given work, and why not. Read anew in every claim, under the lock of the Participation."""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from jobs.queries.statements import fetch
from people.locales.time_zones import zone_named

Reason = Literal[
    "all_done", "for_others", "all_reserved", "cohort_paused", "campaign_paused", "campaign_closed", "not_started",
    "ended", "no_consent", "not_a_member", "excluded", "cohort_full",
    "own_share_done", "day_done", "not_ready", "nothing_yet", "in_pack",
]  # fmt: skip

# People who may not see the material now are not shown even what they have in hand.
SHUTS_OUT: frozenset[Reason] = frozenset({"no_consent", "not_a_member", "excluded", "campaign_closed"})

EXCLUDED = """EXISTS (SELECT FROM annotation_exclusion e
  WHERE e.benchmark_id = st.benchmark_id AND e.rater_id = r.id AND e.lifted_at IS NULL)"""
CONSENTED = """coalesce((SELECT EXISTS (SELECT FROM people_consent given
    WHERE given.version_id = v.id AND given.user_id = u.id AND given.withdrawn_at IS NULL)
  FROM people_consentversion v
  WHERE v.team_id = co.team_id AND v.published_at IS NOT NULL ORDER BY v.number DESC LIMIT 1), true)"""
# The newest instructions that are required, or later ones, were not gone through.
UNREADY = """EXISTS (SELECT FROM annotation_instructionversion asked
  WHERE asked.campaign_id = c.id AND asked.required AND asked.number > coalesce((
    SELECT max(through.number) FROM annotation_participation part
      JOIN annotation_readiness ready ON ready.participation_id = part.id AND ready.passed_at IS NOT NULL
      JOIN annotation_instructionversion through ON through.id = ready.version_id
    WHERE part.cohort_id = cc.id AND part.rater_id = r.id), 0))"""
# What a gate reads, of the aliases in SOURCES; for one statement that reads more at the same moment.
COLUMNS = f"""c.state, c.opens_on, c.closes_on, c.lease_minutes, cc.paused OR co.paused_at IS NOT NULL,
  cc.most_per_person, cc.most_per_day, co.time_zone, u.time_zone,
  u.is_active AND EXISTS (SELECT FROM people_cohortmember m
    WHERE m.cohort_id = co.id AND m.user_id = u.id AND m.left_at IS NULL),
  {EXCLUDED}, {CONSENTED},
  EXISTS (SELECT FROM people_consent older JOIN people_consentversion v ON v.id = older.version_id
    WHERE v.team_id = co.team_id AND older.user_id = u.id AND older.withdrawn_at IS NULL),
  st.staffing, {UNREADY}"""
# Names for the values of COLUMNS, in their order.
NAMES = (
    "campaign_state", "opens_on", "closes_on", "lease_minutes", "paused", "most_per_person", "most_per_day",
    "cohort_zone", "own_zone", "member", "barred", "consented", "to_older", "staffing", "unready",
)  # fmt: skip
# Of a row with these names: nothing is refused, and there is no date and no limit to reckon with. Whoever is let in by
# this is let in by `gate_of`, but not the other way round.
LETS_IN = """{row}.campaign_state = 'open' AND {row}.opens_on IS NULL AND {row}.closes_on IS NULL AND NOT {row}.paused
  AND {row}.most_per_person IS NULL AND {row}.most_per_day IS NULL AND {row}.member AND NOT {row}.barred
  AND {row}.consented AND NOT {row}.unready"""
SOURCES = """annotation_campaigncohort cc
  JOIN annotation_campaign c ON c.id = cc.campaign_id
  JOIN benchmarks_stage st ON st.id = c.stage_id
  JOIN people_cohort co ON co.id = cc.cohort_id
  JOIN people_rater r ON r.id = %(rater)s
  JOIN people_user u ON u.id = r.user_id"""
GATE = f"SELECT {COLUMNS} FROM {SOURCES} WHERE cc.id = %(cohort)s"
GATES = f"SELECT cc.id, {COLUMNS} FROM {SOURCES} WHERE cc.id = ANY(%(cohorts)s)"

# What this person gave here, and gave today; no more is counted than is asked for. `limits`: a row for each cohort.
GIVEN = """
SELECT p.cohort_id, (SELECT count(*) FROM (SELECT 1 FROM annotation_assignment a
    WHERE a.participation_id = p.id AND a.state IN ('submitted', 'returned', 'accepted', 'rejected')
    LIMIT limits.most) given),
  (SELECT count(*) FROM (SELECT 1 FROM annotation_annotation an JOIN annotation_assignment a ON a.id = an.assignment_id
    WHERE an.rater_id = p.rater_id AND an.submitted_at >= limits.midnight AND an.version = 1
      AND a.participation_id = p.id AND a.state IN ('submitted', 'returned', 'accepted', 'rejected')
    LIMIT limits.daily) today)
FROM unnest(%(cohorts)s::bigint[], %(most)s::bigint[], %(daily)s::bigint[], %(midnights)s::timestamptz[])
    AS limits(cohort, most, daily, midnight)
  JOIN annotation_participation p ON p.cohort_id = limits.cohort AND p.rater_id = %(rater)s
"""


@dataclass(frozen=True)
class Gate:
    """`remaining`: how many answers a person may still give, if there is a limit; `until`: when there may be more."""

    refused: Reason | None
    lease_minutes: int
    staffing: str = "anyone"
    remaining: int | None = None
    until: datetime | None = None
    kept_only: Reason | None = None
    """Why an answer that is sent now is kept and can never count. Not an exclusion, which can be
    lifted, and not a newer consent text: what was begun under an older one counts."""


@dataclass(frozen=True)
class Limits:
    """How much one person may give of a cohort's work, in all and since `midnight`: on a day of the cohort's calendar.

    Their own calendar people can change, and with it the moment at which a new day begins.
    """

    most: int | None
    daily: int | None
    midnight: datetime


def check_gate(cohort_id: int, rater_id: int, at: datetime) -> Gate:
    """Consent is to the team of the cohort: it speaks for its people."""
    return gate_of(fetch(GATE, {"rater": rater_id, "cohort": cohort_id})[0], cohort_id, rater_id, at)


def check_gates(cohort_ids: Collection[int], rater_id: int, at: datetime) -> dict[int, Gate]:
    """The same for a person in several campaigns, by the id of their CampaignCohort. Two queries at most."""
    if not cohort_ids:
        return {}
    rows = fetch(GATES, {"rater": rater_id, "cohorts": list(cohort_ids)})
    return _gates({cohort: row for cohort, *row in rows}, rater_id, at)


def gate_of(row: Sequence[Any], cohort_id: int, rater_id: int, at: datetime) -> Gate:
    """The gate of a row of COLUMNS."""
    return _gates({cohort_id: row}, rater_id, at)[cohort_id]


def _gates(rows: Mapping[int, Sequence[Any]], rater_id: int, at: datetime) -> dict[int, Gate]:
    """Of rows of COLUMNS by cohort; what was given is read for those that have a limit."""
    read = {cohort: _read_gate(row, at) for cohort, row in rows.items()}
    limits = {cohort: of_cohort for cohort, (_gate, of_cohort) in read.items() if of_cohort is not None}
    counts = _given(limits, rater_id) if limits else {}
    return {
        cohort: gate if of_cohort is None else _within_limits(gate, of_cohort, counts.get(cohort, (0, 0)))
        for cohort, (gate, of_cohort) in read.items()
    }


def _read_gate(row: Sequence[Any], at: datetime) -> tuple[Gate, Limits | None]:
    """What refuses somebody at once; else the limits that what they gave is compared with."""
    (state, opens_on, closes_on, minutes, paused, most, daily, cohort_zone, own_zone, member, excluded, consented,
     to_older, staffing, unready) = row  # fmt: skip
    of_cohort = zone_named(cohort_zone) or UTC
    today = at.astimezone(zone_named(own_zone) or of_cohort).date()
    refusals: list[tuple[Reason, Any]] = [
        ("not_a_member", not member),
        ("excluded", excluded),
        ("no_consent", not consented),
        ("campaign_closed", state == "closed"),
        ("not_started", state == "draft" or (opens_on and today < opens_on)),
        ("ended", closes_on and today > closes_on),
        ("campaign_paused", state == "paused"),
        ("cohort_paused", paused),
        ("not_ready", unready),
    ]
    refused = next((reason for reason, holds in refusals if holds), None)
    lasting: list[tuple[Reason, Any]] = [
        ("not_a_member", not member),
        ("no_consent", not consented and not to_older),
        ("campaign_closed", state == "closed"),
    ]
    kept_only = next((reason for reason, holds in lasting if holds), None)
    if refused or (most is None and daily is None):
        return Gate(refused, minutes, staffing, kept_only=kept_only), None
    midnight = at.astimezone(of_cohort).replace(hour=0, minute=0, second=0, microsecond=0)
    return Gate(None, minutes, staffing=staffing), Limits(most, daily, midnight)


def _given(limits: Mapping[int, Limits], rater_id: int) -> dict[int, tuple[int, int]]:
    """How much a person gave in each of these cohorts, in all and on its day."""
    params = {
        "rater": rater_id, "cohorts": list(limits), "most": [of_cohort.most or 0 for of_cohort in limits.values()],
        "daily": [of_cohort.daily or 0 for of_cohort in limits.values()],
        "midnights": [of_cohort.midnight for of_cohort in limits.values()],
    }  # fmt: skip
    return {cohort: (submitted, today) for cohort, submitted, today in fetch(GIVEN, params)}


def _within_limits(allowed: Gate, limits: Limits, given: tuple[int, int]) -> Gate:
    submitted, today = given
    left = None if limits.most is None else limits.most - submitted
    left_today = None if limits.daily is None else limits.daily - today
    room = min(limit for limit in (left, left_today) if limit is not None)
    if left is not None and left <= 0:
        return replace(allowed, refused="own_share_done", remaining=0)
    if room <= 0:
        # On the wall's clock.
        return replace(allowed, refused="day_done", remaining=0, until=limits.midnight + timedelta(days=1))
    return replace(allowed, remaining=room)
