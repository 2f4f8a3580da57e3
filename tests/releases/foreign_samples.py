"""Export files of other tools, which lie beside the repository; their tests skip, and say so, where they do not."""

import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from releases.foreign.contract import ForeignFile, ForeignMapping, ForeignRecord
from releases.foreign.registry import reader_for
from releases.foreign.uploaded_files import foreign_files

PEERS = Path(__file__).resolve().parents[3] / "shared" / "data" / "peers"
LIMIT = 1024**3
needs_peers = pytest.mark.skipif(not PEERS.is_dir(), reason=f"NOT TESTED: sample files are missing at {PEERS}")
LABEL_STUDIO = ("label-studio/export.json", "label-studio/label-config.xml")
POTATO = ("potato/annotations.jsonl", "potato/config.yaml", "potato/items.json")
ARGILLA = ("argilla/records-flattened.parquet", "argilla/.argilla/settings.json")
PICTURES = tuple(f"images/pic-{number:02}.png" for number in range(1, 13))


def content(path: str) -> bytes:
    return (PEERS / path).read_bytes()


def as_files(uploads: Sequence[tuple[str, bytes]]) -> list[ForeignFile]:
    return foreign_files([(name, lambda data=data: io.BytesIO(data)) for name, data in uploads], LIMIT)  # type: ignore[misc]


def sample(*paths: str) -> list[ForeignFile]:
    return as_files([(path.rpartition("/")[2], content(path)) for path in paths])


def records(files: Sequence[ForeignFile], mapping: ForeignMapping | None = None) -> list[ForeignRecord]:
    return list(reader_for(files).read(files, mapping or ForeignMapping()))
