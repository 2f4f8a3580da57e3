"""Which items are made of which, over any number of steps."""

from collections.abc import Collection, Iterable, Sequence

from benchmarks.models import Stage
from jobs.queries.statements import fetch

UP = """WITH RECURSIVE up (item, id) AS (
  SELECT s.item_id, s.source_id FROM annotation_itemsource s WHERE s.item_id = ANY(%(items)s)
  UNION SELECT up.item, s.source_id FROM up JOIN annotation_itemsource s ON s.item_id = up.id)
SELECT item, id FROM up"""
# From the items of the first stage that these are, or are made of, to all that is made of them.
LINKED = """WITH RECURSIVE up (id) AS (
  SELECT unnest(%(items)s::bigint[])
  UNION SELECT s.source_id FROM up JOIN annotation_itemsource s ON s.item_id = up.id),
down (id) AS (
  SELECT i.id FROM up JOIN benchmarks_item i ON i.id = up.id WHERE i.stage_id = %(first)s
  UNION SELECT s.item_id FROM down JOIN annotation_itemsource s ON s.source_id = down.id)
SELECT i.id FROM down JOIN benchmarks_item i ON i.id = down.id WHERE i.stage_id = ANY(%(stages)s)"""


def ancestors(items: Iterable[int]) -> dict[int, frozenset[int]]:
    """By item all items that it is made of; those that are made of none are left out. One query."""
    made_of: dict[int, set[int]] = {}
    for item, ancestor in fetch(UP, {"items": list(items)}):
        made_of.setdefault(item, set()).add(ancestor)
    return {item: frozenset(known) for item, known in made_of.items()}


def linked_items(items: Collection[int], *, first: str, earlier: Sequence[Stage]) -> set[int]:
    """The items of the `first` stage that these are or come from, and what `earlier` stages made of them. One query."""
    stages = {stage.key: stage.pk for stage in earlier}
    params = {"items": list(items), "first": stages.get(first), "stages": list(stages.values())}
    return {pk for (pk,) in fetch(LINKED, params)}
