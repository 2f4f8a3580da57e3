"""Words that a person writes. Pure."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

from annotation.fields.contract import (
    AnswerProblem,
    Check,
    CodedValue,
    Column,
    ConfigError,
    Examples,
    FaultyExample,
    InvalidAnswer,
    Level,
    Rubric,
    Shown,
    Spec,
    ValidExample,
    reject_unknown_keys,
    require,
)
from annotation.fields.text.wording import CHECKS, style_warnings, word_count

Answer: TypeAlias = str
DIRECTIONS = ("auto", "ltr", "rtl")
LONGEST = 20_000
MOST_WORDS = 3
# Languages written in one script only. A language that is not named here is never remarked upon.
SCRIPTS = {
    **dict.fromkeys(("ar", "fa", "ur"), "ARABIC"),
    **dict.fromkeys(("am", "ti"), "ETHIOPIC"),
    **dict.fromkeys(("hi", "mr", "ne"), "DEVANAGARI"),
    **dict.fromkeys(("ru", "bg", "uk"), "CYRILLIC"),
    "bn": "BENGALI",
    "ta": "TAMIL",
    "th": "THAI",
    "el": "GREEK",
    "he": "HEBREW",
    "ko": "HANGUL",
}


TYPES = {
    "long": bool,
    "max_length": int,
    "min_length": int,
    "language": str,
    "direction": str,
    "most_words": int,
}


@dataclass(frozen=True)
class Config:
    long: bool = False
    max_length: int = 300
    min_length: int = 0
    language: str = ""
    direction: str = "auto"
    checks: tuple[str, ...] = ()
    most_words: int = MOST_WORDS


class TextSpec(Spec[Config, Answer]):
    key: ClassVar[str] = "text"
    version: ClassVar[int] = 1
    problems: ClassVar[frozenset[str]] = frozenset(
        {"not_text", "too_long", "too_short", "repeated_letters", "other_script", *CHECKS}
    )
    examples: ClassVar[Examples] = Examples(
        config={
            "long": False,
            "max_length": 20,
            "min_length": 3,
            "language": "ar",
            "direction": "rtl",
            "checks": [check for check in CHECKS if check != "question_mark"],
            "most_words": 2,
        },
        valid=[
            ValidExample("شاي بالنعناع", "شاي بالنعناع"),
            ValidExample("  كشري \n", "كشري"),
            ValidExample("فول\nمدمس", "فول مدمس"),
        ],
        invalid=[
            FaultyExample("شاي " * 12, "too_long"),
            FaultyExample("ش", "too_short"),
            FaultyExample(12, "not_text", json_only=True),
            FaultyExample(["شاي"], "not_text", json_only=True),
            FaultyExample({"text": "شاي"}, "not_text", json_only=True),
        ],
        borderline=[
            FaultyExample("mint tea", "other_script"),
            FaultyExample("شاااااااي", "repeated_letters"),
            FaultyExample("شاي أخضر بالنعناع", "words"),
            FaultyExample("شاي.", "full_stop"),
            FaultyExample("ثلاثة أكواب", "spelled_number"),
            FaultyExample("هذا شاي", "sentence_start"),
            FaultyExample("الإبريق", "in_question"),
        ],
        shown=Shown(item_id=1, target="Egypt", target_name="Egypt", text="ماذا في الإبريق؟"),
    )

    def config(self, data: Mapping[str, Any], path: str = "config") -> Config:
        reject_unknown_keys(data, (*TYPES, "checks"), path)
        config = Config(**{key: require(data, key, type_, path) for key, type_ in TYPES.items() if key in data})
        config = replace(config, checks=_checks(data, path))
        if not 1 <= config.most_words <= 200:
            raise ConfigError(f"{path}.most_words", f"must be 1 to 200, not {config.most_words}")
        if not 1 <= config.max_length <= LONGEST:
            raise ConfigError(f"{path}.max_length", f"must be 1 to {LONGEST}, not {config.max_length}")
        if not 0 <= config.min_length <= config.max_length:
            raise ConfigError(f"{path}.min_length", f"must be 0 to max_length, not {config.min_length}")
        if config.direction not in DIRECTIONS:
            raise ConfigError(f"{path}.direction", f"must be one of {', '.join(DIRECTIONS)}, not {config.direction!r}")
        return config

    def config_json(self, config: Config) -> dict[str, Any]:
        data = dict(vars(config))
        data["checks"] = list(config.checks)
        if "words" not in config.checks:
            del data["most_words"]
        if not config.checks:
            del data["checks"]
        return data

    def parse(self, raw: Any, config: Config, shown: Shown) -> Answer | None:
        if raw is None:
            return None
        if not isinstance(raw, str):
            raise InvalidAnswer("not_text")
        text = unicodedata.normalize("NFC", raw.replace("\r\n", "\n").replace("\x00", "")).strip()
        return (text if config.long else re.sub(r"\s+", " ", text)) or None

    def checks(self, answer: Answer, config: Config, shown: Shown) -> list[Check]:
        checks = []
        if len(answer) > config.max_length:
            checks.append(
                Check(AnswerProblem("too_long", {"most": config.max_length, "length": len(answer)}), blocks=True)
            )
        if len(answer) < config.min_length:
            checks.append(
                Check(AnswerProblem("too_short", {"least": config.min_length, "length": len(answer)}), blocks=True)
            )
        if re.search(r"([^\W\d_])\1{4}", answer):
            checks.append(Check(AnswerProblem("repeated_letters"), blocks=False))
        if not _has_script(answer, SCRIPTS.get(config.language, "")):
            checks.append(Check(AnswerProblem("other_script", {"language": config.language}), blocks=False))
        params = {"words": {"found": word_count(answer), "most": config.most_words}}
        style_codes = style_warnings(answer, config.checks, config.language, config.most_words, shown.text)
        return checks + [Check(AnswerProblem(code, params.get(code, {})), blocks=False) for code in style_codes]

    def level(self, config: Config) -> Level:
        return "text"

    def code(self, answer: Answer, config: Config) -> CodedValue | None:
        return None

    def values(self, answer: Answer, config: Config) -> dict[str, float | str]:
        return {"": answer}

    def columns(self, config: Config) -> tuple[Column, ...]:
        return (Column("", "string", f"text as written, at most {config.max_length} characters"),)

    def cells(self, answer: Answer, config: Config) -> dict[str, Any]:
        return {"": answer}

    def rubric(self, label: str, config: Config, language: str = "en") -> Rubric:
        least = f"At least {config.min_length} characters.\n" if config.min_length else ""
        words = f"{label}\n{least}At most {config.max_length} characters."
        return Rubric(words, {"type": "string", "minLength": config.min_length, "maxLength": config.max_length})


def _checks(data: Mapping[str, Any], path: str) -> tuple[str, ...]:
    rows = require(data, "checks", list, path) if "checks" in data else []
    for number, row in enumerate(rows):
        if row not in CHECKS:
            raise ConfigError(f"{path}.checks[{number}]", f"must be one of {', '.join(CHECKS)}, not {row!r}")
    return tuple(check for check in CHECKS if check in rows)


def _has_script(answer: str, script: str) -> bool:
    letters = [letter for letter in answer if letter.isalpha()]
    return not script or not letters or any(unicodedata.name(letter, "").startswith(script) for letter in letters)


SPEC = TextSpec()
