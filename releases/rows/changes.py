"""Rows of answers that have changed since a moment, also those that count no longer, and those that are gone.

A moment is a number of the database: the oldest transaction that was running then. Each answer has the transaction that
changed it last, so that what is committed late is found by the next reading. A row may come twice, and none is missed.
"""

from collections.abc import Mapping
from dataclasses import replace

from django.db import connection

from releases.rows.annotations import ANNOTATIONS, LEFT_OUT
from releases.rows.columns import Row, RowColumn
from releases.rows.filters import Condition
from releases.rows.kinds import Finish, RowKind, RowScope
from releases.rows.ratings import RATINGS

GONE = "gone"
CONSENT_WITHDRAWN = "consent_withdrawn"
MOMENT = "SELECT (pg_snapshot_xmin(pg_current_snapshot()))::text"
_NAMES = ("rating", "annotation")
# All versions of an answer go with the one that was touched when its author withdrew.
_SINCE = f"""(a.xact >= %s::text::xid8 OR {LEFT_OUT} AND EXISTS (
    SELECT FROM annotation_annotation z WHERE z.assignment_id = a.assignment_id AND z.xact >= %s::text::xid8))"""


def current_moment() -> str:
    """What is committed now has older transactions than this, or is seen by whoever reads from now on."""
    with connection.cursor() as cursor:
        cursor.execute(MOMENT)
        return str(cursor.fetchone()[0])


def changed_since(moment: str) -> Condition:
    return Condition(_SINCE, (moment, moment))


def _with_gone(kind: RowKind) -> RowKind:
    """The kind with rows that are left out, as tombstones; whether they count or are current does not matter."""

    def finish(scope: RowScope) -> Finish:
        finished = kind.finish(scope)

        def complete(row: Row) -> Row:
            if row.pop("_gone"):
                return {name: row[name] for name in _NAMES if name in row} | {GONE: CONSENT_WITHDRAWN}
            return finished(row)

        return complete

    every = {name: replace(kind.filters[name], default="all") for name in ("counted", "live")}
    return replace(
        kind,
        source=kind.source.replace(f" AND NOT {LEFT_OUT}", ""),
        columns=(*kind.columns, RowColumn("_gone", LEFT_OUT, "bool", "")),
        filters={**kind.filters, **every},
        finish=finish,
    )


CHANGED: Mapping[str, RowKind] = {kind.key: _with_gone(kind) for kind in (ANNOTATIONS, RATINGS)}
"""By the key of a kind that can be read by its changes."""
