"""Give a benchmark what a newer version of its recipe adds. Nothing that the benchmark has is changed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from annotation.models import StageVersion
from annotation.services.derivation import derived_items
from annotation.services.sheets.stages import content_of
from annotation.services.transactions import in_transaction
from benchmarks.models import Benchmark, Stage
from benchmarks.queries.recipe_additions import recipe_additions
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.recipes.contract import Recipe, StageSpec
from benchmarks.services.benchmarks import stage_from_spec
from jobs.models import record
from people.models import User


class AdditionsChanged(Exception):
    """The recipe has another version than the one whose additions were shown."""


@in_transaction
def add_from_recipe(benchmark: Benchmark, version: str, actor: User, at: datetime) -> list[Stage]:
    """The stages that were created, or that got a source. `version`: whose additions the person saw; pressed twice it
    adds nothing. Raises AdditionsChanged."""
    benchmark = Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark.pk)
    additions = recipe_additions(benchmark)
    newest = recipe_of(benchmark)
    if additions is None or newest is None:
        return []
    if additions.version != version:
        raise AdditionsChanged
    positions = dict(benchmark.stages.values_list("key", "position"))
    changed = []
    for spec in additions.stages:
        positions[spec.key] = _place(newest, spec.key, positions)
        stage = stage_from_spec(benchmark, positions[spec.key], spec)
        stage.save(force_insert=True)
        changed.append(stage)
    for stage, spec in additions.derivations:
        _give_source(stage, spec, actor, at)
        changed.append(stage)
    for stage in changed:
        if stage.derivation:
            derived_items.rederive_stage(stage)
    before, benchmark.recipe_version = benchmark.recipe_version, version
    benchmark.save(update_fields=["recipe_version"])
    data: dict[str, Any] = {"from": before, "to": version, "stages": [stage.key for stage in changed]}
    record(actor, "benchmark.recipe_additions", scope=benchmark.scope, target=str(benchmark.pk), **data)
    return changed


def _give_source(stage: Stage, spec: StageSpec, actor: User, at: datetime) -> None:
    """As a published change: the version before it can be looked at and brought back."""
    if not stage.versions.exists():
        StageVersion.objects.create(stage=stage, number=stage.version, content=content_of(stage), published_at=at)
    stage.derivation, stage.version = dict(spec.derivation), stage.version + 1
    stage.save(update_fields=["derivation", "version"])
    content = content_of(stage)
    StageVersion.objects.create(stage=stage, number=stage.version, content=content, published_by=actor, published_at=at)


def _place(newest: Recipe, key: str, positions: Mapping[str, int]) -> int:
    """Right after the stage that comes before it in the recipe: of two with one position the older is first."""
    earlier: list[str] = []
    for spec in newest.stages:
        if spec.key == key:
            break
        earlier.append(spec.key)
    return max((positions[name] for name in earlier if name in positions), default=0)
