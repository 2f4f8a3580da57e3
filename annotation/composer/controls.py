"""Settings and a JSON value become what templates/annotation/composer/control.html draws."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.composer.form_parser import MAP, UNREAD, object_to_rows
from annotation.composer.paths import child_path
from annotation.composer.stale_translations import stale_languages
from annotation.fields.settings import Setting

TYPES = {
    "line": "s", "optional": "w", "long": "t", "words": "w", "long_words": "w", "lines": "l", "int": "i",
    "number": "i", "bool": "b", "select": "s", "many": "m", "json": "j", "hidden": "j",
}  # fmt: skip


@dataclass(frozen=True)
class Languages:
    """Those a text may be written in, by code: their own names. `second_language`: shown next to English, or none."""

    names: Mapping[str, str]
    second_language: str = ""
    before: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Texts as they are in force, by place."""


@dataclass(frozen=True)
class TextInput:
    """A text in one language, as an input."""

    name: str
    language: str
    called: str
    value: str


@dataclass(frozen=True)
class Row:
    path: str
    number: int
    controls: "list[Control]"
    last: bool

    @property
    def first(self) -> bool:
        return self.number == 1


@dataclass(frozen=True)
class Control:
    """One setting with its value. `id` is what an error links to."""

    setting: Setting
    input: str
    path: str
    name: str
    value: Any = ""
    chosen: Sequence[str] = ()
    choices: Sequence[tuple[str, Any]] = ()
    texts: Sequence[TextInput] = ()
    others: str = ""
    missing: str = ""
    previous_value: str = ""
    older: str = ""
    """Languages that would be older than the English, if it is not `previous_value`."""
    rows: Sequence[Row] = field(default_factory=list)
    controls: "Sequence[Control]" = ()
    chosen_inside: int = 0
    """Of a fold: how many of its settings are not as they begin."""

    @property
    def id(self) -> str:
        return f"at-{self.path}"

    @property
    def short(self) -> bool:
        return self.setting.short


def build_controls(settings: Sequence[Setting], value: Any, path: str, languages: Languages) -> list[Control]:
    """A control for each setting, and one more with whatever none of them names."""
    known = value if isinstance(value, Mapping) else {}
    drawn = [
        _fold(setting, known, path, languages)
        if setting.input == "fold"
        else build_control(
            setting, known.get(setting.key) if setting.key else value, child_path(path, setting.key), languages
        )
        for setting in settings
    ]
    names = {inner.key for setting in settings for inner in _unfolded(setting)}
    rest = {key: rest_value for key, rest_value in known.items() if key not in names}
    if rest and "" not in names:
        drawn.append(json_control(rest, path))
    return drawn


def _unfolded(setting: Setting) -> Sequence[Setting]:
    return setting.row if setting.input == "fold" else (setting,)


def _fold(setting: Setting, known: Mapping[str, Any], path: str, languages: Languages) -> Control:
    inner = {one.key: known[one.key] for one in setting.row if one.key in known}
    chosen = [one for one in setting.row if inner.get(one.key) not in (None, "", [], {}, one.start)]
    return Control(
        setting, "fold", path, "", controls=build_controls(setting.row, inner, path, languages),
        chosen_inside=len(chosen),
    )  # fmt: skip


def json_control(rest: Mapping[str, Any], path: str) -> Control:
    from django.utils.translation import gettext as _

    return build_control(Setting("", "json", _("Other settings, as JSON")), dict(rest), path, Languages({}))


def build_control(setting: Setting, value: Any, path: str, languages: Languages) -> Control:
    if setting.input in ("words", "long_words"):
        return text_inputs(setting, value, path, languages)
    if setting.input in ("rows", "map"):
        return row_controls(setting, value, path, languages)
    if setting.input == "object":
        return Control(setting, "object", path, "", controls=build_controls(setting.row, value, path, languages))
    if setting.input == "kept":
        return Control(setting, "hidden", path, f"w:{path}", value=str(value or ""))
    name = f"{TYPES[setting.input]}:{path}"
    if setting.input == "bool":
        return Control(setting, "bool", path, name, value=bool(setting.start if value is None else value))
    if setting.input == "json":
        return Control(setting, "json", path, name, value=as_json(value))
    if setting.input == "lines":
        return Control(setting, "lines", path, name, value="\n".join(map(str, value or ())))
    if setting.input in ("select", "many"):
        values = value if isinstance(value, list) else [] if value is None else [value]
        chosen = [str(code) for code in values] or ([str(setting.start)] if setting.start is not None else [])
        unknown = [(code, code) for code in chosen if code not in {key for key, _label in setting.choices}]
        return Control(setting, setting.input, path, name, chosen=chosen, choices=[*setting.choices, *unknown])
    shown = setting.start if value is None and not setting.optional else value
    return Control(setting, setting.input, path, name, value="" if shown is None else str(shown))


def hidden_control(path: str, value: Any) -> Control:
    """What is not asked now is kept as it is."""
    return Control(Setting("", "json", ""), "hidden", path, f"j:{path}", value=as_json(value))


def as_json(value: Any) -> str:
    if isinstance(value, Mapping) and UNREAD in value:
        return str(value[UNREAD])
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)


def text_inputs(setting: Setting, value: Any, path: str, languages: Languages) -> Control:
    """English, the language beside it, and the others kept unseen."""
    known = value if isinstance(value, Mapping) else {}
    shown = [code for code in dict.fromkeys(("en", languages.second_language)) if code]
    texts = [
        TextInput(f"w:{path}.{code}", code, languages.names.get(code, code), str(known.get(code, ""))) for code in shown
    ]
    hidden_texts = {code: text for code, text in known.items() if code not in shown}
    missing = [name for code, name in languages.names.items() if not str(known.get(code, "")).strip() and code != "en"]
    before = languages.before.get(path, {})
    older = [languages.names.get(code, code) for code in stale_languages(known, before)]
    some = any(str(text).strip() for text in known.values())
    return Control(
        setting,
        setting.input,
        path,
        texts[0].name,
        texts=texts,
        others=as_json(hidden_texts) if hidden_texts else "",
        missing=", ".join(missing) if some else "",
        previous_value=str(before.get("en", "")),
        older=", ".join(older),
    )


def row_controls(setting: Setting, value: Any, path: str, languages: Languages) -> Control:
    if setting.input == "map":
        value, path = object_to_rows(value), path + MAP
    entries = value if isinstance(value, list) else []
    drawn = [
        Row(
            f"{path}[{at}]",
            at + 1,
            build_controls(setting.row, each, f"{path}[{at}]", languages),
            at + 1 == len(entries),
        )
        for at, each in enumerate(entries)
    ]
    return Control(setting, "rows", path, f"e:{path}", value="[]", rows=drawn)
