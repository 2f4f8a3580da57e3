"""What a judge said of answers (stage `lave`), as arrays: for each answer its score, question, country, facet.

An item is a question with one candidate answer; its context names the question, who gave the answer ("human" or a
model) and how the model was asked. An item the judge gave no readable rating has no score: missing, with a reason.
A question that a model was asked and gave no answer to has no item: it is read from the call (`no_answer`), and counted
apart from what the judge could not be read about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import Min, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Rating, Unit
from annotation.sheets.sheet import Sheet
from benchmarks.models import Benchmark, Item
from evaluation.metrics.counts import Bools, Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.resampling import SHARES_APART, difference_of_means
from evaluation.queries.call_statistics import UNSENT, WITHOUT_VALUE, CallStatistics
from evaluation.queries.call_statistics import call_statistics as calls_of
from evaluation.queries.observations import Observations, ObservedRater, rater_label
from evaluation.rendering.report import Words
from evaluation.reports.call_text import methods_text
from evaluation.selections.selection import Selection
from evaluation.tables.sources import CAMPAIGNS
from evaluation.tables.table import MissingData, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.culturalvqa.metrics import Scale, human_ceiling, lave_accuracy, scores_of
from papers.culturalvqa.tables.labels import sub_categories
from people.models import Rater
from predictions.models import Call
from predictions.models.calls import INCOMPLETE

STAGE = FIELD = "lave"
ANSWERS = "answers"
HUMAN = "human"
FACETS = ("food", "clothing", "drink", "rituals", "traditions")
SCALE = TableOption(
    "scale",
    gettext_lazy("Scale of the judge"),
    {
        "sheet": gettext_lazy("as the sheet has it"),
        "1-2": gettext_lazy("1 wrong, 2 right"),
        "1-3": gettext_lazy("1 wrong, 2 half right, 3 right"),
    },
)


def judges_of(benchmark: Benchmark) -> list[Rater]:
    """Every model that judged here, in the order in which they began: a later one takes no earlier one's place."""
    ratings = Rating.objects.filter(campaign__stage__benchmark=benchmark, campaign__stage__key=STAGE, field=FIELD)
    began = ratings.filter(rater__kind=Rater.Kind.MODEL).values("rater").annotate(first=Min("pk")).order_by("first")
    order = [row["rater"] for row in began]
    return sorted(Rater.objects.filter(pk__in=order), key=lambda rater: order.index(rater.pk))


def _judge_labels(benchmark: Benchmark) -> dict[str, Words]:
    return {str(judge.pk): rater_label(judge) for judge in judges_of(benchmark)}


JUDGE = TableOption(
    "judge",
    gettext_lazy("Judge"),
    {"first": gettext_lazy("the one that began first"), "mean": gettext_lazy("the mean of all judges")},
    more=_judge_labels,
)
CEILING = TableOption(
    "ceiling",
    gettext_lazy("People's own accuracy"),
    {"answers": gettext_lazy("mean over their answers"), "questions": gettext_lazy("mean over questions")},
)
SUB_CATEGORIES_FROM = gettext_lazy(
    "Sub-categories: as people said in the stage “sub-categories”; else as the items say; else as a judge said."
)
UNREADABLE = gettext_lazy(
    "Answers with an unreadable reply of the judge are left out. Each value has bounds: "
    "if they were all wrong, and all right."
)


@dataclass(frozen=True, eq=False)
class JudgedAnswers:
    """n judged answers, and calls of the same models without one. `score` (n,) 0 to 1, NaN where unreadable and where
    there is no answer; `no_answer` (n,) the state in which such a call ended, else empty; the others are (n,) texts."""

    score: Floats
    question: npt.NDArray[Any]
    by: npt.NDArray[Any]
    setting: npt.NDArray[Any]
    country: npt.NDArray[Any]
    facet: npt.NDArray[Any]
    sub_category: npt.NDArray[Any]
    no_answer: npt.NDArray[Any]
    judge: str
    ways: tuple[str, ...] = ()  # how each judge's answers were come by, in words
    partly: int = 0  # answers that some of several judges said something readable about, and others not
    average: str = "answers"

    def where(self, keep: Bools) -> JudgedAnswers:
        names = ("score", "question", "by", "setting", "country", "facet", "sub_category", "no_answer")
        return replace(self, **{name: getattr(self, name)[keep] for name in names})

    def of(self, **wanted: str) -> JudgedAnswers:
        keep = np.ones(self.score.size, bool)
        for name, value in wanted.items():
            keep &= getattr(self, name) == value
        return self.where(keep)

    @property
    def answered(self) -> JudgedAnswers:
        """Without the calls that ended without an answer."""
        return self.where(self.no_answer == "")

    @property
    def people(self) -> JudgedAnswers:
        return self.of(by=HUMAN)

    @cached_property
    def countries(self) -> list[str]:
        return sorted(set(self.country.tolist()))

    @cached_property
    def models(self) -> list[str]:
        return sorted(set(self.by.tolist()) - {HUMAN})

    def facets(self) -> list[str]:
        there = set(self.facet.tolist()) - {""}
        return [one for one in FACETS if one in there] + sorted(there - set(FACETS))

    @property
    def accuracy(self) -> Estimate:
        judged = self.answered
        estimate = lave_accuracy(judged.score, judged.question)
        without = self.score.size - judged.score.size
        return replace(estimate, extras={**estimate.extras, "n_no_answer": without}) if without else estimate

    @property
    def ceiling(self) -> Estimate:
        return human_ceiling(
            self.score, self.question, average="questions" if self.average == "questions" else "answers"
        )


def judged_answers(inputs: TableInputs) -> JudgedAnswers:
    """Everything that was judged, in the countries selected. Raises MissingData."""
    observations = inputs.observed(STAGE, FIELD, ("model",))
    selection, judges = inputs.used_selections[-1], chosen_judges(inputs, observations)
    score, partly = _scores(observations, judges, scale_of(inputs))
    rows = Item.objects.filter(
        stage__benchmark=inputs.benchmark, stage__key=STAGE, condition__in=selection.conditions, withdrawn_at=None
    ).order_by("key")
    rows = _of_campaigns(inputs, with_concepts(rows, selection), selection)
    calls = calls_of(selection)
    put = _items_asked_of_all(calls, observations, judges)
    named_rows = select_origins(inputs, rows).values_list("pk", "origin", "context")
    selected = [row for row in named_rows if put is None or row[0] in put]
    if not selected:
        raise MissingData(_("There are no judged answers for the countries chosen."))
    rows_of_answers = [_answer_row(context, origin, score.get(pk, np.nan)) for pk, origin, context in selected]
    every = [*rows_of_answers, *_calls_without_answer(inputs, selection, rows_of_answers)]
    by_people, by_models = sub_categories(inputs)
    return JudgedAnswers(
        score=np.array([row.score for row in every], np.float64),
        **{
            name: np.array([getattr(row, name) for row in every]) for name in VerdictRow._fields if name not in COMPUTED
        },
        sub_category=np.array(
            [by_people.get(row.question) or row.sub_category or by_models.get(row.question, "") for row in every]
        ),
        judge=", ".join(rater_label(observations.raters[place]) for place in judges),
        ways=_method_texts(calls, [observations.raters[place] for place in judges]),
        partly=partly,
        average=inputs.chosen.get("ceiling", "answers"),
    )


class VerdictRow(NamedTuple):
    """An answer, or a call without one; see JudgedAnswers."""

    score: float
    question: str
    by: str
    setting: str
    country: str
    facet: str
    sub_category: str
    no_answer: str = ""


COMPUTED = ("score", "sub_category")


def _answer_row(context: Mapping[str, Any], origin: str, score: float) -> VerdictRow:
    question, by, setting, facet, sub_category = (
        str(context.get(name) or "") for name in ("question", "candidate_by", "setting", "facet", "sub_category")
    )
    return VerdictRow(score, question, by, setting, origin, facet, sub_category)


def _calls_without_answer(
    inputs: TableInputs, selection: Selection, judged: Sequence[VerdictRow]
) -> Iterator[VerdictRow]:
    """Questions that models of `judged`, asked in the same way, gave no answer to; one row for each question, though it
    was asked in several runs. None where an answer was judged."""
    asked = {(row.by, row.setting) for row in judged}
    known = {(row.question, row.by, row.setting) for row in judged}
    unreadable = Q(state=Call.State.ANSWERED, **{f"notes__{INCOMPLETE}__has_key": "answer"})
    calls = Call.objects.filter(
        Q(state__in=WITHOUT_VALUE) | unreadable, run__campaign__stage__benchmark=inputs.benchmark,
        run__campaign__stage__key=ANSWERS, run__withdrawn_at=None, repeat=0, item__withdrawn_at=None,
        item__condition__in=selection.conditions,
    ).exclude(UNSENT)  # fmt: skip
    if selection.concepts:
        calls = calls.filter(item__concept__in=selection.concepts)
    if labels := _chosen_labels(inputs):
        calls = calls.filter(item__origin__in=labels)
    names = ("item__key", "run__rater__name", "run__rater__setting", "item__origin", "item__context", "state")
    for question, by, setting, origin, context, state in calls.order_by("pk").values_list(*names):
        if (by, setting) not in asked or (question, by, setting) in known:
            continue
        known.add((question, by, setting))
        facet, sub_category = (str(context.get(name) or "") for name in ("facet", "sub_category"))
        yield VerdictRow(np.nan, question, by, setting, origin, facet, sub_category, str(state))


def _of_campaigns(inputs: TableInputs, rows: QuerySet[Item], selection: Selection) -> QuerySet[Item]:
    """Only items that the campaigns asked about, where the address names campaigns; else all."""
    if not inputs.params.getlist(CAMPAIGNS):
        return rows
    answered = Unit.objects.filter(assignments__campaign__in=selection.campaigns).values("item")
    called = Call.objects.filter(run__campaign__in=selection.campaigns, run__withdrawn_at=None).values("item")
    return rows.filter(Q(pk__in=answered) | Q(pk__in=called))


def with_concepts(rows: QuerySet[Item], selection: Selection) -> QuerySet[Item]:
    """Only items of the concepts that the address names; all, where it names none."""
    return rows.filter(concept__in=selection.concepts) if selection.concepts else rows


def select_origins(inputs: TableInputs, rows: QuerySet[Item]) -> QuerySet[Item]:
    """Only items of the cohorts the address names; all, where it names none: a judge needs no cohort to be asked."""
    labels = _chosen_labels(inputs)
    return rows.filter(origin__in=labels) if labels else rows


def _chosen_labels(inputs: TableInputs) -> list[str]:
    """Of the cohorts that the address names; none where it names none."""
    if not inputs.params.getlist("cohort"):
        return []
    return [inputs.catalogue.cohorts[pk].label for pk in inputs.used_selections[-1].cohorts]


def scale_in(sheet: Sheet) -> Scale:
    """The scale of a judge's sheet."""
    config = next(field.config for field in sheet.fields if field.key == FIELD)
    return "1-3" if any(one.code == "3" for one in getattr(config, "options", ())) else "1-2"


def scale_of(inputs: TableInputs) -> Scale:
    """The scale of the sheet. Raises MissingData where another was chosen: its codes would mean something else."""
    entry = next(stage for stage in inputs.catalogue.stages if stage.key == STAGE)
    sheet = scale_in(inputs.campaigns_of(entry)[0].sheet)
    if inputs.chosen.get("scale", "sheet") not in ("sheet", sheet):
        text = _("The sheet of this stage has the scale “%(scale)s”. Choose it, or “as the sheet has it”.")
        raise MissingData(text % {"scale": SCALE.values[sheet]})
    return sheet


def _items_asked_of_all(
    calls: Mapping[int, CallStatistics], observations: Observations, judges: Sequence[int]
) -> set[int] | None:
    """Items that every one of the judges was asked about, as far as their calls tell; None where one has no calls, as
    one whose ratings came in a file: then all answers count as put to it."""
    if not all(observations.raters[place].pk in calls for place in judges):
        return None
    failed = {place: calls[observations.raters[place].pk].failed for place in judges}
    units = Unit.objects.filter(pk__in={unit for some in failed.values() for unit in some})
    item_of = dict(units.values_list("pk", "item"))
    answered = {
        place: {observations.items[item].pk for item in observations.item[observations.rater == place].tolist()}
        for place in judges
    }
    return set.intersection(*(answered[place] | {item_of[unit] for unit in failed[place]} for place in judges))


def _method_texts(calls: Mapping[int, CallStatistics], judges: Sequence[ObservedRater]) -> tuple[str, ...]:
    told = [(rater_label(judge), methods_text(calls[judge.pk].ways)) for judge in judges if judge.pk in calls]
    return tuple(f"{name}: {words}" if len(judges) > 1 else words for name, words in told if words)


def chosen_judges(inputs: TableInputs, observations: Observations) -> list[int]:
    """Places of the judges whose scores count. Raises MissingData."""
    place_of = {rater.pk: place for place, rater in observations.models()}
    wanted = inputs.chosen.get("judge", "first")
    if wanted == "mean":
        return list(place_of.values())
    began = [judge.pk for judge in judges_of(inputs.benchmark) if judge.pk in place_of]
    chosen = [int(wanted)] if wanted != "first" else began[:1]
    if not chosen or chosen[0] not in place_of:
        raise MissingData(_("This judge said nothing about the answers chosen. Choose another judge, or all cohorts."))
    return [place_of[chosen[0]]]


def _scores(observations: Observations, judges: Sequence[int], scale: Scale) -> tuple[dict[int, float], int]:
    """By item's key: the mean over the judges, where all of them could be read; and how many answers had but some."""
    of_code = scores_of(observations.codes, scale)
    score = of_code[observations.code]
    keep = np.isin(observations.rater, judges) & np.isfinite(score)
    count = np.bincount(observations.item[keep], minlength=len(observations.items))
    total = np.bincount(observations.item[keep], score[keep], len(observations.items))
    scores = {
        item.pk: float(total[n] / count[n]) for n, item in enumerate(observations.items) if count[n] == len(judges)
    }
    return scores, int(((count > 0) & (count < len(judges))).sum())


def models_in_setting(answers: JudgedAnswers, setting: str) -> list[tuple[str, JudgedAnswers]]:
    """The models asked in one way, by name. Raises MissingData without any."""
    some = answers.of(setting=setting)
    models = [(name, some.of(by=name)) for name in some.models]
    if not models:
        raise no_setting(setting)
    return models


def no_setting(setting: str) -> MissingData:
    return MissingData(_("No answer of a model was judged with the setting “%(setting)s”.") % {"setting": setting})


def difference(first: JudgedAnswers, second: JudgedAnswers) -> Estimate:
    """Accuracy of the first less that of the second, questions left out with the answers of both."""
    score = np.concatenate([first.score, second.score])
    side = np.repeat([True, False], [first.score.size, second.score.size])
    question = np.concatenate([first.question, second.question])
    read = np.isfinite(score)
    method = "difference of LAVE accuracies"
    estimate = difference_of_means(score[read], side[read], question[read], scale=SHARES_APART, method=method)
    return replace(estimate, resampled="questions")


def about_judge(judged: JudgedAnswers) -> list[Words]:
    words: list[Words] = [_("Judge: %(judge)s. In percent.") % {"judge": judged.judge}, *judged.ways, UNREADABLE]
    if judged.partly:
        text = ngettext(
            "%(n)s answer was read by some of the judges only, and so has no mean.",
            "%(n)s answers were read by some of the judges only, and so have no mean.",
            judged.partly,
        )
        words.append(text % {"n": f"{judged.partly:,}"})
    if without := no_answer_counts(judged):
        text = _("Calls without an answer, which are left out and counted apart: %(counts)s.")
        words.append(text % {"counts": "; ".join(f"{name}: {n:,}" for name, n in without.items())})
    return words


def no_answer_counts(judged: JudgedAnswers) -> dict[str, int]:
    """How many questions each model, asked in one way, gave no answer to; those without any are not named."""
    without = judged.where(judged.no_answer != "")
    names = [
        f"{by} ({setting})" if setting else str(by) for by, setting in zip(without.by, without.setting, strict=True)
    ]
    return dict(sorted(Counter(names).items()))
