"""The files of rows in an archive: which there are, what one row is, and what its columns are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.models import Campaign
from annotation.sheets.sheet import Sheet
from benchmarks.models import Stage
from releases.exports.pixel_boxes import BOXES, in_pixels
from releases.exports.record_files import record_files
from releases.formats.archive import FileSummary, csv_lines, json_lines
from releases.rows.annotations import ANNOTATIONS, LIVE, NOT_LIVE, VERSIONS
from releases.rows.columns import Row, RowColumn
from releases.rows.decisions import OUTCOMES, REVIEWS
from releases.rows.filters import Condition, conditions_of
from releases.rows.items import ITEMS
from releases.rows.kinds import RowKind, RowScope

CODES = frozenset({"code", "integer_code", "flag"})


@dataclass
class ArchiveFile:
    """`cells`: the sheets' own columns, name to type, after the fixed ones except in JSON Lines. `written` fills while
    it is sent."""

    key: str
    meaning: str
    columns: Sequence[RowColumn]
    rows: Iterator[Row]
    cells: Mapping[str, str] = field(default_factory=dict)
    written: FileSummary = field(default_factory=FileSummary)

    def lines(self, form: str) -> Iterator[bytes]:
        names = [column.name for column in self.columns]
        if form == "csv":
            return csv_lines(self.rows, names, list(self.cells), self.written)
        if form == "parquet":
            from releases.formats.parquet import parquet_blocks  # 40 MB of memory, for those alone who ask

            boxes = [name for name, kind in self.cells.items() if kind == BOXES]
            return parquet_blocks(in_pixels(self.rows, boxes), self.columns, self.cells, self.written)
        return json_lines(self.rows, names, self.written)


@dataclass(frozen=True)
class StageTable:
    """A kind of rows of one stage that has a file of its own. `cells`: the sheets' own columns, name to type."""

    key: str
    kind: RowKind
    conditions: Sequence[Condition] = ()
    cells: Mapping[str, str] = field(default_factory=dict)

    def archive_file(self, rows: Iterator[Row]) -> ArchiveFile:
        return ArchiveFile(self.key, self.kind.meaning, self.kind.written, rows, self.cells)


def stage_tables(stage: Stage, sheets: Sequence[Sheet], *, versions: bool) -> list[StageTable]:
    """The ratings first. What decides on answers is there where the stage has it, though nothing be decided yet."""
    cells = _cells(sheets)
    tables = [StageTable("ratings", ANNOTATIONS, conditions_of(ANNOTATIONS.filters, LIVE), cells)]
    if versions:
        earlier = conditions_of(VERSIONS.filters, NOT_LIVE)
        tables.append(StageTable(VERSIONS.key, VERSIONS, earlier, cells))
    if stage.acceptance == Stage.Acceptance.BY_RULE:
        tables.append(StageTable(OUTCOMES.key, OUTCOMES))
    if stage.acceptance == Stage.Acceptance.BY_REVIEW:
        tables.append(StageTable(REVIEWS.key, REVIEWS))
    return [*tables, StageTable(ITEMS.key, ITEMS)]


def stage_scope(stage: Stage, campaigns: Sequence[Campaign]) -> RowScope:
    return RowScope(stage.benchmark, tuple(campaign.pk for campaign in campaigns), (stage.pk,))


def archive_files(
    stage: Stage, campaigns: Sequence[Campaign], sheets: Sequence[Sheet], *, versions: bool
) -> list[ArchiveFile]:
    """The tables of the stage, then the records of its paper."""
    scope = stage_scope(stage, campaigns)
    tables = stage_tables(stage, sheets, versions=versions)
    files = [table.archive_file(table.kind.rows(scope, table.conditions)) for table in tables]
    for record in record_files(stage.benchmark.recipe, stage.key):
        records = record.records(ANNOTATIONS.rows(scope, tables[0].conditions))
        files.append(ArchiveFile(f"records-{record.key}", record.meaning, record.columns, records))
    return files


def _cells(sheets: Sequence[Sheet]) -> dict[str, str]:
    """The columns of all versions of the sheet, as a file with types has them. One whose type has changed is text, or a
    code if all were codes."""
    types: dict[str, str] = {}
    for sheet in sheets:
        for column in sheet.columns():
            kind = column.typed or column.type
            known = types.setdefault(column.suffix, kind)
            types[column.suffix] = known if known == kind else "code" if {known, kind} <= CODES else "string"
    return types
