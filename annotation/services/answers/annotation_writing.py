"""How an answer is written down, with what every measure reads of it, and how it is taken back."""

# ruff: noqa: S608  (only constants are put into the statements)

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from annotation.models import Annotation, Assignment, Rating, Review
from annotation.services.queue.slots import SHIFTED, shift_params
from annotation.sheets.sheet import FieldCode
from jobs.queries.statements import fetch

KEEP = """INSERT INTO annotation_annotation (assignment_id, rater_id, version, client_key, answers, sheet_version_id,
    instruction_version_id, rule_version, cohort_id, language, shown_at, submitted_at, active_seconds, confirmed,
    trace, live, counted, uncounted_because, at_submit)
  VALUES (%(assignment_id)s, %(rater_id)s, %(version)s, %(client_key)s, %(answers)s, %(sheet_version_id)s,
    %(instruction_version_id)s, %(rule_version)s, %(cohort_id)s, %(language)s, %(shown_at)s, %(submitted_at)s,
    %(active_seconds)s, %(confirmed)s, %(trace)s, true, %(counted)s, %(uncounted_because)s,
    %(at_submit)s)
  RETURNING id"""
# Of an annotation that `kept` names.
RATE = """INSERT INTO annotation_rating
    (annotation_id, campaign_id, cohort_id, unit_id, rater_id, field, code, value, live, counted)
  SELECT {kept}, %(campaign)s, %(cohort_id)s, %(unit)s, %(rater_id)s, c.field, c.code, c.value, true, %(counted)s
  FROM unnest(%(fields)s::text[], %(codes)s::text[], %(values)s::float8[]) AS c(field, code, value)"""
FINISH = """UPDATE annotation_assignment SET state = 'submitted', in_hand = false, lease_until = NULL,
    changed_at = %(submitted_at)s, skip_reason = '', skip_note = '' WHERE id = %(assignment_id)s"""
ADVANCE = """UPDATE annotation_assignment SET in_hand = true, lease_until = %(lease)s, shown_at = %(submitted_at)s,
    changed_at = %(submitted_at)s"""
OTHERS = "participation_id = %(participation)s AND state = 'reserved' AND NOT packed AND id <> %(assignment_id)s"

# The answer, one rating for each code, and the assignment's new state: all or nothing anyway, so in one round trip.
WRITTEN = f"""kept AS (
  {KEEP}
), ratings AS (
  {RATE.format(kept="(SELECT id FROM kept)")}
), done AS (
  {FINISH} RETURNING id
)"""
WRITE = f"WITH {WRITTEN} SELECT id FROM kept"

# The same for the usual answer: it uses the place that is held, and the one ahead comes into hand, as by HELD in
# next_work.py. It reads `done`, so that the answered one is no longer in hand when another one is.
WRITE_AND_ADVANCE = f"""
WITH {SHIFTED}, {WRITTEN}, held AS MATERIALIZED (
  SELECT id, in_hand FROM annotation_assignment WHERE {OTHERS}
), ahead AS (
  {ADVANCE}
  WHERE id IN (SELECT id FROM held) AND EXISTS (SELECT FROM done) AND NOT EXISTS (SELECT FROM held WHERE in_hand)
  RETURNING id
)
SELECT (SELECT id FROM kept), (SELECT more FROM shifted),
  ARRAY(SELECT held.in_hand OR held.id IN (SELECT id FROM ahead) FROM held)
"""


@dataclass(frozen=True)
class Destination:
    """What an answer's ratings are stored under."""

    campaign: int
    unit: int


@dataclass(frozen=True)
class Advance:
    """The place that an answer uses, and until when the one ahead is kept once it is in hand."""

    slot: int
    participation: int
    lease_until: datetime


def write(annotation: Annotation, codes: Sequence[FieldCode], destination: Destination) -> Annotation:
    """Write a new annotation with its ratings, and call its assignment submitted."""
    [(annotation.pk,)] = fetch(WRITE, _params(annotation, codes, destination))
    annotation._state.adding, annotation._state.db = False, "default"
    return annotation


def write_and_advance(
    annotation: Annotation, codes: Sequence[FieldCode], destination: Destination, advance: Advance
) -> tuple[int, frozenset[bool]]:
    """Write an answer that counts in the place that its author holds, and bring the one ahead into hand.

    Returns by how much `wanted` of the slot changed, and for each assignment that is held now whether it is in hand.
    """
    params = _params(annotation, codes, destination) | shift_params(advance.slot, reserved=-1, submitted=1)
    params |= {"participation": advance.participation, "lease": advance.lease_until}
    [(annotation.pk, more, held)] = fetch(WRITE_AND_ADVANCE, params)
    annotation._state.adding, annotation._state.db = False, "default"
    return int(more or 0), frozenset(held)


def _params(annotation: Annotation, codes: Sequence[FieldCode], destination: Destination) -> dict[str, Any]:
    return {
        **{field.attname: getattr(annotation, field.attname) for field in annotation._meta.concrete_fields},
        "answers": Jsonb(annotation.answers),
        "confirmed": Jsonb(annotation.confirmed),
        "trace": Jsonb(annotation.trace),
        "campaign": destination.campaign,
        "unit": destination.unit,
        "fields": [code.field for code in codes],
        "codes": [code.code for code in codes],
        "values": [None if code.value is None else float(code.value) for code in codes],
    }


def retract(annotation_id: int, reason: str) -> None:
    """An answer that is superseded or undone stays, and is neither live nor counted."""
    Annotation.objects.filter(pk=annotation_id).update(live=False, counted=False, uncounted_because=reason)
    Rating.objects.filter(annotation_id=annotation_id).update(live=False, counted=False)


def restore(earlier: Annotation, later: Annotation) -> None:
    """The superseded answer is live again, counted or not as the one that was taken back. Its place never changed."""
    flags = {"live": True, "counted": later.counted}
    because = later.uncounted_because
    Annotation.objects.filter(pk=earlier.pk).update(**flags, uncounted_because=because)
    Rating.objects.filter(annotation_id=earlier.pk).update(**flags)
    returned = Review.objects.filter(annotation=earlier, decision=Review.Decision.RETURN, undone_at=None).exists()
    state = Assignment.State.RETURNED if returned else Assignment.State.SUBMITTED
    Assignment.objects.filter(pk=earlier.assignment_id).update(state=state, changed_at=earlier.submitted_at)
