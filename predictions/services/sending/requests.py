"""What is asked of a chat model or of an image service, by what it is known, and what is kept with its reply."""

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from benchmarks.models import Image
from people.models import Team
from predictions.backends.contract import Decoding
from predictions.models import Endpoint, Reply
from predictions.prompts.contract import Request
from predictions.requests.keys import RequestIdentity, json_digest, request_key
from predictions.requests.preprocessing import LONGEST, digest_of
from predictions.requests.serialization import request_json

PROMPT_VERSION = "1"
SEED_BITS = 31
ClientKind = Literal["chat", "image"]


@dataclass(frozen=True)
class ImageRequest:
    """`originals`: the images to edit, none where one is made from the prompt alone. `seed` is stored always, and sent
    where the endpoint takes one."""

    endpoint: Endpoint
    model: str
    prompt: str
    seed: int
    size: str = ""
    quality: str = ""
    originals: tuple[Image, ...] = ()
    prompt_version: str = PROMPT_VERSION
    kind: ClientKind = "image"

    def to_json(self) -> dict[str, Any]:
        """As it is kept with its reply."""
        whole = {
            "kind": "image_edit" if self.originals else "image", "prompt": self.prompt, "size": self.size,
            "quality": self.quality, "seed": self.seed, "originals": [image.sha256 for image in self.originals],
        }  # fmt: skip
        return {name: value for name, value in whole.items() if value not in ("", [])}

    @property
    def key(self) -> str:
        """Equal when, and only when, the same thing would be asked again."""
        whole = {
            "endpoint": [self.endpoint.pk, self.endpoint.base_url.rstrip("/")],
            "model": self.model,
            "prompt_version": self.prompt_version,
            "request": self.to_json(),
        }
        return json_digest(whole)


@dataclass(frozen=True)
class ChatRequest:
    """Messages to a chat model. `prompt` and `prompt_version` name the wording; `seed` is part of the key always, and
    sent where the endpoint takes one."""

    endpoint: Endpoint
    model: str
    request: Request
    prompt: str
    prompt_version: str
    seed: int
    kind: ClientKind = "chat"

    @property
    def decoding(self) -> Decoding:
        return Decoding(seed=self.seed)

    def to_json(self) -> dict[str, Any]:
        """As it is kept with its reply. Reads the images."""
        return {**request_json(self.request, partial(digest_of, longest=LONGEST)), "seed": self.seed}

    @property
    def key(self) -> str:
        """As for runs, with the seed. Reads the images; raises OSError or NotAPicture."""
        identity = RequestIdentity(
            self.endpoint.pk, self.endpoint.base_url, self.model, "", self.prompt, self.prompt_version, self.decoding,
            tuple(self.endpoint.offers),
        )  # fmt: skip
        digest = partial(digest_of, longest=LONGEST)
        return json_digest(
            {"seed": self.seed, "key": request_key(self.request, identity, repeat=0, part=0, digest=digest)}
        )


OutgoingRequest = ImageRequest | ChatRequest


def derived_seed(base: int, *parts: object) -> int:
    """The seed of one image: the first 31 bits of a digest, so that the same plan asks for the same images."""
    digest = hashlib.sha256("|".join(str(part) for part in (base, *parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - SEED_BITS)


def known_reply(team: Team, key: str) -> Reply | None:
    """What the service said to this very request before."""
    return Reply.objects.filter(team=team, key=key).order_by("-number").first()
