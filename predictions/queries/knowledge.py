"""What the pages of knowledge bases and links show, never more than a page of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from benchmarks.models import Benchmark, Image, Item, ItemImage
from jobs.models import Job
from people.models import Team
from predictions.models import EntityLink, KnowledgeBase, KnowledgeEntry, KnowledgeImage, KnowledgeIndex, Run
from predictions.services.knowledge.bases import scope_of

PAGE = 100
MOST_COUNTED = 1_000_000
SHOWN_JOBS = 10
MOST_PICTURES = 60


def gold_entries(item: Item) -> list[str]:
    """Ids of the entries that are right for an item: `gold_entity` of its context, a list or a text with | between."""
    given = item.context.get("gold_entity") or []
    parts = given.split("|") if isinstance(given, str) else given if isinstance(given, list) else [given]
    return [str(part).strip() for part in parts if str(part).strip()]


def gold_articles(base: KnowledgeBase, items: Iterable[Item]) -> dict[int, KnowledgeEntry]:
    """By the id of each of these items that names one: its first right entry that has an article in the base. One
    query."""
    keys = {item.pk: gold_entries(item) for item in items}
    wanted = {key for each in keys.values() for key in each}
    rows = KnowledgeEntry.objects.filter(base=base, key__in=wanted).exclude(text="") if wanted else ()
    entries = {row.key: row for row in rows}
    first = {pk: next((entries[key] for key in each if key in entries), None) for pk, each in keys.items()}
    return {pk: entry for pk, entry in first.items() if entry is not None}


@dataclass(frozen=True)
class KnowledgeBaseRow:
    """A knowledge base with how much is in it. `more`: there is more than was counted."""

    base: KnowledgeBase
    entries: int
    pictures: int
    indexes: list[KnowledgeIndex]

    @property
    def more(self) -> bool:
        return self.entries >= MOST_COUNTED


def knowledge_base_row(base: KnowledgeBase) -> KnowledgeBaseRow:
    entries = KnowledgeEntry.objects.filter(base=base).values("pk")[:MOST_COUNTED].count()
    pictures = KnowledgeImage.objects.filter(entry__base=base).values("pk")[:MOST_COUNTED].count()
    return KnowledgeBaseRow(
        base, entries, pictures, list(base.indexes.select_related("endpoint").order_by("over", "model"))
    )


def bases_of(team: Team) -> list[KnowledgeBaseRow]:
    """The newest first; a page of them."""
    return [knowledge_base_row(base) for base in KnowledgeBase.objects.filter(team=team).order_by("-pk")[:PAGE]]


def jobs_of(base: KnowledgeBase) -> list[Job]:
    return list(Job.objects.filter(scope=scope_of(base)).select_related("created_by").order_by("-pk")[:SHOWN_JOBS])


def entries_of(base: KnowledgeBase, wanted: str, after: int) -> tuple[list[KnowledgeEntry], int | None]:
    """A page of entries whose key begins with what is wanted, or one of whose names has it; and where to go on."""
    rows = KnowledgeEntry.objects.filter(base=base, pk__gt=after).defer("text").order_by("pk")
    if wanted:
        rows = rows.filter(Q(key__startswith=wanted) | Q(lemmas__icontains=wanted))
    knowledge_entries = list(rows[: PAGE + 1])
    return knowledge_entries[:PAGE], knowledge_entries[PAGE - 1].pk if len(knowledge_entries) > PAGE else None


def pictures_of(entries: Sequence[KnowledgeEntry], most: int = MOST_PICTURES) -> dict[int, list[KnowledgeImage]]:
    """The pictures of each, by its primary key."""
    images_by_entry: dict[int, list[KnowledgeImage]] = defaultdict(list)
    for knowledge_image in (
        KnowledgeImage.objects.filter(entry__in=entries).select_related("image").order_by("pk")[: most * PAGE]
    ):
        if len(images_by_entry[knowledge_image.entry_id]) < most:
            images_by_entry[knowledge_image.entry_id].append(knowledge_image)
    return images_by_entry


def first_pictures(entries: Sequence[KnowledgeEntry]) -> dict[int, KnowledgeImage]:
    rows = KnowledgeImage.objects.filter(entry__in=entries).select_related("image")
    return {row.entry_id: row for row in rows.order_by("entry", "pk").distinct("entry")}


def indexes_of(team: Team) -> QuerySet[KnowledgeIndex]:
    """Those that can be searched, of all bases of a team."""
    rows = KnowledgeIndex.objects.filter(base__team=team, built_at__isnull=False, endpoint__isnull=False)
    return rows.select_related("base").order_by("-base", "over", "model")


def linkings_of(benchmark: Benchmark) -> list[Run]:
    rows = Run.objects.filter(benchmark=benchmark, task=Run.Task.LINKING).order_by("withdrawn_at", "-pk")
    return list(rows.select_related("rater", "created_by", "knowledge_index__base")[:PAGE])


@dataclass(frozen=True)
class LinkRow:
    """An item's link on a page. `nearest`: the similarity of the nearest picture."""

    link: EntityLink
    picture: ItemImage | None
    entry: KnowledgeEntry | None

    @property
    def nearest(self) -> float | None:
        return max((float(row[2]) for row in self.link.neighbours), default=None)

    @property
    def score(self) -> float | None:
        return self.link.scores[0] if self.link.scores else None

    @property
    def pictures(self) -> int:
        """Of a run that goes by frequency: how many of the nearest pictures have the first entry."""
        return int(self.score or 0)


def links_of(run: Run, after: int, only: str = "") -> tuple[list[LinkRow], int | None]:
    """A page of a run's links; `only`: a reason, or "linked"."""
    rows = EntityLink.objects.filter(run=run, pk__gt=after).select_related("item").order_by("pk")
    if only:
        rows = rows.filter(reason="" if only == "linked" else only)
    entity_links = list(rows[: PAGE + 1])
    lines = _lines(run, entity_links[:PAGE])
    return lines, entity_links[PAGE - 1].pk if len(entity_links) > PAGE else None


def reasons_of(run: Run) -> dict[str, int]:
    """How many images were not linked, by reason."""
    counts: dict[str, int] = defaultdict(int)
    for reason in EntityLink.objects.filter(run=run).exclude(reason="").values_list("reason", flat=True):
        counts[reason] += 1
    return dict(counts)


def _lines(run: Run, links: Sequence[EntityLink]) -> list[LinkRow]:
    assert run.knowledge_index is not None
    keys = {link.keys[0] for link in links if link.keys}
    rows = KnowledgeEntry.objects.filter(base=run.knowledge_index.base_id, key__in=keys).defer("text")
    entries = {row.key: row for row in rows}
    pictures = item_pictures([link.item for link in links])
    return [
        LinkRow(link, pictures.get(link.item_id), entries.get(link.keys[0]) if link.keys else None) for link in links
    ]


def item_pictures(items: Sequence[Item]) -> dict[int, ItemImage]:
    """The picture of each item: the one that is called so, else its first."""
    rows = ItemImage.objects.filter(item__in=items).select_related("image").order_by("-pk")
    return {row.item_id: row for row in sorted(rows, key=lambda item_image: item_image.role == "image")}


@dataclass(frozen=True)
class Neighbour:
    """A picture that was found, and the entries it belongs to."""

    name: str
    score: float
    image: Image | None
    entries: list[str]
    same: bool


@dataclass(frozen=True)
class RankedEntry:
    place: int
    key: str
    entry: KnowledgeEntry | None
    score: float
    images: int
    gold: bool


@dataclass(frozen=True)
class LinkDetail:
    """All of one link, as Figures 5 and 6 and Tables 5 to 7 of the paper show it."""

    neighbours: list[Neighbour]
    ranked: list[RankedEntry]
    gold: list[str]


def link_detail(run: Run, link: EntityLink) -> LinkDetail:
    assert run.knowledge_index is not None
    gold = gold_entries(link.item)
    base = run.knowledge_index.base_id
    named = {str(row[1]) for row in link.neighbours} | set(link.keys[:PAGE])
    rows = KnowledgeEntry.objects.filter(base=base, key__in=named).defer("text")
    entries = {row.key: row for row in rows}
    neighbours = _neighbours(base, link, entries)
    images: dict[str, set[str]] = defaultdict(set)
    for name, key, _score in link.neighbours:
        images[key].add(name)
    ranked = [
        RankedEntry(place, key, entries.get(key), score, len(images.get(key, ())), key in gold)
        for place, (key, score) in enumerate(zip(link.keys[:PAGE], link.scores, strict=False), start=1)
    ]
    return LinkDetail(neighbours, ranked, gold)


def _neighbours(base: int, link: EntityLink, entries: Mapping[str, KnowledgeEntry]) -> list[Neighbour]:
    neighbours: dict[str, tuple[float, list[str]]] = {}
    for name, key, score in link.neighbours:
        shown = entries[key].lemmas[0] if key in entries else key
        neighbours.setdefault(name, (float(score), []))[1].append(shown)
    rows = KnowledgeImage.objects.filter(entry__base=base, name__in=neighbours).select_related("image")
    images: dict[str, Any] = {row.name: row.image for row in rows}
    own = set(ItemImage.objects.filter(item=link.item_id).values_list("image__sha256", flat=True))
    return [
        Neighbour(name, score, images.get(name), shown, bool(images.get(name) and images[name].sha256 in own))
        for name, (score, shown) in neighbours.items()
    ]
