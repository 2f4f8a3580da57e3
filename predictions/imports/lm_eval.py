"""The sample logs of lm-evaluation-harness and lmms-eval: JSON Lines with a line for each document and filter."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from annotation.imports.rows import clean
from annotation.imports.source import Row
from benchmarks.imports.problems import RowProblem
from predictions.imports.samples import LONGEST_RAW, FileDescription, Likelihoods, Lines, Sample, item_name, one_row

KEY = "lm_eval"
INVALID = "[invalid]"  # what its filters write where they found nothing


def is_format(row: Mapping[str, Any]) -> bool:
    """By the first line of the file."""
    return "doc_id" in row and ("resps" in row or "filtered_resps" in row)


def filters_of(row: Mapping[str, Any]) -> str:
    """A file of several filters has the lines of each one after another."""
    return str(row.get("filter") or "")


def lines(rows: Iterator[Row], description: FileDescription) -> Lines:
    """Of the filter that is asked for, in the file's order."""
    for number, row in rows:
        try:
            if isinstance(row, RowProblem):
                raise row
            if description.only and filters_of(row) != description.only:
                continue
            with one_row():
                sample = _sample(number, row, description)
            yield sample
        except RowProblem as problem:
            yield number, problem


def _sample(number: int, row: Mapping[str, Any], description: FileDescription) -> Sample:
    response = row.get("filtered_resps", row.get("resps"))
    target = item_name(row, description.column, number) if description.column else ""
    raw = clean(_text(row.get("resps", response)))
    return Sample(number, item_name(row, description.key, number), clean(reply(response)), target, raw)


def reply(response: Any) -> Any:
    """Out of the lists round it. Of several that differ, none: which one counts is the log's to say.

    >>> reply([["4"]]), reply("4"), reply([[-1.5, False], [-0.5, True]]), reply([["4", "5"]])
    ('4', '4', Likelihoods(values=(-1.5, -0.5)), '["4", "5"]')
    """
    if isinstance(response, list) and len(response) > 1 and all(_is_likelihood(one) for one in response):
        return Likelihoods(tuple(float(_pair(one)[0]) for one in response))
    if isinstance(response, list) and response and all(one == response[0] for one in response):
        return reply(response[0])
    if response is None or response == [] or response == INVALID:
        return None if response != INVALID else response
    return response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)


def _pair(one: Any) -> Any:
    """(log-likelihood, whether greedy), as it is written or one list deeper."""
    return one[0] if isinstance(one, list) and len(one) == 1 and isinstance(one[0], list) else one


def _is_likelihood(one: Any) -> bool:
    pair = _pair(one)
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    try:
        return math.isfinite(float(pair[0])) and str(pair[1]) in ("True", "False")
    except (OverflowError, TypeError, ValueError):
        return False


def _text(raw: Any) -> str:
    return _innermost(raw)[:LONGEST_RAW]


def _innermost(raw: Any) -> str:
    while isinstance(raw, list) and len(raw) == 1:
        raw = raw[0]
    return raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
