"""What a release takes of a benchmark, as it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

FORMATS = ("csv", "jsonl", "parquet")
PICTURES = ("licensed", "names", "all")


@dataclass(frozen=True)
class ReleaseSelection:
    """`stages` are ids of stages, `campaigns` ids of their campaigns that had been opened when it was chosen.

    Attributes:
        formats: of the files of rows; some of FORMATS.
        pictures: "names" and checksums alone, or the files as well: of "licensed" pictures, or of "all".
        versions: whether answers that were replaced or withdrawn have a file of their own.
    """

    stages: tuple[int, ...]
    campaigns: tuple[int, ...]
    formats: tuple[str, ...] = FORMATS
    versions: bool = False
    pictures: str = "names"

    def to_json(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> ReleaseSelection:
        return cls(
            stages=tuple(stored["stages"]),
            campaigns=tuple(stored["campaigns"]),
            formats=tuple(stored.get("formats", FORMATS)),
            versions=bool(stored.get("versions")),
            pictures=stored.get("pictures", "names"),
        )
