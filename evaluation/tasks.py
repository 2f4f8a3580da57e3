from zoneinfo import ZoneInfo

from celery import shared_task
from django.http import QueryDict
from django.utils import timezone, translation

from benchmarks.models import Benchmark
from evaluation.queries import status
from evaluation.reports import (
    board_agreement,
    board_models,
    linked_stages,
    stored_agreement,
    stored_disagreement,
    stored_models,
    stored_people,
)
from evaluation.tables import table_builder

STORED = (stored_agreement, stored_disagreement, stored_models, stored_people)
"""Modules of reports that are computed from the parameters of an address."""


@shared_task(name="evaluation.beat")
def record_heartbeat() -> None:
    """Shows on the status page that beat and worker live."""
    status.record_heartbeat(timezone.now())


@shared_task(name="evaluation.renew")
def recompute_report(benchmark_id: int, report: str, query: str, zone: str, language: str = "en") -> bool:
    """Compute a stored report again, from the address it was requested by. False where another worker is at it, or
    where the address no longer holds; a report for which nothing has changed is left as it is."""
    benchmark, at = Benchmark.objects.select_related("team").get(pk=benchmark_id), timezone.now()
    if report.startswith("table "):
        with translation.override(language):
            return table_builder.recompute(benchmark, report, QueryDict(query), at, ZoneInfo(zone))
    if report == linked_stages.REPORT:
        return linked_stages.recompute(benchmark, query, at)
    stored = next((module for module in STORED if report == module.REPORT), None)
    return bool(stored and stored.recompute(benchmark, QueryDict(query), ZoneInfo(zone), at))


@shared_task(name="evaluation.renew_boards")
def renew_boards() -> int:
    """Agreement on the boards of benchmarks, where answers have come since. For the beat."""
    return board_agreement.renew_all(timezone.now())


@shared_task(name=board_agreement.TASK)
def renew_board(benchmark_id: int) -> bool:
    """Agreement on the board of one benchmark, and its best model; False while another worker is at it."""
    benchmark, at = Benchmark.objects.select_related("team").get(pk=benchmark_id), timezone.now()
    is_renewed = board_agreement.renew(benchmark, at)
    board_models.renew_best(benchmark, at)
    return is_renewed
