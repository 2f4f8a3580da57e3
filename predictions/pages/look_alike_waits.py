"""What is said of pictures that came after look-alikes were dropped: they wait until they have been compared, too."""

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks.models import Item, Stage
from predictions.models import Collection, Entry, Run
from predictions.pages.fact_requests import FactWait
from predictions.queries.look_alikes import waiting_for_comparison


def look_alike_wait(stage: Stage, n: int) -> FactWait:
    """To the press, where a run has compared them; to the encoders or the next version of the collection before."""
    text = ngettext(
        "%(n)s picture came after look-alikes were dropped.", "%(n)s pictures came after look-alikes were dropped.", n
    ) % {"n": n}
    slug = stage.benchmark.slug
    collection = Collection.objects.filter(stage=stage).order_by("-pk").first()
    if collection is None:
        return FactWait(stage, n, text, "", _("Create collection"), reverse("predictions:collection_make", args=[slug]))
    if not _has_all(collection, stage):
        url = reverse("predictions:collection_next", args=[slug, collection.pk])
        detail = _("Create the next version of “%(name)s”, run an encoder over it, then drop look-alikes again.")
        return FactWait(stage, n, text, detail % {"name": collection.name}, _("Create the next version"), url)
    runs = Run.objects.filter(collection=collection, task=Run.Task.EMBEDDING, complete=True, withdrawn_at=None)
    if (run := runs.order_by("-pk").first()) is None:
        detail = _("Run an encoder over “%(name)s”, then drop look-alikes again.") % {"name": collection}
        return FactWait(stage, n, text, detail, _("Run an encoder"), reverse("predictions:encode", args=[slug]))
    url = reverse("predictions:near_duplicates", args=[slug, run.pk])
    return FactWait(stage, n, text, _("They are compared. Drop look-alikes again."), _("Drop look-alikes"), url)


def _has_all(collection: Collection, stage: Stage) -> bool:
    """Whether every picture that waits is in the collection."""
    waiting = set(Item.objects.filter(waiting_for_comparison(stage), stage=stage).values_list("key", flat=True))
    entries = Entry.objects.filter(collection=collection).values_list("key", "about__item")
    return waiting <= {str(item or key) for key, item in entries}
