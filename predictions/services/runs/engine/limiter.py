"""How many requests may be at an endpoint at once: one number for all workers, kept in Valkey.

It falls to a half when the server says "too many" and rises by one after each quiet window, up to what the endpoint
allows. Places are held by lease: those of a worker that died come back. Valkey's clock counts, not the workers'.
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import redis
from django.conf import settings

if TYPE_CHECKING:
    from predictions.models import Endpoint

QUIET_SECONDS = 15.0
PAUSE_SECONDS = 1.0  # after "too many" without a time
LEASE_SPARE = 30.0  # beyond the endpoint's own time-out
LONGEST_NAP = 0.25
SHORTEST_NAP = 0.02

# KEYS: state, held, minute. ARGV: ticket, most, per minute, lease ms, quiet ms. Answers {1, now} or {0, ms to wait}.
ENTER = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local most, per_minute, quiet = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local state = redis.call('HMGET', KEYS[1], 'allowed', 'changed', 'until')
local allowed, changed = tonumber(state[1]) or most, tonumber(state[2]) or now
if allowed < most and now - changed >= quiet then
  local steps = math.floor((now - changed) / quiet)
  allowed, changed = math.min(most, allowed + steps), changed + steps * quiet
  redis.call('HSET', KEYS[1], 'allowed', allowed, 'changed', changed)
end
local free_at = tonumber(state[3]) or 0
if free_at > now then return {0, free_at - now} end
if redis.call('ZCARD', KEYS[2]) >= math.min(allowed, most) then return {0, -1} end
if per_minute > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - 60000)
  if redis.call('ZCARD', KEYS[3]) >= per_minute then
    return {0, tonumber(redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]) + 60001 - now}
  end
  redis.call('ZADD', KEYS[3], now, ARGV[1])
  redis.call('PEXPIRE', KEYS[3], 60001)
end
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[4]), ARGV[1])
redis.call('PEXPIRE', KEYS[2], math.max(tonumber(ARGV[4]), redis.call('PTTL', KEYS[2])))
return {1, now}
"""
# KEYS: state, held. ARGV: ticket, entered ms, 1 for "too many", ms to wait, most. Halves once for all that were there.
LEAVE = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local at_once = redis.call('ZCARD', KEYS[2])
redis.call('ZREM', KEYS[2], ARGV[1])
if ARGV[3] == '1' then
  local state = redis.call('HMGET', KEYS[1], 'allowed', 'until', 'halved')
  local allowed, free_at = tonumber(state[1]) or tonumber(ARGV[5]), tonumber(state[2]) or 0
  local halved = tonumber(state[3]) or -1
  redis.call('HSET', KEYS[1], 'until', math.max(free_at, now + tonumber(ARGV[4])))
  if tonumber(ARGV[2]) > halved then
    allowed = math.max(1, math.floor(math.min(allowed, math.max(1, at_once)) / 2))
    redis.call('HSET', KEYS[1], 'allowed', allowed, 'changed', now, 'halved', now)
  end
  redis.call('PEXPIRE', KEYS[1], 86400000)
end
return 1
"""


@dataclass(frozen=True)
class Ticket:
    """A place at the endpoint. `entered`: by Valkey's clock, in milliseconds."""

    name: str
    entered: int


@cache
def _server(url: str) -> redis.Redis:
    """Kept for the process. Celery's address of a socket is written otherwise here."""
    return redis.Redis.from_url(
        url.replace("redis+socket://", "unix://", 1), socket_timeout=5.0, socket_connect_timeout=5.0
    )


class Limiter:
    """Of one endpoint; used from many threads. One of them at a time asks Valkey for a place, the others stand in
    line behind it."""

    def __init__(self, endpoint: Endpoint) -> None:
        site = settings.DATABASES["default"]["NAME"]
        keys = [f"emic:{site}:endpoint:{endpoint.pk}:{name}" for name in ("state", "held", "minute")]
        self._state, self._held, self._minute = keys
        self.most, self.per_minute = max(1, endpoint.most_in_flight), endpoint.per_minute or 0
        self.lease = int(1000 * (endpoint.timeout_seconds + LEASE_SPARE))
        server = _server(settings.LIMITS_URL)
        self._server = server
        self._enter, self._leave = server.register_script(ENTER), server.register_script(LEAVE)
        self._turn, self._left = threading.Lock(), threading.Event()
        self.holder = ""

    def adopt_tickets(self, holder: str) -> None:
        """Take places as `holder` ("job:attempt") from now on, and free those of the job's earlier attempts: whoever
        held them writes nothing any more."""
        self.holder = holder
        earlier, own = f"{holder.partition(':')[0]}:", f"{holder}:"
        try:
            names = [name.decode() for name in self._server.zrange(self._held, 0, -1) if isinstance(name, bytes)]
            dead = [name for name in names if name.startswith(earlier) and not name.startswith(own)]
            if dead:
                self._server.zrem(self._held, *dead)
        except redis.RedisError:
            return  # their leases end by themselves

    def acquire(self, timeout: float) -> Ticket | None:
        """A place, within `timeout` seconds; None if there was none, or Valkey did not answer."""
        until = time.monotonic() + timeout
        if not self._turn.acquire(timeout=max(0.0, timeout)):
            return None
        try:
            while True:
                self._left.clear()
                ticket, nap = self._try_to_enter()
                left = until - time.monotonic()
                if ticket or left <= 0:
                    return ticket
                self._left.wait(min(left, nap))
        finally:
            self._turn.release()

    def _try_to_enter(self) -> tuple[Ticket | None, float]:
        name = f"{self.holder}:{secrets.token_hex(8)}"
        arguments: list[str | int] = [name, self.most, self.per_minute, self.lease, int(1000 * QUIET_SECONDS)]
        try:
            granted, wait_or_number = self._enter(keys=[self._state, self._held, self._minute], args=arguments)
        except redis.RedisError:
            return None, LONGEST_NAP
        if granted:
            return Ticket(name, wait_or_number), 0.0
        return None, LONGEST_NAP if wait_or_number < 0 else max(SHORTEST_NAP, min(wait_or_number / 1000, LONGEST_NAP))

    def release(self, ticket: Ticket, outcome: str, retry_after: float | None = None) -> None:
        """Give the place back. `outcome`: an Attempt's; `retry_after`: seconds the server asked everybody to wait."""
        wait = PAUSE_SECONDS if retry_after is None else retry_after
        too_many = int(outcome == "rate_limit")
        arguments: list[str | int] = [ticket.name, ticket.entered, too_many, int(1000 * wait), self.most]
        try:
            self._leave(keys=[self._state, self._held], args=arguments)
        except redis.RedisError:
            return  # the lease ends by itself
        finally:
            self._left.set()

    def current_limit(self) -> int:
        """How many may be there at once now."""
        try:
            allowed = self._server.hget(self._state, "allowed")
        except redis.RedisError:
            return self.most
        return min(self.most, int(allowed)) if isinstance(allowed, bytes) else self.most
