"""A benchmark's survey as rows, and its questions as the pure rules take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import QuerySet, Sum

from benchmarks.models import Benchmark, Label
from papers.valueground.survey.models import OptionPair, Survey, SurveyCount, SurveyQuestion
from papers.valueground.survey.rules import QuestionSource


def current_survey(benchmark: Benchmark) -> Survey | None:
    """The newest version."""
    return Survey.objects.filter(benchmark=benchmark).select_related("label_set").order_by("-version").first()


def current_pairs(questions: Iterable[SurveyQuestion] | QuerySet[SurveyQuestion]) -> dict[int, OptionPair]:
    """The current pair of each question, by the question's id."""
    return {pair.question_id: pair for pair in OptionPair.objects.filter(question__in=questions, current=True)}


def codes_of(mapping: Mapping[str, int | None]) -> dict[int, int | None]:
    """An adjustment out of its JSON column."""
    return {int(code): new for code, new in mapping.items()}


def options_of(question: SurveyQuestion) -> dict[int, str]:
    """Label by code, in the order of the codes."""
    return dict(sorted((int(code), str(label)) for code, label in question.options.items()))


def source_of(
    question: SurveyQuestion, counted: Iterable[int] = (), adjustment: Mapping[int, int | None] | None = None
) -> QuestionSource:
    """What the rules need of a question; with `adjustment` instead of its own."""
    return QuestionSource(
        options=options_of(question),
        adjustment=codes_of(question.adjustment) if adjustment is None else adjustment,
        prefixed=bool(question.written),
        has_metadata=question.has_metadata,
        use=question.use,
        ends=(question.ends[0], question.ends[1]) if question.ends else None,
        counted=frozenset(counted),
    )


def counted_codes(questions: Iterable[SurveyQuestion]) -> dict[int, set[int]]:
    """The codes that were counted at least once, by the question's id."""
    codes: dict[int, set[int]] = {}
    rows = SurveyCount.objects.filter(question__in=questions, count__gt=0).values_list("question", "code")
    for question, code in rows.distinct():
        codes.setdefault(question, set()).add(code)
    return codes


def count_table(survey: Survey, questions: Iterable[SurveyQuestion]) -> tuple[list[Label], dict[int, dict[int, float]]]:
    """The countries of the survey in their order; each question's answers by country. Codes below 0 are no answers."""
    labels = Label.objects.filter(pk__in=SurveyCount.objects.filter(question__survey=survey).values("label"))
    rows = SurveyCount.objects.filter(question__in=questions, code__gte=0).values_list("question", "label")
    table: dict[int, dict[int, float]] = {}
    for question, label, n in rows.annotate(n=Sum("count")):
        table.setdefault(question, {})[label] = n
    return list(labels.order_by("label_set", "position")), table


def counts_by_code(question: SurveyQuestion) -> dict[int, float]:
    """How often each code was answered in all countries together."""
    rows = SurveyCount.objects.filter(question=question).values("code").annotate(n=Sum("count"))
    return {row["code"]: row["n"] for row in rows}
