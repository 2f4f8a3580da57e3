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
    `n_models`: how many have a value there. `band`: its first and last possible rank of `n_ranked`."""

    stage: str
    statistic: str
    name: str
    variant: str
    n_models: int
    estimate: Estimate
    band: tuple[int, int] | None = None
    n_ranked: int = 0


def load_best(benchmark: Benchmark) -> BestModel | None:
    """What a worker computed last; None where no model has a value. One query, and nothing is computed."""
    snapshot = Snapshot.objects.filter(benchmark=benchmark, report=REPORT, key=_key(benchmark)).first()
    if snapshot is None or not snapshot.data["report"]:
        return None
    data = snapshot.data["report"]
    band = (data["band"][0], data["band"][1]) if data.get("band") else None
    return BestModel(**(data | {"estimate": Estimate.from_json(data["estimate"]), "band": band}))


def renew_best(benchmark: Benchmark, at: datetime) -> bool:
    """Compute it and keep it; False while another worker is at it, and soon after it has taken long."""
    key = _key(benchmark)
    if not is_rested(Snapshot.objects.filter(benchmark=benchmark, report=REPORT, key=key).first(), at):
        return False
    return snapshots.compute_if_unlocked(benchmark, REPORT, key, lambda: compute(benchmark, at), at) is not None


def compute(benchmark: Benchmark, at: datetime) -> dict[str, Any]:
    """Empty where no model has a value, where there is too much to compute, or where what the stage asks first has no
    codes: another question, such as whether the person is sure, does not say which model is best."""
    catalogue = catalogue_of(benchmark)
    if not any(stage.has_models for stage in catalogue.stages):
        return {}
    try:
        report = models_for(catalogue, QueryDict(), UTC, at)
    except SelectionError:
        return {}
    stage = next(stage for stage in catalogue.stages if stage.key == report.selection.stage)
    return _best_of(report) if stage.current[0].sheet.fields[0].key == report.selection.field else {}


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
        "band": best.band,
        "n_ranked": sum(line.band is not None for line in report.lines),
    }


def _key(benchmark: Benchmark) -> str:
    return hashlib.sha256(json.dumps([benchmark.pk, REPORT, snapshots.CODE]).encode()).hexdigest()
