"""Items of a stage, for pages."""

from collections.abc import Mapping

from django.db.models import Prefetch, Q, QuerySet

from benchmarks.models import Item, ItemImage, Stage

FACETS = ("concept", "origin", "condition")
PAGE = 60


def filter_choices(stage: Stage) -> dict[str, list[str]]:
    """What can be chosen in the filters: what is there."""
    items = stage.items.order_by()
    return {name: sorted(filter(None, items.values_list(name, flat=True).distinct())) for name in FACETS}


def items(stage: Stage, chosen: Mapping[str, str]) -> QuerySet[Item]:
    """`chosen` holds declared facets only; a name from a request never becomes a lookup."""
    selection = stage.items.filter(withdrawn_at=None)
    for name in FACETS:
        if chosen.get(name):
            selection = selection.filter(Q(**{name: chosen[name]}))
    return selection.order_by("pk")


def page(queryset: QuerySet[Item], after: int) -> tuple[list[Item], int | None]:
    """One page by key, and the key to go on after; None at the end."""
    pictures = Prefetch("images", ItemImage.objects.select_related("image").order_by("role"))
    rows = list(queryset.filter(pk__gt=after).prefetch_related(pictures)[: PAGE + 1])
    return rows[:PAGE], rows[PAGE - 1].pk if len(rows) > PAGE else None


def neighbours(item: Item) -> tuple[int | None, int | None]:
    """The items before and after it in its stage."""
    others = Item.objects.filter(stage=item.stage_id, withdrawn_at=None).values_list("pk", flat=True)
    before = others.filter(pk__lt=item.pk).order_by("-pk").first()
    return before, others.filter(pk__gt=item.pk).order_by("pk").first()


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
