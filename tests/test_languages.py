"""Each language of `locale/`: plural forms, digits, dates, direction, its name, and the browser's wish.

A new catalogue is tested from its first day: the folders are the parameters.
"""

import re
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import formats, translation
from django.utils.translation import get_language_info, to_locale

from annotation.fields.contract import localise
from benchmarks.recipes.registry import RECIPES, WORDS, translate_name
from config.catalogues import FOLDER, read
from people.locales.drafts import DraftCatalogue
from people.locales.languages import DRAFT, draft_text_names, has_draft_texts, interface_name, text_languages
from tests.personas import World

CODES = [code for code, _name in settings.LANGUAGES if code != "en"]
# Numbers of each plural form by the Unicode project's rules (CLDR 45, cardinals, whole numbers below 201).
# https://www.unicode.org/cldr/charts/45/supplemental/language_plural_rules.html
FORMS = {
    "ar": [[0], [1], [2], [3, 10, 103, 110], [11, 99, 111, 199], [100, 102, 200]],
    "am": [[0, 1], [2, 11, 100]], "bn": [[0, 1], [2, 11]], "fa": [[0, 1], [2, 11]], "hi": [[0, 1], [2, 11]],
    "de": [[1], [0, 2, 11, 101]], "es": [[1], [0, 2, 11]], "sw": [[1], [0, 2]], "tr": [[1], [0, 2]],
    "fr": [[0, 1], [2, 11, 100]], "pt-br": [[0, 1], [2, 11]],
    "ru": [[1, 21, 101], [2, 4, 22, 34], [0, 5, 11, 14, 20, 111]],
    "id": [[0, 1, 2]], "ja": [[0, 1, 2]], "ko": [[0, 1, 2]], "yo": [[0, 1, 2]], "zh-hans": [[0, 1, 2]],
}  # fmt: skip
# Where numbers below two take another form by older rules of gettext, which translators may have followed.
LOOSE = {"hi": {0}, "bn": {0}, "fa": {0, 1}, "am": {0}, "tr": {1}, "pt-br": {0}}
FROM_THE_RIGHT = {"ar", "fa", "ur", "he", "ps"}
WISHES = {
    "zh-hans": ["zh-CN", "zh", "zh-Hans-CN", "zh-SG"], "hi": ["hi-IN"], "id": ["id-ID"], "sw": ["sw-KE", "sw-TZ"],
    "es": ["es-MX", "es-419"], "fr": ["fr-CI", "fr"], "de": ["de-AT"], "ru": ["ru-RU"], "fa": ["fa-IR", "fa-AF"],
    "tr": ["tr-TR"], "ja": ["ja-JP"], "ko": ["ko-KR"], "yo": ["yo-NG"], "bn": ["bn-BD", "bn-IN"],
}  # fmt: skip
DAYS = [date(2026, month, day) for month, day in [(1, 1), (3, 5), (8, 31), (12, 10)]]


def folder(code: str) -> Any:
    return FOLDER / to_locale(code) / "LC_MESSAGES" / "django.po"


@pytest.mark.parametrize("code", CODES)
def test_numbers_take_the_plural_forms_of_the_language(code: str) -> None:
    catalogue = DraftCatalogue(code)
    assert catalogue.n_plurals == read(folder(code)).n_plurals
    for form, numbers in enumerate(FORMS.get(code, [])):
        wrong = [n for n in numbers if catalogue.plural(n) != form and n not in LOOSE.get(code, ())]
        assert not wrong, f"{wrong} should take form {form} of {code}"
    assert code not in FORMS or len(FORMS[code]) == catalogue.n_plurals
    assert all(catalogue.numbers_of(form) for form in range(catalogue.n_plurals)), "each form is of use"


@pytest.mark.parametrize("code", CODES)
def test_dates_have_the_months_of_the_language_and_plain_digits(code: str) -> None:
    at = datetime(2026, 3, 5, 17, 4, tzinfo=UTC)
    with translation.override(code):
        texts = {formats.date_format(day, style) for day in DAYS for style in ("DATE_FORMAT", "MONTH_DAY_FORMAT")}
        month, alternative = translation.gettext("March"), translation.pgettext("alt. month", "March")
        day, moment = formats.date_format(DAYS[1], "DATE_FORMAT"), formats.date_format(at, "SHORT_DATETIME_FORMAT")
        clock = formats.date_format(at, "TIME_FORMAT")
    assert len(texts) == 2 * len(DAYS), "no two days look alike"
    assert month != "March" and (month in day or alternative in day or re.search(r"\D3\D", day)), day
    assert re.search(r"(^|\D)2026(\D|$)", day) and re.search(r"(^|\D)5(\D|$)", day)
    assert clock == "17:04" and clock in moment, "hours from 0 to 23, so no word for the half of a day is needed"
    for text in (*texts, day, moment):
        assert all(sign in "0123456789" for sign in text if sign.isdigit()), text


@pytest.mark.parametrize("code", CODES)
@pytest.mark.django_db
def test_the_page_runs_as_the_script_does_and_names_the_language(code: str) -> None:
    page = Client(headers={"accept-language": code}).get("/sign-in").content.decode()
    right = code.split("-")[0] in FROM_THE_RIGHT
    assert f'<html lang="{code}" dir="{"rtl" if right else "ltr"}"' in page
    assert get_language_info(code)["bidi"] is right and get_language_info(code)["name_local"] != code
    assert f">{interface_name(code)}</button>" in page
    assert ("(" in interface_name(code).replace("(Brasil)", "")) is (code not in settings.CONFIRMED_LANGUAGES)


@pytest.mark.parametrize("code", [code for code in CODES if code in WISHES])
@pytest.mark.django_db
def test_a_browser_that_asks_for_a_draft_language_gets_it(code: str) -> None:
    for wish in WISHES[code]:
        page = Client(headers={"accept-language": f"{wish},en;q=0.5"}).get("/sign-in").content.decode()
        assert f'<html lang="{code}"' in page, wish


def test_words_of_recipes_are_in_languages_that_people_read() -> None:
    """`zh.json` for readers of `zh-hans`, `pt.json` for those of `pt-br`: by the language without its country."""
    read_by = {code.split("-")[0] for code in CODES}
    assert set(WORDS) <= {*read_by, *CODES}, "words that no language of the interface shows"
    labels = [field["label"] for recipe in RECIPES for stage in recipe.stages for field in stage.sheet["fields"]]
    for code, words in WORDS.items():
        readers = [reader for reader in CODES if code in (reader, reader.split("-")[0])]
        for reader in readers:
            wanted = {label["en"]: localise(label, reader) for label in labels if label.get("en") in words}
            assert wanted and wanted.items() <= words.items(), (code, reader)
            assert translate_name(next(iter(words)), reader) == words[next(iter(words))]


def test_teams_are_asked_for_texts_only_in_languages_that_are_no_drafts(settings: Any) -> None:
    assert list(text_languages()) == ["en", "am", "ar", "pt"]
    settings.CONFIRMED_LANGUAGES = ["ar"]
    assert list(text_languages()) == ["en", "ar"]
    assert has_draft_texts("pt") and has_draft_texts("pt-br") and not has_draft_texts("ar")
    assert not has_draft_texts("en") and not has_draft_texts("xx"), "the interface has no such language"
    assert draft_text_names(["en", "pt", "ar"]) == ["pt"] or draft_text_names(["en", "pt", "ar"]) == ["Português"]


@pytest.mark.django_db
def test_researchers_see_which_texts_of_a_recipe_are_a_machines_draft(world: World, settings: Any) -> None:
    stage, client = world.stage, world.client(world.owner)
    stage.instructions = {"en": "Look closely.", "pt": "Olhe bem.", "ar": "تمعّن."}
    stage.save()
    new = reverse("annotation:campaign_new", args=[world.benchmark.slug]) + f"?stage={stage.pk}"
    places = {
        reverse("benchmarks:create"): "You can change every text.",
        new: "A machine draft came with the recipe",
        reverse("annotation:compose", args=[world.benchmark.slug, stage.pk]): "Português (machine draft)</option>",
    }
    for draft in (False, True):
        settings.CONFIRMED_LANGUAGES = [code for code in CODES if not draft or code != "pt-br"]
        for address, words in places.items():
            page = client.get(address).content.decode()
            assert (words in page) is draft, address
            assert "العربية (machine draft)" not in page
    form = client.get(new).content.decode()
    assert "Olhe bem." in form.split("<summary>Other languages</summary>")[1], "the draft is kept, and folded"


@pytest.mark.parametrize("code", [code for code in CODES if code not in settings.CONFIRMED_LANGUAGES])
def test_a_draft_says_so_in_its_own_language(code: str) -> None:
    assert f"({DRAFT[code]})" in interface_name(code)
