"""Translations that speakers have confirmed, laid over the catalogue of a language while the site runs.

Each process asks the database for the revisions of all languages at most every `SPEAKER_TEXT_SECONDS`, and reads the
texts of a language only when its revision has changed. A request in between pays for a comparison of two numbers.

Django looks a text up in a list of dictionaries. The texts of speakers become the first of a new list, which replaces
the old one in one step: a request that runs at the same time reads the one or the other as a whole. The catalogues
themselves are never changed.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.utils.translation import trans_real

from people.locales.drafts import DraftCatalogue, text_keys
from people.locales.source_texts import SourceText
from people.models import InterfaceLanguage, TextVersion

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LanguageState:
    """What the database says of a language."""

    revision: int
    is_confirmed: bool


@dataclass(frozen=True)
class Overlay:
    """The texts of a revision over the catalogue of a language: Django's object, and its list before."""

    translation: trans_real.DjangoTranslation
    original: Any
    revision: int


_states: dict[str, LanguageState] = {}
_overlays: dict[str, Overlay] = {}
_read_at = float("-inf")
_lock = threading.Lock()


def refresh(language: str) -> None:
    """Show the present texts of speakers in a language. Texts stay as they are while the database does not answer."""
    now = time.monotonic()
    if settings.SPEAKER_TEXT_SECONDS is not None and now - _read_at >= settings.SPEAKER_TEXT_SECONDS:
        _try(_read_states)
    state, overlay = _states.get(language), _overlays.get(language)
    if state is not None and state.revision != (overlay.revision if overlay else 0):
        _try(lambda: _apply(language, state.revision))


def refresh_all() -> None:
    """The same for every language with texts of speakers: for a task, whose language is known later."""
    refresh("")
    for language in tuple(_states):
        refresh(language)


def revision(language: str) -> int:
    """The revision of the texts that this process shows in a language. Pages that are kept have it in their key."""
    overlay = _overlays.get(language)
    return overlay.revision if overlay else 0


def is_confirmed(language: str) -> bool:
    """Whether an admin has set the language confirmed, as this process read it last."""
    state = _states.get(language)
    return state is not None and state.is_confirmed


def expect_change() -> None:
    """Read the revisions at the next request of this process, for who changed a text looks at it at once."""
    global _read_at
    _read_at = float("-inf")


def forget() -> None:
    """Show the catalogues alone, and read everything anew at the next request."""
    global _read_at
    with _lock:
        for overlay in _overlays.values():
            overlay.translation._catalog = overlay.original  # type: ignore[attr-defined]
        _overlays.clear()
        _states.clear()
        _read_at = float("-inf")


def _try(action: Callable[[], None]) -> None:
    """One thread at a time; the others go on with what there is."""
    if not _lock.acquire(blocking=False):
        return
    try:
        action()
    except DatabaseError as error:
        logger.warning("Texts of speakers could not be read, so pages show those from before: %s", error)
    finally:
        _lock.release()


def _read_states() -> None:
    global _read_at
    _read_at = time.monotonic()  # first: a database that hangs is not asked by every request
    rows = InterfaceLanguage.objects.values_list("code", "revision", "confirmed_at")
    states = {code: LanguageState(number, confirmed_at is not None) for code, number, confirmed_at in rows}
    _states.update(states)
    for gone in set(_states) - set(states):  # after a restored backup
        _states[gone] = LanguageState(0, False)


def _apply(language: str, number: int) -> None:
    translation: Any = trans_real.translation(language)
    before = _overlays.get(language)
    original = before.original if before and before.translation is translation else translation._catalog
    catalogue, texts = DraftCatalogue(language), dict[Any, str]()
    for text, forms in confirmed_texts(language):
        if len(forms) == (catalogue.n_plurals if text.plural else 1):
            texts.update(zip(text_keys(text, catalogue.n_plurals), forms, strict=True))
    overlaid: Any = trans_real.TranslationCatalog()
    overlaid._catalogs = [texts, *original._catalogs]
    overlaid._plurals = [catalogue.plural, *original._plurals]
    translation._catalog = overlaid
    _overlays[language] = Overlay(translation, original, number)


def confirmed_texts(language: str) -> list[tuple[SourceText, list[str]]]:
    """The latest confirmed translation of each text of a language."""
    versions = TextVersion.objects.filter(language__code=language, is_confirmed=True, undone_at=None)
    latest = versions.order_by("key", "-pk").distinct("key")
    rows = latest.values_list("source", "plural", "context", "forms")
    return [(SourceText(source, plural, context), forms) for source, plural, context, forms in rows]
