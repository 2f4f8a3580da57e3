"""Where the items of a stage come from, in words; and the pages that fill stages of a recipe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.models import Stage
from benchmarks.pages.plugin_pages import PluginPage, page_filling

IMPORTS: dict[str, Any] = {
    Stage.Pictures.NONE: gettext_lazy("Import a list of words or texts."),
    Stage.Pictures.OPTIONAL: gettext_lazy("Import a list of texts, with or without pictures."),
}
PICTURES: Any = gettext_lazy("Import pictures as a zip; a manifest says what they show.")
OF: dict[str, Any] = {
    "kept": gettext_lazy("Items come from those of %(stages)s that its filters keep."),
    "items": gettext_lazy("Items come from those of %(stages)s."),
}
BY_KIND: dict[str, Any] = {
    "verdicts": gettext_lazy("Items come with the answers to %(stages)s."),
    "disagree": gettext_lazy("Items come where answers to %(stages)s disagree."),
    "cluster": gettext_lazy("Items come from groups of the items of %(stages)s."),
}
PAGE: Any = gettext_lazy("Items come from the page “%(page)s”.")
ACCEPTED: Any = gettext_lazy("Items come from accepted answers of %(stages)s.")


@dataclass(frozen=True)
class FillingPage:
    """A page of the platform that makes the items of a stage: its label and the name of its route. `after`: the stage
    whose items it makes them of; empty where another step comes between. `needs`: stages whose items it shows, which
    are imported first. `answered`: the items of `after` have to be answered first."""

    label: Any
    route: str
    after: str = ""
    needs: tuple[str, ...] = ()
    answered: bool = False

    def url(self, stage: Stage) -> str:
        return reverse(self.route, args=[stage.benchmark.slug])


FILLING_PAGES: dict[str, Mapping[str, FillingPage]] = {}  # by recipe and stage, filled by `register_filling_pages` only


def register_filling_pages(recipe: str, pages: Mapping[str, FillingPage]) -> None:
    FILLING_PAGES[recipe] = pages


def filling_page(stage: Stage) -> FillingPage | None:
    """Which page fills a stage of a recipe that is not derived."""
    return None if stage.derivation else FILLING_PAGES.get(stage.benchmark.recipe, {}).get(stage.key)


def source_page(stage: Stage) -> PluginPage | FillingPage | None:
    """The page that makes the items of a stage that is not derived: of its recipe, else of the platform."""
    return None if stage.derivation else page_filling(stage) or filling_page(stage)


def source_text(stage: Stage, stages: Sequence[Stage]) -> str:
    """How a stage without items gets some; the stages that it is made of are named."""
    derivation = stage.derivation or {}
    page = source_page(stage)
    if page is not None:
        return str(PAGE) % {"page": page.label}
    if not derivation:
        return str(IMPORTS.get(stage.pictures, PICTURES))
    names = {other.key: other.name for other in stages}
    sources = [f"“{names.get(key, key)}”" for key in derivation.get("from", ())]
    kind, of = str(derivation.get("kind", "")), str(derivation.get("of", ""))
    text = BY_KIND.get(kind) or OF.get(of) or ACCEPTED
    return str(text) % {"stages": _(" and ").join(sources)}
