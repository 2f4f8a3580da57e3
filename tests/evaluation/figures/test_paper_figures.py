"""Figures of the papers' recipes: boxes worst first, strips of what was found, forced choices, languages by rank."""

import csv
import io
import re

import pytest

from benchmarks.models import Benchmark, Item
from evaluation.figures.figure_builder import build_figure, figure_data
from evaluation.figures.registry import figure_of
from evaluation.tables.table import MissingData
from tests.evaluation.data import NOON
from tests.evaluation.figures.study import boxes, read
from tests.evaluation.runs import collection, create_ranking, query, run
from tests.evaluation.sample_tables import model
from tests.module_world import built_once
from tests.personas import World


def of_recipe(world: World, recipe: str) -> Benchmark:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe=recipe)
    world.benchmark.refresh_from_db()
    return world.benchmark


def rows_of(world: World, key: str, query_: str = "") -> list[dict[str, str]]:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/figures/{key}.csv{query_}")
    assert reply.status_code == 200, reply.content
    return list(csv.DictReader(io.StringIO(reply.content.decode("utf-8-sig"))))


def svg_of(world: World, key: str) -> str:
    return world.client(world.mara).get(f"/b/{world.benchmark.slug}/figures/{key}.svg").content.decode()


# Forced choices


def trials(world: World) -> None:
    benchmark = of_recipe(world, "3xcm")
    new_collection = collection(benchmark, {name: {} for name in ("a", "b", "c")})
    roles = {"correct": "a", "language_biased": "b", "irrelevant": "c"}
    clip, sig = model(world.team, "CLIP"), model(world.team, "SigLIP")
    runs = [run(new_collection, clip, "forced_choice"), run(new_collection, sig, "forced_choice")]
    best = "aaabbbca"  # Egypt: 3 correct, 1 biased; Brazil: 2 biased, 1 irrelevant, 1 correct
    for number, winner in enumerate(best):
        country = "Egypt" if number < 4 else "Brazil"
        asked = query(new_collection, f"q{number}", {"concept": "train", "country": country}, roles=roles)
        create_ranking(runs[0], asked, "abc", [1.0 if key == winner else 0.5 for key in "abc"])
        create_ranking(runs[1], asked, "abc", [1.0, 0.5, 0.2])


def test_wins_are_counted_pooled_and_by_country(world: World) -> None:
    trials(world)
    rows = rows_of(world, "wins")
    shares = {(row["run"], row["country of the query"], row["candidate"]): row["share"] for row in rows}
    assert shares["CLIP", "All countries", "correct"] == "0.5"
    assert shares["CLIP", "EG", "correct"] == "0.75"
    assert shares["CLIP", "BR", "language-biased"] == "0.5"
    assert shares["SigLIP", "All countries", "correct"] == "1.0"
    assert ("SigLIP", "EG", "correct") not in shares
    svg = svg_of(world, "wins")
    assert "EG, correct: 75.0 %" in svg
    assert "correct 50.0 %, language-biased 37.5 %, irrelevant 12.5 %" in svg
    assert ("SigLIP", "EG") in {
        (row["run"], row["country of the query"]) for row in rows_of(world, "wins", "?run=SigLIP")
    }
    page = read(world, f"/b/{world.benchmark.slug}/figures/")
    assert '<a href="?run=SigLIP#wins">' in page
    assert "No run has answered trials with these candidates." in page  # of six


# Ranked lists


def test_languages_by_rank_are_shares_of_lists(world: World) -> None:
    benchmark = of_recipe(world, "3xcm")
    about = {"e1": "en", "e2": "en", "j1": "ja", "k1": "ko", "x1": "xx"}  # xx is in no tier
    new_collection = collection(benchmark, {key: {"language": language} for key, language in about.items()})
    clip = run(new_collection, model(world.team, "CLIP"))
    for number, keys in enumerate((["e1", "j1", "k1"], ["e2", "k1", "x1"])):
        create_ranking(clip, query(new_collection, f"q{number}", {}), keys)
    rows = rows_of(world, "ranks")
    assert [(row["rank"], row["High"], row["Medium"], row["Low"]) for row in rows] == [
        ("1", "1.0", "0.0", "0.0"), ("2", "0.0", "0.5", "0.5"), ("3", "0.0", "0.0", "1.0"),
    ]  # fmt: skip
    assert "High 100 %" in svg_of(world, "ranks")


def test_strips_show_the_first_five_with_country_score_and_diversity(world: World) -> None:
    benchmark = of_recipe(world, "globalrg-retrieval")
    item = world.add_items(1, images=True)[0]
    countries = ["Egypt", "Egypt", "Brazil", "Japan", "Ruritania", "Kenya"]
    keys = [item.key, *(f"p{n}" for n in range(5))]
    about = {
        key: {"country": c, "universal": "wedding" if n < 3 else "dance"}
        | ({"region": "Africa"} if c == "Egypt" else {})
        for n, (key, c) in enumerate(zip(keys, countries, strict=True))
    }
    new_collection = collection(benchmark, about)
    clip = run(new_collection, model(world.team, "CLIP"))
    create_ranking(clip, query(new_collection, "q1", {"universal": "wedding"}), keys, [0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    create_ranking(
        clip, query(new_collection, "q0", {"universal": "dance"}), keys[::-1], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    )
    rows = rows_of(world, "strips", "?universal=wedding")
    assert [row["country"] for row in rows] == countries[:5]
    assert [row["right"] for row in rows] == ["yes", "yes", "yes", "no", "no"]
    assert [row["region"] for row in rows] == ["Middle East Asia", "Middle East Asia", "Latin America", "East Asia", ""]
    assert rows_of(world, "strips")[0]["query"] == "dance"  # the first by name
    svg = world.client(world.mara).get(f"/b/{benchmark.slug}/figures/strips.svg?universal=wedding").content.decode()
    # Four countries, one of them twice: -(0.4 ln 0.4 + 3 x 0.2 ln 0.2) / ln 5 = 1.3322 / 1.6094
    assert "of countries 82.77" in svg
    assert "precision@5 60 %" in svg
    assert svg.count("data:image/webp;base64,") == 1  # the one picture that is here, inside the file
    page = read(world, f"/b/{benchmark.slug}/figures/?universal=wedding")
    # the paper's list of regions goes before the collection's own, and the figure says where they part
    assert "\u2068Egypt\u2069: \u2068Middle East Asia\u2069 here, \u2068Africa\u2069 in the collection." in page
    assert "\u2068Japan\u2069:" not in page.partition("What was counted.")[2]
    wrong = world.client(world.mara).get(f"/b/{benchmark.slug}/figures/strips.svg?universal=zz")
    assert (wrong.status_code, wrong.json()["parameter"]) == (400, "universal")
    assert "data:image" not in page
    assert len(re.findall(r'<image [^>]*href="/image/', page)) == 2  # wide and narrow


# Boxes


@built_once
def boxed(world: World) -> list[Item]:
    of_recipe(world, "globalrg-grounding")
    return boxes(world)


def test_boxes_come_least_overlap_first_each_with_its_iou(world: World, boxed: list[Item]) -> None:
    rows = rows_of(world, "overlays")
    assert [(row["item"], row["other box by"], round(float(row["IoU"]), 4)) for row in rows] == [
        ("drum-1", "Lens", 0.3333), ("drum-0", "Lens", 1.0),
    ]  # fmt: skip
    assert rows[0]["first box by"] != "Nour"
    svg = svg_of(world, "overlays")
    assert "Lens: IoU 0.33" in svg
    assert svg.index("drum 1, Egypt") < svg.index("drum 0, Egypt")
    assert svg.count("data:image/webp;base64,") == 2
    png = world.client(world.mara).get(f"/b/{world.benchmark.slug}/figures/overlays.png")
    assert png.content[:4] == b"\x89PNG"


def test_a_table_drawn_as_a_heat_map_has_the_tables_numbers(world: World, boxed: list[Item]) -> None:
    [row] = rows_of(world, "grounding-countries")
    # Of three items one is right, one overlaps by a third, and one has no box, which counts as wrong.
    assert (row["Country"], row["column"], row["items"]) == ("Egypt", "Lens", "3")
    assert float(row["value"]) == pytest.approx(1 / 3)
    assert ">0.33<" in svg_of(world, "grounding-countries")
    [whole] = rows_of(world, "grounding-models")
    assert (whole["Model"], float(whole["value"])) == ("Lens", pytest.approx(1 / 3))
    assert float(whole["low"]) == pytest.approx(0.0615, abs=1e-4)  # Wilson, 1 of 3


@pytest.mark.parametrize(
    "recipe", ["globalrg-grounding", "globalrg-retrieval", "3xcm", "valueground", "caire-universal", "culturalvqa"]
)
def test_without_data_every_figure_says_what_to_bring(world: World, recipe: str) -> None:
    benchmark = of_recipe(world, recipe)
    assert "<svg " not in read(world, f"/b/{benchmark.slug}/figures/")
    from django.http import QueryDict

    from evaluation.figures.registry import figures_of

    for spec in figures_of(benchmark):
        assert figure_of(benchmark, spec.key) is spec
        with pytest.raises(MissingData):
            build_figure(figure_data(benchmark, QueryDict(), NOON), spec)


def test_a_figure_of_predictions_leads_to_where_they_are_brought(world: World) -> None:
    benchmark = of_recipe(world, "globalrg-retrieval")
    waiting = read(world, f"/b/{benchmark.slug}/figures/").partition("Not drawn yet")[2]
    assert f'<a href="/b/{benchmark.slug}/predictions/">' in waiting
