"""GlobalRG's tables from the database: retrieval."""

from collections import Counter
from typing import Any

import pytest
from django.http import QueryDict

from benchmarks.models import Benchmark
from evaluation.tables.registry import tables_of
from evaluation.tables.table import MissingData
from evaluation.tables.table_builder import build_table
from evaluation.tables.table_inputs import InvalidOption
from papers.globalrg.printed_values import rows as printed_rows
from papers.globalrg.recipe import UNIVERSALS
from papers.globalrg.tables import retrieval as globalrg
from tests.evaluation import runs
from tests.evaluation.data import NOON
from tests.evaluation.sample_tables import cells, model, of_recipe, table
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db


@built_once
def benchmark(world: World) -> Benchmark:
    return of_recipe(world, "globalrg-retrieval")


def a_small_set(benchmark: Benchmark, world: World, **about: Any) -> None:
    """Ten pictures: six of dance (Italy, and "us"), four of music (Japan, and "srilanka" under two names)."""
    entries = {f"d{n}": {"country": "Italy", "universal": "dance", "region": "A"} for n in range(5)}
    entries |= {"d5": {"country": "us", "universal": "dance", "region": "B"}}
    entries |= {f"m{n}": {"country": "Japan", "universal": "music", "region": "A"} for n in range(2)}
    entries |= {
        f"m{n}": {"country": c, "universal": "music", "region": "A"} for n, c in ((2, "srilanka"), (3, "Sri Lanka"))
    }
    new_collection = runs.collection(benchmark, entries)
    of = runs.run(new_collection, model(world.team, "Alpha", family="Dual encoder", **about))
    runs.create_ranking(
        of,
        runs.query(new_collection, "q1", {"universal": "dance"}),
        ["d0", "d1", "m2", "m3", "d5", "m0", "m1", "d2", "d3", "d4"],
    )
    runs.create_ranking(
        of,
        runs.query(new_collection, "q2", {"universal": "music"}),
        ["m0", "m1", "m2", "m3", "d0", "d1", "d2", "d3", "d4", "d5"],
    )


def test_without_runs_the_table_says_what_to_bring(benchmark: Benchmark) -> None:
    for spec in tables_of(benchmark):
        with pytest.raises(MissingData, match="no predictions"):
            build_table(benchmark, spec, QueryDict(), NOON)


def test_relevance_and_diversity_by_hand(benchmark: Benchmark, world: World) -> None:
    """Dance: right at 1, 2 and 5: 60 % of five; of ten 6. Its countries IT 2, LK 2, US 1: 1.0549 / ln 5 = 65.55 %.
    Music: right at 1 to 4: 80 % of five, 40 % of ten. JP 2, LK 2, IT 1: the same 65.55 %."""
    a_small_set(benchmark, world)
    made = table(benchmark, "retrieval")
    of = cells(made, "Alpha")
    assert made.rows[0].group == "Dual encoder"
    assert of["Precision@5"].shown == "70.0"
    assert of["Precision@10"].shown == "50.0"
    assert of["Country diversity@5"].shown == "65.54"  # 65.548, cut as in the paper
    first = of["Precision@5"].estimate
    assert first is not None and first.n_units == 2 and first.interval_reason == "too_few_clusters_for_interval"
    by_universal = table(benchmark, "retrieval-universals")
    assert by_universal.columns == ("dance", "music")
    assert cells(by_universal, "Alpha", "Precision@5")["dance"].shown == "60.00"
    assert cells(by_universal, "Alpha", "Precision@5")["music"].shown == "80.00"
    assert cells(by_universal, "Alpha", "Country diversity@5")["music"].shown == "65.55"


def test_regions_come_from_the_versioned_table_or_as_stored(benchmark: Benchmark, world: World) -> None:
    """Dance, first five: Europe 2, South Asia 2, North America 1, or A 4 and B 1: 0.5004 / ln 5 = 31.09 %."""
    a_small_set(benchmark, world)
    derived = table(benchmark, "retrieval-universals")
    stored = table(benchmark, "retrieval-universals", "regions=given")
    assert cells(derived, "Alpha", "Region diversity@5")["dance"].shown == "65.55"
    assert cells(stored, "Alpha", "Region diversity@5")["dance"].shown == "31.09"
    assert any("as stored" in str(words) for words in stored.words)
    # ln m with two regions: 0.5004 / ln 2
    other = table(benchmark, "retrieval-universals", "regions=given&normaliser=ln_m")
    assert cells(other, "Alpha", "Region diversity@5")["dance"].shown == "72.19"
    lone = cells(other, "Alpha", "Region diversity@5")["music"].estimate
    assert lone is not None and lone.value is None and lone.reason == "unknown_labels"
    with pytest.raises(InvalidOption, match="ln_k"):
        table(benchmark, "retrieval", "normaliser=ln_n")


def test_the_first_ten_are_listed_with_what_the_paper_spells_otherwise(benchmark: Benchmark, world: World) -> None:
    a_small_set(benchmark, world)
    built_table = table(benchmark, "first-countries")
    assert [cells(built_table, str(rank), "Alpha")["dance"].text for rank in (1, 3, 4, 5)] == [
        "Italy",
        "srilanka",
        "Sri Lanka",
        "us",
    ]
    built_table = table(benchmark, "first-regions")
    assert [cells(built_table, str(rank), "Alpha")["dance"].text for rank in (1, 3, 5)] == [
        "Europe",
        "South Asia",
        "North America",
    ]


def test_what_is_not_known_is_undefined_with_its_reason(benchmark: Benchmark, world: World) -> None:
    """Nobody said what is right, one picture has no country, one list is too short for ten: never 0, never a crash."""
    new_collection = runs.collection(
        benchmark, {**{f"a{n}": {"country": "Italy"} for n in range(5)}, "b": {}, "c": {"country": "X"}}
    )
    of = runs.run(new_collection, model(world.team, "Beta"))
    runs.create_ranking(of, runs.query(new_collection, "q1", {"universal": "dance"}), ["a0", "a1", "b", "c", "a2"])
    shown = cells(table(benchmark, "retrieval"), "Beta")
    assert {name: cell.estimate.reason for name, cell in shown.items() if cell.estimate} == {
        "Precision@5": "no_relevant",
        "Precision@10": "list_too_short",
        "Country diversity@5": "unknown_labels",
        "Country diversity@10": "list_too_short",
        "Region diversity@5": "unknown_labels",
        "Region diversity@10": "list_too_short",
    }
    assert all(cell.shown == "" for cell in shown.values())


def test_keys_named_as_relevant_go_before_the_label_and_ties_go_by_key(benchmark: Benchmark, world: World) -> None:
    """All five scores alike: the order is a, b, c, d, e, whatever the file says; of these b and d are right."""
    countries = {"a": "Italy", "b": "Ghana", "c": "Peru", "d": "Japan", "e": "Fiji"}
    new_collection = runs.collection(
        benchmark, {key: {"country": one, "universal": "dance"} for key, one in countries.items()}
    )
    of = runs.run(new_collection, model(world.team, "Gamma"))
    runs.create_ranking(
        of, runs.query(new_collection, "q", {"universal": "dance"}, relevant=["b", "d"]), list("edcba"), [0.5] * 5
    )
    assert cells(table(benchmark, "retrieval"), "Gamma")["Precision@5"].shown == "40.0"
    listed = table(benchmark, "first-countries")
    assert [cells(listed, str(rank), "Gamma")["dance"].text for rank in range(1, 6)] == list(countries.values())
    assert cells(listed, "6", "Gamma")["dance"].empty


def test_runs_of_one_model_are_told_apart_and_incomplete_ones_left_out(benchmark: Benchmark, world: World) -> None:
    new_collection = runs.collection(benchmark, {key: {"country": "Italy", "universal": "dance"} for key in "abcde"})
    asked = runs.query(new_collection, "q", {"universal": "dance"})
    rater = model(world.team, "Delta")
    for query_set, more in (("", {}), ("casual", {}), ("late", {"complete": False}), ("gone", {"withdrawn_at": NOON})):
        runs.create_ranking(runs.run(new_collection, rater, query_set=query_set, **more), asked, list("abcde"))
    assert [row.label for row in table(benchmark, "retrieval").rows] == ["Delta (-)", "Delta (casual)"]


def test_the_papers_own_lists_give_the_papers_tables(benchmark: Benchmark, world: World) -> None:
    """Tables 8-9 as runs: every diversity of Tables 6-7 comes out as printed but for ALBEF and CLIP's misprint."""
    printed = printed_rows("tables_8_9")
    models = list(dict.fromkeys(row["model"] for row in printed))
    entries = {f"{row['model']}/{u}/{row['rank']}": {"country": row[u]} for row in printed for u in UNIVERSALS}
    new_collection = runs.collection(benchmark, entries)
    asked = {u: runs.query(new_collection, u, {"universal": u}) for u in UNIVERSALS}
    for name in models:
        of = runs.run(new_collection, model(world.team, name))
        for universal in UNIVERSALS:
            runs.create_ranking(of, asked[universal], [f"{name}/{universal}/{rank}" for rank in range(1, 11)])
    by_universal = table(benchmark, "retrieval-universals")
    diversity = [row for row in by_universal.rows if "diversity" in row.group]
    assert len(diversity) == 28 and all(len(row.cells) == 20 for row in diversity)
    marks = [
        (row.group, row.label, u, cell) for row in diversity for u, cell in zip(UNIVERSALS, row.cells, strict=True)
    ]
    differing = [one for one in marks if one[3].mark != "same" and one[1] != "ALBEF"]
    assert [one[:3] for one in differing] == [("Region diversity@5", "CLIP", "marriage")]
    assert differing[0][3].shown == "31.09" and "31.09" in str(differing[0][3].printed.known)  # type: ignore[union-attr]
    means = table(benchmark, "retrieval")
    clip = cells(means, "CLIP")
    assert clip["Region diversity@5"].mark == "same" and clip["Region diversity@5"].shown == "66.71"
    marks_of = {name: [cell.mark for cell in cells(means, name).values()][2:] for name in models}
    assert marks_of.pop("ALBEF") == ["differs"] * 4
    # the paper cut means of rounded numbers: 93.9705 of the lists, 93.9695 of Table 6-7's row, printed 93.96
    assert {(name, n): mark for name, marks in marks_of.items() for n, mark in enumerate(marks) if mark != "same"} == {
        ("CLIP", 0): "differs", ("FLAVA", 0): "differs", ("TCL", 1): "rounding", ("TCL", 3): "rounding",
    }  # fmt: skip
    listed = table(benchmark, "first-regions")
    assert {cell.mark for row in listed.rows for cell in row.cells} == {"same"}


def test_what_is_known_of_the_models(benchmark: Benchmark, world: World) -> None:
    a_small_set(benchmark, world, training_data="LAION-2B", open=True)
    built_table = table(benchmark, "models")
    assert {name: cell.text for name, cell in cells(built_table, "Alpha").items()} == {
        "Open": "yes",
        "Training data": "LAION-2B",
        "Collections": "set@1",
    }
    assert built_table.rows[0].group == "Dual encoder"


def test_each_universal_costs_its_own_list_and_not_the_whole_collection(
    benchmark: Benchmark, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,500 universals over 2,500 pictures took minutes when every cell went through all of both."""
    new_collection = runs.collection(
        benchmark, {f"e{n}": {"country": "Japan", "universal": f"u{n}"} for n in range(60)}
    )
    of = runs.run(new_collection, model(world.team, "Alpha"))
    for n in range(40):
        runs.create_ranking(
            of, runs.query(new_collection, f"q{n:02}", {"universal": f"u{n}"}), [f"e{k}" for k in range(10)]
        )
    counts = Counter[str]()
    for name in ("relevant_of", "universal_of", "_region"):
        count_calls(monkeypatch, globalrg, name, counts)
    built = table(benchmark, "retrieval-universals")
    assert len(built.columns) == 40 and built.rows[1].cells[0].shown == "20.00"
    assert counts["relevant_of"] == 1
    assert counts["universal_of"] == 2 * 40
    assert counts["_region"] <= 40 * (5 + 10) * 2


def count_calls(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, counts: Counter[str]) -> None:
    real = getattr(module, name)

    def counting(*args: Any, **more: Any) -> Any:
        counts[name] += 1
        return real(*args, **more)

    monkeypatch.setattr(module, name, counting)


def test_a_table_of_more_cells_than_it_can_have_says_so(
    benchmark: Benchmark, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two universals: 12 numbers of one run, and 20 names."""
    a_small_set(benchmark, world)
    monkeypatch.setattr(globalrg, "MOST_CELLS", 12)
    table(benchmark, "retrieval-universals")
    with pytest.raises(MissingData, match="20 cells; 12 are the most"):
        table(benchmark, "first-countries")
    monkeypatch.setattr(globalrg, "MOST_CELLS", 11)
    with pytest.raises(MissingData, match="12 cells; 11 are the most"):
        table(benchmark, "retrieval-universals")
