"""Which concepts, countries and conditions a stage knows. A recipe names them; without one, any country is fine."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from django.utils.translation import gettext as _

from benchmarks.imports import countries
from benchmarks.imports.problems import RowProblem
from benchmarks.models import Stage
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.rules.label_sets.countries import NAMES


@dataclass(frozen=True)
class Vocabulary:
    """Spellings to the stored word. Empty mappings know everything."""

    concepts: Mapping[str, str]
    origins: Mapping[str, str]
    conditions: Mapping[str, str]
    pictures: str = "one"
    needs_origin: bool = True

    def concept(self, text: str) -> str:
        return _match_known(text, self.concepts, "concept", _("concept")) if self.concepts else text

    def condition(self, text: str) -> str:
        return _match_known(text, self.conditions, "condition", _("condition")) if self.conditions else text

    def country(self, text: str) -> str:
        """The recipe's cohort, or the country's name. Raises RowProblem for what is no country."""
        code = countries.code_of(text)
        if self.origins and (text or self.needs_origin):
            return _match_known(NAMES[code] if code else text, self.origins, "country", _("country"))
        if code or not text:
            return NAMES[code] if code else ""
        raise _unknown("bad_country", _("country"), text, countries.similar_countries(text))

    def origin(self, text: str) -> str:
        """Any culture, unless the recipe names its own."""
        return self.country(text) if self.origins else text


def vocabulary_of(stage: Stage) -> Vocabulary:
    recipe = recipe_of(stage.benchmark)
    spec = next((stage_spec for stage_spec in recipe.stages if stage_spec.key == stage.key), None) if recipe else None
    if recipe is None or (spec is not None and spec.own_vocabulary):
        return Vocabulary({}, {}, {}, stage.pictures, needs_origin=recipe is None)
    origins: dict[str, str] = {}
    for cohort in recipe.cohorts:
        spellings = [cohort.label, cohort.country, NAMES.get(cohort.country, ""), *cohort.names.values()]
        origins |= {_normalise(spelling): cohort.label for spelling in spellings if spelling}
    if origins:
        origins |= _cohorts_of_team(stage)
    conditions: dict[str, str] = {}
    for condition in recipe.conditions:
        conditions |= {_normalise(name): condition.key for name in (condition.key, *condition.name.values())}
    concepts = {_normalise(concept): concept for concept in recipe.concepts}
    return Vocabulary(concepts, origins, conditions, stage.pictures, stage.asks_own_culture)


def _cohorts_of_team(stage: Stage) -> dict[str, str]:
    """The team may ask cohorts of its own, whom the recipe does not name."""
    spellings: dict[str, str] = {}
    for cohort in stage.benchmark.team.cohorts.order_by("pk"):
        names = [cohort.label, NAMES.get(cohort.country, ""), *cohort.names.values()]
        spellings |= {_normalise(name): cohort.label for name in names if name}
    return spellings


def match_last(words: Iterable[str], known: Mapping[str, str]) -> str:
    """The last of some words that is known: for paths such as natural/Egypt/dance/7.jpg."""
    return next((known[_normalise(word)] for word in reversed(list(words)) if _normalise(word) in known), "")


def _match_known(text: str, known: Mapping[str, str], code: str, label: str) -> str:
    if not known:
        return text
    if not text:
        choices = ", ".join(dict.fromkeys(known.values()))
        message = _("There is no %(what)s, and this stage needs one of: %(choices)s.")
        raise RowProblem(f"no_{code}", message % {"what": label, "choices": choices})
    if _normalise(text) in known:
        return known[_normalise(text)]
    near = get_close_matches(_normalise(text), known, n=3, cutoff=0.7)
    if near:
        raise _unknown(f"bad_{code}", label, text, (known[name] for name in near))
    choices = ", ".join(dict.fromkeys(known.values()))
    message = _("“%(text)s” is no %(what)s known here. Use one of: %(choices)s.")
    raise RowProblem(f"bad_{code}", message % {"text": text[:80], "what": label, "choices": choices})


def _unknown(code: str, label: str, text: str, near: Iterable[str]) -> RowProblem:
    choices = ", ".join(dict.fromkeys(near))
    if not choices:
        message = _("“%(text)s” is not a known %(what)s. Check the spelling.")
        return RowProblem(code, message % {"text": text[:80], "what": label})
    message = _("“%(text)s” is no %(what)s known here. Perhaps: %(choices)s.")
    return RowProblem(code, message % {"text": text[:80], "what": label, "choices": choices})


def _normalise(text: str) -> str:
    return " ".join(text.replace("_", " ").replace("-", " ").split()).casefold()
