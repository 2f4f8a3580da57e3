"""Writing the tables that researchers compose."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from benchmarks.models import Benchmark
from evaluation.models import BenchmarkTable
from evaluation.tables.registry import tables_of
from jobs.models import record
from people.models import User

KEY_LENGTH = 50
FIELDS = ("name", "kind", "stage", "field", "rows", "columns", "measure", "options")
RESERVED = frozenset({"new"})  # an address of its own


@transaction.atomic
def save_table(
    benchmark: Benchmark, table: BenchmarkTable | None, values: dict[str, Any], actor: User | None
) -> BenchmarkTable:
    """Create a table, or change one: it keeps its key, and its version grows."""
    Benchmark.objects.select_for_update(of=("self",), no_key=True).get(pk=benchmark.pk)  # orders two new keys
    if table is None:
        table = BenchmarkTable(benchmark=benchmark, key=_free_key(benchmark, values["name"]), created_by=actor)
    else:
        table = BenchmarkTable.objects.select_for_update(of=("self",)).get(pk=table.pk)
        table.version += 1
    for name in FIELDS:
        setattr(table, name, values[name])
    table.save()
    record(actor, "table.saved", scope=benchmark.scope, target=table.key, version=table.version)
    return table


@transaction.atomic
def remove_table(table: BenchmarkTable, actor: User, at: datetime) -> None:
    """Its row stays, so that its key is not given to another table."""
    if BenchmarkTable.objects.filter(pk=table.pk, removed_at=None).update(removed_at=at):
        record(actor, "table.removed", scope=table.benchmark.scope, target=table.key)


def _free_key(benchmark: Benchmark, name: str) -> str:
    taken = {spec.key for spec in tables_of(benchmark)} | RESERVED
    taken |= set(BenchmarkTable.objects.filter(benchmark=benchmark).values_list("key", flat=True))
    key = slugify(name)[:KEY_LENGTH].strip("-") or "table"
    numbered = (f"{key}-{number}" for number in range(2, len(taken) + 3))
    return key if key not in taken else next(free for free in numbered if free not in taken)
