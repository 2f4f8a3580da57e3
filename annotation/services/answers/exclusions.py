"""A rater's answers that do not count, and why. They stay; their places go to waiting answers, or open again."""

from datetime import datetime
from typing import Any

from annotation.models import Annotation, Assignment, Exclusion, Participation
from annotation.services.answers.inclusion import recompute_counted
from annotation.services.queue.leases import free_places
from annotation.services.queue.locks import lock_rater
from annotation.services.transactions import in_transaction
from benchmarks.models import Benchmark
from jobs.models import record
from people.models import Rater, User


@in_transaction
def exclude(benchmark: Benchmark, rater: Rater, reason: str, actor: User, at: datetime) -> Exclusion:
    """Uncount everything this rater answered in the benchmark. Excluding twice keeps the first reason."""
    if not reason.strip():
        raise ValueError("an exclusion needs a reason")
    seats = _lock(benchmark, rater)
    current = Exclusion.objects.filter(benchmark=benchmark, rater=rater, lifted_at=None).first()
    if current is not None:
        return current
    exclusion = Exclusion.objects.create(benchmark=benchmark, rater=rater, reason=reason.strip(), by=actor)
    reserved = Assignment.objects.filter(participation__in=seats, state=Assignment.State.RESERVED)
    _released, freed = free_places(reserved, at)
    change = recompute_counted(_answers(benchmark, rater), freed)
    _event(exclusion, actor, "rater.excluded", answers=change.uncounted, places=change.places)
    return exclusion


@in_transaction
def lift_exclusion(benchmark: Benchmark, rater: Rater, actor: User, at: datetime) -> int:
    """Count the rater's answers again where their places are still free; the rest wait as surplus.

    Says how many count again.
    """
    _lock(benchmark, rater)
    exclusion = Exclusion.objects.select_for_update().filter(benchmark=benchmark, rater=rater, lifted_at=None).first()
    if exclusion is None:
        return 0
    exclusion.lifted_at, exclusion.lifted_by = at, actor
    exclusion.save(update_fields=["lifted_at", "lifted_by"])
    count = recompute_counted(_answers(benchmark, rater)).counted
    _event(exclusion, actor, "rater.exclusion_lifted", answers=count)
    return count


def _lock(benchmark: Benchmark, rater: Rater) -> list[int]:
    """First, as in every transaction: all seats of the rater in the benchmark's campaigns."""
    return lock_rater(rater.pk, Participation.objects.filter(cohort__campaign__stage__benchmark=benchmark))


def _answers(benchmark: Benchmark, rater: Rater) -> list[int]:
    rows = Annotation.objects.filter(live=True, rater=rater, assignment__campaign__stage__benchmark=benchmark)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def _event(row: Exclusion, actor: User, verb: str, **data: Any) -> None:
    """Without the reason: events are never changed, so they hold no text about a person."""
    record(actor, verb, scope=row.benchmark.scope, target=f"rater:{row.rater_id}", exclusion=row.pk, **data)
