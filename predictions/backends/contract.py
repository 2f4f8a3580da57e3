"""A back end answers one request. It knows nothing of runs, units or sheets, and never touches the database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from predictions.prompts.contract import Reply, Request

Trouble = Literal["rate_limit", "transient", "timeout", "connection", "not_allowed", "permanent"]
RETRIED: tuple[Trouble, ...] = ("rate_limit", "transient", "timeout", "connection")
Vectors = npt.NDArray[np.float32]
Pictures = Callable[[str], bytes]
"""The bytes that are sent for an image's sha: re-encoded, upright, without metadata, within the endpoint's size."""


class CallError(Exception):
    """Nothing came back that could be read. `words` hold no secret and nothing of the request's text."""

    def __init__(
        self,
        trouble: Trouble,
        words: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        provider_id: str = "",
        tokens_in: int | None = None,
        tokens_out: int | None = None,
    ) -> None:
        super().__init__(words)
        self.trouble = trouble
        self.words = words
        self.status = status
        self.retry_after = retry_after
        self.provider_id = provider_id
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out


@dataclass(frozen=True)
class Decoding:
    """`ways`: restricts how an answer may be got; empty: the first of the prompt's that the endpoint offers."""

    temperature: float = 0.0
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class BackendReply:
    """`seconds`: of the request alone."""

    reply: Reply
    seconds: float
    status: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    provider_id: str = ""


class Backend(Protocol):
    """One for a run; used from many threads at once."""

    def answer(self, request: Request, model: str, decoding: Decoding, pictures: Pictures) -> BackendReply:
        """Raises CallError; everything else that goes wrong is a fault of ours."""
        ...

    def close(self) -> None: ...


class Encoder(Protocol):
    """Vectors of unit length, one row for each; `name` says model and checkpoint."""

    name: str
    dimensions: int

    def images(self, data: Sequence[bytes]) -> Vectors: ...
    def texts(self, texts: Sequence[str]) -> Vectors: ...
