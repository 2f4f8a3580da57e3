from zoneinfo import ZoneInfo

from celery import shared_task
from django.http import QueryDict
from django.utils import timezone, translation

from benchmarks.models import Benchmark
from evaluation.queries import status
from evaluation.reports import board_agreement, board_models, linked_stages, stored_agreement
from evaluation.reports.agreement import agreement
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import SelectionError, select
from evaluation.services.snapshots import compute_if_unlocked, key_of
from evaluation.tables import table_builder


@shared_task(name="evaluation.beat")
def record_heartbeat() -> None:
    """Shows on the status page that beat and worker live."""
    status.record_heartbeat(timezone.now())


@shared_task(name="evaluation.renew")
def recompute_report(benchmark_id: int, report: str, query: str, zone: str, language: str = "en") -> bool:
    """Make a kept report anew, from the address it was asked for by. False where another is at it, or where the
    address no longer holds; one that nothing has changed for is left as it is."""
    benchmark = Benchmark.objects.select_related("team").get(pk=benchmark_id)
    if report.startswith("table "):
        with translation.override(language):
            return table_builder.recompute(benchmark, report, QueryDict(query), timezone.now(), ZoneInfo(zone))
    if report == linked_stages.REPORT:
        return linked_stages.recompute(benchmark, query, timezone.now())
    catalogue = catalogue_of(benchmark)
    if report != stored_agreement.REPORT or not catalogue.stages:
        return False
    try:
        selection = select(catalogue, QueryDict(query), zone=ZoneInfo(zone), every_question=True)
    except SelectionError:
        return False
    at = timezone.now()
    key = key_of(catalogue.benchmark, report, selection)
    done = compute_if_unlocked(
        catalogue.benchmark, report, key, lambda: stored_agreement.to_data(agreement(catalogue, selection, at)), at
    )
    return done is not None


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
