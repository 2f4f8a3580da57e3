"""The page on which speakers read, correct and confirm the translations of a language."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from jobs.formats.numbers import parse_int
from people.locales.languages import native_name
from people.locales.source_texts import SourceText
from people.locales.translation_rules import PLACEHOLDER, TAG
from people.models import TextVersion
from people.pages.text_places import place_of, rank_of
from people.queries.interface_texts import LanguageTexts, TextState

PAGE_SIZE = 20
MOST_PAGES = 10_000
LONGEST_SEARCH = 200
FILTERS = ("open", "suggested", "confirmed", "all")
NUMBER = re.compile(
    r"%\((?:n|count|counter|number|all|asked|done|left|days|minutes|limit|limit_value|percent)\)[sd]|%d"
)


@dataclass(frozen=True)
class TextSelection:
    """What of a language is shown: a filter, words that are searched, and the page."""

    show: str = "open"
    search: str = ""
    page: int = 1

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> "TextSelection":
        show = query.get("show", "")
        return cls(
            show if show in FILTERS else "open",
            query.get("q", "")[:LONGEST_SEARCH].strip().replace("\x00", ""),
            parse_int(query.get("page"), default=1, minimum=1, maximum=MOST_PAGES),
        )

    def query(self, **changes: object) -> str:
        values: dict[str, object] = {"show": self.show, "q": self.search, "page": self.page} | changes
        return urlencode({name: value for name, value in values.items() if value})

    def select(self, texts: LanguageTexts) -> list[TextState]:
        """Texts of one place stand together, those of sheets first."""
        return [
            state
            for state in sorted(texts.states.values(), key=lambda state: rank_of(state.text.files))
            if (self.show == "all" or state.state == self.show or (self.show == "open" and state.state == "suggested"))
            and (not self.search or state.contains(self.search))
        ]


@dataclass(frozen=True)
class FormField:
    """One form of a translation: `numbers` are those that take this plural form."""

    name: str
    numbers: str
    value: str
    draft: str
    fault: str
    rows: int


@dataclass(frozen=True)
class TextRow:
    """A text in its place, with its English words and its translation."""

    key: str
    text: SourceText
    place: str
    place_url: str
    state: str
    fields: list[FormField]
    signs: list[tuple[str, str]]
    latest: TextVersion | None
    seen: int
    has_draft: bool
    is_next: bool


@dataclass(frozen=True)
class SpeakerPage:
    """The texts of a language that are shown, and how far the language is."""

    code: str
    name: str
    direction: str
    texts: LanguageTexts
    selection: TextSelection
    rows: list[TextRow]
    page: Page[TextState]
    filters: list[tuple[str, str, int, bool]]

    @property
    def query(self) -> str:
        return self.selection.query(page=self.page.number)

    @property
    def previous_query(self) -> str:
        return self.selection.query(page=self.page.number - 1) if self.page.has_previous() else ""

    @property
    def next_query(self) -> str:
        return self.selection.query(page=self.page.number + 1) if self.page.has_next() else ""


def speaker_page(code: str, selection: TextSelection, next_key: str = "") -> SpeakerPage:
    texts = LanguageTexts(code)
    page = Paginator(selection.select(texts), PAGE_SIZE).get_page(selection.page)
    rows = [text_row(texts, state, is_next=state.text.key == next_key) for state in page]
    return _page(texts, selection, rows, page)


def single_text_page(
    code: str, key: str, selection: TextSelection, forms: Sequence[str], faults: Sequence[str]
) -> SpeakerPage:
    """The one text that could not be saved, with what was typed and what is wrong with it."""
    texts = LanguageTexts(code)
    state = texts.states[key]
    row = text_row(texts, state, forms=forms, faults=faults, is_next=True)
    return _page(texts, selection, [row], Paginator([state], PAGE_SIZE).get_page(1))


def _page(texts: LanguageTexts, selection: TextSelection, rows: list[TextRow], page: Page[TextState]) -> SpeakerPage:
    code, n_open = texts.code, texts.n_all - texts.n_confirmed
    counts = {"open": n_open, "suggested": texts.n_suggested, "confirmed": texts.n_confirmed, "all": texts.n_all}
    names = {
        "open": _("Not confirmed"), "suggested": _("Suggested"), "confirmed": _("Confirmed"), "all": _("All"),
    }  # fmt: skip
    filters = [
        (selection.query(show=name, page=0), names[name], counts[name], name == selection.show) for name in FILTERS
    ]
    direction = "rtl" if get_language_info(code)["bidi"] else "ltr"
    return SpeakerPage(code, native_name(code), direction, texts, selection, rows, page, filters)


def text_row(
    texts: LanguageTexts, state: TextState, *, forms: Sequence[str] = (), faults: Sequence[str] = (),
    is_next: bool = False,
) -> TextRow:  # fmt: skip
    text, n_forms = state.text.text, texts.n_forms(state.text.text)
    place, url = place_of(state.text.files)
    fields = [
        FormField(
            name=f"form_{number}",
            numbers=_numbers(texts, number) if n_forms > 1 else "",
            value=_at(forms or state.forms, number),
            draft=_at(state.draft, number),
            fault=_at(faults, number),
            rows=min(6, 1 + max(len(text.source), len(_at(state.forms, number))) // 60 + text.source.count("\n")),
        )
        for number in range(n_forms)
    ]
    seen = state.latest.pk if state.latest else 0
    return TextRow(
        state.text.key, text, place, url, state.state, fields, signs_of(text), state.latest, seen, bool(state.draft),
        is_next,
    )  # fmt: skip


def _at(values: Sequence[str], number: int) -> str:
    return values[number] if number < len(values) else ""


def _numbers(texts: LanguageTexts, form: int) -> str:
    numbers = texts.catalogue.numbers_of(form)
    return ", ".join(map(str, numbers)) + ("" if len(numbers) < 4 else " …")


def signs_of(text: SourceText) -> list[tuple[str, str]]:
    """The placeholders and tags of a text, each with what it stands for."""
    both = f"{text.source}\n{text.plural}"
    signs = dict.fromkeys(PLACEHOLDER.findall(both))
    rows = [(sign, _meaning(sign)) for sign in signs]
    if "%%" in both:
        rows.append(("%%", _("The percent sign. Write it twice.")))
    tags = dict.fromkeys(match[0] for match in TAG.finditer(both))
    return rows + [(tag, _("A tag. Keep it around the same words.")) for tag in tags]


def _meaning(sign: str) -> str:
    if NUMBER.fullmatch(sign):
        return _("A number is put here.")
    if sign.isupper():
        return _("The page puts a value here, or it is a name. Keep the capitals.")
    return _("The page puts a name, a word or a number here.")
