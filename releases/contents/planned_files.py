"""The files of a release in the order in which they are written. Later ones may name earlier ones."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings

from releases.contents import pictures
from releases.contents.pictures import CHOICES, picture_archive, picture_rows
from releases.contents.tables import RATINGS, ReleaseTable
from releases.descriptions.card import card
from releases.descriptions.citation import citation_file
from releases.descriptions.croissant import columns_of, croissant, described
from releases.exports.archive_files import ArchiveFile
from releases.exports.record_files import RecordFile, record_files
from releases.formats.archive import FileSummary
from releases.models import Release, ReleaseFile
from releases.queries.differences import stored_differences

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
    formats = release.chosen.formats
    files = [_rows_file(release, table, form) for table in tables for form in formats]
    files += [_record_file(release, table, record, form) for table, record in records_of(tables) for form in formats]
    files += [_pictures_file(release, tables, form) for form in formats]
    if CHOICES[release.chosen.pictures].files:
        files.append(_picture_archive(release, tables))
    files += [_text_file(name, text, str.encode, media) for name, text, media in _documents(release)]
    files.append(_text_file("CHANGES.md", release, _changes, "text/markdown"))
    files.append(_text_file("CITATION.cff", release, citation_file, "application/yaml"))
    files.append(_text_file("croissant.json", release, partial(_croissant, tables), "application/ld+json"))
    files.append(_text_file("README.md", release, card, "text/markdown"))
    books = [table for table in tables if table.table.key == RATINGS]
    files += [_text_file(f"codebook/{table.stage.key}.json", table, _codebook) for table in books]
    return [*files, _text_file(MANIFEST, release, _manifest), _text_file(CHECKSUMS, release, _checksums, "text/plain")]


def records_of(tables: list[ReleaseTable]) -> list[tuple[ReleaseTable, RecordFile]]:
    """The ratings that the records of the benchmark's paper are made of, with each kind of records."""
    ratings = [table for table in tables if table.table.key == RATINGS]
    return [(table, record) for table in ratings for record in record_files(table.recipe, table.stage.key)]


def table_path(name: str, form: str) -> str:
    if form == "parquet":
        return f"data/{name}/train-00000-of-00001.parquet"
    return f"{form}/{name}.{form}"


def _rows_file(release: Release, table: ReleaseTable, form: str) -> PlannedFile:
    def begin(progress: Progress) -> Content:
        archive_file = table.archive_file(progress)
        return archive_file.lines(form), archive_file.written

    rows = _count(release, [table])
    return PlannedFile(table_path(table.name, form), MEDIA_TYPES[form], begin, True, rows)


def _record_file(release: Release, table: ReleaseTable, record: RecordFile, form: str) -> PlannedFile:
    """Records of the paper, made of the frozen ratings."""

    def begin(progress: Progress) -> Content:
        rows = record.records(table.frozen_rows(progress))
        records = ArchiveFile(record.key, record.meaning, record.columns, rows)
        return records.lines(form), records.written

    path = table_path(f"{table.stage.key}/records-{record.key}", form)
    return PlannedFile(path, MEDIA_TYPES[form], begin, True, _count(release, [table]))


def _pictures_file(release: Release, tables: list[ReleaseTable], form: str) -> PlannedFile:
    def begin(progress: Progress) -> Content:
        rows = picture_rows(tables, CHOICES[release.chosen.pictures], progress)
        uses = ArchiveFile("pictures", pictures.MEANING, pictures.COLUMNS, rows)
        return uses.lines(form), uses.written

    items = [table for table in tables if table.table.key == "items"]
    return PlannedFile(table_path("pictures", form), MEDIA_TYPES[form], begin, True, _count(release, items))


def _picture_archive(release: Release, tables: list[ReleaseTable]) -> PlannedFile:
    def begin(progress: Progress) -> Content:
        rows = picture_rows(tables, CHOICES[release.chosen.pictures], progress)
        return picture_archive(rows), FileSummary()

    items = [table for table in tables if table.table.key == "items"]
    return PlannedFile(pictures.ARCHIVE, "application/zip", begin, False, _count(release, items))


def _count(release: Release, tables: list[ReleaseTable]) -> int:
    return sum(release.facts.get("rows", {}).get(table.name, 0) for table in tables)


def _documents(release: Release) -> list[tuple[str, str, str]]:
    """Path, content and media type of the documents of the paper, which were made when the rows were frozen."""
    documents = release.facts.get("documents", {})
    return [(f"documents/{key}.json", text, MEDIA_TYPES["json"]) for key, text in sorted(documents.items())]


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
    for table in (RATINGS, *book["further"]):
        paths = [table_path(f"{ratings.stage.key}/{table}", form) for form in ratings.release.chosen.formats]
        files[table] = [_described(written[path]) for path in paths]
    further = {key: {**meaning, "files": files[key]} for key, meaning in book["further"].items()}
    return to_json({**book, "files": files[RATINGS], "further": further})


def _changes(release: Release) -> bytes:
    """What changed since the release before, as its authors say and as the frozen rows say."""
    lines = [f"# Changes in {release.version}", ""]
    if release.notes:
        lines += [release.notes, ""]
    if release.parent is None:
        return "\n".join([*lines, "Nothing was published before this release.", ""]).encode()
    lines += [f"Rows by table, compared with {release.parent.version}:", ""]
    lines += ["| table | before | now | added | removed | other state | other content |", "|---" * 7 + "|"]
    for table in stored_differences(release):
        counts = (table.before, table.now, table.added, table.removed, table.restated, table.changed)
        lines.append(f"| {table.table} | {' | '.join(map(str, counts))} |")
    return "\n".join([*lines, ""]).encode()


def _croissant(tables: list[ReleaseTable], release: Release) -> bytes:
    """Record sets read one format: the one with types, where it is there."""
    form = next(form for form in ("parquet", "csv", "jsonl") if form in release.chosen.formats)
    named = [(table.name, columns_of(table)) for table in tables]
    named += [(f"{table.stage.key}/records-{record.key}", described(record.columns))
              for table, record in records_of(tables)]  # fmt: skip
    named.append(("pictures", described(pictures.COLUMNS)))
    return to_json(croissant(release, [(name, table_path(name, form), columns) for name, columns in named]))


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
