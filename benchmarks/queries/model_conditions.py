"""The ways in which a benchmark asks models: those of its recipe, else each stage as it is; and what people changed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.models import Benchmark, BenchmarkCondition, Stage
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.recipes.contract import ModelCondition
from benchmarks.rules.derivations import Derivation, DerivationError
from jobs.queries.read_once import read_once
from jobs.queries.read_together import read_for_each

SETS = ("sample", "ungroup")  # derivations of stages that only collect
SHEET = "sheet"  # the prompt that puts a sheet to a model as people have it


def is_judging(stage: Stage) -> bool:
    """Whether the stage's items are answers of an earlier stage to judge."""
    try:
        derivation = Derivation.from_json(stage.derivation)
    except DerivationError:
        return False
    return derivation is not None and derivation.rules.all_raters


def is_set(stage: Stage) -> bool:
    """Whether the stage only collects items, and asks nobody."""
    return not stage.target_answers and stage.derivation.get("kind", SETS[0]) in SETS


def model_conditions(benchmark: Benchmark, stages: Iterable[Stage] | None = None) -> list[ModelCondition]:
    """All of them: without those that were removed, and those of stages that are gone. Three queries."""

    def read() -> list[ModelCondition]:
        known = list(benchmark.stages.all() if stages is None else stages)
        return _merged(benchmark, usual_conditions(benchmark, known), known)

    return list(read_once(("model conditions", benchmark.pk), read)) if stages is None else read()


def usual_conditions(benchmark: Benchmark, stages: Iterable[Stage]) -> list[ModelCondition]:
    """Those of the recipe, and for stages that it does not know the sheet as it is; before anybody changed one."""
    recipe = recipe_of(benchmark)
    of_recipe = list(recipe.model_conditions) if recipe else []
    known = {spec.key for spec in recipe.stages} if recipe and of_recipe else set()
    return of_recipe + [
        ModelCondition(stage.key, {"en": stage.name}, stage.key, SHEET, judge=is_judging(stage))
        for stage in stages
        if stage.key not in known
    ]


def named_conditions(benchmark: Benchmark) -> list[ModelCondition]:
    """Those that a recipe or a person wrote. Three queries."""
    recipe = recipe_of(benchmark)
    return _merged(benchmark, recipe.model_conditions if recipe else (), list(benchmark.stages.all()))


def conditions_to_save(benchmark: Benchmark) -> list[ModelCondition]:
    """For a recipe file: none where each stage is asked as it is, so that stages that come later are, too."""
    stages, named = list(benchmark.stages.all()), {condition.key for condition in named_conditions(benchmark)}
    changed = named or BenchmarkCondition.objects.filter(benchmark=benchmark).exists()
    sets = {stage.key for stage in stages if is_set(stage)}
    return [
        condition
        for condition in (model_conditions(benchmark, stages) if changed else ())
        if condition.key in named or condition.stage not in sets
    ]


def _merged(benchmark: Benchmark, usual: Iterable[ModelCondition], stages: Sequence[Stage]) -> list[ModelCondition]:
    """With what people changed: a new one stands behind the last of its stage and of those before it."""
    places = {stage.key: place for place, stage in enumerate(stages)}
    conditions = [condition for condition in usual if condition.stage in places]
    for row in read_for_each(benchmark, _changed_conditions) or ():
        at = next((at for at, condition in enumerate(conditions) if condition.key == row.key), None)
        if at is not None:
            conditions.pop(at)
        if row.removed or row.stage not in places:
            continue
        if at is None:
            before = (n for n, condition in enumerate(conditions, 1) if places[condition.stage] <= places[row.stage])
            at = max(before, default=0)
        conditions.insert(at, condition_of(row))
    return conditions


def _changed_conditions(benchmarks: Sequence[Benchmark]) -> Mapping[int, Sequence[BenchmarkCondition]]:
    rows: dict[int, list[BenchmarkCondition]] = defaultdict(list)
    for row in BenchmarkCondition.objects.filter(benchmark__in=benchmarks):
        rows[row.benchmark_id].append(row)
    return rows


def condition_of(row: BenchmarkCondition) -> ModelCondition:
    return ModelCondition(
        row.key, row.name, row.stage, row.prompt, row.setting, tuple(row.needs), row.judge, dict(row.options)
    )
