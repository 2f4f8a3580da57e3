"""CAIRE's and CulturalVQA's figures, on the studies of their tables, counted by hand there."""

import pytest

from benchmarks.models import Benchmark
from evaluation.figures.figure import Figure
from evaluation.tables.table import MissingData
from papers.culturalvqa.figures import SIGNS, day_of
from people.models import Rater
from tests.evaluation import test_tables_caire as caire
from tests.evaluation import test_tables_culturalvqa as vqa
from tests.evaluation.figures.test_plane_figures import figure
from tests.evaluation.sample_tables import model
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db


def values(drawn: Figure) -> dict[tuple[object, ...], object]:
    return {row[:2]: row[2] for row in drawn.rows}


# CAIRE


@built_once
def scored(world: World) -> caire.Study:
    study = caire.Study(world)
    study.score("Keen", caire.KEEN)
    return study


def test_caires_map_of_models_has_the_correlations_of_its_table(scored: caire.Study) -> None:
    """A picture's scores against its three countries' means; Egypt's other picture, d, has one score for all."""
    drawn = figure(scored.benchmark, "table-2-map")
    by_hand = {name: caire.r(caire.KEEN[key], caire.MEANS[key]) for name, key in (("Egypt", "a"), ("Brazil", "b"))}
    found = {str(row[1]).split(",")[0]: row for row in drawn.rows if str(row[0]).startswith("Keen")}
    assert {name: found[name][2] for name in by_hand} == pytest.approx(by_hand)
    assert found["Egypt"][5] == 1  # unit
    assert {f"{value:.2f}" for value in by_hand.values()} <= set(drawn.draw(760).texts)
    assert f"{by_hand['Brazil']:.2f}" in drawn.alt


def test_caires_map_of_concepts_has_the_correlations_of_its_table(scored: caire.Study) -> None:
    drawn = figure(scored.benchmark, "table-15-map")
    two = [caire.r(caire.KEEN[key], caire.MEANS[key]) for key in "ab"]
    found = {row[0]: row[2] for row in drawn.rows if row[1] == "Keen, CAIRE, Natural"}
    assert found["dance"] == pytest.approx(sum(two) / 2)
    assert found["lunch"] == pytest.approx(caire.r(caire.KEEN["c"], caire.MEANS["c"]))
    assert {"dance", "lunch"} <= set(drawn.draw(330).texts)


# CulturalVQA


@built_once
def judged(world: World) -> vqa.Study:
    study = vqa.Study(world)
    study.lave()
    return study


def add_model_info(study: vqa.Study, name: str, **about: object) -> None:
    model(study.world.team, name, "vlm", **about)


def test_culturalvqas_maps_have_the_accuracies_of_their_tables(judged: vqa.Study) -> None:
    by_country = values(figure(judged.benchmark, "accuracy-map"))
    assert by_country["Brazil", "GPT-4"] == 1.0
    assert by_country["Brazil", "InternVL"] == 0.5
    assert by_country["Iran", "GPT-4"] == 0.5
    by_facet = values(figure(judged.benchmark, "facets-map"))
    assert by_facet["food", "GPT-4"] == pytest.approx(2 / 3)  # q1 and q5, not q3
    assert by_facet["clothing", "InternVL"] == 0.0
    blind = figure(judged.benchmark, "without-picture-map")
    assert {value for names, value in values(blind).items() if names[0] == "Canada"} == {0.0, 1.0}
    assert "0.67" in figure(judged.benchmark, "facets-map").draw(760).texts


def test_accuracy_lies_at_the_release_apart_for_western_and_other_countries(judged: vqa.Study) -> None:
    add_model_info(judged, "GPT-4", released="2023-11-06", open=False)
    add_model_info(judged, "InternVL", released="2024-04", open=True)
    drawn = figure(judged.benchmark, "by-release")
    assert [row[:5] for row in drawn.rows] == [
        ("GPT-4", "2023-11-06", "no", "Western", None), ("GPT-4", "2023-11-06", "no", "other", 0.75),
        ("InternVL", "2024-04", "yes", "Western", None), ("InternVL", "2024-04", "yes", "other", 0.25),
    ]  # fmt: skip
    assert str(drawn.rows[0][-1]).startswith("No value"), "one Western country is no mean over countries"
    words = drawn.draw(760).texts
    assert {"Western countries, closed model", "Other countries, open model", "GPT-4", "InternVL"} <= set(words)
    assert "Western countries, not known" not in words
    assert "GPT-4 (2023-11-06)\u2069: No value" in drawn.alt and "0.75" in drawn.alt
    assert any("Canada, Germany, United States" in str(one) for one in drawn.words)


def test_a_model_whose_date_cannot_be_read_is_named_and_not_drawn(judged: vqa.Study) -> None:
    add_model_info(judged, "GPT-4", released="Nov 23")
    with pytest.raises(MissingData, match="YYYY-MM-DD"):
        figure(judged.benchmark, "by-release")
    add_model_info(judged, "InternVL", released="2024")
    drawn = figure(judged.benchmark, "by-release")
    assert "Without a date that can be read, so not drawn: GPT-4." in drawn.words
    assert "GPT-4" not in drawn.draw(760).texts
    assert [str(day_of(date_text)) for date_text in ("2024", "2024-02", "2024-02-29", "2023-02-29", "May")] == [
        "2024-07-01", "2024-02-15", "2024-02-29", "None", "None",
    ]  # fmt: skip


def test_open_is_told_from_closed_by_more_than_colour() -> None:
    assert len({(one.shape, one.open) for one in SIGNS}) == len(SIGNS)


def test_accuracy_stands_against_length_and_answers_of_questions(judged: vqa.Study) -> None:
    judged.answers()
    length = figure(judged.benchmark, "length")
    # Brazil's questions have four and six words, Iran's four each, Canada's five.
    assert {row[:4] for row in length.rows} == {
        (name, *rest) for name in ("GPT-4", "InternVL") for rest in (("Brazil", 5, 2), ("Canada", 5, 1), ("Iran", 4, 2))
    }  # fmt: skip
    assert {row[1]: row[4] for row in length.rows if row[0] == "GPT-4"} == {"Brazil": 1.0, "Canada": 1.0, "Iran": 0.5}
    answers = figure(judged.benchmark, "answers-each")
    # q1 has three, q2 one; q3 two, q4 one; q5 one: the asker's own counts.
    assert {row[1]: row[2] for row in answers.rows} == {"Brazil": 2.0, "Canada": 1.0, "Iran": 1.5}
    assert {"Brazil", "Iran", "Canada", "GPT-4"} <= set(answers.draw(760).texts)
    assert answers.alt.startswith("Spearman's rho over 3 countries:")


def test_without_questions_it_says_what_to_bring(judged: vqa.Study) -> None:
    assert isinstance(judged.benchmark, Benchmark) and Rater.objects.exists()
    with pytest.raises(MissingData, match="questions"):
        figure(judged.benchmark, "length")
