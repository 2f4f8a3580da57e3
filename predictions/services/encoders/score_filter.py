"""A filter by a score that a model found: calibrated on what people say, chosen by a person, kept as a fact."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotation.models import Rating
from annotation.services.review.outcomes import facts_of, judge_items
from benchmarks.models import Item, ItemFact, Stage
from jobs.models import record
from people.models import Rater, User
from predictions.retrieval import calibration
from predictions.retrieval.calibration import CalibrationPoint

FITS = "fits"
STEP = 500


@dataclass(frozen=True)
class LabelledScores:
    """Items with a score and a majority of people; `tied`: those of whom people are divided, which are left out."""

    items: Sequence[int]
    scores: Sequence[float]
    right: Sequence[bool]
    people: int
    tied: int
    unlabelled: int


def labelled_scores(stage: Stage, fact: str, field: str, codes: Collection[str]) -> LabelledScores:
    """`codes`: those of the field's that mean that the item is right. Counted answers of people; majority of them."""
    scores = scores_of(stage, fact)
    votes_by_item: dict[int, list[bool]] = defaultdict(list)
    raters = set()
    rows = Rating.objects.filter(
        unit__item__in=scores, field=field, live=True, counted=True, rater__kind=Rater.Kind.PERSON
    ).values_list("unit__item", "rater", "code")
    for item, rater, code in rows:
        votes_by_item[item].append(code in codes)
        raters.add(rater)
    shares = {item: sum(votes) / len(votes) for item, votes in sorted(votes_by_item.items())}
    known = [item for item, share in shares.items() if share != 0.5]
    return LabelledScores(
        known, [scores[item] for item in known], [shares[item] > 0.5 for item in known], len(raters),
        len(shares) - len(known), len(scores) - len(shares),
    )  # fmt: skip


def scores_of(stage: Stage, fact: str) -> dict[int, float]:
    """Of standing items, the newest fact of this key that is a number."""
    items = list(Item.objects.filter(stage=stage, withdrawn_at=None).values_list("pk", flat=True))
    found = {pk: facts.get(fact) for pk, facts in facts_of(items).items()}
    return {pk: float(value) for pk, value in sorted(found.items()) if isinstance(value, int | float)}


def apply_threshold(
    stage: Stage, fact: str, threshold: float, actor: User, at: datetime, labelled: LabelledScores | None = None
) -> tuple[int, int]:
    """Keep the choice as a fact of every item that has a score, `fits` 1 or 0, which rules and draws can name; and say
    who chose it, and what was known of it. How many fit, and how many do not."""
    scores, source = scores_of(stage, fact), f"{fact} >= {calibration.exact_text(threshold)}"
    chosen_point = (
        calibration.point(labelled.scores, labelled.right, threshold) if labelled and labelled.items else None
    )
    with transaction.atomic():
        event = record(
            actor, "filter.chosen", scope=stage.benchmark.scope, target=f"stage:{stage.pk}", fact=fact,
            threshold=threshold, seen=_seen(chosen_point, labelled),
        )  # fmt: skip
        ItemFact.objects.bulk_create(
            (
                ItemFact(item_id=pk, key=FITS, value=int(score >= threshold), source=source, version=str(event.pk))
                for pk, score in scores.items()
            ),
            batch_size=STEP,
        )  # fmt: skip
        judge_items(scores, at)
    fitting = sum(score >= threshold for score in scores.values())
    return fitting, len(scores) - fitting


def _seen(point: CalibrationPoint | None, labelled: LabelledScores | None) -> dict[str, object]:
    if point is None or labelled is None:
        return {}
    return {
        "precision": point.precision,
        "recall": point.recall,
        "labelled": len(labelled.items),
        "people": labelled.people,
    }
