"""What a stage wants in each cell: read strictly, and declared by GlobalRG for its screening."""

from typing import Any

import pytest

from benchmarks.recipes.registry import RECIPES
from benchmarks.rules.coverage import CoverageError, CoverageSpec
from papers.globalrg.recipe import UNIVERSALS
from tests.personas import World

WANTED: dict[str, Any] = {"rows": "set:countries", "columns": "concepts", "names": ["music"], "per_cell": 3}


def test_a_coverage_is_read_and_written_back_with_its_defaults() -> None:
    spec = CoverageSpec.from_json(WANTED)
    assert spec and (spec.set_key, spec.counts, spec.names) == ("countries", "accepted", ("music",))
    assert CoverageSpec.from_json(spec.to_json()) == spec
    assert CoverageSpec.from_json({}) is None


@pytest.mark.parametrize(("change", "field"), [
    ({"rows": "countries"}, "rows"), ({"rows": "set:"}, "rows"), ({"rows": None}, "rows"),
    ({"columns": "x"}, "columns"),
    ({"per_cell": 0}, "per_cell"), ({"per_cell": True}, "per_cell"), ({"per_cell": "3"}, "per_cell"),
    ({"counts": "kept"}, "counts"), ({"names": "music"}, "names"), ({"names": ["a", "a"]}, "names[1]"),
    ({"names": [" "]}, "names[0]"), ({"names": [str(n) for n in range(201)]}, "names"), ({"cells": 3}, "cells"),
    ({"stop_when_full": "yes"}, "stop_when_full"),
])  # fmt: skip
def test_an_error_names_its_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(CoverageError) as error:
        CoverageSpec.from_json(WANTED | change)
    assert error.value.path == f"coverage.{field}"


@pytest.mark.parametrize("field", ["rows", "columns", "per_cell"])
def test_rows_columns_and_the_number_are_required(field: str) -> None:
    with pytest.raises(CoverageError, match=rf"coverage\.{field}: is missing"):
        CoverageSpec.from_json({key: value for key, value in WANTED.items() if key != field})


def test_every_recipe_declares_what_can_be_read() -> None:
    specs = [CoverageSpec.from_json(stage.coverage) for recipe in RECIPES for stage in recipe.stages]
    assert any(specs)


@pytest.mark.django_db
def test_the_screening_of_globalrg_wants_three_pictures_of_each_universal_in_each_country(world: World) -> None:
    from benchmarks.services.benchmarks import create_from_recipe

    benchmark = create_from_recipe(world.team, "globalrg-retrieval", "Universals", "universals", world.mara)
    spec = CoverageSpec.from_json(benchmark.stages.get(key="screening").coverage)
    assert spec and (spec.set_key, spec.names) == ("globalrg-table-1", UNIVERSALS)
    assert (spec.columns, spec.per_cell, spec.counts, spec.stop_when_full) == ("concepts", 3, "accepted", True)
