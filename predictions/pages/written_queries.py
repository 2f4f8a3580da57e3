"""What the page of a collection's written queries says of each query set."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from annotation.fields.contract import localise
from predictions.services.collections.written_queries import WrittenSet


@dataclass(frozen=True)
class SetRow:
    """A query set with its question in the reader's language, who wrote it, and what becomes of it."""

    written: WrittenSet
    question: str
    author: str
    state: str


def set_rows(sets: Iterable[WrittenSet]) -> list[SetRow]:
    language = get_language() or "en"
    return [
        SetRow(written, localise(written.question, language), written.model or _("People"), _state(written))
        for written in sets
    ]


def _state(written: WrittenSet) -> str:
    if not written.fixed and written.model:
        return _("Follows what the model answered, until a run reads it.")
    if not written.fixed:
        return _("Follows what is accepted, until a run reads it.")
    if not written.differs:
        return _("A run has read it, so it stays as it is.")
    text = ngettext(
        "A run has read it, so it stays as it is. The next version would change %(n)s query.",
        "A run has read it, so it stays as it is. The next version would change %(n)s queries.",
        written.differs,
    )
    return text % {"n": written.differs}
