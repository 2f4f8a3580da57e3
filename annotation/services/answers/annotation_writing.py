"""How an answer is written down, with what every measure reads of it, and how it is taken back."""

from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Jsonb

from annotation.models import Annotation, Assignment, Rating, Review
from annotation.queries.sql import fetch
from annotation.sheets.sheet import FieldCode

# The answer, one rating for each code, and the assignment's new state: all or nothing anyway, so in one round trip.
WRITE = """
WITH kept AS (
  INSERT INTO annotation_annotation (assignment_id, rater_id, version, client_key, answers, sheet_version_id,
    instruction_version_id, rule_version, cohort_id, language, shown_at, submitted_at, active_seconds, confirmed,
    trace, live, counted, uncounted_because, at_submit)
  VALUES (%(assignment_id)s, %(rater_id)s, %(version)s, %(client_key)s, %(answers)s, %(sheet_version_id)s,
    %(instruction_version_id)s, %(rule_version)s, %(cohort_id)s, %(language)s, %(shown_at)s, %(submitted_at)s,
    %(active_seconds)s, %(confirmed)s, %(trace)s, true, %(counted)s, %(uncounted_because)s,
    %(at_submit)s)
  RETURNING id
), ratings AS (
  INSERT INTO annotation_rating
    (annotation_id, campaign_id, cohort_id, unit_id, rater_id, field, code, value, live, counted)
  SELECT kept.id, %(campaign)s, %(cohort_id)s, %(unit)s, %(rater_id)s, c.field, c.code, c.value, true, %(counted)s
  FROM kept, unnest(%(fields)s::text[], %(codes)s::text[], %(values)s::float8[]) AS c(field, code, value)
), done AS (
  UPDATE annotation_assignment SET state = 'submitted', in_hand = false, lease_until = NULL,
    changed_at = %(submitted_at)s, skip_reason = '', skip_note = '' WHERE id = %(assignment_id)s
)
SELECT id FROM kept
"""


def write(annotation: Annotation, codes: Sequence[FieldCode], campaign_id: int, unit_id: int) -> Annotation:
    """Write a new annotation with its ratings, and call its assignment submitted."""
    params: dict[str, Any] = {
        **{field.attname: getattr(annotation, field.attname) for field in annotation._meta.concrete_fields},
        "answers": Jsonb(annotation.answers),
        "confirmed": Jsonb(annotation.confirmed),
        "trace": Jsonb(annotation.trace),
        "campaign": campaign_id,
        "unit": unit_id,
        "fields": [code.field for code in codes],
        "codes": [code.code for code in codes],
        "values": [None if code.value is None else float(code.value) for code in codes],
    }
    [(annotation.pk,)] = fetch(WRITE, params)
    annotation._state.adding, annotation._state.db = False, "default"
    return annotation


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
