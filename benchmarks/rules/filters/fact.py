"""A numeric fact lies between `least` and `most`, both included; one of them may be absent. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from benchmarks.rules.filters.contract import (
    Candidate,
    FilterError,
    FilterOutcome,
    drop,
    is_number,
    keep,
    require_known,
    require_name,
    require_number,
    wait,
)


def check(params: Mapping[str, Any]) -> None:
    require_known(params, ("key", "least", "most"))
    require_name(params, "key")
    least, most = require_number(params, "least"), require_number(params, "most")
    if least is None and most is None:
        raise FilterError("least", "or an upper limit is needed")
    if least is not None and most is not None and most < least:
        raise FilterError("most", "must not be below the lower limit")


def judge(
    candidates: Sequence[Candidate], params: Mapping[str, Any], _earlier: Collection[int] = ()
) -> list[FilterOutcome]:
    return [_judge_value(candidate.facts.get(params["key"]), params) for candidate in candidates]


def _judge_value(value: Any, params: Mapping[str, Any]) -> FilterOutcome:
    key, least, most = params["key"], params.get("least"), params.get("most")
    if value is None:
        return wait(key)
    if not is_number(value):
        return wait(key, "not_a_number")
    if least is not None and value < least:
        return drop("too_low", value, least)
    if most is not None and value > most:
        return drop("too_high", value, most)
    return keep(value, least if least is not None else most)


def needs(params: Mapping[str, Any]) -> str:
    return str(params["key"])
