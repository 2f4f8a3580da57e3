"""What the page that opens the whole chain shows: its stages with their cohorts, and what the work will take."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from django import forms
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.forms.chain_opening import ChainForm, StageDefaults
from annotation.models import Campaign, CampaignCohort
from annotation.queries.board_counts import opened_for_models
from annotation.queries.pace import StagePace, pace_of
from annotation.services.campaigns.chain_opening import RUNNING, StageOpening
from annotation.services.campaigns.instructions import newest_version, texts_of
from annotation.services.campaigns.people_needed import people_shortages
from annotation.services.queue.slot_creation import count_items
from annotation.services.sheets.stage_warnings import stage_warnings
from annotation.services.sheets.stages import content_of
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.plugin_pages import PluginPage
from benchmarks.pages.stage_sources import FillingPage, source_page
from benchmarks.queries.model_conditions import is_set, named_conditions
from benchmarks.queries.recipe_cohorts import recipe_cohorts
from people.locales.draft_marks import text_language_name
from people.locales.languages import native_name
from people.models import Cohort, User

State = Campaign.State


@dataclass(frozen=True)
class StageState:
    """A stage as it is now. `campaign` is open or paused; `closed` and `draft` are the newest of their kind. `asked`:
    targets in `campaign`, by the id of the cohort, 0 where it is open for models only; `items`: items each cohort would
    be asked about, likewise."""

    stage: Stage
    campaign: Campaign | None
    closed: Campaign | None
    draft: Campaign | None
    asked: Mapping[int, int]
    items: Mapping[int, int]


@dataclass(frozen=True)
class CohortCell:
    """A cohort of a stage: its number field, or the target it has already; 0 where the stage is open for models."""

    cohort: Cohort
    field: forms.BoundField
    items: int
    target: int | None


@dataclass(frozen=True)
class ChainRow:
    """A stage as a row of the form. `items`: of now, by cohort, fewest and most, None without any. `unread`: cohorts
    without instructions in a language of theirs, with these languages. `warnings`: what refuses nothing: too few people
    and, of a stage that is not open, what its settings mean."""

    number: int
    state: StageState
    open: forms.BoundField
    target: forms.BoundField
    opens_on: forms.BoundField
    closes_on: forms.BoundField
    cells: list[CohortCell]
    items: tuple[int, int] | None
    languages: list[str]
    unread: list[tuple[Cohort, str]]
    warnings: list[str]

    @property
    def filled_by(self) -> PluginPage | FillingPage | None:
        return source_page(self.state.stage)

    @property
    def differs(self) -> bool:
        """Whether something stands in the part of the row that is folded."""
        fields = [self.opens_on, self.closes_on, *(cell.field for cell in self.cells if cell.target is None)]
        return any(field.value() not in (None, "") or field.errors for field in fields)


@dataclass(frozen=True)
class ModelCost:
    """US dollars for asking the items of now, at the mean cost of `calls` earlier calls of `models` models."""

    dollars: Decimal
    models: int
    calls: int


@dataclass(frozen=True)
class ChainWork:
    """What an opening asks for. `stages` and `cohorts`: how many are opened anew, and for how many. `answers`: to the
    items that are there; `later`: stages that have none yet. `hours`: at
    the first quartile, the median and the third quartile of the stages' pace; None where one pace is not known.
    `timed`: the answers that the pace is taken from."""

    stages: int
    cohorts: int
    answers: int
    later: list[Stage]
    hours: tuple[float, float, float] | None
    timed: int
    cost: ModelCost | None


class OpeningPart(Protocol):
    """What an app above this one asks for in the form that opens the chain."""

    template: str

    def form(self, benchmark: Benchmark, posted: Mapping[str, Any] | None) -> forms.Form | None:
        """None where nothing is to be asked."""

    def carry_out(self, benchmark: Benchmark, form: forms.Form, actor: User, at: datetime) -> list[str]:
        """Do what a valid form asks for, once the chain is open; sentences for the person."""


_PARTS: list[OpeningPart] = []


def register_part(part: OpeningPart) -> None:
    _PARTS.append(part)


def opening_parts(benchmark: Benchmark, posted: Mapping[str, Any] | None) -> list[tuple[OpeningPart, forms.Form]]:
    forms_by_part = ((part, part.form(benchmark, posted)) for part in _PARTS)
    return [(part, form) for part, form in forms_by_part if form is not None]


CostFinder = Callable[[Mapping[int, int]], ModelCost | None]
_COST_FINDERS: list[CostFinder] = []


def register_cost(find: CostFinder) -> None:
    """Let an app above say what models cost. `find` takes how many units each stage would get, by its id."""
    if find not in _COST_FINDERS:
        _COST_FINDERS.append(find)


def stage_states(benchmark: Benchmark, cohorts: Sequence[Cohort]) -> list[StageState]:
    """Return every stage in its order. Three queries, up to two where campaigns are paused, and one for each stage."""
    campaigns = list(Campaign.objects.filter(stage__benchmark=benchmark).order_by("pk"))
    for_models = opened_for_models(campaigns, benchmark.scope)
    asked: dict[int, dict[int, int]] = {}
    rows = CampaignCohort.objects.filter(campaign__in=campaigns)
    for campaign, cohort, target in rows.values_list("campaign", "cohort", "target_answers"):
        asked.setdefault(campaign, {})[cohort] = 0 if campaign in for_models else target

    def newest(stage: Stage, states: Collection[str]) -> Campaign | None:
        fitting = (one for one in reversed(campaigns) if one.stage_id == stage.pk and one.state in states)
        return next((one for one in fitting if one.state != State.CLOSED or one.opened_at), None)

    states = []
    for stage in benchmark.stages.select_related("benchmark"):
        running = newest(stage, RUNNING)
        counts = count_items(stage, [cohort.label for cohort in cohorts])
        states.append(
            StageState(
                stage,
                running,
                newest(stage, (State.CLOSED,)),
                newest(stage, (State.DRAFT,)),
                asked.get(running.pk, {}) if running else {},
                {cohort.pk: counts[cohort.label] for cohort in cohorts},
            )
        )
    return states


def stage_defaults(states: Sequence[StageState]) -> list[StageDefaults]:
    """What the form offers: each stage that was never closed, with the number its campaign or the stage has.

    A cohort that other stages ask and this one does not was left out on purpose: it stays so. A stage of imported or
    drawn items that asks nobody is not offered.
    """
    asked_somewhere = {cohort for state in states for cohort in state.asked}
    by_models = {way.stage for way in named_conditions(states[0].stage.benchmark)} if states else set()
    return [
        StageDefaults(
            state.stage,
            checked=bool(
                state.campaign or (not state.closed and (state.stage.key in by_models or not is_set(state.stage)))
            ),
            target=_usual_target(state) or state.stage.target_answers,
            targets=dict.fromkeys(asked_somewhere - state.asked.keys(), 0) if state.campaign else {},
        )
        for state in states
    ]


def _usual_target(state: StageState) -> int:
    """What most cohorts are asked for; 0 where none is."""
    return Counter(state.asked.values()).most_common(1)[0][0] if state.asked else 0


def _is_answered(stage: Stage, by_models: Collection[str]) -> bool:
    """Whether people or models answer in the stage. What is drawn or kept and shown to nobody is a set."""
    return stage.key in by_models or not is_set(stage)


def chosen_cohorts(benchmark: Benchmark, cohorts: Sequence[Cohort], states: Sequence[StageState]) -> set[int]:
    """Ids of those that are ticked at first: the recipe's, and those that are asked already; all where it names none of
    them."""
    asked = {cohort for state in states for cohort in state.asked}
    named = {row.cohort.pk for row in recipe_cohorts(benchmark) if row.cohort}
    return named | asked or {cohort.pk for cohort in cohorts}


def chain_rows(form: ChainForm, states: Sequence[StageState], cohorts: Sequence[Cohort]) -> list[ChainRow]:
    openings = [] if form.errors else form.openings()
    targets = {opening.stage_id: {**opening.targets} for opening in openings}
    for state in states:
        targets.setdefault(state.stage.pk, {}).update({cohort: n for cohort, n in state.asked.items() if n})
    shortages = people_shortages([state.stage for state in states], targets)
    return [
        _chain_row(number, form, state, cohorts, [shortage.text for shortage in shortages.get(state.stage.pk, ())])
        for number, state in enumerate(states, start=1)
    ]


def _chain_row(
    number: int, form: ChainForm, state: StageState, cohorts: Sequence[Cohort], shortages: Sequence[str]
) -> ChainRow:
    pk = state.stage.pk
    languages = _languages_of(state)
    ticked = {str(cohort) for cohort in form["cohorts"].value() or ()} | {str(cohort) for cohort in state.asked}
    counts = [state.items[cohort.pk] for cohort in cohorts]
    return ChainRow(
        number,
        state,
        form[f"open_{pk}"],
        form[f"target_{pk}"],
        form[f"opens_on_{pk}"],
        form[f"closes_on_{pk}"],
        [
            CohortCell(cohort, form[f"target_{pk}_{cohort.pk}"], state.items[cohort.pk], state.asked.get(cohort.pk))
            for cohort in cohorts
        ],
        (min(counts), max(counts)) if any(counts) else None,
        [text_language_name(language) for language in sorted(languages)],
        [
            (cohort, ", ".join(map(native_name, cohort.languages)))
            for cohort in cohorts
            if str(cohort.pk) in ticked
            and languages
            and cohort.languages
            and not languages & {code.split("-")[0] for code in cohort.languages}
        ],
        [*shortages, *([] if state.campaign else _warnings_of(state.stage))],
    )


def _warnings_of(stage: Stage) -> list[str]:
    return [problem.words for problem in stage_warnings(stage, content_of(stage))]


def _languages_of(state: StageState) -> set[str]:
    """Of the instructions that people read: the campaign's, else those that a new campaign starts with."""
    if state.campaign is None:
        written = [language for language, body in state.stage.instructions.items() if body.strip()]
    else:
        written = [draft.language for draft in texts_of(newest_version(state.campaign))]
    return {language.split("-")[0] for language in written}


def chain_work(states: Sequence[StageState], openings: Sequence[StageOpening]) -> ChainWork:
    """What these openings ask for beside what is asked already."""
    by_stage = {state.stage.pk: state for state in states}
    answers: dict[int, int] = {}
    units: dict[int, int] = {}
    opened: dict[int, set[int]] = {}
    for opening in openings:
        state = by_stage[opening.stage_id]
        new = {cohort: target for cohort, target in opening.targets.items() if cohort not in state.asked}
        wanted = [state.items[cohort] * target for cohort, target in new.items()]
        answers[opening.stage_id] = max(wanted, default=0) if state.stage.target_in_all else sum(wanted)
        counts = [state.items[cohort] for cohort in new]
        split = state.stage.asks_own_culture
        units[opening.stage_id] = sum(counts) if split else max(counts, default=0)
        if new:
            opened[opening.stage_id] = set(new)
    asked = {stage: n for stage, n in answers.items() if n}
    chosen = [by_stage[opening.stage_id] for opening in openings]
    pace = pace_of(asked)
    costs = [find(units) for find in _COST_FINDERS]
    return ChainWork(
        len(opened),
        len(set().union(*opened.values())),
        sum(answers.values()),
        [state.stage for state in chosen if not any(state.items.values())],
        _hours(asked, pace) if asked and asked.keys() <= pace.keys() else None,
        sum(pace[stage].n for stage in asked if stage in pace),
        next((cost for cost in costs if cost is not None), None),
    )


def opening_label(work: ChainWork | None) -> str:
    """What the button will open; where that is nothing, or cannot be said of a form with errors, its usual name."""
    if work is None or not work.stages:
        return _("Open the whole chain")
    cohorts = ngettext("%(n)s cohort", "%(n)s cohorts", work.cohorts) % {
        "n": number_format(work.cohorts, use_l10n=True)
    }
    text = ngettext("Open %(n)s stage for %(cohorts)s", "Open %(n)s stages for %(cohorts)s", work.stages)
    return text % {"n": number_format(work.stages, use_l10n=True), "cohorts": cohorts}


def _hours(answers: Mapping[int, int], pace: Mapping[int, StagePace]) -> tuple[float, float, float]:
    def total(seconds: Callable[[StagePace], float]) -> float:
        return sum(n * seconds(pace[stage]) for stage, n in answers.items()) / 3600

    return total(lambda known: known.low), total(lambda known: known.median), total(lambda known: known.high)
