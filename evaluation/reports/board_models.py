"""The model that is closest to people, for the board of a benchmark: a worker computes it, and the page shows what is
stored.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.http import QueryDict

from benchmarks.models import Benchmark
from evaluation.metrics.estimate import Estimate
from evaluation.models import Snapshot
from evaluation.reports.board_agreement import MODELS_REPORT, is_rested
from evaluation.reports.models_report import ModelsReport
from evaluation.reports.stored_models import models_for
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import SelectionError
from evaluation.services import snapshots

REPORT = MODELS_REPORT


@dataclass(frozen=True)
class BestModel:
    """The model with the highest value at the stage that the page “Models” opens on. `variant`: how it was asked.
    `n_models`: how many have a value there."""

    stage: str
    statistic: str
    name: str
    variant: str
    n_models: int
    estimate: Estimate


def load_best(benchmark: Benchmark) -> BestModel | None:
    """What a worker computed last; None where no model has a value. One query, and nothing is computed."""
    snapshot = Snapshot.objects.filter(benchmark=benchmark, report=REPORT, key=_key(benchmark)).first()
    if snapshot is None or not snapshot.data["report"]:
        return None
    data = snapshot.data["report"]
    return BestModel(**(data | {"estimate": Estimate.from_json(data["estimate"])}))


def renew_best(benchmark: Benchmark, at: datetime) -> bool:
    """Compute it and keep it; False while another worker is at it, and soon after it has taken long."""
    key = _key(benchmark)
    if not is_rested(Snapshot.objects.filter(benchmark=benchmark, report=REPORT, key=key).first(), at):
        return False
    return snapshots.compute_if_unlocked(benchmark, REPORT, key, lambda: compute(benchmark, at), at) is not None


def compute(benchmark: Benchmark, at: datetime) -> dict[str, Any]:
    """Empty where no model has a value, or where there is too much to compute."""
    catalogue = catalogue_of(benchmark)
    if not any(stage.has_models for stage in catalogue.stages):
        return {}
    try:
        return _best_of(models_for(catalogue, QueryDict(), UTC, at))
    except SelectionError:
        return {}


def _best_of(report: ModelsReport) -> dict[str, Any]:
    valued = [(line.overall.value, line) for line in report.lines if line.overall.value is not None]
    if not valued:
        return {}
    _value, best = max(valued, key=lambda row: row[0])
    return {
        "stage": report.selection.stage,
        "statistic": report.statistic,
        "name": best.rater.name,
        "variant": best.rater.setting,
        "n_models": len(valued),
        "estimate": best.overall.to_json(),
    }


def _key(benchmark: Benchmark) -> str:
    return hashlib.sha256(json.dumps([benchmark.pk, REPORT, snapshots.CODE]).encode()).hexdigest()
