"""What changed between two releases, by the rows that were frozen in each."""

# ruff: noqa: S608  (only constants and queries of row kinds are put into the statements)

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from releases.models import Release

_COUNTS = """
    count(*) FILTER (WHERE o.digest IS NULL) AS added, count(*) FILTER (WHERE n.digest IS NULL) AS removed,
    count(*) FILTER (WHERE n.state <> o.state) AS restated,
    count(*) FILTER (WHERE n.state = o.state AND n.digest <> o.digest) AS changed,
    count(n.digest) AS now, count(o.digest) AS before,
    count(*) FILTER (WHERE n.digest <> o.digest AND n.content IS DISTINCT FROM o.content) AS content
"""
_SQL = f"""
  SELECT coalesce(n."table", o."table"), {_COUNTS}
  FROM (SELECT * FROM releases_releaserow WHERE release_id = %s AND NOT starts_with("table", 'site/')) n
  FULL JOIN (SELECT * FROM releases_releaserow WHERE release_id = %s AND NOT starts_with("table", 'site/')) o
    ON o."table" = n."table" AND o.number = n.number AND o.part = n.part
  GROUP BY 1 ORDER BY 1
"""
_CURRENT = f"""
  SELECT {_COUNTS} FROM ({{query}}) n
  FULL JOIN (SELECT * FROM releases_releaserow WHERE release_id = %s AND "table" = %s) o
    ON o.number = n.number AND o.part = n.part
"""
_REMOVED = """
  SELECT "table", count(*) FROM releases_releaserow
  WHERE release_id = %s AND NOT starts_with("table", 'site/') AND NOT "table" = ANY(%s) GROUP BY 1
"""
_STATES = """
  SELECT n."table", o.state, n.state, count(*)
  FROM releases_releaserow n
  JOIN releases_releaserow o ON o."table" = n."table" AND o.number = n.number AND o.part = n.part
  WHERE n.release_id = %s AND o.release_id = %s AND n.state <> o.state
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""


@dataclass(frozen=True)
class TableDifference:
    """Counts of rows: `restated` have another state, such as counted; `changed` say something else in the same state.
    `content`: items whose own content is another, such as text, context or picture; licences are metadata."""

    table: str
    added: int
    removed: int
    restated: int
    changed: int
    now: int
    before: int
    content: int = 0


def stored_differences(release: Release) -> list[TableDifference]:
    """As they were when the release was frozen."""
    return [TableDifference(**difference) for difference in release.facts.get("differences", ())]


def differences(release: Release, earlier: Release) -> list[TableDifference]:
    """For each table of either release, from their frozen rows."""
    with connection.cursor() as cursor:
        cursor.execute(_SQL, [release.pk, earlier.pk])
        rows = cursor.fetchall()
    return [TableDifference(*row) for row in rows]


def current_differences(queries: Mapping[str, tuple[str, Sequence[Any]]], earlier: Release) -> list[TableDifference]:
    """As they would be if a release were frozen now. `queries`: by table, of all rows with their checksums."""
    tables = []
    with connection.cursor() as cursor:
        for table, (query, params) in sorted(queries.items()):
            cursor.execute(_CURRENT.format(query=query), [*params, earlier.pk, table])
            tables.append(TableDifference(table, *cursor.fetchone()))
        cursor.execute(_REMOVED, [earlier.pk, list(queries)])
        tables += [TableDifference(table, 0, rows, 0, 0, 0, rows) for table, rows in cursor.fetchall()]
    return tables


def state_changes(release: Release, earlier: Release) -> dict[str, list[tuple[str, str, int]]]:
    """By table: state before, state now, and how many rows changed from the one to the other."""
    changes: dict[str, list[tuple[str, str, int]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_STATES, [release.pk, earlier.pk])
        for table, before, now, rows in cursor.fetchall():
            changes.setdefault(table, []).append((before, now, rows))
    return changes
