"""The revisions of items: which is the newest, and all of them in order."""

from collections.abc import Iterable

from benchmarks.models import Item


def newest_revisions(items: Iterable[Item]) -> dict[int, Item]:
    """The newest revision of each of these items, by the item's id. A query for each further revision."""
    newest = {item.pk: item for item in items}
    origin = {pk: pk for pk in newest}
    while origin:
        later = {origin[row.replaces_id]: row for row in Item.objects.filter(replaces__in=origin) if row.replaces_id}
        newest |= later
        origin = {row.pk: pk for pk, row in later.items()}
    return newest


def revisions_of(item: Item) -> list[Item]:
    """All revisions of an item, the first one first."""
    rows = [item]
    while rows[0].replaces_id:
        rows.insert(0, Item.objects.get(pk=rows[0].replaces_id))
    while later := Item.objects.filter(replaces=rows[-1]).first():
        rows.append(later)
    return rows
