"""Whose turn it is on an answer: the first decision, the second without seeing the first, or the third."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from annotation.models import Review, SecondReview
from annotation.pages.decisions import DecisionView, decision_view
from annotation.queries.second_reviews import ANSWER, waiting_conflicts, waiting_seconds
from annotation.services.review.second_reviews import is_conflict
from benchmarks.models import Benchmark, Stage
from people.models import User


@dataclass(frozen=True)
class Reader:
    """Who reads the page, and how: for whom names, times and texts are written."""

    benchmark: Benchmark
    user: User
    at: datetime
    zone: ZoneInfo
    language: str


@dataclass(frozen=True)
class Turn:
    """`name`: "second" or "third"; empty where this person has made the second decision, and `note` says so."""

    name: str
    second: SecondReview
    note: str = ""

    @property
    def can_undo(self) -> bool:
        """Whether this person may take their own second decision back."""
        return not self.name and self.second.final_id is None and self.second.first.undone_at is None


def turns_of(reader: Reader, annotation_ids: Collection[int]) -> dict[int, Turn]:
    """By answer. Answers on which a first decision is to be made have none. Three queries."""
    benchmark, user = reader.benchmark, reader.user
    own = SecondReview.objects.filter(reviewer=user).exclude(decision="")
    kinds = (("", own), ("second", waiting_seconds(benchmark, user)), ("third", waiting_conflicts(benchmark, user)))
    turns: dict[int, Turn] = {}
    for name, rows in kinds:
        of_page = rows.filter(**{f"{ANSWER}__in": annotation_ids}).select_related(
            "first__reviewer", "reviewer", "final"
        )
        for second in of_page:
            turns[second.first.annotation_id] = Turn(name, second, "" if name else _own_text(second))
    return turns


def _own_text(second: SecondReview) -> str:
    third = second.final.decision if second.final else ""
    if is_conflict(second.first.decision, second.decision, third):
        return _("Your second review differs from the first. A third person decides.")
    if second.final:
        return _("Your second review differed from the first. A third person has decided.")
    return _("Your second review agrees with the first.")


def opinions_of(turn: Turn, stage: Stage, zone: ZoneInfo, language: str) -> list[DecisionView]:
    """Both decisions, without names, for the third person; nothing for the second."""
    if turn.name != "third":
        return []
    second = turn.second
    as_review = Review(
        pk=second.pk,
        decision=second.decision,
        reason=second.reason,
        comment=second.comment,
        at=second.at or second.first.at,
    )
    return [decision_view(review, stage, zone, language, named=False) for review in (second.first, as_review)]
