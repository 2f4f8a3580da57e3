"""Items as filters read them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Prefetch

from benchmarks.models import Item, ItemFact, ItemImage
from benchmarks.rules.filters import Candidate, CandidatePicture
from benchmarks.rules.filters.contract import GROUP_FIELDS, is_number


def load_candidates(item_ids: Collection[int], fact_keys: Collection[str]) -> list[Candidate]:
    """The items that are not withdrawn, with these facts; of several facts with one key the newest."""
    uses = Prefetch("images", ItemImage.objects.select_related("image").order_by("role"))
    items = list(Item.objects.filter(pk__in=item_ids, withdrawn_at=None).order_by("pk").prefetch_related(uses))
    facts: dict[int, dict[str, Any]] = defaultdict(dict)
    if fact_keys:
        for fact in ItemFact.objects.filter(item__in=items, key__in=fact_keys).order_by("pk"):
            facts[fact.item_id][fact.key] = fact.value
    return [_candidate(item, list(item.images.all()), facts.get(item.pk, {})) for item in items]


def _candidate(item: Item, uses: Sequence[ItemImage], facts: Mapping[str, Any]) -> Candidate:
    pictures = tuple(
        CandidatePicture(use.image.width, use.image.height, use.image.sha256, use.image.perceptual_hash) for use in uses
    )
    values = {name: str(getattr(item, name)) for name in GROUP_FIELDS}
    return Candidate(
        item.pk, item.key, read_rank(item.context.get("rank")), values, pictures, _texts(item, uses), facts
    )


def _texts(item: Item, uses: Sequence[ItemImage]) -> dict[str, str]:
    """What is known of the pictures, and of the item in its context; in a set each picture has its own context."""
    own = item.context.get("pictures")
    contexts = [item.context, *(own.values() if isinstance(own, Mapping) else ())]
    texts = {name: [context.get(name) for context in contexts if isinstance(context, Mapping)] for name in _OF_CONTEXT}
    texts["file"] += [use.file_name for use in uses]
    texts["source"] += [use.source for use in uses]
    texts["alt"] += [use.alt for use in uses]
    joined = {name: _join(values) for name, values in texts.items()}
    return {**joined, "text": item.text, "concept": item.concept}


_OF_CONTEXT = ("file", "source", "alt", "title")


def _join(values: Iterable[Any]) -> str:
    return "\n".join(value for value in values if isinstance(value, str) and value)


def read_rank(value: Any) -> float | None:
    """A rank as a number; None if it is none."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return float(value) if is_number(value) else None
