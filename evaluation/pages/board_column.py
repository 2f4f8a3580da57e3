"""The column *Agreement* of the board: one stage's agreement in each cohort, with a choice of the stage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.pages.status_text import format_moment, time_zone_for
from benchmarks.models import Benchmark
from benchmarks.pages.board import ALL_COHORTS, Reading, SideColumn, Sum
from evaluation.pages.stage_agreement import axis_of, measure_name, stage_name, stages_with_values
from evaluation.rendering.axis import axis_for
from evaluation.rendering.html import estimate_bar
from evaluation.reports.board_agreement import BoardAgreement, StageAgreement, load, load_each
from evaluation.reports.board_models import load_best
from evaluation.reports.models_page import STATISTIC_LABELS, rank_band
from evaluation.selections.catalogue import POOLED
from evaluation.services.snapshots import MOST
from predictions.pages.variant_names import VariantNames

PARAM = "agreement"
TITLE_ONLY = ("free_text", "not_comparable")  # what their sentence says more is about another page


def agreement_column(reading: Reading) -> SideColumn | None:
    """What is stored of the stage that the address names; else of the one with the most values, of several the last.
    Two queries."""
    report = load(reading.benchmark)
    if report is None:
        data: dict[str, Any] = {"note": _("Agreement is computed in the background, within a minute after answers.")}
        return _column({}, data) if any(stage.target_answers for stage in reading.stages) else None
    stages = _in_order(reading, report.stages)
    if not stages:
        return None
    by_key = {stage.key: stage.name for stage in reading.stages}
    names = {stage.choice: stage_name(stage, by_key) for stage in stages}
    shown = next((stage for stage in stages if stage.choice == reading.asked.get(PARAM)), None) or _first_choice(stages)
    axis = axis_of(shown)
    cells = {ALL_COHORTS if cohort == POOLED else cohort: estimate for cohort, estimate in shown.estimates.items()}
    bars = {cohort: estimate_bar(estimate, axis) for cohort, estimate in cells.items()}
    for cohort, estimate in cells.items():
        if estimate.reason in TITLE_ONLY:
            bars[cohort]["reason"] = ""
    page = reverse(
        "evaluation:agreement", args=[reading.benchmark.slug], query={"stage": (*shown.linked, shown.key)[0]}
    )
    data = {
        "axis": axis if shown.n_values else None,
        "stage": names[shown.choice],
        "measure": measure_name(shown),
        "choices": [(stage.choice, names[stage.choice], stage is shown) for stage in stages],
        "param": PARAM,
        "url": page,
        "note": _age(reading, report),
    }
    pooled = bars.get(ALL_COHORTS)
    sums = [*([_agreement_sum(pooled, data)] if pooled else []), *_model_sum(reading, by_key)]
    return replace(_column(bars, data, axis.key), sums=sums)


def _agreement_sum(line: Mapping[str, Any], data: Mapping[str, Any]) -> Sum:
    """All cohorts together."""
    title = _("Agreement, all cohorts")
    stage = f"{data['stage']}: {data['measure']}"
    if not line.get("value"):
        return Sum(1, title, "", [f"{_('No value:')} {line['title']}", stage])
    return Sum(1, title, line["value"], [_interval_and_n(line), stage], data["url"])


def _interval_and_n(line: Mapping[str, Any]) -> str:
    return " ".join(filter(None, [line.get("interval") or line.get("no_interval"), line.get("n")]))


def _model_sum(reading: Reading, names: Mapping[str, str]) -> Iterator[Sum]:
    """The model closest to people. Nothing where none has a value."""
    best = load_best(reading.benchmark)
    if best is None or best.stage not in names:
        return
    line = estimate_bar(best.estimate, axis_for([best.estimate]))
    title = ngettext("The only model", "Best of %(n)s models", best.n_models) % {"n": best.n_models}
    statistic = STATISTIC_LABELS[best.statistic]
    variant = VariantNames(reading.benchmark, reading.stages).name_of(best.variant, best.stage)
    name = f"{best.name}, {variant}" if variant else best.name
    page = reverse("evaluation:models", args=[reading.benchmark.slug], query={"stage": best.stage})
    rank = rank_band(best.band, best.n_ranked) if best.band else ""
    lines = [_interval_and_n(line), name, rank, f"{names[best.stage]}: {statistic}"]
    yield Sum(2, title, line["value"], [words for words in lines if words], page)


def list_agreement(benchmarks: Sequence[Benchmark]) -> Mapping[int, Mapping[str, Any]]:
    """For the list of benchmarks: all cohorts together, at the stage with the most values. By benchmark, without those
    that have no value. One query, and the stages."""
    reports = load_each(benchmarks)
    shown = ((benchmark.pk, _of_list(benchmark, reports.get(benchmark.pk))) for benchmark in benchmarks)
    return {pk: data for pk, data in shown if data is not None}


def _of_list(benchmark: Benchmark, report: BoardAgreement | None) -> Mapping[str, Any] | None:
    names = {stage.key: stage.name for stage in benchmark.stages.all()}
    choices = stages_with_values(report, names)
    if not choices:
        return None
    shown = _first_choice(choices)
    line = estimate_bar(shown.estimates[POOLED], axis_of(shown))
    return {"line": line, "measure": measure_name(shown), "stage": stage_name(shown, names)}


def _column(cells: Mapping[int, Any], data: Mapping[str, Any], style: str = "") -> SideColumn:
    folder = "evaluation/parts"
    return SideColumn(
        _("Agreement"),
        f"{folder}/board_head.html",
        f"{folder}/estimate.html",
        f"{folder}/board_below.html",
        cells,
        data,
        style,
    )


def _in_order(reading: Reading, stages: Sequence[StageAgreement]) -> list[StageAgreement]:
    """As on the board, without stages that are gone."""
    places = {stage.key: at for at, stage in enumerate(reading.stages)}
    return sorted((stage for stage in stages if stage.key in places), key=lambda stage: places[stage.key])


def _first_choice(stages: Sequence[StageAgreement]) -> StageAgreement:
    """The stage with the most values; among equals one with ratings, and the later one."""
    return max(reversed(stages), key=lambda stage: (stage.n_values, stage.has_ratings))


def _age(reading: Reading, report: BoardAgreement) -> str:
    """When it was computed, and how much has come since."""
    text = _("Agreement as of %(moment)s.")
    if report.newer >= MOST:
        text = _("Agreement as of %(moment)s; more than %(n)s newer answers are not in it yet.")
    elif report.newer:
        text = ngettext(
            "Agreement as of %(moment)s; %(n)s newer answer is not in it yet.",
            "Agreement as of %(moment)s; %(n)s newer answers are not in it yet.",
            report.newer,
        )
    moment = format_moment(report.computed_at, time_zone_for(reading.user))
    return text % {"moment": moment, "n": f"{report.newer:,}"}
