"""3XCM's embeddings in the plane, tiers found and six candidates: numbers by hand, what is drawn, what is said."""

from typing import Any

import numpy as np
import pytest
from django.http import QueryDict

from benchmarks.models import Benchmark
from evaluation.figures.drawing.plane import GROUPS
from evaluation.figures.figure import Figure
from evaluation.figures.figure_builder import build_figure, figure_data
from evaluation.figures.registry import figure_of
from evaluation.rendering.csv_file import to_csv
from evaluation.tables.table import MissingData
from papers.xcm.figures import projection
from papers.xcm.tables.trials import SIX
from people.models import Rater
from predictions.models import Collection, Run
from tests.evaluation.data import NOON
from tests.evaluation.runs import collection, create_ranking, query, run, vectors
from tests.evaluation.sample_tables import model
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db


@built_once
def benchmark(world: World) -> Benchmark:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="3xcm")
    world.benchmark.refresh_from_db()
    return world.benchmark


def figure(of: Benchmark, key: str, query_: str = "") -> Figure:
    spec = figure_of(of, key)
    assert spec is not None
    return build_figure(figure_data(of, QueryDict(query_), NOON), spec)


def create_embedding_run(
    benchmark: Benchmark, rater: Rater, about: dict[str, dict[str, Any]], at: dict[str, Any]
) -> Run:
    made = collection(benchmark, about, f"set-{rater.name.lower()}")
    of = run(made, rater, "embedding")
    vectors(of, at)
    return of


def cross(world: World) -> None:
    """Texts of two languages at the ends of one line, pictures of one country, and an entry that says nothing."""
    about: dict[str, dict[str, Any]] = {f"t{n}": {"language": "ja" if n < 2 else "th"} for n in range(4)}
    about |= {"p0": {"country": "Japan"}, "p1": {"country": "Japan"}, "x0": {}}
    at = {"t0": (3, 1), "t1": (3, -1), "t2": (-3, 1), "t3": (-3, -1), "p0": (1, 1), "p1": (2, 1), "x0": (9, 9)}
    create_embedding_run(world.benchmark, model(world.team, "CLIP"), about, at)


def test_entries_lie_on_the_principal_components(benchmark: Benchmark, world: World) -> None:
    cross(world)
    plane_figure = figure(benchmark, "plane")
    texts = {str(row[2]): row[3:] for row in plane_figure.rows if row[1] == "Texts, by language"}
    assert {key: row[0] for key, row in texts.items()} == {"t0": "ja", "t1": "ja", "t2": "th", "t3": "th"}
    assert [texts[f"t{n}"][1:] for n in range(4)] == [pytest.approx(p) for p in ((3, 1), (3, -1), (-3, 1), (-3, -1))]
    assert {row[2]: row[3] for row in plane_figure.rows if row[1] == "Pictures, by country"} == {"p0": "JP", "p1": "JP"}
    # 36 of 40 squares lie along the first axis.
    assert "90.0 % and 10.0 % of the variance" in plane_figure.alt
    # Cosines: to the other of its language 1 - 8/10, to the two of the other 1 + 10/10 and 1 + 8/10: (1.9 - 0.2) / 1.9
    assert "ja\u2069: 0.89, n = 2" in plane_figure.alt
    words = plane_figure.draw(760).texts
    assert {"First component, 90.0 % of the variance", "ja", "th", "JP", "0.89"} <= set(words)
    assert "not UMAP" in str(plane_figure.title)
    assert "Entries without language and country, left out: 1." in plane_figure.words
    assert "t0" in "".join(to_csv(plane_figure.report))


def test_one_model_is_shown_and_the_others_are_a_link_away(benchmark: Benchmark, world: World) -> None:
    cross(world)
    create_embedding_run(benchmark, model(world.team, "SigLIP"), {"a": {"language": "en"}}, {"a": (1, 2)})
    other = figure(benchmark, "plane")
    assert other.links == (("SigLIP", "run=SigLIP", True),), "the newest collection, and no other beside it"
    assert "Collection: Set-Siglip, version 1." in other.words
    for address in ("run=CLIP", "collection=set-clip@1"):
        first = figure(benchmark, "plane", address)
        assert first.links[0][0] == "CLIP" and "Collection: Set-Clip, version 1." in first.words
    second_run = run(Collection.objects.get(key="set-clip"), Rater.objects.get(name="SigLIP"), "embedding")
    vectors(second_run, {"t0": (1, 2)})
    links = figure(benchmark, "plane", "collection=set-clip@1").links
    assert [(name, shown) for name, _address, shown in links] == [("CLIP", True), ("SigLIP", False)]
    linked = figure(benchmark, "plane", links[1][1])
    assert "Collection: Set-Clip, version 1." in linked.words, "not of the newest, which has SigLIP too"
    assert other.rows == (("SigLIP", "Texts, by language", "a", "en", 0.0, 0.0),)
    assert "No value" in other.alt  # a silhouette needs two groups
    assert other.draw(330).height > 0


def test_many_entries_are_sampled_by_a_seed_with_a_note(
    benchmark: Benchmark, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "sample_places", lambda count: THINNED(count, 20))
    chance = np.random.default_rng(2)
    about = {f"t{n:02}": {"language": f"l{n % 50:02}"} for n in range(60)}
    create_embedding_run(benchmark, model(world.team, "CLIP"), about, {key: chance.normal(size=3) for key in about})
    plane_figure, again = figure(benchmark, "plane"), figure(benchmark, "plane")
    assert len(plane_figure.rows) == 20
    assert plane_figure.rows == again.rows
    assert "Texts, by language: 20 of 60 entries are drawn, picked at random by seed 6." in plane_figure.words
    words = plane_figure.draw(760).texts
    assert f"{GROUPS}" in words and f"{GROUPS + 1}" not in words
    assert f"others, {50 - GROUPS} groups" in words


THINNED = projection.sample_places


def test_thinning_takes_all_of_few_and_another_part_by_another_seed() -> None:
    assert THINNED(3).tolist() == [0, 1, 2]
    assert len(THINNED(3001)) == 3000 == len(set(THINNED(3001).tolist()))
    assert THINNED(100, 10, 1).tolist() != THINNED(100, 10, 2).tolist()


def test_entries_that_say_nothing_are_asked_for_their_language(benchmark: Benchmark, world: World) -> None:
    create_embedding_run(benchmark, model(world.team, "CLIP"), {"a": {}}, {"a": (1, 2)})
    with pytest.raises(MissingData, match="neither their language nor their country"):
        figure(benchmark, "plane")


def test_tiers_found_are_the_tables_last_column(benchmark: Benchmark, world: World) -> None:
    """Of ten captions six are English, three Japanese, and one is in no tier."""
    about = {f"e{n}": {"language": "en"} for n in range(6)} | {f"j{n}": {"language": "ja"} for n in range(3)}
    new_collection = collection(benchmark, about | {"x": {"language": "xx"}})
    clip = run(new_collection, model(world.team, "CLIP"))
    for number in range(2):
        create_ranking(clip, query(new_collection, f"q{number}", {}), [*about, "x"])
    drawn = figure(benchmark, "tiers-found")
    assert [(row[1], row[2], row[5]) for row in drawn.rows] == [
        ("High", pytest.approx(6 / 9), 18), ("Medium", pytest.approx(3 / 9), 18), ("Low", 0.0, 18),
    ]  # fmt: skip
    assert {"67 %", "33 %", "18"} <= set(drawn.draw(760).texts)
    assert "High" in drawn.alt and "0.67" in drawn.alt


def test_six_candidates_are_counted_by_country(benchmark: Benchmark, world: World) -> None:
    new_collection = collection(benchmark, {key: {} for key in "abcdef"})
    clip = run(new_collection, model(world.team, "CLIP"), "forced_choice")
    roles = dict(zip(SIX, "abcdef", strict=True))
    for number, winner in enumerate("aabf"):
        country = "Egypt" if number < 2 else "Brazil"
        asked = query(
            new_collection, f"q{number}", {"concept": "train", "country": country, "descriptor": "old"}, roles=roles
        )
        create_ranking(clip, asked, "abcdef", [1.0 if key == winner else 0.5 for key in "abcdef"])
    drawn = figure(benchmark, "wins-six")
    wins = {(row[1], row[2]): row[3:] for row in drawn.rows}
    assert len([row for row in drawn.rows if row[1] == "EG"]) == 6
    assert wins["All countries", "correct"] == (2, 0.5)
    assert wins["EG", "correct"] == (2, 1.0)
    second, last = (str(row[2]) for row in (drawn.rows[1], drawn.rows[5]))
    assert wins["BR", second] == wins["BR", last] == (1, 0.5)
    assert "correct 50.0 %" in drawn.alt
    assert drawn.draw(760).texts
