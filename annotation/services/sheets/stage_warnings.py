"""What a researcher should know of a stage before its first answers. Nothing is refused for it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.composer.validation import StageProblem
from annotation.services.sheets.shared_values import are_all_different, fields_without_values
from benchmarks.models import Stage
from benchmarks.rules.derivations import Derivation, DerivationError
from benchmarks.rules.derivations.answer_carrying import holds_answers, holds_answers_of
from benchmarks.rules.derivations.contract import grouping_fields

NAMES: Mapping[str, Any] = {
    "item.concept": gettext_lazy("concept"),
    "item.origin": gettext_lazy("origin"),
    "item.condition": gettext_lazy("condition"),
    "item.text": gettext_lazy("text"),
    "item.key": gettext_lazy("key"),
}


def stage_warnings(stage: Stage, content: Mapping[str, Any]) -> Iterator[StageProblem]:
    """Of a stage as it is written. Reads the items that there are, but no answers."""
    try:
        derivation = Derivation.from_json(content.get("derivation"))
    except DerivationError:
        return
    if derivation is None or not (derivation.kind == "pair" or holds_answers(content["derivation"])):
        return
    stages = {row.key: row for row in stage.benchmark.stages.all()}
    if derivation.kind == "pair":
        yield from _without_pairs(stages, derivation)
    yield from _unnamed_cultures(stages, content)


def _without_pairs(stages: Mapping[str, Stage], derivation: Derivation) -> Iterator[StageProblem]:
    sources = ", ".join(f"“{stages[key].name}”" for key in derivation.sources if key in stages)
    for where in fields_without_values(stages, derivation):
        text = _("No pair will result: no item of %(stages)s has a value for “%(what)s”, which both must share.")
        yield StageProblem("derivation.params.by", text % {"stages": sources, "what": _named([where])}, blocks=False)
        return
    if are_all_different(stages, derivation):
        text = _("No pair will result: no two items of %(stages)s share “%(what)s”, and both must.")
        what = _named(grouping_fields(derivation.params))
        yield StageProblem("derivation.params.by", text % {"stages": sources, "what": what}, blocks=False)


def _named(fields: Sequence[str]) -> str:
    return ", ".join(str(NAMES.get(where, where.removeprefix("item.context."))) for where in fields)


def _unnamed_cultures(stages: Mapping[str, Stage], content: Mapping[str, Any]) -> Iterator[StageProblem]:
    own = [key for key, stage in stages.items() if stage.asks_own_culture]
    is_named = bool((content.get("layout") or {}).get("culture"))
    if content.get("own_items_only") or is_named or not holds_answers_of(content["derivation"], own):
        return
    text = _(
        "Every cohort judges answers about every culture, and the sheet does not name the culture. Name it, or let "
        "each cohort get only the items of its own culture."
    )
    yield StageProblem("layout.culture", text, blocks=False)
