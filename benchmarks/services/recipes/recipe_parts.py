"""Parts of a recipe file that apps above this one own, such as its tables: how each is read and written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.imports.recipe_file import FileProblem
from benchmarks.models import Benchmark
from benchmarks.recipes.contract import CohortSpec, Recipe
from people.models import User

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class RecipePart:
    """A member of the file.

    Attributes:
        key: its name.
        collect: the rows of a benchmark.
        check: what is wrong with rows of a file, whose recipe is read already.
        create: writes them for a new benchmark, inside its transaction.
    """

    key: str
    collect: Callable[[Benchmark], list[dict[str, Any]]]
    check: Callable[[Rows, Recipe], Iterable[FileProblem]]
    create: Callable[[Benchmark, Rows, User | None], None]


PARTS: list[RecipePart] = []
CHECKS: list[Callable[[Recipe], Iterable[FileProblem]]] = []
COHORTS: list[Callable[[Benchmark], Iterable[CohortSpec]]] = []


def register_part(part: RecipePart) -> None:
    PARTS.append(part)


def register_check(check: Callable[[Recipe], Iterable[FileProblem]]) -> None:
    """What else may be wrong with the stages of a file."""
    CHECKS.append(check)


def register_cohorts(finder: Callable[[Benchmark], Iterable[CohortSpec]]) -> None:
    """Which cohorts a benchmark asks."""
    COHORTS.append(finder)
