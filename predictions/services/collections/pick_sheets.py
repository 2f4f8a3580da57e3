"""Contact sheets out of a retrieval run: for each sentence the first pictures of its ranking, for a person to pick one.

The queries are the sentences of a stage, known by their keys. Made again, it adds nothing; another run adds sheets only
for sentences that have none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import ItemSource
from annotation.services.derivation.derived_items import sync_campaign_slots
from benchmarks.models import Item, ItemImage, Stage
from benchmarks.queries.availability import is_kept
from benchmarks.services.intake import arrivals
from benchmarks.services.intake.judging import lock_stage
from jobs.models import record
from people.models import User
from predictions.models import Entry, Ranking, Run

NEAREST = 8
STEP = 200


class SheetsRefused(Exception):
    """Nothing was created; the message says why and what to do."""


@dataclass(frozen=True)
class SheetCounts:
    """`existing`: sentences that have a sheet already; `without`: rankings of no live sentence, or without pictures."""

    created: int
    existing: int
    without: int


def create_sheets(run: Run, source: Stage, stage: Stage, actor: User, *, most: int = NEAREST) -> SheetCounts:
    """A sheet for each sentence of `source` that the run ranked pictures for. Raises SheetsRefused."""
    if not run.complete or run.withdrawn_at is not None or run.task != Run.Task.RETRIEVAL:
        raise SheetsRefused(_("Only a finished retrieval run has the nearest pictures."))
    if stage.pictures != Stage.Pictures.SET or stage.derivation:
        raise SheetsRefused(_("Choose a stage of contact sheets whose items are not derived."))
    with transaction.atomic():
        stage = lock_stage(stage)
        prompts = {item.key: item for item in Item.objects.filter(is_kept(), stage=source)}
        rankings = list(Ranking.objects.filter(run=run, query__key__in=prompts).select_related("query").order_by("pk"))
        if not rankings:
            text = _(
                "No query of this run is a sentence of “%(stage)s”. Create the collection with that stage as what asks."
            )
            raise SheetsRefused(text % {"stage": source.name})
        known = set(Item.objects.filter(stage=stage, key__in=prompts).values_list("key", flat=True))
        total = Ranking.objects.filter(run=run).count()
        created = 0
        new = [ranking for ranking in rankings if ranking.query.key not in known]
        for start in range(0, len(new), STEP):
            created += _create_batch(run, stage, prompts, new[start : start + STEP], most)
        if created:
            scope, target = stage.benchmark.scope, f"stage:{stage.key}"
            record(actor, "sheets.created", scope=scope, target=target, run=run.pk, created=created)
    existing = len(rankings) - len(new)
    return SheetCounts(created, existing, total - created - existing)


def _create_batch(run: Run, stage: Stage, prompts: Mapping[str, Item], rankings: Sequence[Ranking], most: int) -> int:
    keys = {key for ranking in rankings for key in ranking.keys[:most]}
    rows = Entry.objects.filter(collection=run.pool, key__in=keys, image__isnull=False)
    entries = {entry.key: entry for entry in rows}
    credits = _credits(stage, entries.values())
    for entry in entries.values():
        entry.about = {**credits.get(entry.image_id or 0, {}), **entry.about}
    shown = {ranking.pk: _shown(ranking, entries, most) for ranking in rankings}
    rankings = [ranking for ranking in rankings if shown[ranking.pk]]
    items = Item.objects.bulk_create([_item(stage, prompts[one.query.key], shown[one.pk]) for one in rankings])
    uses, sources = [], []
    for item, ranking in zip(items, rankings, strict=True):
        for role, (entry, _score) in shown[ranking.pk].items():
            assert entry.image_id is not None
            about = {name: str(entry.about.get(name) or "")[:120] for name in ("source", "licence")}
            uses.append(ItemImage(item=item, image_id=entry.image_id, role=role, **about))
        sources.append(ItemSource(item=item, source=prompts[ranking.query.key], role="item"))
    ItemImage.objects.bulk_create(uses)
    ItemSource.objects.bulk_create(sources)
    ids = [item.pk for item in items]
    arrivals.judge_and_notify(stage, ids)
    transaction.on_commit(partial(sync_campaign_slots, stage.pk, ids), robust=True)
    return len(items)


def _credits(stage: Stage, entries: Iterable[Entry]) -> dict[int, dict[str, str]]:
    """Source and licence of pictures, as the items of the benchmark that have them say."""
    images = [entry.image_id for entry in entries]
    uses = ItemImage.objects.filter(item__stage__benchmark=stage.benchmark_id, image__in=images).order_by("-pk")
    return {
        use.image_id: {name: getattr(use, name) for name in ("source", "licence") if getattr(use, name)} for use in uses
    }


def _shown(ranking: Ranking, entries: Mapping[str, Entry], most: int) -> dict[str, tuple[Entry, float]]:
    """The pictures of a sheet by their role, which is their place."""
    pairs = list(zip(ranking.keys, ranking.scores, strict=True))[:most]
    near = [(entries[key], score) for key, score in pairs if key in entries]
    return {str(place): pair for place, pair in enumerate(near, start=1)}


def _item(stage: Stage, prompt: Item, shown: Mapping[str, tuple[Entry, float]]) -> Item:
    """The sentence over its pictures. They stand in the order of the ranking, each by itself."""
    pictures = {
        role: {"entry": entry.key, "similarity": round(score, 6)}
        | {name: entry.about[name] for name in ("source", "licence") if entry.about.get(name)}
        for role, (entry, score) in shown.items()
    }
    context = {"prompt": prompt.text, "pictures": pictures, "groups": [[role] for role in shown]}
    return Item(
        stage=stage, key=prompt.key, concept=prompt.concept, origin=prompt.origin, condition=prompt.condition,
        text=prompt.text, context=context,
    )  # fmt: skip
