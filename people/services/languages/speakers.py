"""Site admins name the speakers of a language, and set a language confirmed or a draft."""

from datetime import datetime

from django.db import transaction
from django.db.models import F

from jobs.models import record
from people.locales import overlay
from people.models import InterfaceLanguage, LanguageSpeaker, User
from people.queries.interface_texts import LanguageTexts
from people.services import link_revocation


class LanguageIncompleteError(Exception):
    """Some texts of the language are not confirmed by a speaker."""


@transaction.atomic
def add_speaker(language: InterfaceLanguage, user: User, actor: User, at: datetime) -> bool:
    """Name a speaker. False if the person is one already."""
    _speaker, created = LanguageSpeaker.objects.get_or_create(
        language=language, user=user, defaults={"added_by": actor, "added_at": at}
    )
    if created:
        link_revocation.end_sessions_by_link(user)
        record(actor, "language.speaker_added", scope=f"language:{language.code}", target=f"user:{user.pk}")
    return created


@transaction.atomic
def remove_speaker(language: InterfaceLanguage, user_id: int, actor: User) -> bool:
    """End the right to confirm texts. What the person confirmed stays."""
    removed, _rows = LanguageSpeaker.objects.filter(language=language, user_id=user_id).delete()
    if removed:
        record(actor, "language.speaker_removed", scope=f"language:{language.code}", target=f"user:{user_id}")
    return bool(removed)


@transaction.atomic
def confirm_language(language: InterfaceLanguage, actor: User, at: datetime) -> None:
    """Show the language without the mark of a draft. Raises LanguageIncompleteError while a text is not confirmed."""
    InterfaceLanguage.objects.select_for_update().get(pk=language.pk)
    if not LanguageTexts(language.code).is_complete:
        raise LanguageIncompleteError
    _set_confirmed(language, actor, at)


@transaction.atomic
def reopen_language(language: InterfaceLanguage, actor: User) -> None:
    """Show the language as a draft again."""
    _set_confirmed(language, actor, None)


def _set_confirmed(language: InterfaceLanguage, actor: User, at: datetime | None) -> None:
    InterfaceLanguage.objects.filter(pk=language.pk).update(
        confirmed_at=at, confirmed_by=actor if at else None, revision=F("revision") + 1
    )
    transaction.on_commit(overlay.expect_change)
    verb = "language.confirmed" if at else "language.reopened"
    record(actor, verb, scope=f"language:{language.code}", target=f"language:{language.pk}")
