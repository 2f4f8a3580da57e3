"""One request for an image: what it is known by, what it sends, and how its result is kept.

Nothing here knows what the image is for. Who sends (an image plan, later a pair builder) gives `scope`, under which
every attempt is filed, and commits its own rows in the transaction of `record_result`. A request that has a reply is
never sent again: a refusal is a reply, too.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from benchmarks.models import Image
from benchmarks.services.images import ImageRefused, store_image
from people.models import Team
from predictions.backends.contract import CallError
from predictions.backends.image_generation import GeneratedImages, GenerationRefused, ImageMaker
from predictions.models import Attempt, Endpoint, Prices, Reply
from predictions.requests.keys import json_digest
from predictions.requests.serialization import storable

PROMPT_VERSION = "1"
SEED_BITS = 31


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


def derived_seed(base: int, *parts: object) -> int:
    """The seed of one image: the first 31 bits of a digest, so that the same plan asks for the same images."""
    digest = hashlib.sha256("|".join(str(part) for part in (base, *parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - SEED_BITS)


def known_reply(team: Team, request: ImageRequest) -> Reply | None:
    """What the service said to this very request before."""
    return Reply.objects.filter(team=team, key=request.key).order_by("-number").first()


@dataclass(frozen=True)
class SendResult:
    """What came of one request: images, a refusal, or an error. Exactly one of `images` and `error` is there."""

    at: datetime
    images: GeneratedImages | None = None
    error: CallError | None = None

    @property
    def refused(self) -> bool:
        return isinstance(self.error, GenerationRefused)

    @property
    def may_be_charged(self) -> bool:
        """Whether nobody knows if the service made an image that did not arrive."""
        return self.error is not None and self.error.trouble in ("timeout", "connection")


def send(maker: ImageMaker, request: ImageRequest, originals: list[bytes], at: datetime) -> SendResult:
    """Send it once. Touches no database: it runs in a thread. `originals`: the bytes of `request.originals`."""
    more: dict[str, Any] = {"quality": request.quality} if request.quality else {}
    if "seed" in request.endpoint.offers:
        more["seed"] = request.seed
    try:
        if originals:
            return SendResult(at, maker.edit(request.prompt, originals, request.model, size=request.size, **more))
        return SendResult(at, maker.generate(request.prompt, request.model, size=request.size, **more))
    except CallError as error:
        return SendResult(at, error=error)


@dataclass(frozen=True)
class RecordedResult:
    """`reply`: None where another try may help. `problem`: why the bytes that came are no image that can be kept."""

    reply: Reply | None
    image: Image | None = None
    cost: Decimal = field(default=Decimal(0))
    problem: str = ""


def record_result(
    team: Team, request: ImageRequest, result: SendResult, *, scope: str, number: int, prices: Prices | None,
    price: Decimal | None,
) -> RecordedResult:  # fmt: skip
    """Write the attempt, and the reply with its image. Needs the transaction in which the caller writes what follows.

    A refusal and a failed request cost nothing, as far as the price list knows.
    """
    image, problem = None, ""
    if result.images is not None:
        try:
            image, _new = store_image(team, result.images.pictures[0], name=f"{scope}.png")
        except ImageRefused as refused:
            problem = refused.message
    reply = _store_reply(team, request, result, image)
    cost = price if result.images is not None else None if result.may_be_charged else Decimal(0)
    _store_attempt(result, scope, number, reply, prices, cost, problem)
    return RecordedResult(reply, image, (cost or Decimal(0)), problem)


def _store_reply(team: Team, request: ImageRequest, result: SendResult, image: Image | None) -> Reply | None:
    """None where nothing came that is worth keeping."""
    if image is not None and result.images is not None:
        body: dict[str, Any] = {"image": {"sha": image.sha256, "id": image.pk}, "revised": result.images.revised}
    elif result.refused:
        body = {"refusal": str(result.error)}
    else:
        return None
    number = Reply.objects.filter(team=team, key=request.key).count() + 1
    return Reply.objects.create(
        team=team, key=request.key, number=number, request=storable(request.to_json()), body=storable(body),
        created_at=result.at,
    )  # fmt: skip


def _store_attempt(
    result: SendResult, scope: str, number: int, reply: Reply | None, prices: Prices | None, cost: Decimal | None,
    problem: str,
) -> None:  # fmt: skip
    error, images = result.error, result.images
    Attempt.objects.create(
        scope=scope, number=number, at=result.at, seconds=images.seconds if images else None,
        outcome=error.trouble if error else Attempt.Outcome.REPLY, status=error.status if error else 200,
        tokens_in=images.tokens_in if images else None, tokens_out=images.tokens_out if images else None,
        cost=cost, prices=prices, provider_id=(images or error or CallError("connection", "")).provider_id[:120],
        error=(problem or (str(error) if error else ""))[:500], reply=reply,
    )  # fmt: skip
