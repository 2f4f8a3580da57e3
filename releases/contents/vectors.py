"""Vectors of embedding runs as site rows. They lie in the database or in files; a collection with a run is closed."""

import base64
from collections.abc import Callable, Iterator

from predictions.models import Run
from predictions.queries.results import entries_with_vectors, vectors_by
from releases.contents.site_rows import site_tables
from releases.models import Release
from releases.rows.columns import Row

NAMES = ("run", "entry", "vector")
CHUNK = 1000


def vector_rows(release: Release, progress: Callable[[int], None]) -> Iterator[Row]:
    """Of the runs that were frozen, by run and entry; a thousand vectors are in memory."""
    [runs] = [table for table in site_tables(release) if table.kind.key == "runs"]
    numbers = [row["number"] for row in runs.frozen_rows(progress) if row["task"] == Run.Task.EMBEDDING]
    for run in Run.objects.filter(pk__in=numbers).select_related("collection").order_by("pk"):
        collection = [run.pool.key, run.pool.version]
        entries = entries_with_vectors(run)
        for start in range(0, len(entries), CHUNK):
            part = entries[start : start + CHUNK]
            vectors = vectors_by(run, [place for place, _key, _about in part])
            for (_place, key, _about), vector in zip(part, vectors, strict=True):
                data = base64.b64encode(vector.astype("<f4").tobytes()).decode()
                yield {"run": run.pk, "entry": [collection, key], "vector": data}
