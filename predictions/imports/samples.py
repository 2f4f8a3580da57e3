"""What a file of a model's answers says, sample by sample, whichever harness wrote it. No database."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext as _

from annotation.imports.rows import cell, clean
from annotation.sheets.sheet import Field, Sheet, localise
from benchmarks.imports.problems import RowProblem

Failure = Literal["no_response", "unparseable", "out_of_range"]
LONGEST_RAW = 20_000
WHOLE = "*"
"""In the place of a field: a reply is a JSON object with all answers."""
ODD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
ALL = "="
"""Before the name of a culture, in the place of a column: every answer is about it."""


@dataclass(frozen=True)
class Likelihoods:
    """One log-likelihood for each option, in the sheet's order: the likeliest is the answer."""

    values: tuple[float, ...]


@dataclass(frozen=True)
class Boxes:
    """Of one image: (category, score, x, y, width, height), in pixels of an image of `size` (None: as it is here)."""

    found: tuple[tuple[str, float, float, float, float, float], ...]
    size: tuple[float, float] | None = None


@dataclass(frozen=True)
class Sample:
    """One answer as the file has it. `key`: what its item is known by there. `answer`: text, answers by field,
    likelihoods or boxes; None where the model said nothing. `raw`: its reply, to be kept."""

    number: int
    key: str
    answer: Any
    target: str = ""
    raw: str = ""
    rater: str = ""


class UnreadableReply(Exception):
    """A reply without a value: the state and the reason (predictions.texts.call_reasons) that its call gets."""

    def __init__(self, state: Failure, reason: str) -> None:
        super().__init__(reason)
        self.state, self.reason = state, reason


@dataclass(frozen=True)
class FileDescription:
    """What a person says of a file. `key`: the column that names the item. `target`: the column that names the culture,
    ALL and a culture, or "" for the item's own origin. `of_setting`: of a table, the setting whose rows are taken;
    "" for all. `only`: a filter of lm-eval, or a scorer of Inspect ("" for its reply itself).
    `field`: which question the replies answer, or WHOLE. `rater`: which of the models in a table of ratings."""

    key: str = "item"
    target: str = ""
    only: str = ""
    field: str = ""
    rater: str = ""
    of_setting: str = ""

    @property
    def column(self) -> str:
        """The one that names the culture; empty where none does."""
        return "" if self.target.startswith(ALL) else self.target


Line = Sample | tuple[int, RowProblem]
Lines = Iterator[Line]


@contextmanager
def one_row() -> Iterator[None]:
    """What is made otherwise than its format has it is a problem of this row alone. Raises RowProblem."""
    try:
        yield
    except ODD as error:
        text = _("This row does not follow its format, or a number in it is too large. Correct or delete the row.")
        raise RowProblem("unreadable", text) from error


def flatten(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with what is nested one or two deep under dotted names, such as "doc.id" and "doc.meta.key"."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            for inner, inner_value in value.items():
                if isinstance(inner_value, Mapping):
                    flat |= {f"{name}.{inner}.{last}": deep for last, deep in inner_value.items()}
                else:
                    flat[f"{name}.{inner}"] = inner_value
        else:
            flat[name] = value
    return flat


def item_name(row: Mapping[str, Any], column: str, number: int) -> str:
    """What an item is known by. Raises RowProblem."""
    value = flatten(row).get(column)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        text = _("“%(name)s” names no item in this row. Choose the column that holds the item's key.")
        raise RowProblem("no_key", text % {"name": column})
    return str(clean(str(value).strip()))


def codes_of(field: Field) -> Sequence[str]:
    schema = field.spec.rubric("", field.config).schema
    found: Sequence[str] = schema.get("enum") or ()
    return found


def answers(sample: Sample, sheet: Sheet, key: str) -> Mapping[str, Any]:
    """What the sheet's `parse` takes. `key`: the field that is answered, or WHOLE. Raises UnreadableReply."""
    answer = sample.answer
    if isinstance(answer, Mapping):
        return answer
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        raise UnreadableReply("no_response", "empty")
    if key == WHOLE:
        return _object(str(answer))
    sheet_field = sheet.field(key)
    if isinstance(answer, Likelihoods):
        return {key: _likeliest_code(answer, sheet_field)}
    return {key: _from_text(str(answer), sheet_field)}


def _object(text: str) -> Mapping[str, Any]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableReply("unparseable", "bad_json") from None
    if not isinstance(parsed, dict):
        raise UnreadableReply("unparseable", "bad_json")
    return parsed


def _likeliest_code(likelihoods: Likelihoods, field: Field) -> str:
    codes = codes_of(field)
    if len(codes) != len(likelihoods.values):
        raise UnreadableReply("unparseable", "other_options")
    best = max(likelihoods.values)
    if likelihoods.values.count(best) > 1:
        raise UnreadableReply("unparseable", "two_verdicts")
    return codes[likelihoods.values.index(best)]


def _from_text(text: str, sheet_field: Field) -> Any:
    """A code as it is written, or an option's words; nothing is looked for inside a sentence: that is the harness's
    own filter's to do."""
    codes, plain = codes_of(sheet_field), text.strip().strip("\"'`*“”.").strip()
    if not codes:
        try:
            return cell({"it": text.strip()}, "it", sheet_field)
        except RowProblem:
            raise UnreadableReply("unparseable", "bad_json") from None
    if plain in codes:
        return plain
    by_words = {localise(option.label, "en").casefold(): option.code for option in _options(sheet_field)}
    if plain.casefold() in by_words:
        return by_words[plain.casefold()]
    try:
        number = float(plain)
    except ValueError:
        raise UnreadableReply("unparseable", "no_choice") from None
    if number.is_integer() and str(int(number)) in codes:
        return str(int(number))
    raise UnreadableReply("out_of_range", "outside_scale")


def _options(field: Field) -> Sequence[Any]:
    return getattr(field.config, "options", None) or getattr(field.config, "points", None) or ()
