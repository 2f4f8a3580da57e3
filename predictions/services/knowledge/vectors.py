"""Where the vectors of a knowledge base lie; see predictions.retrieval.vectors for what holds them."""

from pathlib import Path

from django.conf import settings


def folder_of(base_id: int, index_id: int) -> Path:
    return Path(settings.VECTORS_ROOT) / "knowledge" / str(base_id) / str(index_id)
