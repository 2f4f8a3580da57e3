"""Items that wait for nothing but a comparison of their pictures."""

from django.db.models import Exists, OuterRef, Q

from benchmarks.models import FilterResult, Item, Stage

FACT = "look_alikes"  # of an item: those that its picture is like, with how alike they are


def waiting_for_comparison(stage: Stage) -> Q:
    """Items of the stage that no filter drops, and that its filters hold back for this fact alone."""
    version = stage.filter_versions.order_by("-number").values("pk")[:1]
    waits = FilterResult.objects.filter(item=OuterRef("pk"), version=version, state=FilterResult.State.WAITING)
    return Q(Exists(waits.filter(value=FACT)), ~Exists(waits.exclude(value=FACT)), intake=Item.Intake.WAITING)
