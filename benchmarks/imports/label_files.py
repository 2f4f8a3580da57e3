"""Labels from a file: CSV or JSON Lines, one label per row."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.countries import code_of
from benchmarks.imports.problems import SourceProblem
from benchmarks.rules.label_sets.contract import MOST_LABELS, LabelSpec
from benchmarks.rules.label_sets.countries import CONTINENT_OF, ZONE_OF, western_of

MOST_BYTES = 4 * 1024**2
MOST_COLUMNS = 20
LENGTHS = {"label": 120, "key": 120, "country": 120, "continent": 60, "region": 120, "values_zone": 60}
COLUMNS = (*LENGTHS, "western", "aliases")
RENAMED = {"text": "label", "target": "label", "group": "region", "zone": "values_zone"}
YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": None}


def parse_labels(file: BinaryIO) -> list[LabelSpec]:
    """The labels of a file, in its order; keys that are not given stay empty.

    A column `name.<language>` is the label in that language; columns that are not known are kept as they are. A country
    fills in its continent, values zone and Western where the row leaves them empty.

    Raises SourceProblem, which names the row.
    """
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        text = _("The file is larger than %(most)s MB. Leave out columns that no label needs.")
        raise SourceProblem(text % {"most": MOST_BYTES // 1024**2})
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceProblem(_("The file is not UTF-8. Save it as UTF-8.")) from None
    labels: list[LabelSpec] = []
    for number, row in _json_rows(text) if text.lstrip().startswith("{") else _csv_rows(text):
        if len(labels) >= MOST_LABELS:
            raise SourceProblem(_("The file has more than %(most)s labels. Split it.") % {"most": f"{MOST_LABELS:,}"})
        labels.append(_label(number, row))
    return labels


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    first = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    try:
        head = [_column(name) for name in next(reader, [])]
        _check_head(head)
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) > len(head):
                    raise _row_problem(reader.line_num, _("It has more cells than there are columns."))
                yield reader.line_num, dict(zip(head, cells, strict=False))
    except csv.Error:
        raise _row_problem(reader.line_num, _("It cannot be read. Look for a stray quotation mark.")) from None


def _check_head(head: list[str]) -> None:
    if "label" not in head:
        raise SourceProblem(_("The file has no column “label”. Its first line must name the columns."))
    if len(set(head)) < len(head):
        raise SourceProblem(_("The file names a column twice. Rename one of them."))


def _json_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    # Not by splitlines(): JSON may hold other line ends of Unicode as they are.
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise _row_problem(number, _("It is not one JSON object. Look for a missing brace."))
        yield number, {_column(str(name)): value for name, value in row.items()}


def _column(name: str) -> str:
    name = name.strip().lower().replace(" ", "_")
    return RENAMED.get(name, name)


def _row_problem(number: int, message: str) -> SourceProblem:
    return SourceProblem(_("Row %(number)s: %(message)s") % {"number": number, "message": message})


def _label(number: int, row: Mapping[str, Any]) -> LabelSpec:
    values = {name: _text(number, name, row.get(name), most) for name, most in LENGTHS.items()}
    if not values["label"]:
        raise _row_problem(number, _("“label” is empty. Every row needs it."))
    code = code_of(values["country"]) if values["country"] else ""
    if code is None:
        message = _("“%(value)s” is no country. Use its ISO code or English name, or leave it empty.")
        raise _row_problem(number, message % {"value": values["country"]})
    western = _yes_no(number, row.get("western"))
    return LabelSpec(
        key=values["key"],
        text=values["label"],
        names=_names(number, row),
        country=code,
        continent=values["continent"] or CONTINENT_OF.get(code, ""),
        region=values["region"],
        values_zone=values["values_zone"] or ZONE_OF.get(code, ""),
        western=western_of(code) if western is None else western,
        aliases=_aliases(number, row.get("aliases")),
        about=_about(number, row),
    )


def _text(number: int, name: str, value: Any, most: int) -> str:
    if isinstance(value, dict | list):
        raise _row_problem(number, _("“%(name)s” must be a text.") % {"name": name[:60]})
    text = "" if value is None else str(value).strip()
    if len(text) > most:
        message = _("“%(name)s” is longer than %(most)s characters.") % {"name": name[:60], "most": most}
        raise _row_problem(number, message)
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise _row_problem(number, _("“%(name)s” has a character that is no text.") % {"name": name[:60]})
    return text


def _yes_no(number: int, value: Any) -> bool | None:
    text = _text(number, "western", value, 20).casefold()
    if text not in YES_NO:
        raise _row_problem(number, _("“western” is “%(value)s”. Write yes, no, or nothing.") % {"value": text})
    return YES_NO[text]


def _aliases(number: int, value: Any) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else str(value or "").split("|")
    texts = [_text(number, "aliases", part, LENGTHS["label"]) for part in parts]
    return tuple(text for text in texts if text)


def _names(number: int, row: Mapping[str, Any]) -> dict[str, str]:
    names = row.get("names")
    pairs = dict(names) if isinstance(names, dict) else {}
    pairs |= {name[5:]: value for name, value in row.items() if name.startswith("name.")}
    texts = {str(language)[:12]: _text(number, f"name.{language}", text, 120) for language, text in pairs.items()}
    return {language: text for language, text in texts.items() if text}


def _about(number: int, row: Mapping[str, Any]) -> dict[str, str]:
    others = [name for name in row if name not in COLUMNS and name != "names" and not name.startswith("name.")]
    texts = {name[:60]: _text(number, name, row[name], 500) for name in others[:MOST_COLUMNS] if name}
    return {name: text for name, text in texts.items() if text}


SAMPLE = (
    ("label", "key", "country", "region", "western", "aliases", "name.ar"),
    ("Georgia", "georgia", "GE", "Caucasus", "", "Sakartvelo|Republic of Georgia", "جورجيا"),
    ("Yoruba", "yoruba", "", "West Africa", "no", "", ""),
)
"""A file to begin with: column names, then rows."""
