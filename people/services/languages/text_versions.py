"""Speakers confirm and correct translations. Each step is kept, and can be undone."""

import unicodedata
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F

from jobs.models import record
from people.locales import overlay
from people.locales.source_texts import SourceText
from people.locales.translation_rules import suggestion_fault
from people.models import InterfaceLanguage, TextVersion, User
from people.queries.interface_texts import LanguageTexts, latest_versions


class TextChangedError(Exception):
    """Somebody else has confirmed or corrected the text since the page was shown."""


class TextFaultError(Exception):
    """A translation that cannot be shown. `faults` has a sentence for each form, empty where it is good."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(" ".join(filter(None, faults)))
        self.faults = faults


def tidy_form(text: SourceText, form: str) -> str:
    """A translation as it is kept: composed letters, plain line ends, and the outer spaces of the English text."""
    source = text.source
    words = unicodedata.normalize("NFC", form.replace("\r\n", "\n").replace("\r", "\n")).strip()
    return source[: len(source) - len(source.lstrip())] + words + source[len(source.rstrip()) :] if words else ""


@transaction.atomic
def add_version(
    texts: LanguageTexts, key: str, forms: Sequence[str], *, shown_pk: int, confirms: bool, author: User, at: datetime
) -> TextVersion:
    """Keep a translation of the text `key`; with `confirms`, the site shows it from now on.

    `shown_pk` is the version that the page showed, 0 for the draft. Raises TextChangedError if there is a newer one,
    and TextFaultError if the translation cannot be shown.
    """
    language = InterfaceLanguage.objects.select_for_update().get(code=texts.code)
    state = texts.states[key]
    text = state.text.text
    tidied = [tidy_form(text, form) for form in forms]
    faults = [suggestion_fault(text, form) for form in tidied]
    if any(faults) or len(tidied) != texts.n_forms(text):
        raise TextFaultError(faults)
    latest = TextVersion.objects.filter(language=language, key=key, undone_at=None).order_by("-pk").first()
    if (latest.pk if latest else 0) != shown_pk:
        raise TextChangedError
    version = TextVersion.objects.create(
        language=language, key=key, source=text.source, plural=text.plural, context=text.context, forms=tidied,
        draft=list(state.draft), is_confirmed=confirms, author=author, at=at,
    )  # fmt: skip
    if confirms:
        _raise_revision(language)
    _record(author, "language.text_confirmed" if confirms else "language.text_suggested", version)
    return version


@transaction.atomic
def undo(language: InterfaceLanguage, version_id: int, actor: User, at: datetime) -> TextVersion | None:
    """Cancel the newest version of a text, which is then as it was before. None if it is not the newest any more."""
    InterfaceLanguage.objects.select_for_update().get(pk=language.pk)
    version = TextVersion.objects.filter(language=language, pk=version_id, undone_at=None).first()
    if version is None or latest_versions(language.code)[version.key].pk != version.pk:
        return None
    version.undone_at = at
    version.save(update_fields=["undone_at"])
    if version.is_confirmed:
        _raise_revision(language)
    _record(actor, "language.text_undone", version)
    return version


def _raise_revision(language: InterfaceLanguage) -> None:
    InterfaceLanguage.objects.filter(pk=language.pk).update(revision=F("revision") + 1)
    transaction.on_commit(overlay.expect_change)


def _record(actor: User, verb: str, version: TextVersion) -> None:
    record(actor, verb, scope=f"language:{version.language.code}", target=f"text_version:{version.pk}")
