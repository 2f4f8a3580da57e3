"""Where the vectors of a knowledge base lie; the store itself is predictions.vectors."""

from pathlib import Path

from django.conf import settings

from predictions.vectors import SHARD, Ints, Store, save, unit

__all__ = ["SHARD", "Ints", "Store", "folder_of", "save", "unit"]


def folder_of(base_id: int, index_id: int) -> Path:
    return Path(settings.VECTORS_ROOT) / "knowledge" / str(base_id) / str(index_id)
