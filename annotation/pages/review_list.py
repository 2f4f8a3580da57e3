"""The review queue as a list: its filters, its rows and the links to its other pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Annotation, Assignment, Campaign, Review
from annotation.pages.decisions import DecisionView, decision_view
from annotation.pages.recipe_names import recipe_name
from annotation.pages.review_reasons import reason_choices
from annotation.pages.review_turns import Reader, Turn, opinions_of, turns_of
from annotation.pages.reviews import QueueRow, queue_row, with_related_rows
from annotation.pages.status_text import Chip, state_chip
from annotation.queries.review_list import (
    CONFLICT,
    LARGEST_MOMENT,
    SECOND,
    STATES,
    AnswerPage,
    PageKey,
    ReviewFilter,
    authors_of,
    cohorts_of,
    count_by_state,
    has_waiting_sample,
    in_state,
    load_page,
    matching_answers,
)
from benchmarks.access import is_permitted
from benchmarks.models import Stage
from jobs.formats.numbers import parse_id, parse_int

State = Assignment.State
SIZES = (20, 50, 100, 200)
LARGEST_SIZE = 500
NAMES = ("state", "stage", "campaign", "cohort", "author", "reason", "sample", "per")


@dataclass(frozen=True)
class ListRow:
    """One answer with what may be done about it.

    `turn`: which decision on it this person may make. Of a "second" one the page shows nothing of the first; a "third"
    one sees both, `opinions`. `note`: what became of this person's own second decision.
    """

    line: QueueRow
    cohort: str
    chip: Chip
    open: bool
    can_return: bool
    can_reject: bool
    decision: DecisionView | None
    can_undo: bool
    reasons: list[tuple[str, str]]
    turn: str = "first"
    opinions: tuple[DecisionView, ...] = ()
    note: str = ""
    can_undo_second: bool = False


@dataclass(frozen=True)
class StateLink:
    name: str
    number: int
    query: str
    current: bool


@dataclass(frozen=True)
class ReviewList:
    """`sample`: only answers in a sample are shown, and `everything` leads to all. `query` leads back to this page;
    `first`, `earlier` and `later` to others, where there are any."""

    rows: list[ListRow]
    states: list[StateLink]
    selects: list[dict[str, Any]]
    sample: bool
    everything: str
    state: str
    filtered: bool
    number: int
    query: str
    first: str
    earlier: str
    later: str


def list_of(reader: Reader, params: Mapping[str, str]) -> ReviewList:
    """The page that an address asks for. The number of queries does not depend on the number of rows."""
    benchmark, user = reader.benchmark, reader.user
    stages = list(benchmark.stages.filter(acceptance=Stage.Acceptance.BY_REVIEW))
    authors = {benchmark.pseudonym(rater): rater for rater in authors_of(benchmark, user)}
    wanted = _read_filter(params, authors)
    size = parse_int(params.get("per"), default=50, minimum=1, maximum=LARGEST_SIZE)
    rows = matching_answers(benchmark, user, wanted)
    samples = wanted.state == State.SUBMITTED and has_waiting_sample(rows)
    wanted = replace(wanted, sample=params["sample"] == "yes" if params.get("sample") else samples)
    counts = count_by_state(rows, benchmark, user)
    page = _load(in_state(rows, wanted, benchmark, user), wanted.state, size, params)
    asked = {name: params[name] for name in NAMES if params.get(name)}
    first, last = (PageKey.of(page.answers[0]), PageKey.of(page.answers[-1])) if page.answers else (None, None)
    place = {name: params[name] for name in ("later", "earlier") if params.get(name)}
    return ReviewList(
        rows=_rows(page.answers, reader),
        states=_state_links(asked, counts, wanted.state),
        selects=[
            *_selects(wanted, stages, sorted(authors), asked, reader),
            *([_sample_select(wanted)] if samples or wanted.sample else []),
            _size_select(size),
        ],
        sample=wanted.sample,
        everything=urlencode({**asked, "sample": "all"}),
        state=wanted.state,
        filtered=any(name in asked for name in NAMES if name not in ("state", "sample", "per")),
        number=counts[wanted.state],
        query=urlencode(asked | place),
        first=urlencode(asked) if place else "",
        earlier=urlencode({**asked, "earlier": str(first)}) if page.has_earlier else "",
        later=urlencode({**asked, "later": str(last)}) if page.has_later else "",
    )


def row_of(answer: Annotation, reader: Reader) -> ListRow:
    """One row as the list shows it now: after a decision, the list asks for it alone."""
    [row] = _rows(_with_decisions(Annotation.objects.filter(pk=answer.pk)), reader)
    return row


def _load(rows: QuerySet[Annotation], state: str, size: int, params: Mapping[str, str]) -> AnswerPage:
    rows = _with_decisions(rows)
    return load_page(rows, state, size, after=_key(params.get("later")), before=_key(params.get("earlier")))


def _key(text: str | None) -> PageKey | None:
    moment, _sign, pk = (text or "").partition("-")
    return PageKey.parse(parse_int(moment, maximum=LARGEST_MOMENT), parse_id(pk))


def _read_filter(params: Mapping[str, str], authors: Mapping[str, int]) -> ReviewFilter:
    state, author = params.get("state", ""), params.get("author", "")
    return ReviewFilter(
        state=state if state in (*STATES, SECOND, CONFLICT) else State.SUBMITTED,
        stage=parse_id(params.get("stage")),
        campaign=parse_id(params.get("campaign")),
        cohort=parse_id(params.get("cohort")),
        author=authors.get(author, -1) if author else 0,
        reason=params.get("reason", "") if state in (State.RETURNED, State.REJECTED) else "",
    )


def _state_links(asked: Mapping[str, str], counts: Mapping[str, int], current: str) -> list[StateLink]:
    names = {
        State.SUBMITTED: _("Waiting"), State.RETURNED: _("Returned"), State.ACCEPTED: _("Accepted"),
        State.REJECTED: _("Rejected"), SECOND: _("For a second review"), CONFLICT: _("Conflicts"),
    }  # fmt: skip
    kept = {name: value for name, value in asked.items() if name != "reason"}
    return [
        StateLink(name, counts[state], urlencode({**kept, "state": state}), state == current)
        for state, name in names.items()
        if state in STATES or counts[state] or state == current
    ]


def _selects(
    wanted: ReviewFilter, stages: list[Stage], authors: list[str], asked: Mapping[str, str], reader: Reader
) -> list[dict[str, Any]]:
    """Only where there is something to choose."""
    rows = Campaign.objects.filter(stage__in=stages).order_by("pk")
    campaigns = [campaign for campaign in rows if wanted.stage in (0, campaign.stage_id)]
    options = {
        "stage": (_("Stage"), [(str(stage.pk), recipe_name(stage.name)) for stage in stages]),
        "campaign": (_("Campaign"), [(str(campaign.pk), recipe_name(campaign.name)) for campaign in campaigns]),
        "cohort": (_("Cohort"), [(str(cohort.pk), cohort.name) for cohort in cohorts_of(stages)]),
        "author": (_("Author"), [(author, author) for author in authors]),
    }
    if wanted.state in (State.RETURNED, State.REJECTED):
        reasons = dict(pair for stage in stages for pair in reason_choices(stage, reader.language))
        options["reason"] = (_("Reason"), list(reasons.items()))
    clears = {"stage": "campaign"}
    return [
        _select(name, label, [("", _("All")), *choices], asked.get(name, ""), clears.get(name, ""))
        for name, (label, choices) in options.items()
        if len(choices) > 1 or asked.get(name)
    ]


def _sample_select(wanted: ReviewFilter) -> dict[str, Any]:
    choices = [("yes", _("In a sample")), ("all", _("All"))]
    return _select("sample", _("Sample"), choices, "yes" if wanted.sample else "all")


def _size_select(size: int) -> dict[str, Any]:
    sizes = [(str(number), str(number)) for number in sorted({*SIZES, size})]
    return _select("per", _("Answers per page"), sizes, str(size))


def _select(name: str, label: str, choices: list[tuple[str, str]], chosen: str, clears: str = "") -> dict[str, Any]:
    options = [(value, text, value == chosen) for value, text in choices]
    return {"name": name, "label": label, "options": options, "clears": clears}


def _with_decisions(rows: QuerySet[Annotation]) -> QuerySet[Annotation]:
    current = Review.objects.filter(undone_at=None).select_related("reviewer")
    joined: QuerySet[Annotation] = with_related_rows(rows)
    return joined.prefetch_related(Prefetch("reviews", current, to_attr="decisions"))


def _rows(answers: Iterable[Annotation], reader: Reader) -> list[ListRow]:
    answers = list(answers)
    turns = turns_of(reader, [answer.pk for answer in answers])
    reasons: dict[int, list[tuple[str, str]]] = {}
    runs = is_permitted(reader.user, reader.benchmark, "work_on")
    rows = []
    for answer in answers:
        stage = answer.assignment.campaign.stage
        choices = reasons.setdefault(stage.pk, reason_choices(stage, reader.language))
        row = replace(_row(answer, reader, runs=runs), reasons=choices)
        rows.append(_with_turn(row, turns[answer.pk], answer, reader) if answer.pk in turns else row)
    return rows


def _with_turn(row: ListRow, turn: Turn, answer: Annotation, reader: Reader) -> ListRow:
    """A row on which this person makes a second or third decision, or has made the second."""
    if not turn.name:
        return replace(row, note=turn.note, can_undo_second=turn.can_undo)
    stage = answer.assignment.campaign.stage
    return replace(
        row,
        open=True,
        can_return=answer.assignment.campaign.state != Campaign.State.CLOSED,
        can_reject=True,
        decision=None,
        can_undo=False,
        turn=turn.name,
        opinions=tuple(opinions_of(turn, stage, reader.zone, reader.language)),
    )


def _row(answer: Annotation, reader: Reader, *, runs: bool) -> ListRow:
    assignment = answer.assignment
    reviews: list[Review] = getattr(answer, "decisions", [])
    review = reviews[0] if reviews else None
    valid = answer.live and answer.counted
    waits = valid and assignment.state == State.SUBMITTED
    stage = assignment.campaign.stage
    return ListRow(
        line=queue_row(answer, reader.benchmark, reader.at, reader.language),
        cohort=answer.cohort.name if answer.cohort else "",
        chip=state_chip(assignment, answer),
        open=waits,
        can_return=waits and assignment.campaign.state != Campaign.State.CLOSED,
        can_reject=waits or (valid and assignment.state == State.RETURNED),
        decision=decision_view(review, stage, reader.zone, reader.language) if review else None,
        can_undo=review is not None and answer.live and (runs or review.reviewer_id == reader.user.pk),
        reasons=[],
    )
