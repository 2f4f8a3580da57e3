"""Agreement of every stage in every cohort, for the board of a benchmark: a worker computes it when answers have come,
and the page shows what is stored, with the moment it was computed.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import QueryDict

from annotation.models import CampaignCohort
from annotation.queries.answers import watermark
from benchmarks.models import Benchmark, Stage
from evaluation.metrics.estimate import Estimate
from evaluation.models import Snapshot
from evaluation.reports.agreement import cohort_estimates
from evaluation.reports.linked_stages import LinkedEstimates, linked_estimates
from evaluation.selections.catalogue import POOLED, Catalogue, StageEntry, catalogue_of
from evaluation.selections.selection import SelectionError, select, with_all_cohorts
from evaluation.services import snapshots
from jobs.connections.broker import dispatch
from people.models import Cohort

REPORT = "board agreement"
MODELS_REPORT = "board models"  # computed with it
TASK = "evaluation.renew_board"
SHARE = 20  # a report that takes long is computed again only after so many times as long
LINKED = ("iou", "share", "f1")  # what is 1 where people agree; a distance is not


@dataclass(frozen=True)
class StageAgreement:
    """`key`: of the stage, or of the stage that settles what linked stages differ in; then `linked` has the keys of
    these. `measure`: of the first compared question, or that of the link. `estimates` by cohort, POOLED for all."""

    key: str
    measure: str
    linked: Sequence[str]
    estimates: Mapping[int, Estimate]

    @property
    def choice(self) -> str:
        """Its name in an address."""
        return f"{self.key}.linked" if self.linked else self.key

    @property
    def n_values(self) -> int:
        return sum(estimate.value is not None for estimate in self.estimates.values())

    @property
    def has_ratings(self) -> bool:
        return any(estimate.n_ratings for estimate in self.estimates.values())


@dataclass(frozen=True)
class BoardAgreement:
    """What is stored: `newer` answers came since `computed_at`, snapshots.MOST at most."""

    stages: Sequence[StageAgreement]
    computed_at: datetime
    newer: int


def load(benchmark: Benchmark) -> BoardAgreement | None:
    """What a worker computed last; None before the first time. Two queries, and nothing is computed."""
    snapshot = Snapshot.objects.filter(benchmark=benchmark, report=REPORT, key=_key(benchmark)).first()
    return _stored(snapshot, snapshots.count_newer(snapshot)) if snapshot is not None else None


def load_each(benchmarks: Iterable[Benchmark]) -> dict[int, BoardAgreement]:
    """The same of each of these, by benchmark, without the number of newer answers. One query."""
    keys = [_key(benchmark) for benchmark in benchmarks]
    return {row.benchmark_id: _stored(row) for row in Snapshot.objects.filter(report=REPORT, key__in=keys)}


def _stored(snapshot: Snapshot, newer: int = 0) -> BoardAgreement:
    return BoardAgreement([_from_data(row) for row in snapshot.data["report"]], snapshot.computed_at, newer)


def renew_all(at: datetime) -> int:
    """Ask workers for the report of each benchmark in which something has changed; for the beat."""
    benchmarks = Benchmark.objects.filter(stages__campaigns__opened_at__isnull=False).distinct()
    stored = {row.benchmark_id: row for row in Snapshot.objects.filter(report=REPORT)}
    known = set(Snapshot.objects.filter(report=MODELS_REPORT).values_list("benchmark", flat=True))
    due = [row for row in benchmarks if row.pk not in known or _is_due(row, stored.get(row.pk), at)]
    for benchmark in due:
        dispatch(TASK, benchmark.pk)
    return len(due)


def _is_due(benchmark: Benchmark, snapshot: Snapshot | None, at: datetime) -> bool:
    if snapshot is None or snapshot.key != _key(benchmark):
        return True
    return is_rested(snapshot, at) and watermark(benchmark) != snapshot.watermark


def is_rested(snapshot: Snapshot | None, at: datetime) -> bool:
    """Whether what took long to compute is long enough ago."""
    if snapshot is None:
        return True
    return at - snapshot.computed_at >= max(snapshots.REST, timedelta(seconds=SHARE * snapshot.seconds))


def renew(benchmark: Benchmark, at: datetime) -> bool:
    """Compute it and keep it; False while another worker is at it."""
    key = _key(benchmark)
    return snapshots.compute_if_unlocked(benchmark, REPORT, key, lambda: compute(benchmark), at) is not None


def compute(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Each stage in which people were asked, by its first compared question, and each link between stages."""
    catalogue = catalogue_of(benchmark)
    asked = _stages_with_people(benchmark)
    stages = [_stage_data(catalogue, entry) for entry in catalogue.stages]
    by_label = {cohort.label: pk for pk, cohort in catalogue.cohorts.items()}
    by_label |= dict(Cohort.objects.filter(team=benchmark.team_id).values_list("label", "pk"))
    links = [_link_data(link, by_label) for link in linked_estimates(benchmark) if link.measure in LINKED]
    return [data for data in stages if data and (data["key"] in asked or _has_ratings(data))] + links


def _stages_with_people(benchmark: Benchmark) -> set[str]:
    """Keys of the stages that ask people; the others are open for models only."""
    stages = Stage.objects.filter(benchmark=benchmark, target_answers__gt=0)
    rows = CampaignCohort.objects.filter(campaign__stage__in=stages, target_answers__gt=0)
    return set(rows.values_list("campaign__stage__key", flat=True))


def _stage_data(catalogue: Catalogue, entry: StageEntry) -> dict[str, Any] | None:
    query = QueryDict(mutable=True)
    query["stage"] = entry.key
    try:
        selection = with_all_cohorts(select(catalogue, query, every_question=True))
    except SelectionError:
        return None
    of_cohort = {cohort: estimates[0] for cohort, estimates in cohort_estimates(selection).items() if estimates}
    if len(selection.cohorts) == 1:
        of_cohort[POOLED] = of_cohort[selection.cohorts[0]]
    return {"key": entry.key, "measure": selection.measures[0].key, "linked": [], "estimates": _to_data(of_cohort)}


def _link_data(link: LinkedEstimates, by_label: Mapping[str, int]) -> dict[str, Any]:
    named = ((by_label.get(label or ""), estimate) for label, estimate in link.by_cohort.items())
    of_cohort = {cohort: estimate for cohort, estimate in named if cohort is not None}
    of_cohort[POOLED] = link.by_cohort.get(None) or next(iter(link.by_cohort.values()))
    return {"key": link.key, "measure": link.measure, "linked": list(link.stages), "estimates": _to_data(of_cohort)}


def _to_data(estimates: Mapping[int, Estimate]) -> list[list[Any]]:
    return [[cohort, estimate.to_json()] for cohort, estimate in estimates.items()]


def _from_data(data: Mapping[str, Any]) -> StageAgreement:
    estimates = {cohort: Estimate.from_json(estimate) for cohort, estimate in data["estimates"]}
    return StageAgreement(data["key"], data["measure"], data["linked"], estimates)


def _has_ratings(data: Mapping[str, Any]) -> bool:
    return any(estimate["n_ratings"] for _cohort, estimate in data["estimates"])


def _key(benchmark: Benchmark) -> str:
    """Of what is computed and how."""
    return hashlib.sha256(json.dumps([benchmark.pk, REPORT, snapshots.CODE]).encode()).hexdigest()
