"""A rater's answers that do not count, and why. They stay; their places go to waiting answers, or open again."""

from datetime import datetime
from typing import Any

from annotation.models import Annotation, Assignment, Exclusion, Participation
from annotation.services.answers.inclusion import recompute_counted
from annotation.services.queue.leases import free_places
from annotation.services.queue.locks import lock_participation
from annotation.services.transactions import in_transaction
from benchmarks.models import Benchmark
from jobs.models import record
from people.models import Rater, User


@in_transaction
def exclude(benchmark: Benchmark, rater: Rater, reason: str, actor: User, at: datetime) -> Exclusion:
    """Uncount everything this rater answered in the benchmark. Excluding twice keeps the first reason."""
    if not reason.strip():
        raise ValueError("an exclusion needs a reason")
    seats = _lock_participations(benchmark, rater)
    current = Exclusion.objects.filter(benchmark=benchmark, rater=rater, lifted_at=None).first()
    if current is not None:
        return current
    exclusion = Exclusion.objects.create(benchmark=benchmark, rater=rater, reason=reason.strip(), by=actor)
    reserved = Assignment.objects.filter(participation__in=seats, state=Assignment.State.RESERVED)
    _released, freed = free_places(reserved, at)
    change = recompute_counted(_answers(benchmark, rater), freed)
    details = {"answers": change.uncounted, "places": change.places, "reason": reason.strip()}
    _event(exclusion, actor, "rater.excluded", **details)
    return exclusion


@in_transaction
def lift_exclusion(benchmark: Benchmark, rater: Rater, actor: User, at: datetime) -> int:
    """Count the rater's answers again where their places are still free; the rest wait as surplus.

    Says how many count again.
    """
    _lock_participations(benchmark, rater)
    exclusion = Exclusion.objects.select_for_update().filter(benchmark=benchmark, rater=rater, lifted_at=None).first()
    if exclusion is None:
        return 0
    exclusion.lifted_at, exclusion.lifted_by = at, actor
    exclusion.save(update_fields=["lifted_at", "lifted_by"])
    count = recompute_counted(_answers(benchmark, rater)).counted
    _event(exclusion, actor, "rater.exclusion_lifted", answers=count)
    return count


def _lock_participations(benchmark: Benchmark, rater: Rater) -> list[int]:
    """First, as in every transaction: a submit in progress is waited for, and then found."""
    mine = Participation.objects.filter(rater=rater, cohort__campaign__stage__benchmark=benchmark)
    return [lock_participation(pk).id for pk in mine.order_by("pk").values_list("pk", flat=True)]


def _answers(benchmark: Benchmark, rater: Rater) -> list[int]:
    rows = Annotation.objects.filter(live=True, rater=rater, assignment__campaign__stage__benchmark=benchmark)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def _event(exclusion: Exclusion, actor: User, verb: str, **data: Any) -> None:
    record(actor, verb, scope=exclusion.benchmark.scope, target=f"rater:{exclusion.rater_id}", **data)
