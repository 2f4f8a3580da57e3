"""A version of a survey as rows: questions out of the files and of the version before, counts, pairs, decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection
from django.utils import timezone

from benchmarks.models import Label, LabelSet
from jobs.services.bulk import insert_rows
from papers.valueground.survey.files import CodebookEntry, MetadataEntry
from papers.valueground.survey.models import OptionPair, Survey, SurveyCount, SurveyQuestion
from papers.valueground.survey.queries import counted_codes, current_pairs, source_of
from papers.valueground.survey.rules import PairProposal, propose_pair

COUNT_STEP = 5000
COUNT_TYPES = {"question_id": "bigint", "label_id": "bigint", "code": "int", "count": "float8"}
CONTENT = (
    *("title", "instruction", "text", "options", "written", "use", "ordered", "ends", "has_metadata"),
    "file_adjustment",
)
"""Fields of a question that a decision rests on: with one of them changed, it is to be decided again."""


@dataclass
class VersionContent:
    """What the files of one import bring; None where a file was not among them. `counts`: by key, label and code."""

    codebook: list[CodebookEntry] | None = None
    other_variables: list[str] = field(default_factory=list)
    metadata: dict[str, MetadataEntry] | None = None
    adjustment: dict[str, dict[int, int | None]] | None = None
    counts: dict[tuple[str, int, int], float] | None = None
    label_set: LabelSet | None = None


@dataclass(frozen=True)
class WrittenVersion:
    survey: Survey
    questions: int
    to_decide_again: list[str]


def write_version(
    survey: Survey, base: Survey | None, content: VersionContent, *, keep_counts: bool, check: Callable[[], None]
) -> WrittenVersion:
    """Save the version with its rows. Needs a transaction that holds the rows of the benchmark and of `base`.

    `check` is called between steps and may raise, which leaves nothing behind.
    """
    survey.save()
    before = {question.key: question for question in base.questions.all()} if base else {}
    questions = list(_questions(survey, before, content))
    SurveyQuestion.objects.bulk_create(questions, batch_size=500)
    ids = {question.key: question.pk for question in questions}
    counts = list((content.counts or {}).items())
    for start in range(0, len(counts), COUNT_STEP):
        check()
        rows = [
            {"question_id": ids[key], "label_id": label, "code": code, "count": count}
            for (key, label, code), count in counts[start : start + COUNT_STEP]
        ]
        insert_rows(SurveyCount._meta.db_table, COUNT_TYPES, rows)
    if base is not None and (content.counts is None or keep_counts):
        _copy_counts(base, survey)
    check()
    return WrittenVersion(survey, len(questions), _write_pairs(questions, before))


def _questions(
    survey: Survey, before: Mapping[str, SurveyQuestion], content: VersionContent
) -> Iterator[SurveyQuestion]:
    """Not saved. From the codebook, else those before; what no file says of them stays as it was."""
    keys = [entry.key for entry in content.codebook] if content.codebook is not None else list(before)
    entries = {entry.key: entry for entry in content.codebook or ()}
    for position, key in enumerate(keys, start=1):
        question = SurveyQuestion(survey=survey, position=position, key=key, state=SurveyQuestion.State.TO_DECIDE)
        if (former := before.get(key)) is not None:
            for name in (*CONTENT, "category"):
                setattr(question, name, getattr(former, name))
        if (entry := entries.get(key)) is not None:
            question.title, question.instruction = entry.title, entry.instruction
            question.options = {str(code): label for code, label in entry.options.items()}
            question.written = entry.written
        if content.metadata is not None:
            _set_metadata(question, content.metadata.get(key))
        if content.adjustment is not None:
            question.file_adjustment = {str(code): new for code, new in content.adjustment.get(key, {}).items()}
        question.adjustment = question.file_adjustment
        yield question


def _set_metadata(question: SurveyQuestion, entry: MetadataEntry | None) -> None:
    question.has_metadata = entry is not None
    question.text = entry.text if entry else ""
    question.category = entry.category if entry else ""
    question.use = entry.use if entry else ""
    question.ordered = entry.ordered if entry else None
    question.ends = list(entry.ends) if entry and entry.ends else None


def _copy_counts(base: Survey, survey: Survey) -> None:
    """Counts of the version before, of each question and country for which this version has none."""
    table, questions, labels = (model._meta.db_table for model in (SurveyCount, SurveyQuestion, Label))
    sql = f"""
        INSERT INTO {table} (question_id, label_id, code, count)
        SELECT n.id, c.label_id, c.code, c.count
        FROM {table} c
        JOIN {questions} o ON o.id = c.question_id AND o.survey_id = %s
        JOIN {questions} n ON n.survey_id = %s AND n.key = o.key
        JOIN {labels} l ON l.id = c.label_id
        WHERE NOT EXISTS (
            SELECT 1 FROM {table} x JOIN {labels} xl ON xl.id = x.label_id
            WHERE x.question_id = n.id AND xl.text = l.text
        )
    """  # noqa: S608  (tables are constants)
    with connection.cursor() as cursor:
        cursor.execute(sql, [base.pk, survey.pk])


def _write_pairs(questions: list[SurveyQuestion], before: Mapping[str, SurveyQuestion]) -> list[str]:
    """A proposal for each question, or the decision of a person that still holds. Returns the keys of questions whose
    decision does not hold any more."""
    decisions = {pair.question_id: pair for pair in current_pairs(before.values()).values() if pair.by_id}
    few = [question for question in questions if sum(int(code) > 0 for code in question.options) < 2]
    counted = counted_codes(few)
    at, pairs, changed = timezone.now(), [], []
    for question in questions:
        former = before.get(question.key)
        decision = decisions.get(former.pk) if former else None
        is_same = former is not None and all(getattr(former, name) == getattr(question, name) for name in CONTENT)
        if former is not None and is_same:
            question.looked_at, question.looked_by_id = former.looked_at, former.looked_by_id
        if decision is not None and is_same:
            pairs.append(_copy(decision, question))
        else:
            if decision is not None:
                changed.append(question.key)
            proposal = propose_pair(source_of(question, counted.get(question.pk, ())))
            pairs.append(pair_of(question, proposal, at))
        apply(question, pairs[-1])
    OptionPair.objects.bulk_create(pairs, batch_size=500)
    fields = ["state", "reason", "adjustment", "looked_at", "looked_by"]
    SurveyQuestion.objects.bulk_update(questions, fields, batch_size=500)
    return changed


def pair_of(question: SurveyQuestion, proposal: PairProposal, at: datetime) -> OptionPair:
    """A proposal as a row, not saved."""
    return OptionPair(
        question=question, a=proposal.a, b=proposal.b, how=proposal.how or "", flags=list(proposal.flags),
        adjustment=question.adjustment, state=proposal.state, reason=proposal.reason, at=at,
    )  # fmt: skip


def _copy(decision: OptionPair, question: SurveyQuestion) -> OptionPair:
    names = ("a", "b", "how", "flags", "adjustment", "state", "reason", "note", "by_id", "at")
    return OptionPair(question=question, **{name: getattr(decision, name) for name in names})


def apply(question: SurveyQuestion, pair: OptionPair) -> None:
    """The question says what its current pair says. Not saved."""
    question.state, question.reason, question.adjustment = pair.state, pair.reason, pair.adjustment
