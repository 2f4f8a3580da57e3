"""Each report of a benchmark from what an address asks for: the same for its page, its files and REST."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from django.http import QueryDict

from benchmarks.models import Benchmark, Stage
from evaluation.reports.comparison_filters import EVERYBODY
from evaluation.reports.judge_report import JudgeReport, judge_report
from evaluation.selections.catalogue import Catalogue, StageEntry
from evaluation.selections.selection import Selection, select

MODELS_OPTIONS = ("statistic", "truth")
JUDGE_OPTIONS = ("judge",)


def agreement_selection(catalogue: Catalogue, params: QueryDict, zone: tzinfo) -> Selection:
    """Of the reports about agreement. Raises SelectionError."""
    return select(catalogue, params, zone=zone, every_question=True)


def judge_for(catalogue: Catalogue, params: QueryDict, zone: tzinfo, at: datetime) -> JudgeReport:
    """Raises SelectionError."""
    selection = selection_with_models(catalogue, params, zone, judging=True)
    return judge_report(catalogue, selection, judge_ids(params), at)


def judge_ids(params: QueryDict) -> list[str]:
    """Who is to judge: ids, each in a `judge` of its own, or joined by "+", which may have been read as a blank."""
    return [pk for value in params.getlist("judge") for pk in value.replace("+", " ").split()]


def reviewed_stages(benchmark: Benchmark) -> list[Stage]:
    """The stages whose answers reviewers decide on."""
    return list(benchmark.stages.filter(acceptance=Stage.Acceptance.BY_REVIEW).order_by("position", "pk"))


def selection_with_models(
    catalogue: Catalogue, params: QueryDict, zone: tzinfo, *, judging: bool = False
) -> Selection:  # fmt: skip
    """What the address selects, people and models alike; where it names neither stage nor campaign, the first stage in
    which a model has answered, and of these one with a question that has codes. With `judging`, a stage in which
    people and models judge answers goes before the others. Raises SelectionError."""
    asked = params_with_stage(catalogue, params, has_codes, judging=judging)
    return replace(select(catalogue, asked, zone=zone), raters=EVERYBODY)


def has_codes(stage: StageEntry) -> bool:
    """Whether a question of the stage is answered with codes, whose agreement has a measure."""
    return bool(stage.current[0].fields)


def is_compared(stage: StageEntry) -> bool:
    """Whether a question of the stage can be compared: any but a text."""
    sheet = stage.current[0].sheet
    return any(sheet.level(field.key) not in ("text", "none") for field in sheet.fields)


def params_with_stage(
    catalogue: Catalogue, params: QueryDict, accepts: Callable[[StageEntry], bool], *, judging: bool = False
) -> QueryDict:
    """The parameters, with the stage that is shown where they name none."""
    asked = params.copy()

    def is_judged(stage: StageEntry) -> bool:
        return judging and stage.judges and stage.id in catalogue.answered

    if not any(asked.getlist("stage") + asked.getlist("campaign")):
        by_use: Sequence[StageEntry] = sorted(
            catalogue.stages, key=lambda stage: (not stage.has_models, not is_judged(stage))
        )
        first = next((stage for stage in by_use if accepts(stage)), catalogue.stages[0])
        if first is not catalogue.shown_first or not first.current[0].fields:
            asked["stage"] = first.key
    return asked
