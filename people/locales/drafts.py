"""The catalogues of this installation, as gettext reads them: each translation before speakers change it."""

import gettext
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import to_locale

from people.locales.source_texts import SourceText

N_PLURALS = re.compile(r"nplurals=(\d)")
CONTEXT_END = "\x04"  # between the context and the text, in gettext's keys


class DraftCatalogue:
    """The compiled catalogue of a language."""

    def __init__(self, code: str) -> None:
        folder = Path(settings.LOCALE_PATHS[0])
        compiled: Any = gettext.translation("django", folder, [to_locale(code)], fallback=True)
        self.plural: Callable[[int], int] = getattr(compiled, "plural", lambda n: int(n != 1))
        self._texts: dict[Any, str] = getattr(compiled, "_catalog", {})
        rule = N_PLURALS.search(compiled.info().get("plural-forms", ""))
        self.n_plurals = int(rule[1]) if rule else 2

    def draft_of(self, text: SourceText) -> tuple[str, ...]:
        """The translation, one text for each plural form; nothing if there is none."""
        keys = text_keys(text, self.n_plurals)
        return tuple(self._texts[key] for key in keys) if all(key in self._texts for key in keys) else ()

    def numbers_of(self, form: int, most: int = 4) -> list[int]:
        """The first numbers that take a plural form."""
        return [n for n in range(1000) if self.plural(n) == form][:most]


def text_keys(text: SourceText, n_plurals: int) -> list[Any]:
    """The keys of a text in the dictionaries of gettext."""
    source = f"{text.context}{CONTEXT_END}{text.source}" if text.context else text.source
    return [(source, form) for form in range(n_plurals)] if text.plural else [source]
