"""How many items a derivation makes, before it is published."""

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from benchmarks.rules.derivations.contract import Result, grouping_fields, read_path, value_text

MOST_SOURCES = 5_000
MOST_ITEMS = 100_000
MOST_READ = 1_000
"""Pairs whose texts are read, to find those that say the same twice."""


@dataclass(frozen=True)
class DerivedCount:
    """Items that a derivation makes; of pairs with texts also the first, how many of those read repeat a text, and how
    many were left out since they do.

    `unshared`: what pairs must share, and no source has a value for. `cultures`: items by the label of the cohort whose
    own they are, empty where not known; `about`: how many of them hold an answer about a culture."""

    items: int
    example: tuple[str, str] | None = None
    repeated: int = 0
    read: int = 0
    left_out: int = 0
    unshared: tuple[str, ...] = ()
    cultures: Mapping[str, int] = field(default_factory=dict)
    about: int = 0


def count_derived(stage: Stage, derivation: Mapping[str, Any], most: int = MOST_ITEMS) -> int | None:
    """Items that would be made of what is accepted now, up to one more than `most`; None as in `preview_derived`."""
    count = preview_derived(stage, derivation, most)
    return None if count is None else count.items


def preview_derived(stage: Stage, derivation: Mapping[str, Any], most: int = MOST_ITEMS) -> DerivedCount | None:
    """What would be made of what is accepted now, up to one item more than `most`.

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
        return _count_pairs(results, parsed, most)
    drafts = merge_drafts(parsed.derive(results, load_proposals(stage, parsed, results)))
    cultures = Counter(draft.answer_target or draft.origin for draft in drafts)
    return DerivedCount(len(drafts), cultures=cultures, about=sum(bool(draft.answer_target) for draft in drafts))


def _count_pairs(results: Sequence[Result], parsed: Derivation, most: int) -> DerivedCount:
    items, texts, cultures = 0, list[tuple[str, str]](), Counter[str]()
    left_out: list[pair.Pair] = []
    is_about = any(result.culture or result.item.answer_target for result in results)
    for two in islice(pair.choose_pairs(results, parsed.params, parsed.seed, left_out), most + 1):
        items += 1
        if is_about:
            cultures[pair.pair_culture(two, parsed.params, parsed.seed)] += 1
        if items <= MOST_READ:
            texts.append(pair.side_texts(two, parsed.params, parsed.seed))
    repeated = sum(pair.is_one_text(*sides) for sides in texts)
    example = next((two for two in texts if all(two) and two[0] != two[1]), next(filter(all, texts), None))
    unshared = () if items or left_out else _unshared(results, parsed)
    about = items - cultures[""] if is_about else 0
    return DerivedCount(items, example, repeated, len(texts), len(left_out), unshared, cultures, about)


def _unshared(results: Sequence[Result], parsed: Derivation) -> tuple[str, ...]:
    if not results:
        return ()
    shared = grouping_fields(parsed.params)
    return tuple(where for where in shared if not any(value_text(read_path(where, result)) for result in results))


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


def item_choices(earlier: Sequence[Stage], most: int = 200) -> list[tuple[str, str]]:
    """Keys of the items of these stages, each with its text; empty where there are more than `most`."""
    items = Item.objects.filter(stage__in=earlier, withdrawn_at=None).order_by("key")
    rows = list(items.values_list("key", "text", "concept")[: most + 1]) if earlier else []
    if len(rows) > most:
        return []
    words = ((key, text or concept) for key, text, concept in rows)
    return [(key, f"{textwrap.shorten(text, 60, placeholder='…')} ({key})" if text else key) for key, text in words]
