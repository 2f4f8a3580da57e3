"""Smaller pictures, made when first asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock

from django.conf import settings
from django.core.files.storage import default_storage

from benchmarks.images import pictures
from benchmarks.models import Image
from benchmarks.services import storage


class MemoryBudget:
    """Decoding within a bound of memory: small pictures side by side, large ones alone, everybody in turn."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._used = 0
        self._door = Lock()  # whoever waits for room keeps it: a large picture is not overtaken for ever
        self._changed = Condition()

    @contextmanager
    def reserve(self, size: int) -> Iterator[None]:
        size = min(size, self._most)
        with self._door, self._changed:
            self._changed.wait_for(lambda: self._used + size <= self._most)
            self._used += size
        try:
            yield
        finally:
            with self._changed:
                self._used -= size
                self._changed.notify_all()


ROOM = MemoryBudget(pictures.MOST_MEMORY)


def derivative_name(sha: str, width: int) -> str:
    return f"derivatives/{pictures.ENCODER}/{sha[:2]}/{sha}-{width}.webp"


def derivative(sha: str, width: int) -> str:
    """The name of the derivative in the storage, made now if need be. FileNotFoundError if there is no original."""
    name = derivative_name(sha, width)
    if default_storage.exists(name):
        return name
    with (
        storage.open_binary(Image(sha256=sha).original_name) as original,
        ROOM.reserve(pictures.decode_memory(original, settings.IMAGE_MAX_PIXELS)),
    ):
        if default_storage.exists(name):
            return name
        data = pictures.resize_to_webp(original, width, settings.IMAGE_MAX_PIXELS)
    storage.store(name, data)
    return name
