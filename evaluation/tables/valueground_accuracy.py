"""ValueGround: accuracy of models by country and by setting, and their places.

Intervals draw whole questions, or countries where countries are the points: the same question is asked of thirteen
countries, with two sources of pictures, and its answers hang together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.metrics.classification import MISSING, Unreadable, accuracy
from evaluation.metrics.counts import Bools, Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.model_ranks import ranked
from evaluation.metrics.proportions import share
from evaluation.metrics.resampling import bootstrapped, cluster_sums, difference, mean, ratio
from evaluation.tables.given import Given
from evaluation.tables.printed import printed
from evaluation.tables.spec import Cell, Missing, Option, Rounding, Row, Table, Words
from evaluation.tables.valueground_answers import Asked, asked, counted_words, known_answers

PERCENT = Rounding(1, 100)
WHOLE = Rounding(0)
THREE = Rounding(3)
PAPERS_NAME = {"United Kingdom": "Great Britain"}  # what the paper calls a country
UNREADABLE = Option(
    "unreadable",
    gettext_lazy("Answers that are missing or could not be read"),
    {"left_out": gettext_lazy("left out"), "wrong": gettext_lazy("count as wrong")},
)
SAME_OPTION = Option(
    "same_option",
    gettext_lazy("Both pictures matched with the same option"),
    {"left_out": gettext_lazy("left out"), "wrong": gettext_lazy("counts as wrong")},
)
CONTRADICTS = gettext_lazy(
    "The paper contradicts itself: main less text-only is -10.2 on average by Table 2, and -12.0 by Table 8; only "
    "Table 8 agrees with Table 5."
)
OWN_ROUNDING = gettext_lazy("The paper's own row gives %(value)s, from numbers that were rounded before.")
DIFFERENCES = {"Mistral-3.2-24B": "-11.2", "GPT-5.4 mini": "-2.0"}  # of the printed numbers


def _unreadable(given: Given) -> Unreadable:
    return "wrong" if given.chosen.get("unreadable") == "wrong" else "left out"


def mean_of(estimates: Sequence[tuple[Bools, Bools]], clusters: Ints) -> Estimate:
    """The mean over the models that have one of each one's share of right answers; of each (right, counted), both (n,).
    "n_raters" is how many have one."""
    estimates = [one for one in estimates if one[1].any()]  # a model without the number takes no other's away
    columns = [column for right, counted in estimates for column in (right & counted, counted)]
    sums = cluster_sums(clusters, *columns) if columns else np.zeros((0, 0))

    def over_models(totals: Floats) -> Floats:
        each = [ratio(totals[:, n : n + 2]) for n in range(0, totals.shape[1], 2)]
        return np.asarray(np.mean(each, axis=0)) if each else np.full(len(totals), np.nan)

    n = int(sum(counted.sum() for _right, counted in estimates))
    return bootstrapped(sums, over_models, method="mean over models", n_units=n, n_raters=len(estimates))


def _country_rows(of: Asked, models: Sequence[str], given: Given) -> list[Row]:
    wrong = _unreadable(given) == "wrong"
    rows = []
    for model in models:
        codes = of.main.get(model, of.nothing)
        cells = [
            Cell(
                accuracy(codes[here], of.main_gold[here], of.question[here], unreadable=_unreadable(given)),
                rounding=PERCENT,
                printed=printed("valueground_figure_3", "accuracy", model=model, country=PAPERS_NAME.get(name, name)),
            )
            for name, here in by_country(of)
        ]
        whole = accuracy(codes, of.main_gold, of.question, unreadable=_unreadable(given))
        theirs = printed("valueground_table_2", "main", CONTRADICTS, model=model)
        rows.append(Row(model, (*cells, Cell(whole, rounding=PERCENT, printed=theirs))))
    cells = []
    for name, here in [*by_country(of), ("", np.ones(of.n, bool))]:
        each = []
        for model in models:
            codes = of.main.get(model, of.nothing)
            counted = here & (of.main_gold != MISSING) & (wrong | (codes != MISSING))
            each.append((codes == of.gold, counted))
        theirs = printed("valueground_figure_3", "accuracy", model="Avg.", country=PAPERS_NAME.get(name, name))
        theirs = theirs if name else printed("valueground_table_2", "main", CONTRADICTS, model="Avg.")
        cells.append(Cell(mean_of(each, of.question), rounding=PERCENT, printed=theirs))
    return [*rows, Row(_("Average"), tuple(cells))]


def by_country(of: Asked) -> list[tuple[str, Bools]]:
    return [(name, np.asarray(of.country == n)) for n, name in enumerate(of.countries)]


def build_countries(given: Given) -> Table:
    of = asked(given)
    models = sorted(of.main)
    if not models:
        raise Missing(_("No model has answered the setting “main” yet. Import its answers."))
    columns: list[Words] = [*of.countries, _("All")]
    words: list[Words] = [*counted_words(of), _("In percent. Intervals draw whole questions.")]
    return given.table(corner=_("Model"), columns=columns, rows=_country_rows(of, models, given), words=words)


def _settings(of: Asked, model: str, given: Given) -> tuple[list[Estimate], list[tuple[Bools, Bools]]]:
    """The six numbers of a row; and of each but the last, what is right and what is counted, for the average."""
    wrong = _unreadable(given) == "wrong"
    main, text = of.main.get(model, of.nothing), of.text.get(model, of.nothing)
    own, aligned = of.own_text.get(model, of.nothing), of.aligned.get(model, of.nothing)
    right, question = of.alignments.get(model, (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    same = known_answers(of, model) & (aligned == 1)
    estimates = [
        accuracy(main, of.main_gold, of.question, unreadable=_unreadable(given)),
        accuracy(own, of.text_gold, of.question, unreadable=_unreadable(given)),
        accuracy(right, np.ones(right.size, np.int64), question, unreadable=_unreadable(given)),
        share((main == of.gold)[same], of.question[same], method="accuracy"),
        share((text == of.gold)[same], of.question[same], method="accuracy"),
        mean(
            ((main == of.gold)[same].astype(float) - (text == of.gold)[same]),
            of.question[same],
            method="difference of paired shares",
        ),
    ]
    pieces = [
        (main == of.gold, (of.main_gold != MISSING) & (wrong | (main != MISSING))),
        (own == of.gold, (of.text_gold != MISSING) & (wrong | (own != MISSING))),
        (main == of.gold, same),
        (text == of.gold, same),
    ]
    return estimates, [(np.asarray(one), np.asarray(other)) for one, other in pieces]


COLUMNS_2 = ("main", "text_only", "alignment", "main_aligned", "text_aligned", "difference")


def build_settings(given: Given) -> Table:
    of = asked(given)
    rows, pieces = [], []
    for model in of.models:
        estimates, one = _settings(of, model, given)
        pieces.append(one)
        cells = []
        for name, estimate in zip(COLUMNS_2, estimates, strict=True):
            theirs = printed("valueground_table_2", name, _known(name, model), model=model)
            cells.append(Cell(estimate, rounding=PERCENT, printed=theirs))
        rows.append(Row(model, tuple(cells)))
    rows.append(Row(_("Average"), _averages(of, pieces, given)))
    columns: list[Words] = [
        _("Main"),
        _("Text only"),
        _("Alignment"),
        _("Main where aligned"),
        _("Text where aligned"),
        _("Main less text"),
    ]
    words: list[Words] = [
        *counted_words(of),
        _("In percent. The last three over the same instances: answered in both settings, with the pictures matched."),
        _("Intervals draw whole questions."),
    ]
    return given.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def _known(column: str, model: str) -> Words:
    if column in ("main", "text_only"):
        return CONTRADICTS
    if column == "difference" and model in DIFFERENCES:
        return str(OWN_ROUNDING) % {"value": DIFFERENCES[model]}
    return ""


def _averages(of: Asked, pieces: Sequence[list[tuple[Bools, Bools]]], given: Given) -> tuple[Cell, ...]:
    wrong = _unreadable(given) == "wrong"
    matched = []
    clusters = np.zeros(0, np.int64)
    for codes, question in of.alignments.values():
        matched.append((np.asarray(codes == 1), np.asarray(wrong | (codes != MISSING))))
        clusters = question
    main, text, main_aligned, text_aligned = (mean_of([one[n] for one in pieces], of.question) for n in range(4))
    found = [main, text, mean_of(matched, clusters), main_aligned, text_aligned, mean_difference(of, pieces)]
    return tuple(
        Cell(one, rounding=PERCENT, printed=printed("valueground_table_2", name, _known(name, "Avg."), model="Avg."))
        for name, one in zip(COLUMNS_2, found, strict=True)
    )


def mean_difference(of: Asked, pieces: Sequence[list[tuple[Bools, Bools]]]) -> Estimate:
    """Mean over models of the difference on each one's own instances."""
    columns: list[Bools] = []
    for one in pieces:
        (main, same), (text, _same) = one[2], one[3]
        columns += [main & same, same, text & same, same]
    sums = cluster_sums(of.question, *columns) if columns else np.zeros((0, 0))

    def over_models(totals: Floats) -> Floats:
        return np.asarray(np.mean([difference(totals[:, n : n + 4]) for n in range(0, totals.shape[1], 4)], axis=0))

    n = int(sum(one[2][1].sum() for one in pieces))
    return bootstrapped(sums, over_models, method="mean over models", n_units=n, n_raters=len(pieces))


def build_bands(given: Given) -> Table:
    of = asked(given)
    models = sorted(of.main)
    if not models:
        raise Missing(_("No model has answered the setting “main” yet. Import its answers."))
    scores = np.stack([np.where(of.main[m] == MISSING, np.nan, of.main[m] == of.gold) for m in models], axis=1)
    scores[of.gold == MISSING] = np.nan
    together = np.isfinite(scores).all(axis=1)
    if not together.any():
        raise Missing(_("No instance has a label and an answer of every model."))
    bands = ranked(scores[together], of.question[together]).bands
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
        _("Place: what no test rules out; permutation tests of every two models by question, corrected after Holm."),
    ]
    columns: list[Words] = [_("Accuracy"), _("Place")]
    return given.table(corner=_("Model"), columns=columns, rows=rows, words=words)
