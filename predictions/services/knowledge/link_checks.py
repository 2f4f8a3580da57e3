"""Items of a stage in which people say whether the entry of a linking run is right. They are made while the run links.

Of a picture it is asked how the entry fits what it shows (CAIRE's stage `link-check`); of words whose names a model
gave, whether the entry's article is about what the model named (`specific-concepts`). They leave with what was linked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Annotation, ItemSource
from annotation.services.derivation.derived_items import follow_sources, sync_campaign_slots
from benchmarks.models import Item, ItemImage, Stage
from benchmarks.services.intake import arrivals
from benchmarks.services.intake.judging import lock_stage
from jobs.models import record
from people.models import User
from predictions.models import Call, EntityLink, KnowledgeEntry, Run
from predictions.services.knowledge.indexes import IndexRefused
from predictions.services.knowledge.name_matching import QUESTION

TASK = "predictions.follow_linked_items"
STEP = 500
OF_PICTURES, OF_WORDS = "link-check", "specific-concepts"
CHECKED_IN = "checked_in"
"""Option of a run: the key of the stage in which people check its links, from the moment somebody asked for it."""
EXCERPT = 700  # letters of an article that people read of a concept
KEY_LETTERS = 150


@dataclass(frozen=True)
class CheckItemCounts:
    """`lacking`: items without a link, which nobody needs to check."""

    made: int
    there: int
    lacking: int


def check_stage(run: Run) -> Stage | None:
    """Where people check the links of a run; None where the benchmark has no such stage."""
    stages = Stage.objects.filter(benchmark=run.benchmark_id)
    linked = stages.filter(key=run.selection.get("stage")).first()
    is_wordy = linked is not None and linked.pictures == Stage.Pictures.NONE
    return stages.filter(key=OF_WORDS if is_wordy else OF_PICTURES).first()


def create_check_items(run: Run, stage: Stage, actor: User) -> CheckItemCounts:
    """An item for each link of the run; links that it finds later get one too. Made again, it adds nothing, and another
    base, encoder or model is asked about anew. Raises IndexRefused for a run that was withdrawn."""
    created = existing = 0
    last = 0
    with transaction.atomic():
        locked_run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked_run.withdrawn_at is not None:
            raise IndexRefused(_("This run was withdrawn. Restore it first."))
        locked_run.options = {**locked_run.options, CHECKED_IN: stage.key}
        locked_run.save(update_fields=["options"])
        stage = lock_stage(stage)
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


def add_check_items(run: Run, links: Sequence[EntityLink]) -> int:
    """Items for links that were found just now, if people check this run's. Needs the transaction that writes them."""
    options = Run.objects.select_for_update(no_key=True).values_list("options", flat=True).get(pk=run.pk)
    stage = Stage.objects.filter(benchmark=run.benchmark_id, key=options.get(CHECKED_IN, "")).first()
    linked = [link for link in links if link.keys]
    return _add(run, lock_stage(stage), linked) if stage is not None and linked else 0


def _add(run: Run, stage: Stage, links: Sequence[EntityLink]) -> int:
    assert run.knowledge_index is not None
    is_wordy = stage.key == OF_WORDS
    keys = {link.pk: _concept_key(link) if is_wordy else _key(run, link.item) for link in links}
    existing = set(Item.objects.filter(stage=stage, key__in=keys.values()).values_list("key", flat=True))
    wanted = {link.keys[0] for link in links}
    rows = KnowledgeEntry.objects.filter(base=run.knowledge_index.base_id, key__in=wanted)
    entries = {row.key: row for row in (rows if is_wordy else rows.defer("text"))}
    answers = _answers_of(run, links) if is_wordy else {}
    first = {keys[link.pk]: link for link in reversed(links) if keys[link.pk] not in existing}
    new = {}
    for key, link in sorted(first.items(), key=lambda row: row[1].pk):
        entry = entries.get(link.keys[0])
        new[link.item_id] = (
            _concept(stage, link, key, entry, answers.get(link.item_id, {}))
            if is_wordy
            else _item(run, stage, link, key, entry)
        )
    Item.objects.bulk_create(new.values())
    pictures = ItemImage.objects.filter(item__in=new)
    ItemImage.objects.bulk_create(
        ItemImage(
            item=new[use.item_id], image_id=use.image_id, role=use.role, alt=use.alt, source=use.source,
            licence=use.licence,
        )
        for use in pictures
    )  # fmt: skip
    _note_sources(stage, keys, links)
    ids = [item.pk for item in new.values()]
    arrivals.judge_and_notify(stage, ids)
    transaction.on_commit(partial(sync_campaign_slots, stage.pk, ids), robust=True)
    return len(new)


def _note_sources(stage: Stage, keys: Mapping[int, str], links: Sequence[EntityLink]) -> None:
    """Of what each check is: several proposals may name one concept."""
    items = dict(Item.objects.filter(stage=stage, key__in=keys.values()).values_list("key", "pk"))
    rows = (ItemSource(item_id=items[keys[link.pk]], source_id=link.item_id, role="item") for link in links)
    ItemSource.objects.bulk_create(rows, ignore_conflicts=True)


def follow_linked_items(at: datetime) -> int:
    """Checks leave with the item that was linked, and come back with it; return how many did."""
    rows = Stage.objects.filter(key__in=(OF_PICTURES, OF_WORDS), items__sources__isnull=False, derivation={})
    return sum(follow_sources(stage, at) for stage in rows.distinct().order_by("pk"))


def _key(run: Run, item: Item) -> str:
    """At most 200 letters; a digest tells apart what they do not."""
    method = run.options["method"]
    whole = f"{run.knowledge_index_id}\t{run.model}\t{method}\t{item.key}"
    return f"{item.key[:KEY_LETTERS]}/{method}/{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def _concept_key(link: EntityLink) -> str:
    """The same for the same entry of the same label set, whichever model named it."""
    label_set = str(link.item.context.get("label_set") or link.item.key)
    digest = hashlib.sha256(f"{label_set}\t{link.keys[0]}".encode()).hexdigest()[:8]
    return f"{label_set[:60]}/{link.keys[0][:80]}/{digest}"


def _answers_of(run: Run, links: Sequence[EntityLink]) -> dict[int, Mapping[str, Any]]:
    """What the model answered about each item, whose name was looked up."""
    calls = Call.objects.filter(run=run.options.get("answers"), item__in=[link.item_id for link in links], repeat=0)
    answered = calls.filter(state=Call.State.ANSWERED).order_by("-unit").values_list("item", "annotation")
    of_item = dict(answered)
    answers = dict(Annotation.objects.filter(pk__in=of_item.values()).values_list("pk", "answers"))
    return {item: answers[annotation] for item, annotation in of_item.items() if annotation in answers}


def _item(run: Run, stage: Stage, link: EntityLink, key: str, entry: KnowledgeEntry | None) -> Item:
    item = link.item
    context = {
        **_of_entry(link, entry),
        "shown_as": item.context.get("gold_name") or item.concept,
        "gold_entity": item.context.get("gold_entity", ""),
        "linked_by": f"{run.model}, {run.options['method']}",
        "linked_item": item.key,
    }
    return Item(
        stage=stage, key=key, concept=item.concept, origin=item.origin, condition=item.condition, context=context
    )


def _concept(
    stage: Stage, link: EntityLink, key: str, entry: KnowledgeEntry | None, answers: Mapping[str, Any]
) -> Item:
    """A concept that a model proposed, with its labels and the article that has its name."""
    name = str(answers.get(QUESTION) or "") or link.keys[0]
    context = {
        **_of_entry(link, entry),
        "linked_text": entry.text[:EXCERPT] if entry else "",
        "gold_entity": link.keys[0],
        "gold": "|".join(split_labels(answers.get("gold", ""))),
        "label_set": link.item.context.get("label_set", ""),
        "proposed_by": link.item.key,
    }
    return Item(stage=stage, key=key, concept=name[:120], text=name, origin=link.item.origin, context=context)


def split_labels(text: Any) -> list[str]:
    """Labels in the order in which a model gives them: one to a line, or with | or ; between."""
    parts = str(text or "").replace("\n", "|").replace(";", "|").split("|")
    return list(dict.fromkeys(label for part in parts if (label := part.strip(" -*\t"))))


def _of_entry(link: EntityLink, entry: KnowledgeEntry | None) -> dict[str, Any]:
    return {
        "linked": entry.lemmas[0] if entry else link.keys[0],
        "linked_key": link.keys[0],
        "linked_gloss": entry.gloss if entry else "",
        "linked_title": entry.title if entry else "",
    }
