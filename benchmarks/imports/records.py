"""From a manifest's row, or a path, to what an item will be."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.archive import check_path, normalise_path
from benchmarks.imports.problems import RowProblem
from benchmarks.imports.vocabulary import Vocabulary, match_last
from benchmarks.imports.web_addresses import LONGEST, is_web_address, path_of

LENGTHS = {
    "file": 500,
    "role": 30,
    "key": 200,
    "concept": 120,
    "country": 120,
    "origin": 120,
    "condition": 60,
    "source": 500,
    "licence": 120,
    "alt": 300,
    "text": 20_000,
}
FACT = "fact."
CODE = re.compile(r"_|^\s*[+-]?0\d")  # what Python reads as a number, and people do not
TEXTS = frozenset({"prompt", "query", "candidate", "option_a", "option_b", "first", "second", "title"})
"""Columns that are texts, where `|` is a letter as others are."""
MOST_EXTRA = 30
MOST_ROWS = 300  # of a table that stays with an item: countries, or codes
MOST_LETTERS = 2000  # of a text in a column that we have no name for
MOST_PARTS = 50  # of a list there


@dataclass(frozen=True)
class Defaults:
    """What the form says for rows that do not say it themselves."""

    condition: str = ""
    source: str = ""
    licence: str = ""


@dataclass(frozen=True)
class Record:
    file: str
    key: str
    role: str = ""
    concept: str = ""
    origin: str = ""
    condition: str = ""
    source: str = ""
    licence: str = ""
    alt: str = ""
    text: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    unused_file: str = ""
    shortened: tuple[str, ...] = ()
    """Columns whose value is longer than what stays with the item, and those that are too many."""


@dataclass(frozen=True)
class Row:
    """A row of the source: its number and name for the report, and its record or what is wrong with it."""

    number: int
    name: str
    found: Record | RowProblem


def from_manifest(number: int, row: Mapping[str, Any] | RowProblem, words: Vocabulary, defaults: Defaults) -> Row:
    if isinstance(row, RowProblem):
        return Row(number, _("row %(number)s") % {"number": number}, row)
    name = _name(row) or _("row %(number)s") % {"number": number}
    try:
        return Row(number, name, _record(row, words, defaults))
    except RowProblem as problem:
        return Row(number, name, problem)


def _name(row: Mapping[str, Any]) -> str:
    """How the report names a row: by the item's key with the file after it, or by what there is of them."""
    key, file = clean(row.get("key")), clean(row.get("file"))
    return (f"{key} ({file})" if key and file and key != file else key or file)[:300]


def from_path(number: int, path: str, words: Vocabulary, defaults: Defaults) -> Row:
    """Folders and the file name may say concept, country and condition; without a recipe the folder is the concept."""
    name = clean(path)[:300]
    parts = [clean(part) for part in path.split("/")]
    parts[-1] = parts[-1].rpartition(".")[0] or parts[-1]
    row = {
        "file": path,
        "concept": match_last(parts, words.concepts) if words.concepts else (parts[0] if len(parts) > 1 else ""),
        "country": match_last(parts, words.origins),
        "condition": match_last(parts, words.conditions),
    }
    return from_manifest(number, row, words, defaults) if name else Row(number, "?", no_picture())


def clean(value: Any) -> str:
    """Text that the database takes: no NUL, no lone surrogates, no space around it."""
    if value is None:
        return ""
    if isinstance(value, str) and value.isascii() and "\x00" not in value:
        return value.strip()
    return str(value).replace("\x00", "").encode("utf-8", "replace").decode().strip()


def _record(row: Mapping[str, Any], words: Vocabulary, defaults: Defaults) -> Record:
    values = {name: clean(row.get(name)) for name in LENGTHS}
    for name, most in LENGTHS.items():
        if len(values[name]) > (LONGEST if name == "file" and is_web_address(values[name]) else most):
            message = _("“%(name)s” is longer than %(most)s characters. Shorten it.")
            raise RowProblem("too_long", message % {"name": name, "most": most})
    file = _file(values, words)
    path = values["file"]
    key = values["key"] or _key(path_of(path) if is_web_address(path) else file or normalise_path(path), words)
    if len(key) > LENGTHS["key"]:
        message = _("“%(name)s” is longer than %(most)s characters. Shorten it.")
        raise RowProblem("too_long", message % {"name": "key", "most": LENGTHS["key"]})
    # What the form says of source and licence is said of pictures that come.
    describes_picture = bool(file) or words.pictures in ("none", "optional")
    country = (
        words.country(values["country"])
        if values["country"] or not values["origin"]
        else words.origin(values["origin"])
    )
    return Record(
        file=file,
        key=key,
        role=values["role"],
        concept=words.concept(values["concept"]),
        origin=country,
        condition=words.condition(values["condition"] or defaults.condition),
        source=values["source"]
        or (defaults.source if describes_picture else "")
        or (file[: LENGTHS["source"]] if is_web_address(file) else ""),
        licence=values["licence"] or (defaults.licence if describes_picture else ""),
        alt=values["alt"],
        text=values["text"],
        context=_other_columns(row),
        facts=_facts(row),
        unused_file="" if file else normalise_path(values["file"]),
        shortened=_shortened_columns(row),
    )


def _file(values: Mapping[str, str], words: Vocabulary) -> str:
    """The picture's path; empty where the item has none, or has it already."""
    file = values["file"] if is_web_address(values["file"]) else normalise_path(values["file"])
    if words.pictures in ("none", "optional") and not (file or values["key"]):
        raise RowProblem("no_key", _("The row has no key. Fill in the column “key”."))
    if words.pictures == "none" or (words.pictures == "optional" and not file):
        return ""
    if not file and values["key"]:
        return ""  # of an item that exists, whose picture the row does not repeat
    if not file:
        raise no_picture()
    if not is_web_address(file):
        check_path(file)
    if words.pictures == "named" and not values["role"]:
        raise RowProblem("no_role", _("An item of this stage has several pictures. Say the role of each: “role”."))
    return file


def _key(file: str, words: Vocabulary) -> str:
    """Pictures in one folder are one item, where an item has several."""
    if words.pictures in ("set", "named"):
        return file.rpartition("/")[0] or _single_image_key()
    return file.rpartition(".")[0] or file


def _single_image_key() -> str:
    raise RowProblem("no_key", _("The row does not say which item the picture belongs to. Fill in the column “key”."))


def _normalise_value(value: Any, depth: int = 2) -> Any:
    """A list of words stays one, and so does a table of a survey's counts by country and code; all else is text."""
    if isinstance(value, Mapping):
        rows = list(value.items())[:MOST_ROWS]
        return {
            clean(name)[:60]: _normalise_value(item, depth - 1)
            for name, item in rows
            if depth > 1 or not isinstance(item, Mapping)
        }
    if depth < 2 and isinstance(value, (int, float)) and _is_finite(value):
        return value
    if isinstance(value, list):
        return [clean(item)[:MOST_LETTERS] for item in value[:MOST_PARTS] if isinstance(item, (str, int, float))]
    return clean(value)[:MOST_LETTERS]


def _is_shortened(value: Any, depth: int = 2) -> bool:
    """Whether `_normalise_value` leaves something out."""
    if isinstance(value, Mapping):
        inside = any(_is_shortened(item, depth - 1) for item in value.values())
        return depth < 1 or len(value) > MOST_ROWS or inside
    if isinstance(value, list):
        return len(value) > MOST_PARTS or any(isinstance(item, (list, Mapping)) or _is_long(item) for item in value)
    return _is_long(value)


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and len(value) > MOST_LETTERS and len(clean(value)) > MOST_LETTERS


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that is larger than any other number
        return False


def as_value(name: str, value: Any) -> Any:
    """A cell's value: a text that is a JSON object or a list with `|` is read as one. TEXTS are never cut."""
    if isinstance(value, str) and name in TEXTS:
        return clean(value)
    return _normalise_value(_parse(value))


def _parse(value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("{"):
            value = _object(text)
        elif "|" in text:
            value = [part.strip() for part in text.split("|") if part.strip()]
    return value


def _object(text: str) -> Any:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return data if isinstance(data, dict) else text


def _facts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Columns `fact.<key>`. Numbers are read as numbers."""
    facts: dict[str, Any] = {}
    for name, value in row.items():
        key = clean(name.removeprefix(FACT))
        if not name.startswith(FACT) or value in (None, ""):
            continue
        if not 0 < len(key) <= 60 or len(facts) == MOST_EXTRA:
            message = _(
                "“%(name)s” is not a valid fact column. Use at most %(most)s columns named fact.NAME "
                "(1 to 60 characters)."
            )
            raise RowProblem("bad_fact", message % {"name": clean(name)[:80], "most": MOST_EXTRA})
        facts[key] = _number(value)
    return {key: value for key, value in facts.items() if value not in ("", None)}


def _number(value: Any) -> Any:
    """A number where a cell reads as one. A code stays as it is: `007` is not 7, `2024_01` not 202401."""
    if isinstance(value, bool):
        return value
    try:
        number = float(value)
        if math.isfinite(number) and not (isinstance(value, str) and CODE.search(value)):
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
    except (TypeError, ValueError, OverflowError):
        pass
    pairs = _pairs(value)
    return as_value("", value) if pairs is None else pairs


def _pairs(value: Any) -> list[list[Any]] | None:
    """Texts with a number each, [["b", 0.95], ...], as the filter of near duplicates reads them; None for another
    value. A table holds them as JSON."""
    if isinstance(value, str) and value.lstrip().startswith("[["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, list) or not 0 < len(value) <= MOST_ROWS or not all(map(_is_pair, value)):
        return None
    return [[clean(text)[: LENGTHS["key"]], number] for text, number in value]


def _is_pair(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and isinstance(value[0], (str, int))
    return is_pair and type(value[1]) in (int, float) and _is_finite(value[1])


def _other_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """Columns we have no name for (a prompt, a rank, a query) stay with the item."""
    others = _named_otherwise(row)
    for name in TEXTS & others.keys():
        if len(clean(others[name])) > LENGTHS["text"]:
            message = _("“%(name)s” is longer than %(most)s characters. Shorten it.")
            raise RowProblem("too_long", message % {"name": name, "most": LENGTHS["text"]})
    extra = {clean(name)[:60]: as_value(name, value) for name, value in others.items()}
    extra_values = [(name, value) for name, value in extra.items() if name and value]
    return dict(extra_values[:MOST_EXTRA])


def _named_otherwise(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in LENGTHS and not name.startswith(FACT)}


def _shortened_columns(row: Mapping[str, Any]) -> tuple[str, ...]:
    """See `Record.shortened`."""
    filled = [name for name, value in _named_otherwise(row).items() if clean(name) and clean(value)]
    surplus = set(filled[MOST_EXTRA:])
    return tuple(
        clean(name)[:60] for name, value in row.items()
        if name in surplus or (name not in LENGTHS and name not in TEXTS and _loses(name, value))
    )  # fmt: skip


def _loses(name: str, value: Any) -> bool:
    is_shortened = _is_shortened(_parse(value))
    return is_shortened and not (name.startswith(FACT) and _pairs(value) is not None)


def no_picture() -> RowProblem:
    """A row whose item needs a picture, and does not exist yet."""
    return RowProblem("no_picture", _("The row names no picture. Fill in the column “file”."))
