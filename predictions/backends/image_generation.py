"""Pictures that a server makes or edits, by the OpenAI images protocol: bytes in the answer, or an address to fetch."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from benchmarks.images import pictures
from benchmarks.services.safe_fetch import FetchRefused, FetchResult, fetch, resolve_name
from predictions.backends import connections, failures, payloads
from predictions.backends.contract import CallError
from predictions.backends.openai import ServerClient, ServerResponse
from predictions.backends.payloads import MalformedResponse

MOST_ANSWER = 96 * 1024 * 1024
MOST_PICTURES = 10
NOT_A_PICTURE = "The server answered without a picture that can be read."
Fetch = Callable[[str], FetchResult]


class GenerationRefused(CallError):
    """The server would not make this picture; another wording may help, another try does not."""


@dataclass(frozen=True)
class GeneratedImages:
    """`pictures`: as they came, each looked at. `revised`: the prompt as the server rewrote it, if it says so."""

    pictures: tuple[bytes, ...]
    seconds: float
    tokens_in: int | None = None
    tokens_out: int | None = None
    provider_id: str = ""
    revised: str = ""


def fetch_image(url: str) -> FetchResult:
    """From the open internet only. Raises FetchRefused."""
    return fetch(url, most_bytes=settings.IMAGE_MAX_BYTES, seconds=30.0)


class ImageMaker:
    """One for a run; used from many threads. Every method raises CallError."""

    def __init__(
        self,
        base_url: str,
        secret: str = "",
        *,
        seconds: float = 180.0,
        resolve: connections.Resolve = resolve_name,
        fetch: Fetch = fetch_image,
    ) -> None:
        self.wire = ServerClient(base_url, secret, seconds, resolve)
        self.fetch = fetch

    def close(self) -> None:
        self.wire.close()

    def generate(self, prompt: str, model: str, *, size: str = "", count: int = 1, **more: Any) -> GeneratedImages:
        """`size` as the server names it ("1024x1024"); `more`: what it takes besides, such as quality or seed."""
        body = {"model": model, "prompt": prompt, "n": max(1, min(MOST_PICTURES, count)), **more}
        body |= {"size": size} if size else {}
        return self._parse_images(self.wire.send("POST", "/images/generations", most=MOST_ANSWER, json=body), [prompt])

    def edit(
        self, prompt: str, originals: Sequence[bytes], model: str, *, size: str = "", mask: bytes | None = None,
        **more: Any,
    ) -> GeneratedImages:  # fmt: skip
        """The originals, changed as the prompt says. `mask`: a PNG whose transparent parts may be changed; `more`: what
        the server takes besides, such as quality or seed."""
        field = "image" if len(originals) == 1 else "image[]"
        files = [(field, _file(f"image-{number}", data)) for number, data in enumerate(originals)]
        files += [("mask", _file("mask", mask))] if mask else []
        form = {"model": model, "prompt": prompt, **({"size": size} if size else {})}
        form |= {name: str(value) for name, value in more.items()}
        return self._parse_images(
            self.wire.send("POST", "/images/edits", most=MOST_ANSWER, data=form, files=files), [prompt]
        )

    def _parse_images(self, response: ServerResponse, asked: Sequence[str]) -> GeneratedImages:
        if response.status != 200:
            raise self._failure(response, asked)
        try:
            body = response.body()
        except MalformedResponse:
            raise self.wire.unreadable(response) from None
        rows = body.get("data")
        if not isinstance(rows, list) or not rows:
            raise CallError("transient", NOT_A_PICTURE, status=response.status, provider_id=response.provider_id)
        images = tuple(self._picture(row, response) for row in rows[:MOST_PICTURES])
        tokens_in, tokens_out = payloads.usage_of(body)
        revised = payloads.clean(rows[0].get("revised_prompt"), 4000)
        return GeneratedImages(images, response.seconds, tokens_in, tokens_out, response.provider_id, revised)

    def _failure(self, response: ServerResponse, asked: Sequence[str]) -> CallError:
        error = self.wire.error(response, asked)
        try:
            code, _words = failures.parse_error_body(response.body())
        except MalformedResponse:
            return error
        if not failures.is_content_filter(code):
            return error
        words = "The server refuses to make this picture."
        return GenerationRefused("permanent", words, status=response.status, provider_id=response.provider_id)

    def _picture(self, row: Any, response: ServerResponse) -> bytes:
        """Decoded once, so that what is kept is a picture and no bomb."""
        try:
            data = self._bytes(row if isinstance(row, Mapping) else {})
            pictures.inspect(data, settings.IMAGE_MAX_PIXELS)
        except FetchRefused as refused:
            words = f"The server's picture could not be fetched: {refused.message}"
            raise CallError("connection", words, status=response.status, provider_id=response.provider_id) from refused
        except (binascii.Error, ValueError, pictures.NotAPicture):
            raise CallError(
                "transient", NOT_A_PICTURE, status=response.status, provider_id=response.provider_id
            ) from None
        return data

    def _bytes(self, row: Mapping[str, Any]) -> bytes:
        if isinstance(row.get("b64_json"), str):
            return base64.b64decode(row["b64_json"], validate=True)
        if isinstance(row.get("url"), str):
            return self.fetch(row["url"]).data
        return b""


def _file(name: str, data: bytes) -> tuple[str, bytes, str]:
    kind = payloads.kind_of(data)
    return f"{name}.{kind.rpartition('/')[2]}", data, kind
