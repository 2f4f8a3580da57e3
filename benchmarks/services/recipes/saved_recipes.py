"""Save a benchmark as a recipe, keep recipes for a team, read recipe files, and make benchmarks of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from benchmarks.imports.recipe_file import (
    LABEL_SETS,
    FileProblem,
    RecipeFile,
    RecipeFileError,
    parse_content,
    read_recipe_file,
)
from benchmarks.models import Benchmark, SavedRecipe, Stage
from benchmarks.queries.label_sets import find_offered, find_set, spec_of
from benchmarks.queries.model_conditions import conditions_to_save
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.recipes.contract import CohortSpec, ConditionSpec, Recipe, StageSpec, slug
from benchmarks.recipes.recipe_json import content_digest, parts_to_json, recipe_to_json, to_json
from benchmarks.recipes.registry import find
from benchmarks.rules.coverage import SET_PREFIX, CoverageError, CoverageSpec
from benchmarks.rules.filters import FilterError, parse_filters
from benchmarks.rules.label_sets.contract import LabelSetSpec, problems
from benchmarks.services.benchmarks import create_from_specs
from benchmarks.services.label_sets import store as store_label_set
from benchmarks.services.recipes.recipe_parts import CHECKS, COHORTS, PARTS
from jobs.models import record
from people.models import Team, User

Content = dict[str, Any]
NOT_OF_STAGES = ("own_vocabulary", "sample", "asked_about")
"""What a recipe says of a stage and its row does not hold."""


# ---- a benchmark as a recipe -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ItemVocabulary:
    """What the items of a recipe are about, and where their pictures come from."""

    concepts: tuple[str, ...] = ()
    conditions: tuple[ConditionSpec, ...] = ()


def item_vocabulary(benchmark: Benchmark) -> ItemVocabulary:
    """That of the recipe which the benchmark follows."""
    base = recipe_of(benchmark)
    return ItemVocabulary(base.concepts, base.conditions) if base else ItemVocabulary()


def recipe_content(benchmark: Benchmark, name: str, summary: str, vocabulary: ItemVocabulary | None = None) -> Content:
    """What a file of the benchmark holds: how it is made, and nothing of its items, people and answers. Whether it can
    be loaded again is for `checked_content` to say. `vocabulary`: None takes that of the recipe it follows."""
    parts = _recipe_parts(benchmark, name, summary)
    if vocabulary is not None:
        parts |= {"concepts": vocabulary.concepts, "conditions": vocabulary.conditions}
        if recipe_of(benchmark) is None:
            parts["stages"] = _with_vocabulary(parts["stages"], vocabulary)
    published = {"published": benchmark.recipe} if benchmark.recipe else {}
    rows = {part.key: part.collect(benchmark) for part in PARTS}
    rows[LABEL_SETS] = _label_sets(benchmark, parts["stages"], parts["label_set"])
    return {**parts_to_json(parts), **published, **{key: value for key, value in rows.items() if value}}


def _with_vocabulary(stages: tuple[StageSpec, ...], vocabulary: ItemVocabulary) -> tuple[StageSpec, ...]:
    """The first stage has an item for each concept, culture and condition, where these are named."""
    if not stages or not (vocabulary.concepts and vocabulary.conditions):
        return stages
    return (replace(stages[0], own_vocabulary=False), *stages[1:])


def _recipe_parts(benchmark: Benchmark, name: str, summary: str) -> dict[str, Any]:
    """The benchmark as it is in force. What no row of it holds comes from the recipe that it follows."""
    base = recipe_of(benchmark)
    stages = tuple(_stage_spec(stage, base) for stage in benchmark.stages.all())
    parts: dict[str, Any] = {
        "key": slug(name)[:60].strip("-") or "recipe", "name": name, "summary": {"en": summary or name},
        "citation": benchmark.citation, "licence": benchmark.licence, "cohorts": _cohorts(benchmark, base),
        "concepts": (), "conditions": (), "stages": stages, "label_set": "",
        "model_conditions": tuple(conditions_to_save(benchmark)),
    }  # fmt: skip
    return {**parts, **_parts_of_base(benchmark, base, stages, summary)} if base else parts


def _parts_of_base(benchmark: Benchmark, base: Recipe, stages: tuple[StageSpec, ...], summary: str) -> dict[str, Any]:
    """What the recipe says of stages and questions that are still there, and of its items."""
    fields = {spec.key: {row.get("key") for row in spec.sheet.get("fields", ())} for spec in stages}
    published = find(benchmark.recipe)
    label_set = base.label_set or (published.own_label_set if published and published.cohorts else "")
    return {
        "concepts": base.concepts, "conditions": base.conditions, "prompt": base.prompt, "label_set": label_set,
        **({"summary": base.summary} if summary == base.summary.get("en") else {}),
        "prediction_tasks": tuple(task for task in base.prediction_tasks if task.stage in fields),
        "report": tuple(table for table in base.report if table.field in fields.get(table.stage, ())),
        "expected_stage": base.expected_stage if base.expected_stage in fields else "",
    }  # fmt: skip


def _stage_spec(stage: Stage, base: Recipe | None) -> StageSpec:
    spec = next((known for known in base.stages if known.key == stage.key), None) if base else None
    of_recipe = {name: getattr(spec, name) for name in NOT_OF_STAGES} if spec else {"own_vocabulary": base is None}
    return StageSpec(
        key=stage.key, name=stage.name, display=stage.display, sheet=stage.sheet, target_answers=stage.target_answers,
        has_target=stage.has_target, target_in_all=stage.target_in_all, acceptance=stage.acceptance,
        acceptance_rule=stage.acceptance_rule, review_reasons=tuple(stage.review_reasons), derivation=stage.derivation,
        staffing=stage.staffing, own_items_only=stage.own_items_only, layout=stage.layout,
        retire_after_skips=stage.retire_after_skips, skip_reasons=tuple(stage.skip_reasons),
        instructions=stage.instructions, pictures=stage.pictures, filters=tuple(stage.filters),
        assign_waiting=stage.assign_waiting, coverage=stage.coverage, **of_recipe,
    )  # fmt: skip


def _cohorts(benchmark: Benchmark, base: Recipe | None) -> tuple[CohortSpec, ...]:
    """Those of the recipe that it follows, then others that it asks."""
    by_label = {spec.label: spec for spec in (base.cohorts if base else ())}
    for finder in COHORTS:
        for spec in finder(benchmark):
            by_label.setdefault(spec.label, spec)
    return tuple(by_label.values())


def _label_sets(benchmark: Benchmark, stages: Sequence[StageSpec], label_set: str) -> list[dict[str, Any]]:
    """The team's own sets that the recipe names; those that every site has stay there."""
    sets = []
    for key in _set_keys(stages, label_set):
        row = find_set(benchmark.team, key) if find_offered(key) is None else None
        if row is not None:
            sets.append(spec_of(row))
    return _plain_sets(sets)


def _plain_sets(sets: Iterable[LabelSetSpec]) -> list[dict[str, Any]]:
    """As a file holds them: the number of a version is the team's own."""
    return [{name: value for name, value in to_json(row).items() if name != "version"} for row in sets]


def _set_keys(stages: Sequence[StageSpec], label_set: str) -> list[str]:
    rows = [str(spec.coverage.get("rows", "")) for spec in stages]
    keys = [row.removeprefix(SET_PREFIX) for row in rows if row.startswith(SET_PREFIX)]
    return list(dict.fromkeys([*keys, *([label_set] if label_set else [])]))


# ---- files and the team's list ---------------------------------------------------------------------------------------


def read_file(data: bytes) -> Content:
    """The content of a recipe file, with nothing in it that is not read. Raises RecipeFileError."""
    return checked_content(read_recipe_file(data))


def checked_content(file: RecipeFile) -> Content:
    """Every part of a file looked at by the app that it belongs to. Raises RecipeFileError."""
    file_problems = [*_own_problems(file), *(problem for check in CHECKS for problem in check(file.recipe))]
    file_problems += [problem for part in PARTS for problem in part.check(file.rows.get(part.key, []), file.recipe)]
    if file_problems:
        raise RecipeFileError(file_problems)
    content = recipe_to_json(file.recipe)
    content.pop("version")
    rows = {key: [dict(row) for row in value] for key, value in file.rows.items() if value}
    sets = {LABEL_SETS: _plain_sets(file.label_sets)} if file.label_sets else {}
    return {**content, **({"published": file.published} if file.published else {}), **rows, **sets}


def _own_problems(file: RecipeFile) -> Iterable[FileProblem]:
    for spec in file.recipe.stages:
        for path, read, value in (
            ("filters", parse_filters, spec.filters), ("coverage", CoverageSpec.from_json, spec.coverage),
        ):  # fmt: skip
            try:
                read(value)
            except (FilterError, CoverageError) as error:
                yield FileProblem(error.reason, error.path or path, spec.name)
    for label_set in file.label_sets:
        for problem in problems(label_set.labels):
            yield FileProblem(str(problem), LABEL_SETS, label_set.name)
    known = {label_set.key for label_set in file.label_sets}
    for key in _set_keys(file.recipe.stages, file.recipe.label_set):
        if key not in known and find_offered(key) is None:
            text = _("Neither the file nor this site has the label set “%(key)s”.")
            yield FileProblem(text % {"key": key[:80]}, "label_set")


@transaction.atomic
def keep_recipe(team: Team, content: Content, actor: User) -> tuple[SavedRecipe, bool]:
    """The team's version with this content if its newest is the same, else the next one; and whether it is new.

    Locks the team's row, so that two who save at once make one version. A removed recipe of the key is offered again.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    digest, rows = content_digest(content), SavedRecipe.objects.filter(team=team, key=content["key"])
    newest = rows.order_by("-version").first()
    if newest is not None and newest.digest == digest:
        rows.filter(pk=newest.pk).update(removed_at=None)
        newest.removed_at = None
        return newest, False
    row = SavedRecipe.objects.create(
        team=team, key=content["key"], version=newest.version + 1 if newest else 1, name=content["name"],
        content=content, digest=digest, published=content.get("published", ""), created_by=actor,
    )  # fmt: skip
    _event(row, actor, "recipe.saved")
    return row, True


@transaction.atomic
def set_removed(row: SavedRecipe, at: datetime | None, actor: User) -> bool:
    """Take a recipe off the list of its team, or put it back (`at` None). Benchmarks that follow it keep it."""
    rows = SavedRecipe.objects.filter(team=row.team_id, key=row.key)
    if not rows.filter(removed_at__isnull=at is not None).update(removed_at=at):
        return False
    _event(row, actor, "recipe.removed" if at else "recipe.restored")
    return True


def _event(row: SavedRecipe, actor: User, verb: str) -> None:
    scope, target = f"team:{row.team_id}", f"saved_recipe:{row.pk}"
    record(actor, verb, scope=scope, target=target, key=row.key, version=row.version)


# ---- a benchmark of a saved recipe -----------------------------------------------------------------------------------


@transaction.atomic
def create_from_saved(saved: SavedRecipe, name: str, slug: str, actor: User | None) -> Benchmark:
    """A benchmark with the recipe's stages, tables and label sets, owned by `actor`. Raises SlugTaken, RecipeFileError
    for a recipe that this release cannot read."""
    file = parse_content(saved.content, str(saved.version))
    renamed = {label_set.key: _store_set(saved.team, label_set, actor) for label_set in file.label_sets}
    recipe = file.recipe
    facts = {
        "purpose": recipe.summary["en"], "recipe": file.published, "recipe_version": str(saved.version),
        "citation": recipe.citation, "licence": recipe.licence, "saved_recipe": saved.key,
    }  # fmt: skip
    stages = tuple(_with_set(spec, renamed) for spec in recipe.stages)
    benchmark = create_from_specs(saved.team, name, slug, actor, stages, facts)
    for part in PARTS:
        part.create(benchmark, file.rows.get(part.key, []), actor)
    return benchmark


def _store_set(team: Team, spec: LabelSetSpec, actor: User | None) -> str:
    """The key under which the team has the set: its own, or another where the team uses that for something else."""
    known = find_set(team, spec.key)
    if known is not None and known.digest != spec.digest:
        spec = replace(spec, key=f"{spec.key[:70]}-{spec.digest[:6]}")
    return store_label_set(team, spec, actor)[0].key


def _with_set(spec: StageSpec, renamed: Mapping[str, str]) -> StageSpec:
    rows = str(spec.coverage.get("rows", ""))
    key = renamed.get(rows.removeprefix(SET_PREFIX)) if rows.startswith(SET_PREFIX) else None
    return replace(spec, coverage={**spec.coverage, "rows": SET_PREFIX + key}) if key else spec
