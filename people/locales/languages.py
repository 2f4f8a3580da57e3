"""The languages of the interface and of texts: their own names, and which of them are a machine's draft."""

from collections.abc import Iterable

from django.conf import settings
from django.utils.translation import get_language_info

from people.locales import overlay

NARROWER = {"zh": "zh-hans"}  # Django knows the scripts, people say the language
# “draft” in the languages that begin as one. Others say it in English.
DRAFT = {
    "bn": "খসড়া", "de": "Entwurf", "es": "borrador", "fa": "پیش‌نویس", "fr": "version provisoire", "hi": "मसौदा",
    "id": "draf", "ja": "下書き", "ko": "초안", "ru": "черновик", "sw": "rasimu", "tr": "taslak", "yo": "àkọpamọ́",
    "zh-hans": "草稿",
}  # fmt: skip
RIGHT_TO_LEFT_MARK = "\u200f"  # keeps the bracket at the end of a name that is written from the right


def native_name(code: str) -> str:
    """What a language calls itself; its code where nobody knows."""
    try:
        return str(get_language_info(NARROWER.get(code, code))["name_local"])
    except KeyError:
        return code


def is_draft(code: str) -> bool:
    """Whether the interface speaks a language by a machine's draft that no speaker has confirmed as a whole."""
    return code != "en" and code not in settings.CONFIRMED_LANGUAGES and not overlay.is_confirmed(code)


def interface_name(code: str) -> str:
    """The own name of a language of the interface; of a draft it says so, in words of that language."""
    name = native_name(code)
    name = name[:1].upper() + name[1:]
    if not is_draft(code):
        return name
    mark = RIGHT_TO_LEFT_MARK if get_language_info(code)["bidi"] else ""
    return f"{name} ({DRAFT.get(code, 'draft')}){mark}"


def interface_names() -> list[tuple[str, str]]:
    """Code and name of each language of the interface, drafts marked."""
    return [(code, interface_name(code)) for code, _name in settings.LANGUAGES]


def has_draft_texts(code: str) -> bool:
    """Whether texts of recipes in a language (`zh` for `zh-hans`) are a machine's draft."""
    spoken = [known for known, _name in settings.LANGUAGES if known.split("-")[0] == code.split("-")[0]]
    return bool(spoken) and all(map(is_draft, spoken))


def draft_text_names(codes: Iterable[str]) -> list[str]:
    """The own names of those of the languages whose texts of recipes are a machine's draft."""
    return [native_name(code) for code in codes if has_draft_texts(code)]


def text_languages() -> dict[str, str]:
    """What texts of a team are written in at least: the languages of the interface that are no drafts, without their
    countries."""
    codes = dict.fromkeys(code.split("-")[0] for code, _name in settings.LANGUAGES if not is_draft(code))
    return {code: native_name(code) for code in codes}
