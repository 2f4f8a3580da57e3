"""Composed tables as the registry has them: beside those of a paper or the general ones."""

from django.utils.translation import gettext_lazy

from benchmarks.models import Benchmark
from evaluation.models import BenchmarkTable
from evaluation.tables.composed.builders import builder_of
from evaluation.tables.spec import TableSpec

NEEDS = {
    BenchmarkTable.Kind.AGREEMENT: gettext_lazy("Answers of people."),
    BenchmarkTable.Kind.MODELS: gettext_lazy("Answers of people and of a model."),
    BenchmarkTable.Kind.RANKING: gettext_lazy("Answers of people."),
    BenchmarkTable.Kind.DISTRIBUTION: gettext_lazy("Answers of people."),
    BenchmarkTable.Kind.COVERAGE: gettext_lazy("A campaign."),
    BenchmarkTable.Kind.ACCURACY: gettext_lazy("Answers to items that say what is right."),
}


def composed_tables(benchmark: Benchmark) -> tuple[TableSpec, ...]:
    """In the order in which they were made. One query."""
    rows = BenchmarkTable.objects.filter(benchmark=benchmark, removed_at=None)
    return tuple(_spec(row) for row in rows)


def _spec(row: BenchmarkTable) -> TableSpec:
    return TableSpec(
        key=row.key, number="", title=row.name, needs=NEEDS[BenchmarkTable.Kind(row.kind)], build=builder_of(row),
        composed=True, state=lambda _benchmark: (row.version,),
    )  # fmt: skip
