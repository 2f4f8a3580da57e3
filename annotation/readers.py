"""Reads that more than one page shares, each of small work however many answers there are."""

from django.db.models import IntegerField, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from annotation.models import Tally
from benchmarks.models import Benchmark
from benchmarks.services.imports import KIND
from jobs.models import Job


def watermark(benchmark: Benchmark) -> int:
    """Grows with every change of an answer in this benchmark, and with what imports tell of its items: a live page that
    has seen it need not be drawn again. Numbers are cut by what is known of items. A row for each import is read, and
    for each cohort of a campaign 16. Runs of predictions move it not: see `predictions.readers.state_of`.
    """
    rows = Tally.objects.filter(cohort__campaign__stage__benchmark=benchmark)
    changes = rows.aggregate(all=Sum("changes"))["all"] or 0
    imports = Job.objects.filter(scope=benchmark.scope, kind=KIND)
    told = imports.aggregate(all=Sum(Cast(KT("result__counts__created"), IntegerField())))["all"] or 0
    return int(changes + told)
