"""What a later version of a release no longer has: withdrawn, no longer counted, or deleted where it is a mere note."""

from collections.abc import Callable, Mapping, Sequence

from django.db import transaction
from django.db.models import F, ProtectedError

from annotation.models import Annotation, Rating
from benchmarks.models import Item, ItemImage
from evaluation.models import BenchmarkTable
from predictions.models import Run
from releases.imports.state import ImportState
from releases.imports.writer import GONE
from releases.models import ImportedRow
from releases.rows.site.kinds import SiteKind

WITHDRAWN = "withdrawn"
BATCH = 500


def _withdraw(state: ImportState, kind: SiteKind, ids: Sequence[int]) -> None:
    """Items and runs."""
    model = Item if kind.model is Item else Run
    model._base_manager.filter(pk__in=ids, withdrawn_at=None).update(withdrawn_at=state.at)


def _uncount(state: ImportState, kind: SiteKind, ids: Sequence[int]) -> None:
    """Answers. They are kept, as those of an import that was withdrawn."""
    Annotation.objects.filter(pk__in=ids, live=True).update(live=False, counted=False, uncounted_because=WITHDRAWN)
    Rating.objects.filter(annotation__in=ids).update(live=False, counted=False)


def _remove(state: ImportState, kind: SiteKind, ids: Sequence[int]) -> None:
    BenchmarkTable.objects.filter(pk__in=ids, removed_at=None).update(removed_at=state.at)


def _delete(state: ImportState, kind: SiteKind, ids: Sequence[int]) -> None:
    if kind.model is ItemImage:  # for programs that read what has changed
        Item.objects.filter(images__in=ids).order_by().update(key=F("key"))
    for pk in ids:
        try:
            with transaction.atomic():
                kind.model._base_manager.filter(pk=pk).delete()
        except ProtectedError:  # somebody here has built on it
            continue


ACTIONS: Mapping[str, Callable[[ImportState, SiteKind, Sequence[int]], None]] = {
    "withdrawn": _withdraw,
    "uncounted": _uncount,
    "removed": _remove,
    "deleted": _delete,
}


def remove_gone(state: ImportState, kind: SiteKind) -> list[str] | None:
    """The keys of the next few rows of a kind that this version lacks, as far as something was done with them; None
    where there are no more. Needs a transaction."""
    rows = ImportedRow.objects.filter(benchmark=state.benchmark, kind=kind.key)
    gone = list(rows.exclude(seen=state.release_import).exclude(digest=GONE).order_by("pk")[:BATCH])
    if kind.shared or not gone:
        return None
    action = ACTIONS.get(kind.gone)
    if action is not None:
        action(state, kind, [row.object_id for row in gone])
    if kind.gone == "deleted":
        ImportedRow.objects.filter(pk__in=[row.pk for row in gone]).delete()
    else:
        ImportedRow.objects.filter(pk__in=[row.pk for row in gone]).update(digest=GONE)
    return [row.key for row in gone] if action is not None else []
