"""The demo's drawings: the same arguments give the same picture, and every argument matters."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import benchmarks.demo
from benchmarks.demo import CONCEPTS, CULTURES, describe, draw

SMALL = (320, 240)
CONDITIONS = ("natural", "generated")
CELLS = [(concept, culture) for concept in CONCEPTS for culture in CULTURES]
# The twenty universals of GlobalRG (Bhatia et al., 2024), whose names the demo's concepts use.
UNIVERSALS = {
    *("breakfast", "clothing", "dance", "dessert", "dinner", "drinks", "eating habits", "farming", "festival"),
    *("funeral", "greetings", "head coverings", "instrument", "lunch", "marriage", "music", "religion"),
    *("ritual", "sports", "transport"),
}


@cache
def small(concept: str, culture: str, condition: str, seed: int) -> Image.Image:
    """A small picture, drawn once for all the tests that only look at it."""
    return draw(concept, culture, condition, seed, SMALL)  # type: ignore[arg-type]


def difference(first: Image.Image, second: Image.Image) -> float:
    """Mean absolute difference of the channels, 0 to 255."""
    return float(np.abs(np.asarray(first, dtype=float) - np.asarray(second, dtype=float)).mean())


def largest_share(picture: Image.Image) -> float:
    """The share of the commonest colour, colours counted in 32 steps per channel."""
    coarse = np.asarray(picture) // 8
    codes = coarse[..., 0].astype(int) * 1024 + coarse[..., 1] * 32 + coarse[..., 2]
    return Counter(codes.ravel().tolist()).most_common(1)[0][1] / codes.size


def test_concepts_are_universals_and_cultures_are_three() -> None:
    assert len(CONCEPTS) >= 8
    assert len(UNIVERSALS) == 20
    assert set(CONCEPTS) <= UNIVERSALS
    assert CULTURES == ("egypt", "brazil", "china")


@pytest.mark.parametrize(("concept", "culture"), CELLS)
def test_every_picture_is_repeatable_and_seed_and_condition_matter(concept: str, culture: str) -> None:
    natural = small(concept, culture, "natural", 3)
    again = draw(concept, culture, "natural", 3, SMALL)
    assert natural.tobytes() == again.tobytes()
    assert difference(natural, small(concept, culture, "generated", 3)) > 4
    assert difference(natural, small(concept, culture, "natural", 4)) > 4


@pytest.mark.parametrize("concept", CONCEPTS)
def test_cultures_are_drawn_differently(concept: str) -> None:
    egypt, brazil, china = (small(concept, culture, "natural", 3) for culture in CULTURES)
    for pair in ((egypt, brazil), (brazil, china), (egypt, china)):
        assert difference(*pair) > 12


@pytest.mark.parametrize(("concept", "culture"), CELLS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_picture_is_flat(concept: str, culture: str, condition: str) -> None:
    picture = small(concept, culture, condition, 3)
    assert picture.mode == "RGB"
    assert len(set(picture.get_flattened_data())) > 3000
    assert largest_share(picture) < 0.4
    assert np.asarray(picture.convert("L"), dtype=float).std() > 18


def test_a_flat_picture_would_be_noticed() -> None:
    assert largest_share(Image.new("RGB", SMALL, "teal")) == 1.0


@pytest.mark.parametrize("size", [(1200, 900), (240, 180), (900, 1200), (1000, 1000), (4000, 3000)])
def test_any_size_and_shape_is_kept(size: tuple[int, int]) -> None:
    picture = draw("transport", "egypt", "natural", 2, size)
    assert picture.size == size
    assert largest_share(picture.resize((120, 90))) < 0.4


def test_thumbnail_shows_the_same_scene_as_the_large_picture() -> None:
    large = draw("religion", "china", "natural", 8).resize(SMALL, Image.Resampling.LANCZOS)
    assert difference(large, draw("religion", "china", "natural", 8, SMALL)) < 14


def test_generated_pictures_are_more_colourful() -> None:
    def colour(condition: str) -> float:
        pictures = [small(concept, culture, condition, 3) for concept, culture in CELLS]
        return float(np.mean([np.asarray(p.convert("HSV"))[..., 1].mean() for p in pictures]))

    assert colour("generated") > colour("natural") * 1.1


@pytest.mark.parametrize(("concept", "culture"), CELLS)
def test_words_say_what_is_drawn_and_keep_raters_blind(concept: str, culture: str) -> None:
    natural, generated = (describe(concept, culture, condition) for condition in CONDITIONS)
    assert 30 < len(natural) < 180
    assert natural == generated


def test_words_differ_from_cell_to_cell() -> None:
    assert len({describe(concept, culture, "natural") for concept, culture in CELLS}) == len(CELLS)


def test_names_may_be_written_as_slugs() -> None:
    assert describe("head-coverings", "Egypt", "natural") == describe("head coverings", "egypt", "natural")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("astronomy", "egypt", "natural", 1), "concept must be one of"),
        (("drinks", "atlantis", "natural", 1), "culture must be one of"),
        (("drinks", "egypt", "painted", 1), "condition must be one of"),
        (("drinks", "egypt", "natural", 1, (0, 0)), "size must be at least"),
    ],
)
def test_unknown_names_are_refused_with_the_allowed_ones(arguments: tuple[object, ...], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        draw(*arguments)  # type: ignore[arg-type]


def test_the_drawing_folder_imports_neither_django_nor_the_project() -> None:
    allowed = {"PIL", "numpy", "benchmarks"}
    stdlib = {"__future__", "collections", "contextlib", "dataclasses", "io", "math", "random", "typing", "zlib"}
    for file in Path(benchmarks.demo.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name.split(".")[0] in allowed | stdlib, f"{file.name} imports {name}"
                assert not name.startswith("benchmarks") or name.startswith("benchmarks.demo"), file.name
