"""The usual submit as one function of the database, made of the statements that `submit.py` runs one by one.

The usual one is the first answer to the sheet in hand, in the place that is held, with a sheet ahead, while nothing is
refused and no limit is kept. The function takes the same locks in the same order and decides under them. Of anything
else it changes nothing and says so; `submit.py` then goes its own way. A migration creates it: when a statement here or
in the modules below changes, `tests/annotation/queue/test_usual_submit.py` asks for a new migration.
"""

# ruff: noqa: S608  (only constants are put into the statements)

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields
from datetime import datetime
from typing import Any

from django.db import OperationalError, connection, transaction
from psycopg.types.json import Jsonb

from annotation.models import Annotation, Assignment, Campaign, Tally
from annotation.queries import gate
from annotation.queries.progress import Progress
from annotation.queries.resolutions import settles_disputes
from annotation.services.answers.annotation_writing import ADVANCE, FINISH, KEEP, OTHERS, RATE
from annotation.services.answers.locked_state import BEFORE_AND_GATE, LockedState
from annotation.services.derivation import outbox
from annotation.services.queue.claim import ACTIVE, CLAIM, ENOUGH, GIVE, MOVE, TAKE, UNUSUAL, USUAL_ENDS, USUAL_NEXT
from annotation.services.queue.locks import PLANS, SEAT_COLUMNS, SEAT_SOURCES, SEEN_EVERY
from annotation.services.queue.slots import COUNTERS, FITTING, OLD, TALLY_AND_EVENT
from annotation.services.transactions import is_retryable
from annotation.sheets.sheet import FieldCode
from jobs.queries.statements import fetch

NAME = "annotation_submit_usual"
MARK = re.compile(r"%\((\w+)\)s|%%")

# What the function takes, with its types; of the same names in the statements.
TAKES = {
    "participation": "bigint", "assignment_id": "bigint", "rater_id": "bigint", "cohort_id": "bigint", "unit": "bigint",
    "item": "bigint", "slot": "bigint", "client_key": "text", "answers": "jsonb", "sheet_version_id": "bigint",
    "rule_version": "text", "language": "text", "shown_at": "timestamptz", "submitted_at": "timestamptz",
    "since": "timestamptz", "measured": "float8", "confirmed": "jsonb", "trace": "jsonb", "fields": "text[]",
    "codes": "text[]", "values": "float8[]", "event_at": "timestamptz", "actor": "bigint", "verb": "text",
    "scope": "text", "target": "text",
}  # fmt: skip
GIVES = {
    "annotation": "bigint", "version": "integer", "seconds": "float8", "instructions": "bigint", "given": "bigint",
    "asked": "bigint", "due": "boolean",
}  # fmt: skip
TAKEN = {name: f"p_{name}" for name in TAKES}
STATE = tuple(one.name for one in fields(LockedState))
LOCKED_NAMES = (*STATE, *gate.NAMES)
# PostgreSQL does not work out what nobody reads of a subquery. `excluded` says the same as the gate's `barred`; a key
# that was used before is refused when the answer is written.
UNREAD = {"live_counted", "waits", "excluded", "same_key", "cohort_zone", "own_zone", "to_older"}


def _seconds(span: Any) -> str:
    return f"make_interval(secs => {int(span.total_seconds())})"


def _filled(sql: str, **values: str) -> str:
    """A statement with expressions of the function in place of its marks."""
    named = TAKEN | values
    return MARK.sub(lambda mark: f"({named[mark[1]]})" if mark[1] else "%", sql).strip()


LOCKED = _filled(
    BEFORE_AND_GATE, assignment="p_assignment_id", key="p_client_key", until="p_submitted_at", settles="false",
    cohort="v_seat.cohort_id", rater="v_seat.rater_id",
)  # fmt: skip
ANSWER = {
    "version": "v_before.version + 1", "instruction_version_id": "v_before.instructions",
    "active_seconds": "v_before.active_seconds", "counted": "true", "uncounted_because": "''", "at_submit": "''",
    "campaign": "v_seat.campaign_id", "lease": "v_lease",
}  # fmt: skip
SHIFT = {"reserved": "-1", "submitted": "1", "by": "0"}
CLAIMING = {
    "campaign": "v_seat.campaign_id", "cohort": "v_seat.cohort_id", "rater": "v_seat.rater_id",
    "staffing": "v_before.staffing", "cursor": "v_seat.cursor", "urgent_cursor": "v_seat.urgent_cursor",
    "in_hand": "false", "packed": "false", "lease_until": "v_lease", "at": "p_submitted_at",
    "shown_at": "NULL::timestamptz", "active_since": f"p_submitted_at - {_seconds(ACTIVE)}",
}  # fmt: skip
TALLIED = _filled(
    TALLY_AND_EVENT, wanted="coalesce(v_more, 0)", submitted="1", skipped="0", cohort="v_seat.cohort_id",
    shard=f"p_assignment_id % {Tally.SHARDS}",
    event_data="jsonb_build_object('counted', true, 'version', v_before.version + 1)",
)  # fmt: skip
BODY = f"""
DECLARE
  v_seat record; v_before record; fitted record; v_next record; v_ends record; v_lease timestamptz; v_more integer;
  v_picked bigint; v_claimed bigint;
BEGIN
  SELECT {SEAT_COLUMNS} INTO v_seat {SEAT_SOURCES.format("id = p_participation")};
  SELECT {", ".join(name for name in LOCKED_NAMES if name not in UNREAD)} INTO v_before
    FROM ({LOCKED}) AS b({", ".join(LOCKED_NAMES)});
  IF (v_before.state = 'reserved' AND v_before.in_hand AND v_before.reserved = 2 AND NOT v_before.has_draft
    AND v_before.live_annotation IS NULL
    AND {gate.LETS_IN.format(row="v_before")}) IS NOT TRUE THEN RETURN; END IF;
  IF v_seat.last_seen_at < p_submitted_at - {_seconds(SEEN_EVERY)} THEN
    UPDATE annotation_participation SET last_seen_at = p_submitted_at WHERE id = v_seat.id;
  END IF;
  v_lease := p_submitted_at + make_interval(mins => v_before.lease_minutes);
  {FITTING.format(old=f"({_filled(OLD, **SHIFT)}) old")} INTO fitted;
  UPDATE annotation_slot s SET {_filled(COUNTERS, **SHIFT)}
    WHERE s.id = fitted.id RETURNING s.wanted - fitted.wanted INTO v_more;
  {_filled(KEEP, **ANSWER)} INTO o_annotation;
  {_filled(RATE.format(kept="o_annotation"), **ANSWER)};
  {_filled(FINISH, **ANSWER)};
  {_filled(ADVANCE, **ANSWER)} WHERE {_filled(OTHERS)};
  IF ({_filled(UNUSUAL, **CLAIMING)}) THEN
    {_filled(CLAIM, **CLAIMING)} INTO v_picked, v_claimed;
  ELSIF ({_filled(ENOUGH, **CLAIMING)}) THEN
    {_filled(USUAL_NEXT, **CLAIMING)} INTO v_next;
    {_filled(USUAL_ENDS, **CLAIMING)} INTO v_ends;
    IF v_next.id IS NOT NULL THEN
      {TAKE} WHERE s.id = v_next.id;
      {_filled(GIVE.format(picked="v_next", source=""), **CLAIMING)} INTO v_claimed;
      v_picked := 1;
    END IF;
    {_filled(MOVE.format(ends="v_ends", source=""), **CLAIMING)};
  END IF;
  IF v_picked > 0 AND v_claimed IS NULL THEN RAISE serialization_failure; END IF;
  o_due := false;
  IF v_before.matters THEN
    {_filled(outbox.INSERT, items="ARRAY[p_item]")};
    o_due := FOUND;
  END IF;
  {TALLIED} INTO o_given, o_asked;
  o_version := v_before.version + 1;
  o_seconds := v_before.active_seconds;
  o_instructions := v_before.instructions;
END
"""
SIGNATURE = ", ".join(
    [
        *(f"p_{name} {kind}" for name, kind in TAKES.items()),
        *(f"OUT o_{name} {kind}" for name, kind in GIVES.items()),
    ]
)
SETTINGS = " ".join(f"SET {name} = {value}" for name, value in PLANS.items())
CREATE = f"CREATE FUNCTION {NAME}({SIGNATURE}) LANGUAGE plpgsql {SETTINGS} AS $body${BODY}$body$"
CALL = f"SELECT * FROM {NAME}({', '.join(f'%({name})s::{kind}' for name, kind in TAKES.items())})"


def may_be_usual(assignment: Assignment) -> bool:
    """Whether it looks like a usual one, by what was read before the lock: a guess that saves a call, no decision."""
    campaign, part = assignment.campaign, assignment.participation
    if part is None or assignment.slot_id is None or not assignment.in_hand or settles_disputes(campaign.stage):
        return False
    if assignment.state != Assignment.State.RESERVED or getattr(assignment, "draft", None) is not None:
        return False
    limits = (campaign.opens_on, campaign.closes_on, part.cohort.most_per_person, part.cohort.most_per_day)
    return campaign.state == Campaign.State.OPEN and all(limit is None for limit in limits)


def submit_usual(
    annotation: Annotation,
    assignment: Assignment,
    codes: Sequence[FieldCode],
    since: datetime,
    event: Mapping[str, Any],
) -> Progress | None:
    """Keep a new annotation as it is, but for its number, instructions and seconds, which are read under the lock.

    Returns how far the cohort is. None: it is not a usual one, or a deadlock ended it, and nothing was changed.
    """
    own = {name: getattr(annotation, name) for name in TAKES if hasattr(annotation, name)}
    params = {
        **own,
        "answers": Jsonb(annotation.answers),
        "confirmed": Jsonb(annotation.confirmed),
        "trace": Jsonb(annotation.trace),
        "participation": assignment.participation_id,
        "unit": assignment.unit_id,
        "item": assignment.unit.item_id,
        "slot": assignment.slot_id,
        "since": since,
        "measured": annotation.active_seconds,
        "fields": [code.field for code in codes],
        "codes": [code.code for code in codes],
        "values": [None if code.value is None else float(code.value) for code in codes],
        **event,
    }
    try:
        with transaction.atomic() if connection.in_atomic_block else nullcontext():
            [(pk, version, seconds, instructions, submitted, wanted, due)] = fetch(CALL, params)
    except OperationalError as error:
        if not is_retryable(error):
            raise
        return None
    if pk is None:
        return None
    annotation.pk, annotation.version, annotation.active_seconds = pk, version, seconds
    annotation.instruction_version_id = instructions
    annotation._state.adding, annotation._state.db = False, "default"
    if due:
        outbox.schedule_worker()
    return Progress(int(submitted), int(wanted))
