"""What the pages of the review queue show."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Prefetch
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.displays import Shown, display
from annotation.displays.answer_culture import layout_for_person
from annotation.displays.layout import LabelledText, Layout, ResolvedLayout, resolve_layout
from annotation.displays.shown_item import build_shown
from annotation.fields.bound_field import AnswerView, answer_views
from annotation.fields.contract import ShownImage
from annotation.fields.form import Localiser
from annotation.models import Annotation, Assignment, Review
from annotation.pages.decisions import DecisionView, decision_view
from annotation.pages.disputes import Dispute, dispute_of
from annotation.pages.recipe_names import recipe_name
from annotation.pages.review_reasons import reason_choices
from annotation.pages.review_turns import Turn, opinions_of
from annotation.pages.status_text import Chip, duration, format_moment, state_chip
from annotation.queries import review_queue
from annotation.queries.answers import is_left_out
from annotation.queries.review_queue import ReviewCounts
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Benchmark, Stage
from people.models import User

LAST = 5


@dataclass(frozen=True)
class QueueRow:
    """One answer in the queue."""

    annotation_id: int
    work: str
    author: str
    version: int
    waits: str
    answers: list[AnswerView]
    picture: ShownImage | None
    about: tuple[LabelledText, ...]  # what the stage shows of the item


@dataclass(frozen=True)
class ReviewStageRow:
    stage: Stage
    batch: ReviewCounts


@dataclass(frozen=True)
class QueuePage:
    """`waiting`: answers that wait for this person. `mine`: what they decided last, and on what; they can take it back.
    `today`: how many they decided."""

    stages: list[ReviewStageRow]
    waiting: int
    mine: list[tuple[DecisionView, QueueRow]]
    today: int


@dataclass(frozen=True)
class VersionCell:
    answer: AnswerView | None
    changed: bool


@dataclass(frozen=True)
class Version:
    number: int
    when: str
    now: bool
    reviews: list[DecisionView]


@dataclass(frozen=True)
class ReviewSheet:
    """One answer before its reviewer: what was shown, all versions side by side, the newest last."""

    annotation_id: int
    work: str
    cohort: str
    author: str
    waits: str
    chip: Chip
    shown: Shown
    display: Any
    layout: ResolvedLayout
    versions: list[Version]
    rows: list[tuple[str, list[VersionCell]]]
    open: bool
    can_return: bool
    given_up: bool
    reasons: list[tuple[str, str]]
    turn: str
    note: str
    can_undo_second: bool
    opinions: list[DecisionView]
    dispute: Dispute | None = None


def waiting_time(since: datetime, at: datetime) -> str:
    """Minutes, then hours up to two days, then days."""
    hours = (at - since).total_seconds() / 3600
    if hours < 1:
        return duration(max(0, round(hours * 60)) * 60) if hours >= 1 / 30 else _("a moment")
    if hours < 48:
        return ngettext("%(n)s hour", "%(n)s hours", int(hours)) % {"n": int(hours)}
    return ngettext("%(n)s day", "%(n)s days", int(hours / 24)) % {"n": int(hours / 24)}


def queue_of(benchmark: Benchmark, user: User, at: datetime, zone: ZoneInfo, language: str) -> QueuePage:
    stages = list(benchmark.stages.filter(acceptance=Stage.Acceptance.BY_REVIEW))
    counts = review_queue.review_counts(stages)
    midnight = at.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    own = Review.objects.filter(
        reviewer=user, undone_at=None, annotation__assignment__campaign__stage__benchmark=benchmark
    )
    last = own.filter(annotation__in=review_queue.reviewable(benchmark, user), annotation__live=True)
    last = last.filter(at__gte=at - timedelta(days=7)).select_related("reviewer").order_by("-at")
    last = last.prefetch_related(Prefetch("annotation", with_related_rows(Annotation.objects.all())))
    return QueuePage(
        stages=[ReviewStageRow(stage, counts.get(stage.pk, ReviewCounts())) for stage in stages],
        waiting=review_queue.waiting_answers(benchmark, user).count(),
        mine=[
            (
                decision_view(review, _stage(review), zone, language),
                queue_row(review.annotation, benchmark, at, language),
            )
            for review in last[:LAST]
        ],
        today=own.filter(at__gte=midnight).count(),
    )


def _stage(review: Review) -> Stage:
    return review.annotation.assignment.campaign.stage


def with_related_rows(rows: Any) -> Any:
    return rows.select_related(
        "assignment__campaign__stage", "assignment__unit__item", "cohort", "sheet_version"
    ).prefetch_related("assignment__unit__item__images__image", "assignment__unit__item__facts")


def _item_texts(shown: Shown, about: Sequence[LabelledText], concept: str) -> tuple[LabelledText, ...]:
    """What an item is about begins with its concept, also where its sheet folds it away; then its own text, where no
    picture stands beside the answer."""
    own_text = "" if shown.images else shown.text
    texts = (LabelledText("", text) for text in (concept, own_text))
    known = {text.value for text in about}
    return (*(text for text in texts if text.value and text.value not in known), *about)


def queue_row(annotation: Annotation, benchmark: Benchmark, at: datetime, language: str) -> QueueRow:
    shown = build_shown(annotation.assignment.unit, annotation.cohort)
    layout = resolve_layout(Layout.from_json(annotation.assignment.campaign.stage.layout), shown, language)
    return QueueRow(
        annotation_id=annotation.pk,
        work=recipe_name(annotation.assignment.campaign.name),
        author=benchmark.pseudonym(annotation.rater_id),
        version=annotation.version,
        waits=waiting_time(annotation.assignment.changed_at, at),
        answers=answer_views(
            sheet_of(annotation.sheet_version).fields, Localiser(language, shown.target_name), annotation.answers
        ),
        picture=shown.images[0] if shown.images else None,
        about=_item_texts(shown, layout.show, recipe_name(annotation.assignment.unit.item.concept)),
    )


def sheet_for(
    answer: Annotation, benchmark: Benchmark, at: datetime, zone: ZoneInfo, language: str, turn: Turn | None = None
) -> ReviewSheet:
    """With `turn`, decisions on the current version are shown as far as this person may see them."""
    assignment, stage = answer.assignment, answer.assignment.campaign.stage
    shown = build_shown(assignment.unit, answer.cohort)
    versions = versions_of(assignment, benchmark.team_id)
    name = turn.name if turn else ""
    waits = bool(name) or (answer.live and answer.counted and assignment.state == Assignment.State.SUBMITTED)
    given_up = answer.live and answer.counted and assignment.state == Assignment.State.RETURNED
    return ReviewSheet(
        annotation_id=answer.pk,
        work=recipe_name(assignment.campaign.name),
        cohort=answer.cohort.name if answer.cohort else "",
        author=benchmark.pseudonym(answer.rater_id),
        waits=waiting_time(assignment.changed_at, at),
        chip=state_chip(assignment, answer),
        shown=shown,
        display=display(stage.display),
        layout=layout_for_person(stage, shown, answer.cohort, language),
        dispute=dispute_of(stage, sheet_of(answer.sheet_version), shown, Localiser(language, shown.target_name)),
        versions=[
            Version(
                version.version,
                format_moment(version.submitted_at, zone),
                version.live,
                [
                    decision_view(review, stage, zone, language)
                    for review in sorted(version.reviews.all(), key=lambda r: r.at)
                    if not (name and version.pk == answer.pk)
                ],
            )
            for version in versions
        ],
        rows=compare_versions(versions, Localiser(language, shown.target_name)),
        open=waits,
        can_return=waits and assignment.campaign.state != "closed",
        given_up=given_up,
        reasons=reason_choices(stage, language),
        turn=name or "first",
        note=turn.note if turn else "",
        can_undo_second=turn is not None and turn.can_undo,
        opinions=opinions_of(turn, stage, zone, language) if turn else [],
    )


def decision_to_undo(
    answer: Annotation, user: User, zone: ZoneInfo, language: str, *, runs: bool, turn: Turn | None = None
) -> DecisionView | None:
    """The current decision on a current answer that this person may undo: their own, or any (`runs`).

    None where they decide a second or third time about it. One query.
    """
    if not answer.live or (turn is not None and turn.name):
        return None
    review = answer.reviews.filter(undone_at=None).select_related("reviewer").order_by("-at", "-pk").first()
    if review is None or not (runs or review.reviewer_id == user.pk):
        return None
    return decision_view(review, answer.assignment.campaign.stage, zone, language)


def versions_of(assignment: Assignment, team: int) -> list[Annotation]:
    """What was sent and not taken back in the first seconds, the oldest first; without what was written under a consent
    to the team that its author withdrew."""
    rows = Annotation.objects.filter(assignment=assignment).exclude(uncounted_because="undone")
    rows = rows.exclude(is_left_out(team))
    return list(rows.select_related("sheet_version").prefetch_related("reviews__reviewer").order_by("version"))


def compare_versions(versions: Sequence[Annotation], speech: Localiser) -> list[tuple[str, list[VersionCell]]]:
    """A row for each field that was answered in any version; a cell is marked where it differs from the one before."""
    labels: dict[str, str] = {}
    cells: list[dict[str, AnswerView]] = []
    for version in versions:
        answers = answer_views(sheet_of(version.sheet_version).fields, speech, version.answers)
        cells.append({answer.key: answer for answer in answers})
        labels |= {answer.key: answer.label for answer in answers}
    return [
        (
            label,
            [
                VersionCell(
                    cells[n].get(key), n > 0 and versions[n].answers.get(key) != versions[n - 1].answers.get(key)
                )
                for n in range(len(versions))
            ],
        )
        for key, label in labels.items()
    ]


def return_note(assignment: Assignment, zone: ZoneInfo, language: str) -> DecisionView | None:
    """Why an answer was returned, for its author."""
    rows = Review.objects.filter(annotation__assignment=assignment, annotation__live=True, undone_at=None)
    review = rows.first()
    return decision_view(review, assignment.campaign.stage, zone, language, named=False) if review else None
