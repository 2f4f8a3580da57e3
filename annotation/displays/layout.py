"""How a stage lays its display out: which information of the item is shown, and which is folded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.fields.contract import ConfigError, Shown, Text, localise, reject_unknown_keys, require, require_text
from benchmarks.recipes.registry import translate_name
from benchmarks.rules.derivations.context_values import context_value


@dataclass(frozen=True)
class LabelledKey:
    """A value of the item's context under its heading."""

    key: str
    label: Text

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "label": dict(self.label)}


@dataclass(frozen=True)
class Layout:
    """`fold`: what lies behind a heading that is opened by hand; opening is recorded with the answer.

    `gate`: the field after which it stands. `show`: what is in view. `references`: whether reference answers are.
    `culture`: whether the sheet names the culture that its answer is about (annotation.displays.answer_culture).
    """

    fold: tuple[LabelledKey, ...] = ()
    fold_label: Text = field(default_factory=dict)
    gate: str = ""
    show: tuple[LabelledKey, ...] = ()
    references: bool = False
    culture: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any], path: str = "layout") -> "Layout":
        """Read a stage's layout; ConfigError says where it is wrong."""
        reject_unknown_keys(data, ("fold", "fold_label", "gate", "show", "references", "culture"), path)
        rows = {key: require(data, key, list, path) if key in data else [] for key in ("fold", "show")}
        gate = data.get("gate") or ""
        if not isinstance(gate, str):
            raise ConfigError(f"{path}.gate", "must be the key of a field")
        return cls(
            fold=tuple(_parse_labelled_key(row, f"{path}.fold[{number}]") for number, row in enumerate(rows["fold"])),
            fold_label=require_text(data, "fold_label", path, optional=True),
            gate=gate,
            show=tuple(_parse_labelled_key(row, f"{path}.show[{number}]") for number, row in enumerate(rows["show"])),
            references=require(data, "references", bool, path) if "references" in data else False,
            culture=require(data, "culture", bool, path) if "culture" in data else False,
        )

    def to_json(self) -> dict[str, Any]:
        fold = [labelled_key.to_json() if labelled_key.label else labelled_key.key for labelled_key in self.fold]
        data: dict[str, Any] = {"fold": fold, "fold_label": dict(self.fold_label), "gate": self.gate or None}
        data |= {"show": [labelled_key.to_json() for labelled_key in self.show], "references": self.references}
        data |= {"culture": self.culture}
        return {key: value for key, value in data.items() if value}

    @property
    def part(self) -> str:
        """The name under which opening the fold is recorded; empty where nothing is folded."""
        return ",".join(labelled_key.key for labelled_key in self.fold)


PLAIN = Layout()
NAMES = frozenset({"concept", "facet"})  # values from a recipe's list, which are translated with its texts
LISTS = frozenset({"gold"})  # values whose parts have a bar between them
MOST_ABOUT = 90  # characters
LONG = 80  # characters, from which a text has the whole width


@dataclass(frozen=True)
class LabelledText:
    label: str
    value: str

    @property
    def is_long(self) -> bool:
        return len(self.value) > LONG


@dataclass(frozen=True)
class AnswerCulture:
    """The culture that an answer is about. `sentence` has the place {culture}."""

    sentence: str
    culture: str

    def __str__(self) -> str:
        return self.sentence.format(culture=self.culture)

    @property
    def html(self) -> SafeString:
        return format_html(self.sentence, culture=format_html("<bdi>{}</bdi>", self.culture))


@dataclass(frozen=True)
class ResolvedLayout:
    """A layout with an item's own words, as templates draw it."""

    part: str = ""
    fold_label: str = ""
    gate: str = ""
    fold: tuple[LabelledText, ...] = ()
    show: tuple[LabelledText, ...] = ()
    references: tuple[str, ...] = ()
    cultures: tuple[AnswerCulture, ...] = ()


def resolve_layout(layout: Layout, shown: Shown, language: str) -> ResolvedLayout:
    fold = labelled_texts(layout.fold, shown, language)
    references = texts_of(shown.context.get("references")) if layout.references else ()
    return ResolvedLayout(
        part=layout.part if fold else "",
        fold_label=localise(layout.fold_label, language, shown.target_name),
        gate=layout.gate,
        fold=fold,
        show=labelled_texts(layout.show, shown, language),
        references=references,
    )


def visible_context(layout: Layout, shown: Shown, language: str, *, text: bool) -> str:
    """What a sheet asked about, for a list of answers: what was in view of the item. `text`: its own text was, too."""
    shown_texts = [line.value for line in labelled_texts(layout.show, shown, language)]
    shown_texts = shown_texts or [
        str(shown.context[key]) for key in ("first", "second") if text and shown.context.get(key)
    ]
    text_line = " · ".join(shown_texts or [shown.text] if text else shown_texts).strip()
    return text_line if len(text_line) <= MOST_ABOUT else text_line[: MOST_ABOUT - 1].rstrip() + "…"


def labelled_texts(named: tuple[LabelledKey, ...], shown: Shown, language: str) -> tuple[LabelledText, ...]:
    """Those that the item has words for."""
    rows = [(labelled_key, ", ".join(_values(labelled_key.key, shown, language))) for labelled_key in named]
    return tuple(
        LabelledText(localise(labelled_key.label, language, shown.target_name), value)
        for labelled_key, value in rows
        if value
    )


def _values(key: str, shown: Shown, language: str) -> Sequence[str]:
    values = texts_of(context_value(shown.context, key))
    if key in LISTS:
        values = texts_of([part for value in values for part in value.split("|")])
    return [translate_name(value, language) for value in values] if key in NAMES else values


def texts_of(value: Any) -> tuple[str, ...]:
    """One text or several, as an item's context has them."""
    if isinstance(value, (list, tuple)):
        return tuple(str(item).strip() for item in value if str(item).strip())
    return (str(value).strip(),) if value is not None and str(value).strip() else ()


def _parse_labelled_key(row: Any, path: str) -> LabelledKey:
    if isinstance(row, str) and row:
        return LabelledKey(row, {})
    if not isinstance(row, Mapping):
        raise ConfigError(path, "must be a key of the item's context, or an object with key and label")
    reject_unknown_keys(row, ("key", "label"), path)
    return LabelledKey(require(row, "key", str, path), require_text(row, "label", path, optional=True))
