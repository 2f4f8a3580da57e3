"""ValueGround: accuracy of models by country and by setting, and their places.

Intervals leave out whole questions, or countries where countries are the points: the same question is asked of thirteen
countries, with two sources of pictures, and its answers hang together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.metrics.classification import MISSING, Unreadable, accuracy
from evaluation.metrics.counts import Bools, Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.model_ranks import rank_models
from evaluation.metrics.proportions import share, share_of_sums
from evaluation.metrics.resampling import (
    SHARES_APART,
    Statistic,
    cluster_sums,
    difference,
    estimate_by_clusters,
    mean,
    ratio,
)
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from evaluation.tables.targets import LabelRow, not_asked, table_rows
from papers.valueground.printed_values import PRINTED, printed
from papers.valueground.tables.accepted_pairs import accepted_pairs_note
from papers.valueground.tables.answers import Instances, inclusion_sentences, known_answers, load_instances
from papers.valueground.tables.raters import CHOICE

PERCENT = Rounding(1, 100)
WHOLE = Rounding(0)
THREE = Rounding(3)
PAPERS_NAME = {"United Kingdom": "Great Britain"}  # what the paper calls a country
UNREADABLE = TableOption(
    "unreadable",
    gettext_lazy("Answers that are missing or could not be read"),
    {"left_out": gettext_lazy("left out"), "wrong": gettext_lazy("count as wrong")},
)
SAME_OPTION = TableOption(
    "same_option",
    gettext_lazy("Both pictures matched with the same option"),
    {"left_out": gettext_lazy("left out"), "wrong": gettext_lazy("counts as wrong")},
)
CONTRADICTS = gettext_lazy(
    "The paper contradicts itself: main less text-only is -10.2 on average by Table 2, and -12.0 by Table 8; only "
    "Table 8 agrees with Table 5."
)
OWN_ROUNDING = gettext_lazy("The paper's own row gives %(value)s, from numbers that were rounded before.")


def _unreadable(inputs: TableInputs) -> Unreadable:
    return "wrong" if inputs.chosen.get("unreadable") == "wrong" else "left out"


class ModelOutcomes(NamedTuple):
    """Of one model, each (n,): what is right, what has a value, and what it was asked (None: what has a value)."""

    right: Bools
    read: Bools
    put: Bools | None = None

    @classmethod
    def of(cls, codes: Ints, gold: Ints) -> ModelOutcomes:
        """Codes (n,) and labels (n,), MISSING where there is none, or where the model was not asked."""
        put = np.asarray(gold != MISSING)
        return cls(np.asarray(codes == gold), put & (codes != MISSING), put)


def mean_of(pieces: Sequence[ModelOutcomes], clusters: Ints, *, unreadable: Unreadable = "left out") -> Estimate:
    """The mean over the models that have one of each one's share of right answers; all of length n.

    ``n_units`` are the instances that any of them counts with, ``n_raters`` the models, ``n_ratings`` their answers;
    extras: "n_least" and "n_most" of a model, how many models are left out, and as ``accuracy`` what has no value.
    """
    counted = [piece.put if unreadable == "wrong" and piece.put is not None else piece.read for piece in pieces]
    known = [one for one in zip(pieces, counted, strict=True) if one[1].any()]  # the others take nothing away
    columns = [column for one, here in known for column in (one.right & here, here)]
    estimate = _over_models(columns, 2, ratio, clusters, [here for _one, here in known], len(pieces))
    return replace(estimate, extras={**estimate.extras, **_without_value(pieces), "unreadable": unreadable})


def _over_models(
    columns: Sequence[Bools], width: int, each: Statistic, clusters: Ints, counted: Sequence[Bools], n_all: int
) -> Estimate:
    """The mean over models of a statistic of `width` columns of each."""
    sums = cluster_sums(clusters, *columns) if columns else np.zeros((0, 0))

    def over_models(totals: Floats) -> Floats:
        each_one = [each(totals[:, n : n + width]) for n in range(0, totals.shape[1], width)]
        return np.asarray(np.mean(each_one, axis=0)) if each_one else np.full(len(totals), np.nan)

    sizes = [int(one.sum()) for one in counted]
    units, n = int(np.any(counted, axis=0).sum()) if sizes else 0, sum(sizes)
    extras = {"n_least": min(sizes), "n_most": max(sizes)} if sizes else {}
    extras |= {"n_averaged": len(sizes), "n_left_out": n_all - len(sizes), "n_all": n_all}
    common: dict[str, Any] = {
        "method": "mean over models", "n_units": units, "n_raters": len(sizes), "n_ratings": n, "extras": extras,
    }  # fmt: skip
    estimate = (
        share_of_sums(sums, over_models, **common)
        if each is ratio
        else estimate_by_clusters(sums, over_models, SHARES_APART, **common)
    )
    return replace(estimate, missing_share=1 - n / (units * len(sizes)) if n else None)


def _without_value(pieces: Sequence[ModelOutcomes]) -> dict[str, Any]:
    """How many answers have no value, and what the mean would be were they all wrong or right."""
    asked = [(int(piece.put.sum()), piece) for piece in pieces if piece.put is not None and piece.put.any()]
    if not asked:
        return {}
    right = [int((one.right & one.read).sum()) for _n, one in asked]
    lost = [n - int(one.read.sum()) for n, one in asked]
    worst = np.mean([hits / n for hits, (n, _one) in zip(right, asked, strict=True)])
    best = np.mean([(hits + gone) / n for hits, gone, (n, _one) in zip(right, lost, asked, strict=True)])
    return {"n_unreadable": sum(lost), "worst": float(worst), "best": float(best)}


def _country_rows(
    of: Instances, models: Sequence[str], countries: Sequence[tuple[str, Bools | None]], inputs: TableInputs
) -> list[Row]:
    rows = []
    for model in models:
        codes, gold = of.main[model], of.main_gold(model)
        cells = [
            Cell(
                accuracy(codes[mask], gold[mask], of.question[mask], unreadable=_unreadable(inputs))
                if mask is not None
                else not_asked(),
                rounding=PERCENT,
                printed=printed("figure_3", "accuracy", model=model, country=PAPERS_NAME.get(name, name)),
            )
            for name, mask in countries
        ]
        whole = accuracy(codes, gold, of.question, unreadable=_unreadable(inputs))
        theirs = printed("table_2", "main", CONTRADICTS, model=model)
        rows.append(Row(model, (*cells, Cell(whole, rounding=PERCENT, printed=theirs))))
    cells = []
    for name, here in [*countries, ("", np.ones(of.n, bool))]:
        here_gold = [(model, np.where(here, of.main_gold(model), MISSING)) for model in models if here is not None]
        each = [ModelOutcomes.of(of.main[model], gold) for model, gold in here_gold]
        theirs = printed("figure_3", "accuracy", model="Avg.", country=PAPERS_NAME.get(name, name))
        theirs = theirs if name else printed("table_2", "main", CONTRADICTS, model="Avg.")
        estimate = mean_of(each, of.question, unreadable=_unreadable(inputs)) if each else not_asked()
        cells.append(Cell(estimate, rounding=PERCENT, printed=theirs))
    return [*rows, Row(_("Average"), tuple(cells))]


def by_country(of: Instances, rows: Sequence[LabelRow]) -> list[tuple[str, Bools | None]]:
    """The instances of each country; None for one that nobody was asked about."""
    return [(row.text, None if row.place is None else np.asarray(of.country == row.place)) for row in rows]


def build_countries(inputs: TableInputs) -> Table:
    of = load_instances(inputs)
    models = sorted(of.main)
    if not models:
        raise MissingData(_("No model has answered the setting “main” yet. Import its answers."))
    label_rows, set_text = table_rows(inputs, CHOICE, of.countries)
    columns: list[Words] = [*(row.text for row in label_rows), _("All")]
    words: list[Words] = [*inclusion_sentences(of), *set_text, _("In percent. Intervals over questions (jackknife).")]
    rows = _country_rows(of, models, by_country(of, label_rows), inputs)
    words += accepted_pairs_note(inputs, CHOICE)
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def _settings(of: Instances, model: str, inputs: TableInputs) -> tuple[list[Estimate], list[ModelOutcomes]]:
    """The six numbers of a row; and of each but the last, what is right and what is counted, for the average."""
    main, text = of.main.get(model, of.nothing), of.text.get(model, of.nothing)
    own, aligned = of.own_text.get(model, of.nothing), of.aligned.get(model, of.nothing)
    matched, put, question = of.alignments.get(model, of.no_alignments)
    same = known_answers(of, model) & (aligned == 1)
    of_pairs = np.where(put, 1, MISSING)
    estimates = [
        accuracy(main, of.main_gold(model), of.question, unreadable=_unreadable(inputs)),
        accuracy(own, of.text_gold(model), of.question, unreadable=_unreadable(inputs)),
        accuracy(matched, of_pairs, question, unreadable=_unreadable(inputs)),
        share((main == of.gold)[same], of.question[same], method="accuracy"),
        share((text == of.gold)[same], of.question[same], method="accuracy"),
        mean(
            ((main == of.gold)[same].astype(float) - (text == of.gold)[same]),
            of.question[same],
            scale=SHARES_APART,
            method="difference of paired shares",
        ),
    ]
    pieces = [
        ModelOutcomes.of(main, of.main_gold(model)),
        ModelOutcomes.of(own, of.text_gold(model)),
        ModelOutcomes.of(matched, of_pairs),
        ModelOutcomes(np.asarray(main == of.gold), same),
        ModelOutcomes(np.asarray(text == of.gold), same),
    ]
    return estimates, pieces


COLUMNS_2 = ("main", "text_only", "alignment", "main_aligned", "text_aligned", "difference")


def build_settings(inputs: TableInputs) -> Table:
    of = load_instances(inputs)
    rows, pieces = [], []
    for model in of.models:
        estimates, one = _settings(of, model, inputs)
        pieces.append(one)
        cells = []
        for name, estimate in zip(COLUMNS_2, estimates, strict=True):
            theirs = printed("table_2", name, _difference_note(name, model), model=model)
            cells.append(Cell(estimate, rounding=PERCENT, printed=theirs))
        rows.append(Row(model, tuple(cells)))
    rows.append(Row(_("Average"), _averages(of, pieces, inputs)))
    columns: list[Words] = [
        _("Main"),
        _("Text only"),
        _("Alignment"),
        _("Main where aligned"),
        _("Text where aligned"),
        _("Main less text"),
    ]
    words: list[Words] = [
        *inclusion_sentences(of),
        _("In percent. The last three over the same instances: answered in both settings, with the pictures matched."),
        _("Intervals over questions (jackknife)."),
    ]
    words += accepted_pairs_note(inputs, CHOICE)
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def _difference_note(column: str, model: str) -> Words:
    if column in ("main", "text_only"):
        return CONTRADICTS
    if column == "difference" and (other := PRINTED.in_text("difference", model)):
        return str(OWN_ROUNDING) % {"value": other.text}
    return ""


def _averages(of: Instances, pieces: Sequence[list[ModelOutcomes]], inputs: TableInputs) -> tuple[Cell, ...]:
    clusters, how = [of.question] * 5, _unreadable(inputs)
    clusters[2] = of.no_alignments[2]
    estimates = [mean_of([piece[n] for piece in pieces], where, unreadable=how) for n, where in enumerate(clusters)]
    estimates.append(mean_difference(of, [(piece[3], piece[4]) for piece in pieces]))
    return tuple(
        Cell(estimate, rounding=PERCENT, printed=printed("table_2", name, _difference_note(name, "Avg."), model="Avg."))
        for name, estimate in zip(COLUMNS_2, estimates, strict=True)
    )


def mean_difference(of: Instances, pieces: Sequence[tuple[ModelOutcomes, ModelOutcomes]]) -> Estimate:
    """Mean over models of the first less the second, on each one's own instances."""
    known = [(one, other) for one, other in pieces if one.read.any()]
    columns = [column for pair in known for one in pair for column in (one.right & one.read, one.read)]
    return _over_models(columns, 4, difference, of.question, [one.read for one, _other in known], len(pieces))


def build_bands(inputs: TableInputs) -> Table:
    of = load_instances(inputs)
    models = sorted(name for name, codes in of.main.items() if (codes != MISSING).any())
    if not models:
        raise MissingData(_("No model has answered the setting “main” yet. Import its answers."))
    scores = np.stack([np.where(of.main[m] == MISSING, np.nan, of.main[m] == of.gold) for m in models], axis=1)
    scores[of.gold == MISSING] = np.nan
    together = np.isfinite(scores).all(axis=1)
    if not together.any():
        raise MissingData(_("No instance has a label and an answer of every model."))
    bands = rank_models(scores[together], of.question[together]).bands
    rows = []
    for place, model in enumerate(models):
        low, high = bands[place]
        right = np.asarray(scores[together, place] == 1)
        cells = (
            Cell(share(right, of.question[together], method="accuracy"), rounding=PERCENT),
            Cell(text=str(low) if low == high else f"{low}–{high}"),
        )
        rows.append(Row(model, cells))
    words: list[Words] = [
        _("In percent, over the instances that every model answered."),
        _(
            "Rank: the range of ranks that permutation tests leave open, for every two models, "
            "by question, corrected by Holm. The tests are over questions, for these people."
        ),
    ]
    columns: list[Words] = [_("Accuracy"), _("Rank")]
    words += accepted_pairs_note(inputs, CHOICE)
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)
