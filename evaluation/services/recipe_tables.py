"""The tables that a researcher composed, as a part of a recipe file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.recipe_file import FileProblem
from benchmarks.models import Benchmark
from benchmarks.recipes.contract import Recipe
from benchmarks.services.recipes.recipe_parts import RecipePart
from evaluation.models import BenchmarkTable
from evaluation.services.benchmark_tables import FIELDS, save_table
from people.models import User

Rows = Sequence[Mapping[str, Any]]
LENGTHS = {"name": 120, "kind": 14, "stage": 60, "field": 60, "rows": 80, "columns": 80, "measure": 20}
OPTIONS = ("first", "second", "key")


def collect(benchmark: Benchmark) -> list[dict[str, Any]]:
    """In the order in which they were made. Their keys are made anew of their names."""
    tables = BenchmarkTable.objects.filter(benchmark=benchmark, removed_at=None)
    rows = [{name: getattr(table, name) for name in FIELDS} for table in tables]
    return [{name: value for name, value in row.items() if value not in ("", {})} for row in rows]


def check(rows: Rows, recipe: Recipe) -> Iterator[FileProblem]:
    fields = {spec.key: {str(row["key"]) for row in spec.sheet["fields"]} for spec in recipe.stages}
    for number, row in enumerate(rows, start=1):
        place = f"tables[{number}]"
        unknown = sorted(set(row) - set(FIELDS))
        if unknown:
            yield FileProblem(_("No part of a recipe has this name."), f"{place}.{unknown[0][:60]}")
        for name, most in LENGTHS.items():
            if not isinstance(row.get(name, ""), str) or len(row.get(name, "")) > most:
                words = _("This must be a text of at most %(most)s characters.") % {"most": most}
                yield FileProblem(words, f"{place}.{name}")
        options = row.get("options", {})
        if not isinstance(options, dict) or not all(
            key in OPTIONS and isinstance(value, str) and len(value) <= 120 for key, value in options.items()
        ):
            yield FileProblem(_("Choose one of: %(keys)s.") % {"keys": ", ".join(OPTIONS)}, f"{place}.options")
        yield from _references(row, fields, place)


def _references(row: Mapping[str, Any], fields: Mapping[str, set[str]], place: str) -> Iterator[FileProblem]:
    if not str(row.get("name", "")).strip():
        yield FileProblem(_("This is missing."), f"{place}.name")
    if row.get("kind") not in BenchmarkTable.Kind.values:
        known = ", ".join(BenchmarkTable.Kind.values)
        yield FileProblem(_("Choose one of: %(keys)s.") % {"keys": known}, f"{place}.kind")
    stage, field = str(row.get("stage", "")), str(row.get("field", ""))
    if stage not in fields:
        yield FileProblem(_("The file has no stage “%(key)s”.") % {"key": stage[:60]}, f"{place}.stage")
    elif field not in fields[stage] and not (field == "" and row.get("kind") == BenchmarkTable.Kind.COVERAGE):
        words = _("There is no question “%(key)s” on the sheet.") % {"key": field[:60]}
        yield FileProblem(words, f"{place}.field")


def create(benchmark: Benchmark, rows: Rows, actor: User | None) -> None:
    empty = {**dict.fromkeys(LENGTHS, ""), "options": {}}
    for row in rows:
        save_table(benchmark, None, {**empty, **row}, actor)


TABLES = RecipePart("tables", collect, check, create)
