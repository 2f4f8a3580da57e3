"""Dual encoders by open_clip: images and texts as vectors of unit length, and probes of an image with some texts.

A model is named as "ARCHITECTURE/PRETRAINED TAG" (such as "ViT-B-32/laion2b_s34b_b79k"), "hf-hub:OWNER/NAME", or
"local-dir:NAME".
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from predictions.backends import clip_config, torch_setup
from predictions.backends.contract import BackendReply, CallError, Decoding, Encoder, Pictures, Vectors
from predictions.prompts.contract import Reply, Request

BATCH = 64
AHEAD = 2  # batches that are decoded while one is encoded
DECODERS = 2
HUB = "hf-hub:"
Fetch = Callable[[], bytes]


class ClipEncoder:
    """An Encoder. `digest` tells the weights of a local folder apart; one of a hub is told apart by its name."""

    def __init__(self, name: str, model: Any, preprocess: Any, tokenizer: Any, digest: str) -> None:
        self.name = name
        self.digest = digest
        self._model, self._preprocess, self._tokenizer = model, preprocess, tokenizer
        self._torch = torch_setup.torch()
        self._device, self._dtype = torch_setup.device()
        self._busy = threading.Lock()
        self.dimensions = self.texts([""]).shape[1]

    def images(self, data: Sequence[bytes]) -> Vectors:
        """(n, d). Raises CallError where one cannot be read."""
        encoded = np.zeros((len(data), self.dimensions), np.float32)
        for places, vectors, failures in self.stream([partial(bytes, one) for one in data]):
            if failures:
                raise next(iter(failures.values()))
            encoded[places] = vectors
        return encoded

    def stream(
        self, fetches: Sequence[Fetch], size: int = BATCH
    ) -> Iterator[tuple[list[int], Vectors, dict[int, CallError]]]:
        """Batch by batch, in order: places of those encoded, their vectors, and why others could not be read. Pictures
        are fetched and decoded while the batch before is encoded."""
        parts = deque(torch_setup.batches(range(len(fetches)), size))
        waiting: deque[tuple[Sequence[int], list[Future[Any]]]] = deque()
        with ThreadPoolExecutor(DECODERS, thread_name_prefix="decode") as pool:
            try:
                while parts or waiting:
                    while parts and len(waiting) <= AHEAD:
                        part = parts.popleft()
                        waiting.append((part, [pool.submit(self.prepare, fetches[at]) for at in part]))
                    part, futures = waiting.popleft()
                    yield self._encode_ready(part, futures)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def prepare(self, fetch: Fetch) -> Any:
        """One picture as the model takes it in. Raises CallError."""
        try:
            data = fetch()
        except FileNotFoundError as error:
            raise CallError("permanent", _("The picture file is missing. Import it again.")) from error
        return self._preprocess(torch_setup.upright(data))

    def _encode_ready(
        self, places: Sequence[int], futures: Sequence[Future[Any]]
    ) -> tuple[list[int], Vectors, dict[int, CallError]]:
        good: list[int] = []
        tensors: list[Any] = []
        failures: dict[int, CallError] = {}
        for place, future in zip(places, futures, strict=True):
            try:
                tensors.append(future.result())
                good.append(place)
            except CallError as error:
                failures[place] = error
        if not good:
            return [], np.zeros((0, self.dimensions), np.float32), failures
        batch = self._torch.stack(tensors)
        return good, self._forward(self._model.encode_image, batch.to(self._device, self._dtype)), failures

    def texts(self, texts: Sequence[str]) -> Vectors:
        """(n, d)."""
        tokens = [self._tokenizer(list(part)).to(self._device) for part in torch_setup.batches(texts, BATCH)]
        found = [self._forward(self._model.encode_text, part) for part in tokens]
        return np.concatenate(found) if found else np.zeros((0, self.dimensions), np.float32)

    def _forward(self, encode: Callable[[Any], Any], batch: Any) -> Vectors:
        """Unit length in float32, whatever the model's precision."""
        with self._busy, self._torch.inference_mode():
            raw = encode(batch).float()
            return np.asarray(self._torch.nn.functional.normalize(raw, dim=-1).cpu().numpy(), np.float32)


def load(model: str) -> ClipEncoder:
    """The encoder of this name; the last one stays loaded. Raises CallError with words for the researcher."""
    return torch_setup.cached_model("open_clip", model, lambda: _load(model))


def _load(model: str) -> ClipEncoder:
    torch_setup.torch()
    import open_clip

    folder = torch_setup.folder_of(model)
    where, dtype = torch_setup.device()
    if folder is not None:
        source, tag = f"{torch_setup.LOCAL}{folder}", None
    elif model.startswith(HUB):
        torch_setup.hub_name(model.removeprefix(HUB))
        torch_setup.check_allowed(model)
        source, tag = model, None
    else:
        source, _slash, tag = model.partition("/")
        if (source, tag) not in open_clip.list_pretrained():
            text = _(
                "open_clip knows no “%(model)s”. Write ViT-B-32/laion2b_s34b_b79k, hf-hub:owner/name or local-dir:name."
            )
            raise torch_setup.ModelUnavailable(text % {"model": model[:100]})
        torch_setup.check_allowed(model)
    config = clip_config.load_checked_config(model, source)
    # This door refuses a model without weights; the others would go on with random ones.
    network, preprocess = open_clip.create_model_from_pretrained(source, pretrained=tag, device=where)
    network = network.to(dtype).eval()
    tokenizer = clip_config.tokenizer(source, config)
    return ClipEncoder(model, network, preprocess, tokenizer, digest_of(folder) if folder else "")


def digest_of(folder: Path) -> str:
    """Of the names and bytes of a model's files."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        whole.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


class ProbeBackend:
    """A Backend that answers requests of kind "probe": the cosine of the image with each text."""

    def answer(self, request: Request, model: str, decoding: Decoding, pictures: Pictures) -> BackendReply:
        if request.kind != "probe":
            raise CallError(
                "permanent", _("An encoder of images and texts answers probes only. Choose another prompt.")
            )
        encoder = load(model)
        began = time.perf_counter()
        [image], texts = encoder.images([pictures(request.image)]), encoder.texts(request.texts)
        similarities = tuple(float(one) for one in texts @ image)
        reply = Reply(similarities=similarities, finish="stop", model=encoder.name)
        return BackendReply(reply, time.perf_counter() - began)

    def close(self) -> None:
        """The model stays loaded for the next run."""


def backend() -> ProbeBackend:
    return ProbeBackend()


def encoder(model: str) -> Encoder:
    return load(model)
