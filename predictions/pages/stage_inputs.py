"""The page of a stage that judges or rates answers: which runs it takes, and what became of their answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation, Campaign, CampaignCohort
from annotation.queries.board_counts import opened_for_models
from annotation.queries.opened_stages import RUNNING
from annotation.services.derivation.run_choice import run_choice
from benchmarks.models import Stage
from benchmarks.rules.derivations import Derivation, DerivationError
from benchmarks.rules.derivations.verdicts import LEAST_PEOPLE
from people.models import Rater
from predictions.models import Run
from predictions.pages.variant_names import VariantNames
from predictions.queries.judged_items import PEOPLE, InputCounts, judged_items


@dataclass(frozen=True)
class InputRow:
    """A model and its run; `run` None: its answers came in a file of a campaign. `value` is that of its checkbox.
    `variant`: how it was asked, in words."""

    value: str
    rater: Rater
    variant: str
    run: Run | None
    chosen: bool
    counts: InputCounts


@dataclass(frozen=True)
class StageInputs:
    """`references`: answers of people that a question needs before its answers are judged; 0 where none is needed.
    `people`: None where people's answers are not judged. `by_setting`: runs of these prompt variants are chosen by
    themselves, later ones too. `only_wrong`: right answers make no item. `least`: people that answered a question
    before any of their answers to it is judged. `unasked`: names of the stages in which nobody is asked for the answers
    that references are; empty where none are needed, or people are asked."""

    rows: list[InputRow]
    people: InputCounts | None
    total: InputCounts
    by_setting: list[str]
    references: int = 0
    only_wrong: bool = False
    least: int = 0
    unasked: Sequence[str] = ()

    @property
    def without_item_label(self) -> str:
        """Of the column of answers that have no item."""
        return _("Right, or waiting") if self.only_wrong else _("Waiting for references")

    @property
    def takes_any(self) -> bool:
        """Whether there is a run, or people, whose answers make items here: else there is no total."""
        return self.people is not None or any(row.chosen or row.counts.items for row in self.rows)

    @property
    def unasked_text(self) -> str:
        """Why references will not come, and what to do."""
        text = _(
            "References are answers of people, and nobody is asked in %(stages)s. Ask people there, or choose that no "
            "reference answers are shown."
        )
        return text % {"stages": get_text_list([f"“{name}”" for name in self.unasked], _("and"))}

    @property
    def notes(self) -> list[str]:
        """Sentences on what a reader may have to do."""
        sentences = []
        if self.rows and not self.by_setting and not any(row.chosen for row in self.rows):
            sentences.append(_("No run is chosen yet. Choose the runs whose answers become items here, and save."))
        if self.by_setting:
            settings = ", ".join(setting or _("default") for setting in self.by_setting)
            sentences.append(_("New runs with these prompt variants are chosen automatically: %s.") % settings)
        if self.only_wrong:
            sentences.append(
                _("Only answers that differ from the accepted answer become items here. Right ones do not.")
            )
        if self.total.waiting and self.unasked:
            sentences.append(self.unasked_text)
        elif self.total.waiting and self.references and not self.only_wrong:
            text = ngettext(
                "Each question needs %(n)s answer of people before answers to it are judged, or its campaign closed.",
                "Each question needs %(n)s answers of people before answers to it are judged, or its campaign closed.",
                self.references,
            )
            sentences.append(text % {"n": self.references})
        if self.people and self.people.waiting:
            text = _("Answers of people are judged where at least %(n)s people answered the question.")
            sentences.append(text % {"n": self.least})
            if 0 < self.references < self.least:
                text = _("The campaign wants %(n)s of each, so none is judged: change one of the two numbers.")
                sentences.append(text % {"n": self.references})
        if self.total.renewed:
            sentences.append(_renewed_text(self.total.renewed))
        return sentences


def _renewed_text(n: int) -> str:
    text = ngettext(
        "%(n)s item changed because a reference changed, and is not judged yet. Resume the judge run.",
        "%(n)s items changed because a reference changed, and are not judged yet. Resume the judge run.",
        n,
    )
    return text % {"n": n}


def renewed_note(stage: Stage) -> str:
    """Before a judge run is resumed: how many of its items are new versions that nobody has judged. Empty for none, and
    where the stage judges no answers."""
    inputs = stage_inputs(stage)
    return _renewed_text(inputs.total.renewed) if inputs is not None and inputs.total.renewed else ""


def _derivation_of(stage: Stage) -> Derivation | None:
    try:
        return Derivation.from_json(stage.derivation)
    except DerivationError:
        return None


def stage_inputs(stage: Stage) -> StageInputs | None:
    """None where the stage judges no answers."""
    derivation = _derivation_of(stage)
    if derivation is None or not derivation.rules.all_raters:
        return None
    earlier = list(stage.benchmark.stages.filter(key__in=derivation.sources))
    counted = judged_items(stage, earlier, repeats=derivation.params.get("repeats") == "all")
    choice = run_choice(stage, derivation.params)
    raters = Rater.objects.in_bulk({rater for rater, _run in counted.counts.keys() | choice.chosen if rater})
    names, sources = VariantNames(stage.benchmark), [source.key for source in earlier]
    rows = []
    for rater, run in counted.counts.keys() | choice.chosen:
        if (rater, run) == PEOPLE:
            continue
        chosen = choice.includes(raters[rater], run)
        counts = counted.counts.get((rater, run), InputCounts())
        variant = names.name_of(raters[rater].setting, *sources)
        rows.append(InputRow(f"{rater}-{run}", raters[rater], variant, counted.runs.get(run), chosen, counts))
    rows.sort(key=lambda row: (row.rater.name, row.rater.setting, row.value))
    people = counted.counts.get(PEOPLE, InputCounts()) if derivation.params.get("people") == "leave_one_out" else None
    taken = [row.counts for row in rows if row.chosen or row.counts.items]
    total = _sum([*taken, *([people] if people else [])])
    settings, references = sorted(choice.settings or ()), _references(derivation, earlier)
    only_wrong, least = "where" in derivation.params, derivation.params.get("least", LEAST_PEOPLE)
    variants = [names.name_of(setting, *sources) for setting in settings]
    shows_references = derivation.params.get("references") != "none"
    unasked = [source.name for source in earlier] if shows_references and not _has_people(earlier) else []
    return StageInputs(rows, people, total, variants, references, only_wrong, least, unasked)


def _has_people(stages: Sequence[Stage]) -> bool:
    """Whether people are asked in one of these stages, or have answered there."""
    campaigns = list(Campaign.objects.filter(stage__in=stages, state__in=RUNNING))
    scope = stages[0].benchmark.scope if stages else ""
    if {campaign.pk for campaign in campaigns} - opened_for_models(campaigns, scope):
        return True
    answers = Annotation.objects.filter(
        assignment__campaign__stage__in=stages, rater__kind=Rater.Kind.PERSON, live=True, counted=True
    )
    return answers.exists()


def _references(derivation: Derivation, earlier: Sequence[Stage]) -> int:
    """What open campaigns of the earlier stages want of each cohort; where none is open, what the stages want."""
    if derivation.params.get("when", "complete") == "now":
        return 0
    running = (Campaign.State.OPEN, Campaign.State.PAUSED)
    asked = CampaignCohort.objects.filter(campaign__stage__in=earlier, campaign__state__in=running)
    wanted = list(asked.values_list("target_answers", flat=True)) or [stage.target_answers for stage in earlier]
    return max(wanted, default=0)


def _sum(counts: Iterable[InputCounts]) -> InputCounts:
    total = InputCounts(without_answer=0)
    for each in counts:
        total.answers += each.answers
        total.waiting += each.waiting
        total.items += each.items
        total.judged += each.judged
        total.unreadable += each.unreadable
        total.renewed += each.renewed
        total.without_answer = (total.without_answer or 0) + (each.without_answer or 0)
    return total
