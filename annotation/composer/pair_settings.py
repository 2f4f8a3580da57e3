"""The form of a stage of pairs: what is paired, which two may be, and what each of the two brings along.

In view: what each side shows, in what the two differ, and what both share. Everything else is folded by what it is for.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.composer.near_pairs import near_setting
from annotation.composer.paths import get_value
from annotation.composer.promotion_settings import MEMBERS
from annotation.fields.settings import Setting
from benchmarks.rules.derivations.contract import grouping_fields, is_answer_path
from benchmarks.rules.derivations.likeness import VECTOR
from benchmarks.rules.derivations.pair import NOTHING, SIDE_TEXTS

Choices = Sequence[tuple[str, Any]]
LEAST_SIMILARITY = 0.92  # that 3XCM takes for texts by BGE-M3
NEW_PAIR = {
    "text": NOTHING,
    "context": {"option_a": "a.item.text", "option_b": "b.item.text"},
    "different_texts": True,
}
"""What a new pair begins with: the texts of both items, side by side, if they differ."""
OWN_TEXTS = "own"
"""Stands in the form for two sides that are read from different fields."""
PER = (
    ("item", gettext_lazy("two items, whatever was answered")),
    ("answer", gettext_lazy("two answers, also to the same item if the sides must differ")),
)


def pair_settings(
    known: Choices, facts: Sequence[str], items: Choices, params: Mapping[str, Any]
) -> tuple[Setting, ...]:
    """`known`: the paths that one side has, in words. `facts`: those of the items that are paired. `items`: keys."""
    different = [("", _("Nothing: any two")), *known]
    fact = str(get_value(params, "similar.fact") or "")
    alike = Setting("similar", "object", _("Only pairs that a model finds alike"), row=_similarity(facts, fact))
    return (
        Setting("shows", "select", _("Each side shows"), choices=_shown_choices(known, params), redraws=True),
        Setting("sides", "select", _("Sides must differ in"), choices=different, start="", redraws=True),
        Setting("by", "many", _("Both must share"), _("None ticked: any two."), choices=known, redraws=True),
        Setting(
            "which", "fold", _("Which of these pairs"),
            row=(
                Setting("per", "select", _("A pair is"), choices=PER, start="item", redraws=True),
                Setting("different_texts", "bool", _("Leave out pairs with one text on both sides"), start=False),
                Setting("most", "int", _("Maximum pairs per group"), optional=True),
                near_setting(params.get("near"), items),
                alike,
            ),
        ),
        Setting("brings", "fold", _("What a pair brings along"), row=_carried(known)),
    )  # fmt: skip


def _shown_choices(known: Choices, params: Mapping[str, Any]) -> list[tuple[str, Any]]:
    choices = [*known, (NOTHING, _("only its picture"))]
    if side_path(params) == OWN_TEXTS:
        choices.append((OWN_TEXTS, _("what “Context copied to the item” says for each side")))
    return choices


def _carried(known: Choices) -> tuple[Setting, ...]:
    both = [(f"{side}.{where}", f"{side.upper()}: {label}") for side in ("a", "b") for where, label in known]
    name = Setting("name", "line", _("Name"), short=True)
    value = Setting("value", "select", _("Taken from"), choices=both, start="a.item.text")
    text = [("", _("the text of A")), (NOTHING, _("none")), *both]
    members = [("", _("that of A")), (NOTHING, _("none")), *both]
    return (
        Setting("text", "select", _("Text above the pair"), choices=text, start=""),
        *(Setting(key, "select", label, choices=members, start="") for key, label, _own in MEMBERS),
        Setting("context", "map", _("Context copied to the item"), row=(name, value), add=_("Add information")),
    )


def _similarity(facts: Sequence[str], chosen: str) -> tuple[Setting, ...]:
    """A threshold on the vectors of the items, which a standing request for facts computes."""
    names = dict.fromkeys([VECTOR, *([chosen] if chosen else []), *facts])
    labels = {VECTOR: _("the likeness of their texts (text_vector)")}
    choices = [("", _("All pairs")), *((fact, labels.get(fact, fact)) for fact in names)]
    note = _("The page “Item facts” computes it, also of items that arrive later.")
    cosine = _("The cosine of both vectors, at most 1.")
    return (
        Setting("fact", "select", _("Alike by"), note, choices=choices, start=""),
        Setting("least", "number", _("Least similarity"), cosine, start=LEAST_SIMILARITY),
    )


def side_path(params: Mapping[str, Any]) -> str:
    """What both sides show, as one path: NOTHING, or OWN_TEXTS where they are read from different fields."""
    context = params.get("context")
    texts = [context.get(name) for name in SIDE_TEXTS] if isinstance(context, Mapping) else [None, None]
    if not any(texts):
        return NOTHING
    first, second = (str(text or "") for text in texts)
    mirrored = first.startswith("a.") and second.startswith("b.") and first[2:] == second[2:]
    return first[2:] if mirrored else OWN_TEXTS


def pair_for_form(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as the form asks for them: the text of both sides is one choice, what is shared is a list."""
    shows = side_path(params)
    context = params.get("context")
    if isinstance(context, Mapping) and shows not in (NOTHING, OWN_TEXTS):
        context = {name: where for name, where in context.items() if name not in SIDE_TEXTS}
    shown = {**params, "shows": shows, "by": list(grouping_fields(params))}
    return {**shown, "context": context} if context is not None else shown


def tidy_pair(params: dict[str, Any]) -> None:
    """The parameters as the rule reads them. Texts written for each side stay until a choice is made."""
    if params.get("different_texts") is False:
        params.pop("different_texts")
    shows = params.pop("shows", None)
    if not isinstance(shows, str) or shows in ("", NOTHING, OWN_TEXTS):
        return
    context = params.get("context")
    others = {name: where for name, where in context.items() if name not in SIDE_TEXTS} if context else {}
    params["context"] = {**dict(zip(SIDE_TEXTS, (f"a.{shows}", f"b.{shows}"), strict=True)), **others}


def follow_side(content: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Sides that show an answer are answers, and sides that show an item are items; a choice in this form stays."""
    derivation, former = content.get("derivation") or {}, before.get("derivation") or {}
    params, known = derivation.get("params"), former.get("params") or {}
    if not isinstance(params, dict) or derivation.get("kind") != "pair" or former.get("kind") != "pair":
        return content
    shows, was = side_path(params), side_path(known or NEW_PAIR)
    if shows != was and params.get("per", "item") == known.get("per", "item") and OWN_TEXTS not in (shows, was):
        params["per"] = "answer" if is_answer_path(shows) and shows != NOTHING else "item"
    return content


def pair_sentence(params: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """What is paired, in words. `known`: paths in words; another path is named as it is written."""

    def named(where: str) -> str:
        return str(known.get(where, where))

    differs, shared, shows = str(params.get("sides") or ""), grouping_fields(params), side_path(params)
    sentences = [_pair_of(params, bool(differs))]
    if shows not in (NOTHING, OWN_TEXTS):
        sentences.append(_("Each side shows %(what)s.") % {"what": named(shows)})
    if differs:
        sentences.append(_("The two differ in %(what)s.") % {"what": named(differs)})
    if shared:
        sentences.append(_("They share %(what)s.") % {"what": ", ".join(map(named, shared))})
    return " ".join(sentences)


def _pair_of(params: Mapping[str, Any], differs: bool) -> str:
    if params.get("per") != "answer":
        return _("A pair is two items. No item is paired with itself.")
    if differs:
        return _("A pair is two answers, to two items or to the same item.")
    return _("A pair is two answers to two items. Answers to the same item are paired only if the sides must differ.")
