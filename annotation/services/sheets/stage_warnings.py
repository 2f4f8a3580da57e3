"""What a researcher should know of a stage before its first answers. Nothing is refused for it."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from annotation.composer.validation import StageProblem
from benchmarks.models import Stage
from benchmarks.rules.derivations import Derivation, DerivationError
from benchmarks.rules.derivations.answer_carrying import holds_answers


def stage_warnings(stage: Stage, content: Mapping[str, Any]) -> Iterator[StageProblem]:
    """Of a stage as it is written. Reads the items that there are, but no answers."""
    try:
        derivation = Derivation.from_json(content.get("derivation"))
    except DerivationError:
        return
    if derivation is None or not holds_answers(content["derivation"]):
        return
    stages = {row.key: row for row in stage.benchmark.stages.all()}
    yield from _unnamed_cultures(stages, content, derivation)


def _unnamed_cultures(
    stages: Mapping[str, Stage], content: Mapping[str, Any], derivation: Derivation
) -> Iterator[StageProblem]:
    sources = [stages[key] for key in derivation.sources if key in stages]
    asks_own = any(source.has_target or source.own_items_only for source in sources)
    is_named = bool((content.get("layout") or {}).get("culture"))
    if content.get("own_items_only") or is_named or not asks_own or not holds_answers(content["derivation"]):
        return
    text = _(
        "Every cohort judges answers about every culture, and the sheet does not name the culture. Name it, or let "
        "each cohort get only the items of its own culture."
    )
    yield StageProblem("layout.culture", text, blocks=False)
