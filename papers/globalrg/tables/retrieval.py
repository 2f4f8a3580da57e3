"""GlobalRG's tables, for both of its recipes. Retrieval is here; boxes are in `globalrg_boxes.py`.

Relevance is precision against the universal; diversity the entropy of the first k by country and by region.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.rules.label_sets.countries import country_code
from benchmarks.rules.label_sets.globalrg import RETRIEVAL
from evaluation.metrics import retrieval
from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Cell, PrintedValue, Rounding, Row, Words
from evaluation.tables.known_models import about_models
from evaluation.tables.ranked_lists import (
    About,
    RankedLists,
    labels_at,
    mean_over_queries,
    precisions,
    relevant_of,
)
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.globalrg.printed_values import printed
from papers.globalrg.recipe import UNIVERSALS
from papers.globalrg.tables.boxes import GROUNDING_TABLES

METRICS = ("precision", "country", "region")
MOST_CELLS = 20_000  # of a table that has a cell for each universal: GlobalRG's twenty and seven models make 840
DEPTHS = (5, 10)
NORMALISER = TableOption(
    "normaliser",
    gettext_lazy("Diversity divides by"),
    {"ln_k": gettext_lazy("ln k, the maximum for k entries"), "ln_m": gettext_lazy("ln m, the cultures found")},
)
REGIONS = TableOption(
    "regions",
    gettext_lazy("Regions"),
    {
        "table": gettext_lazy("of the country, by GlobalRG's Table 1, version 1"),
        "given": gettext_lazy("as stored with each picture"),
    },
)
NEEDS = gettext_lazy("Ranked lists of a model for the universals, over a collection whose pictures name their country.")
NAMES: dict[str, Words] = {
    "precision": gettext_lazy("Precision@%(k)s"),
    "country": gettext_lazy("Country diversity@%(k)s"),
    "region": gettext_lazy("Region diversity@%(k)s"),
}
REPEATED = gettext_lazy(
    "The paper's lists for ALBEF repeat those of TCL, so the printed lists do not give this number."
)
KNOWN: dict[tuple[str, int, str, str], Words] = {
    ("region", 5, "CLIP", "marriage"): gettext_lazy("A misprint: the printed list gives 31.09, as Table 3 needs it."),
}
IMPOSSIBLE = gettext_lazy("Five entries cannot be correct in such a share.")
OF_ROUNDED = gettext_lazy("The paper cuts a mean of numbers that were rounded before.")
OF_MEAN: dict[tuple[str, str], Words] = {
    ("TCL", "precision_5"): gettext_lazy("The mean of the paper's own row is 75.0."),
    ("TCL", "precision_10"): gettext_lazy("The mean of the paper's own row is 74.0."),
    ("TCL", "country_10"): gettext_lazy("Rounded here; the table's other means are cut."),
    ("FLAVA", "country_5"): gettext_lazy("The mean of the paper's own row is 96.55."),
}


def name_of(metric: str, k: int) -> str:
    return str(NAMES[metric]) % {"k": k}


def universal_of(query_about: About, text: str = "") -> str:
    return str(query_about.get("universal") or text)


def _country(about: About) -> str | None:
    name = str(about.get("country") or "")
    return country_code(name) if name else None


def _region(source: str, about: About) -> str | None:
    if source == "given":
        return str(about.get("region") or "") or None
    return RETRIEVAL.of(str(about.get("country") or ""))


def _score(of: RankedLists, metric: str, k: int, inputs: TableInputs) -> Callable[[], Floats]:
    """What gives the metric for each query of the run."""
    if metric == "precision":
        return lambda: precisions(of, k, relevant_of(of, "universal"))
    label_of: Callable[[About], str | None] = (
        _country if metric == "country" else partial(_region, inputs.chosen["regions"])
    )
    universe = sorted({name for about in of.about.values() if (name := label_of(about))})
    normaliser: retrieval.Normaliser = "ln_m" if inputs.chosen["normaliser"] == "ln_m" else "ln_k"
    return lambda: retrieval.diversity(labels_at(of, k, label_of, universe), normaliser=normaliser)


def mean_over_universals(of: RankedLists, metric: str, k: int, inputs: TableInputs) -> Estimate:
    """Mean over the run's universals."""
    why = "no_relevant" if metric == "precision" else "unknown_labels"
    return mean_over_queries(of, _score(of, metric, k, inputs), method=name_of(metric, k), why=why)


def build_means(inputs: TableInputs) -> Table:
    rows = []
    for of in inputs.ranked_lists():
        cells = []
        for metric in METRICS:
            for k in DEPTHS:
                name = f"{metric}_{k}"
                known = REPEATED if of.label == "ALBEF" and metric != "precision" else OF_ROUNDED
                theirs = printed("table_3", name, OF_MEAN.get((of.label, name), known), model=of.label)
                decimals = 1 if metric == "precision" else 2
                cells.append(
                    Cell(
                        mean_over_universals(of, metric, k, inputs),
                        rounding=Rounding(decimals, 100, True),
                        printed=theirs,
                    )
                )
        rows.append(Row(of.label, tuple(cells), of.group))
    columns: list[Words] = [name_of(metric, k) for metric in METRICS for k in DEPTHS]
    words: list[Words] = [
        _("In percent, cut to the decimals shown, as the paper's are."),
        _("Each number is a mean over universals. Interval over universals (jackknife)."),
    ]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def universals_of(runs: Sequence[RankedLists]) -> list[str]:
    """In the paper's order, others after them by name."""
    there = {universal_of(query.about, query.text) for of in runs for query in of.queries}
    return [one for one in UNIVERSALS if one in there] + sorted(there - set(UNIVERSALS))


def _places(of: RankedLists) -> dict[str, int]:
    """The first query of each universal."""
    named = [universal_of(query.about, query.text) for query in of.queries]
    return {name: place for place, name in reversed(list(enumerate(named)))}


def _refuse_too_many(cells: int) -> None:
    if cells > MOST_CELLS:
        text = _("This table would have %(n)s cells; %(most)s are the most it can. Table 3 has the means of them all.")
        raise MissingData(text % {"n": f"{cells:,}", "most": f"{MOST_CELLS:,}"})


def _of_one(
    of: RankedLists, place: int, metric: str, k: int, inputs: TableInputs, relevant: Sequence[frozenset[str]]
) -> Estimate:  # fmt: skip
    """Of one query alone, by what it found: the whole collection is not gone through again for each."""
    lists = of.only(place)
    near = {key: of.about[key] for key in lists.keys[0][:k] if key in of.about}
    scores = (
        partial(precisions, lists, k, [relevant[place]])
        if metric == "precision"
        else _score(replace(lists, about=near), metric, k, inputs)
    )
    why = "no_relevant" if metric == "precision" else "unknown_labels"
    return mean_over_queries(lists, scores, method=name_of(metric, k), why=why)


def _reason(metric: str, k: int, model: str, universal: str) -> Words:
    if (metric, k, model, universal) in KNOWN:
        return KNOWN[metric, k, model, universal]
    if metric != "precision" and model == "ALBEF":
        return REPEATED
    theirs = printed("tables_6_7", universal, metric=metric, k=str(k), model=model)
    return IMPOSSIBLE if metric == "precision" and theirs and float(theirs.text) * k / 100 % 1 else ""


def build_universals(inputs: TableInputs) -> Table:
    runs = inputs.ranked_lists()
    universals = universals_of(runs)
    _refuse_too_many(len(METRICS) * len(DEPTHS) * len(runs) * len(universals))
    known_of = [(of, _places(of), relevant_of(of, "universal")) for of in runs]
    rows = []
    for metric in METRICS:
        for k in reversed(DEPTHS):
            for of, places, relevant in known_of:
                cells = []
                for universal in universals:
                    place = places.get(universal)
                    if place is None:
                        cells.append(Cell(empty=True))
                        continue
                    known = _reason(metric, k, of.label, universal)
                    theirs = printed("tables_6_7", universal, known, metric=metric, k=str(k), model=of.label)
                    value = _of_one(of, place, metric, k, inputs, relevant)
                    cells.append(Cell(value, rounding=Rounding(2, 100), printed=theirs))
                rows.append(Row(of.label, tuple(cells), name_of(metric, k)))
    words: list[Words] = [_("In percent. Each number is of one list, so it has no interval.")]
    return inputs.table(corner=_("Model"), columns=list(universals), rows=rows, words=words)


def _first_ten_table(inputs: TableInputs, label_of: Callable[[About], str | None], table: str) -> Table:
    """The first ten of every list, as texts; a name that the paper spells otherwise counts as the same."""
    runs = inputs.ranked_lists()
    universals = universals_of(runs)
    _refuse_too_many(10 * len(runs) * len(universals))
    rows = []
    for of in runs:
        at = _places(of)
        places = [at.get(universal) for universal in universals]
        for rank in range(10):
            cells = []
            for universal, place in zip(universals, places, strict=True):
                if place is None or len(of.keys[place]) <= rank:
                    cells.append(Cell(empty=True))
                    continue
                text = label_of(of.about.get(of.keys[place][rank], {})) or "?"
                known = gettext_lazy("The paper repeats TCL's list here.") if of.label == "ALBEF" else ""
                theirs = printed(table, universal, known, model=of.label, rank=str(rank + 1))
                if theirs and country_code(theirs.text) == country_code(text):
                    theirs = PrintedValue(text)
                cells.append(Cell(text=text, printed=theirs))
            rows.append(Row(str(rank + 1), tuple(cells), of.label))
    return inputs.table(corner=_("Rank"), columns=list(universals), rows=rows)


def build_countries(inputs: TableInputs) -> Table:
    return _first_ten_table(inputs, lambda about: str(about.get("country") or "") or None, "tables_8_9")


def build_regions(inputs: TableInputs) -> Table:
    return _first_ten_table(inputs, partial(_region, inputs.chosen["regions"]), "tables_10_11")


RETRIEVAL_TABLES = (
    TableSpec(
        "retrieval", "Table 3", gettext_lazy("Relevance and diversity"), NEEDS, build_means, (NORMALISER, REGIONS)
    ),
    TableSpec(
        "retrieval-universals",
        "Tables 6-7",
        gettext_lazy("Relevance and diversity of each universal"),
        NEEDS,
        build_universals,
        (NORMALISER, REGIONS),
    ),
    TableSpec("first-countries", "Tables 8-9", gettext_lazy("Countries of the first ten"), NEEDS, build_countries),
    TableSpec(
        "first-regions", "Tables 10-11", gettext_lazy("Regions of the first ten"), NEEDS, build_regions, (REGIONS,)
    ),
    about_models(("retrieval",)),
)
TABLES = {"globalrg-retrieval": RETRIEVAL_TABLES, "globalrg-grounding": GROUNDING_TABLES}
