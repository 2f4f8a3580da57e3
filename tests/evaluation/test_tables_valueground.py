"""ValueGround's tables from the database, on a study small enough to count by hand.

Three questions (Q1, Q2 with codes 1 to 4; Q3 with codes 1 to 10), two sources, two countries. Counts make these labels:

    Egypt  Q1 A (mean 1.4)   Q2 B (3.4)   Q3 a tie (5.5)
    Brazil Q1 A (1.6)        Q2 A (2.2)   Q3 no counts
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from django.http import QueryDict
from scipy import stats

from annotation.models import Campaign, Unit
from annotation.services.campaigns import lifecycle
from benchmarks.models import Benchmark, Image, Item, ItemImage
from benchmarks.rules.label_sets.contract import LabelSpec
from benchmarks.services.benchmarks import create_from_recipe
from benchmarks.services.label_sets import create_typed, ensure, import_set
from evaluation.metrics.averages import DIFFERENCES, mean_over_countries
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Cell
from evaluation.tables.registry import tables_of
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_builder import build_table
from papers.culturalvqa.tables import accuracy as culturalvqa
from papers.valueground.recipe import LABELLED
from papers.valueground.tables.accuracy import ModelOutcomes, mean_of
from papers.valueground.tables.reversal import _transfer_cells
from tests.evaluation.data import NOON
from tests.evaluation.sample_tables import model, store_answers, table
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
SOURCES = ("gemini", "gpt")
SURVEY = {
    "Q1": {"Egypt": {"1": 70, "2": 20, "3": 10, "-1": 7}, "Brazil": {"1": 50, "2": 40, "3": 10}},
    "Q2": {"Egypt": {"3": 60, "4": 40}, "Brazil": {"1": 20, "2": 40, "3": 40}},
    "Q3": {"Egypt": {"1": 5, "10": 5, "0": 3}},
}
OPTIONS = {"1": "Very", "2": "Rather", "3": "Not very", "4": "Not at all"}
# What each model says, by setting: question -> country -> one letter for each source (one alone in words).
MAIN = {
    "Alpha": {"Q1": {"Egypt": "ab", "Brazil": "aa"}, "Q2": {"Egypt": "bb", "Brazil": "ab"}, "Q3": {"Egypt": "aa"}},
    "Beta": {"Q1": {"Egypt": "bb", "Brazil": "ba"}, "Q2": {"Egypt": "ba", "Brazil": "b-"}, "Q3": {"Egypt": "bb"}},
}
TEXT = {
    "Alpha": {"Q1": {"Egypt": "a", "Brazil": "a"}, "Q2": {"Egypt": "a", "Brazil": "a"}, "Q3": {"Egypt": "a"}},
    "Beta": {"Q1": {"Egypt": "a", "Brazil": "a"}, "Q2": {"Egypt": "b", "Brazil": "a"}},
}
ALIGNED = {"Alpha": {"Q1": "++", "Q2": "+x", "Q3": "++"}, "Beta": {"Q1": "x+", "Q2": "2+", "Q3": "+-"}}
ALIGNMENT = {"+": "aligned", "x": "swapped", "2": "both_a"}


def create_open_campaign(world: World, benchmark: Benchmark, key: str, items: Sequence[Item], name: str) -> Campaign:
    """A campaign of a stage whose items have a picture in both roles."""
    facts = {"format": "png", "bytes": 1, "width": 320, "height": 240}
    image, _made = Image.objects.get_or_create(team=world.team, sha256="2" * 64, defaults=facts)
    ItemImage.objects.bulk_create(ItemImage(item=item, image=image, role=role) for item in items for role in "ab")
    made = lifecycle.create(benchmark.stages.get(key=key), name, world.owner, {world.egypt: 2, world.brazil: 2})
    lifecycle.open_campaign(made, world.owner, NOON)
    return made


def pairs(benchmark: Benchmark, key: str, **context: object) -> dict[tuple[str, str], Item]:
    stage = benchmark.stages.get(key=key)
    items_by_pair = {}
    for question in SURVEY:
        for source in SOURCES:
            more = context if key != "choice" else {"survey": SURVEY[question], "options": _options(question)}
            items_by_pair[question, source] = Item.objects.create(
                stage=stage, key=f"{question}-{source}", concept=question, condition=source, text=f"{question}?",
                context={"option_a": "Yes", "option_b": "No"} | dict(more),
            )  # fmt: skip
    return items_by_pair


def _options(question: str) -> dict[str, str]:
    return {"1": "Never", "10": "Always"} if question == "Q3" else OPTIONS


@built_once
def benchmark(world: World) -> Benchmark:
    return create_from_recipe(world.team, "valueground", "ValueGround", "valueground", world.owner)


@built_once
def choice(world: World, benchmark: Benchmark) -> Campaign:
    items = pairs(benchmark, "choice")
    new_campaign = create_open_campaign(world, benchmark, "choice", list(items.values()), "Choices")
    for name, by_question in MAIN.items():
        answers = {
            (items[question, source], country): code
            for question, by_country in by_question.items()
            for country, codes in by_country.items()
            for source, code in zip(SOURCES, codes, strict=True)
            if code != "-"
        }
        store_answers(new_campaign, model(world.team, name, "main", family="Made up"), answers, field="choice")
    for name, by_question in TEXT.items():  # words have no source: their answers stand with the second one
        words = {
            (items[question, SOURCES[1]], country): code
            for question, by_country in by_question.items()
            for country, code in by_country.items()
        }
        store_answers(new_campaign, model(world.team, name, "text_only"), words, field="choice")
    return new_campaign


@built_once
def alignment(world: World, benchmark: Benchmark, choice: Campaign) -> Campaign:
    items = pairs(benchmark, "alignment")
    new_campaign = create_open_campaign(world, benchmark, "alignment", list(items.values()), "Alignments")
    for name, by_question in ALIGNED.items():
        answers = {
            (items[question, source], ""): ALIGNMENT[code]
            for question, codes in by_question.items()
            for source, code in zip(SOURCES, codes, strict=True)
            if code != "-"
        }
        store_answers(new_campaign, model(world.team, name, "alignment"), answers, field="alignment")
    return new_campaign


def row(made: Table, label: str) -> dict[str, Cell]:
    cells = next(one.cells for one in made.rows if one.label == label)
    return dict(zip(map(str, made.columns), cells, strict=True))


def numbers(cells: Mapping[str, Cell]) -> list[tuple[float | None, int]]:
    """(value, what it was counted over), of what was asked about."""
    estimates = [cell.estimate for cell in cells.values() if cell.estimate]
    return [(estimate.value, estimate.n_units) for estimate in estimates if estimate.reason != "not_asked"]


def reason(cell: Cell) -> str | None:
    assert cell.estimate is not None
    return cell.estimate.reason


def check_near(found: list[tuple[float | None, int]], expected: list[tuple[float, int]]) -> None:
    assert [n for _value, n in found] == [n for _value, n in expected]
    assert [value for value, _n in found] == pytest.approx([value for value, _n in expected])


def test_the_labels_are_those_of_the_counts(benchmark: Benchmark, choice: Campaign) -> None:
    built_table = table(benchmark, "labels")
    # Egypt: Q1 A, Q2 B, Q3 a tie, whose three answers of code 0 were left out.
    egypt, brazil = row(built_table, "Egypt"), row(built_table, "Brazil")
    check_near(numbers(egypt), [(2 / 3, 3), (1, 3), (1, 3), (1, 3), (0, 3), (0, 3), (0, 3), (0, 3), (1, 3)])
    assert egypt["Not scorable"].text == "Q3 (exact tie)"
    check_near(numbers(brazil), [(2 / 3, 3), (2, 3), (0, 3), (0, 3), (1, 3), (0, 3), (0, 3), (0, 3), (0, 3)])
    assert any("4 of 6 pairs of question and country have a label; 2 sources" in str(one) for one in built_table.words)
    assert any("1 exact tie, 1 without counts" in str(one) for one in built_table.words)
    # "Yes" and "No" are shown, which the survey does not know: the ends of its options, and a word of doubt.
    notes = [str(one) for one in built_table.words]
    assert (
        "Codes of A and B, taken from the two ends of the survey's options: Q1 (1, 4), Q2 (1, 4), Q3 (1, 10)." in notes
    )
    assert any("not among the survey's options" in one and one.endswith("Q1, Q2, Q3.") for one in notes)


def test_the_codes_are_those_of_the_two_options_that_are_shown(benchmark: Benchmark, choice: Campaign) -> None:
    """Better, worse, the same (1, 2, 3), of which better and worse are shown. Egypt 10, 80, 10: mean 2.0, which is B
    itself; between 1 and 3 it would be a tie. Brazil 10, 30, 60: mean 2.5, nearer to B, and not between the two."""
    about = {
        "survey": {"Egypt": {"1": 10, "2": 80, "3": 10}, "Brazil": {"1": 10, "2": 30, "3": 60}},
        "options": {"1": "Better off", "2": "Worse off", "3": "About the same"}, "pair": [1, 3],
        "option_a": "better  off", "option_b": "2. Worse off",
    }  # fmt: skip
    Item.objects.filter(stage__key="choice", concept="Q2").update(context=about)
    built_table = table(benchmark, "labels")
    egypt, brazil = row(built_table, "Egypt"), row(built_table, "Brazil")
    assert [one["Label B"].shown for one in (egypt, brazil)] == ["1", "1"]
    assert [one["Mean outside the options"].shown for one in (egypt, brazil)] == ["0", "1"]
    notes = [str(one) for one in built_table.words]
    assert "Codes of options A and B, of the texts shown: Q2 (1, 2)." in notes
    assert any("only the nearer one: Q2 Brazil." in one for one in notes)
    assert any("other codes than the texts shown" in one and one.endswith("Q2.") for one in notes)
    del about["option_a"], about["option_b"]  # then those that `pair` names: a tie, and B
    Item.objects.filter(stage__key="choice", concept="Q2").update(context=about)
    built_table = table(benchmark, "labels")
    assert "Codes of A and B, as “pair” gives them: Q2 (1, 3)." in [str(one) for one in built_table.words]
    assert row(built_table, "Egypt")["Exact tie"].shown == "2"


def test_a_code_of_0_is_told_as_that_and_once(benchmark: Benchmark, choice: Campaign) -> None:
    about = {"survey": {"Egypt": {"0": 40, "1": 60}, "Brazil": {"0": 1, "1": 2}}, "options": {"0": "No", "1": "Yes"}}
    for shown in ({}, {"option_a": "No", "option_b": "Yes"}):
        Item.objects.filter(stage__key="choice", concept="Q2").update(context=about | shown)
        built_table = table(benchmark, "labels")
        for country in ("Egypt", "Brazil"):
            cells = row(built_table, country)
            assert cells["An option's code not above 0"].shown == "1"
            assert cells["Options without codes"].shown == "0"
        assert row(built_table, "Brazil")["A code 0 left out"].shown == "0", "it is counted in one column only"
        assert any("2 where an option's code is not above 0" in str(one) for one in built_table.words)
    # An adjustment gives 0 its place: 40 x 1 + 60 x 2 of 100 is 1.6, nearer to Yes.
    placed = about | {"option_a": "No", "option_b": "Yes", "adjustment": {"0": 1, "1": 2}}
    Item.objects.filter(stage__key="choice", concept="Q2").update(context=placed)
    built_table = table(benchmark, "labels")
    assert row(built_table, "Egypt")["Label B"].shown == "1"
    assert any("of the texts shown: Q2 (1, 2)." in str(one) for one in built_table.words)


def test_accuracy_by_country(benchmark: Benchmark, choice: Campaign) -> None:
    built_table = table(benchmark, "figure-3")
    # Alpha, Egypt (A, B): Q1 a right, b wrong; Q2 b b right: 3 of 4. Brazil (A, A): a a, a right, b wrong: 3 of 4.
    check_near(numbers(row(built_table, "Alpha")), [(3 / 4, 4), (3 / 4, 4), (6 / 8, 8)])
    # Beta, Egypt: b b wrong, b right, a wrong: 1 of 4. Brazil: b wrong, a right, b wrong, one unanswered: 1 of 3.
    beta = row(built_table, "Beta")
    assert list(beta) == [*LABELLED, "Egypt", "All"], "the recipe's countries in its order, then the others"
    assert reason(beta["Kenya"]) == "not_asked" and reason(beta["Brazil"]) is None
    check_near(numbers(beta), [(1 / 3, 3), (1 / 4, 4), (2 / 7, 7)])
    assert beta["All"].estimate is not None
    assert (beta["All"].estimate.extras["worst"], beta["All"].estimate.extras["best"]) == (2 / 8, 3 / 8)
    check_near(
        numbers(row(built_table, "Average")),
        [((3 / 4 + 1 / 3) / 2, 4), ((3 / 4 + 1 / 4) / 2, 4), ((3 / 4 + 2 / 7) / 2, 8)],
    )
    wrong = table(benchmark, "figure-3", "unreadable=wrong")
    check_near(numbers(row(wrong, "Beta")), [(1 / 4, 4), (1 / 4, 4), (2 / 8, 8)])
    assert any("count as wrong" in str(one) for one in wrong.words)


def test_prompt_variants_are_columns_of_one_table(benchmark: Benchmark, alignment: Campaign) -> None:
    built_table = table(benchmark, "table-2")
    # Alpha. Words: a a right, Q2 Egypt a wrong, Brazil a right: 3 of 4. Alignment: 5 of 6.
    # With the pictures matched (all but Q2 gpt): Q1 E a b, B a a; Q2 E b, B a: main 5 of 6; words a throughout: 5 of 6.
    check_near(numbers(row(built_table, "Alpha")), [(6 / 8, 8), (3 / 4, 4), (5 / 6, 6), (5 / 6, 6), (5 / 6, 6), (0, 6)])
    # Beta. Words: all four right. Alignment: x + | 2 + | + and one unanswered: 3 of the 4 that could be scored.
    # Matched: Q1 gpt and Q2 gpt: E b wrong, B a right; E a wrong, B unanswered: main 1 of 3, words 3 of 3.
    check_near(numbers(row(built_table, "Beta")), [(2 / 7, 7), (1, 4), (3 / 4, 4), (1 / 3, 3), (1, 3), (-2 / 3, 3)])
    check_near(
        numbers(row(built_table, "Average")),
        [((6 / 8 + 2 / 7) / 2, 8), ((3 / 4 + 1) / 2, 4), ((5 / 6 + 3 / 4) / 2, 6), ((5 / 6 + 1 / 3) / 2, 7),
         ((5 / 6 + 1) / 2, 7), (-1 / 3, 7)],
    )  # fmt: skip
    # Beta's "both_a" may count as wrong.
    check_near(numbers(row(table(benchmark, "table-2", "same_option=wrong"), "Beta"))[2:3], [(3 / 5, 5)])


def test_without_alignments_the_rest_of_the_table_stands(benchmark: Benchmark, choice: Campaign) -> None:
    alpha = row(table(benchmark, "table-2"), "Alpha")
    assert alpha["Main"].shown == "75.0"
    for name in ("Alignment", "Main where aligned", "Main less text"):
        found = alpha[name].estimate
        assert found is not None
        assert found.reason == "nothing_counted"
        assert alpha[name].shown == ""


def test_reversals_and_their_identities(benchmark: Benchmark, choice: Campaign) -> None:
    built_table = table(benchmark, "table-5")
    # Alpha, 8 instances: Q1 E gpt a->b harmful; Q2 E a->b twice beneficial; Q2 B gpt a->b harmful.
    check_near(numbers(row(built_table, "Alpha")), [(4 / 8, 8), (2 / 8, 8), (2 / 8, 8), (0, 8)])
    # Beta, 7: Q1 E twice, Q1 B gemini, Q2 E gpt, Q2 B gemini: five harmful.
    check_near(numbers(row(built_table, "Beta")), [(5 / 7, 7), (5 / 7, 7), (0, 7), (5 / 7, 7)])
    for name in ("Alpha", "Beta"):
        reversal, harmful, beneficial, drop = (value for value, _n in numbers(row(built_table, name)))
        assert reversal == pytest.approx((harmful or 0) + (beneficial or 0))
        assert drop == pytest.approx((harmful or 0) - (beneficial or 0))


def test_reversals_by_country_are_pooled_or_averaged(benchmark: Benchmark, choice: Campaign) -> None:
    # Egypt: Alpha 3 of 4 (1 harmful), Beta 3 of 4 (all). Brazil: Alpha 1 of 4, Beta 2 of 3.
    pooled = table(benchmark, "table-6")
    check_near(numbers(row(pooled, "Egypt")), [(6 / 8, 8), (4 / 8, 8), (2 / 8, 8), (2 / 8, 8)])
    check_near(numbers(row(pooled, "Brazil")), [(3 / 7, 7), (3 / 7, 7), (0, 7), (3 / 7, 7)])
    averaged = table(benchmark, "table-6", "over_models=mean")
    mean = (1 / 4 + 2 / 3) / 2
    check_near(numbers(row(averaged, "Brazil")), [(mean, 4), (mean, 4), (0, 4), (mean, 4)])


def test_reversals_by_margin(benchmark: Benchmark, choice: Campaign) -> None:
    # |u - 1/2| with u = (mean - 1) / 3: Egypt Q1 0.367, Q2 0.3; Brazil Q1 0.3, Q2 0.1. Equal ones stay together.
    built_table = table(benchmark, "table-7", "bins=3")
    assert [one.cells[0].text for one in built_table.rows] == ["[0.100, 0.300)", "[0.300, 0.367)", "[0.367, 0.367]"]
    assert [one.cells[1].shown for one in built_table.rows] == ["1", "2", "1"]
    # Brazil Q2: Alpha 1 of 2, Beta 1 of 1. Egypt Q2 and Brazil Q1: Alpha 2 of 2, 0 of 2; Beta 1 of 2, 1 of 2.
    # Egypt Q1: Alpha 1 of 2, Beta 2 of 2.
    check_near(
        [number for one in built_table.rows for number in numbers({"": one.cells[2]})],
        [(2 / 3, 3), (4 / 8, 8), (3 / 4, 4)],
    )
    with pytest.raises(MissingData, match="Too few pairs"):
        table(benchmark, "table-7")


def test_the_transfer_from_words_to_pictures(world: World, benchmark: Benchmark, choice: Campaign) -> None:
    built_table = table(benchmark, "table-8")
    # Two countries: no correlation. Alpha: Egypt 3/4 less 1/2, Brazil 3/4 less 1. Beta: 1/4 less 1, 1/3 less 1.
    alpha, beta = row(built_table, "Alpha"), row(built_table, "Beta")
    assert [one.estimate.reason for one in list(alpha.values())[:2] if one.estimate] == ["too_few_points"] * 2
    check_near(numbers(alpha)[2:], [(0, 12)])  # answers: 8 in main, 4 in text-only
    assert alpha["Countries with main below text"].text == "1/2"
    check_near(numbers(beta)[2:], [((-3 / 4 - 2 / 3) / 2, 11)])
    assert beta["Countries with main below text"].text == "2/2"
    # All four points, (1/2, 3/4), (1, 3/4), (1, 1/4), (1, 1/3): products -11/96, squares 3/16 and 41/192.
    pooled = row(built_table, "Pooled")
    assert pooled["Pearson"].estimate is not None
    assert pooled["Pearson"].estimate.value == pytest.approx(-11 / 96 / (3 / 16 * 41 / 192) ** 0.5)
    assert pooled["Countries with main below text"].text == "3/4"


def test_intervals_of_the_transfer_are_over_countries() -> None:
    rates = (np.array([0.2, 0.5, 0.6, 0.9, 0.4]), np.array([0.3, 0.4, 0.8, 0.7, 0.5]), np.full(5, 8))
    for of_models in ([rates], [rates, rates]):
        pearson, spearman, change, _below = _transfer_cells(of_models, "heron")
        for cell in (pearson, spearman, change):
            assert cell.estimate is not None and cell.estimate.resampled == "countries"


def test_a_country_with_equal_accuracy_is_not_below_and_one_without_both_is_not_counted() -> None:
    text, main = np.array([0.5, 0.5, 0.6, np.nan, 0.9]), np.array([0.5, 0.4, 0.7, 0.1, np.nan])
    counts = np.array([8, 8, 8, 4, 4])
    assert _transfer_cells([(text, main, counts)], "heron")[3].text == "1/3"
    assert _transfer_cells([(text, main, counts), (main, text, counts)], "Pooled")[3].text == "2/6"


def test_a_mean_over_countries_is_one_number_in_every_table() -> None:
    """Table 8 of ValueGround and the examples of CulturalVQA average differences of shares over countries."""
    text, main = np.array([0.9, 0.8, 0.7, 0.9, np.nan]), np.array([0.8, 0.75, 0.4, 0.7, 0.5])
    counts = np.array([20, 30, 40, 50, 0])
    ours = _transfer_cells([(text, main, counts)], "Any")[2].estimate
    differences = [
        Estimate.of(float(m - t), method="difference", n_units=int(n), n_raters=1, n_ratings=int(n))
        for t, m, n in zip(text[:4], main[:4], counts[:4], strict=True)
    ]
    theirs = mean_over_countries([*differences, Estimate.undefined(reason="nothing_counted", method="d")], DIFFERENCES)
    assert ours is not None and theirs.low is not None
    assert (ours.value, ours.low, ours.high, ours.n_units) == (theirs.value, theirs.low, theirs.high, 140)
    assert (ours.method, ours.resampled) == (theirs.method, theirs.resampled) == ("mean over countries", "countries")
    step = stats.t.ppf(0.975, 3) * np.std(main[:4] - text[:4], ddof=1) / 2
    assert ours.high - ours.value == pytest.approx(step)
    # Two models: the mean of each country's models, so that a country counts once.
    both = _transfer_cells([(text, main, counts), (text, main, counts)], "Pooled")[2].estimate
    assert both is not None and (both.value, both.low) == (pytest.approx(ours.value), pytest.approx(ours.low))
    shares = culturalvqa.mean_over_countries([Estimate.of(v, method="s", n_units=9, n_raters=1, n_ratings=9)
                                              for v in (0.2, 0.5, 0.9)], culturalvqa.SHARES)  # fmt: skip
    assert (shares.method, shares.resampled) == (ours.method, ours.resampled)


def test_places_of_the_models(benchmark: Benchmark, choice: Campaign) -> None:
    built_table = table(benchmark, "bands")
    # Seven instances that both answered: Alpha 6 right, Beta 2; two questions are too few to tell them apart.
    check_near(numbers(row(built_table, "Alpha")), [(6 / 7, 7)])
    check_near(numbers(row(built_table, "Beta")), [(2 / 7, 7)])
    assert [one.cells[1].text for one in built_table.rows] == ["1–2", "1–2"]
    models = [(one.label, one.group) for one in table(benchmark, "models").rows]
    assert models == [("Alpha", "Made up"), ("Beta", "Made up")], "one row, whatever each way of asking knows of it"


def test_labels_and_codes_come_in_other_ways_too(world: World, benchmark: Benchmark, choice: Campaign) -> None:
    items = Item.objects.filter(stage__key="choice")
    # As JSON text, under another name of the country, with the pair's codes turned and a 0 put in its place.
    counts = '{"EGYPT": {"0": 6, "1": 1, "10": 3}}'
    items.filter(concept="Q3").update(
        context={"survey": counts, "pair": {"a": 10, "b": 1}, "adjustment": {"0": "1", "11": ""}}
    )
    items.filter(concept="Q2").update(context={"labels": {"Egypt": "a", "Brazil": "neither"}})
    built_table = table(benchmark, "labels")
    # Q3: (7 x 1 + 3 x 10) / 10 = 3.7, nearer to 1, which is option B now. Q2: A as given.
    check_near(
        numbers(row(built_table, "Egypt")), [(1, 3), (2, 3), (1, 3), (0, 3), (0, 3), (0, 3), (0, 3), (0, 3), (0, 3)]
    )
    assert row(built_table, "Brazil")["Not scorable"].text == "Q2 (no counts), Q3 (no counts)"
    with pytest.raises(MissingData, match="Too few pairs"):
        table(benchmark, "table-7", "bins=4")


def test_printed_values_are_shown_at_the_row_of_the_same_name(
    world: World, benchmark: Benchmark, choice: Campaign
) -> None:
    items = {(one.concept, one.condition): one for one in Item.objects.filter(stage__key="choice")}
    answers = {(items["Q1", "gpt"], "Egypt"): "a", (items["Q2", "gpt"], "Egypt"): "b"}
    store_answers(choice, model(world.team, "GPT-5.4 mini", "main"), answers, field="choice")
    cell = row(table(benchmark, "figure-3"), "GPT-5.4 mini")["All"]
    assert cell.printed is not None
    assert (cell.shown, cell.printed.text, cell.mark) == ("100.0", "66.6", "differs")
    assert "contradicts itself" in str(cell.printed.known)


def test_what_is_missing_is_named(world: World, benchmark: Benchmark) -> None:
    for spec in tables_of(benchmark):
        with pytest.raises(MissingData):
            build_table(benchmark, spec, QueryDict(""), NOON)
    with pytest.raises(MissingData, match="what making it cost"):
        table(benchmark, "table-3")
    items = pairs(benchmark, "choice")
    made = create_open_campaign(world, benchmark, "choice", list(items.values()), "Choices")
    store_answers(made, model(world.team, "Alpha", "text_only"), {(items["Q1", "gpt"], "Egypt"): "a"}, field="choice")
    with pytest.raises(MissingData, match="“main” yet"):
        table(benchmark, "figure-3")
    with pytest.raises(MissingData, match="both with pictures and with words alone"):
        table(benchmark, "table-5")


def test_a_model_without_the_number_takes_no_other_models_average_away() -> None:
    right, asked, never = (np.array(one, bool) for one in ([1, 1, 0, 0], [1] * 4, [0] * 4))
    found = mean_of([ModelOutcomes(right, asked), ModelOutcomes(right, never)], np.arange(4))
    assert (found.value, found.n_raters, found.n_units) == (0.5, 1, 4)
    assert (found.extras["n_left_out"], found.extras["n_all"]) == (1, 2)
    assert mean_of([ModelOutcomes(right, never)], np.arange(4)).value is None


BY_COUNTRY = ("figure-3", "table-6", "labels")


def names_of(built_table: Table) -> list[str]:
    """Of the countries of a table, as rows or as columns."""
    if built_table.key == "figure-3":
        return [str(column) for column in built_table.columns][:-1]
    return [row.label for row in built_table.rows]


@pytest.mark.parametrize("key", BY_COUNTRY)
def test_thirteen_labels_with_two_cohorts_give_thirteen_rows(benchmark: Benchmark, choice: Campaign, key: str) -> None:
    Unit.objects.filter(target="Egypt").update(target="India")
    built_table = table(benchmark, key)
    assert names_of(built_table) == list(LABELLED) and len(LABELLED) == 13
    rows = [row(built_table, "Alpha")] if key == "figure-3" else []
    by_name = rows[0] if rows else {each.label: each.cells[0] for each in built_table.rows}
    asked = {name for name in LABELLED if reason(by_name[name]) != "not_asked"}
    assert asked == {"Brazil", "India"}
    assert all(by_name[name].estimate.value is None for name in set(LABELLED) - asked)  # type: ignore[union-attr]
    assert any("ValueGround: cultures of the recipe, built in" in str(sentence) for sentence in built_table.words)


@pytest.mark.parametrize("key", BY_COUNTRY)
@pytest.mark.parametrize("form", ["", ".json", ".csv", ".tex"])
def test_tables_by_country_are_shown_in_every_form(
    world: World, benchmark: Benchmark, choice: Campaign, key: str, form: str
) -> None:
    address = f"/b/{benchmark.slug}/tables/{key}{form or '/'}"
    reply = world.client(world.owner).get(address)
    text = reply.content.decode()
    assert reply.status_code == 200 and "Kenya" in text and (not form or "None" not in text)
    if form == ".json":
        assert "Nobody was asked about this label." in text and "not_asked" in text
    if not form:
        assert "Not asked" in text and "Label set" in text


def test_rows_of_a_chosen_set_stand_in_its_groups(world: World, benchmark: Benchmark, choice: Campaign) -> None:
    row_, _new = import_set(
        world.team, "Lands",
        [LabelSpec("eg", "Egypt", region="North"), LabelSpec("pe", "Peru", region="South"),
         LabelSpec("dz", "Algeria", region="North"), LabelSpec("xx", "Nowhere")],
        world.owner,
    )  # fmt: skip
    built_table = table(benchmark, "table-6", f"label_set={row_.reference}&groups=region")
    assert [(each.label, each.group) for each in built_table.rows] == [
        ("Egypt", "North"), ("Algeria", "North"), ("Peru", "South"), ("Nowhere", ""), ("Brazil", ""),
    ]  # fmt: skip
    assert any("Label set: Lands, version 1." in str(sentence) for sentence in built_table.words)


def test_the_page_of_a_set_names_the_tables_that_use_it(world: World, benchmark: Benchmark, choice: Campaign) -> None:
    row_ = ensure(world.team, "recipe-valueground")
    page = world.client(world.owner).get(f"/teams/nile-lab/targets/{row_.pk}/").content.decode()
    assert "Table 6: Cross-modal reversal by country" in page and "The picture that fits a country" in page


def test_the_set_that_was_asked_about_comes_before_the_recipes(
    world: World, benchmark: Benchmark, choice: Campaign
) -> None:
    lands, _new = create_typed(world.team, "Lands", "Egypt\nPeru", world.owner)
    Unit.objects.filter(target="Egypt").update(label_set=lands)
    assert [each.label for each in table(benchmark, "table-6").rows] == ["Egypt", "Peru", "Brazil"]


def test_one_text_in_two_sets_is_two_countries(world: World, benchmark: Benchmark, choice: Campaign) -> None:
    """Numbers of two units are never put together."""
    lands, _new = create_typed(world.team, "Lands", "Egypt\nPeru", world.owner)
    before = row(table(benchmark, "figure-3"), "Alpha")["Egypt"].estimate
    item = Item.objects.get(stage__key="choice", key="Q1-gemini")
    Unit.objects.filter(item=item, target="Egypt").update(label_set=lands)
    cells = row(table(benchmark, "figure-3"), "Alpha")
    assert before is not None and before.n_units == 4
    counts = {name: cells[name].estimate.n_units for name in ("Egypt", "Egypt (lands@1)")}  # type: ignore[union-attr]
    assert counts == {"Egypt": 3, "Egypt (lands@1)": 1}
