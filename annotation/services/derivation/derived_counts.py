"""How many items a derivation makes, before it is published."""

import textwrap
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from annotation.models import Annotation
from annotation.services.derivation.accepted_results import results_for
from annotation.services.derivation.item_matching import merge_drafts
from annotation.services.derivation.model_proposals import load_proposals
from annotation.services.derivation.run_choice import run_choice
from annotation.services.review.outcomes import facts_of
from benchmarks.models import Item, Stage
from benchmarks.rules.derivations import Derivation, DerivationError, pair

MOST_SOURCES = 5_000
MOST_ITEMS = 100_000


def count_derived(stage: Stage, derivation: Mapping[str, Any], most: int = MOST_ITEMS) -> int | None:
    """Items that would be made of what is accepted now, up to one more than `most`.

    None where the derivation cannot be read, or more than MOST_SOURCES items and answers would have to be.
    """
    try:
        parsed = Derivation.from_json(derivation)
    except DerivationError:
        return None
    if parsed is None:
        return None
    earlier = list(
        Stage.objects.filter(benchmark=stage.benchmark_id, key__in=parsed.sources).select_related("benchmark")
    )
    if _sources(earlier, parsed.of) > MOST_SOURCES:
        return None
    runs = run_choice(stage, parsed.params) if parsed.rules.all_raters else None
    results = results_for(stage, parsed, earlier, runs)
    if parsed.kind == "pair":
        return sum(1 for _pair in islice(pair.choose_pairs(results, parsed.params, parsed.seed), most + 1))
    return len(merge_drafts(parsed.derive(results, load_proposals(stage, parsed, results))))


def _sources(earlier: list[Stage], of: str) -> int:
    items = Item.objects.filter(stage__in=earlier, withdrawn_at=None)
    if of in ("items", "kept"):
        return items.count()
    return Annotation.objects.filter(assignment__campaign__stage__in=earlier, live=True).count()


def context_names(stage: Stage, sample: int = 200) -> list[str]:
    """Names in the context of a stage's items: those that its derivation brings, and those of its first items."""
    brought = list((stage.derivation.get("params") or {}).get("context") or {})
    first = stage.items.filter(withdrawn_at=None).order_by("pk").values_list("context", flat=True)[:sample]
    return list(dict.fromkeys([*brought, *(str(name) for context in first for name in context)]))


def example_values(earlier: Sequence[Stage], most: int = 40) -> dict[str, str]:
    """What the first item of these stages says, by path, and the first answer of a person, by question, shortened: so
    that a form can show it. Three queries."""
    item = Item.objects.filter(stage__in=earlier, withdrawn_at=None).order_by("pk").first() if earlier else None
    if item is None:
        return {}
    values = {f"item.{name}": getattr(item, name) for name in ("text", "concept", "origin", "condition")}
    values |= {f"item.context.{name}": value for name, value in item.context.items()}
    values |= {f"item.facts.{name}": value for name, value in facts_of([item.pk]).get(item.pk, {}).items()}
    answers = Annotation.objects.filter(
        assignment__campaign__stage__in=earlier, live=True, counted=True, rater__kind="person"
    )
    if answer := answers.select_related("cohort").order_by("pk").first():
        values |= {"unit.cohort": answer.cohort.label if answer.cohort else "", **answer.answers}
    shown = {where: value for where, value in values.items() if isinstance(value, str | int | float) and value != ""}
    return {where: textwrap.shorten(str(value), most, placeholder="…") for where, value in shown.items()}
