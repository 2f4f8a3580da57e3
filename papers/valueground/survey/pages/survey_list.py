"""What the page Survey shows: the list with its filters, and the question that is being decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from papers.valueground.survey.models import OptionPair, Survey, SurveyQuestion
from papers.valueground.survey.queries import codes_of, counts_by_code, options_of
from papers.valueground.survey.rules import FLAGS, blocking, new_code, scale_of
from papers.valueground.survey.services.decisions import LOOKED_FIRST

FLAG_TEXTS: dict[str, Promise] = {
    "zero": _("Code 0 has no place"),
    "ends_differ": _("Ends differ from the metadata"),
    "end_words": _("An end is no opposite"),
    "many": _("More than 11 options"),
    "few": _("Fewer than 2 options"),
    "adjusted": _("Adjusted"),
    "elliptic": _("Label needs its question"),
    "no_metadata": _("No metadata"),
}
HOW_TEXTS: dict[str, Promise] = {
    "options": _("Chosen by a person"),
    "metadata": _("Ends of the scale, as the metadata has them"),
    "ends": _("First and last option"),
    "prefix": _("Numbers that the labels begin with"),
    "extremes": _("Least and greatest code that was counted"),
}
NO_FLAG = "none"
OPEN = (SurveyQuestion.State.PROPOSED, SurveyQuestion.State.TO_DECIDE)
SCALE_ROWS = 60  # of a question whose places can be changed on the page


@dataclass(frozen=True)
class Flag:
    key: str
    text: Promise
    blocks: bool


@dataclass(frozen=True)
class SurveyQuestionRow:
    """A question in the list, with its current pair."""

    question: SurveyQuestion
    pair: OptionPair

    @property
    def flags(self) -> list[Flag]:
        return [Flag(key, FLAG_TEXTS[key], key in blocking([key])) for key in FLAGS if key in self.pair.flags]

    @property
    def is_blocked(self) -> bool:
        return self.pair.a is None or bool(blocking(self.pair.flags))

    @property
    def is_open(self) -> bool:
        return self.question.state in OPEN


@dataclass(frozen=True)
class ScaleRow:
    """An option on the scale. `place`: its code after the adjustment, None where it is left out."""

    code: int
    label: str
    place: int | None
    side: str
    count: float


@dataclass(frozen=True)
class ChangeRow:
    """An option in the form for another pair."""

    code: int
    label: str
    place: str
    is_a: bool
    is_b: bool


@dataclass(frozen=True)
class QuestionView:
    """The question that is being decided. `change_rows`: what the form for another pair begins with."""

    row: SurveyQuestionRow
    scale: list[ScaleRow]
    total: float
    missing: float
    largest: float
    labels: tuple[str, str]
    how: Promise | str
    change_rows: list[ChangeRow]

    @property
    def is_editable(self) -> bool:
        return 1 < len(self.scale) <= SCALE_ROWS


def survey_rows(survey: Survey) -> list[SurveyQuestionRow]:
    """Every question with its current pair: two queries."""
    pairs = OptionPair.objects.filter(question__survey=survey, current=True)
    by_question = {pair.question_id: pair for pair in pairs.select_related("by")}
    return [SurveyQuestionRow(question, by_question[question.pk]) for question in survey.questions.order_by("position")]


def filter_rows(rows: Iterable[SurveyQuestionRow], state: str, flag: str) -> list[SurveyQuestionRow]:
    def fits(row: SurveyQuestionRow) -> bool:
        has_flag = not row.pair.flags if flag == NO_FLAG else not flag or flag in row.pair.flags
        return has_flag and (not state or row.question.state == state)

    return [row for row in rows if fits(row)]


def filter_choices(
    rows: list[SurveyQuestionRow], state: str = ""
) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:
    """Value, text and number of questions of each state, and of each flag among the questions of the chosen state."""
    states = Counter(row.question.state for row in rows)
    flags = Counter(flag for row in filter_rows(rows, state, "") for flag in row.pair.flags or [NO_FLAG])
    return (
        [(state, str(text), states[state]) for state, text in SurveyQuestion.State.choices],
        [
            (NO_FLAG, str(_("Without a flag")), flags[NO_FLAG]),
            *((key, str(FLAG_TEXTS[key]), flags[key]) for key in FLAGS if flags[key]),
        ],
    )


def find_row(rows: list[SurveyQuestionRow], key: str) -> SurveyQuestionRow | None:
    """The question that is asked for, else the first that is still open, else the first."""
    named = next((row for row in rows if row.question.key == key), None)
    first_open = next((row for row in rows if row.is_open), None)
    return named or first_open or (rows[0] if rows else None)


def key_after(rows: list[SurveyQuestionRow], question: SurveyQuestion) -> str:
    """The next open question behind this one, from the beginning again at the end; itself if none is open."""
    others = [row.question for row in rows if row.is_open and row.question.pk != question.pk]
    behind = next((other for other in others if other.position > question.position), None)
    return (behind or (others[0] if others else question)).key


def question_view(row: SurveyQuestionRow, posted: Mapping[str, str] | None = None) -> QuestionView:
    """The options of a question as a scale. Options that are no answers come last, without a place. `posted`: what
    was typed into the form for another pair."""
    question, pair = row.question, row.pair
    counts, options, adjustment = counts_by_code(question), options_of(question), codes_of(question.adjustment)
    codes = sorted({code for code in (*options, *counts) if code >= 0})
    scale = []
    for code in codes:
        place = new_code(code, adjustment)
        place = place if place is not None and place > 0 else None
        side = "" if place is None else "A" if place == pair.a else "B" if place == pair.b else ""
        scale.append(ScaleRow(code, options.get(code, str(code)), place, side, counts.get(code, 0)))
    scale.sort(key=lambda line: (line.place is None, line.place or 0, line.code))
    labels = scale_of(options, adjustment)
    return QuestionView(
        row=row,
        scale=scale,
        total=sum(count for code, count in counts.items() if code >= 0),
        missing=sum(count for code, count in counts.items() if code < 0),
        largest=max((line.count for line in scale), default=0),
        labels=(
            "" if pair.a is None else labels.get(pair.a, str(pair.a)),
            "" if pair.b is None else labels.get(pair.b, str(pair.b)),
        ),
        how=HOW_TEXTS.get(pair.how, ""),
        change_rows=change_rows(scale, row, posted),
    )


def change_rows(scale: list[ScaleRow], row: SurveyQuestionRow, posted: Mapping[str, str] | None) -> list[ChangeRow]:
    """The places as they are; where code 0 has none, all moved up by one, with the ends that the metadata has. What
    was posted comes before both."""
    by_side = {line.side: line.code for line in reversed(scale)}
    places, a, b = {line.code: line.place for line in scale}, by_side.get("A"), by_side.get("B")
    if "zero" in row.pair.flags:
        places = {line.code: line.code + 1 for line in scale}
        a, b = row.question.ends or (min(places), max(places))
    if posted is None or posted.get("action") != "change":
        posted = {"a": str(a), "b": str(b)}
        posted |= {f"place-{code}": "" if place is None else str(place) for code, place in places.items()}
    return [
        ChangeRow(
            code=line.code,
            label=line.label,
            place=posted.get(f"place-{line.code}", "")[:20],
            is_a=posted.get("a") == str(line.code),
            is_b=posted.get("b") == str(line.code),
        )
        for line in sorted(scale, key=lambda line: line.code)
    ]


def looked_counts(rows: list[SurveyQuestionRow]) -> tuple[int, int, int]:
    """How many proposals without a flag are left, how many of all without a flag were looked at, and how many of them
    must be before the rest is confirmed together."""
    unflagged = [row for row in rows if not row.pair.flags and row.pair.a is not None]
    left = [row for row in unflagged if row.question.state == SurveyQuestion.State.PROPOSED]
    looked = sum(row.question.looked_at is not None for row in unflagged)
    return len(left), looked, min(LOOKED_FIRST, len(unflagged))
