"""Items that the present rule would not make, and that stay since they have an answer: "outside the present rule".

Meant are only what filters and their limits say, and how many a draw takes. An item whose source was rejected,
withdrawn or corrected goes, whoever has answered it.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.db.models import QuerySet

from annotation.models import ItemSource
from annotation.services.derivation.accepted_results import results_of
from annotation.services.derivation.run_choice import RunChoice
from benchmarks.models import Item, Stage
from benchmarks.queries.availability import is_kept, kept_without
from benchmarks.rules.derivations import Derivation
from jobs.queries.statements import fetch

DRAW = "sample"
# Of these items, those that have an answer, or of which something was made that has one.
ANSWERED = """
WITH RECURSIVE lineage(root, item) AS (
  SELECT id, id FROM unnest(%s::bigint[]) AS roots(id)
  UNION SELECT l.root, s.item_id FROM lineage l JOIN annotation_itemsource s ON s.source_id = l.item
    JOIN benchmarks_item d ON d.id = s.item_id AND d.withdrawn_at IS NULL
)
SELECT DISTINCT l.root FROM lineage l
WHERE EXISTS (SELECT FROM annotation_unit u JOIN annotation_assignment a ON a.unit_id = u.id
  JOIN annotation_annotation an ON an.assignment_id = a.id AND an.live WHERE u.item_id = l.item)
"""

Link = tuple[int, int | None]
"""An item of an earlier stage, and the answer to it that was used, if one was."""


def outside_items(stage: Stage) -> QuerySet[Item]:
    return stage.items.filter(withdrawn_at=None, outside_since__isnull=False)


def find_outside(
    derivation: Derivation,
    earlier: Sequence[Stage],
    runs: RunChoice | None,
    gone: Collection[int],
    drafted: Collection[Link],
) -> set[int]:
    """Of the items that the derivation does not make any more, those that stay.

    `earlier`: the stages that it reads. `drafted`: what the items that it makes are made of. A fixed number of queries
    for each stage, and one where nothing has an answer.
    """
    answered = {item for (item,) in fetch(ANSWERED, [list(gone)])} if gone else set()
    links: dict[int, set[Link]] = {}
    for item, source, annotation in ItemSource.objects.filter(item__in=answered).values_list(
        "item", "source", "annotation"
    ):
        links.setdefault(item, set()).add((source, annotation))
    sources = {source for own in links.values() for source, _annotation in own}
    if not sources:
        return set()
    accepted = _accepted(derivation, earlier, runs, sources)
    left_out = sources - _kept(derivation, earlier, sources)
    is_draw = derivation.kind == DRAW
    return {
        item
        for item, own in links.items()
        if own <= accepted
        and (any(source in left_out for source, _annotation in own) or (is_draw and own.isdisjoint(drafted)))
    }


def _accepted(
    derivation: Derivation, earlier: Iterable[Stage], runs: RunChoice | None, sources: Collection[int]
) -> set[Link]:
    """What could be used if no filter dropped anything."""
    live = Item.objects.filter(pk__in=sources, withdrawn_at=None)
    links: set[Link] = {(pk, None) for pk in live.values_list("pk", flat=True)}
    if derivation.of in ("items", "kept"):
        return links
    for stage in earlier:
        results = results_of(stage, items=sources, runs=runs, filtered=False)
        links |= {(result.item.id, result.annotation) for result in results}
    return links


def _kept(derivation: Derivation, earlier: Iterable[Stage], sources: Collection[int]) -> set[int]:
    ids: set[int] = set()
    for stage in earlier:
        items = kept_without(stage, derivation.without) if derivation.without else stage.items.filter(is_kept())
        ids.update(items.filter(pk__in=sources).values_list("pk", flat=True))
    return ids


def mark_outside(items: Collection[int], drafted: Collection[int], at: datetime) -> None:
    """Note which items are outside the present rule, and which no longer. Needs the stage's lock."""
    Item.objects.filter(pk__in=items, outside_since=None).update(outside_since=at)
    Item.objects.filter(pk__in=drafted, outside_since__isnull=False).update(outside_since=None)
