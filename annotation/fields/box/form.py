"""Boxes as a web form: four numbers in percent for each, in whatever digits people type, and its label.

All inputs have one name. The input of a label follows its box's four numbers, and its values begin with `LABELLED`.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from annotation.fields.box.spec import (
    LABEL,
    SIDES,
    Answer,
    Box,
    BoxLabel,
    Config,
    area,
    label_keys,
    parse_box,
    percent,
)
from annotation.fields.contract import AnswerProblem, InvalidAnswer, Shown
from annotation.fields.form import Localiser, PostData
from annotation.fields.messages import ProblemText, problem_text

NUMBER = re.compile(r"-?(\d{1,12}(\.\d{0,12})?|\.\d{1,12})")
FEW = "too_few_found"
LABELLED = "label:"
POINTS = str.maketrans({",": ".", "\u066b": ".", "\u060c": ".", "\u2212": "-", "%": "", "\u066a": ""})


@dataclass(frozen=True)
class BoxInputs:
    """The four inputs of one box, and the code of its label. `spare`: it is out of sight until it is needed."""

    number: int
    sides: Sequence[tuple[str, str]]
    spare: bool
    label: str = ""


@dataclass(frozen=True)
class LabelView:
    """A label of a template: `value` is what a form posts for it."""

    code: str
    key: str
    text: str
    definition: str

    @property
    def value(self) -> str:
        return f"{LABELLED}{self.code}"


@dataclass(frozen=True)
class LimitView:
    """A limit, where the answer stands (None: not known), and what is said when that stops it."""

    key: Literal["count", "max", "min", "fact"]
    label: str
    found: str | None
    limit: str
    stops: bool
    words: ProblemText

    @property
    def at(self) -> float:
        return float(self.found or 0)

    @property
    def bound(self) -> float:
        return float(self.limit)


class BoxForm:
    script = "js/fields/box.js"
    style = "css/box.css"
    draws_item = True

    def read(self, posted: PostData, name: str) -> Any:
        """Fractions; what is no number stays as it was typed. Rows left empty are no boxes, whatever their label."""
        rows: list[_Row] = []
        for typed in (str(value).strip() for value in posted.getlist(name)):
            if typed.startswith(LABELLED):
                rows[-1:] = [_Row(row.sides, typed.removeprefix(LABELLED)) for row in rows[-1:]]
            elif rows and len(rows[-1].sides) < len(SIDES):
                rows[-1].sides.append(typed)
            else:
                rows.append(_Row([typed]))
        return [[*map(_fraction, row.sides), *filter(None, [row.label])] for row in rows if any(row.sides)] or None

    def fill(self, raw: Any) -> list[str]:
        labels = [[f"{LABELLED}{row.label}"] if row.label else [] for row in _rows(raw)]
        return [value for row, label in zip(_rows(raw), labels, strict=True) for value in (*row.sides, *label)]

    def context(self, config: Config, answer: Any, speech: Localiser, shown: Shown | None) -> Mapping[str, Any]:
        rows = _rows(answer)
        empty = [""] * len(SIDES)
        names = [
            pgettext("edge", "Left"),
            pgettext("edge", "Top"),
            pgettext("edge", "Right"),
            pgettext("edge", "Bottom"),
        ]
        return {
            "rows": [
                BoxInputs(
                    number=at + 1,
                    sides=list(zip(names, rows[at].sides if at < len(rows) else empty, strict=False)),
                    spare=at >= max(config.least, len(rows)),
                    label=rows[at].label if at < len(rows) else "",
                )
                for at in range(max(config.most, len(rows)))
            ],
            "least": config.least,
            "most": config.most,
            "largest": "" if config.max_area is None else str(config.max_area),
            "smallest": "" if config.min_area is None else str(config.min_area),
            "labels": _label_views(config.labels, speech),
            "label_required": config.label_required,
            "defined": any(label.definition for label in config.labels),
            "bare": problem_text(AnswerProblem("box_without_label", {"number": "NUMBER"})),
            "gates": list(_gates(config, _boxes(answer, config), shown, speech)),
        }

    def answered(self, config: Config, answer: Answer, speech: Localiser) -> Mapping[str, Any]:
        texts = {label.code: speech.say(label.label) for label in config.labels}
        return {"boxes": [_describe_box(box, texts) for box in answer], "answer": answer}


def _fraction(typed: str) -> float | str:
    """15.8 or "15,8" percent, in the digits of any script, is 0.158."""
    digits = (str(unicodedata.decimal(char, char)) for char in typed)
    plain = "".join(digits).translate(POINTS).strip()
    return round(float(Decimal(plain) / 100), 6) if NUMBER.fullmatch(plain) else typed


@dataclass(frozen=True)
class _Row:
    """The texts of one box's inputs."""

    sides: list[str]
    label: str = ""


def _rows(raw: Any) -> list[_Row]:
    """The texts of each box of an answer, of a draft, or of what was refused."""
    if not isinstance(raw, (list, tuple, Mapping)):
        return []
    rows = [raw] if isinstance(raw, Mapping) else raw
    lists = [[row.get(key) for key in (*SIDES, LABEL)] if isinstance(row, Mapping) else row for row in rows]
    return [
        _Row([_posted_rows(side) for side in row[: len(SIDES)]], "".join(map(_label_text, row[len(SIDES) :][:1])))
        for row in lists
        if isinstance(row, (list, tuple))
    ]


def _label_text(raw: Any) -> str:
    return str(raw).strip() if isinstance(raw, (str, int)) and not isinstance(raw, bool) else ""


def _posted_rows(value: Any) -> str:
    if value is None or isinstance(value, (str, bool)):
        return str(value or "")
    text = f"{Decimal(str(value)) * 100:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _boxes(raw: Any, config: Config) -> list[Box]:
    """Of a draft, or of what was refused, those boxes that can be measured."""
    boxes = []
    for row in [raw] if isinstance(raw, Mapping) else raw if isinstance(raw, (list, tuple)) else []:
        with suppress(InvalidAnswer):
            boxes.append(parse_box(row, config.labels))
    return boxes


def _gates(config: Config, boxes: Sequence[Box], shown: Shown | None, speech: Localiser) -> Iterator[LimitView]:
    areas, many = [area(box) for box in boxes], config.most > 1
    if config.least > 1:
        too_few = AnswerProblem("too_few_boxes", {"least": config.least})
        stops = bool(boxes) and len(boxes) < config.least
        yield LimitView("count", _("Boxes"), str(len(boxes)), str(config.least), stops, problem_text(too_few))
    if config.max_area is not None:
        label = _("Size of the largest box") if many else _("Size of the box")
        yield _size("max", label, max(areas, default=None), config.max_area, "box_too_large")
    if config.min_area is not None:
        label = _("Size of the smallest box") if many else _("Size of the box")
        yield _size("min", label, min(areas, default=None), config.min_area, "box_too_small")
    for fact in config.facts:
        measured = fact.current_value(shown)
        known = None if measured is None else f"{measured:g}"
        params = {"found": known, "least": f"{fact.at_least:g}"}
        stops = measured is not None and measured < fact.at_least
        yield LimitView(
            "fact",
            speech.say(fact.label),
            known,
            params["least"] or "",
            stops,
            problem_text(AnswerProblem(FEW, params)),
        )


def _size(key: Literal["max", "min"], label: str, measured: float | None, limit: float, code: str) -> LimitView:
    stops = measured is not None and (measured >= limit if key == "max" else measured < limit)
    words = problem_text(AnswerProblem(code, {"limit": f"{limit * 100:g}"}))
    return LimitView(key, label, None if measured is None else percent(measured), f"{limit * 100:g}", stops, words)


def _label_views(labels: Sequence[BoxLabel], speech: Localiser) -> list[LabelView]:
    return [
        LabelView(label.code, key, speech.say(label.label), speech.say(label.definition))
        for label, key in zip(labels, label_keys(labels), strict=True)
    ]


def _describe_box(box: Box, texts: Mapping[str, str]) -> Mapping[str, Any]:
    """A box in percent, as words say it, and the text of its label."""
    code = box.get(LABEL, "")
    sides: dict[str, str] = {name: _posted_rows(round(box[name], 3)) for name in SIDES}
    return {**sides, "area": percent(area(box)), "label": texts.get(code, code)}


FORM = BoxForm()
