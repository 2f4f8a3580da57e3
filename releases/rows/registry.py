"""All kinds of rows that a program can read, and what each of them is about in one benchmark."""

from annotation.models import Campaign
from benchmarks.models import Benchmark
from releases.rows.annotations import ANNOTATIONS
from releases.rows.decisions import OUTCOMES, REVIEWS
from releases.rows.items import ITEMS
from releases.rows.kinds import RowKind, RowScope
from releases.rows.ratings import RATINGS

KINDS: tuple[RowKind, ...] = (ITEMS, ANNOTATIONS, RATINGS, OUTCOMES, REVIEWS)


def benchmark_scope(benchmark: Benchmark) -> RowScope:
    """Everything in a benchmark."""
    campaigns = Campaign.objects.filter(stage__benchmark=benchmark).order_by("pk").values_list("pk", flat=True)
    stages = benchmark.stages.order_by("pk").values_list("pk", flat=True)
    return RowScope(benchmark, tuple(campaigns), tuple(stages))
