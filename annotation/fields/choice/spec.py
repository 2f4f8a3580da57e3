"""One option, or any number of them, in no order. Pure.

The options stand in the sheet, or, with `options_from`, in the item: a list under that key of its context, such as what
a model says it sees. Where several may be chosen, all of those are until the person takes them away. `more` are options
that stand in the sheet and come after those of the item.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from annotation.fields.contract import (
    MAX_CODE,
    AgreementLevel,
    AnswerProblem,
    Check,
    CodedValue,
    Column,
    ColumnTyped,
    ConfigError,
    Examples,
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
    typed_code,
)

Answer: TypeAlias = str | list[str]
MOST = 40
MOST_LETTERS = 60


@dataclass(frozen=True)
class Config:
    many: bool
    options: tuple[Option, ...]
    least: int = 0
    most: int = 0
    options_from: str = ""
    more: tuple[Option, ...] = ()

    @property
    def draws_item(self) -> bool:
        return bool(self.options_from)

    def offered_options(self, shown: Shown | None) -> tuple[Option, ...]:
        """The options that are there for an item."""
        if not self.options_from:
            return self.options
        offered = (shown.context if shown else {}).get(self.options_from) or []
        rows = re.split(r"[|\n]", offered) if isinstance(offered, str) else offered
        codes = dict.fromkeys(str(row).strip()[:MOST_LETTERS] for row in rows if str(row).strip())
        own = (Option(code.replace("|", "/"), {"en": code}) for code in list(codes)[:MOST])
        taken = {option.code for option in self.more}
        return (*(option for option in own if option.code not in taken), *self.more)


class ChoiceSpec(Spec[Config, Answer]):
    key: ClassVar[str] = "choice"
    version: ClassVar[int] = 1
    problems: ClassVar[frozenset[str]] = frozenset({"not_an_option", "too_few_chosen", "too_many_chosen"})
    examples: ClassVar[Examples] = Examples(
        config={
            "many": True,
            "most": 2,
            "options": [
                {"code": "food", "label": {"en": "Food"}},
                {"code": "dress", "label": {"en": "Dress"}, "definition": {"en": "What people wear."}},
                {"code": "rite", "label": {"en": "Rites"}},
            ],
        },
        valid=[
            ValidExample(["food"], ["food"]),
            ValidExample(["rite", "food"], ["food", "rite"]),
            ValidExample(["food", "food"], ["food"]),
            ValidExample("dress", ["dress"]),
        ],
        invalid=[
            FaultyExample("music", "not_an_option"),
            FaultyExample(["food", "music"], "not_an_option"),
            FaultyExample({"food": True}, "not_an_option", json_only=True),
            FaultyExample([["food"]], "not_an_option", json_only=True),
            FaultyExample(["food", "dress", "rite"], "too_many_chosen"),
        ],
    )

    def config(self, data: Mapping[str, Any], path: str = "config") -> Config:
        reject_unknown_keys(data, ("many", "options", "least", "most", "options_from", "more"), path)
        many = require(data, "many", bool, path) if "many" in data else False
        source_column = require(data, "options_from", str, path) if "options_from" in data else ""
        if source_column and "options" in data:
            raise ConfigError(f"{path}.options_from", "takes the place of options; leave one of the two out")
        options = () if source_column else require_options(data, "options", path, most=MOST)
        if data.get("more") and not source_column:
            raise ConfigError(f"{path}.more", "comes after the options of the item; set options_from")
        more = require_options(data, "more", path, most=MOST, least=1) if data.get("more") else ()
        if many and len("|".join(option.code for option in options)) > MAX_CODE:
            raise ConfigError(f"{path}.options", f"the codes together must fit {MAX_CODE} characters; shorten them")
        limits = {key: require(data, key, int, path) if data.get(key) is not None else 0 for key in ("least", "most")}
        room = len(options) or MOST
        for key, limit in limits.items():
            if limit and not many:
                raise ConfigError(f"{path}.{key}", "is for several options; set many")
            if not 0 <= limit <= room:
                raise ConfigError(f"{path}.{key}", f"must be 0 to {room}, not {limit}")
        if limits["most"] and limits["least"] > limits["most"]:
            raise ConfigError(f"{path}.least", f"must be at most {limits['most']}, not {limits['least']}")
        return Config(many, options, options_from=source_column, more=more, **limits)

    def config_json(self, config: Config) -> dict[str, Any]:
        data: dict[str, Any] = {"many": config.many}
        if config.options_from:
            data["options_from"] = config.options_from
            data |= {"more": [option.to_json() for option in config.more]} if config.more else {}
        else:
            data["options"] = [option.to_json() for option in config.options]
        return data | {key: value for key, value in (("least", config.least), ("most", config.most)) if value}

    def parse(self, raw: Any, config: Config, shown: Shown) -> Answer | None:
        if raw is None or raw == "" or raw == []:
            return None
        options = config.offered_options(shown)
        if not config.many:
            return match_option(raw, options)
        if isinstance(raw, Mapping):
            raise InvalidAnswer("not_an_option", given="{}")
        chosen = {match_option(value, options) for value in (raw if isinstance(raw, (list, tuple)) else [raw])}
        return [option.code for option in options if option.code in chosen]

    def checks(self, answer: Answer, config: Config, shown: Shown) -> list[Check]:
        count = len(answer) if isinstance(answer, list) else 1
        if config.least and count < config.least:
            return [Check(AnswerProblem("too_few_chosen", {"found": count, "least": config.least}), blocks=True)]
        if config.most and count > config.most:
            return [Check(AnswerProblem("too_many_chosen", {"found": count, "most": config.most}), blocks=True)]
        return []

    def level(self, config: Config) -> Level:
        return "nominal"

    def agreement_level(self, config: Config) -> AgreementLevel:
        return "set" if config.many else "nominal"

    def agreement_options(self, config: Config) -> tuple[Option, ...]:
        return config.options if config.many else ()

    def code(self, answer: Answer, config: Config) -> CodedValue:
        """Several options are one nominal value: the set. Two people agree when they chose the same set."""
        code = answer if isinstance(answer, str) else "|".join(answer)
        if len(code) <= MAX_CODE:
            return CodedValue(code)
        mark = hashlib.sha256(code.encode()).hexdigest()[:16]  # long sets of an item's own options stay apart
        return CodedValue(f"{code[: MAX_CODE - 17]}~{mark}")

    def columns(self, config: Config) -> tuple[Column, ...]:
        meaning = 'codes of the options chosen, joined by "|"' if config.many else "code of the option chosen"
        typed: ColumnTyped = "codes" if config.many else typed_code(config.options)
        return (Column("", "string", meaning, typed), Column("_label", "string", "the same in English words"))

    def cells(self, answer: Answer, config: Config) -> dict[str, Any]:
        chosen = [answer] if isinstance(answer, str) else answer
        labels = {option.code: localise(option.label, "en") for option in (*config.options, *config.more)}
        return {"": "|".join(chosen), "_label": "|".join(labels.get(code, code) for code in chosen)}

    def from_cell(self, cell: Any, config: Config) -> Any:
        return cell.split("|") if config.many and isinstance(cell, str) else cell

    def rubric(self, label: str, config: Config, language: str = "en") -> Rubric:
        codes = [option.code for option in config.options]
        single_schema: dict[str, Any] = {"type": "string", **({"enum": codes} if codes else {})}
        many: dict[str, Any] = {"type": "array", "items": single_schema, "uniqueItems": True}
        many |= {"minItems": config.least} if config.least else {}
        many |= {"maxItems": config.most} if config.most else {}
        return Rubric(f"{label}\n{describe_options(config.options, language)}", many if config.many else single_schema)


SPEC = ChoiceSpec()
