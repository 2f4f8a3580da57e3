"""3XCM, second question: what, or whose? Tables 2, 11, 12 and 13, picking at random (Figure 19), other wordings of the
query (Figures 20 and 21) and other system prompts (Figure 24).

Three candidates for each trial: correct, of the query's country only, and neither. SP never stands without M_cr.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.rules.label_sets.countries import country_code
from evaluation.metrics.association import pearson_of
from evaluation.metrics.averages import SHARES, mean_over_countries
from evaluation.metrics.counts import Bools, Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.silhouette import Distance, TooLarge, mean_silhouettes
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.sources import PICTURES, TEXTS, by_collection
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.xcm import metrics as forced_choice
from papers.xcm.printed_values import printed
from papers.xcm.tables.trials import (
    OTHER_PART,
    SIX,
    THREE,
    TrialScores,
    choices_of,
    countries_of,
    main_query_set,
    runs_differing_in,
    with_trials,
)
from predictions.models import Entry, Run
from predictions.queries.results import runs_of, vectors_of

TIES = TableOption(
    "ties",
    gettext_lazy("Two candidates equally similar"),
    {
        "first": gettext_lazy("the first in the order of the columns wins, as in the authors' code"),
        "every": gettext_lazy("both win, as in equation 3"),
    },
)
POOLING = TableOption(
    "pooling",
    gettext_lazy("All countries together"),
    {
        "pooled": gettext_lazy("all trials, each counting once"),
        "countries": gettext_lazy("the plain mean of the countries' shares"),
    },
)
DISTANCE = TableOption(
    "distance",
    gettext_lazy("Silhouettes by"),
    {"cosine": gettext_lazy("1 - cosine"), "euclidean": gettext_lazy("the straight line")},
)
NEEDS = gettext_lazy("Similarities of a model for trials with the roles correct, language_biased and irrelevant.")
ROLES: dict[str, Words] = {
    "correct": gettext_lazy("Correct"),
    "language_biased": gettext_lazy("Language-biased"),
    "irrelevant": gettext_lazy("Irrelevant"),
    "object_language_biased": gettext_lazy("Object relevant, language-biased"),
    "object_relevant": gettext_lazy("Object relevant"),
    "descriptor_relevant": gettext_lazy("Descriptor relevant"),
}
PERCENT = Rounding(2, 100)
ROUNDS = 10
PLAIN_THREE = with_trials(len(THREE), described=False)
SHIFTED = gettext_lazy("From Brazil on, the paper's image silhouettes of CLIP are shifted by one country.")
ROUNDED_UP = gettext_lazy("The paper's own shares are 4.11 and 91.95: 0.04.")
DOUBTFUL: dict[tuple[str, str], Words] = {("XLM-R-B/16plus", "US"): ROUNDED_UP}


def three_candidate_runs(inputs: TableInputs, *, main: bool = True) -> list[TrialScores]:
    """Runs over trials of three whose queries name no country, of one collection. Raises MissingData without any."""
    runs = inputs.runs("forced_choice", PLAIN_THREE)
    score_sets = [one for one in choices_of(runs, THREE) if not one.described]
    if not score_sets:
        raise MissingData(_("No run has trials of three candidates. Import trials and similarities."))
    if not main:
        return score_sets
    return main_query_set(inputs, score_sets, "plain")


def credit_of(inputs: TableInputs, choices: TrialScores) -> Floats:
    return forced_choice.winners(choices.similarity, ties="every" if inputs.chosen["ties"] == "every" else "first")


def wins(inputs: TableInputs, choices: TrialScores, credit: Floats) -> list[Estimate]:
    """The win rate of each type: of all trials, or the mean of the countries' rates, with the countries as drawn."""
    if inputs.chosen.get("pooling") != "countries":
        return forced_choice.win_rates(credit, choices.clusters)
    known = ~np.isnan(credit).any(axis=1)
    by_country = []
    for name in sorted(set(choices.countries[known].tolist())):
        mask = choices.countries == name
        by_country.append(forced_choice.win_rates(credit[mask], choices.clusters[mask]))
    return [mean_over_countries([rates[n] for rates in by_country], SHARES) for n in range(credit.shape[1])]


def build_overall(inputs: TableInputs) -> Table:
    rows = []
    for scores in three_candidate_runs(inputs):
        credit = credit_of(inputs, scores)
        cells = [
            Cell(rate, rounding=PERCENT, printed=printed("table_2", name, model=scores.label))
            for name, rate in zip(THREE, wins(inputs, scores, credit), strict=True)
        ]
        sp = forced_choice.self_preference(credit, scores.clusters)
        cells.append(Cell(sp, rounding=Rounding(2), printed=printed("table_2", "sp", model=scores.label)))
        rows.append(Row(scores.label, tuple(cells), scores.group))
    columns: list[Words] = [*(ROLES[name] for name in THREE), "SP"]
    words: list[Words] = [
        _("Wins in percent of trials. SP is language-biased over correct wins, of all trials together."),
        _("Intervals over pairs of concept and country (jackknife): all images of one pair repeat one query."),
    ]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def build_wins_by_country(inputs: TableInputs) -> Table:
    return wins_by_country(inputs, three_candidate_runs(inputs), THREE, "table_13")


def wins_by_country(
    inputs: TableInputs, score_sets: Sequence[TrialScores], roles: tuple[str, ...], table: str
) -> Table:
    countries = countries_of(score_sets)
    rows = []
    for scores in score_sets:
        credit = credit_of(inputs, scores)
        rates_by_country = {}
        for country in countries:
            mask = scores.countries == country
            rates_by_country[country] = forced_choice.win_rates(credit[mask], scores.clusters[mask])
        for place, role in enumerate(roles):
            cells = [
                Cell(
                    rates_by_country[c][place],
                    rounding=PERCENT,
                    printed=printed(table, c, model=scores.label, measure=role),
                )
                for c in countries
            ]
            rows.append(Row(str(ROLES[role]), tuple(cells), scores.label))
    words: list[Words] = [_("Wins in percent of the country's trials.")]
    return inputs.table(corner=_("Wins"), columns=list(countries), rows=rows, words=words)


def languages_of(found: Iterable[TrialScores]) -> dict[str, str]:
    """The language in which each country's queries are written."""
    return {one.country: str(one.about.get("language") or "") for choices in found for one in choices.trials}


def silhouettes_by_country(
    inputs: TableInputs, countries: Sequence[str], speaks: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """By model: text silhouettes of each country's language and image silhouettes of the country, as Estimates. Texts
    are of one collection, pictures of one."""
    by_model: dict[str, dict[str, Any]] = {}
    for run in embeddings_of(inputs, TEXTS):
        entries, vectors = vectors_of(run)
        by_language = _means(
            inputs, [_language(e) for e in entries], _concepts(entries), vectors, _are_texts(entries), speaks.values()
        )
        silhouettes = by_model.setdefault(run.rater.name, {"ts": {}, "is": {}})
        silhouettes["ts"] |= {c: by_language[speaks[c]] for c in countries if speaks.get(c) in by_language}
    for run in embeddings_of(inputs, PICTURES):
        entries, vectors = vectors_of(run)
        by_country = _means(
            inputs, [_of_country(e) for e in entries], _concepts(entries), vectors, ~_are_texts(entries), countries
        )
        silhouettes = by_model.setdefault(run.rater.name, {"ts": {}, "is": {}})
        silhouettes["is"] |= {c: by_country[c] for c in countries if c in by_country}
    return by_model


def embeddings_of(inputs: TableInputs, option: str) -> list[Run]:
    """Runs over one collection that has texts with their language (TEXTS), or pictures with their country (PICTURES);
    the collection of the trials where it has them. Empty without any."""

    def usable(runs: Sequence[Run]) -> list[Run]:
        entries = Entry.objects.filter(collection=runs[0].pool)
        texts = Q(about__has_key="language") & ~Q(about__language="")
        found = entries.filter(texts) if option == TEXTS else entries.exclude(texts).filter(about__has_key="country")
        return list(runs) if found.exists() else []

    return inputs.of_collection(by_collection(runs_of(inputs.benchmark, Run.Task.EMBEDDING), usable), option)


def _concepts(entries: Sequence[Entry]) -> npt.NDArray[np.str_]:
    return np.array([concept_of(entry.about, entry.key) for entry in entries], np.str_)


def _are_texts(entries: Sequence[Entry]) -> Bools:
    return np.array([bool(_language(entry)) for entry in entries], bool)


def _language(entry: Entry) -> str:
    return str(entry.about.get("language") or "")


def _of_country(entry: Entry) -> str:
    return country_code(str(entry.about.get("country") or ""))


def concept_of(about: Mapping[str, Any], key: str) -> str:
    """The concept of an entry; an entry without one is a concept of its own."""
    concept = str(about.get("concept") or "")
    return f"concept {concept}" if concept else f"entry {key}"


def _means(
    inputs: TableInputs, labels: Sequence[str], concepts: Any, vectors: Any, mask: Any, wanted: Iterable[str]
) -> dict[str, Estimate]:
    """The mean silhouette of each wanted label's entries, among the entries of the mask that have a label."""
    label = np.array(labels, np.str_)
    keep = mask & (label != "") if len(label) else np.zeros(0, bool)
    if not keep.any():
        return {}
    distance: Distance = "euclidean" if inputs.chosen["distance"] == "euclidean" else "cosine"
    label = label[keep]
    try:
        means = mean_silhouettes(vectors[keep], label, concepts[keep], distance=distance).by_cluster
    except TooLarge:
        text = _("%(n)s vectors in %(groups)s groups are too many for silhouettes. Import fewer, or choose 1 - cosine.")
        raise MissingData(text % {"n": f"{label.size:,}", "groups": f"{np.unique(label).size:,}"}) from None
    return {name: means[name] for name in sorted(set(wanted).intersection(means))}


def preferences(
    inputs: TableInputs, scores: TrialScores, countries: Sequence[str]
) -> dict[str, tuple[Estimate, Estimate]]:
    """SP and M_cr of each country."""
    credit = credit_of(inputs, scores)
    by_country = {}
    for country in countries:
        mask = scores.countries == country
        sp = forced_choice.self_preference(credit[mask], scores.clusters[mask])
        by_country[country] = sp, forced_choice.win_rates(credit[mask], scores.clusters[mask])[0]
    return by_country


def build_by_country(inputs: TableInputs) -> Table:
    score_sets = three_candidate_runs(inputs)
    countries = countries_of(score_sets)
    speaks = languages_of(score_sets)
    measured = silhouettes_by_country(inputs, countries, speaks)
    rows = []
    for scores in score_sets:
        of, shapes = preferences(inputs, scores, countries), measured.get(scores.run.rater.name, {})
        lines = [("SP", "sp", Rounding(2), {c: of[c][0] for c in countries}),
                 (str(ROLES["correct"]), "correct", PERCENT, {c: of[c][1] for c in countries}),
                 (_("Text silhouette"), "ts", Rounding(2), shapes.get("ts")),
                 (_("Image silhouette"), "is", Rounding(2), shapes.get("is"))]  # fmt: skip
        rows += [
            Row(
                label,
                tuple(_country_cell(scores.label, c, name, values.get(c), rounding) for c in countries),
                scores.label,
            )
            for label, name, rounding, values in lines
            if values is not None
        ]
    words: list[Words] = [
        _("SP of a country's trials together; its silhouette of texts is that of its language."),
        _("Intervals of silhouettes: concepts deleted one at a time, silhouettes computed again."),
    ]
    return inputs.table(corner=_("Measure"), columns=list(countries), rows=rows, words=words)


def _country_cell(model: str, country: str, name: str, value: Estimate | None, rounding: Rounding) -> Cell:
    if value is None:
        return Cell(empty=True)
    table = "table_13" if name == "correct" else "table_12"
    known = (
        SHIFTED if (model, name) == ("CLIP-L/14", "is") else DOUBTFUL.get((model, country), "") if name == "sp" else ""
    )
    return Cell(value, rounding=rounding, printed=printed(table, country, known, model=model, measure=name))


def build_correlations(inputs: TableInputs) -> Table:
    """Table 11: one point for each country, a language's silhouette repeated for its countries."""
    score_sets = three_candidate_runs(inputs)
    countries = countries_of(score_sets)
    speaks = languages_of(score_sets)
    measured = silhouettes_by_country(inputs, countries, speaks)
    rows = []
    for scores in score_sets:
        if scores.run.rater.name not in measured:
            continue
        sp = _values({c: pair[0] for c, pair in preferences(inputs, scores, countries).items()}, countries)
        shapes = measured[scores.run.rater.name]
        cells = [
            Cell(
                pearson_of(sp, _values(shapes[name], countries), clusters=[speaks[c] or c for c in countries]),
                rounding=Rounding(2),
                printed=printed("table_11", column, model=scores.label),
            )
            for name, column in (("ts", "text"), ("is", "image"))
        ]
        rows.append(Row(scores.label, tuple(cells), scores.group))
    if not rows:
        raise MissingData(_("No model has both similarities and embeddings. Import its embeddings."))
    columns: list[Words] = [_("SP and text silhouette"), _("SP and image silhouette")]
    words: list[Words] = [
        _("Pearson's r over these countries; its interval leaves out each language, whose countries share a value.")
    ]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def _values(by_country: dict[str, Estimate], countries: Sequence[str]) -> Floats:
    values = (by_country[c].value if c in by_country else None for c in countries)
    return np.array([np.nan if value is None else value for value in values])


def build_baseline(inputs: TableInputs) -> Table:
    """Figure 19: a model that picks at random, over the trials of the first run; rounds by seed."""
    scores = three_candidate_runs(inputs)[0]
    rows = []
    for seed in range(ROUNDS):
        credit = forced_choice.random_winners(len(scores.trials), len(THREE), np.random.default_rng(seed))
        rates = forced_choice.win_rates(credit, scores.clusters)
        sp = forced_choice.self_preference(credit, scores.clusters)
        cells = (*(Cell(rate, rounding=PERCENT) for rate in rates), Cell(sp, rounding=Rounding(2)))
        rows.append(Row(_("Seed %(n)s") % {"n": seed}, cells, _("Rounds")))
    columns: list[Words] = [*(ROLES[name] for name in THREE), "SP"]
    words: list[Words] = [
        _("A candidate picked at random in each of %(n)s trials; an unbiased model has SP 1.")
        % {"n": len(scores.trials)}
    ]
    return inputs.table(corner=_("Round"), columns=columns, rows=rows, words=words)


ONE_SET = gettext_lazy("Every model was asked with one query set only. Import runs over another.")
ONE_PROMPT = gettext_lazy("Every model had one system prompt only. Import runs with another.")


def _build_by(inputs: TableInputs, name: str, missing: Words) -> Table:
    """All runs over trials of three and of six, told apart by their query set or their system prompt."""
    runs = inputs.runs("forced_choice", runs_differing_in(name))
    same = OTHER_PART[name]
    all_scores = [*choices_of(runs, THREE), *(scores for scores in choices_of(runs, SIX) if scores.described)]
    compared_sets = [
        scores
        for scores in all_scores
        if len({getattr(other.run, name) for other in all_scores if _is_comparable(scores, other, same)}) > 1
    ]
    if not compared_sets:
        raise MissingData(missing)
    rows = []
    for scores in compared_sets:
        rates = dict(
            zip(scores.roles, forced_choice.win_rates(credit_of(inputs, scores), scores.clusters), strict=True)
        )
        cells = tuple(Cell(rates[role], rounding=PERCENT) if role in rates else Cell(empty=True) for role in SIX)
        rows.append(Row(getattr(scores.run, name) or "-", cells, f"{scores.run.rater.name}, {len(scores.roles)}"))
    rows.sort(key=lambda row: row.group)
    words: list[Words] = [_("Wins in percent of trials. Three or six after the model's name: candidates in a trial.")]
    columns: list[Words] = [ROLES[role] for role in SIX]
    return inputs.table(corner=_("Asked with"), columns=columns, rows=rows, words=words)


def _is_comparable(scores: TrialScores, other: TrialScores, same: str) -> bool:
    """Of the same model over the same candidates, with the same query set or system prompt (`same`)."""
    is_same = getattr(scores.run, same) == getattr(other.run, same)
    return is_same and scores.run.rater_id == other.run.rater_id and scores.roles == other.roles


def build_query_sets(inputs: TableInputs) -> Table:
    return _build_by(inputs, "query_set", ONE_SET)


def build_prompts(inputs: TableInputs) -> Table:
    return _build_by(inputs, "system_prompt", ONE_PROMPT)


TABLES = (
    TableSpec(
        "association", "Table 2", gettext_lazy("Wins by type and culture"), NEEDS, build_overall, (TIES, POOLING)
    ),
    TableSpec(
        "association-countries", "Table 12", gettext_lazy("Self-preference by country"), NEEDS, build_by_country,
        (TIES, DISTANCE),
    ),
    TableSpec("wins-countries", "Table 13", gettext_lazy("Wins by country"), NEEDS, build_wins_by_country, (TIES,)),
    TableSpec(
        "silhouettes", "Table 11", gettext_lazy("Self-preference and silhouettes"), NEEDS, build_correlations,
        (TIES, DISTANCE),
    ),
    TableSpec("baseline", "Figure 19", gettext_lazy("Random baseline"), NEEDS, build_baseline),
    TableSpec(
        "query-sets", "Figures 20-21", gettext_lazy("Other wordings of the query"), NEEDS, build_query_sets, (TIES,)
    ),
    TableSpec("prompts", "Figure 24", gettext_lazy("Other system prompts"), NEEDS, build_prompts, (TIES,)),
)  # fmt: skip
