"""What a benchmark's overview says of problems that people reported and nobody has answered."""

from annotation.models import ProblemReport
from benchmarks.models import Benchmark
from benchmarks.pages.panels import Panel

MOST = 1000


def waiting_reports(benchmark: Benchmark) -> int | None:
    """How many wait, at most MOST; None where none does."""
    reports = ProblemReport.objects.filter(answered_at=None, assignment__campaign__stage__benchmark=benchmark)
    return reports[:MOST].count() or None


PANEL = Panel("annotation/problem_reports.html", waiting_reports)
