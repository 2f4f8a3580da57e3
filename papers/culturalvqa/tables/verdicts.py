"""People's verdicts on models' answers, and how far the judge agrees with them.

The five cases are nominal: a mean of them says nothing, so shares and nominal alpha stand here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.metrics.alpha import alpha
from evaluation.metrics.counts import Ratings
from evaluation.metrics.judges import against_majority
from evaluation.metrics.proportions import share
from evaluation.queries.observations import Observations
from evaluation.rendering.report import Cell, PrintedValue, Rounding, Row, Words
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.culturalvqa.printed_values import PRINTED
from papers.culturalvqa.tables.judgements import JUDGE, STAGE, UNREADABLE, JudgedAnswers, chosen_judges, judged_answers

CASES = ("1", "2", "3", "4", "5")
WITH_PICTURE = ("", "vlm")
NAMES: dict[str, Words] = {
    "1": gettext_lazy("1, completely correct"),
    "2": gettext_lazy("2, not culturally specific"),
    "3": gettext_lazy("3, not precise"),
    "4": gettext_lazy("4, neither"),
    "5": gettext_lazy("5, completely incorrect"),
}
NEEDS = gettext_lazy("Verdicts of people on answers of models, in the stage “Rating model answers”.")
UNTOLD = gettext_lazy("The paper does not say on which answers, nor how five verdicts became one.")
RIGHT, WRONG = 2.0, 1.0
RULE = TableOption(
    "correct",
    gettext_lazy("People find an answer correct when most say"),
    {
        "1": gettext_lazy("1, completely correct"),
        "1-4": gettext_lazy("1 to 4, anything but completely incorrect"),
    },
)


class RatedModel(NamedTuple):
    """A model whose answers people rated, and how it was asked: empty where the items do not say."""

    name: str
    setting: str
    verdicts: Observations

    @property
    def label(self) -> str:
        return self.name if self.setting in WITH_PICTURE else f"{self.name} ({self.setting})"


def _by_model(observations: Observations) -> list[RatedModel]:
    """By name and setting. Items that were imported name the model in a column of its own."""
    columns = (observations.item_values(name) for name in ("model", "candidate_by", "setting"))
    asked = [(str(model or by or ""), str(setting or "")) for model, by, setting in zip(*columns, strict=True)]
    return [
        RatedModel(*which, observations.where(np.array([one == which for one in asked], bool)[observations.item]))
        for which in sorted(set(asked))
        if which[0]
    ]


def build_verdicts(inputs: TableInputs) -> Table:
    """Figure 11: how people's verdicts are spread, by model; over single verdicts."""
    observations = inputs.observed("model-answers", "verdict", ("person",))
    models = _by_model(observations)
    if not models:
        raise MissingData(_("It is not known whose answers these are. Import the items with a column “model”."))
    rows = []
    for model in models:
        some = model.verdicts
        verdicts_given = np.array(observations.codes)[some.code]
        people = int(np.unique(some.rater).size)
        cells = [
            Cell(
                share(
                    verdicts_given == case,
                    some.item,
                    method="share of verdicts",
                    n_raters=people,
                    n_units=int(np.unique(some.item).size),
                ),
                rounding=Rounding(1, 100),
            )
            for case in CASES
        ]
        cells.append(Cell(alpha(some.ratings, "nominal", interval=inputs.interval), rounding=Rounding(2)))
        rows.append(Row(model.label, tuple(cells)))
    columns: list[Words] = [*(NAMES[case] for case in CASES), _("Alpha, nominal")]
    words: list[Words] = [
        _("Shares are of single verdicts, in percent; intervals leave out each answer with its verdicts."),
        _("The cases have no order: they have no mean."),
    ]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def build_judge(inputs: TableInputs) -> Table:
    """How often the judge and most people find the same of an answer."""
    verdicts = inputs.observed("model-answers", "verdict", ("person",))
    lave = inputs.observed("lave", "lave", ("model",))
    if len(chosen_judges(inputs, lave)) > 1:
        raise MissingData(_("Choose one judge: agreement is of one with people."))
    judged = judged_answers(inputs)
    right = ("1",) if inputs.chosen["correct"] == "1" else CASES[:4]
    rows = []
    whole: list[tuple[tuple[str, str], int, float]] = []
    for model in _by_model(verdicts):
        pairs = _people(model, right) + _judge(judged, model)
        whole += pairs
        printed = PRINTED.in_text("judge_agreement", model.label, UNTOLD)
        rows.append(Row(model.label, _judge_cells(pairs, printed)))
    if not any(cell.estimate is not None and cell.estimate.n_units for row in rows for cell in row.cells):
        raise MissingData(
            _("No answer was both judged and rated by people. Both items need the same “question” and model.")
        )
    rows.append(Row(_("All"), _judge_cells(whole, None)))
    columns: list[Words] = [_("Agreement, percent"), _("Base rate, percent"), _("Cohen's kappa")]
    words: list[Words] = [
        _("Judge: %(judge)s. Answers that people are split about evenly are left out.") % {"judge": judged.judge},
        *judged.ways,
        UNREADABLE,
        _("Base rate: what a judge that always gives people's commonest verdict would reach."),
    ]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


Pair = tuple[tuple[str, str], int, float]  # question and model, rater's number, code


def _people(model: RatedModel, right: tuple[str, ...]) -> list[Pair]:
    some = model.verdicts
    questions = some.item_values("question")
    codes = [RIGHT if code in right else WRONG for code in some.codes]
    return [
        ((str(questions[item]), model.label), int(rater) + 1, codes[code])
        for item, rater, code in zip(some.item, some.rater, some.code, strict=True)
        if questions[item]
    ]


def _judge(judged: JudgedAnswers, model: RatedModel) -> list[Pair]:
    """The same answers; where the rated items do not say how the model was asked, those with the picture. The judge is
    rater 0, and finds right what has the whole score, not half of it; NaN where it could not be read."""
    answers = judged.answered.of(by=model.name)
    same = answers.where(np.isin(answers.setting, [model.setting] if model.setting else list(WITH_PICTURE)))
    codes = np.where(same.score == 1, RIGHT, np.where(np.isfinite(same.score), WRONG, np.nan))
    return [
        ((str(question), model.label), 0, float(code))
        for question, code in zip(same.question, codes, strict=True)
        if question
    ]


def _judge_cells(pairs: list[Pair], theirs: PrintedValue | None) -> tuple[Cell, ...]:
    majority = against_majority(_table([pair for pair in pairs if np.isfinite(pair[2])]), 0)
    read = {unit for unit, rater, code in pairs if rater == 0 and np.isfinite(code)}
    every = [pair for pair in pairs if np.isfinite(pair[2])]
    every += [(unit, 0, WRONG) for unit, _rater, code in pairs if np.isnan(code) and unit not in read]
    n, hits = against_majority(_table(every), 0).agreement.n_units, majority.agreement.extras["count"]
    lost = n - majority.agreement.n_units  # of those that most people agree about
    ends = {"worst": int(hits or 0) / n, "best": (int(hits or 0) + lost) / n} if n else {}
    agreement = replace(majority.agreement, extras={**majority.agreement.extras, "n_unreadable": lost, **ends})
    return (
        Cell(agreement, rounding=Rounding(0, 100), printed=theirs),
        Cell(majority.base_rate, rounding=Rounding(0, 100)),
        Cell(majority.kappa, rounding=Rounding(2)),
    )


def _table(pairs: list[Pair]) -> Ratings:
    units: dict[tuple[str, str], int] = {}
    raters: dict[int, int] = {0: 0}
    rows = {
        (units.setdefault(unit, len(units)), raters.setdefault(rater, len(raters))): code for unit, rater, code in pairs
    }
    unit, rater = np.array(list(rows), np.int64).reshape(-1, 2).T
    return Ratings(unit, rater, np.array(list(rows.values()), np.float64), len(units), len(raters))


VERDICT_TABLES: tuple[TableSpec, ...] = (
    TableSpec("verdicts", "Figure 11", gettext_lazy("What people say of models' answers"), NEEDS, build_verdicts),
    TableSpec(
        "judge", "Section 5", gettext_lazy("The judge compared with people"),
        gettext_lazy("Answers that both the judge and people rated."), build_judge, (RULE, JUDGE),
        judges_stage=STAGE,
    ),
)  # fmt: skip
