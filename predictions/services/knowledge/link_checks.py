"""Items of a stage in which people say whether an image was linked to the right entry."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from benchmarks.models import Item, ItemImage, Stage
from jobs.models import record
from people.models import User
from predictions.models import EntityLink, KnowledgeEntry, Run

STEP = 500


@dataclass(frozen=True)
class CheckItemCounts:
    """`lacking`: images without a link, which nobody needs to check."""

    made: int
    there: int
    lacking: int


def create_check_items(run: Run, stage: Stage, actor: User) -> CheckItemCounts:
    """An item for each link of the run, known by its image and what linked it: made again, it adds nothing, and another
    base, encoder or model is asked about anew."""
    created = existing = 0
    last = 0
    with transaction.atomic():
        Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
        while True:
            rows = (
                EntityLink.objects.filter(run=run, pk__gt=last).exclude(keys=[]).select_related("item").order_by("pk")
            )
            links = list(rows[:STEP])
            if not links:
                break
            new = _add(run, stage, links)
            created, existing, last = created + new, existing + len(links) - new, links[-1].pk
        lacking = EntityLink.objects.filter(run=run, keys=[]).count()
        if created:
            scope, target = stage.benchmark.scope, f"stage:{stage.key}"
            record(actor, "links.to_check", scope=scope, target=target, run=run.pk, made=created)
    return CheckItemCounts(created, existing, lacking)


def _add(run: Run, stage: Stage, links: Sequence[EntityLink]) -> int:
    keys = {link.pk: _key(run, link.item) for link in links}
    existing = set(Item.objects.filter(stage=stage, key__in=keys.values()).values_list("key", flat=True))
    assert run.knowledge_index is not None
    wanted = {link.keys[0] for link in links}
    rows = KnowledgeEntry.objects.filter(base=run.knowledge_index.base_id, key__in=wanted).defer("text")
    entries = {row.key: row for row in rows}
    new = {link.pk: _item(run, stage, link, keys[link.pk], entries.get(link.keys[0])) for link in links
           if keys[link.pk] not in existing}  # fmt: skip
    Item.objects.bulk_create(new.values())
    source = {link.item_id: new[link.pk] for link in links if link.pk in new}
    pictures = ItemImage.objects.filter(item__in=source)
    ItemImage.objects.bulk_create(
        ItemImage(
            item=source[use.item_id], image_id=use.image_id, role=use.role, alt=use.alt, source=use.source,
            licence=use.licence,
        )
        for use in pictures
    )  # fmt: skip
    return len(new)


def _key(run: Run, item: Item) -> str:
    """At most 200 letters; a digest tells apart what they do not."""
    method = run.options["method"]
    whole = f"{run.knowledge_index_id}\t{run.model}\t{method}\t{item.key}"
    return f"{item.key[:150]}/{method}/{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def _item(run: Run, stage: Stage, link: EntityLink, key: str, entry: KnowledgeEntry | None) -> Item:
    item = link.item
    context = {
        "linked": entry.lemmas[0] if entry else link.keys[0],
        "linked_key": link.keys[0],
        "linked_gloss": entry.gloss if entry else "",
        "linked_title": entry.title if entry else "",
        "shown_as": item.context.get("gold_name") or item.concept,
        "gold_entity": item.context.get("gold_entity", ""),
        "linked_by": f"{run.model}, {run.options['method']}",
        "linked_item": item.key,
    }
    return Item(
        stage=stage, key=key, concept=item.concept, origin=item.origin, condition=item.condition, context=context
    )
