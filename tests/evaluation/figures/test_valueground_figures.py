"""ValueGround's figures, on the study of its tables, counted by hand there."""

import pytest
from django.http import QueryDict

from annotation.models import Campaign
from benchmarks.models import Benchmark
from evaluation.figures.figure import Figure
from evaluation.figures.figure_builder import build_figure, figure_data
from evaluation.figures.registry import figure_of
from papers.valueground import figures
from tests.evaluation.data import NOON
from tests.evaluation.test_tables_valueground import benchmark, choice

__all__ = ["benchmark", "choice"]  # fixtures


def figure(of: Benchmark, key: str) -> Figure:
    spec = figure_of(of, key)
    assert spec is not None
    return build_figure(figure_data(of, QueryDict(), NOON), spec)


def test_with_pictures_and_without_are_held_over_the_same_instances(benchmark: Benchmark, choice: Campaign) -> None:
    built_figure = figure(benchmark, "main-text")
    # Alpha, text: Q1 right, Q2 right for Brazil alone. Main: 3 of 4 in both. Beta, text: right throughout; main: 1 of 4
    # for Egypt, 1 of 3 for Brazil, where one picture was left unanswered.
    assert built_figure.rows == (
        ("Alpha", "Brazil", 1.0, 0.75, 4), ("Alpha", "Egypt", 0.5, 0.75, 4),
        ("Beta", "Brazil", 1.0, pytest.approx(1 / 3), 3), ("Beta", "Egypt", 1.0, 0.25, 4),
    )  # fmt: skip
    assert "No value" in built_figure.alt  # two countries are too few for a correlation
    assert {"Alpha", "Beta"} <= set(built_figure.draw(760).texts)


def test_a_sentence_names_the_table_for_models_that_are_not_drawn(
    benchmark: Benchmark, choice: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "The table has the models beyond the first 1."
    assert sentence not in figure(benchmark, "main-text").words
    monkeypatch.setattr(figures, "MOST", 1)
    built_figure = figure(benchmark, "main-text")
    assert sentence in built_figure.words
    assert {str(row[0]) for row in built_figure.rows} == {"Alpha", "Beta"}
    assert "Beta" not in built_figure.draw(760).texts


def test_the_map_of_a_table_has_its_cells(benchmark: Benchmark, choice: Campaign) -> None:
    built_figure = figure(benchmark, "figure-3-map")
    values = {(row[0], row[1]): row[2] for row in built_figure.rows}
    assert values["Alpha", "Egypt"] == 0.75
    assert values["Beta", "All"] == pytest.approx(2 / 7)
    assert "0.29" in built_figure.draw(760).texts
