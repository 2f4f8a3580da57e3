"""What a published benchmark adds to the platform, as one object, and how it is registered.

Each part is handed to the registry of the app that uses it; the apps do not know who filled them. When Django starts,
`papers.apps` registers the benchmarks of this package, then those of every installed package with an entry point in the
group `emic.benchmarks`. docs/how-to/write-a-benchmark-plugin.md shows how to write one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from benchmarks.pages import plugin_pages, stage_sources
from benchmarks.pages.plugin_pages import PluginPage
from benchmarks.pages.stage_sources import FillingPage
from benchmarks.recipes import registry as recipes
from benchmarks.recipes.contract import Recipe
from benchmarks.rules.derivations import registry as derivations
from evaluation.figures import registry as figures
from evaluation.figures import spec as figure_spec
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.tables import registry as tables
from evaluation.tables.spec import TableSpec
from predictions.prompts import registry as prompts
from predictions.prompts.contract import Prompt
from releases.exports import document_files, record_files
from releases.exports.document_files import DocumentFile
from releases.exports.record_files import RecordFile
from releases.rows.site import registry as site_rows
from releases.rows.site.registry import SitePart

GROUP = "emic.benchmarks"
BUILT_IN = ("caire", "culturalvqa", "globalrg", "valueground", "xcm")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BenchmarkPlugin:
    """A published benchmark. Mappings go from the key of a recipe to what its benchmarks have.

    `words`: language to (English sentence of the recipes to its translation). Keys of recipes, prompts, derivations and
    tables are stored: they never change their meaning.
    """

    key: str
    recipes: tuple[Recipe, ...]
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    prompts: tuple[Prompt, ...] = ()
    derivations: Mapping[str, derivations.DerivationKind] = field(default_factory=dict)
    tables: Mapping[str, tuple[TableSpec, ...]] = field(default_factory=dict)
    figures: Mapping[str, tuple[FigureSpec, ...]] = field(default_factory=dict)
    figure_options: Mapping[str, Callable[[FigureData], list[str]]] = field(default_factory=dict)
    records: Mapping[str, tuple[RecordFile, ...]] = field(default_factory=dict)
    documents: Mapping[str, tuple[DocumentFile, ...]] = field(default_factory=dict)
    site_rows: Mapping[str, SitePart] = field(default_factory=dict)
    pages: Mapping[str, tuple[PluginPage, ...]] = field(default_factory=dict)
    filling_pages: Mapping[str, Mapping[str, FillingPage]] = field(default_factory=dict)


@dataclass(frozen=True)
class PluginFailure:
    """An entry point that could not be loaded or registered: its name, its package, and the error."""

    name: str
    package: str
    message: str


REGISTERED: list[BenchmarkPlugin] = []
FAILURES: list[PluginFailure] = []


def register(plugin: BenchmarkPlugin) -> None:
    """Hand each part of a plugin to its registry; all or nothing.

    Raises what a registry raises for a key that is taken, and ValueError for parts of a recipe of another plugin.
    """
    own = {recipe.key for recipe in plugin.recipes}
    for name in ("tables", "figures", "records", "documents", "site_rows", "pages", "filling_pages"):
        if foreign := sorted(set(getattr(plugin, name)) - own):
            raise ValueError(f"{name} of {', '.join(foreign)}, which is no recipe of the plugin {plugin.key!r}")
    with _all_or_nothing():
        for recipe in plugin.recipes:
            recipes.register_recipe(recipe, plugin.words)
        for prompt in plugin.prompts:
            prompts.register_prompt(prompt)
        for key, kind in plugin.derivations.items():
            derivations.register_derivation(key, kind)
        for key, specs in plugin.tables.items():
            tables.register_tables(key, specs)
        for key, drawn in plugin.figures.items():
            figures.register_figures(key, drawn)
        for name, known in plugin.figure_options.items():
            figures.register_figure_option(name, known)
        for key, files in plugin.records.items():
            record_files.register_records(key, files)
        for key, whole in plugin.documents.items():
            document_files.register_documents(key, whole)
        for key, part in plugin.site_rows.items():
            site_rows.register_site_part(key, part)
        for key, pages in plugin.pages.items():
            plugin_pages.register_pages(key, pages)
        for key, filling in plugin.filling_pages.items():
            stage_sources.register_filling_pages(key, filling)
        REGISTERED.append(plugin)


@contextmanager
def _all_or_nothing() -> Iterator[None]:
    """Put every registry back as it was if one of them refuses its part."""
    lists: tuple[list[Any], ...] = (recipes.RECIPES, REGISTERED)
    mappings: tuple[dict[str, Any], ...] = (
        *(derivations.KINDS, tables.BY_RECIPE, figures.BY_RECIPE, figure_spec.OWN_OPTIONS),
        *(record_files.BY_RECIPE, document_files.BY_RECIPE, site_rows.BY_RECIPE, plugin_pages.BY_RECIPE),
        stage_sources.FILLING_PAGES,
    )
    before = [(listed, list(listed)) for listed in lists], [(mapping, dict(mapping)) for mapping in mappings]
    known_prompts = prompts.PROMPTS
    try:
        yield
    except Exception:
        for listed, entries in before[0]:
            listed[:] = entries
        for mapping, items in before[1]:
            mapping.clear()
            mapping.update(items)
        prompts.PROMPTS = known_prompts
        raise


def register_built_in() -> None:
    for name in BUILT_IN:
        register(import_module(f"papers.{name}.plugin").PLUGIN)


def register_installed() -> None:
    """Register the plugins of installed packages. One that fails is logged and listed in FAILURES; the site starts."""
    for entry in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        try:
            plugin = entry.load()
            if not isinstance(plugin, BenchmarkPlugin):
                raise TypeError(f"{entry.value} is not a BenchmarkPlugin")
            register(plugin)
        except Exception as error:  # whatever a foreign package does, the site starts
            log.exception(
                "The benchmark plugin %s of the package %s could not be registered",
                entry.name,
                _distribution_name(entry),
            )
            FAILURES.append(PluginFailure(entry.name, _distribution_name(entry), f"{type(error).__name__}: {error}"))
        else:
            log.info("Registered the benchmark plugin %s of the package %s", entry.name, _distribution_name(entry))


def _distribution_name(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?"
