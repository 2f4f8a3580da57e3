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


def lines(rows: Iterator[Row], told: FileDescription) -> Lines:
    """Of the filter that is asked for, in the file's order."""
    for number, row in rows:
        try:
            if isinstance(row, RowProblem):
                raise row
            if told.only and filters_of(row) != told.only:
                continue
            with one_row():
                made = _sample(number, row, told)
            yield made
        except RowProblem as problem:
            yield number, problem


def _sample(number: int, row: Mapping[str, Any], told: FileDescription) -> Sample:
    said = row.get("filtered_resps", row.get("resps"))
    target = item_name(row, told.column, number) if told.column else ""
    raw = clean(_text(row.get("resps", said)))
    return Sample(number, item_name(row, told.key, number), clean(reply(said)), target, raw)


def reply(said: Any) -> Any:
    """Out of the lists round it. Of several that differ, none: which one counts is the log's to say.

    >>> reply([["4"]]), reply("4"), reply([[-1.5, False], [-0.5, True]]), reply([["4", "5"]])
    ('4', '4', Likelihoods(values=(-1.5, -0.5)), '["4", "5"]')
    """
    if isinstance(said, list) and len(said) > 1 and all(_is_likelihood(one) for one in said):
        return Likelihoods(tuple(float(_pair(one)[0]) for one in said))
    if isinstance(said, list) and said and all(one == said[0] for one in said):
        return reply(said[0])
    if said is None or said == [] or said == INVALID:
        return None if said != INVALID else said
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


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
