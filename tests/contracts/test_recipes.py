"""Every recipe keeps the contract. A new recipe is tested by being in the registry."""

import ast
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from benchmarks.recipes import contract
from benchmarks.recipes.contract import Recipe, RecipeError, ReportTable, problems
from benchmarks.recipes.registry import RECIPES, WORDS, UnknownRecipe, find, recipe, translate_name
from papers.caire import recipe as caire

FOLDER = Path(contract.__file__).parent
every = pytest.mark.parametrize("entry", RECIPES, ids=lambda one: one.key)


@every
def test_it_is_sound_and_can_be_found(entry):
    assert list(problems(entry)) == []
    assert recipe(entry.key) is entry and find(entry.key) is entry
    assert [other.key for other in RECIPES].count(entry.key) == 1


@every
def test_its_sheets_can_be_shown_and_parsed(entry):
    sheets = pytest.importorskip("annotation.sheets.sheet")
    for stage in entry.stages:
        as_stored = json.loads(json.dumps(stage.sheet))
        sheet = sheets.Sheet.from_json(as_stored)
        assert sheets.Sheet.from_json(sheet.to_json()).to_json() == sheet.to_json()
        assert [field.key for field in sheet.fields] == [field["key"] for field in as_stored["fields"]]


@every
def test_its_display_exists(entry):
    displays = pytest.importorskip("annotation.displays.registry")
    for stage in entry.stages:
        assert displays.display(stage.display)


@every
def test_its_items_have_keys_of_their_own_and_always_the_same(entry):
    items = list(entry.expected_items())
    assert items == list(entry.expected_items())
    assert len({item.key for item in items}) == len(items)
    assert len(items) == len(entry.concepts) * len(entry.cohorts) * len(entry.conditions)


LANGUAGES = {"en", "ar", "pt", "am"}  # a language that is added to the interface later asks nothing of a recipe


def texts_within(value, path):
    """Every text in languages that lies anywhere in a part of a recipe: labels, definitions, reasons, instructions."""
    if isinstance(value, Mapping) and isinstance(value.get("en"), str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts_within(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from texts_within(inner, f"{path}[{number}]")
    elif is_dataclass(value):
        yield from texts_within({part.name: getattr(value, part.name) for part in fields(value)}, path)


@every
def test_sheet_texts_exist_in_four_languages(entry):
    texts = [found for part in ("cohorts", "stages") for found in texts_within(getattr(entry, part), part)]
    assert len(texts) > len(entry.cohorts) + len(entry.stages)
    lacking = [f"{where}: {sorted(LANGUAGES - set(text))}" for where, text in texts if LANGUAGES - set(text)]
    assert not lacking, "\n".join(lacking)
    empty = [where for where, text in texts if not all(value.strip() for value in text.values())]
    assert not empty


@every
@pytest.mark.parametrize("language", sorted(LANGUAGES - {"en"}))
def test_its_stages_and_concepts_have_names_in_every_language(entry, language):
    names = [*(stage.name for stage in entry.stages), *entry.concepts]
    assert [name for name in names if name not in WORDS[language]] == []
    assert translate_name("dance", language) != "dance" and translate_name("Dance", "en") == "Dance"


@every
def test_a_placeholder_stands_in_every_language_or_in_none(entry):
    for where, text in texts_within(entry, entry.key):
        assert len({"{target}" in value for value in text.values()}) == 1, where


@every
def test_what_researchers_read_is_there_in_english_and_arabic(entry):
    for where, text in contract.texts(entry):
        assert set(text) >= {"en", "ar", "pt", "am"}, where


def test_recipes_import_nothing_from_outside():
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert not name.startswith(("django", "people", "jobs", "annotation", "evaluation")), (file, name)
                assert not name.startswith("benchmarks") or name.startswith("benchmarks.recipes"), (file, name)


def test_a_misspelt_key_is_answered_with_the_near_one():
    with pytest.raises(UnknownRecipe, match="did you mean 'caire-universal'"):
        recipe("caire_univrsal")
    with pytest.raises(UnknownRecipe, match="there are: caire-universal"):
        recipe("zzz")
    assert find("zzz") is None


def test_a_recipe_that_contradicts_itself_is_refused():
    good = RECIPES[0]
    parts = {name: getattr(good, name) for name in good.__dataclass_fields__}
    table = ReportTable("a", "A", "relevance", "beauty", "cohort", "condition", "Table 1")
    with pytest.raises(RecipeError, match="no field 'beauty'"):
        Recipe(**{**parts, "report": (table,)})
    with pytest.raises(RecipeError, match="concepts: something is named twice"):
        Recipe(**{**parts, "concepts": ("a", "a")})
    with pytest.raises(RecipeError, match="version: is empty"):
        Recipe(**{**parts, "version": " "})
    with pytest.raises(RecipeError, match="key"):
        Recipe(**{**parts, "key": "Not A Key"})


def test_caire_universal_is_what_the_paper_says():
    items = list(caire.UNIVERSAL.expected_items())
    assert len(items) == 400 and len(caire.CONCEPTS) == 20 and len(caire.COHORTS) == 10
    assert [sum(item.condition == key for item in items) for key in ("natural", "generated")] == [200, 200]
    first = items[0]
    assert (first.key, first.prompt) == ("natural/br/breakfast", "A realistic photo of breakfast in Brazil")
    assert items[-1].prompt == "A realistic photo of transport in United States"
    stage = next(one for one in caire.UNIVERSAL.stages if one.key == "relevance")
    assert stage.target_answers == 20 and stage.has_target
    points = stage.sheet["fields"][0]["config"]["points"]
    assert [point["label"]["en"] for point in points] == [
        "Not Relevant",
        "Minimally Relevant",
        "Somewhat Relevant",
        "Relevant",
        "Highly Relevant",
    ]


def test_how_alike_a_model_finds_two_words_is_not_told_to_who_decides() -> None:
    merges = next(stage for stage in recipe("3xcm").stages if stage.key == "merges")
    assert [row["key"] for row in merges.layout["show"]] == ["first", "second"]
    assert "similarity" in merges.sample[0], "it comes with the item all the same"
