"""How the result of a request is kept: the attempt, and the reply with its image, in the caller's transaction."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from benchmarks.models import Image
from benchmarks.services.images import ImageRefused, store_image
from people.models import Team
from predictions.models import Attempt, Reply
from predictions.requests.serialization import reply_to_json, storable, truncate_reply
from predictions.services.sending.pool import SendResult
from predictions.services.sending.prices import RequestPrice
from predictions.services.sending.requests import OutgoingRequest

LOST = "The worker stopped before the reply was stored. The provider may charge for this request."


@dataclass(frozen=True)
class RecordedResult:
    """`reply`: None where another try may help. `cost`: None where it is not known; `unaccounted`: what may have been
    charged besides. `problem`: why the bytes that came are no image that can be kept."""

    reply: Reply | None
    image: Image | None = None
    cost: Decimal | None = None
    unaccounted: Decimal = Decimal(0)
    tokens_in: int | None = None
    tokens_out: int | None = None
    problem: str = ""


def record_result(
    team: Team, request: OutgoingRequest, result: SendResult, *, scope: str, number: int, price: RequestPrice
) -> RecordedResult:
    """Write the attempt, and the reply with its image. Needs the transaction in which the caller writes what follows.

    A refusal and a failed request cost nothing, as far as the price list knows.
    """
    image, problem = None, ""
    if result.images is not None:
        try:
            image, _new = store_image(team, result.images.pictures[0], name=f"{scope}.png")
        except ImageRefused as refused:
            problem = refused.message
    source = result.images or result.chat
    tokens_in, tokens_out = (source.tokens_in, source.tokens_out) if source else (None, None)
    unaccounted = (price.most or Decimal(0)) if result.may_be_charged else Decimal(0)
    cost = price.cost(tokens_in, tokens_out) if source else None if result.may_be_charged else Decimal(0)
    reply = _store_reply(team, request, result, image)
    _store_attempt(result, scope, number, reply, price, cost, problem)
    return RecordedResult(reply, image, cost, unaccounted, tokens_in, tokens_out, problem)


def image_of(reply: Reply) -> Image | None:
    """The image of a stored reply; None where it is a refusal or a chat reply."""
    stored = reply.body.get("image")
    return Image.objects.get(pk=stored["id"]) if isinstance(stored, dict) else None


def record_lost(scope: str, number: int, at: datetime) -> None:
    """Write the attempt of a request whose worker is gone."""
    Attempt.objects.create(scope=scope, number=number, at=at, outcome=Attempt.Outcome.LOST, cost=None, error=LOST)


def _store_reply(team: Team, request: OutgoingRequest, result: SendResult, image: Image | None) -> Reply | None:
    """None where nothing came that is worth keeping."""
    if image is not None and result.images is not None:
        body: dict[str, Any] = {"image": {"sha": image.sha256, "id": image.pk}, "revised": result.images.revised}
    elif result.refused:
        body = {"refusal": str(result.error)}
    elif result.chat is not None:
        body = reply_to_json(truncate_reply(result.chat.reply)[0])
    else:
        return None
    number = Reply.objects.filter(team=team, key=request.key).count() + 1
    return Reply.objects.create(
        team=team, key=request.key, number=number, request=storable(request.to_json()), body=storable(body),
        created_at=result.at,
    )  # fmt: skip


def _store_attempt(
    result: SendResult, scope: str, number: int, reply: Reply | None, price: RequestPrice, cost: Decimal | None,
    problem: str,
) -> None:  # fmt: skip
    error, source = result.error, result.images or result.chat
    provider_id = source.provider_id if source else error.provider_id if error else ""
    Attempt.objects.create(
        scope=scope, number=number, at=result.at, seconds=source.seconds if source else None,
        outcome=error.trouble if error else Attempt.Outcome.REPLY, status=error.status if error else 200,
        tokens_in=source.tokens_in if source else None, tokens_out=source.tokens_out if source else None,
        cost=cost, prices=price.prices, provider_id=provider_id[:120],
        error=(problem or (str(error) if error else ""))[:500], reply=reply,
    )  # fmt: skip
