"""The page of samples: how far each author's sample is, and what may be accepted together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import ReviewBatch
from annotation.pages.review_turns import Reader
from annotation.pages.status_text import format_moment
from annotation.queries.review_batches import (
    SampleCounts,
    count_accepted,
    count_others,
    current_batches,
    sample_counts,
    waiting_by_author,
)
from annotation.queries.review_list import moment_key
from annotation.queries.second_reviews import SecondProgress, second_progress
from annotation.services.review.batches import LEAST, AcceptResult, DrawResult
from benchmarks.models import Stage
from evaluation.metrics.proportions import wilson
from people.models import User

PAGE = 100
SEEDS = 2**31
LARGER = 2  # times the present sample: what the form for a larger one suggests
REFUSED: dict[str, Any] = {
    "nothing": gettext_lazy("No sample was drawn. No author has answers that wait for you."),
    "large_enough": gettext_lazy("No sample was drawn. Each author has a sample of this size already."),
    "replaced": gettext_lazy("Nothing was accepted. A larger sample was drawn since; decide on it first."),
    "undecided": gettext_lazy("Nothing was accepted. The sample is not decided yet."),
    "above": gettext_lazy(
        "Nothing was accepted. More of the sample was rejected or returned than the limit permits. Review the answers"
        " one by one, or draw a larger sample."
    ),
    "own": gettext_lazy("These are your own answers, so someone else must decide."),
    "not_yours": gettext_lazy("Only the person who accepted, or a person who runs the benchmark, can undo this."),
}


@dataclass(frozen=True)
class SampleRow:
    """One author's sample. `state`: open, passed, above, empty (nothing of it is left) or accepted."""

    batch_id: int
    author: str
    state: str
    drawn: int
    population: int
    counts: SampleCounts
    share: str
    limit: str
    limit_percent: str
    others: int
    accepted: int
    when: str
    larger: int
    sample_query: str
    author_query: str
    can_undo: bool


@dataclass(frozen=True)
class PressRow:
    """The latest press that accepted answers of several authors; `key` names its moment."""

    key: str
    when: str
    authors: int
    answers: int


@dataclass(frozen=True)
class SamplesPage:
    """`passed`: authors whose others may be accepted with one press, and `passed_answers` how many these are."""

    stage: Stage
    stages: list[Stage]
    rows: list[SampleRow]
    authors: list[tuple[str, int]]
    waiting: int
    to_decide: int
    passed: int
    passed_answers: int
    accepted: int
    page: int
    pages: int
    second: SecondProgress
    press: PressRow | None
    least: int = LEAST


def samples_page(stage: Stage, stages: list[Stage], reader: Reader, number: int, *, runs: bool) -> SamplesPage:
    """The number of queries does not depend on the number of authors."""
    batches = list(current_batches(stage).exclude(author__user=reader.user).select_related("accepted_by"))
    counts = sample_counts([batch.pk for batch in batches])
    others = count_others(stage, reader.user)
    waiting = waiting_by_author(stage, reader.user)
    accepted = count_accepted(batches)
    states = {batch.pk: state_of(batch, counts.get(batch.pk, SampleCounts())) for batch in batches}
    order = ["passed", "open", "above", "empty", "accepted"]
    batches.sort(key=lambda batch: (order.index(states[batch.pk]), -batch.pk))
    passed = [batch for batch in batches if states[batch.pk] == "passed"]
    pages = max(1, -(-len(batches) // PAGE))
    page = min(max(number, 1), pages)
    of_page = batches[(page - 1) * PAGE : page * PAGE]
    return SamplesPage(
        stage=stage,
        stages=stages,
        rows=[_row(batch, states, counts, others, accepted, reader, runs=runs) for batch in of_page],
        authors=sorted((reader.benchmark.pseudonym(author), len(answers)) for author, answers in waiting.items()),
        waiting=sum(len(answers) for answers in waiting.values()),
        to_decide=sum(counts[batch.pk].undecided for batch in batches if states[batch.pk] == "open"),
        passed=len(passed),
        passed_answers=sum(others.get(batch.author_id, 0) for batch in passed),
        accepted=sum(accepted.get(batch.pk, 0) for batch in batches),
        page=page,
        pages=pages,
        second=second_progress(stage),
        press=_latest_press(batches, accepted, reader, runs=runs),
    )


def _latest_press(
    batches: Sequence[ReviewBatch], accepted: Mapping[int, int], reader: Reader, *, runs: bool
) -> PressRow | None:
    """Only what this person may undo."""
    mine = [batch for batch in batches if batch.accepted_at and (runs or batch.accepted_by_id == reader.user.pk)]
    moment = max((batch.accepted_at for batch in mine if batch.accepted_at), default=None)
    of_press = [batch for batch in mine if batch.accepted_at == moment]
    if moment is None or len(of_press) < 2:
        return None
    answers = sum(accepted.get(batch.pk, 0) for batch in of_press)
    return PressRow(moment_key(moment), format_moment(moment, reader.zone), len(of_press), answers)


def state_of(batch: ReviewBatch, counts: SampleCounts) -> str:
    if batch.accepted_at is not None:
        return "accepted"
    if counts.undecided:
        return "open"
    if not counts.decided:
        return "empty"
    return "passed" if counts.passes(batch.limit) else "above"


def _row(
    batch: ReviewBatch,
    states: Mapping[int, str],
    counts: Mapping[int, SampleCounts],
    others: Mapping[int, int],
    accepted: Mapping[int, int],
    reader: Reader,
    *,
    runs: bool,
) -> SampleRow:
    author, numbers = reader.benchmark.pseudonym(batch.author_id), counts.get(batch.pk, SampleCounts())
    asked = {"state": "submitted", "stage": batch.stage_id, "author": author}
    return SampleRow(
        batch_id=batch.pk,
        author=author,
        state=states[batch.pk],
        drawn=batch.drawn,
        population=batch.population,
        counts=numbers,
        share=_share(numbers),
        limit=_percent(batch.limit),
        limit_percent=f"{100 * batch.limit:.10g}",
        others=others.get(batch.author_id, 0),
        accepted=accepted.get(batch.pk, 0),
        when=format_moment(batch.accepted_at or batch.at, reader.zone),
        larger=min(batch.population, max(LEAST, batch.drawn * LARGER)),
        sample_query=urlencode({**asked, "sample": "yes"}),
        author_query=urlencode({**asked, "sample": "all"}),
        can_undo=batch.accepted_at is not None and (runs or batch.accepted_by_id == reader.user.pk),
    )


def _share(counts: SampleCounts) -> str:
    """The rejected share of what is decided, with Wilson's interval and n."""
    if not counts.decided:
        return _("none decided yet")
    low, high = wilson(counts.refused, counts.decided)
    return _("%(share)s (95 %% interval %(low)s to %(high)s, n = %(n)s)") % {
        "share": _percent(counts.refused / counts.decided),
        "low": _percent(low),
        "high": _percent(high),
        "n": counts.decided,
    }


def _percent(share: float) -> str:
    return _("%(n)s %%") % {"n": f"{100 * share:.1f}".removesuffix(".0")}


def drawn_text(result: DrawResult) -> str:
    answers = ngettext("%(n)s answer", "%(n)s answers", result.answers) % {"n": result.answers}
    authors = ngettext("%(n)s author", "%(n)s authors", result.authors) % {"n": result.authors}
    text = _("The samples were drawn: %(answers)s of %(authors)s.") % {"answers": answers, "authors": authors}
    if not result.unchanged:
        return text
    same = ngettext(
        "%(n)s author has a sample of this size already.",
        "%(n)s authors have a sample of this size already.",
        result.unchanged,
    )
    return f"{text} {same % {'n': result.unchanged}}"


def accepted_text(result: AcceptResult) -> str:
    if not result.authors:
        return _("Nothing was accepted. No sample has passed, or its other answers do not wait any more.")
    text = answers_text(result.answers)
    if not result.left:
        return text
    left = ngettext(
        "%(n)s author is left. Press again to continue.",
        "%(n)s authors are left. Press again to continue.",
        result.left,
    )
    return f"{text} {left % {'n': result.left}}"


def answers_text(count: int) -> str:
    return ngettext("%(n)s answer was accepted.", "%(n)s answers were accepted.", count) % {"n": count}


def undone_text(count: int) -> str:
    if not count:
        return _("Nothing was left to undo.")
    return ngettext("%(n)s answer waits again.", "%(n)s answers wait again.", count) % {"n": count}


def second_text(count: int) -> str:
    return ngettext(
        "The share was saved. %(n)s answer waits for a second review.",
        "The share was saved. %(n)s answers wait for a second review.",
        count,
    ) % {"n": count}


def samples_url(stage: Stage, page: int = 1) -> str:
    query = urlencode({"stage": stage.pk, **({"page": page} if page > 1 else {})})
    return f"{reverse('annotation:review_samples', args=[stage.benchmark.slug])}?{query}"


def authors_named(stage: Stage, user: User, pseudonym: str) -> Sequence[int]:
    """The rater whom a pseudonym of the form names; none where nobody with waiting answers is called so."""
    return [author for author in waiting_by_author(stage, user) if stage.benchmark.pseudonym(author) == pseudonym]
