"""What follows from ValueGround's own printed numbers, and what does not: the paper against itself.

What differs by more than rounding allows is in DISCREPANCIES, and told beside the cell it concerns.
"""

from itertools import pairwise

import numpy as np
import pytest

from papers.valueground.metrics import equal_frequency
from papers.valueground.printed_values import rows
from papers.valueground.survey_labels import Pair, label
from papers.valueground.tables.accuracy import CONTRADICTS

HALF = 0.05 + 1e-9  # a percentage with one decimal was rounded by at most this
DISCREPANCIES = {
    "Table 2 against Tables 5 and 8": "Main less text-only is -10.2 on average by Table 2, and -12.0 by the others.",
}


def column(table: str, name: str) -> dict[str, float]:
    key = next(iter(rows(table)[0]))
    return {row[key]: float(row[name]) for row in rows(table)}


@pytest.mark.parametrize("table", ["table_5", "table_6"])
def test_harmful_and_beneficial_add_up_to_reversal(table: str) -> None:
    total, harmful, beneficial = (column(table, name) for name in ("reversal", "harmful", "beneficial"))
    for name, value in total.items():
        assert value == pytest.approx(harmful[name] + beneficial[name], abs=3 * HALF), name
        assert harmful[name] > beneficial[name]


def test_the_instances_of_tables_5_and_7_are_the_same() -> None:
    # 13 countries x 224 questions = 2,912 pairs, 47 of them without a label; two sources; six models.
    assert 13 * 224 - 2865 == 47
    assert 2865 * 2 == 5730
    assert 573 * 5 == 2865
    assert 573 * 2 * 6 == 6876
    # So each bin has as many observations as the next, and the mean of Table 7 is the mean of Table 5.
    by_model, by_bin = column("table_5", "reversal"), column("table_7", "reversal")
    assert np.mean(list(by_bin.values())) == pytest.approx(np.mean(list(by_model.values())), abs=2 * HALF)
    by_country = column("table_6", "reversal")
    assert np.mean(list(by_country.values())) == pytest.approx(np.mean(list(by_model.values())), abs=0.1)


def counts_of(rate: float, n: int = 5730) -> list[int]:
    return [k for k in range(int((rate - 1) * n / 100), int((rate + 1) * n / 100)) if round(100 * k / n, 1) == rate]


def test_each_row_of_table_5_can_be_counted_in_5730_instances() -> None:
    # Qwen's 21.2 + 8.6 is not 29.7; 1,210 + 493 = 1,703 of 5,730 are, each after rounding.
    for row in rows("table_5"):
        total, harmful, beneficial = (counts_of(float(row[name])) for name in ("reversal", "harmful", "beneficial"))
        assert {h + b for h in harmful for b in beneficial} & set(total), row


def test_table_8_agrees_with_table_5() -> None:
    harmful, beneficial = (column("table_5", name) for name in ("harmful", "beneficial"))
    printed = column("table_8", "difference")
    pooled = printed.pop("Pooled")
    for model, value in printed.items():
        # The one over countries, the other over instances; a country has 220 of 224 questions or so.
        assert value == pytest.approx(beneficial[model] - harmful[model], abs=0.2), model
    assert pooled == pytest.approx(np.mean(list(printed.values())), abs=2 * HALF)


def test_table_2_contradicts_table_8_and_so_table_5() -> None:
    main, text = column("table_2", "main"), column("table_2", "text_only")
    other = column("table_8", "difference")
    off = {model: round(main[model] - text[model] - other[model], 1) for model in other if model in main}
    assert off == {
        "Qwen3-VL-32B": 2.2, "Mistral-3.2-24B": 1.8, "Gemma-3-27B": 1.3, "Claude Haiku 4.5": 0.8, "GPT-5.4 mini": 2.0,
        "Gemini 3 Flash": 2.5,
    }  # fmt: skip
    assert main["Avg."] - text["Avg."] == pytest.approx(-10.2)
    assert list(DISCREPANCIES) == ["Table 2 against Tables 5 and 8"]
    assert "Table 8" in str(CONTRADICTS)


def test_the_averages_of_table_2_follow_from_its_rows() -> None:
    for name in ("main", "text_only", "alignment", "main_aligned", "text_aligned"):
        values = column("table_2", name)
        average = values.pop("Avg.")
        assert average == pytest.approx(np.mean(list(values.values())), abs=2 * HALF), name


def test_the_differences_of_table_2_follow_but_for_two() -> None:
    aligned, text = column("table_2", "main_aligned"), column("table_2", "text_aligned")
    printed = column("table_2", "difference")
    off = {model for model in printed if round(aligned[model] - text[model], 1) != printed[model]}
    assert off == {"Mistral-3.2-24B", "GPT-5.4 mini"}
    assert all(printed[m] == pytest.approx(aligned[m] - text[m], abs=3 * HALF) for m in off)  # rounding could do it
    values = [value for model, value in printed.items() if model != "Avg."]
    assert np.mean(values) == pytest.approx(printed["Avg."], abs=2 * HALF)


def test_the_averages_that_the_text_gives_by_country_fit_the_overall_one() -> None:
    accuracy_by_country = {row["country"]: float(row["accuracy"]) for row in rows("figure_3") if row["model"] == "Avg."}
    assert max(accuracy_by_country.values()) - min(accuracy_by_country.values()) == pytest.approx(10.7)
    # Nine countries are named; the other four lie between, so the mean of all can be 62.6.
    rest = (13 * 62.6 - sum(accuracy_by_country.values())) / 4
    assert min(accuracy_by_country.values()) < rest < 67.2
    main = column("table_2", "main")
    assert main["Gemini 3 Flash"] - main["Claude Haiku 4.5"] == pytest.approx(13.5)


def test_the_medians_of_table_8_are_those_of_the_text() -> None:
    for name, median in (("pearson", 0.869), ("spearman", 0.818)):
        values = column("table_8", name)
        values.pop("Pooled")
        assert np.median(list(values.values())) == pytest.approx(median, abs=0.0005 + 1e-9)


def test_a_spearman_of_thirteen_untied_countries_is_a_multiple_of_one_182th() -> None:
    # rho = 1 - 6 D / (13 x 168) with D even: steps of 12 / 2184 = 1 / 182. Two rows need countries of equal accuracy.
    tied = set()
    for model, value in column("table_8", "spearman").items():
        if model != "Pooled" and round(round(value * 182) / 182, 3) != value:
            tied.add(model)
    assert tied == {"Qwen3-VL-32B", "Gemini 3 Flash"}


@pytest.mark.parametrize("row", rows("table_1"), ids=lambda row: f"{row['backbone']} {row['configuration']}")
def test_the_totals_of_table_1_follow_from_the_means(row: dict[str, str]) -> None:
    a, b, match, cue, total = (float(row[n]) for n in ("match_a", "match_b", "pair_match", "no_cue", "total"))
    assert total == pytest.approx((a / 2 + b / 2 + match / 2 + cue) / 4, abs=0.0005 + 0.0005 * 2.5 / 4)


def test_the_ranges_of_table_7_are_those_of_bins_by_quantile() -> None:
    edges = [(float(row["from"]), float(row["to"])) for row in rows("table_7")]
    assert all(one[1] == other[0] for one, other in pairwise(edges))
    assert all(row["range"] == f"[{row['from']}, {row['to']}" + (")" if n < 4 else "]")
               for n, row in enumerate(rows("table_7")))  # fmt: skip
    assert edges[-1][1] <= 0.5
    assert equal_frequency(np.linspace(0, 0.497, 2865), 5).sizes.tolist() == [573] * 5


def test_the_formula_of_the_label_is_that_of_the_nearer_option() -> None:
    # Equations 9 and 10: 40 of 100 chose 1, 60 chose 2: mean 1.6, nearer to 2, so B; the reverse A; 50 and 50 a tie.
    pair = Pair(1, 2, "metadata")
    assert [label({1: n, 2: 100 - n}, pair).side for n in (40, 60, 50)] == ["b", "a", None]
    assert label({1: 40, 2: 60}, pair).margin == pytest.approx(0.1)
