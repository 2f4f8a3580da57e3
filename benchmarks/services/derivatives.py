"""Smaller pictures, made when first asked for."""

from threading import BoundedSemaphore

from django.conf import settings
from django.core.files.storage import default_storage

from benchmarks import pictures, storage
from benchmarks.models import Image

# Decoding is heavy: two at a time per process bounds its memory, whatever a page asks for at once.
_MAKING = BoundedSemaphore(2)


def derivative_name(sha: str, width: int) -> str:
    return f"derivatives/{pictures.ENCODER}/{sha[:2]}/{sha}-{width}.webp"


def derivative(sha: str, width: int) -> str:
    """The name of the derivative in the storage, made now if need be. FileNotFoundError if there is no original."""
    name = derivative_name(sha, width)
    if default_storage.exists(name):
        return name
    with _MAKING:
        if default_storage.exists(name):
            return name
        with storage.open_binary(Image(sha256=sha).original_name) as original:
            data = pictures.derive(original, width, settings.IMAGE_MAX_PIXELS)
        storage.put(name, data)
    return name
