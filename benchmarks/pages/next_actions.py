"""The one next action of the overview: what this reader does next, from an ordered list of states.

Apps above this one register the states that they know of in AppConfig.ready.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.queries.stage_states import stages_with_items
from people.models import User


class Rank(IntEnum):
    """The order of the states: the first that holds for a reader is shown."""

    BEGIN = 5  # the files that all items come from
    IMPORT = 10  # no items
    INVITE = 15  # items wait for people, and nobody has joined
    FACTS = 20  # candidates wait for a fact
    COHORTS = 30  # no cohort
    OPEN = 40  # no stage is open
    REVIEW = 50  # answers wait for review
    ADJUDICATE = 60  # disagreements wait for a decision
    ENCODE = 63  # an open stage has no items until a model was run: pairs by an encoder, or proposals
    FILL = 65  # an open stage has no items and a page makes them, or none of its items may be answered
    PLAN = 70  # no model was asked
    RUNS = 75  # runs of models failed, or stand still
    JUDGE = 80  # answers wait for a judge
    TABLES = 90  # answers are there: their tables, stages that are not open yet, or the export
    REST = 105  # a few candidates wait for a fact; nobody else waits for them
    WAIT = 110  # others are at work


WORK = frozenset({Rank.FACTS, Rank.REVIEW, Rank.ADJUDICATE, Rank.RUNS})
"""States in which work is there to be done, whatever else is."""


@dataclass(frozen=True)
class NextAction:
    """A sentence, perhaps with another one that explains it, and one button. `second`: label and address of a link that
    also serves."""

    text: str
    label: str
    url: str
    detail: str = ""
    second: tuple[str, str] | None = None


Finder = Callable[[Benchmark, User], NextAction | None]
_FINDERS: dict[int, list[Finder]] = {}


def register(rank: Rank, find: Finder) -> None:
    """Add a state. `find` returns None where it does not hold, or where this reader can do nothing about it."""
    finders = _FINDERS.setdefault(rank, [])
    if find not in finders:
        finders.append(find)


def next_action(benchmark: Benchmark, user: User) -> NextAction:
    """Return exactly one action for each reader: the first by rank, else a way to look around."""
    for rank in sorted(_FINDERS):
        for find in _FINDERS[rank]:
            action = find(benchmark, user)
            if action is not None:
                return action
    return NextAction(
        _("Nothing waits for you here."), _("View items"), reverse("benchmarks:items", args=[benchmark.slug])
    )


def waiting_actions(benchmark: Benchmark, user: User) -> Iterator[NextAction]:
    """What waits for this reader: the first by rank, then other work that is there, on other pages. Nothing where
    others are at work or there is only something to look at."""
    shown: set[str] = set()
    for rank in sorted(rank for rank in _FINDERS if rank <= Rank.RUNS):
        for find in _FINDERS[rank]:
            action = find(benchmark, user) if not shown or rank in WORK else None
            if action is not None and action.url not in shown:
                shown.add(action.url)
                yield action


def add_stage(benchmark: Benchmark, user: User) -> NextAction | None:
    """A blank benchmark has no stage yet."""
    if not is_permitted(user, benchmark, "work_on") or benchmark.stages.exists():
        return None
    return NextAction(
        _("No stage yet."),
        _("Add a stage"),
        reverse("annotation:stages", args=[benchmark.slug]),
        _("Stages are the steps of a benchmark: people answer one, and its answers can be the items of the next."),
    )


def import_items(benchmark: Benchmark, user: User) -> NextAction | None:
    """No stage has an item: the first that takes items from outside needs some."""
    if stages_with_items(benchmark) or not is_permitted(user, benchmark, "work_on"):
        return None
    stage = next((stage for stage in benchmark.stages.all() if not stage.derivation), None)
    if stage is None:
        return None
    details: dict[Any, str] = {
        Stage.Pictures.NONE: _("Import keywords or other texts. It needs no pictures."),
        Stage.Pictures.OPTIONAL: _("Import a list of texts, with or without pictures."),
    }
    return NextAction(
        _("“%(stage)s” has no items yet.") % {"stage": stage.name},
        _("Import items"),
        f"{reverse('benchmarks:import', args=[benchmark.slug])}?{urlencode({'stage': stage.key})}",
        details.get(stage.pictures, _("Import pictures as a zip, with a manifest that says what they show.")),
        None if benchmark.recipe else (_("Add a stage"), reverse("annotation:stages", args=[benchmark.slug])),
    )
