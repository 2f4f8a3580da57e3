"""The languages of the interface: English, and each one that has a catalogue in `locale/<code>/LC_MESSAGES/django.po`.

The head of a catalogue may say of its language what Django does not know, or says otherwise:

    "X-Own-Name: አማርኛ\\n"         what the language calls itself
    "X-Direction: rtl\\n"         for one written from right to left
"""

import re
from pathlib import Path

from django.conf.global_settings import LANGUAGES_BIDI
from django.conf.locale import LANG_INFO
from django.utils.translation import to_language

# What languages call themselves that Django has no names of. Cohorts speak them too, without a catalogue.
OWN_NAMES = {
    "fil": "Filipino", "ha": "Hausa", "mi": "te reo Māori", "om": "Afaan Oromoo", "rw": "Ikinyarwanda", "si": "සිංහල",
    "so": "Soomaali", "ti": "ትግርኛ", "xh": "isiXhosa", "yo": "Yorùbá", "zu": "isiZulu",
}  # fmt: skip
HEAD = re.compile(r'^"([\w-]+): (.*?)\\n"$', re.M)


def catalogue_header(catalogue: Path) -> dict[str, str]:
    """What a catalogue says of itself, before its first text."""
    return dict(HEAD.findall(catalogue.read_text(encoding="utf-8").split("\n\n", 1)[0]))


def available_languages(folder: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """(code, own name) of each language, English first, and which are written from right to left.

    Django's own table of languages learns what the catalogues say: its template tags read nothing else.
    """
    languages, from_the_right = [("en", "English")], set(LANGUAGES_BIDI)
    for code, name in OWN_NAMES.items():
        LANG_INFO.setdefault(code, {"code": code, "name": name, "name_local": name, "bidi": False})
    for catalogue in sorted(folder.glob("*/LC_MESSAGES/django.po")):
        code, header = to_language(catalogue.parent.parent.name), catalogue_header(catalogue)
        if header.get("X-Direction") == "rtl":
            from_the_right.add(code.split("-")[0])
        known = LANG_INFO.get(code, {"code": code, "name": code, "bidi": code.split("-")[0] in from_the_right})
        LANG_INFO[code] = {**known, "name_local": header.get("X-Own-Name") or known.get("name_local", code)}
        languages.append((code, LANG_INFO[code]["name_local"]))
    return languages, sorted(from_the_right)
