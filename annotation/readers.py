"""Reads that more than one page shares, each of constant work."""

from django.db.models import Sum

from annotation.models import Tally
from benchmarks.models import Benchmark


def watermark(benchmark: Benchmark) -> int:
    """Grows with every change of an answer in this benchmark: a live page that has seen it need not be drawn again."""
    rows = Tally.objects.filter(cohort__campaign__stage__benchmark=benchmark)
    return int(rows.aggregate(all=Sum("changes"))["all"] or 0)
