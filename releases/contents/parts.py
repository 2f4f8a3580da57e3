"""The parts of a table of a release: its rows by split, and of each split so many as one file holds."""

from dataclasses import asdict, dataclass
from typing import Any

from django.db import connection

from releases.models import Release, ReleaseSelection

ROWS = 500_000
"""Rows of one Parquet file."""
BYTES = 400_000_000
"""Bytes of the pictures inside one Parquet file."""
_PICTURES = """LEFT JOIN LATERAL (
      SELECT 1000 + coalesce(sum(g.bytes), 0) AS weight FROM benchmarks_itemimage p
      JOIN benchmarks_image g ON g.id = p.image_id WHERE p.item_id = r.number
    ) w ON true"""
_SQL = """
  SELECT split, min(place), max(place), count(*) FROM (
    SELECT r.split, r.place,
      div(sum({weight}) OVER (PARTITION BY r.split ORDER BY r.place) - {weight}, %s) AS shard
    FROM releases_releaserow r {join} WHERE r.release_id = %s AND r."table" = %s
  ) x GROUP BY split, shard ORDER BY split, min(place)
"""


@dataclass(frozen=True)
class TablePart:
    """Some rows of a table, of one split, by their places. `number` of `count` parts of the split."""

    split: str
    first: int
    last: int
    rows: int
    number: int = 0
    count: int = 1

    @property
    def name(self) -> str:
        """As Hugging Face reads it."""
        return f"{self.split}-{self.number:05}-of-{self.count:05}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def parts_of(release: Release, table: str, *, embedded: bool) -> list[TablePart]:
    """Every part of a table, from its frozen rows. `embedded`: the rows hold pictures."""
    sql = _SQL.format(weight="w.weight" if embedded else "1", join=_PICTURES if embedded else "")
    with connection.cursor() as cursor:
        cursor.execute(sql, [BYTES if embedded else ROWS, release.pk, table])
        rows = cursor.fetchall()
    parts: list[TablePart] = []
    for split in release.chosen.split_names:
        own = [row for row in rows if row[0] == split]
        parts += [
            TablePart(split, first, last, rows_in, number, len(own))
            for number, (_split, first, last, rows_in) in enumerate(own)
        ]
    return parts


def shipped_parts(chosen: ReleaseSelection, table: str, parts: list[TablePart]) -> list[TablePart]:
    """Those that are in the release. Of a withheld split, only its items are. A table without rows has one part."""
    is_items = table.endswith("/items")
    shipped = [part for part in parts if is_items or part.split != chosen.withheld]
    return shipped or [TablePart(chosen.split_names[0], 1, 0, 0)]
