"""Files to begin with, with a benchmark's own keys: what is typed over is a model's answers or findings."""

from collections.abc import Callable
from typing import Any

from annotation.imports import example
from annotation.models import Campaign
from annotation.services.campaigns.lifecycle import items_of
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Benchmark, Item
from predictions.models import Collection, Query

ROWS = 3
SHOWN = 4
Row = dict[str, Any]


def example_rows(benchmark: Benchmark, what: str) -> list[Row]:
    """`what`: of MADE. Empty where there is nothing to name yet."""
    return MADE[what](benchmark) if what in MADE else []


def _answers(benchmark: Benchmark) -> list[Row]:
    """A model's ratings of the newest campaign: its items, cultures, questions and codes."""
    rows = Campaign.objects.filter(stage__benchmark=benchmark).exclude(opened_at=None)
    campaign = rows.select_related("stage", "sheet_version").order_by("-pk").first()
    if campaign is None:
        return []
    items = list(items_of(campaign).order_by("pk").values_list("key", flat=True)[:ROWS])
    cohorts = list(campaign.cohorts.order_by("cohort__label").values_list("cohort__label", flat=True))
    made = example.rows(sheet_of(campaign.sheet_version), items, cohorts, has_target=campaign.stage.has_target)
    found = [dict(zip(example.HEAD, row, strict=True)) for row in made]
    return [row for row in found if row["rater_kind"] == "model"]


def _collection(benchmark: Benchmark) -> list[Row]:
    """Items as entries, and a query of one concept for which they are right."""
    items = list(Item.objects.filter(stage__benchmark=benchmark, withdrawn_at=None).order_by("pk")[:ROWS])
    if not items:
        return []
    asked = items[0].concept or "tea"
    right = "|".join(item.key for item in items if item.concept == items[0].concept)
    entries = [_entry("entry", item.key, concept=item.concept, country=item.origin) for item in items]
    return [*entries, _entry("query", f"q-{asked}"[:200], text=asked, relevant=right)]


def _entry(kind: str, key: str, *, text: str = "", relevant: str = "", concept: str = "", country: str = "") -> Row:
    return {"kind": kind, "key": key, "text": text, "relevant": relevant, "concept": concept, "country": country}


def _newest(benchmark: Benchmark, *, choosing: bool = False) -> tuple[list[Query], list[str]]:
    """Some queries of a set of the newest collection that has them, and keys of its entries.

    `choosing`: queries between candidates."""
    asked = Query.objects.filter(collection__benchmark=benchmark)
    asked = asked.exclude(roles={}) if choosing else asked
    first = asked.select_related("collection").order_by("-collection", "pk").first()
    if first is None:
        return [], []
    some = asked.filter(collection=first.collection, query_set=first.query_set).order_by("pk")[:ROWS]
    return list(some), list(first.collection.entries.order_by("pk").values_list("key", flat=True)[:SHOWN])


def _scores(n: int) -> list[float]:
    return [round(0.9 - 0.1 * place, 1) for place in range(n)]


def _ranking(benchmark: Benchmark) -> list[Row]:
    """A row for each entry that was found: a table and JSON Lines alike."""
    asked, keys = _newest(benchmark)
    found = list(zip(keys, _scores(len(keys)), strict=True))
    return [{"query": query.key, "key": key, "score": score} for query in asked for key, score in found]


def _choice(benchmark: Benchmark) -> list[Row]:
    asked, _keys = _newest(benchmark, choosing=True)
    return [
        {"query": query.key, "key": key, "score": score}
        for query in asked
        for key, score in zip(query.roles.values(), _scores(len(query.roles)), strict=True)
    ]


def _embeddings(benchmark: Benchmark) -> list[Row]:
    collection = Collection.objects.filter(benchmark=benchmark).order_by("-pk").first()
    keys = collection.entries.order_by("pk").values_list("key", flat=True)[:ROWS] if collection else []
    return [{"key": key, "vector": [0.1, -0.2, 0.3, 0.4]} for key in keys]


MADE: dict[str, Callable[[Benchmark], list[Row]]] = {
    "answers": _answers,
    "collection": _collection,
    "ranking": _ranking,
    "choice": _choice,
    "embeddings": _embeddings,
}
