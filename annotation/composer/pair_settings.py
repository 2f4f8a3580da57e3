"""The form of a stage of pairs: what is paired, which two may be, and what each of the two brings along."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.composer.promotion_settings import MEMBERS
from annotation.fields.settings import Setting
from benchmarks.rules.derivations.likeness import VECTOR

Choices = Sequence[tuple[str, Any]]
LEAST_SIMILARITY = 0.92  # that 3XCM takes for texts by BGE-M3
NEW_PAIR = {"text": "none", "context": {"option_a": "a.item.text", "option_b": "b.item.text"}}
"""What a new pair begins with: the texts of both items, side by side."""
PER = (
    ("item", gettext_lazy("each item: two items are one pair, whatever was answered")),
    ("answer", gettext_lazy("each answer: answers to two items are one pair")),
)
LIMITS = (
    Setting("most", "int", gettext_lazy("Maximum pairs per group"), optional=True),
    Setting(
        "near",
        "lines",
        gettext_lazy("Only these pairs"),
        gettext_lazy("One in each line: the keys of two items, and a similarity if known, separated by | or a tab."),
        optional=True,
    ),
)


def pair_settings(known: Choices, facts: Sequence[str], chosen_fact: str) -> tuple[Setting, ...]:
    """`known`: the paths that one side has, in words. `facts`: those of the items that are paired."""
    both = [(f"{side}.{where}", f"{side.upper()}: {label}") for side in ("a", "b") for where, label in known]
    name = Setting("name", "line", _("Name"), _("option_a and option_b are the two texts side by side."), short=True)
    value = Setting("value", "select", _("Taken from"), choices=both, start="a.item.text")
    text = [("", _("the text of A")), ("none", _("none")), *both]
    same = [("", _("Any two")), *known]
    different = [("", _("Nothing: any two")), *known]
    return (
        Setting("per", "select", _("Each side is"), choices=PER, start="item"),
        Setting("by", "select", _("Both must share"), choices=same, start=""),
        Setting("sides", "select", _("Sides must differ in"), choices=different, start=""),
        *LIMITS,
        Setting("similar", "object", _("Only pairs that a model finds alike"), row=_similarity(facts, chosen_fact)),
        Setting("text", "select", _("Text above the pair"), choices=text, start=""),
        *_members(both),
        Setting("context", "map", _("Context copied to the item"), row=(name, value), add=_("Add information")),
    )


def _members(both: Choices) -> tuple[Setting, ...]:
    choices = [("", _("that of A")), ("none", _("none")), *both]
    return tuple(Setting(key, "select", label, choices=choices, start="") for key, label, _own in MEMBERS)


def _similarity(facts: Sequence[str], chosen: str) -> tuple[Setting, ...]:
    """A threshold on the vectors of the items, which a standing request for facts computes."""
    names = dict.fromkeys([VECTOR, *([chosen] if chosen else []), *facts])
    choices = [("", _("All pairs")), *((fact, fact) for fact in names)]
    note = _("The page “Item facts” computes it, also of items that arrive later.")
    cosine = _("The cosine of both vectors, at most 1.")
    return (
        Setting("fact", "select", _("By the fact"), note, choices=choices, start=""),
        Setting("least", "number", _("Least similarity"), cosine, start=LEAST_SIMILARITY),
    )
