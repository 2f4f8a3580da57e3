"""Records of a benchmark in the form in which its paper published them: a file more of the export, for each stage.

A plugin registers them. A record is made from rows of the ratings file (see releases/rows/annotations.py), and from
nothing else: so answers of people who withdrew their consent are in no record either.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from releases.rows.columns import Row, RowColumn


@dataclass(frozen=True)
class RecordFile:
    """`columns` have no SQL. `records` turns rows of the stage's ratings file into records."""

    key: str
    stage: str
    meaning: str
    columns: Sequence[RowColumn]
    records: Callable[[Iterator[Row]], Iterator[Row]]


class DuplicateRecords(ValueError):
    """Two files of one archive would have one name."""


BY_RECIPE: dict[str, tuple[RecordFile, ...]] = {}  # filled by `register_records` only


def register_records(recipe: str, files: Sequence[RecordFile]) -> None:
    """Add record files to the exports of a recipe's benchmarks. Raises DuplicateRecords."""
    every = (*BY_RECIPE.get(recipe, ()), *files)
    keys = [one.key for one in every]
    if len(set(keys)) < len(keys):
        raise DuplicateRecords(f"recipe {recipe!r} has two record files of one key")
    BY_RECIPE[recipe] = every


def record_files(recipe: str, stage: str) -> list[RecordFile]:
    return [one for one in BY_RECIPE.get(recipe, ()) if one.stage == stage]
