"""ValueGround: does a model turn when options become pictures, by model, country and margin; and how the accuracy of
countries in words goes with that in pictures. Intervals leave out each question in turn, or each country where these
are the points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.metrics.association import KINDS, correlation_of
from evaluation.metrics.averages import DIFFERENCES, mean_over_countries
from evaluation.metrics.classification import MISSING
from evaluation.metrics.counts import Bools, Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Cell, PrintedValue, Row, Words
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from evaluation.tables.targets import not_asked, table_rows
from papers.valueground.metrics import equal_frequency, reversals
from papers.valueground.printed_values import PRINTED, printed
from papers.valueground.tables.accepted_pairs import accepted_pairs_note
from papers.valueground.tables.accuracy import (
    PAPERS_NAME,
    PERCENT,
    THREE,
    WHOLE,
    ModelOutcomes,
    by_country,
    mean_difference,
    mean_of,
)
from papers.valueground.tables.answers import (
    Instances,
    count_estimate,
    inclusion_sentences,
    known_answers,
    load_instances,
)
from papers.valueground.tables.raters import CHOICE

POOLING = TableOption(
    "over_models",
    gettext_lazy("Over models"),
    {"pooled": gettext_lazy("their answers pooled"), "mean": gettext_lazy("the mean of the models' rates")},
)
BINS = TableOption("bins", gettext_lazy("Bins of equal size"), {"5": "5", "3": "3", "4": "4", "10": "10"})
KINDS_OF_REVERSAL = ("reversal", "harmful", "beneficial")
REVERSAL_COLUMNS: list[Words] = [
    gettext_lazy("Reversal"), gettext_lazy("Harmful"), gettext_lazy("Beneficial"), gettext_lazy("Accuracy drop"),
]  # fmt: skip
SAME_INSTANCES = gettext_lazy(
    "In percent, over instances with a label and both answers. Harmful and beneficial add up to reversal; harmful less "
    "beneficial is the drop in accuracy from text-only to main."
)


def build_reversals(inputs: TableInputs) -> Table:
    of = load_instances(inputs)
    rows = []
    for model in _both(of):
        found = reversals(of.text[model], of.main[model], of.gold, of.question)
        estimates = (found.reversal, found.harmful, found.beneficial, found.drop)
        cells = [
            Cell(estimate, rounding=PERCENT, printed=printed("table_5", name, model=model))
            for name, estimate in zip((*KINDS_OF_REVERSAL, ""), estimates, strict=True)
        ]
        rows.append(Row(model, tuple(cells)))
    words: list[Words] = [
        *inclusion_sentences(of),
        *_missing_notes(of),
        SAME_INSTANCES,
        _("Intervals over questions (jackknife)."),
    ]
    words += accepted_pairs_note(inputs, CHOICE)
    return inputs.table(corner=_("Model"), columns=REVERSAL_COLUMNS, rows=rows, words=words)


def _both(of: Instances) -> list[str]:
    """Models that answered both settings."""
    models = sorted(set(of.main) & set(of.text))
    if not models:
        raise MissingData(_("No model has answered both with pictures and with words alone yet. Import its answers."))
    return models


def _missing_notes(of: Instances) -> list[Words]:
    """Who is in none of these numbers, and why."""
    names = sorted(set(of.models) - (set(of.main) & set(of.text)))
    text = _("Not in this table, without answers both with pictures and with words alone: %(names)s.")
    return [text % {"names": "; ".join(names)}] if names else []


def build_reversals_by_country(inputs: TableInputs) -> Table:
    of = load_instances(inputs)
    models = _both(of)
    rows = []
    label_rows, set_text = table_rows(inputs, CHOICE, of.countries)
    for row, (name, mask) in zip(label_rows, by_country(of, label_rows), strict=True):
        if mask is None:
            estimates = [not_asked()] * len(REVERSAL_COLUMNS)
        else:
            estimates = _over_models(of, models, mask, inputs.chosen["over_models"] == "mean")
        cells = [
            Cell(
                estimate,
                rounding=PERCENT,
                printed=printed("table_6", kind, country=PAPERS_NAME.get(name, name)),
            )
            for kind, estimate in zip((*KINDS_OF_REVERSAL, ""), estimates, strict=True)
        ]
        rows.append(Row(name, tuple(cells), row.group))
    words: list[Words] = [
        *inclusion_sentences(of), *_missing_notes(of), *set_text, SAME_INSTANCES,
        _("Intervals over questions (jackknife), for these models and countries."),
    ]  # fmt: skip
    words += accepted_pairs_note(inputs, CHOICE)
    return inputs.table(corner=_("Country"), columns=REVERSAL_COLUMNS, rows=rows, words=words)


def _over_models(of: Instances, models: Sequence[str], mask: Bools, averaged: bool) -> list[Estimate]:
    """Reversal, harmful, beneficial and drop, over models; pooled or the mean of the models' rates."""
    if not averaged:
        text, main = (np.concatenate([side[m][mask] for m in models]) for side in (of.text, of.main))
        gold, question = (np.tile(side[mask], len(models)) for side in (of.gold, of.question))
        found = reversals(text, main, gold, question)
        return [found.reversal, found.harmful, found.beneficial, found.drop]
    kinds: list[list[ModelOutcomes]] = [[], [], []]
    drops: list[tuple[ModelOutcomes, ModelOutcomes]] = []
    for model in models:
        counted = np.asarray(known_answers(of, model) & mask)
        before, after = of.text[model] == of.gold, of.main[model] == of.gold
        for place, true in enumerate((before != after, before & ~after, ~before & after)):
            kinds[place].append(ModelOutcomes(np.asarray(true), counted))
        drops.append((ModelOutcomes(np.asarray(before), counted), ModelOutcomes(np.asarray(after), counted)))
    return [*(mean_of(kind, of.question) for kind in kinds), mean_difference(of, drops)]


def build_reversals_by_margin(inputs: TableInputs) -> Table:
    of = load_instances(inputs)
    models = _both(of)
    usable = np.isfinite(of.margin) & (of.gold != MISSING)
    pairs, first = np.unique(of.pair[usable], return_index=True)
    if not pairs.size:
        raise MissingData(_("No question has a survey's counts, so no country has a margin. Import the counts."))
    count = int(inputs.chosen["bins"])
    try:
        cut = equal_frequency(of.margin[usable][first], count)
    except ValueError as problem:
        text = _("Too few pairs of question and country differ in their margin for %(count)s bins.")
        raise MissingData(text % {"count": count}) from problem
    of_instance = np.full(of.n, MISSING)
    of_instance[usable] = cut.bin[np.searchsorted(pairs, of.pair[usable])]
    rows = []
    five = count == 5  # bins, as in the paper
    for number in range(count):
        estimate = _over_models(of, models, np.asarray(of_instance == number), False)[0]
        last = number == count - 1
        low, high = (f"{edge:.3f}" for edge in cut.edges[number : number + 2])
        size = int(cut.sizes[number])
        cells = (
            Cell(text=f"[{low}, {high}{']' if last else ')'}", printed=_bin(count, number, "range")),
            Cell(
                count_estimate(size, len(pairs)), rounding=WHOLE, printed=PRINTED.in_text("bin_size") if five else None
            ),
            Cell(estimate, rounding=PERCENT, printed=_bin(count, number, "reversal")),
        )
        rows.append(Row(_("Bin %(number)s") % {"number": number + 1}, cells))
    columns: list[Words] = [_("Margin"), _("Pairs of question and country"), _("Reversal")]
    outside = sum(label.out_of_range for label in of.labels.values())
    words: list[Words] = [
        *inclusion_sentences(of),
        *_missing_notes(of),
        _("Margin: how far the country's mean lies from the middle of the two options, 0 to 0.5."),
        _("Equal margins stay in one bin."),
        _("Mean outside the two options: %(count)s pairs of question and country.") % {"count": outside},
        _("In percent, models and sources pooled. Intervals over questions (jackknife)."),
    ]  # fmt: skip
    words += accepted_pairs_note(inputs, CHOICE)
    return inputs.table(corner=_("Bin"), columns=columns, rows=rows, words=words)


def _changes(rates: Sequence[tuple[Floats, Floats, Ints]]) -> list[Estimate]:
    """For each country main less text-only, averaged over the models that have both."""
    changes, answers = (np.stack(part) for part in zip(*((main - text, n) for text, main, n in rates), strict=True))
    estimates = []
    for change, n in zip(changes.T, answers.T, strict=True):
        known = np.isfinite(change)
        sizes: dict[str, Any] = {
            "n_units": int(n[known].sum()), "n_raters": int(known.sum()), "n_ratings": int(n[known].sum())}  # fmt: skip
        method = "difference of shares"
        if known.any():
            estimates.append(Estimate.of(float(change[known].mean()), method=method, **sizes))
        else:
            estimates.append(Estimate.undefined(reason="nothing_counted", method=method))
    return estimates


def _bin(count: int, number: int, column: str) -> PrintedValue | None:
    return printed("table_7", column, bin=str(number + 1)) if count == 5 else None


def _by_country_rates(of: Instances, model: str) -> tuple[Floats, Floats, Ints]:
    """(C,) accuracy in text-only and in main, NaN where a country has no answer; and (C,) how many answers both rest
    on."""
    rates, answers = [], np.zeros(len(of.countries), np.int64)
    for codes in (of.own_text.get(model, of.nothing), of.main.get(model, of.nothing)):
        counted = (codes != MISSING) & (of.gold != MISSING)
        hits = np.bincount(of.country[counted], (codes == of.gold)[counted], len(of.countries))
        n = np.bincount(of.country[counted], minlength=len(of.countries))
        rates.append(np.divide(hits, n, out=np.full(n.shape, np.nan), where=n > 0))
        answers += n
    return rates[0], rates[1], answers


def build_transfer(inputs: TableInputs) -> Table:
    of = load_instances(inputs)
    models = _both(of)
    rates = {model: _by_country_rates(of, model) for model in models}
    rows = [Row(model, _transfer_cells([rates[model]], model)) for model in models]
    rows.append(Row(_("Pooled"), _transfer_cells([rates[model] for model in models], "Pooled")))
    columns: list[Words] = [_("Pearson"), _("Spearman"), _("Main less text"), _("Countries with main below text")]
    words: list[Words] = [
        *inclusion_sentences(of),
        *_missing_notes(of),
        _(
            "Points are countries; in the last row, each country with each model. Intervals of its correlations leave "
            "out each country; its difference is each country's mean over models, averaged over countries."
        ),
    ]
    words += accepted_pairs_note(inputs, CHOICE)
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def _transfer_cells(rates: Sequence[tuple[Floats, Floats, Ints]], name: str) -> tuple[Cell, ...]:
    """The row of one model, or of several pooled; ``rates`` of each model as `_by_country_rates` makes them."""
    text, main = (np.concatenate([of_model[side] for of_model in rates]) for side in (0, 1))
    both = np.isfinite(text) & np.isfinite(main)
    clusters = np.tile(np.arange(rates[0][0].size), len(rates)) if len(rates) > 1 else None
    change = mean_over_countries(_changes(rates), DIFFERENCES)
    cells = [
        Cell(
            replace(correlation_of(text, main, kind, clusters=clusters), resampled="countries"),
            rounding=THREE,
            printed=printed("table_8", kind, model=name),
        )
        for kind in KINDS
    ]
    below = f"{int((main < text)[both].sum())}/{int(both.sum())}"
    return (
        *cells,
        Cell(change, rounding=PERCENT, printed=printed("table_8", "difference", model=name)),
        Cell(text=below, printed=printed("table_8", "below", model=name)),
    )
