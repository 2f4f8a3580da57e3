"""The revisions of an item side by side, with comments and decisions; and the items that wait for a revision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.translation import get_language, gettext, gettext_lazy

from annotation.models import Annotation, ItemSource, Outcome, Review
from annotation.pages.decisions import DecisionView, decision_view
from annotation.services.revisions.makers import find_maker, maker_of
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Benchmark, Item, ItemImage, ItemReturn, Stage
from benchmarks.models.items import RETURNED
from benchmarks.pages.panels import Panel
from benchmarks.queries.revisions import revisions_of
from people.models import Rater

MOST_COMMENTS = 50
MOST_WAITING = 20
STYLES = {Outcome.State.ACCEPTED: "ok", Outcome.State.REJECTED: "no", Outcome.State.UNDECIDED: "hollow"}
REFUSED: dict[str, Any] = {
    "no_comment": gettext_lazy("The item was not returned. Write what must be changed."),
    "returned": gettext_lazy("Someone else has returned this item. Their comment is below."),
    "withdrawn": gettext_lazy("The item was not returned, since it is withdrawn."),
    "own": gettext_lazy("You contributed to this item, so someone else must return it."),
    "no_maker": gettext_lazy("This item was passed on from an earlier stage. Return it there."),
    "revised": gettext_lazy("The return was not undone, since the next revision is there."),
    "not_yours": gettext_lazy("Only the reviewer, or a person who runs the benchmark, can undo this return."),
    "gone": gettext_lazy("The return was undone already."),
}


@dataclass(frozen=True)
class RevisionView:
    """`comments`: what its judges wrote in text fields of their sheets. `decisions`: of reviewers on the answers.

    Both are those of earlier revisions only: who may judge the present one is not shown what others say of it.
    """

    item: Item
    pictures: Sequence[ItemImage]
    state: str
    style: str
    item_return: ItemReturn | None
    comments: Sequence[str]
    decisions: Sequence[DecisionView]
    answers: int


@dataclass(frozen=True)
class RevisionsView:
    """`pending`: the return that has no revision yet. `source`: where an item that was passed on can be returned."""

    revisions: Sequence[RevisionView]
    pending: ItemReturn | None
    waits_for: str
    problem: str
    can_return: bool
    source: Item | None


def item_revisions(item: Item) -> RevisionsView | None:
    """Nothing for an item that has no revisions, was not returned and cannot be."""
    chain = revisions_of(item)
    maker = maker_of(chain[-1])
    pending = ItemReturn.objects.filter(item=chain[-1], undone_at=None).select_related("by", "item").first()
    source = None if maker else _source_of(item)
    if len(chain) == 1 and pending is None and maker is None and source is None:
        return None
    waits_for, problem = (_waiting_text(pending), _problem(pending)) if pending is not None else ("", "")
    can_return = maker is not None and item.withdrawn_at is None and item.pk == chain[-1].pk
    views = _views(chain, item.stage)
    return RevisionsView(views, pending, waits_for, problem, can_return, source)


def _problem(item_return: ItemReturn) -> str:
    maker = find_maker(item_return.maker)
    return str(maker.problems.get(item_return.problem, "")) if maker is not None else ""


def _waiting_text(item_return: ItemReturn) -> str:
    maker = find_maker(item_return.maker)
    return maker.waiting_text(item_return) if maker is not None else ""


def _source_of(item: Item) -> Item | None:
    """The item of an earlier stage that this one passes on, if that one can be returned."""
    sources = Item.objects.filter(pk__in=ItemSource.objects.filter(item=item).values("source"), withdrawn_at=None)
    return next((source for source in sources.select_related("stage")[:3] if maker_of(source)), None)


def _views(chain: Sequence[Item], stage: Stage) -> list[RevisionView]:
    """A fixed number of queries for all revisions."""
    ids = [item.pk for item in chain]
    pictures = _pictures(ids)
    rows = ItemReturn.objects.filter(item__in=ids, undone_at=None).select_related("by")
    returns = {row.item_id: row for row in rows}
    outcomes: dict[int, str] = {}
    for item_id, state in Outcome.objects.filter(unit__item__in=ids).order_by("at").values_list("unit__item", "state"):
        outcomes[item_id] = state
    people = Annotation.objects.filter(live=True, rater__kind=Rater.Kind.PERSON, assignment__unit__item__in=ids)
    answers: dict[int, list[Annotation]] = {}
    for answer in people.select_related("assignment__unit", "sheet_version").order_by("pk"):
        answers.setdefault(answer.assignment.unit.item_id, []).append(answer)
    decisions: dict[int, list[Review]] = {}
    reviews = Review.objects.filter(annotation__assignment__unit__item__in=ids, undone_at=None).order_by("at")
    for review in reviews.select_related("reviewer", "annotation__assignment__unit"):
        decisions.setdefault(review.annotation.assignment.unit.item_id, []).append(review)
    views = []
    for item in chain:
        own = answers.get(item.pk, [])
        earlier = item.withdrawn_at is not None
        state, style = _state(item, stage, outcomes.get(item.pk, ""))
        views.append(
            RevisionView(
                item, pictures.get(item.pk, []), state, style, returns.get(item.pk),
                _comments(own) if earlier else [],
                _decision_views(decisions.get(item.pk, []), stage) if earlier else [],
                len(own),
            )
        )  # fmt: skip
    return views


def _pictures(item_ids: Sequence[int]) -> dict[int, list[ItemImage]]:
    grouped: dict[int, list[ItemImage]] = {}
    for use in ItemImage.objects.filter(item__in=item_ids).select_related("image").order_by("role"):
        grouped.setdefault(use.item_id, []).append(use)
    return grouped


def _state(item: Item, stage: Stage, outcome: str) -> tuple[str, str]:
    if item.withdrawn_because == RETURNED:
        return gettext("Returned"), "back"
    if item.withdrawn_at is not None:
        return gettext("Withdrawn"), "no"
    if stage.acceptance == Stage.Acceptance.ON_SUBMIT:
        return gettext("In use"), "ok"
    if outcome in STYLES:
        return str(Outcome.State(outcome).label), STYLES[Outcome.State(outcome)]
    if stage.acceptance == Stage.Acceptance.BY_REVIEW:
        return gettext("In review"), "wait"
    return gettext("Waiting for people"), "wait"


def _comments(answers: Sequence[Annotation]) -> list[str]:
    comments = []
    for answer in answers:
        sheet = sheet_of(answer.sheet_version)
        texts = (answer.answers.get(field.key) for field in sheet.fields if sheet.level(field.key) == "text")
        comments += [text for text in texts if isinstance(text, str) and text.strip()]
    return comments[:MOST_COMMENTS]


def _decision_views(reviews: Sequence[Review], stage: Stage) -> list[DecisionView]:
    zone, language = ZoneInfo(timezone.get_current_timezone_name()), get_language() or "en"
    return [decision_view(review, stage, zone, language) for review in reviews]


@dataclass(frozen=True)
class WaitingRow:
    item_return: ItemReturn
    problem: str


@dataclass(frozen=True)
class WaitingItems:
    """Items that were returned and have no next revision yet, the longest waiting first."""

    rows: Sequence[WaitingRow]
    total: int


def waiting_items(benchmark: Benchmark) -> WaitingItems | None:
    rows = ItemReturn.objects.filter(item__stage__benchmark=benchmark, undone_at=None, item__replaced_by=None)
    shown = list(rows.select_related("item__stage", "by").order_by("at", "pk")[:MOST_WAITING])
    if not shown:
        return None
    return WaitingItems([WaitingRow(row, _problem(row)) for row in shown], rows.count())


PANEL = Panel(
    "annotation/item_revisions.html", item_revisions, wide=True, anchor="revisions", title=gettext_lazy("Revisions")
)
WAITING = Panel("annotation/waiting_revisions.html", waiting_items)
