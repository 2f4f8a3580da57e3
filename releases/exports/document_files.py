"""Whole documents of a benchmark, such as a COCO file: a JSON file more in the export of a stage, by a plugin.

A document is made from rows of ratings files (see releases/rows/annotations.py), so that answers of people who withdrew
their consent are in none.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.models import Benchmark
from releases.formats.archive import FileSummary, json_document

Document = tuple[Mapping[str, Any], int]
"""What the file holds, and the number of its records."""


@dataclass(frozen=True)
class DocumentFile:
    """`build` gets the benchmark and the ids of the campaigns of the stage that are exported."""

    key: str
    stage: str
    meaning: str
    build: Callable[[Benchmark, Sequence[int]], Document]


@dataclass
class DocumentMember:
    """A document of an archive. `written` fills while it is sent."""

    file: DocumentFile
    document: Document
    written: FileSummary = field(default_factory=FileSummary)

    def lines(self) -> Iterator[bytes]:
        content, self.written.rows = self.document
        return json_document(content)


class DuplicateDocuments(ValueError):
    """Two documents of one archive would have one name."""


BY_RECIPE: dict[str, tuple[DocumentFile, ...]] = {}  # filled by `register_documents` only


def register_documents(recipe: str, files: Sequence[DocumentFile]) -> None:
    """Add documents to the exports of a recipe's benchmarks. Raises DuplicateDocuments."""
    every = (*BY_RECIPE.get(recipe, ()), *files)
    keys = [file.key for file in every]
    if len(set(keys)) < len(keys):
        raise DuplicateDocuments(f"recipe {recipe!r} has two documents of one key")
    BY_RECIPE[recipe] = every


def document_members(benchmark: Benchmark, stage: str, campaigns: Sequence[int]) -> list[DocumentMember]:
    """Built now, while the rest of the archive is streamed: documents are small."""
    files = [file for file in BY_RECIPE.get(benchmark.recipe, ()) if file.stage == stage]
    return [DocumentMember(file, file.build(benchmark, campaigns)) for file in files]
