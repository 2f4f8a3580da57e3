"""The tables of a release: for each of its stages the kinds of rows that the stage's export has."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from annotation.models import Campaign
from benchmarks.models import Stage
from releases.exports.archive_files import ArchiveFile, StageTable, stage_scope, stage_tables
from releases.exports.codebook import codebook, sheets_of
from releases.exports.record_files import record_files
from releases.models import Release, ReleaseRow
from releases.rows.columns import Row
from releases.rows.frozen import FrozenKey, read_frozen
from releases.rows.kinds import RowScope

CHUNK = 2000
RATINGS = "ratings"


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

    def frozen_rows(self, progress: Callable[[int], None]) -> Iterator[Row]:
        """The rows as they were frozen, a few at a time; `progress` gets the number of each few. Raises RowsChanged."""
        finish, place = self.table.kind.finish(self.scope), 0
        frozen = ReleaseRow.objects.filter(release=self.release, table=self.name).order_by("place")
        while keys := list(frozen.filter(place__gt=place).values_list("number", "part", "digest")[:CHUNK]):
            chunk = [FrozenKey(*key) for key in keys]
            yield from read_frozen(self.table.kind, self.scope, self.table.conditions, chunk, finish)
            place += len(keys)
            progress(len(keys))

    def archive_file(self, progress: Callable[[int], None]) -> ArchiveFile:
        return self.table.archive_file(self.frozen_rows(progress))

    def codebook(self) -> dict[str, Any]:
        """Of the stage, without names and checksums of files."""
        members = [table.archive_file(iter(())) for table in self.tables]
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
        of_stage = tuple(stage_tables(stage, sheets, versions=chosen.versions))
        tables += [ReleaseTable(release, stage, own, table, of_stage) for table in of_stage]
    return tables
