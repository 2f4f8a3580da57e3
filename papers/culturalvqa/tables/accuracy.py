"""CulturalVQA's tables of accuracy; those of the questions and answers themselves are in `culturalvqa_data.py`, those
of people's verdicts on models in `culturalvqa_verdicts.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.rules.label_sets.contract import LabelSetSpec
from evaluation.metrics.association import correlation_of
from evaluation.metrics.averages import DIFFERENCES, SHARES, mean_of, mean_over_countries
from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Scale
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.known_models import about_models
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import ActionLink, MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from evaluation.tables.targets import label_set_of, set_words, western_of
from papers.culturalvqa.printed_values import printed
from papers.culturalvqa.printed_values import rows as printed_rows
from papers.culturalvqa.tables.data import DATA_TABLES, counted_questions
from papers.culturalvqa.tables.judgements import (
    CEILING,
    JUDGE,
    SCALE,
    SUB_CATEGORIES_FROM,
    JudgedAnswers,
    about_judge,
    difference,
    judged_answers,
    models_in_setting,
)
from papers.culturalvqa.tables.labels import NO_SUB_CATEGORIES, STEREOTYPE_TABLE
from papers.culturalvqa.tables.verdicts import VERDICT_TABLES
from papers.culturalvqa.tables.word_lists import LIST_TABLES
from predictions.queries.model_details import known_models

NEEDS = gettext_lazy("Answers of models (and of people), each judged in the stage “lave”.")
PERCENT = Rounding(2, 100)
ROUND = Rounding(1, 100)
OTHER_ANSWERS = gettext_lazy("The paper's judgements are not public; this benchmark uses other judgements.")
MISPRINT = gettext_lazy("A misprint: the mean of the paper's own row is 29.39.")
SETTING = TableOption(
    "setting",
    gettext_lazy("Models asked"),
    {
        "vlm": gettext_lazy("with the picture"),
        "vlm_few_shot": gettext_lazy("with the picture and examples"),
        "llm_only": gettext_lazy("with the question only"),
        "llm_country": gettext_lazy("with the question and the country"),
        "llm_entities": gettext_lazy("with the question and names found in the picture"),
    },
)
OPTIONS = (SETTING, JUDGE, SCALE)
BASELINES = ("llm_only", "llm_country", "llm_entities", "vlm")
MEAN = gettext_lazy(
    "The average is the plain mean over countries, however many questions each has. Interval over countries."
)
PEOPLE_WORDS = gettext_lazy("People: each answer judged against those of the others; questions with three or more.")
NOT_WITHOUT = gettext_lazy("No model was asked without the picture. Its answers have the setting “llm_only”.")
NOT_BOTH = gettext_lazy("No model was asked both with and without examples (settings “vlm_few_shot” and “vlm”).")
NOT_OPEN = gettext_lazy("It is unknown whether these models are open: %(names)s. Enter it in the model details.")
NOT_DATED = gettext_lazy("The release dates of these models are unknown: %(names)s. Enter them in the model details.")
DETAILS = ActionLink("predictions:benchmark_models", gettext_lazy("Enter model details"))
# sub-categories that the paper has, and the facets each exists in
SUB_CATEGORIES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "6": {
        "Type/Name": ("food", "drink", "clothing"),
        "Location/Region": ("food", "drink", "clothing"),
        "Customs Associated": ("food", "drink", "clothing"),
        "Ingredients": ("food", "drink"),
        "Taste": ("food", "drink"),
        "Other": ("food", "drink", "clothing"),
    },
    "7": dict.fromkeys(
        (
            "Beliefs and Customs", "Location/Landmarks", "Celebration", "Music/Instruments", "Sports",
            "People and Hist. Figures", "Other",
        ),
        ("traditions", "rituals"),
    ),
}  # fmt: skip


def _printed_accuracy(country: str, model: str) -> Any:
    wrong = MISPRINT if (country, model) == ("Average", "PaliGemma") else OTHER_ANSWERS
    return printed("tables_2_4", "accuracy", wrong, country=country, model=model)


def build_countries(inputs: TableInputs) -> Table:
    """Tables 2 and 4: accuracy by country and model."""
    judged = judged_answers(inputs)
    models = models_in_setting(judged, inputs.chosen["setting"])
    compare = inputs.chosen["setting"] == "vlm"
    rows, by_model = [], {name: [some.of(country=c).accuracy for c in judged.countries] for name, some in models}
    people = {c: (judged.people.of(country=c).ceiling,) for c in judged.countries} if judged.people.score.size else {}
    for place, country in enumerate(judged.countries):
        cells = [
            Cell(by_model[name][place], rounding=PERCENT, printed=_printed_accuracy(country, name) if compare else None)
            for name, _some in models
        ]
        rows.append(Row(country, (*cells, *(Cell(one, rounding=PERCENT) for one in people.get(country, ())))))
    cells = [
        Cell(
            mean_over_countries(by_model[name], SHARES),
            rounding=PERCENT,
            printed=_printed_accuracy("Average", name) if compare else None,
        )
        for name, _some in models
    ]
    ceilings = [one for some in people.values() for one in some]
    cells += [Cell(mean_over_countries(ceilings, SHARES), rounding=PERCENT)] if people else []
    rows.append(Row(_("Average"), tuple(cells)))
    columns: list[Words] = [*(name for name, _some in models), *([_("People")] if people else [])]
    words: list[Words] = [*about_judge(judged), *([PEOPLE_WORDS] if people else []), MEAN]
    return inputs.table(corner=_("Country"), columns=columns, rows=rows, words=words)


def build_conditions(inputs: TableInputs) -> Table:
    """Figure 5: how far one gets without the picture."""
    judged = judged_answers(inputs)
    ways = [
        (name, setting, judged.of(by=name, setting=setting))
        for name in judged.models
        for setting in BASELINES
        if judged.of(by=name, setting=setting).score.size
        and any(judged.of(by=name, setting=s).score.size for s in BASELINES[:3])
    ]
    if not ways:
        raise MissingData(NOT_WITHOUT)
    columns: list[Words] = [f"{name}, {SETTING.values[setting]}" for name, setting, _some in ways]
    return _by_country(inputs, judged, columns, [partial(_accuracy, some) for *_names, some in ways], SHARES)


def _accuracy(some: JudgedAnswers, country: str) -> Estimate:
    return some.of(country=country).accuracy


def _gain(few: JudgedAnswers, none: JudgedAnswers, country: str) -> Estimate:
    return difference(few.of(country=country), none.of(country=country))


def _by_country(
    inputs: TableInputs,
    judged: JudgedAnswers,
    columns: list[Words],
    of: list[Callable[[str], Estimate]],
    scale: Scale,
    *more: Words,
) -> Table:
    estimates = [[estimate(country) for estimate in of] for country in judged.countries]
    rows = [
        Row(country, tuple(Cell(estimate, rounding=ROUND) for estimate in line))
        for country, line in zip(judged.countries, estimates, strict=True)
    ]
    means = [mean_over_countries([line[k] for line in estimates], scale) for k in range(len(of))]
    rows.append(Row(_("Average"), tuple(Cell(mean, rounding=ROUND) for mean in means)))
    words = [*about_judge(judged), *more, MEAN]
    return inputs.table(corner=_("Country"), columns=columns, rows=rows, words=words)


def build_few_shot(inputs: TableInputs) -> Table:
    """Figure 9: with examples, less without."""
    judged = judged_answers(inputs)
    both = [
        (name, judged.of(by=name, setting="vlm_few_shot"), judged.of(by=name, setting="vlm"))
        for name in judged.models
        if all(judged.of(by=name, setting=one).score.size for one in ("vlm_few_shot", "vlm"))
    ]
    if not both:
        raise MissingData(NOT_BOTH)
    of: list[Callable[[str], Estimate]] = [partial(_gain, few, none) for _name, few, none in both]
    names: list[Words] = [name for name, *_rest in both]
    return _by_country(inputs, judged, names, of, DIFFERENCES, _("In points: with examples, less without."))


def _model_info(inputs: TableInputs) -> dict[str, Mapping[str, Any]]:
    """What is known of each model, by name."""
    return {known.name: known.about for known in known_models(inputs.benchmark.team)}


def details_missing(words: Words, names: Iterable[str]) -> MissingData:
    """Nothing is known of any model; names them, and leads to the form."""
    return MissingData(_detail_words(words, names), DETAILS)


def _detail_words(words: Words, names: Iterable[str]) -> str:
    return str(words) % {"names": ", ".join(sorted(set(names)))}


def build_gaps(inputs: TableInputs) -> Table:
    """Figure 6: the best open and the best closed model of each country, less people."""
    judged = judged_answers(inputs)
    about, models = _model_info(inputs), models_in_setting(judged, "vlm")
    sides = [
        (title, [model for model in models if about.get(model[0], {}).get("open") is is_open])
        for is_open, title in ((True, _("Best open model")), (False, _("Best closed model")))
    ]
    unknown = [name for name, _some in models if about.get(name, {}).get("open") not in (True, False)]
    if not any(side for _title, side in sides):
        raise details_missing(NOT_OPEN, unknown)
    if not judged.people.score.size:
        raise MissingData(_("No answers of people were judged: items whose answer is by “human”."))
    rows = []
    for country in judged.countries:
        ceiling = judged.people.of(country=country).ceiling
        people = _ceiling_part(judged.people.of(country=country))
        cells = [Cell(ceiling, rounding=ROUND)]
        for _title, side in sides:
            best = _most_accurate([(name, some.of(country=country)) for name, some in side])
            if not best:
                cells += [Cell(empty=True), Cell(empty=True)]
                continue
            gap = difference(best[0][1], people)
            if gap.value is None and ceiling.value is None:
                gap = replace(gap, reason=ceiling.reason)
            cells += [Cell(text=", ".join(name for name, _some in best)), Cell(gap, rounding=ROUND)]
        rows.append(Row(country, tuple(cells)))
    columns: list[Words] = [_("People")]
    for title, _side in sides:
        columns += [title, _("%(title)s, less people") % {"title": title}]
    words = [
        *about_judge(judged),
        _("In points; negative: below people. People: questions with three or more answers."),
        _("The best of several on the same questions looks better than it is."),
        _("Where several are equally good, all are named, and the difference is the first one's."),
        *([_detail_words(NOT_OPEN, unknown)] if unknown else []),
    ]
    return inputs.table(corner=_("Country"), columns=columns, rows=rows, words=words)


def _most_accurate(side: list[tuple[str, JudgedAnswers]]) -> list[tuple[str, JudgedAnswers]]:
    """Those with the highest accuracy: several, where they tie; none, where none has been judged here."""
    known = [(one, some.accuracy.value) for one, some in side]
    most = max((value for _one, value in known if value is not None), default=None)
    return [one for one, (_name, value) in zip(side, known, strict=True) if value is not None and value == most]


def _ceiling_part(people: JudgedAnswers) -> JudgedAnswers:
    """Answers to questions with three or more: what the people's own accuracy is over."""
    names, count = np.unique(people.question, return_counts=True)
    return people.where(np.isin(people.question, names[count >= 3]))


def build_facets(inputs: TableInputs) -> Table:
    """Figure 7, with people's own accuracy by facet beside it."""
    judged = judged_answers(inputs)
    models = models_in_setting(judged, inputs.chosen["setting"])
    theirs = {printed_row["facet"]: printed_row["accuracy"] for printed_row in printed_rows("human_facets")}
    rows = []
    for facet in judged.facets():
        cells = [Cell(some.of(facet=facet).accuracy, rounding=ROUND) for _name, some in models]
        human = printed("human_facets", "accuracy", OTHER_ANSWERS, facet=facet) if facet in theirs else None
        cells.append(Cell(judged.people.of(facet=facet).ceiling, rounding=ROUND, printed=human))
        rows.append(Row(facet, tuple(cells)))
    columns: list[Words] = [*(name for name, _some in models), _("People")]
    return inputs.table(corner=_("Facet"), columns=columns, rows=rows, words=about_judge(judged))


def build_sub_categories(number: str, inputs: TableInputs) -> Table:
    """Tables 6 and 7: a row's average is over the cells that exist."""
    judged = judged_answers(inputs)
    models = models_in_setting(judged, inputs.chosen["setting"])
    paper = SUB_CATEGORIES[number]
    facets = [
        one for one in ("food", "drink", "clothing", "traditions", "rituals") if one in next(iter(paper.values()))
    ]
    inside = judged.where(np.isin(judged.facet, facets))
    further = sorted(set(inside.sub_category.tolist()) - {""} - set(paper))
    if not set(inside.sub_category.tolist()) - {""}:
        raise MissingData(NO_SUB_CATEGORIES)
    judged_kinds = set(zip(inside.facet.tolist(), inside.sub_category.tolist(), strict=True))
    unjudged = [name for name in paper if not any((facet, name) in judged_kinds for facet in facets)]
    rows = []
    for name in (*paper, *further):
        if name in unjudged:
            continue
        cells, estimates = [], []
        for facet in facets:
            for model, some in models:
                if facet not in paper.get(name, facets) or (facet, name) not in judged_kinds:
                    cells.append(Cell(empty=True))
                    continue
                estimate = some.of(facet=facet, sub_category=name).accuracy
                where = {"number": number, "sub_category": name, "facet": facet, "model": model}
                theirs = printed("tables_6_7", "accuracy", OTHER_ANSWERS, **where)
                cells.append(Cell(estimate, rounding=ROUND, printed=theirs))
                estimates.append(estimate)
        mean = printed("tables_6_7", "accuracy", OTHER_ANSWERS, number=number, sub_category=name, facet="Average")
        cells.append(Cell(mean_of(estimates, "cells", scale=SHARES), rounding=ROUND, printed=mean))
        rows.append(Row(name, tuple(cells)))
    columns: list[Words] = [f"{facet}, {model}" for facet in facets for model, _some in models]
    words = [
        *about_judge(judged),
        SUB_CATEGORIES_FROM,
        _("A row's average is the plain mean of its cells that exist and have a value."),
        *_unjudged_words(unjudged),
    ]
    return inputs.table(corner=_("Sub-category"), columns=[*columns, _("Average")], rows=rows, words=words)


def _unjudged_words(names: Sequence[str]) -> list[Words]:
    """Which rows of the paper are left out."""
    if not names:
        return []
    text = _("No answer to a question of these kinds has been judged yet, so they have no row: %(names)s.")
    return [text % {"names": ", ".join(names)}]


def western_words(label_set: LabelSetSpec | None, western_by_country: Mapping[str, bool | None]) -> list[Words]:
    """Which countries are Western by the set, its version, and the countries of which it does not say."""
    western = [label.text for label in label_set.labels if label.western] if label_set else []
    unknown = [country for country, side in western_by_country.items() if side is None]
    sentences: list[Words] = [_("Western: %(countries)s.") % {"countries": ", ".join(western) or "–"}]
    if unknown:
        text = _("In neither column, since the label set does not say: %(countries)s.")
        sentences.append(text % {"countries": ", ".join(unknown)})
    return [*sentences, *set_words(label_set)]


SIDES: Mapping[bool, Words] = {True: gettext_lazy("Western countries"), False: gettext_lazy("Other countries")}


def build_releases(inputs: TableInputs) -> Table:
    """Figure 1: by release date, Western and other countries apart."""
    judged = judged_answers(inputs)
    about = _model_info(inputs)
    dated = [
        (str(about.get(name, {}).get("released") or ""), name, some) for name, some in models_in_setting(judged, "vlm")
    ]
    undated = [name for date, name, _some in dated if not date]
    if len(undated) == len(dated):
        raise details_missing(NOT_DATED, undated)
    rows = []
    label_set = label_set_of(inputs.benchmark)
    western_by_country = western_of(label_set, judged.countries)
    sides = {side: name for side, name in SIDES.items() if side in western_by_country.values()}
    for date, name, some in sorted(dated, key=lambda one: (one[0] or "9", one[1])):
        cells = [Cell(text=date or "–")]
        for western in sides:
            estimates = [some.of(country=c).accuracy for c, side in western_by_country.items() if side is western]
            cells.append(Cell(mean_over_countries(estimates, SHARES), rounding=ROUND))
        rows.append(Row(name, tuple(cells)))
    words = [*about_judge(judged), *western_words(label_set, western_by_country), MEAN]
    words += [_detail_words(NOT_DATED, undated)] if undated else []
    words += [_("%(side)s: none of the benchmark, so they have no column.") % {"side": name}
              for side, name in SIDES.items() if side not in sides]  # fmt: skip
    columns: list[Words] = [_("Released"), *sides.values()]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def build_correlations(inputs: TableInputs) -> Table:
    """Over countries: a model's accuracy with people's, with how long questions are (which Figure 12 plots), and with
    how many answers they have."""
    judged = judged_answers(inputs)
    profile = {counted_question.country: counted_question for counted_question in counted_questions(inputs)}
    people = [judged.people.of(country=c).ceiling.value for c in judged.countries]
    length = [profile[c].question_words if c in profile else None for c in judged.countries]
    answers = [profile[c].answers_each if c in profile else None for c in judged.countries]
    rows = []
    for name, some in models_in_setting(judged, "vlm"):
        own = _numbers([some.of(country=c).accuracy.value for c in judged.countries])
        cells = [
            Cell(correlation_of(own, _numbers(people), "pearson"), rounding=Rounding(2)),
            Cell(correlation_of(own, _numbers(length), "spearman"), rounding=Rounding(2)),
            Cell(correlation_of(own, _numbers(answers), "spearman"), rounding=Rounding(2)),
        ]
        rows.append(Row(name, tuple(cells)))
    columns: list[Words] = [
        _("Pearson with people's accuracy"),
        _("Spearman with question length"),
        _("Spearman with answers per question"),
    ]  # fmt: skip
    words = [*about_judge(judged), _("One point for each country. Interval over countries.")]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def _numbers(values: list[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float64)


_ALL: tuple[TableSpec, ...] = (
    TableSpec(
        "accuracy", "Tables 2, 4", gettext_lazy("LAVE accuracy by country"), NEEDS, build_countries,
        (*OPTIONS, CEILING),
    ),
    *DATA_TABLES,
    *LIST_TABLES,
    TableSpec(
        "table-6", "Table 6", gettext_lazy("Accuracy by sub-category: food, drink, clothing"), NEEDS,
        partial(build_sub_categories, "6"), OPTIONS,
    ),
    TableSpec(
        "table-7", "Table 7", gettext_lazy("Accuracy by sub-category: traditions, rituals"), NEEDS,
        partial(build_sub_categories, "7"), OPTIONS,
    ),
    TableSpec("releases", "Figure 1", gettext_lazy("Accuracy by release date"), NEEDS, build_releases, (JUDGE, SCALE)),
    TableSpec(
        "without-picture", "Figure 5", gettext_lazy("Accuracy without the picture"), NEEDS, build_conditions,
        (JUDGE, SCALE),
    ),
    TableSpec(
        "gaps", "Figure 6", gettext_lazy("Models less people"), NEEDS, build_gaps, (JUDGE, SCALE, CEILING),
    ),
    TableSpec(
        "facets", "Figure 7", gettext_lazy("Accuracy by facet"), NEEDS, build_facets, (*OPTIONS, CEILING),
    ),
    TableSpec(
        "few-shot", "Figure 9", gettext_lazy("With examples, less without"), NEEDS, build_few_shot, (JUDGE, SCALE),
    ),
    *VERDICT_TABLES,
    STEREOTYPE_TABLE,
    TableSpec(
        "correlations", "Figure 12", gettext_lazy("Correlates of accuracy by country"), NEEDS, build_correlations,
        (JUDGE, SCALE, CEILING),
    ),
    about_models(stage=("answers", "answer")),
)  # fmt: skip
TABLES = {"culturalvqa": _ALL}
