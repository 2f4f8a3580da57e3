"""The seed of each request of a build, so that the same plan asks for the same pictures."""

from __future__ import annotations

import hashlib

BITS = 31


def step_seed(
    base_seed: int, question: str, source: str, configuration: str, revision: int, plan_round: int, edit_round: int,
    target: str,
) -> int:  # fmt: skip
    """The first 31 bits of the digest of all that names a step.

    >>> step_seed(7, "Q56", "one", "planner", 1, 0, 0, "a") != step_seed(7, "Q56", "one", "planner", 1, 0, 0, "b")
    True
    """
    parts = (base_seed, question, source, configuration, revision, plan_round, edit_round, target)
    return _from_parts(*parts)


def question_seed(base_seed: int, question: str, target: str) -> int:
    """Of what is asked once for a question, whatever its source and configuration."""
    return _from_parts(base_seed, question, target)


def _from_parts(*parts: object) -> int:
    digest = hashlib.sha256("|".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - BITS)
