"""How near pictures are to the nearest picture of a knowledge base: a fact of items, which the filter `not_in_base`
reads. The same file has similarity 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from predictions.backends.contract import CallError, Vectors
from predictions.models import KnowledgeImage, KnowledgeIndex
from predictions.services.encoders.encoding import original
from predictions.services.knowledge import faiss_index, indexes
from predictions.services.knowledge.faiss_index import FaissMissing
from predictions.services.knowledge.indexes import IndexRefused

DIGITS = 6
Fact = Mapping[str, Any]


class BaseComparison:
    """Opens the index once for many pictures. Raises CallError where it cannot be used."""

    def __init__(self, index: KnowledgeIndex) -> None:
        self.base = index.base_id
        if index.built_at is None:
            raise CallError("permanent", _("The index over the pictures of the knowledge base is not built."))
        try:
            self.encoder = indexes.encoder_of(index)
            store = indexes.store_of(index)
            self.index, self.plan = faiss_index.load(store.folder, index.facts), store.plan()
        except (FaissMissing, IndexRefused) as problem:
            raise CallError("permanent", str(problem)) from problem
        except FileNotFoundError as problem:
            raise CallError("permanent", _("The files of the index are not there. Build it again.")) from problem

    def compare(self, shas: Sequence[str]) -> list[Fact | None]:
        """`similarity` from 0 to 1 with the nearest picture, and the `entry` it belongs to; None where a picture
        cannot be read. Two queries."""
        known = self._entries_of_files(shas)
        data = [_bytes_of(sha) for sha in shas]
        vectors = indexes.images_of(self.encoder, [content or b"" for content in data])
        is_seen = vectors.any(axis=1)
        nearest = dict(zip(np.flatnonzero(is_seen).tolist(), self._nearest(vectors[is_seen]), strict=True))
        return [
            {"similarity": 1.0, "entry": known[sha], "same_file": True} if sha in known else nearest.get(place)
            for place, sha in enumerate(shas)
        ]

    def _entries_of_files(self, shas: Sequence[str]) -> dict[str, str]:
        rows = KnowledgeImage.objects.filter(entry__base=self.base, sha256__in=shas).exclude(sha256="")
        return dict(rows.order_by("-entry__key").values_list("sha256", "entry__key"))

    def _nearest(self, vectors: Vectors) -> list[Fact | None]:
        if not len(vectors):
            return []
        scores, rows = self.index.search(vectors, 1)
        pictures = {int(self.plan[row, 0]) for row in rows[:, 0] if row >= 0}
        entries = dict(KnowledgeImage.objects.filter(pk__in=pictures).values_list("pk", "entry__key"))
        return [
            {"similarity": _share(score), "entry": entries.get(int(self.plan[row, 0]), "")} if row >= 0 else None
            for row, score in zip(rows[:, 0], scores[:, 0], strict=True)
        ]


def _share(cosine: Any) -> float:
    return round(min(1.0, max(0.0, float(cosine))), DIGITS)


def _bytes_of(sha: str) -> bytes | None:
    try:
        return original(sha)
    except FileNotFoundError:
        return None
