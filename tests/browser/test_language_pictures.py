"""Pictures of the annotator's home and of five sheets in every language, on a phone, for somebody to look at.

EMIC_SHOTS=folder ./emic test --slow tests/browser/test_language_pictures.py

Without the folder nothing runs. Besides the pictures it is checked that nothing is wider than the phone, and that pages
in other scripts than Latin have no Latin words but names and keys.
"""

import os
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.sessions.models import Session
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import Campaign, InstructionText, InstructionVersion
from benchmarks.recipes.registry import RECIPES, WORDS
from benchmarks.services.benchmarks import create_from_recipe
from papers.caire import recipe as caire
from people.models import User
from tests.browser.conftest import PHONE
from tests.browser.test_languages import EXAMPLES, LATIN, asked, check_fits
from tests.personas import World

__all__ = ["asked"]  # a fixture

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not os.environ.get("EMIC_SHOTS"), reason="EMIC_SHOTS names no folder for the pictures"),
]
CODES = [code for code, _name in django_settings.LANGUAGES]
IN_LATIN = {"en", "pt-br", "de", "es", "fr", "id", "sw", "tr", "yo"}
NAMES = {"Nour", "nour", "CAIRE", "CulturalVQA", "GlobalRG", "ValueGround", "AND", "GIF"}


@pytest.fixture(autouse=True)
def sheet_in_all_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sheet of the campaign as the site has it, and not as the paper's module writes it."""
    keys = [field["key"] for field in caire.SHEET["fields"]]
    sheets = [stage.sheet for recipe in RECIPES for stage in recipe.stages]
    translated = next(sheet for sheet in sheets if [field["key"] for field in sheet["fields"]] == keys)
    monkeypatch.setattr(caire, "SHEET", translated)


def foreign_words(page: Page, code: str) -> set[str]:
    """Latin words on the page of a language that is written in another script."""
    if code in IN_LATIN or code.split("-")[0] not in WORDS:
        return set()
    text = page.locator("#main").inner_text()
    return set(re.findall(r"[A-Za-zÀ-ÿ]{3,}", text)) - LATIN - EXAMPLES - NAMES


@pytest.mark.parametrize("code", CODES)
def test_home_and_five_sheets(
    open_as: Callable[..., Page], world: World, asked: Campaign, nour: User, shot: Callable[..., Any], code: str
) -> None:
    for person in (nour, world.owner):
        person.language = code
        person.save()
    world.egypt.names = {"en": "Egypt", **{language: words.get("Egypt", "Egypt") for language, words in WORDS.items()}}
    world.egypt.save()
    pages = [("home", "/work/"), ("sheet", f"/work/{asked.pk}/")]
    as_owner = []
    for recipe in RECIPES:
        benchmark = create_from_recipe(world.team, recipe.key, recipe.key, recipe.key, world.owner)
        stage = benchmark.stages.order_by("position").first()
        assert stage is not None
        as_owner.append((recipe.key, reverse("annotation:compose_preview", args=[benchmark.slug, stage.pk])))
    foreign = {}
    for user, paths in ((nour, pages), (world.owner, as_owner)):
        page = open_as(user, **PHONE)
        for name, path in paths:
            page.goto(path)
            page.wait_for_load_state("networkidle")
            shot(page, f"{code}-{name}", full_page=True)
            check_fits(page)
            if words := foreign_words(page, code):
                foreign[name] = words
    assert not foreign


@pytest.mark.parametrize("code", CODES)
def test_what_opens_on_the_pages(
    open_as: Callable[..., Page], world: World, asked: Campaign, nour: User, shot: Callable[..., Any], code: str
) -> None:
    """A pack that was taken and its page, menus, an answer in the history, the offline page, signing in again."""
    nour.language = code
    nour.save()
    InstructionText.objects.all().delete()
    InstructionVersion.objects.all().delete()
    page = open_as(nour, **PHONE)
    foreign = {}

    def look(name: str) -> None:
        shot(page, f"{code}-{name}", full_page=True)
        check_fits(page)
        if words := foreign_words(page, code):
            foreign[name] = words

    page.goto(f"/work/{asked.pk}/")
    page.locator("#main .opt input").nth(3).check(force=True)
    page.locator("#main button.go").first.click()
    page.wait_for_load_state("networkidle")
    page.goto("/work/")
    look("home-after")
    page.locator("[data-takes]").click()
    expect(page.locator("[data-here]")).to_be_visible(timeout=30_000)
    look("pack-taken")
    for number, summary in enumerate(page.locator("summary:visible").all()):
        summary.click()
        look(f"home-menu{number}")
        summary.click()
    for name, path in (
        ("pack", f"/work/{asked.pk}/pack/"),
        ("history", "/work/history/"),
        ("statistics", "/me/statistics/"),
    ):
        page.goto(path)
        page.wait_for_load_state("networkidle")
        look(name)
    page.context.set_offline(True)
    page.goto("/work/history/")
    look("offline")
    page.context.set_offline(False)
    page.goto(f"/work/{asked.pk}/")
    for number, summary in enumerate(page.locator("summary:visible").all()):
        summary.click()
        look(f"sheet-menu{number}")
        summary.click()
    Session.objects.all().delete()
    page.locator("#main .opt input").nth(3).check(force=True)
    page.locator("#main button.go").first.click()
    expect(page.locator("#session")).to_be_visible(timeout=15_000)
    look("session")
    assert not foreign
