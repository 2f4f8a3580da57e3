"""The texts that annotators read, and what speakers have made of their translations."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from django.conf import settings

from people.locales.audiences import annotator_files
from people.locales.drafts import DraftCatalogue
from people.locales.source_texts import SourceText, texts_of
from people.models import TextVersion

State = Literal["open", "suggested", "confirmed"]


@dataclass(frozen=True)
class InterfaceText:
    """A text of the code that annotators read, with the files that have it."""

    key: str
    text: SourceText
    files: tuple[str, ...]


def text_key(text: SourceText) -> str:
    """The digest by which a text is known. It changes with the English words."""
    parts = "\x04".join((text.context, text.source, text.plural))
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


@cache
def annotator_texts() -> Mapping[str, InterfaceText]:
    """Each text by its key, in the order of the files. Read from the code once in a process, in about a second."""
    files: dict[SourceText, list[str]] = {}
    for name in dict.fromkeys(annotator_files(settings.BASE_DIR)):
        for text in sorted(texts_of(settings.BASE_DIR / name), key=lambda text: (text.source, text.context)):
            files.setdefault(text, []).append(name)
    texts = (InterfaceText(text_key(text), text, tuple(names)) for text, names in files.items())
    return {text.key: text for text in texts}


def latest_versions(code: str) -> dict[str, TextVersion]:
    """The newest version of each text of a language that was not undone, by key."""
    versions = TextVersion.objects.filter(language__code=code, undone_at=None).select_related("author")
    return {version.key: version for version in versions.order_by("key", "-pk").distinct("key")}


@dataclass(frozen=True)
class TextState:
    """A text in one language.

    Attributes:
        draft: the translation of the catalogue, one text for each plural form; empty if there is none.
        latest: what a speaker made of it last, or None.
    """

    text: InterfaceText
    draft: tuple[str, ...]
    latest: TextVersion | None

    @property
    def state(self) -> State:
        if self.latest is None:
            return "open"
        return "confirmed" if self.latest.is_confirmed else "suggested"

    @property
    def forms(self) -> tuple[str, ...]:
        return tuple(self.latest.forms) if self.latest else self.draft

    def contains(self, words: str) -> bool:
        """Whether the words are in the English text or in its translation."""
        texts = (self.text.text.source, self.text.text.plural, *self.forms, *self.draft)
        return any(words.casefold() in text.casefold() for text in texts)


class LanguageTexts:
    """All texts for annotators in one language."""

    def __init__(self, code: str) -> None:
        self.code, self.catalogue = code, DraftCatalogue(code)

    @cached_property
    def states(self) -> dict[str, TextState]:
        latest = latest_versions(self.code)
        return {key: self._state(text, latest.get(key)) for key, text in annotator_texts().items()}

    def _state(self, text: InterfaceText, latest: TextVersion | None) -> TextState:
        if latest is not None and len(latest.forms) != self.n_forms(text.text):
            latest = None  # the language got another rule for plurals
        return TextState(text, self.catalogue.draft_of(text.text), latest)

    def n_forms(self, text: SourceText) -> int:
        return self.catalogue.n_plurals if text.plural else 1

    @property
    def n_all(self) -> int:
        return len(self.states)

    @property
    def n_confirmed(self) -> int:
        return sum(state.state == "confirmed" for state in self.states.values())

    @property
    def n_suggested(self) -> int:
        return sum(state.state == "suggested" for state in self.states.values())

    @property
    def n_missing(self) -> int:
        """Texts that appear in English."""
        return sum(not state.forms for state in self.states.values())

    @property
    def is_complete(self) -> bool:
        return self.n_confirmed == self.n_all
