"""Rows outlive code: a field whose kind is gone still lists, and exports as it was stored."""

from collections.abc import Mapping
from typing import Any, ClassVar

from annotation.fields.contract import CodedValue, Column, Examples, InvalidAnswer, Level, Rubric, Shown, Spec
from annotation.fields.form import Localiser, PostData, form_values, posted_value


class UnknownSpec(Spec[Mapping[str, Any], Any]):
    key: ClassVar[str] = "unknown"
    version: ClassVar[int] = 0
    problems: ClassVar[frozenset[str]] = frozenset({"unknown_kind"})
    examples: ClassVar[Examples] = Examples(config={}, valid=[], invalid=[])

    def config(self, data: Mapping[str, Any], path: str = "config") -> Mapping[str, Any]:
        return dict(data)

    def config_json(self, config: Mapping[str, Any]) -> dict[str, Any]:
        return dict(config)

    def parse(self, raw: Any, config: Mapping[str, Any], shown: Shown) -> Any:
        raise InvalidAnswer("unknown_kind")

    def level(self, config: Mapping[str, Any]) -> Level:
        return "nominal"

    def code(self, answer: Any, config: Mapping[str, Any]) -> CodedValue | None:
        return None

    def columns(self, config: Mapping[str, Any]) -> tuple[Column, ...]:
        return (Column("", "json", "the answer as it was stored; this version does not know its kind"),)

    def cells(self, answer: Any, config: Mapping[str, Any]) -> dict[str, Any]:
        return {"": answer}

    def rubric(self, label: str, config: Mapping[str, Any], language: str = "en") -> Rubric:
        return Rubric(label, {})


class UnknownForm:
    script = ""
    style = ""
    draws_item = False

    def read(self, posted: PostData, name: str) -> Any:
        return posted_value(posted, name)

    def fill(self, raw: Any) -> list[str]:
        return form_values(raw)

    def context(self, config: Any, answer: Any, speech: Localiser, shown: Shown | None) -> Mapping[str, Any]:
        return {"stored": answer}

    def answered(self, config: Any, answer: Any, speech: Localiser) -> Mapping[str, Any]:
        return {"stored": answer}


SPEC = UnknownSpec()
FORM = UnknownForm()
