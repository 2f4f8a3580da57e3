"""What the codes of a condition's needs say to a researcher."""

from django.utils.translation import gettext_lazy as _

NEEDS = {
    "picture": _("a picture"),
    "country": _("the country"),
    "entities": _("entities of the picture"),
    "examples": _("answered examples"),
    "candidate": _("an answer to judge"),
    "links": _("a linking run"),
    "gold": _("the right entry (column gold_entity)"),
    "references": _("reference answers"),
}


def need_text(code: str) -> str:
    """The code itself where nobody has written a text."""
    return str(NEEDS.get(code, code))
