"""The next version of a collection that was made from a stage: what comes and goes, and making it.

A version is never changed: what the stage gives otherwise now is another version, and runs over the earlier one stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.services.derivation.item_withdrawal import BECAUSE
from benchmarks.models import Item
from people.models import User
from predictions.models import Collection, Entry, Query
from predictions.services.collections import builder
from predictions.services.collections.builder import BuildResult, CollectionPlan, EntriesChanged
from predictions.services.runs.result_runs import FileRunRefused

SOURCE, WITHDRAWN, NOT_ACCEPTED = "source", "withdrawn", "not_accepted"
REASONS = (SOURCE, WITHDRAWN, Item.Intake.DROPPED.value, Item.Intake.WAITING.value, NOT_ACCEPTED)


@dataclass(frozen=True)
class EntryLeaving:
    """An entry that the next version lacks, and why: a code."""

    entry: Entry
    reason: str


@dataclass(frozen=True)
class EntryChange:
    """An entry that stays and says something else; `names`: in what it differs, "image", "text" or a column."""

    entry: Entry
    names: Sequence[str]


@dataclass(frozen=True)
class NextVersion:
    """What a next version would be. `digest`: of its entries.

    `trials`: by query set, how many queries would have other candidates or words, come or go.
    """

    collection: Collection
    plan: CollectionPlan
    comes: Sequence[Entry]
    goes: Sequence[EntryLeaving]
    changed: Sequence[EntryChange]
    entries: int
    digest: str
    trials: Mapping[str, int]

    @property
    def differs(self) -> bool:
        return bool(self.comes or self.goes or self.changed or self.trials)


def newest_version(collection: Collection) -> Collection:
    """Of the same key: the one that was made last."""
    same = Collection.objects.filter(benchmark=collection.benchmark_id, key=collection.key)
    return same.select_related("stage__benchmark", "benchmark").latest("pk")


def plan_next(collection: Collection) -> NextVersion:
    """Compare a collection with what its stage gives now. Raises FileRunRefused."""
    plan = builder.plan_from(collection, _next_number(collection))
    now = {entry.key: entry for entry in builder.planned_entries(plan)}
    before = {entry.key: entry for entry in collection.entries.select_related("image").order_by("key")}
    changed = [
        EntryChange(entry, names)
        for key, entry in now.items()
        if key in before and (names := _differences(before[key], entry))
    ]
    return NextVersion(
        collection=collection,
        plan=plan,
        comes=[entry for key, entry in now.items() if key not in before],
        goes=_leaving(plan, [entry for key, entry in before.items() if key not in now]),
        changed=changed,
        entries=len(now),
        digest=builder.entries_digest(now.values()),
        trials=_changed_trials(collection, builder.planned_trials(plan, list(now.values()))),
    )


def _changed_trials(collection: Collection, planned: Iterable[Query]) -> dict[str, int]:
    """By query set. One query."""
    stored = collection.queries.exclude(roles={})
    before = {(query.query_set, query.key): (query.roles, query.text) for query in stored}
    now = {(query.query_set, query.key): (query.roles, query.text) for query in planned}
    changed = Counter(key[0] for key in {*before, *now} if before.get(key) != now.get(key))
    return dict(sorted(changed.items()))


def create_next(collection: Collection, actor: User, digest: str) -> BuildResult:
    """Make it as it was shown (`digest`). Raises FileRunRefused, EntriesChanged."""
    shown = plan_next(collection)
    if not shown.differs:
        raise FileRunRefused(_("Nothing has changed since this version, so there is nothing to create."))
    if not digest:
        raise EntriesChanged
    return builder.build_collection(shown.plan, actor, expected=digest)


def _differences(before: Entry, now: Entry) -> list[str]:
    names = [name for name in ("image_id", "text") if getattr(before, name) != getattr(now, name)]
    columns = sorted({*before.about, *now.about} - {"text"})
    names += [name for name in columns if before.about.get(name) != now.about.get(name)]
    return [name.removesuffix("_id") for name in names]


def _next_number(collection: Collection) -> str:
    """One more than the largest version that is a number; versions may have other names."""
    same = Collection.objects.filter(benchmark=collection.benchmark_id, key=collection.key)
    versions = list(same.values_list("version", flat=True))
    numbers = [int(version) for version in versions if version.isdecimal() and len(version) < 10]
    return str(max(numbers, default=len(versions)) + 1)


def _leaving(plan: CollectionPlan, entries: Sequence[Entry]) -> list[EntryLeaving]:
    """With the reason of each, by what its item says now. One query."""
    keys = {str(entry.about.get("item") or entry.key) for entry in entries}
    items = {item.key: item for item in Item.objects.filter(stage=plan.stage, key__in=keys)}
    return [EntryLeaving(entry, _reason(items, entry)) for entry in entries]


def _reason(items: Mapping[str, Item], entry: Entry) -> str:
    item = items.get(str(entry.about.get("item") or entry.key))
    if item is None or item.withdrawn_at is not None:
        return SOURCE if item is not None and item.withdrawn_because == BECAUSE else WITHDRAWN
    return item.intake if item.intake in (Item.Intake.DROPPED, Item.Intake.WAITING) else NOT_ACCEPTED
