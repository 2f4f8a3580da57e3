"""Plugins: each part reaches the registry of its app, no key is taken twice, and a plugin that fails stops nothing."""

import csv
import io
import json
import logging
import zipfile
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client

from benchmarks.models import Benchmark
from benchmarks.pages.plugin_pages import PluginPage, pages_of
from benchmarks.recipes import registry as recipes
from benchmarks.recipes.contract import Recipe, RecipeError, StageSpec
from benchmarks.recipes.parts import one_of, option
from benchmarks.rules.derivations import registry as derivations
from evaluation.figures.registry import DuplicateFigure, register_figures
from evaluation.figures.registry import figures_of as drawn_of
from evaluation.queries import status
from evaluation.tables.registry import DuplicateTable, register_tables, tables_of
from papers import plugins
from papers.plugins import BenchmarkPlugin
from predictions.prompts import registry as prompts
from predictions.prompts.sheet import SHEET
from releases.exports.record_files import RecordFile
from releases.rows.columns import Row, RowColumn
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.evaluation.sample_tables import SMALL
from tests.module_world import built_once
from tests.personas import World

PAPERS = Path(plugins.__file__).parent
RECIPE = Recipe(
    key="sixth", version="1", name="Sixth", summary={"en": "A sixth benchmark."}, citation="Nobody, 2026.", licence="",
    cohorts=(), concepts=(), conditions=(),
    stages=(
        StageSpec(
            key="colour", name="Colour", display="image", target_answers=2,
            sheet={"fields": [one_of("colour", {"en": "Which colour?"}, [option("red", {"en": "Red"})])]},
        ),
    ),
)  # fmt: skip


def records(rows: Iterator[Row]) -> Iterator[Row]:
    for row in rows:
        yield {"u_id": row["item"], "answer": row["answers"]["relevance"]}


def hello(_request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    return HttpResponse(f"Hello from {benchmark.name}")


def sixth_plugin(**more: Any) -> BenchmarkPlugin:
    columns = (RowColumn("u_id", "", "text", "Key of the item."), RowColumn("answer", "", "text", "The answer."))
    parts = {
        "tables": {"sixth": (SMALL,)},
        "records": {"sixth": (RecordFile("sixth", "relevance", "One record per answer.", columns, records),)},
        "pages": {"sixth": (PluginPage("hello", "Hello", hello), PluginPage("bring", "Import", hello, imports=True))},
    }
    return BenchmarkPlugin(key="sixth", recipes=(RECIPE,), **(parts | more))


@pytest.fixture(autouse=True)
def _registries_as_they_were() -> Iterator[None]:
    """Undo what a test registers."""

    class Undo(Exception):
        pass

    failures = list(plugins.FAILURES)
    try:
        with plugins._all_or_nothing():
            yield
            raise Undo
    except Undo:
        plugins.FAILURES[:] = failures


def registered() -> dict[str, Any]:
    return {
        "recipes": [one.key for one in recipes.RECIPES],
        "prompts": [one.key for one in prompts.PROMPTS],
        "tables": {key: [one.key for one in specs] for key, specs in plugins.tables.BY_RECIPE.items()},
        "derivations": list(derivations.KINDS),
        "records": list(plugins.record_files.BY_RECIPE),
        "pages": list(plugins.plugin_pages.BY_RECIPE),
    }


def test_the_five_papers_are_registered_under_the_keys_that_are_stored() -> None:
    stored = registered()
    assert stored["recipes"] == [
        "caire-universal", "culturalvqa", "globalrg-retrieval", "globalrg-grounding", "valueground", "3xcm",
    ]  # fmt: skip
    assert set(stored["recipes"]) <= set(stored["tables"])
    assert stored["prompts"][-1] == SHEET.key and len(set(stored["prompts"])) == len(stored["prompts"]) == 36
    assert len(plugins.REGISTERED) >= 5 and not plugins.FAILURES


def test_each_folder_says_what_the_paper_did_and_where_each_printed_value_stands() -> None:
    for name in plugins.BUILT_IN:
        folder = PAPERS / name
        readme = (folder / "README.md").read_text("utf-8")
        assert all(f"\n## {title}\n" in readme for title in ("What the paper did", "What is reproduced", "Differences"))
        sources = list(csv.DictReader((folder / "printed" / "sources.csv").open(encoding="utf-8")))
        files = {one.name for one in (folder / "printed").glob("*.csv")} - {"sources.csv"}
        assert {row["file"] for row in sources} == files and len(sources) == len(files), name
        assert all(row["source"] for row in sources)
        in_text = folder / "printed" / "values_in_text.csv"
        if in_text.exists():
            assert all(row["source"] for row in csv.DictReader(in_text.open(encoding="utf-8"))), name


def test_a_key_that_is_taken_is_refused() -> None:
    with pytest.raises(RecipeError, match="the key is taken"):
        recipes.register_recipe(recipes.RECIPES[0])
    with pytest.raises(prompts.DuplicatePrompt, match=SHEET.key):
        prompts.register_prompt(SHEET)
    with pytest.raises(DuplicateTable, match="accuracy"):
        register_tables(
            "culturalvqa", [one for one in plugins.tables.BY_RECIPE["culturalvqa"] if one.key == "accuracy"]
        )
    with pytest.raises(DuplicateFigure, match="3xcm"):
        register_figures("3xcm", plugins.figures.BY_RECIPE["3xcm"])
    with pytest.raises(ValueError, match="promote"):
        derivations.register_derivation("promote", derivations.KINDS["promote"])


def test_a_plugin_with_one_key_that_is_taken_leaves_nothing_behind() -> None:
    before = registered()
    with pytest.raises(prompts.DuplicatePrompt):
        plugins.register(sixth_plugin(prompts=(SHEET,)))
    assert registered() == before
    with pytest.raises(ValueError, match="no recipe of the plugin 'sixth'"):
        plugins.register(sixth_plugin(tables={"culturalvqa": (SMALL,)}))
    assert registered() == before


@pytest.fixture
def mara(world: World) -> Client:
    return world.client(world.mara)


@built_once
def of_the_sixth(world: World) -> Benchmark:
    plugins.register(sixth_plugin())
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="sixth")
    world.benchmark.recipe = "sixth"
    return world.benchmark


@pytest.mark.django_db
def test_a_benchmark_of_a_plugin_has_its_tables_pages_and_records(
    world: World, of_the_sixth: Benchmark, mara: Client
) -> None:
    assert [one.key for one in tables_of(of_the_sixth)] == ["small"] and drawn_of(of_the_sixth)
    assert [one.key for one in pages_of(of_the_sixth)] == ["hello", "bring"]
    slug = of_the_sixth.slug
    assert f"/b/{slug}/pages/hello/" in mara.get(f"/b/{slug}/items/").content.decode()
    imports = mara.get(f"/b/{slug}/import/").content.decode()
    assert f"/b/{slug}/pages/bring/" in imports
    assert mara.get(f"/b/{slug}/pages/hello/").content.decode() == f"Hello from {of_the_sixth.name}"
    world.add_items(2)
    give_ratings(an_open_campaign(world), world.egypt, world.nour, {world.items[0]: "4"})
    reply = mara.post(f"/b/{slug}/export/", {"stage": world.stage.pk, "form": "jsonl"})
    with zipfile.ZipFile(io.BytesIO(b"".join(reply.streaming_content))) as archive:  # type: ignore[attr-defined]
        named = {name.rsplit("/", 1)[1]: name for name in archive.namelist()}
        lines = [json.loads(one) for one in archive.read(named["records-sixth.jsonl"]).splitlines()]
        book = json.loads(archive.read(named["codebook.json"]))
    assert lines == [{"u_id": world.items[0].key, "answer": "4"}]
    assert book["further"]["records-sixth"]["file"]["rows"] == 1


@pytest.mark.django_db
def test_who_may_not_see_a_plugin_page_gets_404(world: World, of_the_sixth: Benchmark, mara: Client) -> None:
    at = f"/b/{of_the_sixth.slug}/pages/hello/"
    for outsider in (world.stranger, world.rival, world.nour):
        assert world.client(outsider).get(at).status_code == 404
    assert mara.get(at).status_code == 200
    assert mara.get(at.replace("hello", "nothing")).status_code == 404
    Benchmark.objects.filter(pk=of_the_sixth.pk).update(recipe="culturalvqa")
    assert mara.get(at).status_code == 404


@pytest.mark.django_db
def test_a_plugin_that_fails_is_logged_and_named_on_the_status_page(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = EntryPoint("broken", "tests.no_such_module:PLUGIN", plugins.GROUP)
    wrong = EntryPoint("wrong", "tests.personas:SKIP_REASONS", plugins.GROUP)
    works = EntryPoint("works", "tests.papers.test_plugins:WORKS", plugins.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [works, broken, wrong])
    with caplog.at_level(logging.ERROR):
        plugins.register_installed()
    assert "broken" in caplog.text and "tests.no_such_module" in caplog.text
    assert recipes.find("sixth") is not None, "a plugin that fails must not keep another one out"
    monkeypatch.setattr(status, "broker", lambda do: None)
    page = world.client(world.site_admin).get("/status/").content.decode()
    assert "“broken”" in page and "tests.no_such_module" in page and "is not a BenchmarkPlugin" in page
    assert "Installed benchmark plugins" in page


WORKS = sixth_plugin()
