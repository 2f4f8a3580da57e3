"""3XCM, third question: does naming a country help? Tables 3 and 14 to 19.

Six candidates for each trial. Drift joins a run over queries that name a country with the same model's run over the
plain ones: by the trial's key, and only where both had the same candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.metrics import resampling
from evaluation.metrics.counts import Bools, Floats
from evaluation.metrics.drift import similarity_drift
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Scale
from evaluation.metrics.paired_tests import adjusted
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.xcm import metrics as forced_choice
from papers.xcm.printed_values import printed
from papers.xcm.tables.association import PERCENT, POOLING, ROLES, TIES, credit_of, wins, wins_by_country
from papers.xcm.tables.trials import (
    SIX,
    TrialScores,
    choices_of,
    countries_of,
    main_query_set,
    select_query_sets,
    with_both_queries,
    with_trials,
)

COSINES_APART = Scale("identity", limits=(-2.0, 2.0))
NEEDS = gettext_lazy("Similarities of a model for trials of six candidates whose queries name a country.")
BOTH = gettext_lazy("Similarities of one model for the same trials of six, with and without a country in the query.")
TRIALS = gettext_lazy("The paper's p follow from its Table 3 with 11,758 trials, not with 11,724.")
CORRECTION = TableOption(
    "correction",
    gettext_lazy("The p values are"),
    {
        "none": gettext_lazy("not corrected for the number of tests, as in the paper"),
        "holm": gettext_lazy("corrected over this table by Holm"),
        "bh": gettext_lazy("corrected over this table by Benjamini and Hochberg"),
    },
)
TEST = TableOption(
    "p",
    gettext_lazy("p is computed"),
    {
        "trials": gettext_lazy("by trials, as in the paper: chi-square of the wins"),
        "clusters": gettext_lazy("by clusters: sign-flip permutation of each concept and country"),
    },
)
PAIRS = {  # Diff is of the first less the second
    "language": ("object_relevant", "object_language_biased"),
    "descriptor": ("descriptor_relevant", "language_biased"),
}
NO_SIX = gettext_lazy("No run has trials of six candidates. Import trials and similarities.")


def six_candidate_runs(inputs: TableInputs) -> list[TrialScores]:
    """Runs over trials of six whose queries name a country, of one collection. Raises MissingData without any."""
    runs = inputs.runs("forced_choice", with_trials(len(SIX), described=True))
    score_sets = [scores for scores in choices_of(runs, SIX) if scores.described]
    if not score_sets:
        raise MissingData(NO_SIX)
    return main_query_set(inputs, score_sets, "descriptor")


def build_overall(inputs: TableInputs) -> Table:
    rows = []
    for scores in six_candidate_runs(inputs):
        rates = wins(inputs, scores, credit_of(inputs, scores))
        cells = [
            Cell(rate, rounding=PERCENT, printed=printed("table_3", role, model=scores.label))
            for role, rate in zip(SIX, rates, strict=True)
        ]
        rows.append(Row(scores.label, tuple(cells), scores.group))
    columns: list[Words] = [ROLES[role] for role in SIX]
    words: list[Words] = [_("Wins in percent of trials. Intervals over pairs of concept and country (jackknife).")]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def build_wins_by_country(inputs: TableInputs) -> Table:
    return wins_by_country(inputs, six_candidate_runs(inputs), SIX, "table_14")


_TEST_EXTRAS = ("first", "second", "test", "chi_square", "n_permutations", "exact")
Tested = dict[tuple[int, str], tuple[Estimate, Estimate]]  # by the run's place and the column: Diff and p


def contrast(
    inputs: TableInputs, credit: Floats, clusters: npt.NDArray[np.str_], pair: str
) -> tuple[Estimate, Estimate]:
    """Diff and p of a pair of types, by the test that the option names."""
    first, second = (SIX.index(role) for role in PAIRS[pair])
    by_clusters = inputs.chosen["p"] == "clusters"
    diff = forced_choice.difference_of_wins(
        credit, first, second, clusters, test="by clusters" if by_clusters else "by trials"
    )
    method, p, n = "sign-flip permutation" if by_clusters else "chi-square", diff.extras.get("p"), diff.n_units
    if not isinstance(p, float):
        return diff, Estimate.undefined(reason="nothing_counted", method=method, n_units=n)
    counted = {key: diff.extras[key] for key in _TEST_EXTRAS if key in diff.extras}
    return diff, Estimate.of(p, method=method, n_units=n, n_raters=1, n_ratings=n, extras=counted)


def correct_p_value(inputs: TableInputs, tested: Tested) -> Tested:
    """p corrected over all tests of the table, where the option says so; the one of the test itself stays in extras."""
    how = inputs.chosen["correction"]
    if how not in ("holm", "bh"):
        return tested
    values = adjusted([p.value for _diff, p in tested.values()], "holm" if how == "holm" else "benjamini-hochberg")
    differences = {}
    for (place, (diff, p)), value in zip(tested.items(), values, strict=True):
        if p.value is not None:
            p = replace(p, value=float(value), extras={**p.extras, "uncorrected": p.value})
        differences[place] = diff, p
    return differences


def build_tests(inputs: TableInputs) -> Table:
    score_sets = six_candidate_runs(inputs)
    credits = [credit_of(inputs, one) for one in score_sets]
    tested = correct_p_value(inputs, {
        (n, pair): contrast(inputs, credits[n], scored.clusters, pair)
        for n, scored in enumerate(score_sets)
        for pair in PAIRS
    })  # fmt: skip
    rows = []
    for n, scores in enumerate(score_sets):
        rates = dict(zip(SIX, forced_choice.win_rates(credits[n], scores.clusters), strict=True))
        cells = []
        for pair, roles in PAIRS.items():
            diff, p = tested[n, pair]
            made = {**{role: rates[role] for role in roles}, f"{pair}_difference": diff, f"{pair}_p": p}
            for name, value in made.items():
                theirs = printed("table_15", name, TRIALS if name == "language_p" else "", model=scores.label)
                cells.append(Cell(value, rounding=Rounding(3), printed=theirs))
        rows.append(Row(scores.label, tuple(cells), scores.group))
    columns: list[Words] = []
    for roles in PAIRS.values():
        columns += [*(ROLES[role] for role in roles), _("Diff"), "p"]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=_test_words(inputs))


def _test_words(inputs: TableInputs) -> list[Words]:
    words: list[Words] = [_("Diff: win rate of the first type less that of the second.")]
    if inputs.chosen["p"] == "clusters":
        words.append(
            _(
                "p: by clusters. The sign of each concept and country's difference of wins is flipped at random: all "
                "patterns with up to 13 clusters, else 10,000 drawn ones."
            )
        )
    else:
        words.append(
            _(
                "p: by trials, chi-square of the two types' wins with 1 degree of freedom, as in the paper. It treats "
                "trials as independent, but trials of one concept and country share a query. The interval of Diff "
                "does not treat them so. Choose p by clusters for a test that matches it."
            )
        )
    return words


def build_tests_by_country(pair: str, table: str, inputs: TableInputs) -> Table:
    score_sets = six_candidate_runs(inputs)
    countries = countries_of(score_sets)
    tested: Tested = {}
    for n, scores in enumerate(score_sets):
        credit = credit_of(inputs, scores)
        for country in countries:
            mask = scores.countries == country
            tested[n, country] = contrast(inputs, credit[mask], scores.clusters[mask], pair)
    tested = correct_p_value(inputs, tested)
    rows = []
    for n, scores in enumerate(score_sets):
        for part, (name, label) in enumerate((("difference", _("Diff")), ("p", "p"))):
            cells = [
                Cell(
                    tested[n, c][part],
                    rounding=Rounding(2),
                    printed=printed(table, c, model=scores.label, measure=name),
                )
                for c in countries
            ]
            rows.append(Row(label, tuple(cells), scores.label))
    first, second = PAIRS[pair]
    legend = _("First: %(first)s. Second: %(second)s.") % {"first": ROLES[first], "second": ROLES[second]}
    return inputs.table(corner=_("Measure"), columns=list(countries), rows=rows, words=[legend, *_test_words(inputs)])


@dataclass(frozen=True, eq=False)
class TrialDrift:
    """A model's trials with both queries: `drift` (n, 6), NaN where a candidate is not the same or not scored."""

    choices: TrialScores
    drift: Floats

    def mean(self, role: str, mask: Bools | None = None) -> Estimate:
        values = self.drift[:, SIX.index(role)]
        keep = np.isfinite(values) & (True if mask is None else mask)
        return resampling.mean(
            values[keep], self.choices.clusters[keep], scale=COSINES_APART, method="similarity drift"
        )


def drifts(inputs: TableInputs) -> list[TrialDrift]:
    """For every run whose queries name a country: with the plain run of the same model and system prompt."""
    score_sets = choices_of(inputs.runs("forced_choice", with_both_queries), SIX)
    plain = [scores for scores in score_sets if not scores.described]
    found_drifts = []
    for select_query_set in select_query_sets((scores for scores in score_sets if scores.described), "descriptor"):
        pairs = (_trial_drift(select_query_set, other) for other in plain if _same_model(select_query_set, other))
        found_drifts += [pair for pair in pairs if np.isfinite(pair.drift).any()][:1]
    if not found_drifts:
        raise MissingData(_("No model has similarities for the same six candidates with and without a country's name."))
    return found_drifts


def _same_model(scores: TrialScores, other: TrialScores) -> bool:
    of = [(run.rater_id, run.collection_id, run.system_prompt) for run in (scores.run, other.run)]
    return of[0] == of[1]


def _trial_drift(described: TrialScores, plain: TrialScores) -> TrialDrift:
    place = {trial.key: n for n, trial in enumerate(plain.trials)}
    before = np.full(described.similarity.shape, np.nan)
    for n, trial in enumerate(described.trials):
        other = place.get(trial.key)
        if other is None:
            continue
        same = [plain.trials[other].roles[role] == trial.roles[role] for role in SIX]
        before[n] = np.where(same, plain.similarity[other], np.nan)
    return TrialDrift(described, similarity_drift(described.similarity, before))


def build_drift_by_country(inputs: TableInputs) -> Table:
    trial_drifts = drifts(inputs)
    countries = countries_of(one.choices for one in trial_drifts)
    rows = []
    for trial_drift in trial_drifts:
        label = trial_drift.choices.label
        cells = [
            Cell(
                trial_drift.mean("correct", trial_drift.choices.countries == c),
                rounding=Rounding(2, 100),
                printed=printed("table_18", c, model=label),
            )
            for c in countries
        ]
        rows.append(Row(label, tuple(cells), trial_drift.choices.group))
    words: list[Words] = [_("Times 100, of the correct candidate; by the country whose language the query is in.")]
    return inputs.table(corner=_("Model"), columns=list(countries), rows=rows, words=words)


def build_drift_by_role(inputs: TableInputs) -> Table:
    rows = [
        Row(
            drift.choices.label,
            tuple(Cell(drift.mean(role), rounding=Rounding(2, 100)) for role in SIX),
            drift.choices.group,
        )
        for drift in drifts(inputs)
    ]
    columns: list[Words] = [ROLES[role] for role in SIX]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=[_("Times 100.")])


def build_drift_by_concept(inputs: TableInputs) -> Table:
    """Table 19: the paper prints one model, GME-Qwen2-7B."""
    trial_drifts = drifts(inputs)
    of = [
        np.array([str(t.about.get("concept") or "") for t in trial_drift.choices.trials], np.str_)
        for trial_drift in trial_drifts
    ]
    concepts = sorted({str(name) for names in of for name in names} - {""})
    drifts_by_concept = {
        c: [trial_drift.mean("correct", names == c) for trial_drift, names in zip(trial_drifts, of, strict=True)]
        for c in concepts
    }
    rows = [
        Row(c, tuple(_of_concept(c, trial_drifts, drifts_by_concept[c])), "")
        for c in sorted(concepts, key=lambda c: -_number(drifts_by_concept[c][0]))
    ]
    columns: list[Words] = [trial_drift.choices.label for trial_drift in trial_drifts]
    words: list[Words] = [_("Of the correct candidate; the first column's largest drift on top.")]
    return inputs.table(corner=_("Concept"), columns=columns, rows=rows, words=words)


def _number(value: Estimate) -> float:
    return value.value if value.value is not None else float("-inf")


def _of_concept(concept: str, trial_drifts: Sequence[TrialDrift], values: Sequence[Estimate]) -> list[Cell]:
    return [
        Cell(
            value,
            rounding=Rounding(4),
            printed=printed("table_19", "drift", concept=concept)
            if trial_drift.choices.label == "GME-Qwen2-7B"
            else None,
        )
        for trial_drift, value in zip(trial_drifts, values, strict=True)
    ]


TABLES = (
    TableSpec("descriptor", "Table 3", gettext_lazy("With a country's name"), NEEDS, build_overall, (TIES, POOLING)),
    TableSpec(
        "descriptor-countries", "Table 14", gettext_lazy("With a country's name, by country"), NEEDS,
        build_wins_by_country, (TIES,),
    ),
    TableSpec("tests", "Table 15", gettext_lazy("What decides where the object or the country is missed"), NEEDS,
              build_tests, (TIES, TEST, CORRECTION)),
    TableSpec("tests-language", "Table 16", gettext_lazy("The query's language, by country"), NEEDS,
              partial(build_tests_by_country, "language", "table_16"), (TIES, TEST, CORRECTION)),
    TableSpec("tests-descriptor", "Table 17", gettext_lazy("The country's name, by country"), NEEDS,
              partial(build_tests_by_country, "descriptor", "table_17"), (TIES, TEST, CORRECTION)),
    TableSpec("drift", "Table 18", gettext_lazy("Similarity drift by country"), BOTH, build_drift_by_country),
    TableSpec("drift-concepts", "Table 19", gettext_lazy("Similarity drift by concept"), BOTH, build_drift_by_concept),
    TableSpec("drift-candidates", "", gettext_lazy("Similarity drift by candidate"), BOTH, build_drift_by_role),
)  # fmt: skip
