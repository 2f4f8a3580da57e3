"""The demo's picture files and their table: complete, small, different from each other, and described in words."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from PIL import Image

from demo import pictures
from demo.pictures import DemoPicture

SMALL = (320, 240)
COUNTRIES = ["Egypt", "Brazil", "China"]
CONDITIONS = ["natural", "generated"]
CELLS = [(concept, country) for concept in pictures.concepts() for country in COUNTRIES]
MAX_BYTES = 8 * 1000 * 1000
# The twenty universals of GlobalRG (Bhatia et al., 2024), whose names the demo's concepts use.
UNIVERSALS = {
    *("breakfast", "clothing", "dance", "dessert", "dinner", "drinks", "eating habits", "farming", "festival"),
    *("funeral", "greetings", "head coverings", "instrument", "lunch", "marriage", "music", "religion"),
    *("ritual", "sports", "transport"),
}


@cache
def small(picture: DemoPicture) -> Image.Image:
    with Image.open(picture.path) as opened:
        return opened.convert("RGB").resize(SMALL, Image.Resampling.LANCZOS)


def difference(first: Image.Image, second: Image.Image) -> float:
    """Mean absolute difference of the channels, 0 to 255."""
    return float(np.abs(np.asarray(first, dtype=float) - np.asarray(second, dtype=float)).mean())


def largest_share(picture: Image.Image) -> float:
    """The share of the commonest colour, colours counted in 32 steps per channel."""
    coarse = np.asarray(picture) // 8
    codes = coarse[..., 0].astype(int) * 1024 + coarse[..., 1] * 32 + coarse[..., 2]
    return Counter(codes.ravel().tolist()).most_common(1)[0][1] / codes.size


def test_concepts_are_universals_in_three_countries_and_two_conditions() -> None:
    assert len(pictures.concepts()) >= 8 and len(UNIVERSALS) == 20
    assert set(pictures.concepts()) <= UNIVERSALS
    cells = [(one.concept, one.country, one.condition) for one in pictures.of_kind("scene")]
    assert sorted(cells) == sorted((*cell, condition) for cell in CELLS for condition in CONDITIONS)


def test_table_and_folder_name_the_same_files() -> None:
    files = [path.relative_to(pictures.FOLDER).as_posix() for path in pictures.FOLDER.rglob("*") if path.is_file()]
    assert sorted(files) == sorted(picture.file for picture in pictures.all_pictures())
    assert {picture.kind for picture in pictures.all_pictures()} == {"scene", "pair", "look-alike"}


def test_pictures_and_table_have_at_most_8_megabytes() -> None:
    folder = pictures.FOLDER.parent
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) <= MAX_BYTES


def test_keys_and_roles_name_each_picture_once() -> None:
    names = Counter((one.kind, one.key, one.role) for one in pictures.all_pictures())
    assert set(names.values()) == {1}


@pytest.mark.parametrize("picture", pictures.all_pictures(), ids=lambda picture: picture.file)
def test_file_is_the_picture_that_the_table_describes(picture: DemoPicture) -> None:
    with Image.open(picture.path) as opened:
        assert (opened.format, opened.size) == ("WEBP", (picture.width, picture.height))
        opened.load()
    assert picture.licence == "Apache-2.0" and picture.source and 0 < len(picture.alt) <= 300


@pytest.mark.parametrize("picture", pictures.of_kind("scene"), ids=lambda picture: picture.file)
def test_no_scene_is_flat(picture: DemoPicture) -> None:
    shown = small(picture)
    assert len(set(shown.get_flattened_data())) > 3000
    assert largest_share(shown) < 0.4
    assert np.asarray(shown.convert("L"), dtype=float).std() > 18


def test_a_flat_picture_would_be_noticed() -> None:
    assert largest_share(Image.new("RGB", SMALL, "teal")) == 1.0


@pytest.mark.parametrize(("concept", "country"), CELLS)
def test_conditions_differ(concept: str, country: str) -> None:
    natural, generated = (pictures.scene(concept, country, condition) for condition in CONDITIONS)
    assert difference(small(natural), small(generated)) > 4


@pytest.mark.parametrize("concept", pictures.concepts())
def test_countries_differ(concept: str) -> None:
    egypt, brazil, china = (small(pictures.scene(concept, country)) for country in COUNTRIES)
    for pair in ((egypt, brazil), (brazil, china), (egypt, china)):
        assert difference(*pair) > 12


def test_generated_pictures_are_more_colourful() -> None:
    def colour(condition: str) -> float:
        shown = [small(pictures.scene(*cell, condition)) for cell in CELLS]
        return float(np.mean([np.asarray(one.convert("HSV"))[..., 1].mean() for one in shown]))

    assert colour("generated") > colour("natural") * 1.1


@pytest.mark.parametrize(("concept", "country"), CELLS)
def test_words_describe_the_scene_and_keep_raters_blind(concept: str, country: str) -> None:
    natural, generated = (pictures.scene(concept, country, condition).alt for condition in CONDITIONS)
    assert 30 < len(natural) < 180
    assert natural == generated


def test_words_differ_from_cell_to_cell() -> None:
    assert len({pictures.scene(*cell).alt for cell in CELLS}) == len(CELLS)


def test_an_unknown_scene_is_an_error() -> None:
    with pytest.raises(KeyError, match="astronomy"):
        pictures.scene("astronomy", "Egypt")


def test_night_pictures_are_darker_than_their_scenes() -> None:
    for first, second in zip(pictures.of_kind("pair")[::2], pictures.of_kind("pair")[1::2], strict=True):
        assert (first.key, first.role, second.role, second.variant) == (second.key, "a", "b", "night")
        day, night = (float(np.asarray(small(one).convert("L"), dtype=float).mean()) for one in (first, second))
        assert night < 0.75 * day
