"""Which stages of a benchmark have items, for pages that ask it of one benchmark or of many."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Exists, OuterRef, QuerySet

from benchmarks.models import Benchmark, Item, Stage
from benchmarks.queries.availability import is_kept
from jobs.queries.read_together import read_for_each


def stages_with_items(benchmark: Benchmark) -> frozenset[int]:
    """Stages with an item that is not withdrawn."""
    return read_for_each(benchmark, _with_items) or frozenset()


def stages_with_kept_items(benchmark: Benchmark) -> frozenset[int]:
    """Stages with an item that is not withdrawn, and that the filters keep."""
    return read_for_each(benchmark, _with_kept_items) or frozenset()


def by_benchmark(pairs: Iterable[tuple[int, int]]) -> dict[int, frozenset[int]]:
    """From pairs of a benchmark and a row."""
    rows: dict[int, set[int]] = defaultdict(set)
    for benchmark, row in pairs:
        rows[benchmark].add(row)
    return {benchmark: frozenset(of_benchmark) for benchmark, of_benchmark in rows.items()}


def _with_items(benchmarks: Sequence[Benchmark]) -> Mapping[int, frozenset[int]]:
    return _stages_with(benchmarks, Item.objects.filter(withdrawn_at=None))


def _with_kept_items(benchmarks: Sequence[Benchmark]) -> Mapping[int, frozenset[int]]:
    return _stages_with(benchmarks, Item.objects.filter(is_kept()))


def _stages_with(benchmarks: Sequence[Benchmark], items: QuerySet[Item]) -> Mapping[int, frozenset[int]]:
    stages = Stage.objects.filter(Exists(items.filter(stage=OuterRef("pk"))), benchmark__in=benchmarks)
    return by_benchmark(stages.order_by().values_list("benchmark", "pk"))
