"""One or more boxes on a picture, as fractions of it upright: top-left and bottom-right corner. Pure.

Where the sheet has labels, each box may have one. A box without a label is stored as it was before there were labels.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite, sqrt
from typing import Any, ClassVar, Final, Literal, NotRequired, TypeAlias, TypedDict

from annotation.fields.contract import (
    AnswerProblem,
    Check,
    CodedValue,
    Column,
    ConfigError,
    Examples,
    FactGate,
    FaultyExample,
    InvalidAnswer,
    Level,
    Option,
    Rubric,
    Shown,
    Spec,
    ValidExample,
    describe_options,
    localise,
    match_option,
    reject_unknown_keys,
    require,
    require_options,
    require_text,
)

Side = Literal["x0", "y0", "x1", "y1"]


class Box(TypedDict):
    """Corners as fractions of the picture, and the code of a label. A box without a label lacks the key."""

    x0: float
    y0: float
    x1: float
    y1: float
    label: NotRequired[str]


Answer: TypeAlias = list[Box]
SAMPLE_AREA = 0.09
SIDES: tuple[Side, ...] = ("x0", "y0", "x1", "y1")
LABEL: Final = "label"
MOST = 20
MOST_LABELS = 40
LABEL_KEYS = frozenset("0123456789acdefghijklmopqvwy")  # the sheet and its displays use the other letters
DIGITS = 6  # a millionth of a side: finer than half a pixel of any picture


@dataclass(frozen=True)
class BoxLabel(Option):
    """A label of boxes. `key`: the key to press, where it is not the label's position."""

    key: str = ""

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "key": self.key} if self.key else super().to_json()


@dataclass(frozen=True)
class Config:
    """Areas are shares of the picture's: each box is below `max_area` and reaches `min_area`."""

    least: int
    most: int
    max_area: float | None
    min_area: float | None
    facts: tuple[FactGate, ...]
    labels: tuple[BoxLabel, ...] = ()
    label_required: bool = False


def label_keys(labels: Sequence[BoxLabel]) -> list[str]:
    """The key of each label: its own; else its code, where all codes are digits; else its position up to 10.

    A key that is another label's own is left to that label.
    """
    digits = all(len(label.code) == 1 and label.code in "0123456789" for label in labels)
    own = {label.key for label in labels}
    keys = []
    for number, label in enumerate(labels, start=1):
        usual = label.code if digits else str(number % 10) if number <= 10 else ""
        keys.append(label.key or ("" if usual in own else usual))
    return keys


def area(box: Box) -> float:
    """Share of the picture, 0 to 1, without the noise of the last digits."""
    return round((box["x1"] - box["x0"]) * (box["y1"] - box["y0"]), 12)


def percent(share: float) -> str:
    """With one decimal, cut and not rounded: 29.96 % is not yet 30."""
    return f"{floor(round(share * 1000, 6)) / 10:g}"


class BoxSpec(Spec[Config, Answer]):
    key: ClassVar[str] = "box"
    version: ClassVar[int] = 1
    problems: ClassVar[frozenset[str]] = frozenset(
        {
            "not_a_box", "box_not_numbers", "box_incomplete", "box_outside", "box_empty",
            "too_few_boxes", "too_many_boxes", "box_too_large", "box_too_small", "too_few_found",
            "not_an_option", "box_without_label", "no_labels",
        }
    )  # fmt: skip
    examples: ClassVar[Examples] = Examples(
        config={
            "least": 1,
            "most": 2,
            "max_area": 0.3,
            "min_area": 0.0001,
            "facts": [{"key": "objects", "at_least": 3, "label": {"en": "Other things in the picture"}}],
            "labels": [
                {"code": "lamp", "label": {"en": "Lamp", "ar": "مصباح"}, "definition": {"en": "It gives light."}},
                {"code": "stall", "label": {"en": "Stall"}, "key": "a"},
            ],
        },
        valid=[
            ValidExample([[0.158, 0.205, 0.4, 0.718]], [{"x0": 0.158, "y0": 0.205, "x1": 0.4, "y1": 0.718}]),
            ValidExample([{"x0": 0, "y0": 0, "x1": 0.5, "y1": 0.25}], [{"x0": 0.0, "y0": 0.0, "x1": 0.5, "y1": 0.25}]),
            ValidExample([[0.9, 0.75, 0.6, 0.5]], [{"x0": 0.6, "y0": 0.5, "x1": 0.9, "y1": 0.75}]),
            ValidExample(
                [[0.1, 0.1, 0.2, 0.2], [0.123456, 0.5, 1, 0.6]],
                [
                    {"x0": 0.1, "y0": 0.1, "x1": 0.2, "y1": 0.2},
                    {"x0": 0.123456, "y0": 0.5, "x1": 1.0, "y1": 0.6},
                ],
            ),
            ValidExample(
                [[0.1, 0.1, 0.2, 0.2, "stall"], [0.3, 0.3, 0.4, 0.4]],
                [
                    {"x0": 0.1, "y0": 0.1, "x1": 0.2, "y1": 0.2, "label": "stall"},
                    {"x0": 0.3, "y0": 0.3, "x1": 0.4, "y1": 0.4},
                ],
            ),
            ValidExample(
                [{"x0": 0.2, "y0": 0.2, "x1": 0.1, "y1": 0.1, "label": " lamp "}],
                [{"x0": 0.1, "y0": 0.1, "x1": 0.2, "y1": 0.2, "label": "lamp"}],
            ),
            ValidExample(
                [{"x0": 0.1, "y0": 0.1, "x1": 0.2, "y1": 0.2, "label": None}],
                [{"x0": 0.1, "y0": 0.1, "x1": 0.2, "y1": 0.2}],
            ),
        ],
        invalid=[
            FaultyExample([[0.1, 0.1, 0.7, 0.6]], "box_too_large"),  # exactly 0.3: the gate is "below"
            FaultyExample([[0.1, 0.1, 0.109, 0.109]], "box_too_small"),
            FaultyExample([[0.5, 0.1, 0.5, 0.9]], "box_empty"),
            FaultyExample([[0.5, 0.1, 1.2, 0.3]], "box_outside"),
            FaultyExample([[-0.1, 0.1, 0.2, 0.3]], "box_outside"),
            FaultyExample([[0.1, 0.1, 0.2, ""]], "box_incomplete"),
            FaultyExample([["left", 0.1, 0.2, 0.3]], "box_not_numbers"),
            FaultyExample([[0.1, 0.1, 0.2, 0.2], [0.3, 0.3, 0.4, 0.4], [0.5, 0.5, 0.6, 0.6]], "too_many_boxes"),
            FaultyExample([[True, 0.1, 0.2, 0.3]], "box_not_numbers", json_only=True),
            FaultyExample([{"x0": 0.1, "y0": 0.1, "x1": 0.2}], "box_incomplete", json_only=True),
            FaultyExample([{"left": 0.1}], "not_a_box", json_only=True),
            FaultyExample("everywhere", "not_a_box", json_only=True),
            FaultyExample([[0.1, 0.1, 0.2, 0.2, "lantern"]], "not_an_option"),
            FaultyExample([[0.1, 0.1, 0.2, 0.2, 0.5]], "not_an_option", json_only=True),
            FaultyExample([[0.1, 0.1, 0.2, 0.2, "lamp", "stall"]], "not_a_box", json_only=True),
            FaultyExample([7], "not_a_box", json_only=True),
        ],
    )

    def config(self, data: Mapping[str, Any], path: str = "config") -> Config:
        known = ("least", "most", "max_area", "min_area", "facts", "labels", "label_required")
        reject_unknown_keys(data, known, path)
        least, most = (require(data, key, int, path) if key in data else 1 for key in ("least", "most"))
        if not 1 <= most <= MOST:
            raise ConfigError(f"{path}.most", f"must be 1 to {MOST}, not {most}")
        if not 1 <= least <= most:
            raise ConfigError(f"{path}.least", f'must be 1 to "most" ({most}), not {least}')
        largest, smallest = (_share(data.get(key), f"{path}.{key}") for key in ("max_area", "min_area"))
        if largest is not None and smallest is not None and smallest >= largest:
            raise ConfigError(f"{path}.min_area", f"leaves no room below max_area ({largest:g})")
        rows = require(data, "facts", list, path) if "facts" in data else []
        gates = tuple(_fact_gate(row, f"{path}.facts[{number}]") for number, row in enumerate(rows))
        labels = _labels(data, path) if data.get("labels") else ()
        required = require(data, "label_required", bool, path) if "label_required" in data else False
        if required and not labels:
            raise ConfigError(f"{path}.label_required", "needs labels")
        return Config(least, most, largest, smallest, gates, labels, required)

    def config_json(self, config: Config) -> dict[str, Any]:
        facts = [{"key": fact.key, "at_least": fact.at_least, "label": dict(fact.label)} for fact in config.facts]
        data = {
            "least": config.least,
            "most": config.most,
            "max_area": config.max_area,
            "min_area": config.min_area,
            "facts": facts,
        }
        if config.labels:
            data |= {"labels": [label.to_json() for label in config.labels], "label_required": config.label_required}
        return data

    def parse(self, raw: Any, config: Config, shown: Shown) -> Answer | None:
        """Boxes as lists [x0, y0, x1, y1, label] or as objects. Opposite corners may come in any order, and a label may
        be left out."""
        if raw is None or raw == "" or raw == []:
            return None
        rows = [raw] if isinstance(raw, Mapping) else raw
        if not isinstance(rows, (list, tuple)):
            raise InvalidAnswer("not_a_box")
        if len(rows) > config.most:
            raise InvalidAnswer("too_many_boxes", found=len(rows), most=config.most)
        return [parse_box(row, config.labels) for row in rows]

    def checks(self, answer: Answer, config: Config, shown: Shown) -> list[Check]:
        """The gates, and labels that are required. All of them block."""
        problems: list[AnswerProblem] = []
        areas = [area(box) for box in answer]
        if len(answer) < config.least:
            problems.append(AnswerProblem("too_few_boxes", {"found": len(answer), "least": config.least}))
        if config.max_area is not None and max(areas) >= config.max_area:
            problems.append(_area_checks("box_too_large", max(areas), config.max_area))
        if config.min_area is not None and min(areas) < config.min_area:
            problems.append(_area_checks("box_too_small", min(areas), config.min_area))
        for gate in config.facts:
            measured = gate.current_value(shown)
            if measured is not None and measured < gate.at_least:
                problems.append(
                    AnswerProblem("too_few_found", {"found": f"{measured:g}", "least": f"{gate.at_least:g}"})
                )
        if config.label_required and (bare := [at for at, box in enumerate(answer, start=1) if LABEL not in box]):
            problems.append(AnswerProblem("box_without_label", {"number": bare[0], "count": len(bare)}))
        return [Check(problem, blocks=True) for problem in problems]

    def gates(self, config: Config) -> tuple[FactGate, ...]:
        return config.facts

    def level(self, config: Config) -> Level:
        return "box"

    def part_labels(self, config: Config) -> tuple[Option, ...]:
        return config.labels

    def needs_part_label(self, config: Config) -> bool:
        return config.label_required

    def code(self, answer: Answer, config: Config) -> CodedValue | None:
        """Boxes are compared by their overlap, never by equality."""
        return None

    def values(self, answer: Answer, config: Config) -> dict[str, float | str]:
        return {".area": max(map(area, answer)), ".count": float(len(answer))}

    def columns(self, config: Config) -> tuple[Column, ...]:
        meaning = "boxes as x0, y0, x1, y1: fractions of the upright picture's width and height"
        columns = (
            Column("", "json", f"{meaning}; label: code of the box's label" if config.labels else meaning, "boxes"),
            Column("_count", "integer", "number of boxes"),
            Column("_area", "number", "area of the largest box as a share of the picture, 0 to 1"),
        )
        if not config.labels:
            return columns
        codes = 'codes of the labels, in the order of the boxes, joined by "|"; nothing for a box without a label'
        return (
            *columns,
            Column("_labels", "string", codes),
            Column("_label_texts", "string", "the same in English words"),
        )

    def cells(self, answer: Answer, config: Config) -> dict[str, Any]:
        cells = {"": answer, "_count": len(answer), "_area": round(max(map(area, answer)), DIGITS)}
        if not config.labels:
            return cells
        codes = [box.get(LABEL, "") for box in answer]
        texts = {label.code: localise(label.label, "en") for label in config.labels}
        return {**cells, "_labels": "|".join(codes), "_label_texts": "|".join(texts.get(code, code) for code in codes)}

    def sample(self, config: Config) -> Answer:
        """As many boxes as are required, of a size that the sheet takes."""
        largest = 1.0 if config.max_area is None else config.max_area
        smallest = config.min_area or 0.0
        share = SAMPLE_AREA if smallest <= SAMPLE_AREA < largest else (smallest + largest) / 2
        side = round(sqrt(share), 4)
        start = round(min(0.1, 1 - side), 4)
        box: Box = {"x0": start, "y0": start, "x1": round(start + side, 4), "y1": round(start + side, 4)}
        if config.labels:
            box["label"] = config.labels[0].code
        return [box for _number in range(config.least)]

    def rubric(self, label: str, config: Config, language: str = "en") -> Rubric:
        side = {"type": "number", "minimum": 0, "maximum": 1}
        members: dict[str, Any] = dict.fromkeys(SIDES, side)
        words = "Each box as x0, y0 (top-left corner) and x1, y1 (bottom-right corner), fractions of width and height."
        if config.labels:
            one_label = {"type": "string", "enum": [label.code for label in config.labels]}
            members[LABEL] = one_label if config.label_required else {"anyOf": [one_label, {"type": "null"}]}
            none = "" if config.label_required else ", or null where none fits"
            words = f"{words}\nlabel: one of these codes{none}.\n{describe_options(config.labels, language)}"
        box = {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}
        schema = {"type": "array", "items": box, "minItems": config.least, "maxItems": config.most}
        return Rubric(f"{label}\n{words}", schema)


def parse_box(row: Any, labels: Sequence[Option] = ()) -> Box:
    """One box out of [x0, y0, x1, y1, label] or an object, its corners put in order; InvalidAnswer when it is none."""
    label: Any = None
    if isinstance(row, Mapping):
        if any(key not in (*SIDES, LABEL) for key in row):
            raise InvalidAnswer("not_a_box")
        label = row.get(LABEL)
        row = [row.get(key, "") for key in SIDES]
    elif isinstance(row, (list, tuple)) and labels and len(row) == len(SIDES) + 1:
        *row, label = row
    if not isinstance(row, (list, tuple)) or len(row) > len(SIDES):
        raise InvalidAnswer("not_a_box")
    if len(row) < len(SIDES) or any(coordinate is None or coordinate == "" for coordinate in row):
        raise InvalidAnswer("box_incomplete")
    box = _upright(row)
    if label is None or label == "":
        return box
    if not labels:
        raise InvalidAnswer("no_labels")
    return {**box, "label": match_option(label, labels)}


def _upright(row: Iterable[Any]) -> Box:
    sides: list[float] = []
    for coordinate in row:
        is_number = isinstance(coordinate, (int, float)) and not isinstance(coordinate, bool)
        if not is_number or (isinstance(coordinate, float) and not isfinite(coordinate)):
            raise InvalidAnswer("box_not_numbers", given=str(coordinate)[:20])
        if not 0 <= coordinate <= 1:
            raise InvalidAnswer("box_outside")
        sides.append(round(float(coordinate), DIGITS))
    (x0, x1), (y0, y1) = sorted(sides[0::2]), sorted(sides[1::2])
    if x0 == x1 or y0 == y1:
        raise InvalidAnswer("box_empty")
    return {"x0": x0, "y0": y0, "x1": x1, "y1": y1}


def _area_checks(code: str, measured: float, limit: float) -> AnswerProblem:
    return AnswerProblem(code, {"area": percent(measured), "limit": f"{limit * 100:g}"})


def _share(value: Any, path: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1:
        raise ConfigError(path, f"must be a share of the picture above 0 and at most 1, not {value!r}")
    return float(value)


def _fact_gate(row: Any, path: str) -> FactGate:
    if not isinstance(row, Mapping):
        raise ConfigError(path, "must be an object with key, at_least and label")
    reject_unknown_keys(row, ("key", "at_least", "label"), path)
    key, at_least = require(row, "key", str, path), row.get("at_least")
    if not key.strip():
        raise ConfigError(f"{path}.key", "must name a fact")
    if isinstance(at_least, bool) or not isinstance(at_least, (int, float)) or not isfinite(at_least):
        raise ConfigError(f"{path}.at_least", "must be a number")
    return FactGate(key, float(at_least), require_text(row, "label", path))


def _labels(data: Mapping[str, Any], path: str) -> tuple[BoxLabel, ...]:
    rows = require(data, "labels", list, path)
    keys: list[str] = []
    plain: list[Any] = []
    for number, row in enumerate(rows):
        key = (row.get("key") or "") if isinstance(row, Mapping) else ""
        if key and (not isinstance(key, str) or key not in LABEL_KEYS or key in keys):
            why = "is another label's" if key in keys else f"must be one of {' '.join(sorted(LABEL_KEYS))}"
            raise ConfigError(f"{path}.labels[{number}].key", why)
        keys.append(key)
        plain.append({name: row[name] for name in row if name != "key"} if isinstance(row, Mapping) else row)
    options = require_options({"labels": plain}, "labels", path, most=MOST_LABELS, least=1)
    return tuple(BoxLabel(o.code, o.label, o.definition, key) for o, key in zip(options, keys, strict=True))


SPEC = BoxSpec()
