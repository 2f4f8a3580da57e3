"""A language with a speaker and a confirmed text, for the tests that try every address."""

from typing import Any

from django.utils import timezone

from people.models import InterfaceLanguage
from people.queries.interface_texts import LanguageTexts
from people.services.languages import speakers, text_versions
from tests.personas import World


def samples(world: World) -> dict[str, Any]:
    language, _created = InterfaceLanguage.objects.get_or_create(code="ar")
    speakers.add_speaker(language, world.nour, world.site_admin, timezone.now())
    texts = LanguageTexts("ar")
    state = next(state for state in texts.states.values() if state.draft)
    shown_pk = state.latest.pk if state.latest else 0  # where a second world is built beside the first
    version = text_versions.add_version(
        texts, state.text.key, state.draft, shown_pk=shown_pk, confirms=True, author=world.nour, at=timezone.now()
    )
    return {
        "code": language.code,
        "version_id": version.pk,
        "people:language_text key": state.text.key,
        "people:speaker_remove user_id": world.nour.pk,
    }
