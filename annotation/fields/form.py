"""What a web form is to a field kind: raw values out of posted data, and what its templates need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from annotation.fields.contract import Option, Shown, Text, say


class Posted(Protocol):
    """Django's QueryDict, as far as forms read it."""

    def getlist(self, key: str) -> Sequence[Any]: ...


@dataclass(frozen=True)
class Speech:
    """In which words a sheet speaks: the language of the page, and the culture's name in it."""

    language: str = "en"
    target: str = ""

    def say(self, text: Text) -> str:
        return say(text, self.language, self.target)


@dataclass(frozen=True)
class Choice:
    """An option as a template draws it. `lead` is always in view, `more` on the chosen row."""

    code: str
    key: str
    label: str
    lead: str
    more: str
    chosen: bool


class FieldForm(Protocol):
    @property
    def script(self) -> str:
        """A module under static/js that the sheet page loads for this kind; empty for none."""
        ...

    @property
    def style(self) -> str:
        """A style sheet under static that the sheet page loads for this kind; empty for none."""
        ...

    @property
    def draws_item(self) -> bool:
        """Whether input.html needs the item; if not, its drawing is the same for all items, and kept."""
        ...

    def read(self, posted: Posted, name: str) -> Any:
        """The raw value that `parse` takes."""
        ...

    def fill(self, raw: Any) -> list[str]:
        """The values a browser would post for a raw value; what tests and stored drafts are put through."""
        ...

    def context(self, config: Any, answer: Any, speech: Speech, shown: Shown | None) -> Mapping[str, Any]:
        """What input.html needs beside the field's own words. `shown` is None unless `draws_item`."""
        ...

    def answered(self, config: Any, answer: Any, speech: Speech) -> Mapping[str, Any]:
        """What answer.html and compare.html need."""
        ...


def first(posted: Posted, name: str) -> Any:
    values = posted.getlist(name)
    return values[-1] if values else None


def filled(raw: Any) -> list[str]:
    if raw is None:
        return []
    return [str(one) for one in raw] if isinstance(raw, (list, tuple)) else [str(raw)]


def choices(options: Sequence[Option], chosen: Sequence[str], speech: Speech) -> list[Choice]:
    """Options with their keys: the digits, as long as there are some."""
    rows = []
    for number, option in enumerate(options, start=1):
        lead, more = first_sentence(speech.say(option.definition))
        key = str(number % 10) if number <= 10 else ""
        rows.append(Choice(option.code, key, speech.say(option.label), lead, more, option.code in chosen))
    return rows


SENTENCE_ENDS = (". ", "\u06d4 ", "\u1362 ", "\u0964 ", "\u3002")  # Latin and Arabic, Urdu, Ethiopic, Indic, CJK


def first_sentence(words: str) -> tuple[str, str]:
    cuts = [words.find(end) + len(end.rstrip()) for end in SENTENCE_ENDS if end in words]
    if not cuts:
        return words, ""
    return words[: min(cuts)], words[min(cuts) :].strip()


@dataclass(frozen=True)
class OptionForm:
    """A form over options; shared by the kinds that have some."""

    options: str
    many: str = ""
    script: str = ""
    style: str = ""
    draws_item: bool = False

    def is_many(self, config: Any) -> bool:
        return bool(self.many) and bool(getattr(config, self.many))

    def read(self, posted: Posted, name: str) -> Any:
        values = list(posted.getlist(name))
        return values[0] if len(values) == 1 else values or None

    def fill(self, raw: Any) -> list[str]:
        return filled(raw)

    def context(self, config: Any, answer: Any, speech: Speech, shown: Shown | None) -> Mapping[str, Any]:
        rows = choices(getattr(config, self.options), filled(answer), speech)
        short = len(rows) <= 3 and not any(row.lead for row in rows)
        return {"choices": rows, "many": self.is_many(config), "short": short}

    def answered(self, config: Any, answer: Any, speech: Speech) -> Mapping[str, Any]:
        chosen = filled(answer)
        return {"chosen": [row for row in choices(getattr(config, self.options), chosen, speech) if row.chosen]}
