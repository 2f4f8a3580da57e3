"""What a request costs: the most before it is sent, and what it has cost by the tokens that were told."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from predictions.models import Prices
from predictions.requests.preprocessing import LONGEST
from predictions.requests.serialization import image_shas
from predictions.services.endpoints import endpoints
from predictions.services.runs.engine.budgets import Rates, token_bounds
from predictions.services.sending.requests import ChatRequest, ImageRequest, OutgoingRequest

Sizes = Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class RequestPrice:
    """US dollars. `most`: None where nobody has said what it costs. `rates`: of a chat request, by tokens."""

    prices: Prices | None = None
    most: Decimal | None = None
    rates: Rates | None = None
    images: int = 0

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> Decimal | None:
        """Of a request with a reply; None where it is not known."""
        return self.most if self.rates is None else self.rates.cost(tokens_in, tokens_out, self.images)


def price_of(request: OutgoingRequest, at: datetime, sizes: Sizes | None = None) -> RequestPrice:
    """`sizes`: of the images of a chat request by sha; one that is missing counts as the largest that is sent."""
    if isinstance(request, ImageRequest):
        edited = bool(request.originals)
        prices, price = endpoints.image_price_of(request.endpoint, request.model, request.size, at, edited=edited)
        return RequestPrice(prices, price)
    return _chat_price(request, at, sizes or {})


def _chat_price(request: ChatRequest, at: datetime, sizes: Sizes) -> RequestPrice:
    prices, row = endpoints.price_of(request.endpoint, request.model, at)
    rates = Rates.of(row)
    if not rates.known:
        return RequestPrice(prices, None, rates)
    n = len(image_shas(request.request))
    tokens_in, tokens_out = token_bounds(request.request, sizes, LONGEST, request.decoding)
    return RequestPrice(prices, rates.cost(tokens_in.high, tokens_out.high, n), rates, n)
