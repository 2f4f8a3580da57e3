"""The site rows of a release: JSON Lines, one file for each kind, whatever formats were chosen for the tables."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from releases.contents.frozen_rows import frozen_rows
from releases.exports.archive_files import ArchiveFile
from releases.models import Release
from releases.rows.columns import Row
from releases.rows.kinds import RowKind, RowScope
from releases.rows.site.kinds import SiteScope
from releases.rows.site.predictions import VECTORS
from releases.rows.site.registry import site_kinds

FOLDER = "site"
VECTOR_FILE = f"{FOLDER}/{VECTORS}.jsonl"
PICTURE_FILES = f"{FOLDER}/picture_files.jsonl"


@dataclass(frozen=True)
class SiteTable:
    """One kind of site rows of a release."""

    release: Release
    kind: RowKind
    scope: RowScope

    @property
    def name(self) -> str:
        return f"{FOLDER}/{self.kind.key}"

    @property
    def path(self) -> str:
        return f"{self.name}.jsonl"

    @property
    def expected(self) -> int:
        return int(self.release.facts.get("site_rows", {}).get(self.kind.key, 0))

    def frozen_rows(self, progress: Callable[[int], None]) -> Iterator[Row]:
        """As they were frozen. Raises RowsChanged."""
        return frozen_rows(self.release, self.name, self.kind, self.scope, (), progress)

    def archive_file(self, progress: Callable[[int], None]) -> ArchiveFile:
        return ArchiveFile(self.kind.key, self.kind.meaning, self.kind.written, self.frozen_rows(progress))


def site_tables(release: Release) -> list[SiteTable]:
    """In the order in which an import writes them."""
    scope = SiteScope.of(release)
    kinds = site_kinds(release.benchmark.recipe)
    frozen = [kind for kind in kinds.values() if kind.key != VECTORS]
    return [SiteTable(release, kind.row_kind(kinds, scope), scope.rows) for kind in frozen]
