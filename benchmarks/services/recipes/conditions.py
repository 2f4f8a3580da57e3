"""Writing the ways in which one benchmark asks models."""

from dataclasses import replace
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from benchmarks.models import Benchmark, BenchmarkCondition
from benchmarks.queries.model_conditions import model_conditions, usual_conditions
from benchmarks.recipes.contract import ModelCondition
from jobs.models import record
from people.models import User


class UnknownCondition(LookupError):
    """The benchmark has no such condition."""


@transaction.atomic
def save_condition(benchmark: Benchmark, condition: ModelCondition, actor: User | None) -> BenchmarkCondition:
    """Create a condition, or change the one of the same key; an empty key is made of the name."""
    benchmark = _locked(benchmark)
    if not condition.key:
        condition = replace(condition, key=_free_key(benchmark, condition.name.get("en", "")))
    values: dict[str, Any] = {
        "name": dict(condition.name), "stage": condition.stage, "prompt": condition.prompt,
        "setting": condition.setting, "needs": list(condition.needs), "judge": condition.judge,
        "options": dict(condition.options), "removed": False, "changed_by": actor,
    }  # fmt: skip
    row, _created = BenchmarkCondition.objects.update_or_create(benchmark=benchmark, key=condition.key, defaults=values)
    record(actor, "condition.saved", scope=benchmark.scope, target=row.key, stage=row.stage)
    return row


@transaction.atomic
def remove_condition(benchmark: Benchmark, key: str, actor: User) -> None:
    """Runs under it stay. Raises UnknownCondition."""
    benchmark = _locked(benchmark)
    condition = next((known for known in model_conditions(benchmark) if known.key == key), None)
    if condition is None:
        raise UnknownCondition(key)
    row = save_condition(benchmark, condition, actor)
    row.removed = True
    row.save(update_fields=["removed"])
    record(actor, "condition.removed", scope=benchmark.scope, target=key)


@transaction.atomic
def restore_condition(benchmark: Benchmark, key: str, actor: User) -> None:
    """Raises UnknownCondition."""
    benchmark = _locked(benchmark)
    if not BenchmarkCondition.objects.filter(benchmark=benchmark, key=key, removed=True).update(removed=False):
        raise UnknownCondition(key)
    record(actor, "condition.restored", scope=benchmark.scope, target=key)


def _locked(benchmark: Benchmark) -> Benchmark:
    """Two who write at once make two keys."""
    return Benchmark.objects.select_for_update(of=("self",), no_key=True).select_related("team").get(pk=benchmark.pk)


def _free_key(benchmark: Benchmark, name: str) -> str:
    taken = {condition.key for condition in usual_conditions(benchmark, benchmark.stages.all())}
    taken |= set(BenchmarkCondition.objects.filter(benchmark=benchmark).values_list("key", flat=True))
    key = slugify(name)[:50].strip("-") or "condition"
    numbered = (f"{key}-{number}" for number in range(2, len(taken) + 3))
    return key if key not in taken else next(free for free in numbered if free not in taken)
