"""The annotator's pages in Portuguese and Amharic: they speak it all through, and nothing sticks out."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Benchmark
from benchmarks.recipes.parts import PICTURE_SKIP_REASONS
from benchmarks.recipes.registry import RECIPES
from benchmarks.services.benchmarks import create_from_recipe
from papers.caire import recipe as caire
from people.models import User
from people.services import links
from tests.browser.conftest import DESKTOP, PHONE, add_definitions_and_pictures, until_sent, wait_until
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NAMES = {"pt-br": "Camila", "am": "ሰላማዊት"}
# What stays in Latin letters: names, addresses, key caps.
LATIN = {"emic", "Emic", "Enter", "Ctrl", "Esc", "Português", "Brasil", "English", "Egypt", "Team", "Cairo", "nour"}
# In a preview: names of what an item holds, formats of files.
EXAMPLES = {"seeds", "candidate", "Pomegranate", "PNG", "GIF", "JPEG", "WebP", "AVIF"}
SIZES = pytest.mark.parametrize("how", [DESKTOP, PHONE], ids=["desktop", "phone"])


@pytest.fixture
def asked(world: World, live_server: Any, settings: Any, tmp_path: Any) -> Campaign:
    """CAIRE's question, put to Egypt."""
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}},
    }
    add_definitions_and_pictures(world)
    stage = world.stage
    stage.sheet, stage.skip_reasons = caire.SHEET, list(PICTURE_SKIP_REASONS)
    stage.save()
    Benchmark.objects.update(name="1")  # what a researcher wrote, as the campaign's name
    world.egypt.names = dict(next(one.names for one in caire.COHORTS if one.label == "Egypt"))
    world.egypt.save()
    made = lifecycle.create(stage, "1", world.owner, {world.egypt: 3}, instructions=dict(caire.INSTRUCTIONS), seed=5)
    lifecycle.open_campaign(made, world.owner, timezone.now())
    return made


def check_fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
    cut = page.evaluate(
        """[...document.querySelectorAll('button, .btn, .chip, label, legend, h1, h2, th')].filter(one =>
           one.checkVisibility() && getComputedStyle(one).overflow === 'hidden' && !one.closest('.vh') &&
           !one.matches('.vh') && one.scrollWidth > one.clientWidth + 1).map(one => one.innerText)"""
    )
    assert not cut, (page.url, cut)


def check_language(page: Page, code: str) -> None:
    """Its language is said, and no other is read."""
    expect(page.locator("html")).to_have_attribute("lang", code)
    expect(page.locator("html")).to_have_attribute("dir", "ltr")
    if code == "am":
        text, names = page.evaluate(
            """() => [document.body, ...document.querySelectorAll("form.languages, select[name=language]")]
              .map((part) => part.innerText || part.textContent)
              .reduce(([all, own], part, n) => (n ? [all, own + " " + part] : [part, own]), ["", ""])"""
        )
        foreign = set(re.findall(r"[A-Za-zÀ-ÿ]{3,}", text)) - LATIN - set(re.findall(r"[A-Za-zÀ-ÿ]{3,}", names))
        assert not foreign, (page.url, foreign)
    check_fits(page)


@SIZES
@pytest.mark.parametrize("code", ["pt-br", "am"])
def test_the_work_of_a_day(
    open_as: Callable[..., Page], asked: Campaign, nour: User, shot: Callable[..., None], code: str, how: dict[str, Any]
) -> None:
    nour.language, nour.name = code, NAMES[code]
    nour.save()
    size = "phone" if how is PHONE else "desktop"
    page = open_as(nour, **how)
    page.goto("/work/")
    check_language(page, code)
    page.goto(f"/work/{asked.pk}/")
    for key in "35":
        before = page.locator("#bench").get_attribute("data-assignment")
        page.keyboard.press(key)
        page.keyboard.press("Enter")
        wait_until(page, "before => document.getElementById('bench').dataset.assignment !== before", before)
        until_sent(page)
    page.keyboard.press("4")
    wait_until(page, "[...document.querySelectorAll('.view img')].every(i => i.complete && i.naturalWidth)")
    page.wait_for_timeout(300)
    shot(page, f"sheet-{code}-{size}")
    shot(page, f"sheet-{code}-{size}-whole", full_page=True)
    check_language(page, code)
    for dialog in ("why", "help", "report"):
        page.goto(f"/work/{asked.pk}/?open={dialog}")
        shot(page, f"{dialog}-{code}-{size}")
        check_language(page, code)
    for name, path in {
        "home": "/work/",
        "history": "/work/history/",
        "me": "/me",
        "consent": f"/consent/{asked.stage.benchmark.team_id}",
        "password": "/me/password",
        "missing": "/nothing/here",
    }.items():
        page.goto(path)
        shot(page, f"{name}-{code}-{size}", full_page=True)
        if name not in ("me", "consent"):  # the one lists every time zone, the other shows what the team wrote
            check_language(page, code)
        check_fits(page)


@SIZES
@pytest.mark.parametrize(("accepts", "code"), [("pt-BR", "pt-br"), ("am-ET", "am")])
def test_the_way_in(
    chromium: Browser, live_server: Any, world: World, shot: Callable[..., None],
    accepts: str, code: str, how: dict[str, Any],
) -> None:  # fmt: skip
    size = "phone" if how is PHONE else "desktop"
    world.egypt.names = dict(next(one.names for one in caire.COHORTS if one.label == "Egypt"))
    world.egypt.save()
    _made, token = links.invite(world.team, world.manager, timezone.now(), cohort=world.egypt)
    context = chromium.new_context(base_url=live_server.url, locale=accepts, **how)
    page = context.new_page()
    for name, path in {
        "sign-in": "/sign-in",
        "forgotten": "/password/forgotten",
        "sent": "/password/sent",
        "join": f"/invitation/{token}",
        "refused": "/invitation/nothing",
    }.items():
        page.goto(path)
        shot(page, f"{name}-{code}-{size}", full_page=True)
        if name == "join":
            expect(page.locator("html")).to_have_attribute("lang", code)
            check_fits(page)
        else:
            check_language(page, code)
    context.close()


@pytest.mark.parametrize("code", ["pt-br", "am", "ru"])
def test_every_stage_of_the_recipes(
    open_as: Callable[..., Page], world: World, shot: Callable[..., None], code: str
) -> None:
    """Each sheet as its preview draws it: the labels, levels and rules of the recipe, the words of its kinds."""
    owner = world.owner
    owner.language = code
    owner.save()
    world.egypt.names = dict(next(one.names for one in caire.COHORTS if one.label == "Egypt"))
    world.egypt.save()
    page = open_as(owner, **PHONE)
    for recipe in RECIPES:
        made = create_from_recipe(world.team, recipe.key, recipe.key, recipe.key, owner)
        for stage in made.stages.order_by("position"):
            page.goto(reverse("annotation:compose_preview", args=[made.slug, stage.pk]))
            shot(page, f"stage-{recipe.key}-{stage.key}-{code}", full_page=True)
            expect(page.locator("html")).to_have_attribute("lang", code)
            text = page.locator("#main").inner_text()
            if code == "am":
                foreign = set(re.findall(r"[A-Za-zÀ-ÿ]{3,}", text)) - LATIN - EXAMPLES
                assert not foreign, (recipe.key, stage.key, foreign)
            check_fits(page)
