"""What a translation must have in common with its English text. Shared by the check of the catalogues and by the page
on which speakers correct texts.

Templates print translations as they are, so a speaker's text has no markup but that of the English text.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from django.utils.translation import gettext as _

from people.locales.source_texts import SourceText

# Scripts replace words in capitals: WHEN, TIME, NUMBER. Names such as JPEG stay as they are, too.
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|{\w+}|(?<![A-Za-z])[A-Z]{3,}(?![A-Za-z])")
FORMAT = re.compile(r"%\(\w+\)[sd]|%[sd]|%%|{\w*}|[%{}]")
TAG = re.compile(r"<(/?)([a-z]\w*)\b[^<>]*>")
# Signs that a text for people does not need, and that change how what follows them is read.
OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\ufff9\ufffa\ufffb")
LENGTH, LENGTH_FACTOR = 200, 5  # of a translation: so many characters, or so many times the English text


def form_fault(text: SourceText, translations: Sequence[str], n_plurals: int) -> str:
    """Return what is wrong with the forms or placeholders of a translation, or nothing."""
    if len(translations) != (n_plurals if text.plural else 1):
        return f"{len(translations)} plural forms where the language has {n_plurals}"
    if not all(translations):
        return "some plural forms are empty"
    # A plural form may leave out the number that it says in words.
    wanted = set(PLACEHOLDER.findall(text.source + text.plural))
    for translation in translations:
        present = set(PLACEHOLDER.findall(translation))
        if not present <= wanted or (not text.plural and present != wanted):
            return f"placeholders are {sorted(present)} where the source has {sorted(wanted)}"
    return ""


def suggestion_fault(text: SourceText, form: str) -> str:
    """Return why one form of a speaker's translation cannot be shown, as a sentence, or nothing."""
    english = text.plural or text.source
    checks = (_size_fault(english, form), _sign_fault(english, form), _tag_fault(english, form))
    return next(filter(None, checks), "") or _placeholder_fault(text, form)


def _size_fault(english: str, form: str) -> str:
    if not form.strip():
        return _("The text is empty. Write the translation.")
    most = max(LENGTH, LENGTH_FACTOR * len(english))
    if len(form) > most:
        return _("The text has %(n)s characters. At most %(most)s fit.") % {"n": len(form), "most": most}
    if form.count("\n") != english.count("\n"):
        return _("The text has another number of line breaks than the English text. Keep them as they are.")
    return ""


def _sign_fault(english: str, form: str) -> str:
    """Control characters, and quotes that could end an attribute of a page."""
    for sign in form:
        if sign in OVERRIDES or (unicodedata.category(sign) in ("Cc", "Cs", "Co", "Zl", "Zp") and sign != "\n"):
            return _("The text has a control character (%(code)s). Delete it.") % {"code": f"U+{ord(sign):04X}"}
    plain, of_english = TAG.sub("", form), TAG.sub("", english)
    for sign in '"<>`':
        if plain.count(sign) > of_english.count(sign):
            return _("The text has the sign %(sign)s, which the English text has not. Delete it, or write “ ”.") % {
                "sign": sign
            }
    if re.search(r"&#?\w+;", plain) and not re.search(r"&#?\w+;", of_english):
        return _("The text has an HTML code such as &amp;amp;. Write the letter itself.")
    return ""


def _tag_fault(english: str, form: str) -> str:
    tags, wanted = [m[0] for m in TAG.finditer(form)], [m[0] for m in TAG.finditer(english)]
    if Counter(tags) != Counter(wanted):
        return _("The tags are %(tags)s. The English text has %(wanted)s. Keep them as they are.") % {
            "tags": " ".join(tags) or "–",
            "wanted": " ".join(wanted) or "–",
        }
    is_open: list[str] = []
    for match in TAG.finditer(form):
        if not match[1]:
            is_open.append(match[2])
        elif not is_open or is_open.pop() != match[2]:
            return _("A tag is closed before it is opened. Keep the order of the English text.")
    return ""


def _placeholder_fault(text: SourceText, form: str) -> str:
    """A placeholder too many or a single % would break the page; one too few loses a name or a number."""
    wanted = Counter(FORMAT.findall(text.source)) | Counter(FORMAT.findall(text.plural))
    present = Counter(FORMAT.findall(form))
    words, of_english = set(PLACEHOLDER.findall(form)), set(PLACEHOLDER.findall(text.source + text.plural))
    missing = set() if text.plural else of_english - words
    unknown = {
        sign for sign in present if sign not in wanted or (_is_positional(sign) and present[sign] > wanted[sign])
    }
    unknown |= words - of_english
    if unknown:
        return _("%(signs)s must not be in the text. Use only the placeholders of the English text.") % {
            "signs": ", ".join(sorted(unknown))
        }
    if missing or any(_is_positional(sign) and present[sign] < wanted[sign] for sign in wanted if not text.plural):
        return _("%(signs)s is missing. Put it where the name or number belongs.") % {
            "signs": ", ".join(sorted(missing) or sorted(filter(_is_positional, wanted)))
        }
    return ""


def _is_positional(sign: str) -> bool:
    return sign in ("%s", "%d", "{}")
