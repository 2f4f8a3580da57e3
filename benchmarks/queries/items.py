"""What is read of single items, for pages."""

from collections.abc import Sequence

from django.db.models import Prefetch

from benchmarks.models import Item, ItemImage


def load_items(ids: Sequence[int]) -> list[Item]:
    """These items with their pictures, stage and tally, in this order. Two queries."""
    pictures = Prefetch("images", ItemImage.objects.select_related("image").order_by("role"))
    rows = Item.objects.filter(pk__in=ids).select_related("stage", "tally").prefetch_related(pictures)
    by_id = {item.pk: item for item in rows}
    return [by_id[pk] for pk in ids if pk in by_id]


def context_texts(item: Item) -> list[tuple[str, str]]:
    """What an item's context says in words. What is laid out for a display (groups, what is near) is left out."""
    texts = []
    for name, value in item.context.items():
        rows = value if isinstance(value, list) else [value]
        if rows and all(isinstance(row, str | int | float) for row in rows):
            texts.append((name, ", ".join(str(row) for row in rows)))
    return texts


def pictures(item: Item) -> list[tuple[ItemImage, list[tuple[str, str]]]]:
    """An item's pictures in the order of their roles, each with what is told of it alone."""
    each = item.context.get("pictures")
    own = each if isinstance(each, dict) else {}
    uses = item.images.select_related("image").order_by("role")
    return [(use, [(name, str(value)) for name, value in (own.get(use.role) or {}).items()]) for use in uses]
