"""The next action where pictures were drawn to be searched: a collection of them, then a model that searches it."""

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Slot
from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.next_actions import NextAction
from benchmarks.queries.availability import is_kept
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
    n = stage.items.filter(is_kept()).count()
    newest = Collection.objects.filter(stage=stage).order_by("-pk").first()
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
    if newest is None or Run.objects.filter(collection=newest, withdrawn_at=None).exists():
        return None
    return NextAction(
        _("No model has searched “%(collection)s” yet.") % {"collection": newest},
        _("Run an encoder"),
        reverse("predictions:encode", args=[benchmark.slug]),
        second=(_("Import a run"), reverse("predictions:run_new", args=[benchmark.slug])),
    )


def _drawn_set(benchmark: Benchmark) -> Stage | None:
    """The first such stage whose sources have no open work left."""
    for stage in benchmark.stages.all():
        if stage.target_answers or stage.derivation.get("kind") != DRAWN:
            continue
        sources = benchmark.stages.filter(key__in=stage.derivation.get("from", ()))
        if not Slot.objects.filter(cohort__campaign__stage__in=sources, open=True).exists():
            return stage
    return None
