"""What an image shows, by an index: nearest pictures and their entries, or nearest texts. Reads only."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predictions.backends.contract import Encoder, Vectors
from predictions.models import KnowledgeBase, KnowledgeEntry, KnowledgeImage, KnowledgeIndex
from predictions.retrieval.vectors import Ints, VectorStore
from predictions.services.knowledge import faiss_index, ranking
from predictions.services.knowledge.indexes import Over, store_of, text_of
from predictions.services.knowledge.ranking import NEAREST, Method, Ranked

MOST_KEPT = 20_000  # texts whose vectors stay in memory
TEXTS: dict[str, str] = {"lemma": Over.LEMMAS, "gloss": Over.GLOSSES, "article": Over.ARTICLES}


@dataclass(frozen=True)
class NearImage:
    """A picture that was found: its name in the base, its sha where its bytes are kept, its entries' keys."""

    name: str
    sha: str
    keys: tuple[str, ...]
    score: float


@dataclass(frozen=True)
class SearchResult:
    ranked: Ranked
    near: tuple[NearImage, ...]


class Texts:
    """Vectors of entries' names or glosses: out of an index by the same encoder where there is one, else encoded."""

    def __init__(self, base: KnowledgeBase, over: str, model: str, encoder: Encoder) -> None:
        self.base, self.over, self.encoder = base, over, encoder
        self.kept: OrderedDict[str, Vectors] = OrderedDict()
        index = KnowledgeIndex.objects.filter(base=base, model=model, over=over, built_at__isnull=False).first()
        self.store: VectorStore | None = store_of(index) if index else None
        self.order: Ints = np.zeros(0, np.int64)
        self.sorted: Ints = self.order
        if self.store:
            plan = self.store.plan()[:, 0]
            self.order = np.argsort(plan, kind="stable")
            self.sorted = np.asarray(plan[self.order])

    def of(self, keys: Sequence[str]) -> dict[str, Vectors]:
        """Rows of unit length (m, d) by entry key; entries without such a text are left out."""
        rows = KnowledgeEntry.objects.filter(base=self.base, key__in=[key for key in keys if key not in self.kept])
        entries = list(rows.defer("text"))
        if self.store:
            self._read(entries)
        else:
            self._encode(entries)
        vectors = {key: self.kept[key] for key in keys if key in self.kept}
        while len(self.kept) > MOST_KEPT:
            self.kept.popitem(last=False)
        return {key: rows for key, rows in vectors.items() if len(rows)}

    def _read(self, entries: Sequence[KnowledgeEntry]) -> None:
        assert self.store is not None
        for entry in entries:
            first, last = np.searchsorted(self.sorted, [entry.pk, entry.pk + 1])
            vectors = self.store.take(np.sort(self.order[first:last]))
            self.kept[entry.key] = vectors[vectors.any(axis=1)] if len(vectors) else vectors

    def _encode(self, entries: Sequence[KnowledgeEntry]) -> None:
        wanted = [(entry, part) for entry in entries for part in range(self._parts(entry))]
        texts = [text_of(entry, self.over, part) for entry, part in wanted]
        vectors = self.encoder.texts(texts) if texts else np.zeros((0, self.encoder.dimensions), np.float32)
        rows_by_key: dict[str, list[int]] = defaultdict(list)
        for number, (entry, _part) in enumerate(wanted):
            rows_by_key[entry.key].append(number)
        for entry in entries:
            self.kept[entry.key] = vectors[rows_by_key[entry.key]] if rows_by_key[entry.key] else vectors[:0]

    def _parts(self, entry: KnowledgeEntry) -> int:
        return len(entry.lemmas) if self.over == Over.LEMMAS else int(bool(entry.gloss))


class Searcher:
    """One for a run: the index is opened once."""

    def __init__(self, index: KnowledgeIndex, method: Method, encoder: Encoder) -> None:
        self.base, self.method = index.base, method
        self.store = store_of(index)
        self.index = faiss_index.load(self.store.folder, index.facts)
        self.plan = self.store.plan()
        ranked_by = "gloss" if method == "gloss_vt" else "lemma"
        by_image = method.endswith("_vt")
        self.texts = Texts(index.base, TEXTS[ranked_by], index.model, encoder) if by_image else None

    def find(self, images: Vectors, nearest: int = NEAREST) -> list[SearchResult]:
        """For each image (n, d) of unit length."""
        return self._by_images(images, nearest) if self.texts else self._by_texts(images, nearest)

    def _by_images(self, images: Vectors, nearest: int) -> list[SearchResult]:
        assert self.texts is not None
        scores, rows = self.index.search(images, nearest)
        near = self._pictures(scores, rows)
        texts = self.texts.of(ranking.merge_entries([near_image.keys for row in near for near_image in row]))
        results = []
        for image, row in zip(images, near, strict=True):
            lists = [near_image.keys for near_image in row]
            own = {key: texts[key] for key in ranking.merge_entries(lists) if key in texts}
            ranked = ranking.by_similarity(image, own)
            if self.method == "frequency_vt":
                ranked = ranking.by_frequency(lists, ranked)
            results.append(SearchResult(ranked, tuple(row)))
        return results

    def _pictures(self, scores: Vectors, rows: Ints) -> list[list[NearImage]]:
        wanted = {int(self.plan[row, 0]) for row in rows.ravel() if row >= 0}
        images = {
            knowledge_image.pk: knowledge_image for knowledge_image in KnowledgeImage.objects.filter(pk__in=wanted)
        }
        names = {image.name for image in images.values()}
        knowledge_images = KnowledgeImage.objects.filter(entry__base=self.base, name__in=names).order_by("entry__key")
        keys: dict[str, list[str]] = defaultdict(list)
        for name, key in knowledge_images.values_list("name", "entry__key"):
            keys[name].append(key)
        near_images = []
        for row, similar in zip(rows, scores, strict=True):
            matches = [
                (images[int(self.plan[at, 0])], score) for at, score in zip(row, similar, strict=True) if at >= 0
            ]
            near_images.append(
                [
                    NearImage(
                        knowledge_image.name, knowledge_image.sha256, tuple(keys[knowledge_image.name]), float(score)
                    )
                    for knowledge_image, score in matches
                ]
            )
        return near_images

    def _by_texts(self, images: Vectors, nearest: int) -> list[SearchResult]:
        scores, rows = self.index.search(images, 5 * nearest)  # an entry has several names
        wanted = {int(self.plan[row, 0]) for row in rows.ravel() if row >= 0}
        keys = dict(KnowledgeEntry.objects.filter(pk__in=wanted).values_list("pk", "key"))
        results = []
        for row, similar in zip(rows, scores, strict=True):
            similarities = [
                (keys[int(self.plan[at, 0])], float(s)) for at, s in zip(row, similar, strict=True) if at >= 0
            ]
            results.append(SearchResult(ranking.best_text_per_entry(similarities, nearest), ()))
        return results
