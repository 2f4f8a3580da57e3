"""What a field kind is. Pure: no Django, no project code. A kind's `spec.py` imports only this module."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

Level = Literal["nominal", "ordinal", "interval", "ratio", "box", "partition", "text"]
AgreementLevel = Literal["nominal", "ordinal", "interval", "ratio", "set", "box", "partition", "text", "none"]
Text = Mapping[str, str]
MAX_CODE = 120


class ConfigError(ValueError):
    """A sheet is written wrongly: where, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True)
class AnswerProblem:
    """Something is wrong with an answer. `annotation.fields.messages` has the words for each code."""

    code: str
    params: Mapping[str, Any] = field(default_factory=dict)


class InvalidAnswer(ValueError):
    """What came cannot be an answer. The one error type of `parse`."""

    def __init__(self, code: str, **params: Any) -> None:
        super().__init__(code)
        self.problem = AnswerProblem(code, params)


@dataclass(frozen=True)
class Check:
    """A remark on an answer that was understood: it blocks, or the person may confirm it."""

    problem: AnswerProblem
    blocks: bool


@dataclass(frozen=True)
class ShownImage:
    role: str
    image_id: int
    sha: str
    width: int
    height: int
    alt: str = ""
    source: str = ""
    """Of a picture somebody brought: "file" or "url"; empty where nobody knows."""


@dataclass(frozen=True)
class Shown:
    """The frozen view of an item, as a person or a model had it before them.

    `answer_target`: the culture that the answer is about which it is made of (as Item.answer_target).
    `facts`: what detectors and filters found, by key. `uploads`: pictures this person brought for this item.
    """

    item_id: int
    target: str = ""
    target_name: str = ""
    text: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    images: tuple[ShownImage, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    uploads: tuple[ShownImage, ...] = ()
    answer_target: str = ""

    def image(self, role: str) -> ShownImage | None:
        return next((image for image in self.images if image.role == role), None)


@dataclass(frozen=True)
class CodedValue:
    """An answer as measures compare it. `value` is a number where the level is ordered."""

    code: str
    value: float | None = None


ColumnTyped = Literal["", "code", "integer_code", "flag", "codes", "boxes"]
"""`code`: one of few texts. `integer_code`: a code that is a small whole number. `flag`: true or false."""


@dataclass(frozen=True)
class Column:
    """One export column. `suffix` is put behind the field's key. `typed`: what it is in a file with types, where that
    is more than its type in a table of texts."""

    suffix: str
    type: Literal["string", "number", "integer", "json"]
    meaning: str
    typed: ColumnTyped = ""


@dataclass(frozen=True)
class Rubric:
    """The question in words for a model, and the JSON schema of its answer."""

    words: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class ValidExample:
    raw: Any
    answer: Any
    json_only: bool = False


@dataclass(frozen=True)
class FaultyExample:
    """Refused with `code` when it is invalid; understood and remarked upon with `code` when it is borderline."""

    raw: Any
    code: str
    json_only: bool = False


@dataclass(frozen=True)
class Examples:
    """`shown`: what they are answers to, where a kind looks at it; else a bare item."""

    config: Mapping[str, Any]
    valid: Sequence[ValidExample]
    invalid: Sequence[FaultyExample]
    borderline: Sequence[FaultyExample] = ()
    shown: Shown | None = None


ConfigT = TypeVar("ConfigT")
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class FactGate:
    """A number known of the item (`Shown.facts`) that must be reached; not known, it holds nobody up."""

    key: str
    at_least: float
    label: Text

    def current_value(self, shown: Shown | None) -> float | None:
        value = shown.facts.get(self.key) if shown is not None else None
        return None if isinstance(value, bool) or not isinstance(value, (int, float)) else float(value)


class Spec(ABC, Generic[ConfigT, AnswerT]):
    """One way to ask one question. Answers are JSON values, and `parse` gives back what it made itself."""

    key: ClassVar[str]
    version: ClassVar[int]
    problems: ClassVar[frozenset[str]]
    examples: ClassVar[Examples]
    takes_uploads: ClassVar[bool] = False
    """Whether a person brings pictures for it; `parse` then finds them in `shown.uploads`."""

    @abstractmethod
    def config(self, data: Mapping[str, Any], path: str = "config") -> ConfigT:
        """Read a configuration; ConfigError says where it is wrong."""

    @abstractmethod
    def config_json(self, config: ConfigT) -> dict[str, Any]: ...

    @abstractmethod
    def parse(self, raw: Any, config: ConfigT, shown: Shown) -> AnswerT | None:
        """The answer; None when nothing was answered. Raises InvalidAnswer for what cannot be one."""

    def checks(self, answer: AnswerT, config: ConfigT, shown: Shown) -> list[Check]:
        return []

    def gates(self, config: ConfigT) -> "tuple[FactGate, ...]":
        """Numbers known of the item that must be reached before anything is answered."""
        return ()

    @abstractmethod
    def level(self, config: ConfigT) -> Level: ...

    def agreement_level(self, config: ConfigT) -> AgreementLevel:
        """How answers of several people are compared, where that is not by their codes; "none": not at all."""
        return self.level(config)

    def agreement_options(self, config: ConfigT) -> "tuple[Option, ...]":
        """At the level "set": the options that each person chose or not, where they are the same for every item."""
        return ()

    def part_labels(self, config: ConfigT) -> "tuple[Option, ...]":
        """The labels that each part of an answer, such as a box, may have, in the order of the sheet."""
        return ()

    def needs_part_label(self, config: ConfigT) -> bool:
        """Whether each part of an answer must have one of them."""
        return False

    @abstractmethod
    def code(self, answer: AnswerT, config: ConfigT) -> CodedValue | None:
        """The comparable value, or None when answers of this kind are not compared by equality."""

    def values(self, answer: AnswerT, config: ConfigT) -> dict[str, float | str]:
        """What expressions of a sheet may name, by suffix: a number where the level is ordered, else the code."""
        coded = self.code(answer, config)
        return {} if coded is None else {"": coded.code if coded.value is None else coded.value}

    @abstractmethod
    def columns(self, config: ConfigT) -> tuple[Column, ...]: ...

    @abstractmethod
    def cells(self, answer: AnswerT, config: ConfigT) -> dict[str, Any]:
        """Suffix to value, for the columns above."""

    def from_cell(self, cell: Any, config: ConfigT) -> Any:
        """The raw value that the first of `columns` stands for in a table."""
        return cell

    def sample(self, config: ConfigT) -> AnswerT | None:
        """An answer as an example of how a file writes it; None where its codes are listed, or it is plain words."""
        return None

    def uploads(self, answer: AnswerT) -> tuple[str, ...]:
        """The sha256 of each brought picture that the answer names."""
        return ()

    def with_upload(self, raw: Any, sha: str, kind: str) -> Any:
        """A raw value with a picture that has just been brought, as `file` or by `url`; the rest of it stays."""
        return raw

    @abstractmethod
    def rubric(self, label: str, config: ConfigT, language: str = "en") -> Rubric: ...


def localise(text: Text, language: str, target: str = "") -> str:
    """A text in a language; else its base language, else English, else any. `{target}` becomes the culture's name."""
    base = language.split("-")[0]
    translation = text.get(language) or text.get(base) or text.get("en") or next((t for t in text.values() if t), "")
    return translation.replace("{target}", target) if target else translation


def require(data: Mapping[str, Any], key: str, kind: type, path: str) -> Any:
    """A required value of a type; bool never passes for int."""
    if key not in data:
        raise ConfigError(f"{path}.{key}", "is missing")
    value = data[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ConfigError(f"{path}.{key}", f"must be {kind.__name__}, not {type(value).__name__}")
    return value


def require_text(data: Mapping[str, Any], key: str, path: str, *, optional: bool = False) -> Text:
    """A text in languages; "en" is always there, unless the whole text may be left out."""
    value = data.get(key) or {}
    if optional and value == {}:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(k, str) and isinstance(v, str) for k, v in value.items()):
        raise ConfigError(f"{path}.{key}", "must give a text for each language")
    if not str(value.get("en", "")).strip():
        raise ConfigError(f"{path}.{key}", 'needs a text in English ("en")')
    return dict(value)


def reject_unknown_keys(data: Mapping[str, Any], known: Sequence[str], path: str) -> None:
    """A misspelt setting would otherwise be silently without effect."""
    for key in data:
        if key not in known:
            raise ConfigError(f"{path}.{key}", f"is not a setting here; there are {', '.join(known)}")


@dataclass(frozen=True)
class Option:
    """Code (stored), label (said) and key (pressed: its position) are three things."""

    code: str
    label: Text
    definition: Text = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"code": self.code, "label": dict(self.label)}
        return {**data, "definition": dict(self.definition)} if self.definition else data


def require_options(data: Mapping[str, Any], key: str, path: str, *, most: int, least: int = 2) -> tuple[Option, ...]:
    """Two or more options, each with its own code."""
    rows = require(data, key, list, path)
    if not least <= len(rows) <= most:
        raise ConfigError(f"{path}.{key}", f"needs {least} to {most} entries, has {len(rows)}")
    options: list[Option] = []
    for number, row in enumerate(rows):
        where = f"{path}.{key}[{number}]"
        if not isinstance(row, Mapping):
            raise ConfigError(where, "must be an object with code and label")
        reject_unknown_keys(row, ("code", "label", "definition"), where)
        code = require(row, "code", str, where)
        if not code or code != code.strip() or len(code) > 40 or "|" in code:
            raise ConfigError(f"{where}.code", 'must be 1 to 40 characters, without "|" or outer spaces')
        if any(option.code == code for option in options):
            raise ConfigError(f"{where}.code", f"{code!r} is there twice")
        definition = require_text(row, "definition", where, optional=True)
        options.append(Option(code, require_text(row, "label", where), definition))
    return tuple(options)


def match_option(raw: Any, options: Sequence[Option]) -> str:
    """One option's code out of what came. A whole number stands for the code written with its digits."""
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    if isinstance(raw, bool) or not isinstance(raw, (str, int)) or (isinstance(raw, int) and abs(raw) > 10**18):
        raise InvalidAnswer("not_an_option", given=type(raw).__name__)
    code = str(raw).strip()
    if all(option.code != code for option in options):
        raise InvalidAnswer("not_an_option", given=code[:60])
    return code


def typed_code(options: Sequence[Option]) -> ColumnTyped:
    """What a single code is in a file with types. 01 is no number, since it would lose its zero."""
    codes = {option.code for option in options}
    if codes == {"true", "false"}:
        return "flag"
    numbers = bool(codes) and all(re.fullmatch(r"-?[1-9]\d{0,3}|0", code) for code in codes)
    return "integer_code" if numbers else "code"


def describe_options(options: Sequence[Option], language: str) -> str:
    """The options as lines of a prompt."""
    lines = []
    for option in options:
        definition = localise(option.definition, language)
        lines.append(f"{option.code}: {localise(option.label, language)}" + (f". {definition}" if definition else ""))
    return "\n".join(lines)
