"""What requests cost: before they are sent, between two bounds; afterwards, by the tokens that were told."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal, InvalidOperation
from typing import Any, NamedTuple

from predictions.backends.contract import Decoding
from predictions.backends.payloads import max_tokens
from predictions.prompts.contract import ImagePart, Request
from predictions.requests.serialization import image_shas

MILLION = Decimal(1_000_000)
DEAREST = Decimal(9_999)  # of one request; a call may take several, and its sum has six places before the point
PLACES = Decimal("0.00000001")
# Tokens of a text: of its bytes, since scripts that take more bytes for a letter take more tokens for it, too. At least
# one for each word or so, at most one for two bytes.
BYTES_A_TOKEN = (6.0, 2.0)
MESSAGE = (0, 8)
# Of an image: providers count from 85 (one small tile) to a token for each 28x28 pixels, and little more.
IMAGE_LOW, PIXELS_A_TOKEN = 85, 700


class TokenBounds(NamedTuple):
    low: int
    high: int


@dataclass(frozen=True)
class Rates:
    """A model's prices in US dollars; None where nobody has said it. Of pictures and requests that means that they
    cost nothing besides their tokens; of tokens one way, that nobody knows what a request costs."""

    tokens_in: Decimal | None = None
    tokens_out: Decimal | None = None
    image: Decimal | None = None
    request: Decimal | None = None

    @classmethod
    def of(cls, prices: Mapping[str, Any]) -> "Rates":
        names = {"tokens_in": "in", "tokens_out": "out", "image": "image", "request": "request"}
        return cls(**{name: _number(prices.get(key)) for name, key in names.items()})

    @property
    def known(self) -> bool:
        if (self.tokens_in is None) != (self.tokens_out is None):
            return False
        return any(decimal is not None for decimal in (self.tokens_in, self.image, self.request))

    def cost(self, tokens_in: int | None, tokens_out: int | None, images: int) -> Decimal | None:
        """None where a price or a number of tokens that matters is not known; never 0 for want of knowing."""
        if not self.known:
            return None
        total = Decimal(0)
        for rate, n, per in (
            (self.tokens_in, tokens_in, MILLION), (self.tokens_out, tokens_out, MILLION),
            (self.image, images, Decimal(1)), (self.request, 1, Decimal(1)),
        ):  # fmt: skip
            if rate:
                if n is None:
                    return None
                total += rate * n / per
        return min(total, DEAREST).quantize(PLACES, ROUND_UP)


def _number(value: Any) -> Decimal | None:
    try:
        number = Decimal(str(value)) if value not in (None, "") else None
    except InvalidOperation:
        return None
    return number if number is None or (number.is_finite() and number >= 0) else None


def token_bounds(
    request: Request, sizes: Mapping[str, tuple[int, int]], longest: int, decoding: Decoding
) -> tuple[TokenBounds, TokenBounds]:
    """Tokens that go in and that come out, at least and at most. `sizes`: of the images by sha."""
    texts = [piece.text for message in request.messages for piece in message.pieces if not isinstance(piece, ImagePart)]
    texts += [request.continuation, *request.texts]
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    low, high = (size / each + len(request.messages) * more for each, more in zip(BYTES_A_TOKEN, MESSAGE, strict=True))
    for sha in image_shas(request):
        low += IMAGE_LOW
        high += _image(*sizes.get(sha, (longest, longest)), longest)
    most_out = 1 if request.kind == "continuation" else max_tokens(request, decoding)
    return TokenBounds(int(low), int(high) + 1), TokenBounds(1, max(1, most_out))


def _image(width: int, height: int, longest: int) -> float:
    scale = min(1.0, longest / max(width, height, 1))
    return max(IMAGE_LOW, width * height * scale * scale / PIXELS_A_TOKEN) + 20


class Ledger:
    """What a run has spent, and what requests in flight may cost at most. Used by the executor's thread alone."""

    def __init__(self, budget: Decimal | None, spent: Decimal) -> None:
        self.budget, self.spent, self.reserved = budget, spent, Decimal(0)

    @property
    def held(self) -> Decimal:
        """Spent, or in flight at its most."""
        return self.spent + self.reserved

    def reserve(self, most: Decimal) -> bool:
        """Whether there is room for it; then it is held until `settle`."""
        if self.budget is not None and self.spent + self.reserved + most > self.budget:
            return False
        self.reserved += most
        return True

    def settle(self, most: Decimal, cost: Decimal) -> None:
        self.reserved -= most
        self.spent += cost

    def charge(self, dollars: Decimal) -> None:
        """Add a cost for which nothing was reserved."""
        self.spent += dollars

    def set_spent(self, dollars: Decimal) -> None:
        self.spent = dollars

    def set_budget(self, budget: Decimal | None) -> None:
        self.budget = budget
