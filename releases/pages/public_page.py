"""What everybody may see of a benchmark that its owner made public: its chain, agreement and releases, and how the
people of one cohort answered about one picture.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import get_language

from annotation.fields.contract import localise
from annotation.imports.example import allowed_codes
from annotation.models import Rating
from annotation.queries.answers import answers_left_out
from annotation.queries.progress import Progress, cohort_progress
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.sheets.sheet import Field
from benchmarks.models import Benchmark, ItemImage, Stage
from benchmarks.queries.overview import sample_pictures
from evaluation.pages.stage_agreement import axis_of, measure_name, stage_name, stages_with_values
from evaluation.rendering.axis import Axis
from evaluation.rendering.html import estimate_bar
from evaluation.reports.board_agreement import BoardAgreement, load_each
from evaluation.selections.catalogue import POOLED
from people.models import Cohort, Rater
from releases.descriptions.licences import may_be_shared
from releases.models import Release, WithheldFile

FEW = 3  # people: answers of fewer are not shown to everybody
SAMPLE = 24  # pictures of a stage of which the one with the most answers is shown
MOST_CODES = 7
TRIED = 50  # public benchmarks of which the front page shows one


@dataclass(frozen=True)
class Level:
    """A code of a question: how many people chose it, and the height of its column in twentieths."""

    code: str
    n: int
    height: int


@dataclass(frozen=True)
class Example:
    """A picture, and how people of one cohort answered about it."""

    use: ItemImage
    question: str
    cohort: str
    n: int
    levels: Sequence[Level]


@dataclass(frozen=True)
class PublicAgreement:
    """Of the stage with the most values, a row for each cohort: its name, and a line for parts/estimate.html."""

    stage: str
    measure: str
    axis: Axis
    rows: Sequence[tuple[str, dict[str, Any]]]
    computed_at: datetime
    stage_key: str = ""


@dataclass(frozen=True)
class StageLine:
    """A stage, and the answers of people that it has of those that are wanted."""

    name: str
    progress: Progress


@dataclass(frozen=True)
class PublicPage:
    benchmark: Benchmark
    cohorts: Sequence[Cohort]
    stages: Sequence[StageLine]
    answers: int
    agreement: PublicAgreement | None
    example: Example | None
    releases: Sequence[Release]


def public_page(benchmark: Benchmark) -> PublicPage:
    """A fixed number of queries, however many answers there are."""
    return _page_of(benchmark, load_each([benchmark]).get(benchmark.pk))


def _page_of(benchmark: Benchmark, report: BoardAgreement | None) -> PublicPage:
    stages = list(benchmark.stages.all())
    chain = cohort_progress(stages)
    lines = _stage_lines(stages, chain)
    agreement = _agreement(report, stages)
    return PublicPage(
        benchmark,
        sorted({cohort for of_stage in chain.values() for cohort in of_stage}, key=lambda cohort: cohort.name),
        lines,
        sum(line.progress.submitted for line in lines),
        agreement,
        _example(stages, agreement),
        list(benchmark.releases.filter(state=Release.State.PUBLISHED).order_by("-published_at")),
    )


def front_page() -> PublicPage | None:
    """Return the first public benchmark that has a value to show. As many queries for many of them as for one."""
    benchmarks = list(Benchmark.objects.filter(is_public=True).order_by("pk")[:TRIED])
    reports, keys = load_each(benchmarks), defaultdict[int, set[str]](set)
    for benchmark, key in Stage.objects.filter(benchmark__in=benchmarks).values_list("benchmark", "key"):
        keys[benchmark].add(key)
    shown = (row for row in benchmarks if stages_with_values(reports.get(row.pk), keys[row.pk]))
    chosen = next(shown, None)
    return _page_of(chosen, reports[chosen.pk]) if chosen is not None else None


def _stage_lines(stages: Sequence[Stage], chain: Mapping[int, Mapping[Cohort, Progress]]) -> list[StageLine]:
    asked = [stage for stage in stages if stage.pk in chain]
    return [StageLine(stage.name, sum(chain[stage.pk].values(), Progress())) for stage in asked]


def _agreement(report: BoardAgreement | None, stages: Sequence[Stage]) -> PublicAgreement | None:
    """What a worker computed last of the stage with the most values; None while there is none."""
    names = {stage.key: stage.name for stage in stages}
    choices = stages_with_values(report, names)
    if report is None or not choices:
        return None
    shown = max(choices, key=lambda stage: (not stage.linked, stage.n_values))
    axis = axis_of(shown)
    cohorts = Cohort.objects.in_bulk([pk for pk in shown.estimates if pk != POOLED])
    rows = [(cohort.name, estimate_bar(shown.estimates[pk], axis)) for pk, cohort in cohorts.items()]
    in_order = sorted(rows, key=lambda row: row[0])
    name, measure = stage_name(shown, names), measure_name(shown)
    return PublicAgreement(name, measure, axis, in_order, report.computed_at, shown.key)


def _example(stages: Sequence[Stage], agreement: PublicAgreement | None) -> Example | None:
    """Of the stage whose agreement is shown, the picture that most people of one cohort answered about. None where
    a release withholds answers: the picture may be one of those.
    """
    stage = next((stage for stage in stages if agreement and stage.key == agreement.stage_key), None)
    field = _first_coded(stage) if stage else None
    if stage is None or field is None or WithheldFile.objects.filter(release__benchmark=stage.benchmark_id).exists():
        return None
    uses = {use.item_id: use for use in sample_pictures([stage], SAMPLE)[stage.pk] if may_be_shared(use.licence)}
    counts: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for (item, cohort, _rater), code in _latest_codes(stage, field, uses).items():
        counts[item, cohort][code] += 1
    if not counts:
        return None
    (item, cohort_id), chosen = max(counts.items(), key=lambda row: (row[1].total(), row[0]))
    if chosen.total() < FEW:
        return None
    return _example_of(uses[item], Cohort.objects.get(pk=cohort_id), field, chosen)


def _first_coded(stage: Stage) -> Field | None:
    """The first question, where it has a list of a few ordered codes."""
    campaign = stage.campaigns.exclude(opened_at=None).select_related("sheet_version").order_by("-pk").first()
    if campaign is None:
        return None
    field = sheet_of(campaign.sheet_version).fields[0]
    codes = allowed_codes(field)
    return field if field.spec.level(field.config) == "ordinal" and 1 < len(codes) <= MOST_CODES else None


def _latest_codes(stage: Stage, field: Field, items: Iterable[int]) -> dict[tuple[int, int, int], str]:
    """By item, cohort and person, the code that they gave last: one person who answered in two campaigns is one."""
    shown = list(items)
    left_out = answers_left_out(stage.benchmark).filter(assignment__unit__item__in=shown).values_list("pk", flat=True)
    rows = (
        Rating.objects.filter(unit__item__in=shown, campaign__stage=stage, field=field.key, live=True)
        .filter(counted=True, rater__kind=Rater.Kind.PERSON, cohort__isnull=False, unit__item__withdrawn_at=None)
        .exclude(annotation__in=list(left_out))
        .order_by("annotation__submitted_at", "annotation")
    )
    return {
        (item, cohort, rater): code
        for item, cohort, rater, code in rows.values_list("unit__item", "cohort", "rater", "code")
    }


def _example_of(use: ItemImage, cohort: Cohort, field: Field, counts: Counter[str]) -> Example:
    question = localise(field.label, get_language() or "en", cohort.name)
    most = max(counts.values())
    levels = [Level(code, counts[code], 20 * counts[code] // most) for code in map(str, allowed_codes(field))]
    return Example(use, question, cohort.name, counts.total(), levels)
