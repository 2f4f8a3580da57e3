"""What a recipe holds, in words: for the page that saves one, and for those of the team's list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.composer.source_settings import DERIVED
from annotation.composer.stage_context import question_title
from annotation.models import StageDraft
from annotation.sheets.sheet import localise
from benchmarks.imports.recipe_file import RecipeFile
from benchmarks.models import Benchmark
from benchmarks.pages.filter_texts import filter_name, rule_text
from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.registry import find
from benchmarks.rules.filters import parse_filters


@dataclass(frozen=True)
class RecipeStageRow:
    """A stage: its questions and filters in words, and where its items come from."""

    name: str
    questions: Sequence[str]
    source: str
    filters: Sequence[str]


@dataclass(frozen=True)
class RecipeContentView:
    """Everything that a recipe holds. `published`: the name of the published benchmark whose tables it has."""

    name: str
    summary: str
    stages: Sequence[RecipeStageRow]
    cohorts: Sequence[str]
    concepts: int
    conditions: Sequence[str]
    tables: Sequence[str]
    label_sets: Sequence[str]
    published: str


def content_view(file: RecipeFile) -> RecipeContentView:
    recipe, language = file.recipe, get_language() or "en"
    names = {spec.key: spec.name for spec in recipe.stages}
    published = find(file.published)
    return RecipeContentView(
        name=recipe.name,
        summary=localise(recipe.summary, language),
        stages=[_stage_row(spec, names) for spec in recipe.stages],
        cohorts=[localise(cohort.names, language) for cohort in recipe.cohorts],
        concepts=len(recipe.concepts),
        conditions=[localise(condition.name, language) for condition in recipe.model_conditions],
        tables=[str(row.get("name", "")) for row in file.rows.get("tables", [])],
        label_sets=[label_set.name for label_set in file.label_sets],
        published=published.name if published else file.published,
    )


def _stage_row(spec: StageSpec, names: Mapping[str, str]) -> RecipeStageRow:
    asked = [question_title(field).replace("{target}", "…") for field in spec.sheet.get("fields", ())]
    filters = [f"{filter_name(rule)}: {rule_text(rule)}" for rule in parse_filters(spec.filters)]
    return RecipeStageRow(spec.name, asked, _source(spec.derivation, names), filters)


def _source(derivation: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """How its items come, and from which stages."""
    if not derivation:
        return _("Imported or typed")
    kinds = dict(DERIVED)
    kind = str(kinds.get(str(derivation.get("kind")), derivation.get("kind")))
    sources = ", ".join(names.get(key, key) for key in derivation.get("from", ()))
    return f"{kind} ({sources})" if sources else kind


def stages_with_drafts(benchmark: Benchmark) -> list[str]:
    """Names of stages with changes that are not published, and so not in the recipe."""
    rows = StageDraft.objects.filter(stage__benchmark=benchmark).order_by("stage__position", "stage")
    return list(rows.values_list("stage__name", flat=True))
