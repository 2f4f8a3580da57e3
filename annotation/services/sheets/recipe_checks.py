"""What the stages of a recipe file need to be a chain here, and the cohorts that a benchmark asks."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from annotation.composer.validation import stage_problems
from annotation.services.sheets.stages import COLUMNS
from benchmarks.imports.recipe_file import FileProblem
from benchmarks.models import Benchmark
from benchmarks.recipes.contract import CohortSpec, Recipe, StageSpec
from benchmarks.rules.displays import default_pictures
from people.models import Cohort


def stage_file_problems(recipe: Recipe) -> Iterator[FileProblem]:
    """Every problem that would keep a stage of the file from being published in the composer."""
    earlier: dict[str, tuple[str, list[Any]]] = {}
    for spec in recipe.stages:
        try:
            blocking = [problem for problem in stage_problems(_content(spec), earlier) if problem.blocks]
        except (TypeError, AttributeError, KeyError, ValueError, IndexError):  # a shape that no form could make
            yield FileProblem(_("Something in it has an unexpected form. Save the recipe again."), "", spec.name)
        else:
            yield from (FileProblem(problem.words, problem.place, spec.name) for problem in blocking)
        earlier[spec.key] = (spec.name, list(spec.sheet.get("fields", ())))


def _content(spec: StageSpec) -> dict[str, Any]:
    values = {key: getattr(spec, key) for key in COLUMNS}
    lists = {key: list(value) for key, value in values.items() if isinstance(value, tuple)}
    return {**values, **lists, "pictures": spec.pictures or default_pictures(spec.display)}


def asked_cohorts(benchmark: Benchmark) -> Iterator[CohortSpec]:
    """Those of the benchmark's campaigns, by label."""
    rows = Cohort.objects.filter(campaigns__campaign__stage__benchmark=benchmark).distinct().order_by("label")
    for cohort in rows:
        yield CohortSpec(
            label=cohort.label, names={"en": cohort.label, **cohort.names}, country=cohort.country,
            languages=tuple(cohort.languages), direction=cohort.direction, time_zone=cohort.time_zone,
        )  # fmt: skip
