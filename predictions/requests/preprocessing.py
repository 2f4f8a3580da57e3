"""The bytes of an image as models get them: upright, sRGB on white, nothing but pixels, no side longer than allowed.

They are made once and kept beside the other derivatives, which may be deleted at any time; a few are kept in memory,
because a unit's repeats and retries come soon after each other. No database: threads that ask call this.
"""

import hashlib
from collections import OrderedDict
from threading import Lock

from django.conf import settings

from benchmarks.images import pictures
from benchmarks.models import Image
from benchmarks.services import storage
from benchmarks.services.derivatives import ROOM

MAKER = "sent1"  # goes up when the same image comes out otherwise: then every request has another key
LONGEST, MOST = 1024, 4096
MEMORY = 48 * 1024 * 1024
DIGESTS = 50_000


class _ImageCache:
    """The bytes asked for last, within a bound of memory; and many more digests, which are small."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._bytes: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._digests: OrderedDict[tuple[str, int], str] = OrderedDict()
        self._size = 0

    def data(self, name: tuple[str, int]) -> bytes | None:
        with self._lock:
            if name in self._bytes:
                self._bytes.move_to_end(name)
            return self._bytes.get(name)

    def digest(self, name: tuple[str, int]) -> str | None:
        with self._lock:
            return self._digests.get(name)

    def keep(self, name: tuple[str, int], data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:
            if name not in self._bytes:
                self._bytes[name] = data
                self._size += len(data)
            while self._size > MEMORY and len(self._bytes) > 1:
                self._size -= len(self._bytes.popitem(last=False)[1])
            self._digests[name] = digest
            if len(self._digests) > DIGESTS:
                self._digests.popitem(last=False)
        return digest

    def forget(self) -> None:
        with self._lock:
            self._bytes.clear()
            self._digests.clear()
            self._size = 0


KEPT = _ImageCache()


def bytes_of(sha: str, longest: int = LONGEST) -> bytes:
    """What is sent for an original. FileNotFoundError if it is not there, pictures.NotAPicture if it cannot be read.

    The caller has the sha from an item it may see; nothing is checked here.
    """
    name = (sha, scaled_size(longest))
    data = KEPT.data(name)
    if data is None:
        data = _load_or_encode(*name)
        KEPT.keep(name, data)
    return data


def digest_of(sha: str, longest: int = LONGEST) -> str:
    """SHA-256 of what is sent: it is part of the request's key."""
    name = (sha, scaled_size(longest))
    return KEPT.digest(name) or KEPT.keep(name, bytes_of(*name))


def scaled_size(longest: int) -> int:
    return max(16, min(MOST, longest))


def name_of(sha: str, longest: int) -> str:
    return f"derivatives/{MAKER}/{sha[:2]}/{sha}-{longest}.jpg"


def _load_or_encode(sha: str, longest: int) -> bytes:
    name = name_of(sha, longest)
    try:
        with storage.open_binary(name) as file:
            return file.read()
    except FileNotFoundError:
        data = _encode(sha, longest)
        storage.store(name, data)
        return data


def _encode(sha: str, longest: int) -> bytes:
    most: int = settings.IMAGE_MAX_PIXELS
    with (
        storage.open_binary(Image(sha256=sha).original_name) as original,
        ROOM.reserve(pictures.decode_memory(original, most)),
    ):
        return pictures.jpeg_for_model(original, longest, most)
