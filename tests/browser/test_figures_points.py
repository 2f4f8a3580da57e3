"""Figures of points in a browser: embeddings in the plane and accuracy by release date, on a desk and on a phone."""

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from benchmarks.models import Benchmark
from tests.browser.conftest import PHONE
from tests.browser.test_figures import BEYOND, TOUCHING, address
from tests.evaluation.runs import collection, run, vectors
from tests.evaluation.sample_tables import model
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOSTILE = '<b>\u202e a language & "name" far longer than its line in any legend'


@pytest.mark.parametrize("how", ["desk", "phone", "arabic"])
def test_the_plane_keeps_its_words_inside(
    world: World, open_as: Callable[..., Page], shot: Callable[..., None], how: str
) -> None:
    Benchmark.objects.update(recipe="3xcm")
    world.benchmark.refresh_from_db()
    chance = np.random.default_rng(5)
    names = ["en", "de", "ja", "th", "sw", "ar", HOSTILE]
    about = {f"t{n}": {"language": names[n % 7]} for n in range(140)}
    about |= {f"p{n}": {"country": ("Egypt", "Brazil", "Japan")[n % 3]} for n in range(60)}
    made = collection(world.benchmark, about)
    at = {key: chance.normal(size=6) + 3 * np.eye(7, 6)[int(key[1:]) % 7] for key in about}
    vectors(run(made, model(world.team, "CLIP-L/14"), "embedding"), at)
    if how == "arabic":
        world.mara.language = "ar"
        world.mara.save()
    page = open_as(world.mara, **(PHONE if how == "phone" else {}))
    page.goto(address(world))
    expect(page.locator("#plane .canvas svg").first).to_be_attached()
    assert page.evaluate(BEYOND) == []
    assert page.evaluate(TOUCHING) == []
    assert page.locator("#plane svg b").count() == 0
    page.locator("#plane").scroll_into_view_if_needed()
    shot(page, f"plane-{how}", full_page=True)
