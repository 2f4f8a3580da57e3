"""Pictures of an import that lie on the web: fetched one by one through the only way out, and never twice.

Servers that are busy or slow are asked again after a while; one that fails again and again is not waited for any more,
so that a dead server costs minutes, not days. Waiting keeps the job's lease and hears a cancellation.
"""

import time
from collections import Counter
from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings

from benchmarks.imports.problems import RowProblem
from benchmarks.imports.web_addresses import path_of
from benchmarks.models import Image, ItemImage, Stage
from benchmarks.services import safe_fetch
from benchmarks.services.images import store_image
from benchmarks.services.safe_fetch import FetchRefused, FetchResult

WAITS = {"busy": (1, 2, 5, 10), "too_slow": (61,), "refused": (5, 20, 60), "no_answer": (2, 10)}
"""Seconds before each further attempt, by the code of the refusal; of what the server refused only BUSY_STATUS."""
BUSY_STATUS = (429, 500, 502, 503, 504)
MOST_FAILURES = 3
"""After so many pictures in a row that a server did not give, its other ones are tried once."""
BEAT_SECONDS = 5.0
Fetch = Callable[[str], FetchResult]


def _fetch(url: str) -> FetchResult:
    return safe_fetch.fetch(url, most_bytes=settings.IMAGE_MAX_BYTES)


class WebPictures:
    """`beat` is called while it waits. A picture that an item of the stage has from the same address is that one."""

    def __init__(self, stage: Stage, beat: Callable[[], None], pause: Callable[[float], None] = time.sleep) -> None:
        self._stage, self._beat, self._pause = stage, beat, pause
        self._failures: Counter[str] = Counter()
        self._known: dict[str, int] | None = None

    def load(self, url: str) -> Image:
        """Raises RowProblem and ImageRefused."""
        if self._known is None:
            rows = ItemImage.objects.filter(item__stage=self._stage, file_name__istartswith="http")
            self._known = dict(rows.values_list("file_name", "image"))
        if url in self._known:
            return Image.objects.get(pk=self._known[url])
        self._beat()
        image, _created = store_image(self._stage.benchmark.team, self._data(url), name=path_of(url)[-100:])
        return image

    def _data(self, url: str) -> bytes:
        server = _server_of(url)
        attempt = 0
        while True:
            try:
                data = _fetch(url).data
            except FetchRefused as refused:
                waits = WAITS.get(refused.code, ()) if _may_pass(refused) else ()
                if attempt >= len(waits) or self._failures[server] >= MOST_FAILURES:
                    self._failures[server] += bool(waits)
                    raise RowProblem(refused.code, refused.message) from refused
                self._wait(waits[attempt])
                attempt += 1
            else:
                self._failures[server] = 0
                return data

    def _wait(self, seconds: float) -> None:
        while seconds > 0:
            self._beat()
            self._pause(min(seconds, BEAT_SECONDS))
            seconds -= BEAT_SECONDS


def _may_pass(refused: FetchRefused) -> bool:
    """Whether another attempt can have another end."""
    return refused.code != "refused" or refused.params.get("status") in BUSY_STATUS


def _server_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
