"""Rows that have changed since a moment, also those that count no longer, and those that are gone.

A moment is a number of the database: the oldest transaction that was running then. An answer has the transaction that
changed it last in a column of its own; of other rows PostgreSQL keeps it (`xmin`), also of each row that they are read
from. So what is committed late is found by the next reading. A row may come twice, and none is missed.
"""

# ruff: noqa: S608  (only constants are put into the statements)

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.db import connection

from releases.rows.annotations import ANNOTATIONS, LEFT_OUT
from releases.rows.columns import Row, RowColumn
from releases.rows.decisions import OUTCOMES, REVIEWS
from releases.rows.filters import Condition, RowFilter
from releases.rows.items import ITEMS, MADE_OF_LEFT_OUT, WITH_CONSENT
from releases.rows.kinds import Finish, RowKind, RowScope
from releases.rows.ratings import RATINGS

GONE = "gone"
CONSENT_WITHDRAWN, NOT_DECIDED = "consent_withdrawn", "not_decided"
MOMENT = "SELECT (pg_snapshot_xmin(pg_current_snapshot()))::text"
HALF_CYCLE = 2**31
"""`xmin` counts within cycles of 2**32: what lies up to half of that behind a moment is later than the moment."""
MARGIN = 2**20
"""More transactions than have begun since the oldest that still runs."""
# All versions of an answer go with the one that was touched when its author withdrew.
_LEFT_OUT_SINCE = f"""{LEFT_OUT} AND EXISTS (
    SELECT FROM annotation_annotation z WHERE z.assignment_id = a.assignment_id AND z.xact >= %s::text::xid8)"""
_WITHOUT_CONSENT = f"NOT {WITH_CONSENT.replace('{item}', 'i')}"
_OUTCOMES_AND_GONE = """FROM (
    SELECT n.id, n.campaign_id, n.unit_id, n.rule_version_id, n.state, n.failed, n.waits_for, n.numbers, n.answers,
      n.at, n.xmin AS touched, NULL::xid8 AS ended
    FROM annotation_outcome n
    UNION ALL
    SELECT g.outcome, g.campaign_id, g.unit_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, g.xact
    FROM annotation_goneoutcome g WHERE NOT EXISTS (
      SELECT FROM annotation_outcome n WHERE n.campaign_id = g.campaign_id AND n.unit_id = g.unit_id)
  ) o"""


def _later(xmin: str) -> str:
    """Of a column of PostgreSQL: not before the moment."""
    return f"coalesce((({xmin}::text::bigint - %s::text::bigint) & {2 * HALF_CYCLE - 1}) < {HALF_CYCLE}, false)"


@dataclass(frozen=True)
class ChangeReading:
    """How a kind of rows is read by its changes.

    Attributes:
        kind: the kind with the rows that are gone, which the column "_gone" says.
        since: SQL of what has changed; each placeholder is the moment.
        names: columns of a row that is gone.
        reason: why it is gone.
        in_cycles: `since` reads `xmin`.
    """

    kind: RowKind
    since: str
    names: tuple[str, ...]
    reason: str = CONSENT_WITHDRAWN
    in_cycles: bool = True

    def condition(self, moment: str) -> Condition:
        """All rows, where the moment is so old that `xmin` may have begun anew since."""
        if self.in_cycles and int(current_moment()) - int(moment) >= HALF_CYCLE - MARGIN:
            return Condition("true", ())
        return Condition(f"({self.since})", (moment,) * self.since.count("%s"))

    @property
    def rows(self) -> RowKind:
        """With rows that are gone as tombstones."""

        def finish(scope: RowScope) -> Finish:
            finished = self.kind.finish(scope)

            def complete(row: Row) -> Row:
                if row.pop("_gone"):
                    return {name: row[name] for name in self.names} | {GONE: self.reason}
                return finished(row)

            return complete

        return replace(self.kind, finish=finish)


def current_moment() -> str:
    """What is committed now has older transactions than this, or is seen by whoever reads from now on."""
    with connection.cursor() as cursor:
        cursor.execute(MOMENT)
        return str(cursor.fetchone()[0])


def _with_gone(kind: RowKind, gone: str, source: str, filters: Mapping[str, RowFilter]) -> RowKind:
    """`gone`: SQL that says it of a row of this source."""
    return replace(
        kind, source=source, columns=(*kind.columns, RowColumn("_gone", gone, "bool", "")),
        filters={**kind.filters, **filters},
    )  # fmt: skip


def _answers(kind: RowKind, *names: str) -> ChangeReading:
    """Whether they count or are current does not matter."""
    every = {name: replace(kind.filters[name], default="all") for name in ("counted", "live")}
    source = kind.source.replace(f" AND NOT {LEFT_OUT}", "")
    since = f"""a.assignment_id IN (
      SELECT z.assignment_id FROM annotation_annotation z WHERE z.xact >= %s::text::xid8)
    AND (a.xact >= %s::text::xid8 OR {LEFT_OUT})"""  # so that the index of changes finds all that may be among them
    return ChangeReading(_with_gone(kind, LEFT_OUT, source, every), since, names, in_cycles=False)


def _items() -> ChangeReading:
    """With their pictures and what they are made of."""
    since = f"""{_later("i.xmin")}
    OR EXISTS (SELECT FROM benchmarks_itemimage y WHERE y.item_id = i.id AND {_later("y.xmin")})
    OR EXISTS (SELECT FROM annotation_itemsource y WHERE y.item_id = i.id AND {_later("y.xmin")})
    OR i.withdrawn_at IS NOT NULL AND {MADE_OF_LEFT_OUT.replace("{item}", "i").replace(LEFT_OUT, _LEFT_OUT_SINCE)}"""
    source = ITEMS.source.replace(f" AND {WITH_CONSENT.replace('{item}', 'i')}", "")
    return ChangeReading(_with_gone(ITEMS, _WITHOUT_CONSENT, source, {}), since, ("id", "stage"))


def _outcomes() -> ChangeReading:
    """One that was taken away has neither state nor time: filters of these leave it in."""
    gone = "o.ended IS NOT NULL"
    own = {
        name: replace(OUTCOMES.filters[name], sql=f"({gone} OR {OUTCOMES.filters[name].sql})")
        for name in ("state", "since", "until")
    }
    source = OUTCOMES.source.replace("FROM annotation_outcome o", _OUTCOMES_AND_GONE)
    since = f"{_later('o.touched')} OR o.ended >= %s::text::xid8"
    return ChangeReading(_with_gone(OUTCOMES, gone, source, own), since, ("campaign", "item", "target"), NOT_DECIDED)


def _reviews() -> ChangeReading:
    source = REVIEWS.source.replace(f" AND NOT {LEFT_OUT}", "")
    since = f"{_later('d.touched')} OR {_later('d.other_touched')} OR {_LEFT_OUT_SINCE}"
    return ChangeReading(_with_gone(REVIEWS, LEFT_OUT, source, {}), since, ("annotation", "version", "round"))


CHANGES: Mapping[str, ChangeReading] = {
    "items": _items(),
    "annotations": _answers(ANNOTATIONS, "annotation"),
    "ratings": _answers(RATINGS, "rating", "annotation"),
    "outcomes": _outcomes(),
    "reviews": _reviews(),
}
"""By the key of a kind."""
