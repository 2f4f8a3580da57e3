"""Figure 8: each accepted question with its references, and every answer to it with what the judge and people say.

A page of questions is read in a dozen queries, however many there are. Where only some questions are wanted, the codes
of all judged answers are read for the choice, and nothing else of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from django.db.models import Q, QuerySet

from annotation.models import Annotation, Rating, SheetVersion
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Benchmark, Item, ItemImage
from evaluation.queries.call_statistics import UNSENT, WITHOUT_VALUE
from papers.culturalvqa.metrics import SCORES
from papers.culturalvqa.tables.judgements import ANSWERS, HUMAN, STAGE, scale_in
from people.models import Rater
from predictions.models import Call
from predictions.models.calls import INCOMPLETE
from predictions.pages.variant_names import VariantNames

RATED = "model-answers"
CORRECT = "1"
ALL, DIFFER, WRONG, UNREADABLE = "all", "differ", "wrong", "unreadable"
Key = tuple[str, str, str]
"""Of an answer: the question's key, who gave it, and how a model was asked."""


@dataclass(frozen=True)
class PeoplesVerdict:
    """How many of the people who rated an answer find it completely correct."""

    correct: int
    raters: int

    @property
    def majority(self) -> bool | None:
        """What most of them say; None where they are divided evenly."""
        return None if 2 * self.correct == self.raters else 2 * self.correct > self.raters


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer with its verdicts. `score`: the judge's, 0 to 1; None where it was not judged, or could not be read
    (`unreadable`). `no_answer`: the state in which a call ended without an answer, in words. `variant`: the setting, in
    words."""

    by: str
    setting: str
    text: str = ""
    score: float | None = None
    unreadable: bool = False
    rationale: str = ""
    people: PeoplesVerdict | None = None
    no_answer: str = ""
    variant: str = ""

    @property
    def by_person(self) -> bool:
        return self.by == HUMAN

    @property
    def is_right(self) -> bool | None:
        return None if self.score is None else self.score == 1

    @property
    def differs(self) -> bool:
        """Whether the judge and most people say different things."""
        majority = self.people.majority if self.people else None
        return self.is_right is not None and majority is not None and majority != self.is_right


@dataclass
class BrowsedQuestion:
    item: Item
    picture: ItemImage | None
    references: list[str] = field(default_factory=list)
    answers: list[JudgedAnswer] = field(default_factory=list)


def questions_of(benchmark: Benchmark, country: str = "", facet: str = "") -> QuerySet[Item]:
    """Accepted questions."""
    rows = Item.objects.filter(stage__benchmark=benchmark, stage__key=ANSWERS, withdrawn_at=None).order_by("key")
    rows = rows.filter(origin=country) if country else rows
    return rows.filter(context__facet=facet) if facet else rows


def only_questions(rows: QuerySet[Item], benchmark: Benchmark, judge: Rater | None, only: str) -> QuerySet[Item]:
    """Those with an answer of which this holds: `differ`, judged `wrong`, or `unreadable`. All for any other value."""
    if only not in (DIFFER, WRONG, UNREADABLE) or judge is None:
        return rows
    candidates = _candidates(benchmark, STAGE)
    if only == UNREADABLE:
        chosen = _unreadable(judge, candidates)
    else:
        scores = _scores(judge, candidates)
        people = _people(benchmark) if only == DIFFER else {}
        chosen = {pk for pk, score in scores.items() if _is_chosen(score, people.get(candidates[pk].key), only)}
    return rows.filter(key__in={candidates[pk].question for pk in chosen})


def _is_chosen(score: float, people: PeoplesVerdict | None, only: str) -> bool:
    return score < 1 if only == WRONG else JudgedAnswer("", "", score=score, people=people).differs


def question_rows(benchmark: Benchmark, judge: Rater | None, questions: Iterable[Item]) -> list[BrowsedQuestion]:
    """These questions with everything that is shown of them."""
    items = list(questions)
    pictures: dict[int, ItemImage] = {}
    for use in ItemImage.objects.filter(item__in=items).select_related("image").order_by("role"):
        pictures.setdefault(use.item_id, use)
    rows = {item.key: BrowsedQuestion(item, pictures.get(item.pk), _own_answer(item)) for item in items}
    by_id = {item.pk: item.key for item in items}
    of_people = Annotation.objects.filter(
        assignment__unit__item__in=items, rater__kind=Rater.Kind.PERSON, live=True, counted=True
    )
    for pk, answers in of_people.order_by("submitted_at", "pk").values_list("assignment__unit__item", "answers"):
        if text := str(answers.get("answer") or "").strip():
            rows[by_id[pk]].references.append(text)
    for question, answer in _answers(benchmark, judge, rows):
        rows[question].answers.append(answer)
    names = VariantNames(benchmark)
    for row in rows.values():
        row.answers.sort(key=lambda one: (one.by_person, one.by, one.setting, one.text))
        row.answers = [replace(answer, variant=names.name_of(answer.setting, ANSWERS)) for answer in row.answers]
    return list(rows.values())


def _own_answer(item: Item) -> list[str]:
    return [str(item.context["asker_answer"])] if item.context.get("asker_answer") else []


@dataclass(frozen=True)
class AnswerItem:
    """An item of a stage in which answers are judged or rated."""

    question: str
    by: str
    setting: str
    text: str

    @property
    def key(self) -> Key:
        return self.question, self.by, self.setting


def _candidates(benchmark: Benchmark, stage: str, questions: Collection[str] | None = None) -> dict[int, AnswerItem]:
    """By the item's id. Items that were imported may name the model in a column of its own."""
    rows = Item.objects.filter(stage__benchmark=benchmark, stage__key=stage, withdrawn_at=None).order_by("key")
    if questions is not None:
        rows = rows.filter(context__question__in=list(questions))
    candidates = {}
    for pk, context in rows.values_list("pk", "context"):
        names = (str(context.get(name) or "") for name in ("question", "candidate_by", "setting", "candidate"))
        question, by, setting, text = names
        candidates[pk] = AnswerItem(question, by or str(context.get("model") or ""), setting, text)
    return candidates


def _answers(
    benchmark: Benchmark, judge: Rater | None, questions: Collection[str]
) -> Iterator[tuple[str, JudgedAnswer]]:
    """Answers with an item to judge or to rate, and calls without an answer, each with its question."""
    judged, rated = (_candidates(benchmark, stage, questions) for stage in (STAGE, RATED))
    scores = _scores(judge, judged) if judge else {}
    unread, rationales = (_unreadable(judge, judged), _rationales(judge, judged)) if judge else (set(), {})
    people = _people(benchmark, rated)
    known = {candidate.key for candidate in judged.values()}
    for pk, item in judged.items():
        values = (scores.get(pk), pk in unread, rationales.get(pk, ""), people.get(item.key))
        yield item.question, JudgedAnswer(item.by, item.setting, item.text, *values)
    for item in rated.values():
        if item.key not in known:
            known.add(item.key)
            yield item.question, JudgedAnswer(item.by, item.setting, item.text, people=people.get(item.key))
    for key, state in _calls_without_answer(benchmark, questions):
        if key not in known:
            known.add(key)
            yield key[0], JudgedAnswer(*key[1:], no_answer=str(Call.State(state).label))


def _scores(judge: Rater, items: Mapping[int, AnswerItem]) -> dict[int, float]:
    """By the item's id, 0 to 1: what the judge said last, by the scale of the sheet that it was said to."""
    ratings = _ratings(STAGE, STAGE, items).filter(rater=judge).order_by("pk")
    rows = list(ratings.values_list("unit__item", "code", "annotation__sheet_version"))
    versions = SheetVersion.objects.in_bulk({version for _pk, _code, version in rows})
    points = {pk: SCORES[scale_in(sheet_of(version))] for pk, version in versions.items()}
    return {pk: points[version][code] for pk, code, version in rows if code in points[version]}


def _people(benchmark: Benchmark, items: Mapping[int, AnswerItem] | None = None) -> dict[Key, PeoplesVerdict]:
    """What people said of the answers of models, one verdict of each person."""
    items = _candidates(benchmark, RATED) if items is None else items
    rows = _ratings(RATED, "verdict", items).filter(rater__kind=Rater.Kind.PERSON)
    codes: dict[Key, list[str]] = defaultdict(list)
    for pk, code in rows.values_list("unit__item", "code"):
        codes[items[pk].key].append(code)
    return {key: PeoplesVerdict(given.count(CORRECT), len(given)) for key, given in codes.items()}


def _ratings(stage: str, field_key: str, items: Mapping[int, AnswerItem]) -> QuerySet[Rating]:
    return Rating.objects.filter(
        unit__item__in=items, campaign__stage__key=stage, field=field_key, live=True, counted=True
    )


def _calls(judge: Rater, items: Mapping[int, AnswerItem]) -> QuerySet[Call]:
    rows = Call.objects.filter(run__rater=judge, run__withdrawn_at=None, item__in=items, repeat=0)
    return rows.filter(run__campaign__stage__key=STAGE).order_by("pk")


def _unreadable(judge: Rater, items: Mapping[int, AnswerItem]) -> set[int]:
    """Items of which the judge's last call had no value."""
    failed = set(_calls(judge, items).filter(_without(STAGE)).exclude(UNSENT).values_list("item", flat=True))
    return failed - set(_ratings(STAGE, STAGE, items).filter(rater=judge).values_list("unit__item", flat=True))


def _rationales(judge: Rater, items: Mapping[int, AnswerItem]) -> dict[int, str]:
    notes = _calls(judge, items).filter(state=Call.State.ANSWERED).values_list("item", "notes")
    return {pk: str(note["rationale"]) for pk, note in notes if note.get("rationale")}


def _without(field_key: str) -> Q:
    """Calls that ended without an answer to this question."""
    unreadable = Q(state=Call.State.ANSWERED, **{f"notes__{INCOMPLETE}__has_key": field_key})
    return Q(state__in=WITHOUT_VALUE) | unreadable


def _calls_without_answer(benchmark: Benchmark, questions: Collection[str]) -> Iterator[tuple[Key, str]]:
    calls = Call.objects.filter(
        _without("answer"), run__campaign__stage__benchmark=benchmark, run__campaign__stage__key=ANSWERS,
        run__withdrawn_at=None, repeat=0, item__withdrawn_at=None, item__key__in=list(questions),
    ).exclude(UNSENT)  # fmt: skip
    names = ("item__key", "run__rater__name", "run__rater__setting", "state")
    for question, by, setting, state in calls.order_by("pk").values_list(*names):
        yield (question, by, setting), state
