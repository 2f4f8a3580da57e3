"""What a web form is to a field kind: raw values out of posted data, and what its templates need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from annotation.fields.contract import Option, Shown, Text, localise


class PostData(Protocol):
    """Django's QueryDict, as far as forms read it."""

    def getlist(self, key: str) -> Sequence[Any]: ...


@dataclass(frozen=True)
class Localiser:
    """In which words a sheet speaks: the language of the page, and the culture's name in it."""

    language: str = "en"
    target: str = ""

    def say(self, text: Text) -> str:
        return localise(text, self.language, self.target)


@dataclass(frozen=True)
class OptionView:
    """An option of a template. `summary` is always in view, `details` on the chosen row. `value`: as a number."""

    code: str
    key: str
    label: str
    summary: str
    details: str
    chosen: bool
    value: str = ""


class FieldForm(Protocol):
    @property
    def script(self) -> str:
        """A module under static/js that the sheet page loads for this kind; empty for none.

        `style`, which may be left out, names its css file in the same way."""
        ...

    @property
    def style(self) -> str:
        """A style sheet under static that the sheet page loads for this kind; empty for none."""
        ...

    @property
    def draws_item(self) -> bool:
        """Whether input.html needs the item; if not, its drawing is the same for all items, and kept.

        A kind of which only some need it says so on its config: `draws_item` there."""
        ...

    def read(self, posted: PostData, name: str) -> Any:
        """The raw value that `parse` takes."""
        ...

    def fill(self, raw: Any) -> list[str]:
        """The values a browser would post for a raw value; what tests and stored drafts are put through."""
        ...

    def context(self, config: Any, answer: Any, speech: Localiser, shown: Shown | None) -> Mapping[str, Any]:
        """What input.html needs beside the field's own words. `shown` is None unless `draws_item`."""
        ...

    def answered(self, config: Any, answer: Any, speech: Localiser) -> Mapping[str, Any]:
        """What answer.html and compare.html need."""
        ...


def posted_value(posted: PostData, name: str) -> Any:
    values = posted.getlist(name)
    return values[-1] if values else None


def form_values(raw: Any) -> list[str]:
    if raw is None:
        return []
    return [str(value) for value in raw] if isinstance(raw, (list, tuple)) else [str(raw)]


def option_views(
    options: Sequence[Option],
    chosen: Sequence[str],
    speech: Localiser,
    values: Mapping[str, float | None] | None = None,
) -> list[OptionView]:
    """Options with their keys: their codes, where these are digits; else the digits, as long as there are some."""
    digits = all(len(option.code) == 1 and option.code in "0123456789" for option in options)
    rows = []
    for number, option in enumerate(options, start=1):
        lead, more = first_sentence(speech.say(option.definition))
        key = option.code if digits else str(number % 10) if number <= 10 else ""
        value = (values or {}).get(option.code)
        score_text = "" if value is None else f"{value:g}"
        rows.append(
            OptionView(option.code, key, speech.say(option.label), lead, more, option.code in chosen, score_text)
        )
    return rows


SHORT = 110  # characters of a definition that still fits beside two others on a telephone
SENTENCE_ENDS = (". ", "\u06d4 ", "\u1362 ", "\u0964 ", "\u3002")  # Latin and Arabic, Urdu, Ethiopic, Indic, CJK


def first_sentence(words: str) -> tuple[str, str]:
    cuts = [words.find(end) + len(end.rstrip()) for end in SENTENCE_ENDS if end in words]
    if not cuts:
        return words, ""
    return words[: min(cuts)], words[min(cuts) :].strip()


PHONE_ROWS = 6  # rows of 44 pixels that leave room for the item on 640 pixels


class OptionForm:
    """A form over options; shared by the kinds that have some."""

    script = ""
    style = ""
    draws_item = False

    def rows(self, config: Any, shown: Shown | None) -> Sequence[Option]:
        """The options; `shown` is None when they are not those of an item."""
        raise NotImplementedError

    def value(self, config: Any, code: str) -> float | None:
        """A code as a number, where the options are ordered."""
        return None

    def is_many(self, config: Any) -> bool:
        return False

    def fits_phone(self, config: Any, shown: Shown) -> bool:
        """Whether all options are in view on a phone, one under the other below the item."""
        return 0 < len(self.rows(config, shown)) <= PHONE_ROWS

    def read(self, posted: PostData, name: str) -> Any:
        values = list(posted.getlist(name))
        return values[0] if len(values) == 1 else values or None

    def fill(self, raw: Any) -> list[str]:
        return form_values(raw)

    def context(self, config: Any, answer: Any, speech: Localiser, shown: Shown | None) -> Mapping[str, Any]:
        options = self.rows(config, shown)
        values = {option.code: self.value(config, option.code) for option in options}
        rows = option_views(options, form_values(answer), speech, values)
        short = len(rows) <= 3 and all(len(row.summary + row.details) <= SHORT for row in rows)
        return {"choices": rows, "many": self.is_many(config), "short": short}

    def answered(self, config: Any, answer: Any, speech: Localiser) -> Mapping[str, Any]:
        chosen = form_values(answer)
        return {"chosen": [row for row in option_views(self.rows(config, None), chosen, speech) if row.chosen]}
