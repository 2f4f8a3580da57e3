"""What a recipe says. A recipe writes a benchmark's stages once; from then on the rows are the truth.

`Text` is language to text, with at least "en". Texts may hold {target}: the culture asked about.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Text = Mapping[str, str]


class RecipeError(ValueError):
    """Says which recipe, which part, and what is wrong with it."""


@dataclass(frozen=True)
class CohortSpec:
    """A culture the published benchmark asked. `country` is ISO 3166-1 alpha-2, or empty: not every culture is one."""

    label: str
    names: Text
    country: str = ""
    languages: tuple[str, ...] = ()
    direction: str = "ltr"
    time_zone: str = "UTC"

    @property
    def slug(self) -> str:
        return self.country.lower() or slug(self.label)


@dataclass(frozen=True)
class ConditionSpec:
    """Where pictures come from: a key that is stored, a name that is shown."""

    key: str
    name: Text


@dataclass(frozen=True)
class StageSpec:
    """One step. The mappings are written as the stage stores them: see docs/reference/sheets.md.

    `sample`: two or three rows of a manifest that fills the stage, where people bring its items from outside.
    `pictures`: how many an item has; empty: what is usual for the display (benchmarks.rules.displays).
    `filters`: which of its items are kept (benchmarks.rules.filters); `assign_waiting`: people also get items that wait.
    `own_vocabulary`: its items are none of the recipe's concepts, cohorts and conditions; any are taken.
    `asked_about`: what models are asked about by default: "cohorts", "set" (see Recipe.label_set), "own_set" (each
    item's column "label_set") or "gold_and_others".
    `coverage`: what it wants in each cell of rows and columns (benchmarks.rules.coverage).
    `target_in_all`: `target_answers` are wanted of all cohorts together; only without a target.
    """

    key: str
    name: str
    display: str
    sheet: Mapping[str, Any]
    target_answers: int
    has_target: bool = True
    target_in_all: bool = False
    acceptance: str = "on_submit"
    acceptance_rule: Mapping[str, Any] = field(default_factory=dict)
    review_reasons: tuple[Mapping[str, Any], ...] = ()
    derivation: Mapping[str, Any] = field(default_factory=dict)
    staffing: str = "anyone"
    own_items_only: bool = False
    layout: Mapping[str, Any] = field(default_factory=dict)
    retire_after_skips: int | None = None
    skip_reasons: tuple[Mapping[str, Any], ...] = ()
    instructions: Text = field(default_factory=dict)
    sample: tuple[Mapping[str, str], ...] = ()
    own_vocabulary: bool = False
    pictures: str = ""
    filters: tuple[Mapping[str, Any], ...] = ()
    assign_waiting: bool = False
    asked_about: str = "cohorts"
    coverage: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PredictionTask:
    """What models are asked in the published work; the prompts themselves live with the predictions."""

    key: str
    name: str
    stage: str
    modes: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class ModelCondition:
    """A way in which the published work asks models at a stage: one run for each model.

    Attributes:
        prompt: key of a prompt (predictions.prompts), which is above this app.
        setting: prompt variant under which the answers are counted; empty: the prompt's own.
        needs: what an item must bring besides its text, as codes: "picture", "country", "entities", "examples",
            "references", "candidate".
        judge: the stage judges answers, so its items come while other models answer; a run follows them.
        options: values of the prompt's options that belong to the condition; the others have the prompt's own.
    """

    key: str
    name: Text
    stage: str
    prompt: str
    setting: str = ""
    needs: tuple[str, ...] = ()
    judge: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportTable:
    """One table of the published work that the agreement page rebuilds."""

    key: str
    title: str
    stage: str
    field: str
    rows: str
    columns: str
    source: str


@dataclass(frozen=True)
class ExpectedItem:
    """An item the published benchmark has. The key is made of what it is, so importing twice adds nothing."""

    key: str
    stage: str
    concept: str
    origin: str
    condition: str
    prompt: str


@dataclass(frozen=True)
class Recipe:
    key: str
    version: str
    name: str
    summary: Text
    citation: str
    licence: str
    cohorts: tuple[CohortSpec, ...]
    concepts: tuple[str, ...]
    conditions: tuple[ConditionSpec, ...]
    stages: tuple[StageSpec, ...]
    prompt: str = "{concept}, {origin}"
    prediction_tasks: tuple[PredictionTask, ...] = ()
    model_conditions: tuple[ModelCondition, ...] = ()
    report: tuple[ReportTable, ...] = ()
    label_set: str = ""  # a built-in set that the paper asked about; empty: the recipe's own cohorts
    expected_stage: str = ""  # the stage whose items the published benchmark has; empty: the first

    @property
    def own_label_set(self) -> str:
        """The key of the label set that the paper asked about."""
        return self.label_set or f"recipe-{self.key}"

    def __post_init__(self) -> None:
        for problem in problems(self):
            raise RecipeError(f"recipe {self.key!r}: {problem}")

    def expected_items(self) -> Iterator[ExpectedItem]:
        """Concept x cohort x condition, in a fixed order, for one stage."""
        stage = self.expected_stage or self.stages[0].key
        for condition in self.conditions:
            for cohort in self.cohorts:
                for concept in self.concepts:
                    yield ExpectedItem(
                        key=f"{condition.key}/{cohort.slug}/{slug(concept)}",
                        stage=stage,
                        concept=concept,
                        origin=cohort.label,
                        condition=condition.key,
                        prompt=self.prompt.format(concept=concept, origin=cohort.label),
                    )


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def problems(recipe: Recipe) -> Iterator[str]:
    """What would break a benchmark made of it. Field kinds check their own part of the sheet."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", recipe.key) or len(recipe.key) > 60:
        yield "key: lower-case letters, digits and hyphens, at most 60"
    for part in ("version", "name"):
        if not getattr(recipe, part).strip():
            yield f"{part}: is empty"
    if not recipe.stages:
        yield "stages: there is none"
    for part, values in (
        ("cohorts", [cohort.label for cohort in recipe.cohorts]),
        ("concepts", list(recipe.concepts)),
        ("conditions", [condition.key for condition in recipe.conditions]),
        ("stages", [spec.key for spec in recipe.stages]),
        ("model_conditions", [condition.key for condition in recipe.model_conditions]),
    ):
        if len(set(values)) < len(values):
            yield f"{part}: something is named twice"
    stages = {stage.key: stage for stage in recipe.stages}
    keys = [stage.key for stage in recipe.stages]
    for number, stage in enumerate(recipe.stages):
        for source in stage.derivation.get("from", ()):
            if source not in keys[:number]:
                yield f"stages.{stage.key}.derivation: no earlier stage {source!r}"
    if recipe.expected_stage and recipe.expected_stage not in stages:
        yield f"expected_stage: no stage {recipe.expected_stage!r}"
    for task in recipe.prediction_tasks:
        if task.stage not in stages:
            yield f"prediction_tasks.{task.key}: no stage {task.stage!r}"
    for condition in recipe.model_conditions:
        if condition.stage not in stages:
            yield f"model_conditions.{condition.key}: no stage {condition.stage!r}"
    for table in recipe.report:
        fields = [entry["key"] for entry in stages[table.stage].sheet["fields"]] if table.stage in stages else []
        if table.field not in fields:
            yield f"report.{table.key}: no field {table.field!r} in a stage {table.stage!r}"
    for where, text in texts(recipe):
        if not text.get("en", "").strip():
            yield f"{where}: has no English text"


def texts(recipe: Recipe) -> Iterator[tuple[str, Text]]:
    yield "summary", recipe.summary
    for cohort in recipe.cohorts:
        yield f"cohorts.{cohort.label}.names", cohort.names
    for condition in recipe.conditions:
        yield f"conditions.{condition.key}.name", condition.name
    for model_condition in recipe.model_conditions:
        yield f"model_conditions.{model_condition.key}.name", model_condition.name
    for stage in recipe.stages:
        for part in ("skip_reasons", "review_reasons"):
            for reason in getattr(stage, part):
                yield f"stages.{stage.key}.{part}.{reason['code']}", reason["label"]
        yield from localised_texts_in(stage.sheet, f"stages.{stage.key}.sheet")
        for name in ("acceptance_rule", "layout"):
            yield from localised_texts_in(getattr(stage, name), f"stages.{stage.key}.{name}")
        if stage.instructions:
            yield f"stages.{stage.key}.instructions", stage.instructions


def localised_texts_in(part: Any, path: str) -> Iterator[tuple[str, Text]]:
    """Every text in a nested definition: what has an "en"."""
    if isinstance(part, Mapping):
        if isinstance(part.get("en"), str):
            yield path, part
            return
        for key, inner in part.items():
            yield from localised_texts_in(inner, f"{path}.{key}")
    elif isinstance(part, (list, tuple)):
        for inner in part:
            name = inner.get("key") or inner.get("code") if isinstance(inner, Mapping) else None
            yield from localised_texts_in(inner, f"{path}.{name}" if name else path)
