"""On an item's page: who was asked, what people and models answered, and what was decided on it. Only for those who
work on the benchmark; people by their pseudonyms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.translation import get_language, gettext, gettext_lazy

from annotation.fields.bound_field import AnswerView, answer_views
from annotation.models import (
    Annotation,
    Assignment,
    ItemAcceptance,
    ProblemReport,
    Resolution,
    Review,
    Slot,
)
from annotation.pages.decisions import DecisionView, decision_view
from annotation.pages.sheet_view import localiser_for, skip_options
from annotation.pages.uncounted_reasons import WHY_UNCOUNTED
from annotation.queries.answers import is_of_withdrawn
from annotation.queries.consent_withdrawal import NEVER_SELECTED
from annotation.services.files.skips import IMPORTED
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.sheets.sheet import Sheet
from benchmarks.models import Item
from benchmarks.pages.panels import Panel
from people.models import Rater

MOST = 200


@dataclass(frozen=True)
class AskedCohort:
    """How far a cohort of a campaign is with one target of the item."""

    slot: Slot

    @property
    def notes(self) -> list[str]:
        flags = (
            (self.slot.urgent, gettext("asked first")),
            (self.slot.retired, gettext("retired after skips")),
            (self.slot.cell_full, gettext("its cell is full")),
        )
        return [text for holds, text in flags if holds]


@dataclass(frozen=True)
class GivenAnswer:
    """`why_not`: why it does not count. `decisions`: of reviewers; none while a second one is drawn and not made."""

    annotation: Annotation
    who: str
    group: str
    answers: Sequence[AnswerView]
    why_not: str
    decisions: Sequence[DecisionView]
    waits_for_second: bool


@dataclass(frozen=True)
class SkippedUnit:
    who: str
    reason: str
    note: str
    at: datetime


@dataclass(frozen=True)
class ReportedProblem:
    """`who` is empty where the author withdrew their consent."""

    report: ProblemReport
    who: str


@dataclass(frozen=True)
class SettledField:
    """`view`: its answer in words; None where it cannot be decided, or where the sheet has no such question now."""

    resolution: Resolution
    who: str
    view: AnswerView | None


@dataclass(frozen=True)
class ItemAnswers:
    """`is_cut`: there are more answers than are shown."""

    asked: Sequence[AskedCohort]
    answers: Sequence[GivenAnswer]
    is_cut: bool
    skips: Sequence[SkippedUnit]
    problems: Sequence[ReportedProblem]
    resolutions: Sequence[SettledField]
    acceptances: Sequence[ItemAcceptance]


def item_answers(item: Item) -> ItemAnswers | None:
    """A fixed number of queries. None where nobody was asked."""
    slots = Slot.objects.filter(unit__item=item).select_related("unit", "cohort__campaign", "cohort__cohort")
    asked = [AskedCohort(slot) for slot in slots.order_by("-cohort__campaign", "cohort__cohort__label", "pk")[:MOST]]
    answers = _answers(item)
    acceptances = ItemAcceptance.objects.filter(item=item).select_related("by", "undone_by").order_by("-at")
    page = ItemAnswers(
        asked, answers[:MOST], len(answers) > MOST, _skips(item), _problems(item), _resolutions(item),
        list(acceptances[:MOST]),
    )  # fmt: skip
    has_any = asked or answers or page.skips or page.problems or page.resolutions or page.acceptances
    return page if has_any else None


def _name(item: Item, rater: Rater) -> str:
    """A person by the pseudonym that exports have too, a model by its name."""
    if rater.kind == Rater.Kind.MODEL:
        return " ".join(filter(None, [rater.name, rater.setting]))
    return item.stage.benchmark.pseudonym(rater.pk)


def _answers(item: Item) -> list[GivenAnswer]:
    rows = Annotation.objects.filter(assignment__unit__item=item, live=True)
    rows = rows.exclude(uncounted_because__in=NEVER_SELECTED).select_related(
        "rater", "cohort", "sheet_version", "assignment__unit", "assignment__campaign"
    )
    annotations = list(rows.order_by("-rater__kind", "cohort__label", "submitted_at", "pk")[: MOST + 1])
    decisions = _decisions([annotation.pk for annotation in annotations])
    zone, language = ZoneInfo(timezone.get_current_timezone_name()), get_language() or "en"
    views = []
    for annotation in annotations:
        reviews = decisions.get(annotation.pk, [])
        waits = any(hasattr(review, "second") and not review.second.decision for review in reviews)
        speech = localiser_for(annotation.cohort, annotation.assignment.unit.target)
        is_model = annotation.rater.kind == Rater.Kind.MODEL
        group = gettext("Models") if is_model else annotation.cohort.name if annotation.cohort else ""
        because = annotation.uncounted_because
        views.append(
            GivenAnswer(
                annotation,
                _name(item, annotation.rater),
                group,
                answer_views(sheet_of(annotation.sheet_version).fields, speech, annotation.answers),
                "" if annotation.counted else str(WHY_UNCOUNTED.get(because, because)),
                [] if waits else [decision_view(review, item.stage, zone, language) for review in reviews],
                waits,
            )
        )
    return views


def _decisions(annotations: Sequence[int]) -> Mapping[int, list[Review]]:
    by_answer: dict[int, list[Review]] = {}
    rows = Review.objects.filter(annotation__in=annotations).select_related("reviewer", "second").order_by("at", "pk")
    for review in rows:
        by_answer.setdefault(review.annotation_id, []).append(review)
    return by_answer


def _skips(item: Item) -> list[SkippedUnit]:
    """Without those of people who withdrew their consent."""
    reasons = {option.code: option.label for option in skip_options(item.stage.skip_reasons)}
    rows = Assignment.objects.filter(unit__item=item, state=Assignment.State.SKIPPED).select_related("rater")
    rows = rows.exclude(is_of_withdrawn(item.stage.benchmark.team_id))
    speech = localiser_for(None)
    views = []
    for row in rows.order_by("-changed_at")[:MOST]:
        is_from_file = row.participation_id is None and row.skip_reason == IMPORTED
        reason = speech.say(reasons[row.skip_reason]) if row.skip_reason in reasons else row.skip_reason
        words, note = (gettext("Skipped in an imported file"), "") if is_from_file else (reason, row.skip_note)
        views.append(SkippedUnit(_name(item, row.rater), words, note, row.changed_at))
    return views


def _problems(item: Item) -> list[ReportedProblem]:
    """A report is about the item, so it stays when its author withdraws their consent; then it has no name."""
    rows = ProblemReport.objects.filter(assignment__unit__item=item).select_related("rater", "answered_by")
    rows = rows.annotate(nameless=is_of_withdrawn(item.stage.benchmark.team_id))
    return [ReportedProblem(row, "" if row.nameless else _name(item, row.rater)) for row in rows.order_by("-at")[:MOST]]


def _resolutions(item: Item) -> list[SettledField]:
    rows = Resolution.objects.filter(unit__item=item).select_related("by", "unit").order_by("-live", "-at")
    fields = Sheet.from_json(item.stage.sheet, stored=True).fields
    settled = []
    for row in rows[:MOST]:
        views = answer_views(fields, localiser_for(None, row.unit.target), {row.field: row.answer})
        settled.append(SettledField(row, _name(item, row.by), views[0] if views else None))
    return settled


PANEL = Panel(
    "annotation/item_answers.html", item_answers, wide=True, anchor="answers",
    title=gettext_lazy("Answers and decisions"), of_answers=True,
)  # fmt: skip
