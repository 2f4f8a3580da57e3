"""How a stage lays its display out: which information of the item is shown, and which is folded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.fields.contract import ConfigError, Shown, Text, need, need_text, refuse_others, say


@dataclass(frozen=True)
class Named:
    """A value of the item's context under its heading."""

    key: str
    label: Text

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "label": dict(self.label)}


@dataclass(frozen=True)
class Layout:
    """`fold`: what lies behind a heading that is opened by hand; opening is recorded with the answer.

    `gate`: the field after which it stands. `show`: what is in view. `references`: whether reference answers are.
    """

    fold: tuple[Named, ...] = ()
    fold_label: Text = field(default_factory=dict)
    gate: str = ""
    show: tuple[Named, ...] = ()
    references: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any], path: str = "layout") -> "Layout":
        """Read a stage's layout; ConfigError says where it is wrong."""
        refuse_others(data, ("fold", "fold_label", "gate", "show", "references"), path)
        rows = {key: need(data, key, list, path) if key in data else [] for key in ("fold", "show")}
        gate = data.get("gate") or ""
        if not isinstance(gate, str):
            raise ConfigError(f"{path}.gate", "must be the key of a field")
        return cls(
            fold=tuple(_named(row, f"{path}.fold[{number}]") for number, row in enumerate(rows["fold"])),
            fold_label=need_text(data, "fold_label", path, optional=True),
            gate=gate,
            show=tuple(_named(row, f"{path}.show[{number}]") for number, row in enumerate(rows["show"])),
            references=need(data, "references", bool, path) if "references" in data else False,
        )

    def to_json(self) -> dict[str, Any]:
        fold = [one.to_json() if one.label else one.key for one in self.fold]
        data: dict[str, Any] = {"fold": fold, "fold_label": dict(self.fold_label), "gate": self.gate or None}
        data |= {"show": [one.to_json() for one in self.show], "references": self.references}
        return {key: value for key, value in data.items() if value}

    @property
    def part(self) -> str:
        """The name under which opening the fold is recorded; empty where nothing is folded."""
        return ",".join(one.key for one in self.fold)


PLAIN = Layout()
MOST_ABOUT = 90  # characters


@dataclass(frozen=True)
class Line:
    label: str
    value: str


@dataclass(frozen=True)
class Said:
    """A layout with an item's own words, as templates draw it."""

    part: str = ""
    fold_label: str = ""
    gate: str = ""
    fold: tuple[Line, ...] = ()
    show: tuple[Line, ...] = ()
    references: tuple[str, ...] = ()


def said(layout: Layout, shown: Shown, language: str) -> Said:
    fold = lines(layout.fold, shown, language)
    references = texts_of(shown.context.get("references")) if layout.references else ()
    return Said(
        part=layout.part if fold else "",
        fold_label=say(layout.fold_label, language, shown.target_name),
        gate=layout.gate,
        fold=fold,
        show=lines(layout.show, shown, language),
        references=references,
    )


def about(layout: Layout, shown: Shown, language: str, *, text: bool) -> str:
    """What a sheet asked about, for a list of answers: what was in view of the item. `text`: its own text was, too."""
    told = [line.value for line in lines(layout.show, shown, language)]
    told = told or [str(shown.context[key]) for key in ("first", "second") if text and shown.context.get(key)]
    found = " · ".join(told or [shown.text] if text else told).strip()
    return found if len(found) <= MOST_ABOUT else found[: MOST_ABOUT - 1].rstrip() + "…"


def lines(named: tuple[Named, ...], shown: Shown, language: str) -> tuple[Line, ...]:
    """Those that the item has words for."""
    rows = [(one, ", ".join(texts_of(shown.context.get(one.key)))) for one in named]
    return tuple(Line(say(one.label, language, shown.target_name), value) for one, value in rows if value)


def texts_of(value: Any) -> tuple[str, ...]:
    """One text or several, as an item's context has them."""
    if isinstance(value, (list, tuple)):
        return tuple(str(one).strip() for one in value if str(one).strip())
    return (str(value).strip(),) if value is not None and str(value).strip() else ()


def _named(row: Any, path: str) -> Named:
    if isinstance(row, str) and row:
        return Named(row, {})
    if not isinstance(row, Mapping):
        raise ConfigError(path, "must be a key of the item's context, or an object with key and label")
    refuse_others(row, ("key", "label"), path)
    return Named(need(row, "key", str, path), need_text(row, "label", path, optional=True))
