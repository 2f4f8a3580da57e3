"""The filters of a stage: each change is a new version, carried out by a job."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from benchmarks.models import FilterVersion, Stage
from benchmarks.rules.filters import parse_filters
from benchmarks.services import item_changes
from benchmarks.services.intake import judge_job
from benchmarks.services.intake.judging import current_version, lock_stage, version_number
from jobs.models import Job, record
from people.models import User


class FiltersChanged(Exception):
    """Somebody else changed the filters since they were read."""


@transaction.atomic
def set_filters(
    stage: Stage, definition: Sequence[Mapping[str, Any]], actor: User | None, *,
    number_seen: int | None = None, measured: Mapping[str, Any] | None = None,
) -> Job | None:  # fmt: skip
    """Write the next version and start the job that judges the stage's items again; None if nothing differs.

    `number_seen`: the version that the definition was made from; `measured`: by the key of a filter, what was measured
    when its limits were chosen. It stays with later versions as long as the filter is the same; a filter whose limits
    were measured makes a version even if they are those that it had.
    Raises FilterError if the definition is not valid, FiltersChanged if another version is current.
    """
    normal = [rule.to_json() for rule in parse_filters(list(definition))]
    locked = lock_stage(stage)
    number = version_number(locked)
    if number_seen is not None and number_seen != number:
        raise FiltersChanged
    if normal == locked.filters and not measured:
        return None
    measured_before = _measured_before(current_version(locked), normal) if number else {}
    number += 1
    locked.filters = stage.filters = normal
    locked.save(update_fields=["filters"])
    FilterVersion.objects.create(
        stage=locked, number=number, definition=normal, seen=measured_before | dict(measured or {}), created_by=actor
    )
    keys = [entry["key"] for entry in normal]
    record(
        actor, "filters.changed", scope=locked.benchmark.scope, target=f"stage:{stage.pk}", version=number, filters=keys
    )
    return judge_job.start(locked, actor)


def _measured_before(version: FilterVersion, definition: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What was measured for the filters that stay as they are."""
    same = {entry["key"] for entry in definition if entry in version.definition}
    return {key: values for key, values in version.seen.items() if key in same}


@transaction.atomic
def judge_again(stage: Stage, actor: User | None) -> Job | None:
    """Start the job for the current version, for instance after facts came; None if it is queued already."""
    locked = lock_stage(stage)
    unfinished = judge_job.latest_unfinished(locked)
    if unfinished is not None and unfinished.state == Job.State.QUEUED:
        return None
    return judge_job.start(locked, actor)


@transaction.atomic
def set_assign_waiting(stage: Stage, assign: bool, actor: User | None) -> bool:
    """Offer items that wait for a fact to people, or no longer; returns whether that changed anything."""
    locked = lock_stage(stage)
    if locked.assign_waiting == assign:
        return False
    locked.assign_waiting = stage.assign_waiting = assign
    locked.save(update_fields=["assign_waiting"])
    verb = "waiting_items.assigned" if assign else "waiting_items.not_assigned"
    record(actor, verb, scope=locked.benchmark.scope, target=f"stage:{stage.pk}")
    waiting = locked.items.filter(intake="waiting", withdrawn_at=None)
    item_changes.notify(locked.pk, list(waiting.order_by("pk").values_list("pk", flat=True)))
    return True
