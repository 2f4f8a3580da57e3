"""From nearest images to a ranked list of entries. The rank of an image is forgotten: its entries are what counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from predictions.backends.contract import Vectors

Method = Literal["lemma_vt", "gloss_vt", "frequency_vt", "lemma_t", "gloss_t", "article_t", "named"]
Ranked = list[tuple[str, float]]
NEAREST = 20
DIGITS = 6


def merge_entries(found: Sequence[Sequence[str]]) -> list[str]:
    """Each entry once, of all the images that were found, by key."""
    return sorted({key for keys in found for key in keys})


def by_similarity(image: Vectors, texts: Mapping[str, Vectors]) -> Ranked:
    """Entries by the cosine of the image (d,) with the nearest of their texts (m, d), all of unit length. An entry
    without a text has no place. Ties by key: what differs by less than DIGITS is noise of 32 bits."""
    scores = {key: round(float(np.max(rows @ image)), DIGITS) for key, rows in texts.items() if len(rows)}
    return sorted(scores.items(), key=lambda one: (-one[1], one[0]))


def by_frequency(found: Sequence[Sequence[str]], similarity: Ranked) -> Ranked:
    """Entries by how many of the images have them; ties by similarity (an entry without one last), then by key."""
    counts = Counter(key for keys in found for key in set(keys))
    near = dict(similarity)
    order = sorted(counts, key=lambda key: (-counts[key], -near.get(key, -np.inf), key))
    return [(key, float(counts[key])) for key in order]


def best_text_per_entry(rows: Sequence[tuple[str, float]], most: int) -> Ranked:
    """Texts that were found, as entries: each by its best text. Ties by key."""
    best: dict[str, float] = {}
    for key, score in rows:
        best[key] = max(score, best.get(key, -np.inf))
    return sorted(best.items(), key=lambda one: (-one[1], one[0]))[:most]
