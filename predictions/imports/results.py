"""What a row of a run's file says: what a query found, or the vector of an entry."""

import math
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotation.imports.source import Row
from benchmarks.imports.problems import RowProblem
from predictions.imports.collections import LONGEST_KEY, from_json, parse_required_text

MOST_FOUND = 100_000
MOST_NUMBERS = 16_384
Found = tuple[str, list[str], list[float]]
"""A query's key; keys of entries, the best first; their scores."""


def is_long_format(row: Mapping[str, Any]) -> bool:
    """A row for each entry that was found."""
    return "score" in row


def ranking(row: Mapping[str, Any]) -> Found:
    """Of a row with all that a query found. Raises RowProblem."""
    query = parse_required_text(row, "query", LONGEST_KEY)
    keys, scores = from_json(row, "keys", list), from_json(row, "scores", list)
    if not keys or not scores or len(keys) != len(scores):
        text = _("“keys” (%(keys)s) and “scores” (%(scores)s) must be lists of one length, with something in them.")
        raise RowProblem("lengths", text % {"keys": len(keys or ()), "scores": len(scores or ())})
    return query, *sort_by_score(
        [parse_required_text({"keys": key}, "keys", LONGEST_KEY) for key in keys], [*map(number, scores)]
    )


def merge_rows(rows: Sequence[Row]) -> Found:
    """Of the rows of one query, one for each entry. Raises RowProblem: of the first row that is wrong."""
    query, keys, scores = "", [], []
    for at, row in rows:
        try:
            if isinstance(row, RowProblem):
                raise row
            query = parse_required_text(row, "query", LONGEST_KEY)
            keys.append(parse_required_text(row, "key", LONGEST_KEY))
            scores.append(number(row.get("score")))
        except RowProblem as problem:
            text = _("Row %(n)s: %(message)s")
            told = problem.message if len(rows) == 1 else text % {"n": at, "message": problem.message}
            raise RowProblem(problem.code, told) from None
    return query, *sort_by_score(keys, scores)


def sort_by_score(keys: Sequence[str], scores: Sequence[float]) -> tuple[list[str], list[float]]:
    """The best first; ties by key, so that the order is never the file's. Raises RowProblem when a key repeats."""
    pairs = sorted(zip(keys, scores, strict=True), key=lambda pair: (-pair[1], pair[0]))
    if len(set(keys)) < len(pairs):
        twice = Counter(keys).most_common(1)[0][0]
        raise RowProblem("twice", _("“%(key)s” is there twice.") % {"key": twice})
    if len(pairs) > MOST_FOUND:
        raise RowProblem("too_many", _("More than %(most)s entries were found. Keep the best.") % {"most": MOST_FOUND})
    return [key for key, _score in pairs], [score for _key, score in pairs]


def vector(row: Mapping[str, Any]) -> tuple[str, bytes]:
    """An entry's key, and its vector as little-endian 32-bit floats. Raises RowProblem."""
    key = parse_required_text(row, "key", LONGEST_KEY)
    numbers = from_json(row, "vector", list)
    if not numbers or len(numbers) > MOST_NUMBERS:
        text = _("“vector” must be a list of 1 to %(most)s numbers.")
        raise RowProblem("lengths", text % {"most": MOST_NUMBERS})
    try:
        return key, struct.pack(f"<{len(numbers)}f", *map(number, numbers))
    except OverflowError:
        raise RowProblem("not_a_number", _("A number of the vector is too large for 32 bits.")) from None


def number(value: Any) -> float:
    """A finite number. Raises RowProblem."""
    try:
        value_read = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        value_read = math.nan
    if not math.isfinite(value_read):
        text = _("“%(value)s” is not a finite number.")
        raise RowProblem("not_a_number", text % {"value": str(value)[:60]})
    return value_read
