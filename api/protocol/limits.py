"""How many requests a person, one of their tokens, and a team may make in a time.

Counted in Django's cache: without a cache server that is the memory of each process of the site, so the limit is at
least this, and nothing breaks. A request that is refused is counted for nobody, so that one program that asks too often
does not use up what its team has.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle, SimpleRateThrottle

from people.models import ApiToken, TeamMember, User

SECONDS = 60  # what the rate of a token is for


@dataclass(frozen=True)
class RateLimit:
    """`name`: person, token or team. `key`: whose it is, in the cache."""

    name: str
    key: str
    most: int
    seconds: int

    def history(self, now: float) -> list[float]:
        """When requests were made within its time, the newest first."""
        return [at for at in cache.get(self.key, []) if at > now - self.seconds]

    def add(self, history: list[float], now: float) -> None:
        cache.set(self.key, [now, *history], self.seconds)


@dataclass(frozen=True)
class LimitState:
    """What is left of a limit, and in how many seconds it is whole again."""

    limit: RateLimit
    left: int
    reset: int

    @property
    def policy(self) -> str:
        """By the draft `ratelimit-headers` of the IETF, as `state`."""
        return f'"{self.limit.name}";q={self.limit.most};w={self.limit.seconds}'

    @property
    def state(self) -> str:
        return f'"{self.limit.name}";r={self.left};t={self.reset}'


class Throttle(BaseThrottle):
    """Counts a request where each of its limits has room. `request.rate_limits` has what is left of each."""

    THROTTLE_RATES = api_settings.DEFAULT_THROTTLE_RATES

    def __init__(self) -> None:
        self.waiting: float | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        if not isinstance(request.user, User):
            return True
        now = time.time()
        known = [(limit, limit.history(now)) for limit in self._limits(request, view)]
        waits = [
            history[limit.most - 1] + limit.seconds - now for limit, history in known if len(history) >= limit.most
        ]
        if waits:
            self.waiting = max(waits)
        else:
            for limit, history in known:
                limit.add(history, now)
                history.insert(0, now)
        request.rate_limits = [_state(limit, history, now) for limit, history in known]
        return not waits

    def wait(self) -> float | None:
        return self.waiting

    def _limits(self, request: Request, view: Any) -> Iterator[RateLimit]:
        user, token = request.user.pk, request.auth
        yield RateLimit("person", f"api-rate:person:{user}", *self._rate("person"))
        if isinstance(token, ApiToken) and token.rate is not None:
            yield RateLimit("token", f"api-rate:token:{token.pk}", token.rate, SECONDS)
        team = team_of(user, view.kwargs)
        if team is not None:
            yield RateLimit("team", f"api-rate:team:{team}", *self._rate("team"))

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


def _state(limit: RateLimit, history: list[float], now: float) -> LimitState:
    reset = ceil(history[-1] + limit.seconds - now) if history else limit.seconds
    return LimitState(limit, max(limit.most - len(history), 0), min(reset, limit.seconds))


class _Rates(SimpleRateThrottle):
    rate = "1/min"


def _read_rate(rate: str) -> tuple[int, int]:
    """A number of requests, and of how many seconds."""
    most, seconds = _Rates().parse_rate(rate)
    assert most is not None and seconds is not None, f"{rate!r} is no rate"
    return most, int(seconds)
