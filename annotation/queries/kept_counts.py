"""Counts of many answers, kept until an answer of their benchmark changes."""

from collections.abc import Callable
from typing import TypeVar

from django.core.cache import cache

from annotation.queries.answers import watermark
from benchmarks.models import Benchmark

Key = TypeVar("Key")
MANY = 20_000  # answers, whose count takes some 40 ms
LASTING = 900  # seconds


def keep_until_changed(benchmark: Benchmark, name: str, read: Callable[[], dict[Key, int]]) -> dict[Key, int]:
    """What `read` counts, from the cache where the watermark of the benchmark is as it was before it was counted.

    Fewer than MANY are counted each time, without a query for the watermark: for the first count of many it is not
    known, so that the second one is kept.
    """
    key = f"counts:{name}:{benchmark.pk}"
    stored = cache.get(key)
    mark = watermark(benchmark) if stored else None
    if stored and stored[0] == mark:
        counts: dict[Key, int] = stored[1]
        return counts
    counts = read()
    if sum(counts.values()) >= MANY:
        cache.set(key, (mark, counts), LASTING)
    return counts
