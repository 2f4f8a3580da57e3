"""Where the labels of a question come from: the benchmark's survey where there is one, else the question's items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, cast

from django.db.models import Count, Max

from benchmarks.models import Benchmark
from benchmarks.rules.label_sets.countries import country_code
from evaluation.queries.observations import ObservedItem
from evaluation.queries.rating_rows import target_text
from papers.valueground.survey.models import OptionPair, Survey, SurveyCount, SurveyQuestion
from papers.valueground.survey.queries import codes_of, current_pairs, current_survey, options_of
from papers.valueground.survey_labels import (
    Label,
    Pair,
    PairSource,
    Side,
    Why,
    adjust,
    label,
    match_options,
    propose,
    resolve,
)

T = TypeVar("T")
Fault = Literal["", "not_in_survey", "not_confirmed"]


@dataclass(frozen=True)
class LabelSource:
    """What is known of a question: counts by country and code, or labels as given."""

    survey: Mapping[str, Mapping[int, float]]
    pair: Pair | None
    adjustment: Mapping[int, int | None]
    labels: Mapping[str, Side]
    without_pair: Why  # why there is none, where there is none
    overruled: bool  # `pair` says something else than the options that are shown
    unmatched: bool  # the options that are shown are not among the survey's
    fault: Fault = ""  # why the benchmark's survey has no pair for it
    confirmed: bool = False  # `pair` is the one that a person confirmed for the benchmark's survey


def question_of(contexts: Iterable[Mapping[str, Any]]) -> LabelSource:
    """From the contexts of the question's items, the first that says it: `survey`, `options`, `pair`, `adjustment`,
    `labels`, as mappings or as JSON."""
    values: dict[str, Any] = {}
    for context in contexts:
        for name in ("survey", "options", "pair", "adjustment", "labels", "option_a", "option_b"):
            if name not in values and context.get(name):
                values[name] = _parse_json(context[name])
    survey = {
        str(country): counts
        for country, by_code in _mapping(values.get("survey")).items()
        if (counts := _numbers(_mapping(by_code)))
    }
    adjustment = _codes(_mapping(values.get("adjustment")))
    options = {code: str(text) for code, text in _keys(_mapping(values.get("options"))).items()}
    shown = (str(values.get("option_a") or ""), str(values.get("option_b") or ""))
    codes_seen = [code for counts in survey.values() for code, n in adjust(counts, adjustment).items() if n > 0]
    own, option_codes = (
        match_options(shown, options, adjustment) if all(shown) else None,
        _option_codes(values.get("pair")),
    )
    pair = own or resolve(option_codes, None) or _end_options(options, adjustment)
    if pair is None and len(options) < 2:
        pair = resolve(None, shown if all(shown) else None, codes_seen)
    sides: dict[str, Side] = {"a": "a", "b": "b"}
    labels = {str(c): sides[str(one)] for c, one in _mapping(values.get("labels")).items() if str(one) in sides}
    return LabelSource(
        survey=survey,
        pair=pair,
        adjustment=adjustment,
        labels=labels,
        without_pair="not_positive" if len(options) > 1 else "codes_unresolved",
        overruled=own is not None and option_codes is not None and option_codes != (own.a, own.b),
        unmatched=own is None and all(shown) and bool(options),
    )


def label_of(question: LabelSource, country: str) -> Label:
    """From the survey's counts; a label that came with the question where there are none."""
    counts = _of_country(question.survey, country)
    side = _of_country(question.labels, country)
    if counts is None and side is not None:
        return Label(side)
    by_counts = label(counts, question.pair, question.adjustment)
    return replace(by_counts, why=question.without_pair) if by_counts.why == "codes_unresolved" else by_counts


def load_label_sources(
    benchmark: Benchmark, names: Sequence[str], items: Sequence[ObservedItem], countries: Sequence[str]
) -> tuple[LabelSource, ...]:
    """For each question by its name: from the rows of the benchmark's survey; without a survey from its items."""
    contexts: dict[str, list[Mapping[str, Any]]] = {name: [] for name in names}
    for item in items:
        contexts[item.concept or item.key].append(item.context)
    survey = current_survey(benchmark)
    if survey is None:
        return tuple(question_of(contexts[name]) for name in names)
    questions = {question.key: question for question in survey.questions.filter(key__in=names)}
    pairs = current_pairs(questions.values())
    counts = _survey_counts(survey, questions.values(), countries)
    return tuple(
        source_of_survey(questions[name], pairs[questions[name].pk], counts.get(name, {}), contexts[name])
        if name in questions
        else LabelSource({}, None, {}, {}, "codes_unresolved", False, False, "not_in_survey")
        for name in names
    )


def source_of_survey(
    question: SurveyQuestion,
    pair: OptionPair,
    counts: Mapping[str, Mapping[int, float]],
    contexts: Iterable[Mapping[str, Any]],
) -> LabelSource:
    """From the confirmed pair. A and B are as the items show them: where their texts are the survey's options, these
    count, so that a pair of pictures may have them the other way round."""
    adjustment, options = codes_of(question.adjustment), options_of(question)
    if pair.state != SurveyQuestion.State.CONFIRMED or pair.a is None or pair.b is None:
        return LabelSource(counts, None, adjustment, {}, "codes_unresolved", False, False, "not_confirmed")
    shown = ("", "")
    for context in contexts:
        texts = str(context.get("option_a") or ""), str(context.get("option_b") or "")
        shown = shown if all(shown) else texts
    matched = match_options(shown, options, adjustment) if all(shown) else None
    confirmed = Pair(pair.a, pair.b, cast(PairSource, pair.how))
    is_same = matched is not None and {matched.a, matched.b} == {pair.a, pair.b}
    if matched is not None and is_same:
        confirmed = Pair(matched.a, matched.b, confirmed.found)
    return LabelSource(
        survey=counts,
        pair=confirmed if matched is None or is_same else matched,
        adjustment=adjustment,
        labels={},
        without_pair="codes_unresolved",
        overruled=matched is not None and not is_same,
        unmatched=all(shown) and matched is None and bool(options),
        confirmed=matched is None or is_same,
    )


def _survey_counts(
    survey: Survey, questions: Iterable[SurveyQuestion], countries: Sequence[str]
) -> dict[str, dict[str, dict[int, float]]]:
    """By question and country, {code: count} of the codes of the files. Only of countries that are asked about."""
    rows = SurveyCount.objects.filter(question__in=questions)
    texts = {text: text for text in rows.values_list("label__text", flat=True).distinct()}
    wanted = {text for country in countries if (text := _of_country(texts, country))}
    rows = rows.filter(label__text__in=wanted)
    counts: dict[str, dict[str, dict[int, float]]] = {}
    for key, text, code, count in rows.values_list("question__key", "label__text", "code", "count"):
        counts.setdefault(key, {}).setdefault(text, {})[code] = count
    return counts


def survey_state(benchmark: Benchmark) -> tuple[object, ...]:
    """What of the survey a stored table rests on: the version, and the decisions about its pairs."""
    survey = current_survey(benchmark)
    if survey is None:
        return ()
    pairs = OptionPair.objects.filter(question__survey=survey)
    return survey.pk, *pairs.aggregate(newest=Max("pk"), undone=Count("undone_at")).values()


def _of_country(table: Mapping[str, T], country: str) -> T | None:
    """By its own name, else by another name of the same country."""
    country = target_text(country)
    if country in table:
        return table[country]
    code = country_code(country)
    return next((value for name, value in table.items() if country_code(name) == code), None)


def _parse_json(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _parse_int(value: Any) -> int | None:
    try:
        return int(str(value).strip())
    except ValueError:
        return None


def _keys(table: Mapping[str, Any]) -> dict[int, Any]:
    return {code: value for name, value in table.items() if (code := _parse_int(name)) is not None}


def _numbers(table: Mapping[str, Any]) -> dict[int, float]:
    numbers = {code: value for code, value in _keys(table).items() if isinstance(value, (int, float, str))}
    return {code: float(value) for code, value in numbers.items() if _is_count(value)}


def _is_count(value: Any) -> bool:
    try:
        return 0 <= float(value) < float("inf")
    except ValueError:
        return False


def _codes(table: Mapping[str, Any]) -> dict[int, int | None]:
    """{code: new code}; an empty new code leaves the answer out, as the survey's adjustment table writes it."""
    return {code: None if new in (None, "") else _parse_int(new) for code, new in _keys(table).items()}


def _option_codes(value: Any) -> tuple[int, int] | None:
    """The codes of A and B: {"a": 1, "b": 4} or [1, 4]."""
    row = [value.get("a"), value.get("b")] if isinstance(value, Mapping) else value
    if not isinstance(row, (list, tuple)) or len(row) != 2:
        return None
    a, b = (_parse_int(one) for one in row)
    return None if a is None or b is None else (a, b)


def _end_options(options: Mapping[int, str], adjustment: Mapping[int, int | None]) -> Pair | None:
    proposal = propose(options, adjustment)
    return Pair(proposal.a, proposal.b, "ends") if proposal else None
