"""3XCM's tables from the database: languages of ranked lists, forced choices, drift, silhouettes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.http import QueryDict

from benchmarks.models import Benchmark
from evaluation.tables.registry import tables_of
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_builder import build_table
from papers.xcm.printed_values import rows
from papers.xcm.tables.trials import SIX, THREE
from people.models import Rater
from predictions.models import Collection
from tests.evaluation import runs
from tests.evaluation.data import NOON
from tests.evaluation.sample_tables import cells, model, of_recipe, table
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
LANGUAGES = ("en", "th", "ja", "sw")


@built_once
def benchmark(world: World) -> Benchmark:
    return of_recipe(world, "3xcm")


def shown_cells(made: Table, label: str, group: str | None = None) -> list[str]:
    return [cell.shown for cell in cells(made, label, group).values()]


def captions(benchmark: Benchmark, world: World) -> None:
    """Three pictures with a caption in each of four languages. In ten places both find en, th and ja three times each,
    sw once; the first its own captions at 2, 3 and 7, the second at 6, 9 and 10."""
    entries = {f"{tongue}{n}": {"language": tongue, "image": f"i{n}"} for tongue in LANGUAGES for n in (1, 2, 3)}
    made = runs.collection(benchmark, entries, "captions")
    of = runs.run(made, model(world.team, "CLIP-L/14", family="Contrastive"))
    first, second = (runs.query(made, f"q{n}", {"image": f"i{n}"}) for n in (1, 2))
    runs.create_ranking(of, first, ["en2", "en1", "th1", "th2", "th3", "ja2", "ja1", "ja3", "en3", "sw2", "sw1", "sw3"])
    runs.create_ranking(
        of, second, ["en1", "en3", "th1", "th3", "ja1", "en2", "ja3", "sw1", "th2", "ja2", "sw2", "sw3"]
    )


def trials(
    collection: Collection,
    rater: Rater,
    roles: Sequence[str],
    rows: Sequence[tuple[str, str, Sequence[float]]],
    query_set: str = "plain",
    **more: Any,
) -> None:
    """Each row: concept, country, similarities by role; candidates are entries of their own, shared by query sets."""
    of = runs.run(collection, rater, "forced_choice", query_set=query_set, **more)
    for number, (concept, country, scores) in enumerate(rows):
        named = {role: f"{role}-{number}" for role in roles}
        about = {"concept": concept, "country": country, "language": {"Japan": "ja", "Thailand": "th"}[country]}
        if query_set.startswith("descriptor"):
            about["descriptor"] = "Kenya"
        asked, _new = collection.queries.get_or_create(query_set=query_set, key=f"t{number}", roles=named, about=about)
        runs.create_ranking(of, asked, list(named.values())[::-1], list(scores)[::-1])  # joined by key, not by place


def three(benchmark: Benchmark, world: World) -> Collection:
    """Japan: correct, correct, biased, and a tie of the two. Thailand: biased and irrelevant, never correct."""
    new_collection = runs.collection(benchmark, {"x": {"country": "Japan", "concept": "train"}})
    rows: list[tuple[str, str, Sequence[float]]] = [
        ("train", "Japan", (0.9, 0.1, 0.2)), ("food", "Japan", (0.5, 0.4, 0.1)), ("bus", "Japan", (0.1, 0.4, 0.2)),
        ("map", "Japan", (0.3, 0.3, 0.2)), ("train", "Thailand", (0.1, 0.3, 0.2)),
        ("food", "Thailand", (0.1, 0.2, 0.3)),
    ]  # fmt: skip
    trials(new_collection, model(world.team, "CLIP-L/14", family="Contrastive"), THREE, rows)
    return new_collection


def store_six_choices(benchmark: Benchmark, world: World) -> Rater:
    """Eight trials with a country's name: 3 correct, 1 object + bias, 2 object, 1 descriptor, 1 bias. The same trials
    without it: everything 0.25."""
    rater = model(world.team, "Jina-E-v4")
    new_collection = runs.collection(benchmark, {"x": {}}, "six")
    winners = (
        ["correct"] * 3
        + ["object_language_biased"]
        + ["object_relevant"] * 2
        + ["descriptor_relevant", "language_biased"]
    )
    rows = [
        ("train" if n < 4 else "food", "Japan" if n % 2 else "Thailand", [0.75 if role == won else 0.5 for role in SIX])
        for n, won in enumerate(winners)
    ]
    trials(new_collection, rater, SIX, rows, "descriptor")
    trials(
        new_collection, rater, SIX, [(concept, country, [0.25] * 6) for concept, country, _scores in rows], "plain six"
    )
    return rater


def test_without_runs_every_table_says_what_to_bring(benchmark: Benchmark) -> None:
    assert len(tables_of(benchmark)) >= 20
    for spec in tables_of(benchmark):
        with pytest.raises(MissingData, match="no predictions"):
            build_table(benchmark, spec, QueryDict(), NOON)


def test_table_1_by_hand(benchmark: Benchmark, world: World) -> None:
    """Acc@5: 1 and 0. LBKL@10 of 3, 3, 3, 1: 3/4 ln(0.25/0.3) + 1/4 ln(0.25/0.1) = 0.0923, for both lists.
    NDCG@10: the discounts of places 2, 3, 7 and of 6, 9, 10 over those of the ideal's 1 to 4."""
    captions(benchmark, world)
    built_table = table(benchmark, "languages")
    of = cells(built_table, "CLIP-L/14")
    assert of["Acc@5"].shown == "0.500" and of["Acc@5"].printed is not None and of["Acc@5"].printed.text == "0.509"
    assert of["LBKL@10"].shown == "0.092"
    ideal = sum(1 / math.log2(rank + 1) for rank in (1, 2, 3, 4))
    first, second = ((sum(1 / math.log2(rank + 1) for rank in ranks)) for ranks in ((2, 3, 7), (6, 9, 10)))
    ndcg = of["NDCG@10"].estimate
    assert ndcg is not None and ndcg.value == pytest.approx((first + second) / 2 / ideal) and ndcg.n_units == 2
    own = sum(1 / math.log2(rank + 1) for rank in (1, 2, 3))
    other = cells(table(benchmark, "languages", "ideal=retrieved"), "CLIP-L/14")["NDCG@10"].estimate
    assert other is not None and other.value == pytest.approx((first + second) / 2 / own)
    # ten places over four languages are at best 3, 3, 2, 2: 1/2 ln(0.25/0.3) + 1/2 ln(0.25/0.2) = 0.0204
    assert cells(built_table, "Floor with 4 languages")["LBKL@10"].shown == "0.020"
    assert cells(built_table, "Floor with 4 languages")["DLBKL@10"].empty


def test_two_languages_are_weighed_by_the_pool(benchmark: Benchmark, world: World) -> None:
    """English is 1/4 of the pool and 3/10 of ten places: 1/4 ln(0.25/0.3) + 3/4 ln(0.75/0.7) = 0.0062."""
    captions(benchmark, world)
    made = table(benchmark, "languages", "languages=two")
    assert cells(made, "CLIP-L/14")["LBKL@10"].shown == "0.006"
    assert [row.label for row in made.rows] == ["CLIP-L/14"]


def test_table_8_says_where_a_list_is_too_short(benchmark: Benchmark, world: World) -> None:
    """Five places en, en, th, th, th leave ja and sw out: 1/4 [ln(.25/.4) + ln(.25/.6)] + 1/2 ln(.25e9) = 9.332; the
    other list's 2, 2, 1 leaves sw out."""
    captions(benchmark, world)
    depth_cells = cells(table(benchmark, "languages-depths"), "CLIP-L/14")
    first = (math.log(0.25 / 0.4) + math.log(0.25 / 0.6) + 2 * math.log(0.25e9)) / 4
    second = (2 * math.log(0.25 / 0.4) + math.log(0.25 / 0.2) + math.log(0.25e9)) / 4
    five = depth_cells["LBKL@5"].estimate
    assert five is not None and five.value == pytest.approx((first + second) / 2)
    for k in (25, 50, 99):
        short = depth_cells[f"LBKL@{k}"].estimate
        assert short is not None and short.reason == "list_too_short" and depth_cells[f"LBKL@{k}"].shown == ""


def test_tiers_by_rank(benchmark: Benchmark, world: World) -> None:
    """English stands at rank 1 of both lists; of twenty places it has six, ja (medium) six, th and sw (low) eight."""
    captions(benchmark, world)
    made = table(benchmark, "languages-tiers")
    assert cells(made, "High")["1"].shown == "100.0"
    assert [cells(made, name)["First ten"].shown for name in ("High", "Medium", "Low")] == ["30.0", "30.0", "40.0"]


def test_figure_8(benchmark: Benchmark, world: World) -> None:
    """Two lists of five out of 36 languages: LBKL 15.508 of both, DLBKL 15.518 and 15.515 (printed 15.514, cut)."""
    codes = [row["code"] for row in rows("table_5")]
    entries = {f"{code}{n}": {"language": code, "image": "arch"} for code in codes for n in "12"}
    new_collection = runs.collection(benchmark, entries, "captions")
    asked = runs.query(new_collection, "c4c286b83715da59", {"image": "arch"})
    for name, keys in (("CLIP", "nl1 nl2 pt1 pt2 fr1"), ("M-CLIP", "da1 sv1 da2 he1 sv2")):
        runs.create_ranking(runs.run(new_collection, model(world.team, name)), asked, keys.split())
    listed = table(benchmark, "languages-list")
    assert {"CLIP: LBKL@5 15.508, DLBKL@5 15.518.", "M-CLIP: LBKL@5 15.508, DLBKL@5 15.515."} <= set(
        map(str, listed.words)
    )
    assert [row.cells[3].text for row in listed.rows] == ["Medium"] * 5 + ["Low"] * 5
    assert [cell.shown for cell in listed.rows[0].cells[:3]] == ["1.0000", "yes", "nl"]
    assert cells(table(benchmark, "languages-depths"), "CLIP")["LBKL@5"].shown == "15.508"
    assert cells(table(benchmark, "languages-depths"), "Floor with 36 languages")["LBKL@5"].shown == "14.485"
    with pytest.raises(MissingData, match="this query"):
        table(benchmark, "languages-list", "query=other")


def test_a_pool_that_names_no_language_and_a_query_without_an_image(benchmark: Benchmark, world: World) -> None:
    made = runs.collection(benchmark, {f"c{n:02}": {} for n in range(12)})
    of = runs.run(made, model(world.team, "M"))
    runs.create_ranking(of, runs.query(made, "q", {}), [f"c{n:02}" for n in range(12)])
    shown_cells = cells(table(benchmark, "languages"), "M")
    assert {name: cell.estimate.reason for name, cell in shown_cells.items() if cell.estimate} == {
        "Acc@5": "no_relevant", "LBKL@10": "unknown_labels", "DLBKL@10": "unknown_labels", "NDCG@10": "no_relevant",
    }  # fmt: skip


def test_table_2_by_hand_and_by_its_options(benchmark: Benchmark, world: World) -> None:
    """Six trials: 3 correct (the tie among them), 2 biased, 1 irrelevant; SP 2/3. Ties to both: 3 biased, SP 1. The
    mean of Japan's 3/4 and Thailand's 0 is 37.5 %."""
    three(benchmark, world)
    built_table = table(benchmark, "association")
    assert shown_cells(built_table, "CLIP-L/14") == ["50.00", "33.33", "16.67", "0.67"]
    assert shown_cells(table(benchmark, "association", "ties=every"), "CLIP-L/14") == [
        "50.00",
        "50.00",
        "16.67",
        "1.00",
    ]
    averaged = table(benchmark, "association", "pooling=countries")
    assert shown_cells(averaged, "CLIP-L/14") == ["37.50", "37.50", "25.00", "0.67"]  # SP stays pooled
    rate = cells(built_table, "CLIP-L/14")["Correct"].estimate
    assert rate is not None and rate.n_units == 6 and rate.extras["n_clusters"] == 6
    assert rate.low is not None and rate.resampled == "clusters of units"
    assert cells(built_table, "CLIP-L/14")["SP"].printed.text == "0.80"  # type: ignore[union-attr]


def test_self_preference_of_a_country_is_undefined_where_the_model_is_never_right(
    benchmark: Benchmark, world: World
) -> None:
    three(benchmark, world)
    built_table = table(benchmark, "association-countries")
    assert built_table.columns == ("JP", "TH")
    assert shown_cells(built_table, "SP") == ["0.33", ""]
    thai = cells(built_table, "SP")["TH"].estimate
    assert thai is not None and thai.reason == "never_correct" and thai.extras["m_lb"] == 0.5
    assert shown_cells(built_table, "Correct") == ["75.00", "0.00"]  # M_cr stands beside SP
    wins = table(benchmark, "wins-countries")
    assert shown_cells(wins, "Irrelevant", "CLIP-L/14") == ["0.00", "50.00"]
    assert cells(wins, "Irrelevant")["TH"].printed.text == "4.78"  # type: ignore[union-attr]


def test_silhouettes_are_shown_and_correlate(benchmark: Benchmark, world: World) -> None:
    """Texts of two languages at right angles are perfectly apart: 1 for both. With two countries there is no r."""
    new_collection = three(benchmark, world)
    texts = runs.collection(
        benchmark, {f"{t}{n}": {"language": t, "concept": str(n)} for t in ("ja", "th") for n in range(2)}, "texts"
    )
    of = runs.run(texts, Rater.objects.get(name="CLIP-L/14"), "embedding")
    runs.vectors(of, {f"{t}{n}": (1.0, 0.0) if t == "ja" else (0.0, 1.0) for t in ("ja", "th") for n in range(2)})
    by_country = table(benchmark, "association-countries")
    assert shown_cells(by_country, "Text silhouette") == ["1.00", "1.00"]
    assert "Image silhouette" not in [row.label for row in by_country.rows if any(not c.empty for c in row.cells)]
    r = cells(table(benchmark, "silhouettes"), "CLIP-L/14")["SP and text silhouette"].estimate
    assert r is not None and r.value is None and r.reason == "too_few_points"
    assert new_collection.entries.count() == 1


def test_picking_at_random(benchmark: Benchmark, world: World) -> None:
    three(benchmark, world)
    made = table(benchmark, "baseline")
    assert len(made.rows) == 10 and made.rows == table(benchmark, "baseline").rows  # seeded
    assert all(sum(float(cell.shown) for cell in row.cells[:3]) == pytest.approx(100, abs=0.02) for row in made.rows)


def test_other_query_sets_and_prompts_stand_in_their_own_tables(benchmark: Benchmark, world: World) -> None:
    new_collection = three(benchmark, world)
    rater = Rater.objects.get(name="CLIP-L/14")
    with pytest.raises(MissingData, match="one query set"):
        table(benchmark, "query-sets")
    trials(new_collection, rater, THREE, [("train", "Japan", (0.1, 0.9, 0.2))], "casual")
    trials(new_collection, rater, THREE, [("train", "Japan", (0.1, 0.2, 0.9))], "plain", system_prompt="semantics")
    association = table(benchmark, "association")
    assert [row.label for row in association.rows] == ["CLIP-L/14"]
    assert [(run.query_set, run.system_prompt) for run in association.runs] == [("plain", "")], "what was counted"
    sets = table(benchmark, "query-sets")
    assert cells(sets, "casual")["Language-biased"].shown == "100.00" and cells(sets, "casual")["Object relevant"].empty
    prompts = table(benchmark, "prompts")
    assert cells(prompts, "semantics")["Irrelevant"].shown == "100.00"


def test_six_ways_and_the_tests_between_them(benchmark: Benchmark, world: World) -> None:
    """Of eight: 37.5, 12.5, 25, 12.5, 12.5, 0 %. Object 2 against object + bias 1: Diff 0.125, chi-square 1/3, p 0.564;
    descriptor 1 against bias 1: Diff 0, p 1."""
    store_six_choices(benchmark, world)
    assert shown_cells(table(benchmark, "descriptor"), "Jina-E-v4") == [
        "37.50",
        "12.50",
        "25.00",
        "12.50",
        "12.50",
        "0.00",
    ]
    tests = table(benchmark, "tests")
    assert [str(column) for column in tests.columns[2:4]] == ["Diff", "p"]
    row = [cell.shown for cell in tests.rows[0].cells]
    assert row == ["0.250", "0.125", "0.125", "0.564", "0.125", "0.125", "0.000", "1.000"]
    corrected = table(benchmark, "tests", "correction=holm").rows[0].cells[3].estimate
    assert (
        corrected is not None
        and corrected.value == 1
        and corrected.extras["uncorrected"] == pytest.approx(0.5637, abs=1e-4)
    )
    by_clusters = table(benchmark, "tests", "p=clusters")
    p = by_clusters.rows[0].cells[3].estimate
    assert (
        p is not None and p.value == 1 and p.extras["test"] == "by clusters"
    )  # 1 + 1 less 1: +1, +1, -1 of 8 patterns
    assert any("sign" in str(line) for line in by_clusters.words)
    assert any("trials as independent" in str(line) for line in tests.words)
    by_country = table(benchmark, "tests-language")
    assert shown_cells(by_country, "Diff") == ["0.00", "0.25"]  # Japan 1 and 1; Thailand 1 and none of 4
    assert shown_cells(by_country, "p") == ["1.00", "0.32"]
    none = cells(table(benchmark, "tests-descriptor"), "p")
    assert [cell.shown for cell in none.values()] == ["0.32", "0.32"]
    assert [str(one) for one in table(benchmark, "descriptor-countries").columns] == ["JP", "TH"]


def test_drift_joins_the_same_trial_and_the_same_candidate(benchmark: Benchmark, world: World) -> None:
    """Correct: 0.75 - 0.25 in three trials, 0.5 - 0.25 in five: (1.5 + 1.25) / 8 = 0.34375. Japan has trials 1, 3, 5
    and 7, of which 1 is correct: (0.5 + 3 x 0.25) / 4 = 0.3125. A plain trial with another candidate is left out."""
    store_six_choices(benchmark, world)
    assert cells(table(benchmark, "drift-candidates"), "Jina-E-v4")["Correct"].shown == "34.38"
    assert cells(table(benchmark, "drift"), "Jina-E-v4")["JP"].shown == "31.25"
    concepts = table(benchmark, "drift-concepts")
    assert [(row.label, row.cells[0].shown) for row in concepts.rows] == [("train", "0.4375"), ("food", "0.2500")]
    made = Collection.objects.get(key="six")
    other = made.queries.get(query_set="plain six", key="t1")
    made.queries.filter(pk=other.pk).update(roles={**other.roles, "correct": "another"})
    scored = other.rankings.get()
    scored.keys = ["another" if key == "correct-1" else key for key in scored.keys]
    scored.save()
    drift = cells(table(benchmark, "drift"), "Jina-E-v4")["JP"].estimate
    assert drift is not None and drift.n_units == 3 and drift.value == pytest.approx(0.25)


def test_drift_needs_both_runs_and_six_needs_six(benchmark: Benchmark, world: World) -> None:
    three(benchmark, world)
    for key in ("descriptor", "tests", "drift"):
        with pytest.raises(MissingData, match="six"):
            table(benchmark, key)


def test_what_was_collected_is_counted_by_code(benchmark: Benchmark, world: World) -> None:
    entries: dict[str, Mapping[str, Any]] = {"a": {"country": "USA", "concept": "train"}, "b": {"country": "us"}}
    made = runs.collection(benchmark, entries)
    trials(made, model(world.team, "M"), THREE, [("train", "Japan", (0.1, 0.2, 0.3))])
    counted = cells(table(benchmark, "images-countries"), "US")["Images"]
    assert counted.shown == "2" and counted.printed is not None and counted.printed.text == "609"
    assert shown_cells(table(benchmark, "images-concepts"), "train") == ["1"]
