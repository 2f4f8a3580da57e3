from django.conf import settings
from django.utils.translation import get_language_info

NARROWER = {"zh": "zh-hans"}  # Django knows the scripts, people say the language
# Of languages that Django has no names of.
NAMES = {
    "fil": "Filipino", "ha": "Hausa", "mi": "te reo Māori", "om": "Afaan Oromoo", "rw": "Ikinyarwanda", "si": "සිංහල",
    "so": "Soomaali", "ti": "ትግርኛ", "xh": "isiXhosa", "yo": "Yorùbá", "zu": "isiZulu",
}  # fmt: skip


def native_name(code: str) -> str:
    """What a language calls itself; its code where nobody knows."""
    try:
        return str(get_language_info(NARROWER.get(code, code))["name_local"])
    except KeyError:
        return NAMES.get(code, code)


def text_languages() -> dict[str, str]:
    """What texts of a team are written in at least: the languages of the interface, without their countries."""
    codes = dict.fromkeys(code.split("-")[0] for code, _name in settings.LANGUAGES)
    return {code: native_name(code) for code in codes}
