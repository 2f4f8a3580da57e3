"""An item of each campaign, to show what its work is like."""

from collections.abc import Collection

from benchmarks.models import Item, ItemImage
from jobs.queries.statements import fetch

# Of the first slot that is still open; else of any. Index entries are read, one or two for each cohort.
FIRST = """
SELECT place.cohort, u.item_id FROM unnest(%(cohorts)s::bigint[]) AS place(cohort) JOIN annotation_unit u ON u.id =
  coalesce(
    (SELECT s.unit_id FROM annotation_slot s WHERE s.cohort_id = place.cohort AND s.open ORDER BY s.position LIMIT 1),
    (SELECT s.unit_id FROM annotation_slot s WHERE s.cohort_id = place.cohort ORDER BY s.id LIMIT 1))
"""


def first_items(cohort_ids: Collection[int]) -> dict[int, Item]:
    """By the id of a CampaignCohort; one without slots has none. Two queries."""
    firsts = dict(fetch(FIRST, {"cohorts": list(cohort_ids)})) if cohort_ids else {}
    items = Item.objects.only("text", "concept").in_bulk(set(firsts.values()))
    return {cohort: items[item] for cohort, item in firsts.items()}


def first_pictures(items: Collection[Item]) -> dict[int, ItemImage]:
    """The picture of the first role, by item. One query."""
    uses = ItemImage.objects.filter(item__in=items).order_by("item", "role").distinct("item")
    return {use.item_id: use for use in uses.select_related("image")} if items else {}
