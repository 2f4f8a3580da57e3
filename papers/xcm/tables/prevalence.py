"""3XCM, first question: which languages does a picture find? Tables 1 and 8, and the tiers by rank (Figures 9 and 10).

The pool holds the captions of all languages; P is uniform over those it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.metrics import proportions, resampling, retrieval
from evaluation.metrics.counts import Bools, Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.ranked_lists import (
    About,
    NoQueryScores,
    RankedLists,
    accuracies,
    cut_to,
    gains,
    labels_of_places,
    mean_over_queries,
    ranked_lists,
    relevant_of,
)  # fmt: skip
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.xcm.printed_values import printed
from papers.xcm.printed_values import rows as printed_rows
from predictions.models import Ranking, Run

DEPTHS = (5, 10, 25, 50, 99)
IDEAL = TableOption(
    "ideal",
    gettext_lazy("The ideal list of NDCG"),
    {
        "all": gettext_lazy("everything that is right, best first; gains 0 and 1"),
        "retrieved": gettext_lazy("the list's own gains, best first, as in the authors' code"),
    },
)
LANGUAGES = TableOption(
    "languages",
    gettext_lazy("LBKL is over"),
    {
        "all": gettext_lazy("all languages of the pool, each with the same share"),
        "two": gettext_lazy("English and the rest, with their shares of the pool (equation 1)"),
    },
)
NEEDS = gettext_lazy("Ranked captions of a model for each picture; the collection's entries name their language.")
TIERS: dict[str, Words] = {"high": gettext_lazy("High"), "medium": gettext_lazy("Medium"), "low": gettext_lazy("Low")}


def language(about: About) -> str | None:
    return str(about.get("language") or "") or None


def language_group(about: About) -> str | None:
    name = language(about)
    return name and ("English" if name.casefold() in ("en", "english") else "other")


def tier(about: About) -> str | None:
    """Of Table 5, by the language's code or name."""
    name = (language(about) or "").casefold()
    return next((row["tier"] for row in _FIVE if name in (row["code"].casefold(), row["language"].casefold())), None)


_FIVE = printed_rows("table_5")


@dataclass(frozen=True, eq=False)
class ListLanguages:
    """The languages of a run's lists: `labels` (q, the shortest list), and what is expected of each."""

    labels: Ints
    expected: Floats

    @property
    def n(self) -> int:
        return int(self.expected.size)

    def scores(self, k: int, *, discounted: bool) -> Floats:
        observed = retrieval.shares(cut_to(self.labels, k), self.n, discounted=discounted)
        return retrieval.divergence(observed, self.expected)


def list_languages(of: RankedLists, over: str) -> ListLanguages | None:
    """None where the pool names no language."""
    label_of: Callable[[About], str | None] = language if over == "all" else language_group
    pool = [name for about in of.about.values() if (name := label_of(about))]
    universe, counts = np.unique(np.array(pool), return_counts=True)
    if not universe.size or not of.queries or not all(of.keys):
        return None
    expected = counts / counts.sum() if over == "two" else np.full(universe.size, 1 / universe.size)
    return ListLanguages(labels_of_places(of, label_of, universe.tolist()), expected)


def _bias(of: RankedLists, tongues: ListLanguages | None, k: int, *, discounted: bool) -> Estimate:
    def scores() -> Floats:
        if tongues is None:
            raise NoQueryScores("unknown_labels")
        return tongues.scores(k, discounted=discounted)

    name = f"{'DLBKL' if discounted else 'LBKL'}@{k}"
    return mean_over_queries(of, scores, method=name, why="unknown_labels", scale=resampling.NOT_NEGATIVE)


def _floor(n: int, k: int, *, discounted: bool) -> Cell:
    value = retrieval.divergence_floor(k, n, discounted=discounted)
    if np.isnan(value):
        return Cell(empty=True)
    floor = Estimate.of(value, method="floor", n_units=k, n_raters=0, n_ratings=k, extras={"n_languages": n})
    return Cell(floor, rounding=Rounding(3))


def _floor_words(over: str) -> list[Words]:
    sentences = [
        _("LBKL in nats, with 1e-9 instead of a share of zero; mean over queries."),
        _("Floor: the minimum for k entries, since k entries have at most k languages."),
    ]
    return [sentences[0]] if over == "two" else list(sentences)


def build_first(inputs: TableInputs) -> Table:
    over, rows, sizes = inputs.chosen["languages"], [], set()
    for of in inputs.ranked_lists():
        tongues, relevant = list_languages(of, over), relevant_of(of, "image")
        every = inputs.chosen["ideal"] == "all"
        estimates = {
            "accuracy_5": _mean(of, partial(accuracies, of, 5, relevant), "accuracy@5"),
            "lbkl_10": _bias(of, tongues, 10, discounted=False),
            "dlbkl_10": _bias(of, tongues, 10, discounted=True),
            "ndcg_10": _mean(of, partial(gains, of, 10, relevant, all_relevant=every), "NDCG@10"),
        }
        cells = [
            Cell(value, rounding=Rounding(3), printed=printed("table_1", name, model=of.label))
            for name, value in estimates.items()
        ]
        rows.append(Row(of.label, tuple(cells), of.group))
        sizes.add(tongues.n if tongues else 0)
    if over == "all":
        rows += _floors(sizes, (10,), before=1, after=1)
    columns: list[Words] = ["Acc@5", "LBKL@10", "DLBKL@10", "NDCG@10"]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=_floor_words(over))


def _mean(of: RankedLists, scores: Callable[[], Floats], method: str) -> Estimate:
    return mean_over_queries(of, scores, method=method, why="no_relevant")


def _floors(sizes: set[int], depths: Sequence[int], *, before: int = 0, after: int = 0) -> list[Row]:
    empty = Cell(empty=True)
    return [
        Row(
            _("Floor with %(n)s languages") % {"n": n},
            (
                *[empty] * before,
                *(_floor(n, k, discounted=discounted) for k in depths for discounted in (False, True)),
                *[empty] * after,
            ),
            _("Floor"),
        )
        for n in sorted(sizes - {0})
    ]


def build_depths(inputs: TableInputs) -> Table:
    over, rows, sizes = inputs.chosen["languages"], [], set()
    for of in inputs.ranked_lists():
        tongues, cells = list_languages(of, over), []
        for k in DEPTHS:
            for discounted, name in ((False, "lbkl"), (True, "dlbkl")):
                theirs = printed("table_8", f"{name}_{k}", model=of.label)
                theirs = theirs or printed("table_1", f"{name}_{k}", model=of.label)
                cells.append(Cell(_bias(of, tongues, k, discounted=discounted), rounding=Rounding(3), printed=theirs))
        rows.append(Row(of.label, tuple(cells), of.group))
        sizes.add(tongues.n if tongues else 0)
    if over == "all":
        rows += _floors(sizes, DEPTHS)
    columns: list[Words] = [f"{name}@{k}" for k in DEPTHS for name in ("LBKL", "DLBKL")]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=_floor_words(over))


def build_tiers(inputs: TableInputs) -> Table:
    """The share of each tier at each of the first ten ranks, and among the ten."""
    rows, names = [], list(TIERS)
    for of in ranked_lists(inputs.runs("retrieval", _with_ten_places)):
        try:
            labels = cut_to(labels_of_places(of, tier, names), 10)
        except NoQueryScores:
            continue
        for place, name in enumerate(names):
            shares = [_share(labels[:, rank] == place, labels[:, rank] >= 0) for rank in range(10)]
            cells = [
                Cell(estimate, rounding=Rounding(1, 100))
                for estimate in (*shares, _share(labels == place, labels >= 0))
            ]
            rows.append(Row(str(TIERS[name]), tuple(cells), of.label))
    if not rows:
        raise MissingData(_("No run has lists of ten entries."))
    columns: list[Words] = [*(str(rank) for rank in range(1, 11)), _("First ten")]
    words: list[Words] = [_("In percent, of captions whose language is in Table 5 of 3XCM, version 1.")]
    return inputs.table(corner=_("Tier"), columns=columns, rows=rows, words=words)


def _with_ten_places(runs: Sequence[Run]) -> list[Run]:
    """Runs whose first list has ten places."""
    first = ((run, Ranking.objects.filter(run=run).order_by("pk").first()) for run in runs)
    return [run for run, ranking in first if ranking is not None and len(ranking.keys) >= 10]


def _share(hits: Bools, known: Bools) -> Estimate:
    """Places of one list hang together: queries are the clusters."""
    query = np.broadcast_to(np.arange(len(hits)).reshape(-1, *[1] * (hits.ndim - 1)), hits.shape)
    return proportions.share(hits[known], query[known], method="share of the tier")


def build_list(inputs: TableInputs) -> Table:
    """Figure 8: the first five of one query, by the address's "query" or else the first by key."""
    lists_of_runs = inputs.ranked_lists()
    named = [str(key) for key in inputs.params.getlist("query") if key]
    asked = named[0] if named else min(query.key for of in lists_of_runs for query in of.queries)
    rows, words = [], [_("Query: %(key)s.") % {"key": asked}]
    for of in lists_of_runs:
        place = next((n for n, query in enumerate(of.queries) if query.key == asked), None)
        if place is None:
            continue
        lists = of.only(place)
        relevant, tongues = relevant_of(lists, "image")[0], list_languages(lists, "all")
        for rank, (key, score) in enumerate(zip(lists.keys[0][:5], lists.scores[0][:5], strict=True), 1):
            right = key in relevant if relevant else None
            rows.append(Row(str(rank), _list_cells(of.about.get(key, {}), score, right), of.label))
        biases = [_bias(lists, tongues, 5, discounted=discounted).value for discounted in (False, True)]
        if biases[0] is not None and biases[1] is not None:
            shown = {"model": of.label, "plain": Rounding(3).text(biases[0]), "weighted": Rounding(3).text(biases[1])}
            words.append(_("%(model)s: LBKL@5 %(plain)s, DLBKL@5 %(weighted)s.") % shown)
    if not rows:
        raise MissingData(_("No run has this query."))
    columns: list[Words] = [_("Similarity"), _("Right"), _("Language"), _("Tier"), _("Caption")]
    return inputs.table(corner=_("Rank"), columns=columns, rows=rows, words=list(words))


def _list_cells(about: About, score: float, right: bool | None) -> tuple[Cell, ...]:
    similarity = Estimate.of(score, method="similarity", n_units=1, n_raters=1, n_ratings=1)
    of = tier(about)
    return (
        Cell(similarity, rounding=Rounding(4)),
        Cell(text="?" if right is None else _("yes") if right else _("no")),
        Cell(text=language(about) or "?"),
        Cell(text=str(TIERS[of]) if of else "?"),
        Cell(text=str(about.get("text") or about.get("caption") or "")),
    )


TABLES = (
    TableSpec("languages", "Table 1", gettext_lazy("From picture to text"), NEEDS, build_first, (LANGUAGES, IDEAL)),
    TableSpec("languages-depths", "Table 8", gettext_lazy("Language bias by depth"), NEEDS, build_depths, (LANGUAGES,)),
    TableSpec(
        "languages-list", "Figure 8", gettext_lazy("Results for one picture"), NEEDS, build_list, parameters=("query",)
    ),
    TableSpec("languages-tiers", "Figures 9-10", gettext_lazy("Tiers of languages by rank"), NEEDS, build_tiers),
)
