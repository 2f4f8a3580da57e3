"""The files of a release in the order in which they are written. Later ones may name earlier ones."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from releases.contents.tables import RATINGS, ReleaseTable
from releases.formats.archive import FileSummary
from releases.models import Release, ReleaseFile

Progress = Callable[[int], None]
Content = tuple[Iterator[bytes], FileSummary]
MEDIA_TYPES = {
    "csv": "text/csv",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}
MANIFEST, CHECKSUMS = "MANIFEST.json", "SHA256SUMS"


@dataclass(frozen=True)
class PlannedFile:
    """`open` begins to make the content; it tells `Progress` of rows as it reads them. `has_rows`: it is a table."""

    path: str
    media_type: str
    open: Callable[[Progress], Content]
    has_rows: bool = False
    expected: int = 0
    """How many rows will be read for it."""


def planned_files(release: Release, tables: list[ReleaseTable]) -> list[PlannedFile]:
    """Rows in every format, then what describes them, then the checksums of all."""
    files = [_rows_file(release, table, form) for table in tables for form in release.chosen.formats]
    books = [table for table in tables if table.table.key == RATINGS]
    files += [_text_file(f"codebook/{table.stage.key}.json", table, _codebook) for table in books]
    return [*files, _text_file(MANIFEST, release, _manifest), _text_file(CHECKSUMS, release, _checksums, "text/plain")]


def table_path(table: ReleaseTable, form: str) -> str:
    if form == "parquet":
        return f"data/{table.name}/train-00000-of-00001.parquet"
    return f"{form}/{table.name}.{form}"


def _rows_file(release: Release, table: ReleaseTable, form: str) -> PlannedFile:
    def begin(progress: Progress) -> Content:
        archive_file = table.archive_file(progress)
        return archive_file.lines(form), archive_file.written

    rows = release.facts.get("rows", {}).get(table.name, 0)
    return PlannedFile(table_path(table, form), MEDIA_TYPES[form], begin, True, rows)


def _text_file(path: str, source: Any, write: Callable[[Any], bytes], media_type: str = "") -> PlannedFile:
    def begin(_progress: Progress) -> Content:
        return iter([write(source)]), FileSummary()

    return PlannedFile(path, media_type or MEDIA_TYPES["json"], begin)


def to_json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


def _codebook(ratings: ReleaseTable) -> bytes:
    """As the codebook of an export, with the files of each table."""
    book = json.loads(ratings.release.facts["codebooks"][ratings.stage.key])
    written = {file.path: file for file in ratings.release.files.all()}
    files: dict[str, list[dict[str, Any]]] = {}
    for table in ratings.tables:
        of_table = ReleaseTable(ratings.release, ratings.stage, ratings.campaigns, table, ratings.tables)
        paths = [table_path(of_table, form) for form in ratings.release.chosen.formats]
        files[table.key] = [_described(written[path]) for path in paths]
    further = {key: {**meaning, "files": files[key]} for key, meaning in book["further"].items()}
    return to_json({**book, "files": files[RATINGS], "further": further})


def _described(file: ReleaseFile) -> dict[str, Any]:
    return {"path": file.path, "sha256": file.sha256, "bytes": file.bytes, "rows": file.rows}


def _manifest(release: Release) -> bytes:
    benchmark = release.benchmark
    return to_json(
        {
            "made_by": f"Emic {settings.VERSION}",
            "benchmark": {"name": benchmark.name, "slug": benchmark.slug, "licence": benchmark.licence},
            "version": release.version,
            "created_on": f"{release.created_at:%Y-%m-%d}",
            "previous": release.parent.version if release.parent else None,
            "notes": release.notes,
            "watermark": release.watermark,
            "selection": release.chosen.to_json(),
            "rows": dict(sorted(release.facts["rows"].items())),
            "files": [
                {**_described(file), "media_type": file.media_type} for file in release.files.order_by("path")
            ],
        }
    )  # fmt: skip


def _checksums(release: Release) -> bytes:
    """As `sha256sum -c` reads it."""
    return "".join(f"{file.sha256}  {file.path}\n" for file in release.files.order_by("path")).encode()
