"""Label sets as pure values: of a team's rows, of the built-in lists, of recipes."""

from collections.abc import Sequence

from django.db.models import Count, QuerySet

from benchmarks.models import Label, LabelSet
from benchmarks.recipes.contract import Recipe
from benchmarks.recipes.registry import RECIPES
from benchmarks.rules.label_sets.contract import LabelSetSpec, LabelSpec, fold
from benchmarks.rules.label_sets.countries import CONTINENT_OF, ZONE_OF, western_of
from benchmarks.rules.label_sets.registry import BUILT_IN, RECIPE_PREFIX
from people.models import Team

FIELDS = ("key", "text", "names", "country", "continent", "region", "values_zone", "western", "about")


def recipe_set(recipe: Recipe) -> LabelSetSpec:
    """The cultures that a recipe's paper asked about, in its order."""
    labels = [
        LabelSpec(
            key=cohort.slug,
            text=cohort.label,
            names={language: text for language, text in cohort.names.items() if text != cohort.label},
            country=cohort.country,
            continent=CONTINENT_OF.get(cohort.country, ""),
            values_zone=ZONE_OF.get(cohort.country, ""),
            western=western_of(cohort.country),
        )
        for cohort in recipe.cohorts
    ]
    kind = LabelSet.Kind.COUNTRIES if all(label.country for label in labels) else LabelSet.Kind.CULTURES
    name = f"{recipe.name}: cultures of the recipe"
    return LabelSetSpec(RECIPE_PREFIX + recipe.key, name[:120], str(kind), tuple(labels), source=recipe.citation[:300])


def offered_sets() -> list[LabelSetSpec]:
    """The sets that every team has without importing any: built-in lists, then those of recipes."""
    return [*BUILT_IN, *(recipe_set(recipe) for recipe in RECIPES if recipe.cohorts)]


def find_offered(key: str) -> LabelSetSpec | None:
    """A set of `offered_sets` by its key or its name."""
    offered = offered_sets()
    by_key = next((candidate for candidate in offered if candidate.key == key), None)
    return by_key or next((candidate for candidate in offered if fold(candidate.name) == fold(key)), None)


def split_reference(reference: str) -> tuple[str, int | None]:
    """Key and version of `key@version`; without a version, or with one that is no number, None.

    >>> split_reference("countries@2"), split_reference("countries")
    (('countries', 2), ('countries', None))
    """
    key, _at, version = reference.strip().rpartition("@")
    if key and version.isascii() and version.isdigit() and len(version) < 10:
        return key, int(version)
    return reference.strip(), None


def find_set(team: Team, reference: str) -> LabelSet | None:
    """A team's row by `key`, `key@version` or the set's name; the newest version where none is named."""
    key, version = split_reference(reference)
    rows = LabelSet.objects.filter(team=team)
    named = rows.filter(key=key).order_by("-version")
    if version is not None:
        return named.filter(version=version).first()
    newest = named.first()
    if newest is None and fold(reference):
        return next((row for row in newest_sets(team) if fold(row.name) == fold(reference)), None)
    return newest


def newest_sets(team: Team) -> QuerySet[LabelSet]:
    """The newest version of each of a team's sets, by name, with the number of labels as `n`."""
    newest = LabelSet.objects.filter(team=team).order_by("key", "-version").distinct("key")
    return LabelSet.objects.filter(pk__in=newest.values("pk")).annotate(n=Count("labels")).order_by("name", "key")


def spec_of(label_set: LabelSet) -> LabelSetSpec:
    """A row with its labels as a pure value: one query."""
    rows = Label.objects.filter(label_set=label_set).order_by("position")
    labels = tuple(label_spec(row) for row in rows)
    return LabelSetSpec(
        label_set.key, label_set.name, label_set.kind, labels, label_set.source, label_set.licence, label_set.version
    )


def label_spec(row: Label) -> LabelSpec:
    return LabelSpec(**{name: getattr(row, name) for name in FIELDS}, aliases=tuple(row.aliases))


def labels_of(label_set: LabelSet, keys: Sequence[str] = ()) -> QuerySet[Label]:
    """The labels in their order; of `keys`, only those."""
    rows = Label.objects.filter(label_set=label_set).order_by("position")
    return rows.filter(key__in=keys) if keys else rows


def set_for_tables(team: Team, key: str) -> LabelSetSpec | None:
    """The newest version that the team has; else the built-in content, which has no version yet. Writes nothing."""
    row = find_set(team, key)
    return spec_of(row) if row is not None else find_offered(key)
