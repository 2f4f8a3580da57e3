"""The table of the demo's pictures and their files. Imports nothing of the project."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "pictures"
TABLE = FOLDER.with_suffix(".csv")


@dataclass(frozen=True)
class DemoPicture:
    """A row of the table. `file` is relative to FOLDER; `key` and `role` name the item and its picture.

    `variant` says how a look-alike differs from its scene; it is empty for the scene itself.
    """

    file: str
    kind: str
    key: str
    role: str
    concept: str
    country: str
    condition: str
    variant: str
    alt: str
    width: int
    height: int
    source: str
    licence: str

    @property
    def path(self) -> Path:
        return FOLDER / self.file


@cache
def all_pictures() -> tuple[DemoPicture, ...]:
    """The pictures in the order of the table."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        DemoPicture(**row | {"width": int(row["width"]), "height": int(row["height"])})  # type: ignore[arg-type]
        for row in rows
    )


def of_kind(kind: str) -> list[DemoPicture]:
    """The pictures of one kind: "scene", "pair" or "look-alike"."""
    return [picture for picture in all_pictures() if picture.kind == kind]


def scene(concept: str, country: str, condition: str = "natural") -> DemoPicture:
    """The scene of a concept in a country. Raises KeyError if there is none."""
    for picture in of_kind("scene"):
        if (picture.concept, picture.country, picture.condition) == (concept, country, condition):
            return picture
    raise KeyError(f"no scene of {concept!r} in {country!r} ({condition!r})")


def concepts() -> list[str]:
    """The concepts of the scenes, in the order of the table."""
    return list(dict.fromkeys(picture.concept for picture in of_kind("scene")))
