"""Places and reasons of a stage's problems, in words; names of displays and what they need."""

import re
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from annotation.composer.paths import parse_path
from annotation.displays import Display
from annotation.displays.contract import required
from benchmarks.rules.displays import default_pictures

DISPLAY_NAMES: dict[str, Any] = {
    "image": gettext_lazy("One picture"),
    "pair": gettext_lazy("Two pictures or texts side by side"),
    "bare-pair": gettext_lazy("Two pictures or texts side by side, without captions"),
    "question": gettext_lazy("A question, with or without a picture"),
    "candidate": gettext_lazy("A question and an answer to judge, with or without a picture"),
    "contact": gettext_lazy("Many pictures at once"),
    "words": gettext_lazy("Text without a picture"),
}


def display_name(key: str) -> str:
    return str(DISPLAY_NAMES.get(key, key))


def requirements_text(display: Display) -> str:
    """What an item must have to be shown so."""
    usual = required(display, default_pictures(display.key))
    if len(usual.roles) > 1 and usual.context:  # two texts can stand where two pictures would
        pair = {"roles": ", ".join(usual.roles), "names": ", ".join(usual.context)}
        return _("needs two pictures (%(roles)s) or, without pictures, two texts (%(names)s)") % pair
    parts = [_("pictures: %(roles)s") % {"roles": ", ".join(usual.roles)}] if usual.roles else []
    parts += [_("text")] if usual.text else []
    parts += [_("context: %(names)s") % {"names": ", ".join(usual.context)}] if usual.context else []
    return _("needs %(what)s") % {"what": "; ".join(parts)} if parts else _("no required input")


NAMES: dict[str, Any] = {
    "name": gettext_lazy("Name"),
    "display": gettext_lazy("What is shown"),
    "pictures": gettext_lazy("Pictures of an item"),
    "label": gettext_lazy("Label"),
    "help": gettext_lazy("Help"),
    "key": gettext_lazy("Key"),
    "code": gettext_lazy("Code"),
    "definition": gettext_lazy("Definition"),
    "texts": gettext_lazy("Text"),
    "parts": "",
    "body": gettext_lazy("Instructions"),
    "pairs": gettext_lazy("Do and don't"),
    "materials": gettext_lazy("Materials"),
    "quiz": gettext_lazy("Quiz"),
    "question": gettext_lazy("Question"),
    "title": gettext_lazy("Title"),
    "url": gettext_lazy("Address"),
    "seconds": gettext_lazy("Minimum seconds"),
    "pass": gettext_lazy("Required correct answers"),
    "language": gettext_lazy("Language"),
    "cohort": gettext_lazy("For"),
    "config": "",
    "sheet": "",
    "fields": gettext_lazy("Question"),
    "points": gettext_lazy("Points"),
    "options": gettext_lazy("Options"),
    "rules": gettext_lazy("Rules"),
    "show_if": gettext_lazy("Ask only if"),
    "required_unless": gettext_lazy("Not required if this is answered"),
    "checks": gettext_lazy("Checks"),
    "score": gettext_lazy("Score"),
    "expression": gettext_lazy("Expression"),
    "words": gettext_lazy("In words"),
    "clauses": gettext_lazy("Clauses"),
    "acceptance_rule": gettext_lazy("Acceptance"),
    "review_reasons": gettext_lazy("Reasons of reviewers"),
    "skip_reasons": gettext_lazy("Reasons to skip"),
    "derivation": gettext_lazy("Source of items"),
    "params": "",
    "context": gettext_lazy("Context copied to the item"),
    "context~map": gettext_lazy("Context copied to the item"),
    "value": gettext_lazy("Source stage"),
    "n": gettext_lazy("Items to take"),
    "by": gettext_lazy("Groups"),
    "shows": gettext_lazy("Each side shows"),
    "near": gettext_lazy("Only these pairs"),
    "between": gettext_lazy("Answers that are compared"),
    "measure": gettext_lazy("They disagree by"),
    "under": gettext_lazy("Lower limit"),
    "over": gettext_lazy("Upper limit"),
    "more": gettext_lazy("Further options"),
    "order": gettext_lazy("Which items are taken"),
    "field": "",
    "weight": gettext_lazy("Weight of a draw"),
    "strata": gettext_lazy("Spread over bins"),
    "bins": gettext_lazy("Number of bins"),
    "without": gettext_lazy("Filter that does not count"),
    "seed": gettext_lazy("Seed"),
    "coverage": gettext_lazy("Coverage"),
    "rows": gettext_lazy("Rows"),
    "columns": gettext_lazy("Columns"),
    "names": gettext_lazy("Columns by name"),
    "per_cell": gettext_lazy("Wanted in each cell"),
    "counts": gettext_lazy("What is counted"),
    "stop_when_full": gettext_lazy("Stop when a cell is full"),
    "layout": gettext_lazy("Information shown with the item"),
    "culture": gettext_lazy("Culture of the answer"),
    "instructions": gettext_lazy("Instructions"),
    "target_answers": gettext_lazy("Answers for each item and cohort"),
    "target_in_all": gettext_lazy("Answers in all"),
    "has_target": gettext_lazy("Own culture"),
    "own_items_only": gettext_lazy("Items of the own culture"),
    "staffing": gettext_lazy("Who may answer"),
    "acceptance": gettext_lazy("When an answer is accepted"),
    "retire_after_skips": gettext_lazy("Retire an item after this many skips"),
}


def path_label(path: str) -> str:
    """`sheet.fields[2].config.points[0].label` is "Question 3, Points 1, Label"."""
    parts: list[str] = []
    for step in parse_path(path):
        if isinstance(step, int):
            parts[-1:] = [f"{parts[-1]} {step + 1}" if parts else str(step + 1)]
        else:
            parts.append(str(NAMES.get(step, step)))
    return ", ".join(part for part in parts if part)


REASONS: tuple[tuple[str, Any], ...] = (
    (r'needs a text in English \("en"\)', gettext_lazy("Write it in English.")),
    (r"is missing", pgettext_lazy("setting", "It is missing.")),
    (r"needs at least one field", gettext_lazy("The sheet asks nothing yet. Add a question.")),
    (r"needs at least one clause", gettext_lazy("The rule has no clause yet. Add one.")),
    (
        r"needs (?P<least>\d+) to (?P<most>\d+) entries, has (?P<n>\d+)",
        gettext_lazy("It needs %(least)s to %(most)s; there are %(n)s."),
    ),
    (r"'(?P<key>.*)' is there twice", gettext_lazy("The key “%(key)s” occurs twice. Change one.")),
    (r"must be int, not (str|float)", gettext_lazy("Write a whole number.")),
    (r"must be (?P<least>-?\d+) to (?P<most>\d+), not .*", gettext_lazy("Write a number from %(least)s to %(most)s.")),
    (
        r"must be small letters, digits and _, and begin with a letter",
        gettext_lazy("Use small letters, digits and _, and begin with a letter."),
    ),
    (r"is not a setting here; there are .*", gettext_lazy("There is no such setting. Remove it.")),
    (r"needs a name", gettext_lazy("Write a name.")),
    (
        r".* names nothing that can be read",
        gettext_lazy("Write a question's key, item.concept, item.origin, or item.context.<name>."),
    ),
    (r"must be a number from (?P<least>\d+)", gettext_lazy("Write a number from %(least)s.")),
    (
        r"cannot be used with an order",
        gettext_lazy("Items that are taken in an order have no weight and no bins. Remove them, or draw by chance."),
    ),
    (r"must be an expression", gettext_lazy("Write an expression.")),
)


def reason_text(text: str) -> str:
    """The reason of a ConfigError in the language of the page, where it is one of the common ones."""
    for pattern, words in REASONS:
        found = re.fullmatch(pattern, text)
        if found:
            return str(words) % found.groupdict() if found.groupdict() else str(words)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
