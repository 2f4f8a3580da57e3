"""The next action where pictures were drawn to be searched: a collection of them, then a model that searches it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db.models import Count, Exists, OuterRef
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.queries.opened_stages import stages_with_open_work
from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.pages.next_actions import NextAction
from benchmarks.queries.availability import is_kept
from jobs.queries.read_together import read_for_each
from people.models import User
from predictions.models import Collection, Run

DRAWN = "sample"


def search_set(benchmark: Benchmark, user: User) -> NextAction | None:
    """A set that nobody is asked about has no collection, or no model has searched its newest one."""
    if not is_permitted(user, benchmark, "work_on"):
        return None
    stage = _drawn_set(benchmark)
    if stage is None:
        return None
    n = (read_for_each(benchmark, _kept_of_sets) or {}).get(stage.pk, 0)
    newest, is_searched = (read_for_each(benchmark, _newest_of_sets) or {}).get(stage.pk, (None, False))
    if n and newest is None:
        text = ngettext(
            "“%(stage)s” has %(n)s item, and no collection of it yet.",
            "“%(stage)s” has %(n)s items, and no collection of them yet.", n,
        )  # fmt: skip
        return NextAction(
            text % {"stage": stage.name, "n": n},
            _("Create collection"),
            reverse("predictions:collection_make", args=[benchmark.slug]),
            _("Models search a collection."),
        )
    if newest is None or is_searched:
        return None
    return NextAction(
        _("No model has searched “%(collection)s” yet.") % {"collection": newest},
        _("Run an encoder"),
        reverse("predictions:encode", args=[benchmark.slug]),
        second=(_("Import a run"), reverse("predictions:run_new", args=[benchmark.slug])),
    )


def _drawn_set(benchmark: Benchmark) -> Stage | None:
    """The first such stage whose sources have no open work left."""
    stages = list(benchmark.stages.all())
    for stage in filter(_is_drawn_set, stages):
        sources = {other.pk for other in stages if other.key in stage.derivation.get("from", ())}
        if not sources & stages_with_open_work(benchmark):
            return stage
    return None


def _is_drawn_set(stage: Stage) -> bool:
    return not stage.target_answers and stage.derivation.get("kind") == DRAWN


def _drawn_sets(benchmarks: Sequence[Benchmark]) -> dict[int, int]:
    """The benchmark of each such stage."""
    return {stage.pk: row.pk for row in benchmarks for stage in row.stages.all() if _is_drawn_set(stage)}


def _kept_of_sets(benchmarks: Sequence[Benchmark]) -> Mapping[int, Mapping[int, int]]:
    """How many items each set has, by stage."""
    sets, counts = _drawn_sets(benchmarks), defaultdict[int, dict[int, int]](dict)
    kept = Item.objects.filter(is_kept(), stage__in=sets).order_by()
    for stage, n in kept.values_list("stage").annotate(n=Count("pk")):
        counts[sets[stage]][stage] = n
    return counts


def _newest_of_sets(benchmarks: Sequence[Benchmark]) -> Mapping[int, Mapping[int, tuple[Collection, bool]]]:
    """The newest collection of each set, by stage, and whether a model has searched it."""
    sets, newest = _drawn_sets(benchmarks), defaultdict[int, dict[int, tuple[Collection, bool]]](dict)
    searches = Run.objects.filter(collection=OuterRef("pk"), withdrawn_at=None)
    rows = Collection.objects.filter(stage__in=sets).order_by("stage_id", "-pk").distinct("stage_id")
    for collection in rows.annotate(is_searched=Exists(searches)):
        if collection.stage_id is not None:
            newest[sets[collection.stage_id]][collection.stage_id] = (collection, collection.is_searched)
    return newest
