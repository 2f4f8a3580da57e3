"""How pages of researchers and managers name a language in which texts are a machine's draft."""

from django.utils.translation import gettext as _

from people.locales.languages import has_draft_texts, native_name


def text_language_name(code: str) -> str:
    """The own name of a language; it says so where texts of recipes in it are a machine's draft."""
    name = native_name(code)
    return _("%(language)s (machine draft)") % {"language": name} if has_draft_texts(code) else name
