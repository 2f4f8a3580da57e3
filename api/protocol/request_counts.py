"""Requests counted in PostgreSQL, so that a limit holds for all processes of the site together.

A request that is refused is counted for nobody, so that one program that asks too often does not use up what its team
has. Requests that come at the same moment may pass a limit that has room for one of them alone.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from api.models import RequestCount
from jobs.queries.statements import fetch

SPANS = 60  # into which the time of a limit is divided
# Each limit is read and, where all have room, written in one round trip. Rows are locked in the order of their keys.
COUNT = """
WITH asked AS (
  SELECT a.key, a.most, a.seconds, t.now, floor(t.now / a.width)::int8 * a.width AS span
  FROM unnest(%(keys)s::text[], %(most)s::int8[], %(seconds)s::int8[], %(widths)s::int8[])
      AS a(key, most, seconds, width),
    (SELECT extract(epoch FROM clock_timestamp())::float8 AS now) t
),
used AS (
  SELECT a.key, a.most, a.seconds, a.span, coalesce(sum(c.n), 0)::int8 AS n,
    coalesce(min(c.span), a.span) + a.seconds - a.now AS reset
  FROM asked a LEFT JOIN api_requestcount c ON c.key = a.key AND c.span > a.now - a.seconds
  GROUP BY a.key, a.most, a.seconds, a.span, a.now
),
written AS (
  INSERT INTO api_requestcount (key, span, n, until)
  SELECT key, span, 1, span + seconds FROM used WHERE (SELECT bool_and(n < most) FROM used) ORDER BY key
  ON CONFLICT (key, span) DO UPDATE SET n = api_requestcount.n + 1
)
SELECT key, n, reset::float8, (SELECT bool_and(n < most) FROM used) FROM used
"""


@dataclass(frozen=True)
class RateLimit:
    """`name`: person, token, team or failures. `key`: whose requests it counts."""

    name: str
    key: str
    most: int
    seconds: int


@dataclass(frozen=True)
class LimitState:
    """`used`: requests within its time, with this one where it was counted. `reset`: seconds until the first of them
    counts for nothing."""

    limit: RateLimit
    used: int
    reset: float

    @property
    def left(self) -> int:
        return max(self.limit.most - self.used, 0)

    @property
    def policy(self) -> str:
        """By the draft `ratelimit-headers` of the IETF, as `state`."""
        return f'"{self.limit.name}";q={self.limit.most};w={self.limit.seconds}'

    @property
    def state(self) -> str:
        """What is left, and in how many seconds more is."""
        reset = max(1, min(ceil(self.reset), self.limit.seconds))
        return f'"{self.limit.name}";r={self.left};t={reset}'


def count_request(limits: Sequence[RateLimit]) -> tuple[bool, list[LimitState]]:
    """Whether each limit has room for a request, which is counted then, and their states."""
    params = {
        "keys": [limit.key for limit in limits],
        "most": [limit.most for limit in limits],
        "seconds": [limit.seconds for limit in limits],
        "widths": [max(1, limit.seconds // SPANS) for limit in limits],
    }
    rows = {key: (n, reset, allowed) for key, n, reset, allowed in fetch(COUNT, params)}
    allowed = all(row[2] for row in rows.values())
    return allowed, [LimitState(limit, rows[limit.key][0] + allowed, rows[limit.key][1]) for limit in limits]


def forget_old_counts() -> None:
    RequestCount.objects.filter(until__lt=int(time.time())).delete()
