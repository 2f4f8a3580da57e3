"""What a release takes of a benchmark, as it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

FORMATS = ("csv", "jsonl", "parquet")
PICTURES = ("licensed", "names", "all", "none", "licensed_originals", "originals")
SPLITS = ("train", "validation", "test")
GROUPS = ("item", "concept", "origin", "source")
WHOLE = SPLITS[0]
"""The split of a release that is not split."""


@dataclass(frozen=True)
class ReleaseSelection:
    """`stages` are ids of stages, `campaigns` ids of their campaigns that had been opened when it was chosen.

    Attributes:
        formats: of the files of rows; some of FORMATS.
        pictures: some of PICTURES: keys of items alone ("none"), "names" and checksums, or files as well: of "licensed"
            pictures or of "all", without metadata or as they came ("originals").
        versions: whether answers that were replaced or withdrawn have a file of their own.
        splits: of the items, with the share of each in percent; empty: the release is not split.
        withheld: the split whose answers are not shipped; "" if there is none.
        group_by: what stays together in one split; one of GROUPS.
        seed: of the split. The same seed gives an item the same split in every version.
        embed: whether pictures are a column of the Parquet files of items, instead of an archive.
        vectors: whether the vectors of embedding runs are in the release.
    """

    stages: tuple[int, ...]
    campaigns: tuple[int, ...]
    formats: tuple[str, ...] = FORMATS
    versions: bool = False
    pictures: str = "names"
    vectors: bool = False
    splits: tuple[tuple[str, int], ...] = ()
    withheld: str = ""
    group_by: str = "item"
    seed: int = 0
    embed: bool = False

    @property
    def split_names(self) -> tuple[str, ...]:
        return tuple(name for name, _share in self.splits) or (WHOLE,)

    def to_json(self) -> dict[str, Any]:
        stored = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return stored | {"splits": [list(split) for split in self.splits]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> ReleaseSelection:
        return cls(
            stages=tuple(stored["stages"]),
            campaigns=tuple(stored["campaigns"]),
            formats=tuple(stored.get("formats", FORMATS)),
            versions=bool(stored.get("versions")),
            pictures=stored.get("pictures", "names"),
            splits=tuple((name, share) for name, share in stored.get("splits", ())),
            withheld=stored.get("withheld", ""),
            group_by=stored.get("group_by", "item"),
            seed=stored.get("seed", 0),
            embed=bool(stored.get("embed")),
            vectors=bool(stored.get("vectors")),
        )
