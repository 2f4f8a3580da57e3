"""CAIRE's specific set: multi-label F1 of a model's scores against several gold labels of each picture.

A model rater's setting says how it was asked: none (CAIRE as it is), "no_retrieval", "cosine", "top_20",
"log_probabilities", "gold_context", "gold_context_log_probabilities".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.multilabel import Average, Pairs, f1, f1_difference, f1_ratio
from evaluation.queries.observations import Observations, ObservedItem, ObservedRater
from evaluation.queries.rating_rows import target_text
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.model_scores import PLAIN, model_label
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.caire.printed_values import printed
from papers.caire.tables.link_cases import CASE_TABLES
from papers.caire.tables.links import LINK_TABLES

STAGE, FIELD = "specific", "relevance"
NEEDS = gettext_lazy("Pictures with gold labels, and scores of a model for each picture and label.")
GOLD = "gold_context"
OTHER_PICTURES = gettext_lazy("The paper's pictures are not public; this benchmark uses other pictures.")
SAME_MODEL = gettext_lazy(
    "The caption says the strongest baseline; the paper's numbers are against the same model, and for Qwen2.5-7B "
    "against Qwen2.5-VL-7B."
)
AVERAGE = TableOption(
    "average",
    gettext_lazy("F1"),
    {
        "micro": gettext_lazy("micro: over all pairs of picture and label"),
        "macro": gettext_lazy("macro: mean over labels"),
        "samples": gettext_lazy("samples: mean over pictures"),
    },
)
THRESHOLD = TableOption(
    "threshold",
    gettext_lazy("Positive from"),
    {
        "4": gettext_lazy("4, relevant"),
        "5": gettext_lazy("5, highly relevant"),
        "3": gettext_lazy("3, somewhat relevant"),
    },
)
COMMON = TableOption(
    "answers",
    gettext_lazy("Answers"),
    {
        "own": gettext_lazy("all of each model"),
        "common": gettext_lazy("common answers only: pairs that every model of the table scored"),
    },
)


@dataclass(frozen=True)
class ModelPairs:
    """One model as it was asked, with its pairs."""

    rater: ObservedRater
    pairs: Pairs

    @property
    def setting(self) -> str:
        return "" if self.rater.setting in PLAIN else self.rater.setting


NO_GOLD = gettext_lazy("No picture has gold labels. Import them with the pictures, in a column “gold”.")
NO_ARTICLE = gettext_lazy("No model was asked with the right article: a setting “gold_context”.")


def _load_model_pairs(inputs: TableInputs) -> list[ModelPairs]:
    """Every pair of a picture with gold labels that any model scored or that is gold; NaN where this model gave
    nothing. Of a picture without gold labels nobody knows what is right."""
    observations = inputs.observed(STAGE, FIELD, ("model",))
    known = np.array([bool(_gold_labels(one)) for one in observations.items], bool)
    if not known.any():
        raise MissingData(NO_GOLD)
    observations = observations.where(known[observations.item])
    scored = {
        (int(i), _label(observations, int(t))) for i, t in zip(observations.item, observations.target, strict=True)
    }
    gold = {(place, label) for place, one in enumerate(observations.items) for label in _gold_labels(one)}
    every = sorted(scored | gold)
    at = {pair: number for number, pair in enumerate(every)}
    item = np.array([pair[0] for pair in every], np.int64)
    label = np.array([pair[1] for pair in every])
    truth = np.array([pair in gold for pair in every], bool)
    return [
        ModelPairs(rater, Pairs(item, label, truth, _scores(observations.of_rater(p), at)))
        for p, rater in observations.models()
    ]


def _gold_labels(item: ObservedItem) -> list[str]:
    """A list, or a text in which "|" stands between labels; upper and lower case are the same."""
    given = item.context.get("gold") or ()
    parts = given.split("|") if isinstance(given, str) else given
    return [str(part).strip().casefold() for part in parts if str(part).strip()]


def _label(rows: Observations, target: int) -> str:
    """As gold labels are written; not with its set beside it, where a cohort has the same label."""
    return target_text(rows.targets[target]).casefold()


def _scores(rows: Observations, at: dict[tuple[int, str], int]) -> Floats:
    scores = np.full(len(at), np.nan)
    for item, target, value in zip(rows.item, rows.target, rows.value, strict=True):
        scores[at[int(item), _label(rows, int(target))]] = value
    return scores


def _average(inputs: TableInputs) -> tuple[Average, float]:
    key = inputs.chosen["average"]
    average: Average = "macro" if key == "macro" else "samples" if key == "samples" else "micro"
    return average, float(inputs.chosen["threshold"])


def _find_pairs(asked: Sequence[ModelPairs], name: str, setting: str) -> ModelPairs | None:
    return next(
        (model_pairs for model_pairs in asked if (model_pairs.rater.name, model_pairs.setting) == (name, setting)), None
    )


def _restrict_to_common(asked: Sequence[ModelPairs]) -> list[ModelPairs]:
    """The same models over the pairs that all of them scored; the other scores become NaN."""
    shared = np.all([np.isfinite(model.pairs.score) for model in asked], axis=0)
    return [replace(model, pairs=replace(model.pairs, score=np.where(shared, model.pairs.score, np.nan)))
            for model in asked]  # fmt: skip


def build_f1(inputs: TableInputs) -> Table:
    """Tables 1 and 8: F1, and how much more it is than the same model's without retrieval."""
    asked = [model_pairs for model_pairs in _load_model_pairs(inputs) if not model_pairs.setting.startswith(GOLD)]
    if inputs.chosen["answers"] == "common" and asked:
        asked = _restrict_to_common(asked)
    average, threshold = _average(inputs)
    scores = {model_pairs.rater.pk: f1(model_pairs.pairs, average, threshold=threshold) for model_pairs in asked}
    baselines = [model_pairs for model_pairs in asked if model_pairs.setting in ("no_retrieval", "cosine")]
    defined = [baseline for baseline in baselines if scores[baseline.rater.pk].value is not None]
    best = max(defined, key=lambda model_pairs: scores[model_pairs.rater.pk].value or 0.0, default=None)
    rows, gains = [], []
    for pairs_of_model in sorted(
        asked, key=lambda model_pairs: (_rank(model_pairs.setting), model_pairs.rater.name, model_pairs.setting)
    ):
        where = {"model": pairs_of_model.rater.name, "setting": pairs_of_model.setting}
        cells = [_cell(scores[pairs_of_model.rater.pk], "f1", **where)]
        own = _find_pairs(asked, pairs_of_model.rater.name, "no_retrieval")
        for other, column in ((own, "delta"), (best, "")):
            if pairs_of_model in baselines or other is None:
                cells.append(Cell(empty=True))
            else:
                gains.append(f1_difference(pairs_of_model.pairs, other.pairs, average, threshold=threshold))
                cells.append(
                    _cell(gains[-1], column, known=SAME_MODEL if "log" in pairs_of_model.setting else "", **where)
                )
        rows.append(Row(model_label(pairs_of_model.rater), tuple(cells), _block(pairs_of_model.setting)))
    columns: list[Words] = [
        _("F1"), _("More than the same model without retrieval"), _("More than the strongest baseline"),
    ]  # fmt: skip
    words = [*_f1_words([*scores.values()], gains), *_baseline_words(best)]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def _f1_words(scores: Sequence[Estimate], gains: Sequence[Estimate]) -> list[Words]:
    """What the columns are over: a gain pairs two models, so it may rest on fewer answers than an F1."""
    words: list[Words] = [_("Times 100. Pairs without a score are left out."), _left_out_words()]
    sizes = _range([score.n_ratings for score in scores])
    if gains:
        text = _("F1 is over the pairs that the model scored (%(f1)s); a gain is over the pairs that both models "
                 "scored (%(gain)s).")  # fmt: skip
        words.append(text % {"f1": sizes, "gain": _range([gain.n_ratings // 2 for gain in gains])})
    else:
        words.append(_("F1 is over the pairs that the model scored (%(f1)s).") % {"f1": sizes})
    return words


def _baseline_words(best: ModelPairs | None) -> list[Words]:
    if best is None:
        return []
    text = _(
        "Strongest baseline: %(model)s. The strongest baseline was chosen on these data: the gain tends to be too "
        "small, and its interval does not include the choice."
    )
    return [text % {"model": model_label(best.rater)}]


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts, default=0), max(counts, default=0)
    return f"n = {low:,}" if low == high else f"n = {low:,}–{high:,}"


def _left_out_words() -> str:
    return _("Intervals over pictures, each with all its labels (jackknife).")


def _rank(setting: str) -> int:
    return {"cosine": 0, "no_retrieval": 1}.get(setting, 3 if "log" in setting else 2)


def _block(setting: str) -> str:
    names = (
        _("Vision-language encoders (baseline 1)"), _("Vision-language models (baseline 2)"), _("CAIRE"),
        _("CAIRE, log-probabilities"),
    )  # fmt: skip
    return names[_rank(setting)]


def _cell(estimate: Estimate, column: str, known: Words = "", table: str = "table_1", **where: str) -> Cell:
    theirs = printed(table, column, known or OTHER_PICTURES, **where) if column else None
    return Cell(estimate, rounding=Rounding(1, 100), printed=theirs)


def build_gold(inputs: TableInputs) -> Table:
    """Tables 10 and 11: with the right article given, and how near to that retrieval comes."""
    asked = _load_model_pairs(inputs)
    average, threshold = _average(inputs)
    rows = []
    for pairs_of_model in asked:
        if not pairs_of_model.setting.startswith(GOLD):
            continue
        where = {"model": pairs_of_model.rater.name, "setting": pairs_of_model.setting}
        estimate = f1(pairs_of_model.pairs, average, threshold=threshold)
        cells = [_cell(estimate, "f1", table="tables_10_11", **where)]
        other = _find_pairs(
            asked, pairs_of_model.rater.name, pairs_of_model.setting.removeprefix(GOLD).removeprefix("_")
        )
        if other is None:
            cells.append(Cell(text="–"))
        else:
            share = f1_ratio(other.pairs, pairs_of_model.pairs, average, threshold=threshold)
            cells.append(_cell(share, "ratio", table="tables_10_11", **where))
        rows.append(Row(model_label(pairs_of_model.rater), tuple(cells)))
    if not rows:
        raise MissingData(NO_ARTICLE)
    columns: list[Words] = [_("F1 with the right article"), _("Retrieval reaches, in percent of it")]
    words: list[Words] = [_("Times 100."), _left_out_words()]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


OPTIONS = (AVERAGE, THRESHOLD)
SPECIFIC_TABLES: tuple[TableSpec, ...] = (
    TableSpec("table-1", "Tables 1, 8", gettext_lazy("F1 on the specific set"), NEEDS, build_f1, (*OPTIONS, COMMON)),
    *LINK_TABLES,
    *CASE_TABLES,
    TableSpec("table-10", "Tables 10, 11", gettext_lazy("F1 with the right article"), NEEDS, build_gold, OPTIONS),
)
