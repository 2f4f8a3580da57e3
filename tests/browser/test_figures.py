"""Figures in a browser: on a desk, on a phone, in Arabic and in print, with few and with many annotators."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from benchmarks.models import Benchmark
from tests.browser.conftest import PHONE, axe_violations
from tests.evaluation.figures.study import boxes, study
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
# Words that reach beyond their drawing, and words that lie on other words (their middles less than a line of letters
# apart; an Arabic line's box is far higher than its letters), of the drawings that are in view.
BEYOND = """() => [...document.querySelectorAll(".canvas > svg")].filter((s) => s.checkVisibility()).flatMap((s) => {
  const frame = s.getBoundingClientRect();
  const words = [...s.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const out = ([, b]) => b.left < frame.left - 1 || b.right > frame.right + 1 || b.bottom > frame.bottom + 4;
  return words.filter(out).map(([said]) => said);
})"""
TOUCHING = """() => [...document.querySelectorAll(".canvas > svg")].filter((s) => s.checkVisibility()).flatMap((s) => {
  const level = [...s.querySelectorAll("text:not([transform])")];
  const texts = level.map((t) => [t.textContent, t.getBoundingClientRect()]);
  return texts.flatMap(([said, a], place) => texts.slice(place + 1)
    .filter(([, b]) => a.x < b.right - 1 && b.x < a.right - 1 && Math.abs(a.y + a.bottom - b.y - b.bottom) < 24)
    .map(([other]) => `${said} | ${other}`));
})"""


def address(world: World) -> str:
    return f"/b/{world.benchmark.slug}/figures/"


def name_in_arabic(world: World) -> None:
    world.egypt.names = {"ar": "مصر", "en": "Egypt, with a name far longer than any drawing has room for"}
    world.egypt.save()


@pytest.mark.parametrize("how", ["desk", "phone", "arabic"])
def test_no_words_leave_their_drawing_or_lie_on_each_other(
    world: World, open_as: Open, shot: Callable[..., None], how: str
) -> None:
    name_in_arabic(world)
    study(
        world, people=6, items=24, models=("Lens", "Quill 7B", "A model whose name is longer than its column", "Reed")
    )
    page = open_as(world.mara, **(PHONE if how == "phone" else {}))
    if how == "arabic":
        world.mara.language = "ar"
        world.mara.save()
    page.goto(address(world))
    expect(page.locator("section.drawn")).to_have_count(5)
    assert page.evaluate(BEYOND) == []
    assert page.evaluate(TOUCHING) == []
    wide = "narrow" if how == "phone" else "wide"
    expect(page.locator(f".canvas.{wide}").first).to_be_visible()
    shot(page, f"figures-{how}", full_page=True)
    if how == "arabic":
        assert page.locator("html").get_attribute("dir") == "rtl"
    page.get_by_text("Data as a table").first.click() if how == "desk" else None
    assert axe_violations(page) == []


def test_many_annotators_are_legible_and_light(world: World, open_as: Open, shot: Callable[..., None]) -> None:
    study(world, people=60, items=8, models=())
    page = open_as(world.mara)
    reply = page.goto(address(world))
    assert reply and len(reply.body()) < 400_000
    assert page.evaluate(BEYOND) == []
    assert page.evaluate(TOUCHING) == []
    shot(page, "figures-many", full_page=True)


@pytest.mark.parametrize("how", ["desk", "phone", "arabic"])
def test_thirty_models_have_their_names_and_nothing_is_cut(
    world: World, open_as: Open, shot: Callable[..., None], how: str
) -> None:
    names = tuple(f"Model with a long name number {n:02} Instruct 7.12B" for n in range(30))
    study(world, people=3, items=8, models=names)
    if how == "arabic":
        world.mara.language = "ar"
        world.mara.save()
    page = open_as(world.mara, **(PHONE if how == "phone" else {}))
    page.goto(address(world))
    assert page.evaluate(BEYOND) == []
    assert page.evaluate(TOUCHING) == []
    wide = "narrow" if how == "phone" else "wide"
    for key in ("cohorts-models", "distribution"):
        drawing = page.locator(f"#{key} .canvas.{wide}")
        assert drawing.evaluate("(frame) => frame.scrollWidth <= frame.clientWidth + 1")  # nothing to scroll to
        words = drawing.locator("text").all_text_contents()
        assert len({one for one in words if "Instruct" in one or "00" <= one[:2] <= "29"}) >= 30
    shot(page, f"figures-thirty-{how}", full_page=True)


def test_print_shows_the_drawings_and_not_the_doors(world: World, open_as: Open, shot: Callable[..., None]) -> None:
    study(world)
    page = open_as(world.mara, **PHONE)
    page.goto(address(world))
    page.emulate_media(media="print")
    expect(page.locator(".canvas.wide").first).to_be_visible()
    expect(page.locator(".canvas.narrow").first).to_be_hidden()
    expect(page.locator(".files").first).to_be_hidden()
    shot(page, "figures-print", full_page=True)


def test_boxes_lie_on_pictures_that_have_come(
    world: World, open_as: Open, shot: Callable[..., None], media: None
) -> None:
    boxes(world)
    Benchmark.objects.update(recipe="globalrg-grounding")
    page = open_as(world.mara)
    page.goto(address(world))
    picture = page.locator("#overlays .canvas.wide image").first
    expect(picture).to_be_visible()
    address_of = picture.get_attribute("href")
    assert address_of
    assert page.request.get(address_of).headers["content-type"] == "image/webp"
    assert page.evaluate(BEYOND) == []
    shot(page, "figures-boxes", full_page=True)


@pytest.mark.parametrize("how", ["desk", "phone"])
def test_number_keys_and_checkboxes_show_and_hide_boxes(
    world: World, open_as: Open, shot: Callable[..., None], media: None, how: str
) -> None:
    boxes(world)
    Benchmark.objects.update(recipe="globalrg-grounding")
    page = open_as(world.mara, **(PHONE if how == "phone" else {}))
    page.goto(address(world))
    figure = page.locator("#overlays")
    first, second = (figure.locator(f".canvas:visible [data-layer='{n}'] rect").first for n in (1, 2))
    expect(figure.get_by_role("checkbox")).to_have_count(2)
    page.keyboard.press("2")
    expect(second).to_be_visible()  # a key outside the figure is not its own
    figure.locator(".canvas:visible").focus()
    page.keyboard.press("2")
    expect(second).to_be_hidden()
    expect(first).to_be_visible()
    expect(figure.get_by_role("checkbox").nth(1)).not_to_be_checked()
    page.keyboard.press("Control+1")
    page.keyboard.press("3")
    expect(first).to_be_visible()
    figure.get_by_role("checkbox").nth(1).check()
    expect(second).to_be_visible()
    figure.get_by_role("checkbox").nth(1).press("1")
    expect(first).to_be_hidden()
    assert axe_violations(page) == []
    shot(page, f"figures-layers-{how}", full_page=True)
