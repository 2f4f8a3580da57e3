"""The form of where a stage's items come from: an import, or answers and items of earlier stages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.composer.controls import Control, build_control, build_controls
from annotation.composer.dispute_settings import DISAGREEMENT
from annotation.composer.draw_settings import can_leave_out_filter, draw_settings, with_example
from annotation.composer.near_pairs import near_for_form
from annotation.composer.pair_settings import NEW_PAIR, pair_for_form, pair_settings
from annotation.composer.paths import get_value
from annotation.composer.promotion_settings import join_settings, promotion_settings
from annotation.composer.reference_settings import proposal_settings, rename_settings
from annotation.composer.stage_context import StageContext, question_title
from annotation.composer.verdict_settings import carry_setting, form_params, verdict_settings
from annotation.fields.settings import Setting
from benchmarks.models import Stage
from benchmarks.rules.derivations.registry import KINDS


def _line(key: str, label: Any, help: Any = "") -> Setting:
    return Setting(key, "optional", label, help, short=True)


DERIVED = (
    ("", gettext_lazy("Import")),
    ("promote", gettext_lazy("One item per accepted answer or item of an earlier stage")),
    ("join", gettext_lazy("Join of several stages")),
    ("pair", gettext_lazy("Accepted items are paired")),
    ("cluster", gettext_lazy("Accepted items are put on sheets of many pictures")),
    ("ungroup", gettext_lazy("One item per picture that people keep on such sheets")),
    ("verdicts", gettext_lazy("One item per answer of a model or a person, to be judged")),
    ("disagree", gettext_lazy("One item per item whose answers disagree, to be settled")),
    ("sample", gettext_lazy("A sample of earlier items")),
)
WHERE = gettext_lazy("A question's key, item.concept, item.origin, or item.context.<name>")
PARAMS: Mapping[str, tuple[Setting, ...]] = {
    "ungroup": (_line("field", gettext_lazy("Key of the question with the groups"), gettext_lazy("Empty: groups.")),),
}
SHEETS = (
    Setting("most", "int", gettext_lazy("Maximum pictures per sheet"), optional=True),
    _line("title", gettext_lazy("Words under a picture"), WHERE),
    _line("rank", gettext_lazy("Rank under a picture"), WHERE),
)
OF = (
    ("results", gettext_lazy("those with accepted answers")),
    ("items", gettext_lazy("all, answered or not")),
    ("kept", gettext_lazy("those that the filters keep")),
)
OF_ITEMS = Setting("of", "select", gettext_lazy("Of its items"), choices=OF, start="results", redraws=True)
OF_PICTURES = frozenset({"image", "roles", "picked", "pictures"})


def source_controls(content: Mapping[str, Any], around: StageContext) -> list[Control]:
    derivation = _shown_derivation(content.get("derivation") or {})
    chosen = derivation.get("kind") or ""
    kind = Setting("kind", "select", _("Its items"), choices=DERIVED, redraws=True)
    if not chosen:
        return [build_control(kind, "", "derivation.kind", around.languages)]
    earlier = [(key, name) for key, (name, _fields) in around.earlier.items()]
    params = (*_params(chosen, derivation, around), *_references(derivation, earlier))
    if content.get("pictures") == Stage.Pictures.NONE:
        params = _without_pictures(params, derivation["params"])
    settings = (
        kind,
        Setting("from", "many", _("From"), choices=earlier, redraws=True),
        *_of_items_setting(chosen, derivation),
        *_left_out_filter(derivation, around),
        Setting("params", "object", "", row=params),
        *((SEED,) if chosen == "sample" or "seed" in derivation else ()),
    )
    return build_controls(settings, derivation, "derivation", around.languages)


def _of_items_setting(kind: str, derivation: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Which items are taken. Where items are made of answers alone there is nothing to choose; what is set stays."""
    if kind in KINDS and KINDS[kind].answers and derivation.get("of", "results") == "results":
        return (replace(OF_ITEMS, choices=OF[:1]),) if "of" in derivation else ()
    return (OF_ITEMS,)


def _without_pictures(settings: Iterable[Setting], params: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Of a stage whose items have no picture. What is set already stays to be seen."""
    asked = (setting for setting in settings if setting.key not in OF_PICTURES or params.get(setting.key))
    return tuple(
        replace(setting, row=_without_pictures(setting.row, params)) if setting.input == "fold" else setting
        for setting in asked
    )


def _references(derivation: Mapping[str, Any], earlier: Sequence[tuple[str, Any]]) -> tuple[Setting, ...]:
    """What items take from other stages. Answers that are judged or settled are shown as they were given, so there only
    what is set already."""
    offered = {"rename": rename_settings(earlier), "proposals": proposal_settings(earlier)}
    plain = derivation.get("kind") not in ("verdicts", "disagree")
    chosen = tuple(setting for key, setting in offered.items() if plain or get_value(derivation, f"params.{key}"))
    return (
        (Setting("references", "fold", _("Merged names and proposed answers from other stages"), row=chosen),)
        if chosen
        else ()
    )


def _shown_derivation(derivation: Mapping[str, Any]) -> Mapping[str, Any]:
    """As the form asks for it: a new pair begins with texts, pairs are lines, and a choice is one of a list."""
    chosen, params = derivation.get("kind"), derivation.get("params") or {}
    if chosen == "pair":
        params = params if derivation.get("from") else {**NEW_PAIR, **params}
        params = {**params, "near": near_for_form(params["near"])} if params.get("near") else params
        params = pair_for_form(params)
    elif chosen == "cluster" and isinstance(params.get("by"), str):
        params = {**params, "by": [params["by"]]}
    elif chosen == "verdicts":
        params = form_params(params)
    return {**derivation, "params": params}


SEED = Setting("seed", "int", gettext_lazy("Seed"), gettext_lazy("Another number makes another draw."), start=0)


def _left_out_filter(derivation: Mapping[str, Any], around: StageContext) -> tuple[Setting, ...]:
    """For labels that a limit is chosen by: candidates on both sides of it."""
    if not can_leave_out_filter(derivation):
        return ()
    rules = [rule for key in derivation.get("from") or [] for rule in around.filters.get(key, ())]
    choices = [("", _("None")), *dict.fromkeys(rules)]
    text = _("Items that only this filter drops are taken too. For labels that its limit is chosen by.")
    return (Setting("without", "select", _("Filter that does not count"), text, choices=choices, start=""),)


def _params(kind: str, derivation: Mapping[str, Any], around: StageContext) -> tuple[Setting, ...]:
    facts = list(dict.fromkeys(fact for key in derivation.get("from") or [] for fact in around.facts.get(key, ())))
    if kind == "pair":
        known = [*_of_items(derivation, around), *_answers(derivation, around)]
        return pair_settings(known, facts, around.items, derivation["params"])
    if kind == "sample":
        answers = _answers(derivation, around) if derivation.get("of", "results") == "results" else []
        fields = [*_of_items(derivation, around), *answers]
        return (*draw_settings(fields, facts, around.examples), *_promotion(derivation, around))
    if kind == "cluster":
        fields = [(where, label) for where, label in _of_items(derivation, around) if where != "item.text"]
        return (Setting("by", "many", _("One sheet for each"), _("None: for each concept."), choices=fields), *SHEETS)
    if kind == "verdicts":
        carried = _carried(derivation, around)
        return verdict_settings(_answers(derivation, around), carried, around.variants, derivation["params"])
    if kind == "disagree":
        return (*DISAGREEMENT, carry_setting(_carried(derivation, around)))
    if kind == "join":
        return join_settings(_answers(derivation, around), _of_items(derivation, around), derivation, around.earlier)
    return PARAMS.get(kind) or _promotion(derivation, around)


def _promotion(derivation: Mapping[str, Any], around: StageContext) -> tuple[Setting, ...]:
    return promotion_settings(_answers(derivation, around), _of_items(derivation, around))


def _carried(derivation: Mapping[str, Any], around: StageContext) -> list[tuple[str, str]]:
    """Names in the context of earlier items, each with what an item says there."""
    names = [name for key in derivation.get("from") or [] for name in around.context.get(key, ())]
    examples = {name: around.examples.get(f"item.context.{name}", "") for name in dict.fromkeys(names)}
    return [(name, f"{name} ({example})" if example else name) for name, example in examples.items()]


def _of_items(derivation: Mapping[str, Any], around: StageContext) -> list[tuple[str, str]]:
    """The paths that earlier items have, each with what a real one says there."""
    names = [name for key in derivation.get("from") or [] for name in around.context.get(key, ())]
    paths = [
        ("item.text", _("the item's own text")),
        ("item.concept", _("its concept")),
        ("item.origin", _("its origin")),
        ("item.condition", _("its condition")),
        ("unit.target", _("the culture it was asked about")),
        ("unit.cohort", _("the cohort of who answered")),
        *((f"item.context.{name}", _("its “%(name)s”") % {"name": name}) for name in dict.fromkeys(names)),
    ]
    return [(where, with_example(label, around.examples.get(where, ""))) for where, label in paths]


def source_names(derivation: Mapping[str, Any], around: StageContext) -> dict[str, str]:
    """The paths that items and answers of the earlier stages have, in words."""
    plain = replace(around, examples={})
    return dict([*_of_items(derivation, plain), *_answers(derivation, plain)])


def _answers(derivation: Mapping[str, Any], around: StageContext) -> list[tuple[str, str]]:
    """The questions of the earlier stages, once each."""
    text, examples = _("its answer to “%(question)s”"), around.examples
    answer_sources = [
        (
            str(field["key"]),
            with_example(text % {"question": question_title(field)}, examples.get(str(field["key"]), "")),
        )
        for key in derivation.get("from") or []
        for field in around.earlier.get(key, ("", []))[1]
        if isinstance(field, dict) and field.get("key")
    ]
    return list(dict.fromkeys(answer_sources))
