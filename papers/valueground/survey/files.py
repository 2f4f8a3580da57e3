"""The four files of a survey, read an entry at a time: codebook, metadata, adjustment, counts. What is wrong is a
FileFault with its place, so that one import lists every fault of its files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from annotation.imports.source import rows
from benchmarks.imports.problems import RowProblem, SourceProblem
from papers.valueground.survey_labels import prefix
from predictions.imports.streaming import RepeatedKey, elements

KINDS = ("codebook", "metadata", "adjustment", "counts")
MAXIMUM_QUESTIONS = 5000
MAXIMUM_OPTIONS = 2000  # of a question
KEY_LENGTH, TEXT_LENGTH = 60, 5000
LARGEST_CODE, LARGEST_COUNT = 10**6, 10**12
_CODE = re.compile(r"-?\d{1,7}")
_QUESTION_KEY = re.compile(r"Q\d+")
USES = ("value", "demographic", "")


@dataclass(frozen=True)
class FileFault:
    """Something in a file that cannot be taken. `place`: a row or an entry, as the reader finds it in the file."""

    file: str
    place: str
    code: str
    message: str


@dataclass
class CodebookEntry:
    """A variable of a codebook. `options`: label by code; `written`: code by what the file has in its place."""

    key: str
    place: str
    title: str
    instruction: str = ""
    choices: dict[str, str] = field(default_factory=dict)
    options: dict[int, str] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class MetadataEntry:
    """What the metadata says of a question. `ends`: least and greatest code of its scale."""

    key: str
    text: str
    category: str
    use: str
    ends: tuple[int, int] | None
    ordered: bool | None


@dataclass(frozen=True)
class CountRow:
    """One count as the file writes it."""

    place: str
    key: str
    country: str
    code: str
    count: str


def is_json(file: BinaryIO) -> bool:
    """Whether the first letter opens an object. The file is at its beginning again."""
    start = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    file.seek(0)
    if start.startswith(b"PK\x03\x04"):
        raise SourceProblem(_("This is a zip. Unpack it, then upload the file in it."))
    return start.startswith((b"{", b"["))


def members(file: BinaryIO) -> Iterator[tuple[str, str, Any]]:
    """Place, key and value of each entry of a JSON object. Raises SourceProblem, also for a key that occurs twice in
    the file or within an entry: of two counts of a country the first would be lost."""
    keys: set[str] = set()
    try:
        for key, value in elements(file, strict=True):
            if not key:
                raise SourceProblem(_("The file must be one JSON object with the questions' keys."))
            if key in keys:
                raise SourceProblem(_("“%(key)s” occurs twice in the file. Delete one of them.") % {"key": key[:60]})
            keys.add(key)
            yield _("entry %(number)s, %(key)s") % {"number": len(keys), "key": key[:60]}, key, value
    except RepeatedKey as repeated:
        text = _("“%(key)s” occurs twice in entry %(number)s of the file. Delete one of them.")
        raise SourceProblem(text % {"key": repeated.key[:60], "number": len(keys) + 1}) from repeated


def parse_codebook(file: BinaryIO, name: str) -> tuple[list[CodebookEntry], list[str], list[FileFault]]:
    """The questions, the keys of the other variables, and the faults of the questions.

    Questions are the variables that are called Q and a number; where no variable is, all of them.
    """
    entries, faults = _json_codebook(file, name) if is_json(file) else _csv_codebook(file, name)
    if len(entries) > MAXIMUM_QUESTIONS:
        raise SourceProblem(_("The codebook has more than %(n)s variables.") % {"n": f"{MAXIMUM_QUESTIONS:,}"})
    numbered = [entry for entry in entries if _QUESTION_KEY.fullmatch(entry.key)]
    questions = numbered or entries
    chosen = {entry.key for entry in questions}
    for entry in questions:
        faults += list(_resolve_codes(entry, name))
    if not questions and not faults:
        raise SourceProblem(_("The codebook has no question."))
    return questions, [entry.key for entry in entries if entry.key not in chosen], faults


def _json_codebook(file: BinaryIO, name: str) -> tuple[list[CodebookEntry], list[FileFault]]:
    entries, faults = [], []
    for place, key, value in members(file):
        choices = value.get("choices", {}) if isinstance(value, Mapping) else None
        if not isinstance(choices, Mapping) or not all(isinstance(label, str) for label in choices.values()):
            faults.append(
                FileFault(name, place, "unreadable", _("It needs “question”, and “choices” as {code: label}."))
            )
            continue
        title = value.get("question")
        entry = CodebookEntry(
            _clean_text(key), place, _clean_text(title), _clean_text(value.get("question_instruction"))
        )
        entry.choices = {_clean_text(code): _clean_text(label) for code, label in choices.items()}
        if not entry.title:
            faults.append(FileFault(name, place, "no_text", _("“question” is empty. Write the question.")))
        entries.append(entry)
    return entries, faults


def _csv_codebook(file: BinaryIO, name: str) -> tuple[list[CodebookEntry], list[FileFault]]:
    entries: dict[str, CodebookEntry] = {}
    faults: list[FileFault] = []
    for place, row in _csv_rows(file, name, ("question", "text", "code", "label"), faults):
        key = _clean_text(row["question"])
        if not key or not row["label"].strip():
            faults.append(FileFault(name, place, "empty", _("“question” and “label” must not be empty.")))
            continue
        entry = entries.setdefault(key, CodebookEntry(key, place, ""))
        entry.title = entry.title or _clean_text(row["text"])
        if (code := _clean_text(row["code"])) in entry.choices:
            message = _("Code “%(code)s” of %(key)s occurs twice. Delete one of the rows.")
            faults.append(FileFault(name, place, "code_twice", message % {"code": code[:40], "key": key[:60]}))
        entry.choices[code] = _clean_text(row["label"])
    for entry in entries.values():
        if not entry.title:
            faults.append(FileFault(name, entry.place, "no_text", _("“text” is empty. Write the question.")))
    return list(entries.values()), faults


def _resolve_codes(entry: CodebookEntry, name: str) -> Iterator[FileFault]:
    """Fill in the options: by their codes, or by the numbers that all labels begin with where codes are no numbers."""
    numbers = {written: parse_code(written) for written in entry.choices}
    if any(code is None for code in numbers.values()):
        numbers = {written: prefix(label) for written, label in entry.choices.items()}
        entry.written = {written: code for written, code in numbers.items() if code is not None}
    wrong = [written for written, code in numbers.items() if code is None]
    if len(entry.key) > KEY_LENGTH or len(entry.choices) > MAXIMUM_OPTIONS:
        message = _("Its key is longer than %(key)s characters, or it has more than %(options)s options.")
        values = {"key": KEY_LENGTH, "options": MAXIMUM_OPTIONS}
        yield FileFault(name, entry.place, "too_long", message % values)
    elif wrong:
        message = _("Code “%(code)s” of %(key)s is no whole number, and its label does not begin with one.")
        yield FileFault(name, entry.place, "code", message % {"code": wrong[0][:40], "key": entry.key})
    elif len(set(numbers.values())) < len(numbers):
        message = _("Two options of %(key)s have one code. Give each a code of its own.")
        yield FileFault(name, entry.place, "code_twice", message % {"key": entry.key})
    else:
        codes = sorted((code, written) for written, code in numbers.items() if code is not None)
        entry.options = {code: entry.choices[written] for code, written in codes}


def parse_metadata(file: BinaryIO, name: str) -> Iterator[MetadataEntry | FileFault]:
    for place, key, value in members(file):
        if not isinstance(value, Mapping):
            yield FileFault(name, place, "unreadable", _("It is not an object such as {“question”: …}."))
            continue
        use = _clean_text(value.get("use_case"))
        low, high = (_clean_text(value.get(side)) for side in ("answer_scale_min", "answer_scale_max"))
        ends = parse_code(low), parse_code(high)
        if use not in USES:
            message = _("“use_case” is “%(use)s”. Write value, demographic or nothing.")
            yield FileFault(name, place, "use", message % {"use": use[:40]})
        elif (low or high) and None in ends:
            yield FileFault(name, place, "ends", _("The ends of the scale must be two whole numbers, or both empty."))
        else:
            data_type = value.get("answer_data_type")
            yield MetadataEntry(
                key.strip(), _clean_text(value.get("question")), _clean_text(value.get("category"))[:200], use,
                None if ends[0] is None or ends[1] is None else (ends[0], ends[1]),
                {"ordinal": True, "non_ordinal": False}.get(str(data_type)),
            )  # fmt: skip


def parse_adjustment(file: BinaryIO, name: str) -> Iterator[tuple[str, str, dict[int, int | None]] | FileFault]:
    """Place, key and {code: new code, or None for no answer} of each question."""
    for place, key, value in members(file):
        codes: dict[int, int | None] = {}
        for written, new_text in value.items() if isinstance(value, Mapping) else ():
            code, new = parse_code(str(written)), parse_code(str(new_text))
            if code is None or (new_text not in ("", None) and (new is None or new < 1)):
                codes.clear()
                break
            codes[code] = new
        if codes:
            yield place, key.strip(), codes
        else:
            message = _("It must be {code: new code}: whole numbers, the new one 1 or more, or empty for no answer.")
            yield FileFault(name, place, "adjustment", message)


def parse_counts(file: BinaryIO, name: str) -> Iterator[CountRow | FileFault]:
    """Each count as it is written; whether question, country and code exist is for the caller to find out."""
    if not is_json(file):
        faults: list[FileFault] = []
        for place, row in _csv_rows(file, name, ("question", "country", "code", "count"), faults):
            yield from faults
            faults.clear()
            yield CountRow(place, *(row[column].strip() for column in ("question", "country", "code", "count")))
        yield from faults
        return
    for place, key, countries in members(file):
        pairs = countries.items() if isinstance(countries, Mapping) else None
        if pairs is None or not all(isinstance(codes, Mapping) for _country, codes in pairs):
            yield FileFault(name, place, "unreadable", _("It must be {country: {code: count}}."))
            continue
        for country, codes in pairs:
            for code, count in codes.items():
                yield CountRow(f"{place}, {country[:60]}", key.strip(), country.strip(), str(code).strip(), str(count))


def parse_code(text: str) -> int | None:
    """A code as a whole number, or None.

    >>> parse_code("-2"), parse_code("10"), parse_code("1.5"), parse_code("٣")
    (-2, 10, None, None)
    """
    if not text.isascii() or not _CODE.fullmatch(text) or abs(int(text)) > LARGEST_CODE:
        return None
    return int(text)


def parse_count(text: str, *, weighted: bool) -> float | None:
    """A count that is 0 or more, whole unless the counts are weighted; else None."""
    try:
        count = float(text)
    except ValueError:
        return None
    if not math.isfinite(count) or not 0 <= count <= LARGEST_COUNT or (count % 1 and not weighted):
        return None
    return count


def _csv_rows(
    file: BinaryIO, name: str, columns: tuple[str, ...], faults: list[FileFault]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Place and cells of each row; a row that cannot be read is added to `faults`. Raises SourceProblem."""
    for number, row in rows(file, columns[:1]):
        place = _("row %(number)s") % {"number": number}
        if isinstance(row, RowProblem):
            faults.append(FileFault(name, place, row.code, row.message))
            continue
        missing = [column for column in columns if column not in row]
        if missing:
            text = _("The column “%(column)s” is missing. The first line must have: %(columns)s.")
            raise SourceProblem(text % {"column": missing[0], "columns": ", ".join(columns)})
        yield place, {column: str(row[column]) for column in columns}


def _clean_text(value: Any) -> str:
    text = " ".join(("" if value is None else str(value)).split()).replace("\x00", "")
    return "".join(letter for letter in text if not "\ud800" <= letter <= "\udfff")[:TEXT_LENGTH]
