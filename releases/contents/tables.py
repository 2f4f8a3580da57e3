"""The tables of a release: for each of its stages the kinds of rows that the stage's export has."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Campaign
from benchmarks.models import ItemImage, Stage
from releases.contents.hidden_items import hidden_items
from releases.contents.parts import TablePart
from releases.exports.archive_files import ArchiveFile, StageTable, stage_scope, stage_tables
from releases.exports.codebook import codebook, sheets_of
from releases.exports.record_files import record_files
from releases.models import Release, ReleaseRow
from releases.rows.columns import Row, RowColumn
from releases.rows.frozen import FrozenKey, read_frozen
from releases.rows.kinds import RowScope

CHUNK = 2000
RATINGS, ITEMS = "ratings", "items"
SPLIT = RowColumn("split", "", "text", "The split of the item in this release.", coded=True)
IMAGE = RowColumn("image", "", "file", "The file of its picture; null: it is not in the release.")
IMAGES = RowColumn("images", "", "files", "The files of its pictures, as pictures lists them.")
Progress = Callable[[int], None]


@dataclass(frozen=True)
class ReleaseTable:
    """One kind of rows of one stage. `tables`: all of the stage."""

    release: Release
    stage: Stage
    campaigns: tuple[Campaign, ...]
    table: StageTable
    tables: tuple[StageTable, ...]

    @property
    def name(self) -> str:
        return f"{self.stage.key}/{self.table.key}"

    @property
    def recipe(self) -> str:
        return self.release.benchmark.recipe

    @property
    def scope(self) -> RowScope:
        return stage_scope(self.stage, self.campaigns)

    @property
    def columns(self) -> list[RowColumn]:
        """Those of the kind; items have their split besides."""
        return [*self.table.kind.written, *([SPLIT] if self.table.key == ITEMS else [])]

    @property
    def embeds(self) -> bool:
        """Whether its Parquet files hold pictures."""
        return self.release.chosen.embed and self.table.key == ITEMS

    @property
    def has_single_pictures(self) -> bool:
        """Whether each item has one picture at most, without a role."""
        return not ItemImage.objects.filter(item__stage=self.stage).exclude(role="image").exists()

    @property
    def parts(self) -> list[TablePart]:
        """What is shipped of it."""
        return [TablePart(**part) for part in self.release.facts["parts"][self.name]]

    def frozen_rows(self, progress: Progress, parts: Sequence[TablePart] | None = None) -> Iterator[Row]:
        """The rows as they were frozen, a few at a time; `progress` gets the number of each few. Raises RowsChanged.

        `parts`: only these; else all that are shipped, in the order of their places.
        """
        if parts is None:
            parts = self.parts
            splits, first, last = {p.split for p in parts}, min(p.first for p in parts), max(p.last for p in parts)
            yield from self._rows(progress, splits, first, last)
            return
        for part in parts:
            yield from self._rows(progress, {part.split}, part.first, part.last)

    def withheld_rows(self, progress: Progress) -> Iterator[Row]:
        """The rows of the withheld split. Raises RowsChanged."""
        return self._rows(progress, {self.release.chosen.withheld}, 0, None)

    def _rows(self, progress: Progress, splits: set[str], first: int, last: int | None) -> Iterator[Row]:
        finish, place = self.table.kind.finish(self.scope), first - 1
        frozen = ReleaseRow.objects.filter(release=self.release, table=self.name, split__in=splits).order_by("place")
        if last is not None:
            frozen = frozen.filter(place__lte=last)
        columns = ("number", "part", "digest", "place", "split")
        while keys := list(frozen.filter(place__gt=place).values_list(*columns)[:CHUNK]):
            chunk = [FrozenKey(*key[:3]) for key in keys]
            rows = read_frozen(self.table.kind, self.scope, self.table.conditions, chunk, finish)
            if self.table.key == ITEMS:
                rows = self._items(rows, [key[4] for key in keys], [key[0] for key in keys])
            yield from rows
            place = keys[-1][3]
            progress(len(keys))

    def _items(self, rows: Iterator[Row], splits: Sequence[str], ids: Sequence[int]) -> Iterator[Row]:
        """With their splits, and without what may be a withheld answer."""
        hidden = hidden_items(self.release, ids)
        for row, split in zip(rows, splits, strict=True):
            row["split"] = split
            if row["id"] in hidden:
                row = hidden[row["id"]].shown(row)
            if self.release.chosen.pictures == "none":
                row["pictures"] = []
            yield row

    def archive_file(self, progress: Progress, parts: Sequence[TablePart] | None = None) -> ArchiveFile:
        table, rows = self.table, self.frozen_rows(progress, parts)
        return ArchiveFile(table.key, table.kind.meaning, self.columns, rows, table.cells)

    def codebook(self) -> dict[str, Any]:
        """Of the stage, without names and checksums of files."""
        members = [table.archive_file(iter(())) for table in self.tables]
        for member in members:
            if member.key == ITEMS:
                member.columns = [*member.columns, SPLIT]
        for record in record_files(self.recipe, self.stage.key):
            members.append(ArchiveFile(f"records-{record.key}", record.meaning, record.columns, iter(())))
        return codebook(self.stage, self.campaigns, members, self.release.created_at)


def release_tables(release: Release) -> list[ReleaseTable]:
    """Sorted by stage, the ratings of each first."""
    chosen = release.chosen
    opened = Campaign.objects.filter(pk__in=chosen.campaigns).order_by("pk")
    campaigns = list(opened.select_related("sheet_version", "rule_version").prefetch_related("cohorts__cohort"))
    tables = []
    for stage in Stage.objects.filter(pk__in=chosen.stages).order_by("position", "pk"):
        stage.benchmark = release.benchmark
        own = tuple(campaign for campaign in campaigns if campaign.stage_id == stage.pk)
        sheets = [sheet for _version, sheet in sheets_of(own).values()]
        of_stage = tuple(t for t in stage_tables(stage, sheets, versions=chosen.versions) if _can_ship(t, release))
        tables += [ReleaseTable(release, stage, own, table, of_stage) for table in of_stage]
    return tables


def _can_ship(table: StageTable, release: Release) -> bool:
    """Answers about no item belong to no split, so they cannot be withheld in part."""
    return not release.chosen.withheld or bool(table.kind.item) or table.kind.scope == "read"
