"""One or more boxes on a picture, as fractions of it upright: top-left and bottom-right corner. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import floor, isfinite
from typing import Any, ClassVar, TypeAlias

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
    Rubric,
    Shown,
    Spec,
    ValidExample,
    reject_unknown_keys,
    require,
    require_text,
)

Box: TypeAlias = dict[str, float]
Answer: TypeAlias = list[Box]
SIDES = ("x0", "y0", "x1", "y1")
MOST = 20
DIGITS = 6  # a millionth of a side: finer than half a pixel of any picture


@dataclass(frozen=True)
class Config:
    """Areas are shares of the picture's: each box is below `max_area` and reaches `min_area`."""

    least: int
    most: int
    max_area: float | None
    min_area: float | None
    facts: tuple[FactGate, ...]


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
        }
    )  # fmt: skip
    examples: ClassVar[Examples] = Examples(
        config={
            "least": 1,
            "most": 2,
            "max_area": 0.3,
            "min_area": 0.0001,
            "facts": [{"key": "objects", "at_least": 3, "label": {"en": "Other things in the picture"}}],
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
            FaultyExample([[0.1, 0.2, 0.3, 0.4, 0.5]], "not_a_box", json_only=True),
            FaultyExample([7], "not_a_box", json_only=True),
        ],
    )

    def config(self, data: Mapping[str, Any], path: str = "config") -> Config:
        reject_unknown_keys(data, ("least", "most", "max_area", "min_area", "facts"), path)
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
        return Config(least, most, largest, smallest, gates)

    def config_json(self, config: Config) -> dict[str, Any]:
        facts = [{"key": fact.key, "at_least": fact.at_least, "label": dict(fact.label)} for fact in config.facts]
        return {
            "least": config.least,
            "most": config.most,
            "max_area": config.max_area,
            "min_area": config.min_area,
            "facts": facts,
        }

    def parse(self, raw: Any, config: Config, shown: Shown) -> Answer | None:
        """Boxes as lists [x0, y0, x1, y1] or as objects; opposite corners may come in any order."""
        if raw is None or raw == "" or raw == []:
            return None
        rows = [raw] if isinstance(raw, Mapping) else raw
        if not isinstance(rows, (list, tuple)):
            raise InvalidAnswer("not_a_box")
        if len(rows) > config.most:
            raise InvalidAnswer("too_many_boxes", found=len(rows), most=config.most)
        return [parse_box(row) for row in rows]

    def checks(self, answer: Answer, config: Config, shown: Shown) -> list[Check]:
        """The gates. All of them block."""
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
        return [Check(problem, blocks=True) for problem in problems]

    def gates(self, config: Config) -> tuple[FactGate, ...]:
        return config.facts

    def level(self, config: Config) -> Level:
        return "box"

    def code(self, answer: Answer, config: Config) -> CodedValue | None:
        """Boxes are compared by their overlap, never by equality."""
        return None

    def values(self, answer: Answer, config: Config) -> dict[str, float | str]:
        return {".area": max(map(area, answer)), ".count": float(len(answer))}

    def columns(self, config: Config) -> tuple[Column, ...]:
        return (
            Column("", "json", "boxes as x0, y0, x1, y1: fractions of the upright picture's width and height"),
            Column("_count", "integer", "number of boxes"),
            Column("_area", "number", "area of the largest box as a share of the picture, 0 to 1"),
        )

    def cells(self, answer: Answer, config: Config) -> dict[str, Any]:
        return {"": answer, "_count": len(answer), "_area": round(max(map(area, answer)), DIGITS)}

    def rubric(self, label: str, config: Config, language: str = "en") -> Rubric:
        side = {"type": "number", "minimum": 0, "maximum": 1}
        box = {
            "type": "object",
            "properties": dict.fromkeys(SIDES, side),
            "required": list(SIDES),
            "additionalProperties": False,
        }
        words = "Each box as x0, y0 (top-left corner) and x1, y1 (bottom-right corner), fractions of width and height."
        schema = {"type": "array", "items": box, "minItems": config.least, "maxItems": config.most}
        return Rubric(f"{label}\n{words}", schema)


def parse_box(row: Any) -> Box:
    """One box out of [x0, y0, x1, y1] or an object, its corners put in order; InvalidAnswer when it is none."""
    if isinstance(row, Mapping):
        if any(key not in SIDES for key in row):
            raise InvalidAnswer("not_a_box")
        row = [row.get(key, "") for key in SIDES]
    if not isinstance(row, (list, tuple)) or len(row) > len(SIDES):
        raise InvalidAnswer("not_a_box")
    if len(row) < len(SIDES) or any(coordinate is None or coordinate == "" for coordinate in row):
        raise InvalidAnswer("box_incomplete")
    return _upright(row)


def _upright(row: Iterable[Any]) -> Box:
    sides = []
    for coordinate in row:
        if isinstance(coordinate, bool) or not isinstance(coordinate, (int, float)) or not isfinite(coordinate):
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


SPEC = BoxSpec()
