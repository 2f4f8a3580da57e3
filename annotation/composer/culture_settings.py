"""Who gets answers about a culture: what a new stage begins with."""

from collections.abc import Collection, Mapping
from typing import Any

from benchmarks.rules.derivations.answer_carrying import holds_answers_of, may_mix_cultures


def follow_culture(content: dict[str, Any], before: Mapping[str, Any], own: Collection[str]) -> dict[str, Any]:
    """Once a stage shows answers that cohorts gave about their own culture, each goes to the cohort of its culture, and
    the sheet names it. A pair of two cultures is nobody's own, so pairs go to all. Who has chosen already, here or
    before, that a cohort gets only its own items, gets nothing else.

    `own`: keys of the stages that ask each cohort about its own culture.
    """
    derivation = content.get("derivation") or {}
    if not holds_answers_of(derivation, own) or holds_answers_of(before.get("derivation") or {}, own):
        return content
    if content.get("own_items_only") or before.get("own_items_only"):
        return content
    layout, known = content.get("layout") or {}, before.get("layout") or {}
    if not layout.get("culture") and not known.get("culture"):
        content["layout"] = {**layout, "culture": True}
    if not content.get("target_in_all"):
        content["own_items_only"] = not may_mix_cultures(derivation)
    return content
