"""A point on a scale whose points are ordered. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from annotation.fields.contract import (
    CodedValue,
    Column,
    ConfigError,
    Examples,
    FaultyExample,
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
    require_options,
    typed_code,
)

Answer: TypeAlias = str
LEVELS: tuple[Level, ...] = ("ordinal", "interval")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)


@dataclass(frozen=True)
class Config:
    level: Level
    points: tuple[Option, ...]


class RatingSpec(Spec[Config, Answer]):
    key: ClassVar[str] = "rating"
    version: ClassVar[int] = 1
    problems: ClassVar[frozenset[str]] = frozenset({"not_an_option"})
    examples: ClassVar[Examples] = Examples(
        config={
            "level": "ordinal",
            "points": [
                {"code": "1", "label": {"en": "Not at all", "ar": "لا"}, "definition": {"en": "No link."}},
                {"code": "2", "label": {"en": "Somewhat"}},
                {"code": "3", "label": {"en": "Very much"}},
            ],
        },
        valid=[
            ValidExample("1", "1"),
            ValidExample(3, "3"),
            ValidExample(2.0, "2", json_only=True),
            ValidExample(" 2 ", "2"),
        ],
        invalid=[
            FaultyExample("4", "not_an_option"),
            FaultyExample(0, "not_an_option"),
            FaultyExample(2.5, "not_an_option"),
            FaultyExample("Somewhat", "not_an_option"),
            FaultyExample(True, "not_an_option", json_only=True),
            FaultyExample(["1"], "not_an_option", json_only=True),
            FaultyExample({"code": "1"}, "not_an_option", json_only=True),
        ],
    )

    def config(self, data: Mapping[str, Any], path: str = "config") -> Config:
        reject_unknown_keys(data, ("level", "points"), path)
        level = data.get("level", "ordinal")
        if level not in LEVELS:
            raise ConfigError(f"{path}.level", f"must be one of {', '.join(LEVELS)}, not {level!r}")
        return Config(level, require_options(data, "points", path, most=10))

    def config_json(self, config: Config) -> dict[str, Any]:
        return {"level": config.level, "points": [point.to_json() for point in config.points]}

    def parse(self, raw: Any, config: Config, shown: Shown) -> Answer | None:
        return None if raw is None or raw == "" else match_option(raw, config.points)

    def level(self, config: Config) -> Level:
        return config.level

    def code(self, answer: Answer, config: Config) -> CodedValue:
        """The value is the code as a number; where codes are words, the place on the scale."""
        numbers = [_number(point.code) for point in config.points]
        at = [point.code for point in config.points].index(answer)
        value = numbers[at] if None not in numbers else float(at + 1)
        return CodedValue(answer, value)

    def columns(self, config: Config) -> tuple[Column, ...]:
        return (
            Column(
                "",
                "string",
                f"code of the point chosen, {config.points[0].code} to {config.points[-1].code}",
                typed_code(config.points),
            ),
            Column("_label", "string", "its label in English"),
        )

    def cells(self, answer: Answer, config: Config) -> dict[str, Any]:
        label = next((localise(point.label, "en") for point in config.points if point.code == answer), "")
        return {"": answer, "_label": label}

    def rubric(self, label: str, config: Config, language: str = "en") -> Rubric:
        schema = {"type": "string", "enum": [point.code for point in config.points]}
        return Rubric(f"{label}\n{describe_options(config.points, language)}", schema)


def _number(code: str) -> float | None:
    """None for a word, also for those that Python reads as numbers: `nan`, `inf`, `1_000`."""
    return float(code) if NUMBER.fullmatch(code) else None


SPEC = RatingSpec()
