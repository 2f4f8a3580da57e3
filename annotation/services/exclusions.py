"""A rater's answers that do not count, and why. They stay; their places go to waiting answers, or open again."""

from datetime import datetime
from typing import Any

from django.db.models import Q

from annotation.models import Annotation, CampaignCohort, Exclusion, Participation, Rating
from annotation.services import outbox, slots
from annotation.services.allocation import lock_seat
from annotation.services.leases import release
from annotation.services.transactions import in_transaction
from benchmarks.models import Benchmark
from jobs.models import record
from people.models import Rater, User

Answer = tuple[int, int | None, int | None, int]  # annotation, slot, campaign cohort, assignment


@in_transaction
def exclude(benchmark: Benchmark, rater: Rater, reason: str, actor: User, at: datetime) -> Exclusion:
    """Uncount everything this rater answered in the benchmark. Excluding twice keeps the first reason."""
    if not reason.strip():
        raise ValueError("an exclusion needs a reason")
    seats = _lock_seats(benchmark, rater)
    found = Exclusion.objects.filter(benchmark=benchmark, rater=rater, lifted_at=None).first()
    if found is not None:
        return found
    exclusion = Exclusion.objects.create(benchmark=benchmark, rater=rater, reason=reason.strip(), by=actor)
    for seat in seats:
        release(seat, at)
    waiting = _answers(benchmark, rater, Q(counted=False, uncounted_because="surplus"))
    Annotation.objects.filter(pk__in=[one[0] for one in waiting]).update(uncounted_because="excluded")
    counted = _answers(benchmark, rater, Q(counted=True))
    places = _uncount(counted, "excluded")
    outbox.note_answers([one[0] for one in counted])
    _event(exclusion, actor, "rater.excluded", answers=len(counted), places=places, reason=reason.strip())
    return exclusion


@in_transaction
def lift(benchmark: Benchmark, rater: Rater, actor: User, at: datetime) -> int:
    """Count the rater's answers again where their places are still free; the rest wait as surplus.

    Says how many count again.
    """
    _lock_seats(benchmark, rater)
    exclusion = Exclusion.objects.select_for_update().filter(benchmark=benchmark, rater=rater, lifted_at=None).first()
    if exclusion is None:
        return 0
    exclusion.lifted_at, exclusion.lifted_by = at, actor
    exclusion.save(update_fields=["lifted_at", "lifted_by"])
    answers = _answers(benchmark, rater, Q(counted=False, uncounted_because="excluded"))
    by_cohort = _slots_of(answers)
    slots.lock([slot for places in by_cohort.values() for slot in places])
    placeless = [one[0] for one in answers if one[1] is None]
    Annotation.objects.filter(pk__in=[one[0] for one in answers]).update(uncounted_because="surplus")
    Annotation.objects.filter(pk__in=placeless).update(counted=True, uncounted_because="")
    Rating.objects.filter(annotation_id__in=placeless).update(counted=True)
    counts = dict.fromkeys(_cohorts_of(placeless), 0)
    counts |= {cohort: slots.promote(places) for cohort, places in sorted(by_cohort.items())}
    for cohort, count in sorted(counts.items()):
        slots.tally(cohort, 0, submitted=count)
    count = sum(counts.values()) + len(placeless)
    outbox.note_answers([one[0] for one in answers])
    _event(exclusion, actor, "rater.exclusion_lifted", answers=count)
    return count


def _lock_seats(benchmark: Benchmark, rater: Rater) -> list[int]:
    """First, as in every transaction: a submit in progress is waited for, and then found."""
    mine = Participation.objects.filter(rater=rater, cohort__campaign__stage__benchmark=benchmark)
    return [lock_seat(pk).id for pk in mine.order_by("pk").values_list("pk", flat=True)]


def _answers(benchmark: Benchmark, rater: Rater, which: Q) -> list[Answer]:
    rows = Annotation.objects.filter(which, live=True, rater=rater, assignment__campaign__stage__benchmark=benchmark)
    return list(
        rows.order_by("assignment__slot_id").values_list(
            "pk", "assignment__slot_id", "assignment__participation__cohort_id", "assignment_id"
        )
    )


def _uncount(answers: list[Answer], reason: str) -> int:
    """Says how many places opened: those for which no surplus answer stepped in."""
    by_cohort = _slots_of(answers)
    slots.lock([slot for places in by_cohort.values() for slot in places])
    ids = [one[0] for one in answers]
    Annotation.objects.filter(pk__in=ids).update(counted=False, uncounted_because=reason)
    Rating.objects.filter(annotation_id__in=ids).update(counted=False)
    changes = dict.fromkeys(_cohorts_of([one[0] for one in answers if one[1] is None]), (0, 0))
    changes |= {cohort: slots.uncount(places) for cohort, places in sorted(by_cohort.items())}
    for cohort, (wanted, submitted) in sorted(changes.items()):
        slots.tally(cohort, 0, wanted=wanted, submitted=submitted)
    return -sum(submitted for _wanted, submitted in changes.values())


def _cohorts_of(placeless: list[int]) -> list[int]:
    """Of answers out of files: pages of numbers see by their cohorts' tallies that something changed."""
    rows = Annotation.objects.filter(pk__in=placeless, cohort__isnull=False)
    pairs = rows.values_list("assignment__campaign", "cohort").distinct()
    return [CampaignCohort.objects.get(campaign=campaign, cohort=cohort).pk for campaign, cohort in pairs]


def _slots_of(answers: list[Answer]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for _annotation, slot, cohort, _assignment in answers:
        if slot is not None and cohort is not None:
            found.setdefault(cohort, []).append(slot)
    return found


def _event(exclusion: Exclusion, actor: User, verb: str, **data: Any) -> None:
    record(actor, verb, scope=exclusion.benchmark.scope, target=f"rater:{exclusion.rater_id}", **data)
