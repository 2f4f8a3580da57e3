"""One option, or any number of them, in no order. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from annotation.fields.contract import (
    MAX_CODE,
    Coded,
    Column,
    ConfigError,
    Examples,
    Faulty,
    Level,
    Option,
    Refused,
    Rubric,
    Shown,
    Spec,
    Valid,
    described,
    need,
    need_options,
    pick,
    refuse_others,
    say,
)

Answer: TypeAlias = str | list[str]


@dataclass(frozen=True)
class Config:
    many: bool
    options: tuple[Option, ...]


class ChoiceSpec(Spec[Config, Answer]):
    key: ClassVar[str] = "choice"
    version: ClassVar[int] = 1
    problems: ClassVar[frozenset[str]] = frozenset({"not_an_option"})
    examples: ClassVar[Examples] = Examples(
        config={
            "many": True,
            "options": [
                {"code": "food", "label": {"en": "Food"}},
                {"code": "dress", "label": {"en": "Dress"}, "definition": {"en": "What people wear."}},
                {"code": "rite", "label": {"en": "Rites"}},
            ],
        },
        valid=[
            Valid(["food"], ["food"]),
            Valid(["rite", "food"], ["food", "rite"]),
            Valid(["food", "food"], ["food"]),
            Valid("dress", ["dress"]),
        ],
        invalid=[
            Faulty("music", "not_an_option"),
            Faulty(["food", "music"], "not_an_option"),
            Faulty({"food": True}, "not_an_option", json_only=True),
            Faulty([["food"]], "not_an_option", json_only=True),
        ],
    )

    def config(self, data: Mapping[str, Any], path: str = "config") -> Config:
        refuse_others(data, ("many", "options"), path)
        many = need(data, "many", bool, path) if "many" in data else False
        options = need_options(data, "options", path, most=40)
        if many and len("|".join(option.code for option in options)) > MAX_CODE:
            raise ConfigError(f"{path}.options", f"the codes together must fit {MAX_CODE} characters; shorten them")
        return Config(many, options)

    def config_json(self, config: Config) -> dict[str, Any]:
        return {"many": config.many, "options": [option.to_json() for option in config.options]}

    def parse(self, raw: Any, config: Config, shown: Shown) -> Answer | None:
        if raw is None or raw == "" or raw == []:
            return None
        if not config.many:
            return pick(raw, config.options)
        if isinstance(raw, Mapping):
            raise Refused("not_an_option", given="{}")
        chosen = {pick(one, config.options) for one in (raw if isinstance(raw, (list, tuple)) else [raw])}
        return [option.code for option in config.options if option.code in chosen]

    def level(self, config: Config) -> Level:
        return "nominal"

    def code(self, answer: Answer, config: Config) -> Coded:
        """Several options are one nominal value: the set. Two people agree when they chose the same set."""
        return Coded(answer if isinstance(answer, str) else "|".join(answer))

    def columns(self, config: Config) -> tuple[Column, ...]:
        meaning = 'codes of the options chosen, joined by "|"' if config.many else "code of the option chosen"
        return (Column("", "string", meaning), Column("_label", "string", "the same in English words"))

    def cells(self, answer: Answer, config: Config) -> dict[str, Any]:
        chosen = [answer] if isinstance(answer, str) else answer
        labels = [say(option.label, "en") for option in config.options if option.code in chosen]
        return {"": "|".join(chosen), "_label": "|".join(labels)}

    def rubric(self, label: str, config: Config, language: str = "en") -> Rubric:
        one = {"type": "string", "enum": [option.code for option in config.options]}
        many = {"type": "array", "items": one, "uniqueItems": True}
        return Rubric(f"{label}\n{described(config.options, language)}", many if config.many else one)


SPEC = ChoiceSpec()
