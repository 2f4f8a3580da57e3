"""Which answers enter the numbers, and why the others do not, decided from the rows that hold now.

The first reason that holds is stored: the consent was withdrawn, the rater is excluded, a reviewer rejected the answer,
then what held at the submit (`Annotation.at_submit`). Without a reason an answer counts if its slot has a free place,
else it is surplus. An answer that is not live keeps the reason for which it was replaced or taken back.
"""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import CampaignCohort
from annotation.models.answers import CONSENT_WITHDRAWN
from annotation.queries.consent_withdrawal import NO_CONSENT, withdrawn_sql
from annotation.services.derivation import outbox
from annotation.services.queue import slots
from annotation.services.queue.leases import Freed
from jobs.queries.statements import fetch

SURPLUS = "surplus"
WITHDRAWN = withdrawn_sql("an", "r.user_id", "b.team_id")

# The reason for which an answer does not count, or "". Aliases as in JOINS.
BAR = f"""CASE
  WHEN an.at_submit <> '{NO_CONSENT}' AND {WITHDRAWN} THEN '{CONSENT_WITHDRAWN}'
  WHEN EXISTS (SELECT FROM annotation_exclusion e
    WHERE e.benchmark_id = st.benchmark_id AND e.rater_id = an.rater_id AND e.lifted_at IS NULL) THEN 'excluded'
  WHEN EXISTS (SELECT FROM annotation_review w
    WHERE w.annotation_id = an.id AND w.decision = 'reject' AND w.undone_at IS NULL) THEN 'rejected'
  ELSE an.at_submit END"""
JOINS = """FROM annotation_annotation an
  JOIN annotation_assignment a ON a.id = an.assignment_id
  JOIN annotation_campaign c ON c.id = a.campaign_id
  JOIN benchmarks_stage st ON st.id = c.stage_id
  JOIN benchmarks_benchmark b ON b.id = st.benchmark_id
  JOIN people_rater r ON r.id = an.rater_id"""
READ = f"""
SELECT an.id, a.slot_id, p.cohort_id, an.counted, an.uncounted_because, {BAR}
{JOINS} LEFT JOIN annotation_participation p ON p.id = a.participation_id
WHERE an.id = ANY(%s) AND an.live ORDER BY an.id
"""
SLOTS = """
SELECT DISTINCT a.slot_id FROM annotation_annotation an JOIN annotation_assignment a ON a.id = an.assignment_id
WHERE an.id = ANY(%s) AND an.live AND a.slot_id IS NOT NULL"""
# Holds off a withdrawal of consent by these people, which locks their raters, or waits for it.
HOLD_RATERS = """SELECT r.id FROM people_rater r
WHERE r.id IN (SELECT rater_id FROM annotation_annotation WHERE id = ANY(%s)) ORDER BY r.id FOR KEY SHARE"""
WRITE = """
WITH changed AS (
  UPDATE annotation_annotation an SET counted = t.because = '', uncounted_because = t.because
  FROM unnest(%(ids)s::bigint[], %(because)s::text[]) AS t(id, because) WHERE an.id = t.id RETURNING an.id, an.counted
)
UPDATE annotation_rating f SET counted = changed.counted FROM changed WHERE f.annotation_id = changed.id
"""
COUNTED = "SELECT count(*) FROM annotation_annotation WHERE id = ANY(%s) AND counted"


@dataclass(frozen=True)
class CountChange:
    """`counted`: answers that count again. `uncounted`: answers that count no longer. `places`: places that opened."""

    counted: int = 0
    uncounted: int = 0
    places: int = 0


@dataclass(frozen=True)
class _Row:
    annotation: int
    slot: int | None
    cohort: int | None
    counted: bool
    because: str
    bar: str

    @property
    def new_reason(self) -> str:
        """The reason to store; "" if the answer counts. A free place turns surplus into counted afterwards."""
        if self.bar or self.counted or self.slot is None:
            return self.bar
        return SURPLUS

    @property
    def changes(self) -> bool:
        return self.counted != (not self.new_reason) or self.because != self.new_reason


def recompute_counted(annotation_ids: Sequence[int], freed: Sequence[Freed] = ()) -> CountChange:
    """Set `counted` and `uncounted_because` of these answers, and of their ratings, from the rows that hold now.

    Needs a transaction that holds the locks of the raters' participations. Places that become free go to the oldest
    surplus answers first. `freed`: places that were given back before; their tallies are written with the others, last.
    """
    ids = list(annotation_ids)
    fetch(HOLD_RATERS, [ids])
    slots.lock_slots(slots_of(ids))
    rows = [_Row(*row) for row in fetch(READ, [ids])]
    changed = [row for row in rows if row.changes]
    fetch(WRITE, {"ids": [row.annotation for row in changed], "because": [row.new_reason for row in changed]})
    changes = _places(rows, changed)
    _tally(changes, freed)
    outbox.mark_answers_due([row.annotation for row in changed])
    lost = sum(row.counted and bool(row.new_reason) for row in changed)
    gained = [row.annotation for row in rows if not row.counted]
    [(again,)] = fetch(COUNTED, [gained])
    return CountChange(again, lost, -sum(submitted for _wanted, submitted in changes.values()))


def slots_of(annotation_ids: Sequence[int]) -> list[int]:
    """The slots of these answers that have one; only of current answers."""
    return [slot for (slot,) in fetch(SLOTS, [list(annotation_ids)])]


def _places(rows: Sequence[_Row], changed: Sequence[_Row]) -> dict[int, tuple[int, int]]:
    """By campaign cohort the changes of `wanted` and `submitted`. Cohorts of answers without a place are in it too:
    pages see by their tallies that something changed."""
    changes = dict.fromkeys(_cohorts_of([row.annotation for row in changed if row.slot is None]), (0, 0))
    lost = _by_cohort([row for row in changed if row.counted and row.new_reason])
    waiting = _by_cohort([row for row in rows if row.new_reason == SURPLUS])
    for cohort in sorted(lost.keys() | waiting.keys()):
        wanted, submitted = slots.uncount(lost.get(cohort, ()))
        changes[cohort] = wanted, submitted + slots.promote(waiting.get(cohort, ()))
    return changes


def _by_cohort(rows: Sequence[_Row]) -> dict[int, list[int]]:
    slots_by_cohort: dict[int, list[int]] = {}
    for row in rows:
        if row.slot is not None and row.cohort is not None:
            slots_by_cohort.setdefault(row.cohort, []).append(row.slot)
    return slots_by_cohort


def _cohorts_of(annotation_ids: Sequence[int]) -> list[int]:
    pairs = fetch(
        """SELECT DISTINCT a.campaign_id, an.cohort_id FROM annotation_annotation an
           JOIN annotation_assignment a ON a.id = an.assignment_id WHERE an.id = ANY(%s)""",
        [list(annotation_ids)],
    )
    by_pair = {
        (campaign, cohort): pk
        for campaign, cohort, pk in CampaignCohort.objects.filter(
            campaign__in={campaign for campaign, _cohort in pairs}
        ).values_list("campaign", "cohort", "pk")
    }
    return [by_pair[pair] for pair in pairs if pair in by_pair]


def _tally(changes: Mapping[int, tuple[int, int]], freed: Sequence[Freed]) -> None:
    """In the order of cohorts and shards, for these rows are shared by everybody who works."""
    rows = [(cohort, 0, wanted, submitted) for cohort, (wanted, submitted) in changes.items()]
    rows += [
        (counts.cohort, counts.shard, counts.wanted, counts.submitted)
        for counts in freed
        if counts.wanted or counts.submitted
    ]
    for cohort, shard, wanted, submitted in sorted(rows):
        slots.update_tally(cohort, shard, wanted=wanted, submitted=submitted)
