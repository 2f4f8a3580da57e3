"""The form of a draw: its groups, what decides which items are taken, and the bins it is spread over."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotation.fields.settings import Setting
from benchmarks.rules.derivations.registry import KINDS

Choices = Sequence[tuple[str, Any]]
BINS = 4


def draw_settings(fields: Choices, facts: Sequence[str], examples: Mapping[str, str]) -> tuple[Setting, ...]:
    """`fields`: the paths that items of the earlier stages have, in words; `examples`: what an item says there."""
    named = [(f"item.facts.{fact}", _("its fact “%(name)s”") % {"name": fact}) for fact in facts]
    shown = [*fields, *((where, with_example(label, examples.get(where, ""))) for where, label in named)]
    return (
        Setting("n", "int", _("Items to take"), _("Of each group. A larger number only adds items."), start=10),
        Setting(
            "by", "many", _("Groups"), _("Items that agree in all of these are a group. None: all are one group."),
            choices=[(where, label) for where, label in shown if not where.startswith("item.facts.")],
        ),
        Setting("order", "object", _("Which items are taken"), row=_order_settings(shown)),
        Setting(
            "weight", "select", _("Weight of a draw"), _("The larger the number, the more likely an item is drawn."),
            choices=[("", _("None: each item is as likely")), *shown], start="",
        ),
        Setting("strata", "object", _("Spread over bins"), row=_bin_settings(facts)),
    )  # fmt: skip


def _order_settings(shown: Choices) -> tuple[Setting, ...]:
    first = _("the first by %(field)s")
    choices = [("", _("a draw by chance")), *((where, first % {"field": label}) for where, label in shown)]
    return (
        Setting("field", "select", _("Take"), choices=choices, start=""),
        Setting("descending", "bool", _("The largest number comes first"), start=False),
    )


def _bin_settings(facts: Sequence[str]) -> tuple[Setting, ...]:
    note = _("Each bin holds equally many candidates by this fact, and the draw takes equally many from each bin.")
    choices = [("", _("No bins")), *((fact, fact) for fact in facts)]
    return (
        Setting("fact", "select", _("Fact"), note, choices=choices, start=""),
        Setting("bins", "int", _("Number of bins"), start=BINS),
    )


def with_example(label: Any, example: str) -> str:
    """A field by its name, with what a real item says there."""
    return f"{label} ({example})" if example else str(label)


def tidy_draw(params: dict[str, Any]) -> None:
    """What was not chosen is left out: an order without a field, bins without a fact. Groups are a list of fields."""
    by, order, strata = params.get("by"), params.get("order"), params.get("strata")
    if isinstance(by, str) and by:
        params["by"] = [by]
    if isinstance(order, dict):
        if not order.get("field"):
            params.pop("order")
        elif order.get("descending") is False:
            params["order"] = {key: value for key, value in order.items() if key != "descending"}
    if isinstance(strata, dict) and not strata.get("fact"):
        params.pop("strata")


def can_leave_out_filter(derivation: Mapping[str, Any]) -> bool:
    """Whether it may name a filter `without` which kept items are taken."""
    kind = KINDS.get(str(derivation.get("kind")))
    return kind is not None and kind.whole and derivation.get("of") == "kept"
