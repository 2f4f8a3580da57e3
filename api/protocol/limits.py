"""How many requests a person, one of their tokens, and a team may make in a time."""

from collections.abc import Iterator
from typing import Any

from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle, SimpleRateThrottle

from api.protocol.request_counts import RateLimit, count_request
from people.models import ApiToken, TeamMember, User

SECONDS = 60  # what the rate of a token is for


class Throttle(BaseThrottle):
    """Counts a request where each of its limits has room. `request.rate_limits` has what is left of each."""

    THROTTLE_RATES = api_settings.DEFAULT_THROTTLE_RATES

    def __init__(self) -> None:
        self.waiting: float | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        if not isinstance(request.user, User):
            return True
        allowed, request.rate_limits = count_request(list(self._limits(request, view)))
        if not allowed:
            self.waiting = max(max(state.reset, 1.0) for state in request.rate_limits if not state.left)
        return allowed

    def wait(self) -> float | None:
        return self.waiting

    def _limits(self, request: Request, view: Any) -> Iterator[RateLimit]:
        user, token = request.user.pk, request.auth
        yield RateLimit("person", f"person:{user}", *self._rate("person"))
        if isinstance(token, ApiToken) and token.rate is not None:
            yield RateLimit("token", f"token:{token.pk}", token.rate, SECONDS)
        team = team_of(user, view.kwargs)
        if team is not None:
            yield RateLimit("team", f"team:{team}", *self._rate("team"))

    def _rate(self, name: str) -> tuple[int, int]:
        return _read_rate(self.THROTTLE_RATES[name])


def team_of(user: int, address: dict[str, Any]) -> int | None:
    """The team that a request is about, if the person belongs to it: nobody else uses up its limit."""
    own = TeamMember.objects.filter(user=user)
    if slug := address.get("slug"):
        own = own.filter(team__benchmarks__slug=slug)
    elif slug := address.get("team"):
        own = own.filter(team__slug=slug)
    else:
        return None
    return own.values_list("team", flat=True).first()


class _Rates(SimpleRateThrottle):
    rate = "1/min"


def _read_rate(rate: str) -> tuple[int, int]:
    """A number of requests, and of how many seconds."""
    most, seconds = _Rates().parse_rate(rate)
    assert most is not None and seconds is not None, f"{rate!r} is no rate"
    return most, int(seconds)
