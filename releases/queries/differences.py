"""What changed between two releases, by the rows that were frozen in each."""

from dataclasses import dataclass

from django.db import connection

from releases.models import Release

_SQL = """
  SELECT coalesce(n."table", o."table"),
    count(*) FILTER (WHERE o.id IS NULL), count(*) FILTER (WHERE n.id IS NULL),
    count(*) FILTER (WHERE n.state <> o.state),
    count(*) FILTER (WHERE n.state = o.state AND n.digest <> o.digest),
    count(n.id), count(o.id)
  FROM (SELECT * FROM releases_releaserow WHERE release_id = %s AND NOT starts_with("table", 'site/')) n
  FULL JOIN (SELECT * FROM releases_releaserow WHERE release_id = %s AND NOT starts_with("table", 'site/')) o
    ON o."table" = n."table" AND o.number = n.number AND o.part = n.part
  GROUP BY 1 ORDER BY 1
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
    """Counts of rows: `restated` have another state, such as counted; `changed` another content and the same state."""

    table: str
    added: int
    removed: int
    restated: int
    changed: int
    now: int
    before: int


def stored_differences(release: Release) -> list[TableDifference]:
    """As they were when the release was frozen."""
    return [TableDifference(**difference) for difference in release.facts.get("differences", ())]


def differences(release: Release, earlier: Release) -> list[TableDifference]:
    """For each table of either release, from their frozen rows."""
    with connection.cursor() as cursor:
        cursor.execute(_SQL, [release.pk, earlier.pk])
        rows = cursor.fetchall()
    return [TableDifference(*row) for row in rows]


def state_changes(release: Release, earlier: Release) -> dict[str, list[tuple[str, str, int]]]:
    """By table: state before, state now, and how many rows changed from the one to the other."""
    changes: dict[str, list[tuple[str, str, int]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_STATES, [release.pk, earlier.pk])
        for table, before, now, rows in cursor.fetchall():
            changes.setdefault(table, []).append((before, now, rows))
    return changes
