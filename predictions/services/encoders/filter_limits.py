"""The limit of a filter by a fact, chosen on labels of people: a new version of the filters says what was seen."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from benchmarks.models import Stage
from benchmarks.rules.filters import FilterRule, parse_filters
from benchmarks.services.intake import filter_versions
from jobs.models import Job
from people.models import User
from predictions.queries.calibration_labels import LabelledScores, Limit, labelled_scores
from predictions.retrieval import calibration


def use_as_limit(
    stage: Stage, rule: FilterRule, limit: float, labels: Stage, field: str, codes: Collection[str], actor: User, *,
    number_seen: int,
) -> Job | None:  # fmt: skip
    """Write the version of the filters with this limit, and start the job that judges the stage's items again.

    What was seen is computed here, from the labels as they are now. Raises FilterError if the limit contradicts the
    filter's other limit, FiltersChanged if `number_seen` is not the current version any more.
    """
    side = Limit.of_rule(rule).side
    labelled = labelled_scores(stage, rule, labels, field, codes)
    changed = replace(rule, params={**rule.params, side: limit})
    definition = [(changed if other.key == rule.key else other).to_json() for other in parse_filters(stage.filters)]
    seen = seen_of(rule, limit, labelled) | {"labels": labels.key, "field": field, "codes": sorted(codes)}
    return filter_versions.set_filters(stage, definition, actor, number_seen=number_seen, measured={rule.key: seen})


def seen_of(rule: FilterRule, limit: float, labelled: LabelledScores) -> dict[str, Any]:
    """What was measured at this limit: precision and recall with their intervals and counts, labels and people."""
    chosen = Limit.of_rule(rule)
    point = calibration.point(labelled.scores, labelled.right, chosen.sign * limit)
    return {
        "fact": chosen.fact,
        "side": chosen.side,
        "limit": limit,
        "precision": _share(point.precision, point.precision_ends, point.right, point.kept, "nothing_kept"),
        "recall": _share(point.recall, point.recall_ends, point.right, point.relevant, "nothing_relevant"),
        "n": len(labelled.items),
        "people": labelled.people,
        "cohorts": labelled.cohorts,
        "tied": labelled.tied,
    }


def _share(value: float | None, ends: tuple[float, float] | None, count: int, n: int, reason: str) -> dict[str, Any]:
    """A share with Wilson's interval of 95 %, or the reason why there is none."""
    if value is None or ends is None:
        return {"value": None, "reason": reason, "n": n}
    return {"value": value, "low": ends[0], "high": ends[1], "count": count, "n": n}
