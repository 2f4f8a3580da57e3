"""The files of a release in the order in which they are written. Later ones may name earlier ones."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings

from releases.contents import eligibility, gold, pictures, soft_labels, vectors
from releases.contents.coco import CocoFile, coco_files
from releases.contents.parts import TablePart
from releases.contents.pictures import (
    CHOICES,
    PictureFiles,
    embedded_rows,
    left_out_rows,
    picture_archive,
    picture_rows,
)
from releases.contents.protocol_files import protocol_documents
from releases.contents.site_rows import PICTURE_FILES, VECTOR_FILE, SiteTable, site_tables
from releases.contents.tables import IMAGE, IMAGES, ITEMS, RATINGS, ReleaseTable
from releases.descriptions.card import card
from releases.descriptions.changes import changes
from releases.descriptions.citation import citation_file
from releases.descriptions.croissant import RecordSet, columns_of, croissant, described
from releases.descriptions.licences import data_licence_file, licence_file_name, picture_licence_file
from releases.descriptions.sections import data_statement, datasheet
from releases.exports.archive_files import ArchiveFile
from releases.exports.record_files import RecordFile, record_files
from releases.formats.archive import FileSummary, json_lines
from releases.models import Release, ReleaseFile, WithheldFile
from releases.models.selections import WHOLE
from releases.rows.annotations import ANNOTATIONS
from releases.rows.columns import Row, RowColumn

Progress = Callable[[int], None]
Content = tuple[Iterator[bytes], FileSummary]
MEDIA_TYPES = {
    "csv": "text/csv",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}
MANIFEST, CHECKSUMS = "MANIFEST.json", "SHA256SUMS"
WITHHELD, WITHHELD_GOLD = "withheld/answers.jsonl", "withheld/gold.csv"


@dataclass(frozen=True)
class PlannedFile:
    """`open` begins to make the content; it tells `Progress` of rows as it reads them. `has_rows`: it is a table."""

    path: str
    media_type: str
    open: Callable[[Progress], Content]
    has_rows: bool = False
    expected: int = 0
    """How many rows will be read for it."""
    withheld: bool = False
    """It stays on the server."""


def planned_files(release: Release, tables: list[ReleaseTable]) -> list[PlannedFile]:
    """Rows in every format, then what describes them, then the checksums of all."""
    formats = release.chosen.formats
    files = [file for table in tables for form in formats for file in _rows_files(release, table, form)]
    files += [_record_file(release, table, record, form) for table, record in records_of(tables) for form in formats]
    files += [_soft_labels(release, table, form) for table in tables if table.table.key == RATINGS for form in formats]
    files += [*_gold_files(release, tables), *_eligibility_file(release)]
    files += _picture_files(release, tables)
    if release.chosen.withheld:
        files.append(_withheld_file(release, tables))
    files += _coco_files(release, tables)
    files += [_site_file(table) for table in site_tables(release)]
    files.append(_picture_files_file(release, tables))
    if release.chosen.vectors:
        files.append(_vector_file(release))
    documents = [*_documents(release), *protocol_documents(release)]
    files += [_text_file(name, text, str.encode, media) for name, text, media in documents]
    files += _descriptions(release, tables)
    books = [(table, tables) for table in tables if table.table.key == RATINGS]
    files += [_text_file(f"codebook/{book[0].stage.key}.json", book, _codebook) for book in books]
    return [*files, _text_file(MANIFEST, release, _manifest), _text_file(CHECKSUMS, release, _checksums, "text/plain")]


def _descriptions(release: Release, tables: list[ReleaseTable]) -> Iterator[PlannedFile]:
    """What people and programs read about the release."""
    known, markdown = release.facts["known"], "text/markdown"
    yield _text_file("LICENSE", release.facts["described"]["written"]["licence"], data_licence_file, "text/plain")
    licences = {name: n for name, n in known["licences"].items() if name.strip()}
    for name, n in licences.items() if release.chosen.pictures != "none" else ():
        uses = known.get("licence_uses", {}).get(name, n)
        written = partial(picture_licence_file, pictures=n, uses=uses)
        yield _text_file(licence_file_name(name), name, written, "text/plain")
    yield _text_file("CHANGES.md", release, changes, markdown)
    yield _text_file("CITATION.cff", release, citation_file, "application/yaml")
    yield _text_file("DATA_STATEMENT.md", release, data_statement, markdown)
    yield _text_file("DATASHEET.md", release, datasheet, markdown)
    yield _text_file("croissant.json", release, partial(_croissant, tables), "application/ld+json")
    yield _text_file("README.md", release, card, markdown)


def records_of(tables: list[ReleaseTable]) -> list[tuple[ReleaseTable, RecordFile]]:
    """The ratings that the records of the benchmark's paper are made of, with each kind of records."""
    ratings = [table for table in tables if table.table.key == RATINGS]
    return [(table, record) for table in ratings for record in record_files(table.recipe, table.stage.key)]


def table_path(name: str, form: str, part: str = f"{WHOLE}-00000-of-00001") -> str:
    """Parquet has a folder for each table. `part`: the name of its file there."""
    return f"data/{name}/{part}.parquet" if form == "parquet" else f"{form}/{name}.{form}"


def table_paths(table: ReleaseTable, form: str) -> list[str]:
    """The files that hold the rows of a table."""
    if form != "parquet":
        return [table_path(table.name, form)]
    return [table_path(table.name, form, part.name) for part in table.parts]


def _rows_files(release: Release, table: ReleaseTable, form: str) -> Iterator[PlannedFile]:
    """A Parquet file for each part of the table; a file with all of them in another format."""
    if form != "parquet":
        rows = _count(release, [table])
        yield PlannedFile(table_path(table.name, form), MEDIA_TYPES[form], _opened(table, form, None), True, rows)
        return
    for part in table.parts:
        path = table_path(table.name, form, part.name)
        yield PlannedFile(path, MEDIA_TYPES[form], _opened(table, form, [part]), True, part.rows)


def _opened(table: ReleaseTable, form: str, parts: list[TablePart] | None) -> Callable[[Progress], Content]:
    def begin(progress: Progress) -> Content:
        archive_file = table.archive_file(progress, parts)
        if form == "parquet" and table.embeds:
            single = table.has_single_pictures
            archive_file.columns = [*archive_file.columns, IMAGE if single else IMAGES]
            archive_file.rows = embedded_rows(archive_file.rows, CHOICES[table.release.chosen.pictures], single=single)
        return archive_file.lines(form), archive_file.written

    return begin


def _withheld_file(release: Release, tables: list[ReleaseTable]) -> PlannedFile:
    """The answers of the withheld split, of all stages."""

    def begin(progress: Progress) -> Content:
        rows = (row for table in tables if table.table.key == RATINGS for row in table.withheld_rows(progress))
        answers = ArchiveFile(RATINGS, "", ANNOTATIONS.written, rows)
        return answers.lines("jsonl"), answers.written

    rows = release.facts["withheld_answers"]
    return PlannedFile(WITHHELD, MEDIA_TYPES["jsonl"], begin, True, rows, withheld=True)


def _record_file(release: Release, table: ReleaseTable, record: RecordFile, form: str) -> PlannedFile:
    """Records of the paper, made of the frozen ratings."""

    def begin(progress: Progress) -> Content:
        rows = record.records(table.frozen_rows(progress))
        records = ArchiveFile(record.key, record.meaning, record.columns, rows)
        return records.lines(form), records.written

    path = table_path(f"{table.stage.key}/records-{record.key}", form)
    return PlannedFile(path, MEDIA_TYPES[form], begin, True, _count(release, [table]))


def _soft_labels(release: Release, ratings: ReleaseTable, form: str) -> PlannedFile:
    def begin(_progress: Progress) -> Content:
        rows = soft_labels.soft_labels(ratings)
        labels = ArchiveFile(soft_labels.KEY, soft_labels.MEANING, soft_labels.COLUMNS, rows)
        return labels.lines(form), labels.written

    path = table_path(f"{ratings.stage.key}/{soft_labels.KEY}", form)
    return PlannedFile(path, MEDIA_TYPES[form], begin, True)


def _gold_files(release: Release, tables: list[ReleaseTable]) -> Iterator[PlannedFile]:
    """Where something is known to be right. What people said of a withheld split stays on the server."""
    facts, withheld = release.facts.get("gold", {}), release.chosen.withheld
    if not any(facts.values()):
        return
    read = sum(_count(release, [table]) for table in tables
               if table.table.key == ITEMS and table.stage.key in facts[gold.GIVEN])  # fmt: skip
    rows = partial(gold.gold_rows, facts, tables)
    yield PlannedFile(gold.PATH, MEDIA_TYPES["csv"], _csv(gold.COLUMNS, rows), True, read)
    if withheld and facts[gold.CALIBRATION]:
        kept = _csv(gold.COLUMNS, lambda _progress: gold.calibration_rows(facts, tables, [withheld]))
        yield PlannedFile(WITHHELD_GOLD, MEDIA_TYPES["csv"], kept, True, withheld=True)


def _eligibility_file(release: Release) -> Iterator[PlannedFile]:
    if rows := release.facts.get("eligibility"):
        begin = _csv(eligibility.COLUMNS, lambda _progress: iter(rows))
        yield PlannedFile(eligibility.PATH, MEDIA_TYPES["csv"], begin, True)


def _csv(columns: tuple[RowColumn, ...], rows: Callable[[Progress], Iterator[Row]]) -> Callable[[Progress], Content]:
    def begin(progress: Progress) -> Content:
        table = ArchiveFile("", "", columns, rows(progress))
        return table.lines("csv"), table.written

    return begin


def _picture_files(release: Release, tables: list[ReleaseTable]) -> Iterator[PlannedFile]:
    """The table of uses in each format, those that are left out, and the archives."""
    chosen = release.chosen
    if chosen.pictures == "none":
        return
    choice = CHOICES[chosen.pictures]
    for form in chosen.formats:
        begin = partial(_pictures_of, release, tables, pictures.COLUMNS, None, form)
        yield _pictures_file(release, tables, table_path("pictures", form), form, begin)
    if choice.files and not choice.unlicensed:
        begin = partial(_pictures_of, release, tables, pictures.LEFT_OUT_COLUMNS, left_out_rows, "csv")
        yield _pictures_file(release, tables, pictures.LEFT_OUT, "csv", begin)
    if choice.files and not chosen.embed:
        for name in pictures.archive_names(chosen.stages):
            yield _picture_archive(release, tables, name)


def _pictures_of(
    release: Release, tables: list[ReleaseTable], columns: tuple[RowColumn, ...],
    only: Callable[[Iterator[Row]], Iterator[Row]] | None, form: str, progress: Progress,
) -> Content:  # fmt: skip
    files = PictureFiles(CHOICES[release.chosen.pictures], embedded=release.chosen.embed)
    rows = picture_rows(tables, files, progress)
    uses = ArchiveFile("pictures", pictures.MEANING, columns, only(rows) if only else rows)
    return uses.lines(form), uses.written


def _pictures_file(
    release: Release, tables: list[ReleaseTable], path: str, form: str, begin: Callable[[Progress], Content]
) -> PlannedFile:
    items = [table for table in tables if table.table.key == ITEMS]
    return PlannedFile(path, MEDIA_TYPES[form], begin, True, _count(release, items))


def _picture_archive(release: Release, tables: list[ReleaseTable], name: str) -> PlannedFile:
    choice = CHOICES[release.chosen.pictures]

    def begin(progress: Progress) -> Content:
        rows = picture_rows(tables, PictureFiles(choice, embedded=False), progress)
        return picture_archive(rows, name, choice), FileSummary()

    items = [table for table in tables if table.table.key == ITEMS]
    return PlannedFile(name, "application/zip", begin, False, _count(release, items))


def _coco_files(release: Release, tables: list[ReleaseTable]) -> Iterator[PlannedFile]:
    """Boxes, of every question that asks for some."""

    def uses(progress: Progress) -> Iterator[Row]:
        files = PictureFiles(CHOICES[release.chosen.pictures], embedded=release.chosen.embed)
        return picture_rows(tables, files, progress)

    for file in coco_files(release, tables, uses):
        yield PlannedFile(file.path, MEDIA_TYPES["json"], partial(_coco, file), False, file.expected)


def _coco(file: CocoFile, progress: Progress) -> Content:
    return file.open(progress), FileSummary()


def _site_file(table: SiteTable) -> PlannedFile:
    def begin(progress: Progress) -> Content:
        rows = table.archive_file(progress)
        return rows.lines("jsonl"), rows.written

    return PlannedFile(table.path, MEDIA_TYPES["jsonl"], begin, True, table.expected)


def _vector_file(release: Release) -> PlannedFile:
    def begin(progress: Progress) -> Content:
        written = FileSummary()
        return json_lines(vectors.vector_rows(release, progress), vectors.NAMES, written), written

    return PlannedFile(VECTOR_FILE, MEDIA_TYPES["jsonl"], begin, True)


def _picture_files_file(release: Release, tables: list[ReleaseTable]) -> PlannedFile:
    """Which file of images.zip an import reads for which picture."""

    def begin(progress: Progress) -> Content:
        files = PictureFiles(CHOICES[release.chosen.pictures], embedded=release.chosen.embed)
        rows = picture_rows(tables, files, progress)
        shipped = ({name: row[name] for name in ("source_sha256", "file")} for row in rows if row["file"])
        written = FileSummary()
        return json_lines(shipped, ("source_sha256", "file"), written), written

    items = [table for table in tables if table.table.key == ITEMS]
    return PlannedFile(PICTURE_FILES, MEDIA_TYPES["jsonl"], begin, True, _count(release, items))


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


def _codebook(book_of: tuple[ReleaseTable, list[ReleaseTable]]) -> bytes:
    """As the codebook of an export, with the files of each table."""
    ratings, tables = book_of
    book = json.loads(ratings.release.facts["codebooks"][ratings.stage.key])
    written = {file.path: file for file in ratings.release.files.all()}
    named = {table.name: table for table in tables}
    files: dict[str, list[dict[str, Any]]] = {}
    for key in (RATINGS, *book["further"]):
        table = named.get(f"{ratings.stage.key}/{key}")
        paths = [
            path
            for form in ratings.release.chosen.formats
            for path in (table_paths(table, form) if table else [table_path(f"{ratings.stage.key}/{key}", form)])
        ]
        files[key] = [_described(written[path]) for path in paths]
    further = {key: {**meaning, "files": files[key]} for key, meaning in book["further"].items()}
    return to_json({**book, "files": files[RATINGS], "further": further})


def _croissant(tables: list[ReleaseTable], release: Release) -> bytes:
    """Record sets read one format: the one with types, where it is there. A table in several Parquet files has a record
    set for each."""
    form = next(form for form in ("parquet", "csv", "jsonl") if form in release.chosen.formats)
    sets: list[RecordSet] = []
    for table in tables:
        paths = table_paths(table, form)
        names = [table.name] if len(paths) == 1 else [f"{table.name}/{part.name}" for part in table.parts]
        sets += [(name, path, columns_of(table, form)) for name, path in zip(names, paths, strict=True)]
    further = [(f"{table.stage.key}/records-{record.key}", described(record.columns))
               for table, record in records_of(tables)]  # fmt: skip
    labels = described(soft_labels.COLUMNS)
    further += [(f"{table.stage.key}/{soft_labels.KEY}", labels) for table in tables if table.table.key == RATINGS]
    if release.chosen.pictures != "none":
        further.append(("pictures", described(pictures.COLUMNS)))
    sets += [(name, table_path(name, form), columns) for name, columns in further]
    known = {gold.PATH: described(gold.COLUMNS), eligibility.PATH: described(eligibility.COLUMNS)}
    shipped = (
        ReleaseFile.objects.filter(release=release, path__in=known).order_by("path").values_list("path", flat=True)
    )
    sets += [(path.removesuffix(".csv"), path, known[path]) for path in shipped]
    return to_json(croissant(release, sets))


def _described(file: ReleaseFile | WithheldFile) -> dict[str, Any]:
    return {"path": file.path, "sha256": file.sha256, "bytes": file.bytes, "rows": file.rows}


def _splits(release: Release) -> dict[str, Any]:
    """How the items were split, and what proves withheld answers later."""
    chosen = release.chosen
    if not chosen.splits:
        return {}
    return {
        "shares": dict(chosen.splits),
        "seed": chosen.seed,
        "group_by": chosen.group_by,
        "items": [{"stage": stage, "split": split, "items": n} for stage, split, n in release.facts["splits"]],
        "withheld": chosen.withheld,
        "withheld_files": [_described(file) for file in release.withheld_files.order_by("path")],
    }


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
            "splits": _splits(release),
            "rows": dict(sorted(release.facts["rows"].items())),
            "files": [
                {**_described(file), "media_type": file.media_type} for file in release.files.order_by("path")
            ],
        }
    )  # fmt: skip


def _checksums(release: Release) -> bytes:
    """As `sha256sum -c` reads it."""
    return "".join(f"{file.sha256}  {file.path}\n" for file in release.files.order_by("path")).encode()
