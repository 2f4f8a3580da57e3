"""The form of items that answers and earlier items become, each by itself or several joined into one."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.fields.settings import Setting
from benchmarks.rules.derivations.join import ALL, ANY

Choices = Sequence[tuple[str, Any]]
PER = (
    ("", gettext_lazy("as its sources need: an answer where one is used, else the item")),
    ("item", gettext_lazy("each item")),
    ("answer", gettext_lazy("each answer")),
)
EACH = (("", gettext_lazy("all parts together")), ("part", gettext_lazy("each part")))
MEMBERS = (
    ("concept", gettext_lazy("Concept"), gettext_lazy("the item's own concept")),
    ("origin", gettext_lazy("Origin"), gettext_lazy("the item's own origin")),
    ("condition", gettext_lazy("Condition"), gettext_lazy("the item's own condition")),
)


def promotion_settings(answers: Choices, of_items: Choices) -> tuple[Setting, ...]:
    """`answers`: the questions of the earlier stages. `of_items`: the paths that their items have, in words."""
    pictures = [("item", _("the item's own pictures")), *answers]
    concept, origin, condition = _members(of_items, answers)
    return (
        Setting(
            "text", "select", _("Text"), choices=[("", _("the item's own text")), *answers, *of_items[1:]], start=""
        ),
        Setting("image", "select", _("Picture"), choices=pictures, start="item"),
        origin,
        Setting(
            "brings", "fold", _("What an item brings along"),
            row=(
                concept,
                condition,
                Setting("per", "select", _("A new item for"), choices=PER, start=""),
                _context([*of_items, *answers]),
                _roles(_("A question that a picture is given to, or item.<role> for a picture of the item.")),
                *_by_stage(answers),
            ),
        ),
    )  # fmt: skip


def _by_stage(answers: Choices) -> tuple[Setting, ...]:
    """What differs between several earlier stages, which are named by their keys."""
    stage = Setting("name", "line", _("Stage"), short=True)
    field = Setting("value", "select", _("Taken from"), choices=answers, start=answers[0][0] if answers else "")
    condition = Setting("value", "line", _("Condition"), short=True)
    return (
        Setting("picked", "map", _("The one picture that an answer names"), row=(stage, field), add=_("Add a stage")),
        Setting("conditions", "map", _("Condition by stage"), row=(stage, condition), add=_("Add a stage")),
    )


def join_settings(
    answers: Choices, of_items: Choices, derivation: Mapping[str, Any], earlier: Mapping[str, Any]
) -> tuple[Setting, ...]:
    """`earlier`: the earlier stages by key, which are the parts of a joined item unless a value tells them apart."""
    stages = [(key, earlier.get(key, (key,))[0]) for key in derivation.get("from") or []]
    parts = str((derivation.get("params") or {}).get("parts") or "")
    known = [*of_items, *answers]
    several = _("all values of “%(value)s”")
    lists = [(f"{ALL}{where}", several % {"value": label}) for where, label in known]
    first = _("That of the first part.")
    told_apart = [("", _("their stage")), *known]
    return (
        Setting("by", "select", _("Joined by"), choices=known, start="item.concept"),
        Setting("parts", "select", _("Parts are told apart by"), choices=told_apart, start="", redraws=True),
        _needed_parts(stages, parts),
        Setting("each", "select", _("A new item for"), choices=EACH, start=""),
        Setting("least", "int", _("Minimum answers per part"), optional=True),
        Setting("text", "select", _("Text"), first, choices=[("", _("the item's own text")), *known], start=""),
        *_members(of_items, answers),
        _context([*known, *lists]),
        _roles(_("<part>.<role> of the picture in its part.")),
    )


def _needed_parts(stages: Choices, parts: str) -> Setting:
    """Stages are ticked; of another value nobody knows yet what there will be, so that it is written."""
    if parts:
        note = _("Values of what tells the parts apart, one in each line. Empty: all. “any”: at least one.")
        return Setting("needs", "lines", _("Parts that must be there"), note, optional=True)
    choices = [*stages, (ANY, _("at least one of them"))]
    return Setting("needs", "many", _("Parts that must be there"), _("None ticked: all of them."), choices=choices)


def tidy_join(params: dict[str, Any]) -> None:
    """At least one of them is one part, whatever else is ticked."""
    if isinstance(params.get("needs"), list) and ANY in params["needs"]:
        params["needs"] = [ANY]


def _members(of_items: Choices, answers: Choices) -> tuple[Setting, ...]:
    known = [*of_items, *answers]
    return tuple(
        Setting(key, "select", label, choices=[("", own), *(row for row in known if row[0] != f"item.{key}")], start="")
        for key, label, own in MEMBERS
    )


def _context(choices: Choices) -> Setting:
    known = [*choices, ("rule.score", _("the score of its answers"))]
    name = Setting("name", "line", _("Name"), short=True)
    value = Setting("value", "select", _("Taken from"), choices=known, start="item.text")
    return Setting("context", "map", _("Context copied to the item"), row=(name, value), add=_("Add information"))


def _roles(note: str) -> Setting:
    name = Setting("name", "line", _("Name of the picture"), short=True)
    value = Setting("value", "line", _("Taken from"), note, short=True)
    return Setting("roles", "map", _("Pictures by name"), row=(name, value), add=_("Add a picture"))
