"""What a person may set, as data: the composer draws one form of it for every field kind, and for a stage itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _

Input = Literal[
    "line",  # a line of text, always stored
    "optional",  # a line of text, left out when empty
    "kept",  # a key that nobody needs to see
    "long",  # several lines of text
    "words",  # a line in each language
    "long_words",  # several lines in each language
    "lines",  # a list of texts, one in each line
    "int",
    "number",
    "bool",
    "select",
    "many",  # several of `choices`
    "rows",  # a list of objects with the settings of `row`; with one setting without a key, a list of those
    "map",  # names to values, as rows
    "object",  # an object with the settings of `row`
    "fold",  # the settings of `row`, which belong to the object around them, under a heading that opens
    "json",  # whatever has no form of its own
]


@dataclass(frozen=True)
class Setting:
    """`key` is the name in the JSON. `start` is what a new one begins with."""

    key: str
    input: Input
    label: Any
    help: Any = ""
    choices: Sequence[tuple[str, Any]] = ()
    row: tuple["Setting", ...] = ()
    add: Any = ""
    start: Any = None
    optional: bool = False
    redraws: bool = False
    """Other settings depend on this one, so the form is drawn anew when it changes."""
    short: bool = False
    """A code, a key or an expression: set in fixed width, left to right."""


def options(key: str, label: Any, help: Any = "") -> Setting:
    """Options with code, label and definition, in order."""
    return Setting(
        key,
        "rows",
        label,
        help,
        row=(
            Setting("code", "line", _("Code"), short=True),
            Setting("label", "words", _("Label")),
            Setting("definition", "words", _("Definition"), optional=True),
        ),
        add=_("Add an option"),
    )
