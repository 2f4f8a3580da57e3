"""The words for each problem code: what happened, then what to do."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.fields.contract import Problem

WORDS: dict[str, tuple[Any, Any]] = {
    "required": (_("This is not answered yet."), _("Give your best guess, or skip.")),
    "not_an_option": (_("This is not one of the options."), _("Choose one of those shown.")),
    "not_text": (_("This is not text."), _("Write the answer in words.")),
    "too_long": (_("This is %(length)s characters long."), _("Shorten it to %(most)s.")),
    "too_short": (_("This is %(length)s characters long."), _("Write at least %(least)s.")),
    "repeated_letters": (_("One letter is repeated many times."), _("Check it, or keep it as it is.")),
    "other_script": (_("This is in another script than asked."), _("Rewrite it, or keep it as it is.")),
    "no_such_field": (_("There is no question “%(field)s” on this sheet."), _("Leave it out.")),
    "unknown_kind": (_("This question cannot be answered in this version."), _("Tell your researcher.")),
}
ANY = (_("This answer was not understood."), _("Check it once more."))


@dataclass(frozen=True)
class Worded:
    code: str
    title: str
    advice: str


def worded(problem: Problem) -> Worded:
    title, advice = WORDS.get(problem.code, ANY)
    return Worded(problem.code, str(title) % dict(problem.params), str(advice) % dict(problem.params))
