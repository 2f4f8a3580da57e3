"""What all kinds of rows share while a release is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from benchmarks.imports.problems import RowProblem
from benchmarks.models import Benchmark, Image
from people.models import Team, User
from releases.imports.pictures import ReleasedPictures
from releases.models import ImportedRow, ReleaseImport
from releases.rows.site.kinds import SiteKind


@dataclass
class PendingRow:
    """A row on its way.

    Attributes:
        number: of the report.
        row: as the release has it, with the keys that it uses.
        content: the same with the checksums that pictures have here.
        object_id: what it became, once it is known.
    """

    number: int
    key: str
    digest: UUID
    row: Mapping[str, Any]
    content: Mapping[str, Any]
    values: dict[str, Any] = field(default_factory=dict)
    object_id: int | None = None
    known: ImportedRow | None = None
    problem: RowProblem | None = None
    remark: str = ""
    extra: Any = None

    @property
    def pk(self) -> int:
        """Of a row that was written."""
        assert self.object_id is not None
        return self.object_id

    @property
    def is_new(self) -> bool:
        return self.known is None


@dataclass
class ImportState:
    """`shas`: of pictures whose bytes are others than those that the release names, the checksum they have here."""

    release_import: ReleaseImport
    kinds: Mapping[str, SiteKind]
    at: datetime
    actor: User | None
    pictures: ReleasedPictures
    shas: dict[str, str] = field(default_factory=dict)

    @property
    def team(self) -> Team:
        return self.release_import.team

    @property
    def benchmark(self) -> Benchmark:
        benchmark = self.release_import.benchmark
        assert benchmark is not None
        return benchmark

    @property
    def sources(self) -> dict[str, Any]:
        """What is put into fields that a release has not."""
        benchmark = self.release_import.benchmark_id
        actor = self.actor.pk if self.actor else None
        return {"team": self.team.pk, "benchmark": benchmark, "actor": actor, "now": self.at}

    def objects_of(self, kind: str, keys: Iterable[str]) -> dict[str, int]:
        """What rows of these keys became."""
        rows = ImportedRow.objects.filter(benchmark=self.benchmark, kind=kind, key__in=set(keys))
        return dict(rows.values_list("key", "object_id"))

    def read_shas(self) -> None:
        """After a stop: pictures that were stored before it."""
        if self.release_import.benchmark_id is None:
            return
        rows = dict(ImportedRow.objects.filter(benchmark=self.benchmark, kind="images").values_list("object_id", "key"))
        known = Image.objects.filter(pk__in=rows).values_list("pk", "sha256")
        self.shas = {
            stated: sha for pk, sha in known.iterator(chunk_size=5000) if (stated := rows[pk].strip('"')) != sha
        }
