"""Logs of Inspect as JSON (`inspect log dump`, or written in that format): one object that holds the samples."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from annotation.imports.rows import clean
from annotation.imports.source import Row
from benchmarks.imports.problems import RowProblem
from predictions.imports.samples import LONGEST_RAW, FileDescription, Lines, Sample, item_name, one_row
from predictions.imports.streaming import elements

KEY = "inspect"


def is_format(head: bytes) -> bool:
    """By the first bytes of the file."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and b'"version"' in head and b'"eval"' in head


def rows(file: BinaryIO) -> Iterator[Row]:
    """Its samples, counted from 1; first, as number 0, what the log says of the whole."""
    number = 0
    for name, element in elements(file, ("samples",)):
        if name == "eval" and isinstance(element, Mapping):
            yield 0, {"model": element.get("model", ""), "task": element.get("task", "")}
        elif name == "samples":
            number += 1
            yield number, element if isinstance(element, Mapping) else RowProblem("unreadable", "no object")


def scorers_of(row: Mapping[str, Any]) -> list[str]:
    scores = row.get("scores")
    return [str(name) for name in scores] if isinstance(scores, Mapping) else []


def lines(rows: Iterator[Row], description: FileDescription) -> Lines:
    """The first epoch of each sample."""
    for number, row in rows:
        if number == 0:
            continue
        try:
            if isinstance(row, RowProblem):
                raise row
            if row.get("epoch", 1) != 1:
                continue
            with one_row():
                sample = _sample(number, row, description)
            yield sample
        except RowProblem as problem:
            yield number, problem


def _sample(number: int, row: Mapping[str, Any], description: FileDescription) -> Sample:
    raw = _completion(row)
    answer = _of_scorer(row, description.only) if description.only else raw
    target = item_name(row, description.column, number) if description.column else ""
    return Sample(
        number, item_name(row, description.key, number), clean(answer), target, clean(raw or "")[:LONGEST_RAW]
    )


def _completion(row: Mapping[str, Any]) -> str | None:
    output = row.get("output")
    if not isinstance(output, Mapping):
        return None
    if isinstance(output.get("completion"), str):
        return str(output["completion"])
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list):  # parts of a message: only what is text
        content = "".join(str(one.get("text", "")) for one in content if isinstance(one, Mapping))
    return content if isinstance(content, str) else None


def _of_scorer(row: Mapping[str, Any], name: str) -> str | None:
    """The answer that a scorer took out of the reply."""
    scores = row.get("scores")
    one = scores.get(name) if isinstance(scores, Mapping) else None
    answer = one.get("answer") if isinstance(one, Mapping) else None
    return None if answer is None else str(answer)
