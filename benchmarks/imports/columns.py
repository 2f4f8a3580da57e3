"""The columns of a stage's manifest, with their meaning, and a sample to fill in."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.vocabulary import Vocabulary, vocabulary_of
from benchmarks.models import Stage
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.recipes.contract import Recipe, StageSpec
from benchmarks.rules.displays import TEXT_ON_SHEET, context_columns

MOST_VALUES = 20
Sample = tuple[Sequence[str], Iterable[Sequence[str]]]
NAMED_OF_RECIPE = ("file", "key", "concept", "country", "condition", "source", "licence", "alt", "prompt")


@dataclass(frozen=True)
class ManifestColumn:
    """`needed`: a row without it is refused. `values`: the only ones that are taken; empty: any."""

    name: str
    meaning: str
    needed: bool = False
    values: Sequence[str] = ()
    more: int = 0


def columns_of(stage: Stage) -> list[ManifestColumn]:
    """Those that mean something in this stage, the needed ones first as they are read."""
    vocabulary = vocabulary_of(stage)
    columns = [*_of_pictures(stage), *_shown_columns(stage), *_category_columns(vocabulary), *_source_columns(stage)]
    first: dict[str, ManifestColumn] = {}
    for column in columns:
        if column.name not in first or (column.values and not first[column.name].values):
            first[column.name] = column  # the only values that are taken matter more than where it is shown
    return list(first.values())


def _of_pictures(stage: Stage) -> Iterator[ManifestColumn]:
    pictures = stage.pictures
    if pictures == "none":
        yield ManifestColumn("key", _("The item's name in this stage. One row is one item."), needed=True)
        return
    yield ManifestColumn("file", _("The picture's path in the zip."), needed=pictures != "optional")
    if pictures == "optional":
        yield ManifestColumn("key", _("The item's name in this stage. Needed where a row has no file."))
    elif pictures == "one":
        yield ManifestColumn("key", _("The item's name in this stage. Empty: the path without its ending."))
    else:
        yield ManifestColumn(
            "key", _("The item's name in this stage. Rows with one key are one item. Empty: the folder.")
        )
    if pictures == "named":
        pair = stage.display in ("pair", "bare-pair")
        yield ManifestColumn(
            "role", _("Which of the item's pictures this is."), needed=True, values=("a", "b") if pair else ()
        )
    if pictures == "set":
        yield ManifestColumn("role", _("Which of the item's pictures this is. Empty: they are numbered."))


def _shown_columns(stage: Stage) -> Iterator[ManifestColumn]:
    """What the display shows beside pictures."""
    if stage.display in TEXT_ON_SHEET:
        yield ManifestColumn("text", _("The text that is shown."))
    meanings = {
        "option_a": _("The text of side A."),
        "option_b": _("The text of side B."),
        "candidate": _("The answer to be judged."),
    }
    for name in context_columns(stage.display, stage.pictures):
        yield ManifestColumn(name, meanings[name])
    if stage.display == "words":
        yield ManifestColumn("first", _("The first of two texts to compare."))
        yield ManifestColumn("second", _("The second of two texts to compare."))
    if stage.layout.get("references"):
        yield ManifestColumn("references", _("Reference answers, with | between them."))
    for name in _layout_keys(stage):
        yield ManifestColumn(name, _("Shown with the item."))


def _layout_keys(stage: Stage) -> list[str]:
    rows = [*stage.layout.get("show", ()), *stage.layout.get("fold", ())]
    return [str(row.get("key", "")) if isinstance(row, Mapping) else str(row) for row in rows]


def _category_columns(vocabulary: Vocabulary) -> Iterator[ManifestColumn]:
    """What numbers are cut by."""
    yield _choice_column("concept", _("What the item is about."), vocabulary.concepts)
    meaning = _("The country it was made for: a name or an ISO code. For other cultures use “origin”.")
    yield _choice_column("country", meaning, vocabulary.origins, needed=vocabulary.needs_origin)
    yield _choice_column("condition", _("Where it comes from, such as natural or generated."), vocabulary.conditions)


def _choice_column(name: str, meaning: str, known: Mapping[str, str], *, needed: bool = True) -> ManifestColumn:
    values = list(dict.fromkeys(known.values()))
    rest = max(0, len(values) - MOST_VALUES)
    return ManifestColumn(name, meaning, bool(values) and needed, values[:MOST_VALUES], rest)


def _source_columns(stage: Stage) -> Iterator[ManifestColumn]:
    yield ManifestColumn("source", _("Where it comes from: an address or a name."))
    yield ManifestColumn("licence", _("Licence of the picture."))
    if stage.pictures != "none":
        yield ManifestColumn("alt", _("The picture in words, for people who cannot see it."))
    yield ManifestColumn("fact.<key>", _("A fact, such as fact.clip_score. Rules and filters can use it."))
    spec = _spec(stage)
    for name in dict.fromkeys(name for row in (spec.sample if spec else ()) for name in row):
        yield ManifestColumn(name, _("Used by this recipe. The sample shows its form."))
    meaning = _(
        "Any other column is kept with the item. A JSON object, or a list with | between its parts, is read as such."
    )
    yield ManifestColumn("…", meaning)


def _spec(stage: Stage) -> StageSpec | None:
    recipe = recipe_of(stage.benchmark)
    return next((spec for spec in recipe.stages if spec.key == stage.key), None) if recipe else None


def sample_columns(stage: Stage) -> frozenset[str]:
    """Columns of the sample that the recipe gives for the stage; none without one."""
    spec = _spec(stage)
    return frozenset(name for row in (spec.sample if spec else ()) for name in row)


def sample_of(stage: Stage) -> Sample:
    """Head and rows of a manifest that imports as it is: the recipe's, else two items made up for the stage."""
    recipe, spec = recipe_of(stage.benchmark), _spec(stage)
    if spec and spec.sample:
        head = list(dict.fromkeys(name for row in spec.sample for name in row))
        return head, [[row.get(name, "") for name in head] for row in spec.sample]
    if (
        recipe
        and spec
        and (recipe.expected_stage or recipe.stages[0].key) == stage.key
        and recipe.concepts
        and recipe.conditions
    ):
        return NAMED_OF_RECIPE, _expected_rows(recipe)
    rows = list(_examples(stage))
    head = [column.name for column in columns_of(stage) if any(row.get(column.name) for row in rows)]
    return head, [[row.get(name, "") for name in head] for row in rows]


def _expected_rows(recipe: Recipe) -> Iterator[Sequence[str]]:
    """Every item that the published benchmark has."""
    for expected in recipe.expected_items():
        yield (
            f"{expected.key}.jpg",
            expected.key,
            expected.concept,
            expected.origin,
            expected.condition,
            "",
            "",
            "",
            expected.prompt,
        )


def _examples(stage: Stage) -> Iterator[dict[str, str]]:
    """Two items: with as many pictures as the stage shows, in values that its vocabulary knows."""
    vocabulary = vocabulary_of(stage)
    for number, word in enumerate(("tea", "bread"), start=1):
        key = f"{word}-{number:02}"
        shared = {
            **_texts(stage, word),
            "key": key,
            "concept": _first_value(vocabulary.concepts, word),
            "country": _first_value(vocabulary.origins, "Egypt"),
            "condition": _first_value(vocabulary.conditions, "natural"),
            "source": f"https://example.org/{number}",
            "licence": "CC BY 4.0",
        }
        roles = {"none": [""], "named": ["a", "b"], "set": ["1", "2", "3"]}.get(stage.pictures, [""])
        for at, role in enumerate(roles):
            row = dict(shared) if at == 0 or stage.pictures == "set" else {"key": key, **_cuts(shared)}
            if stage.pictures != "none":
                row |= {"file": f"{key}/{role}.jpg" if role else f"{key}.jpg", "alt": word.title()}
            yield row | ({"role": role} if stage.pictures == "named" else {})


def _cuts(row: Mapping[str, str]) -> dict[str, str]:
    return {name: row[name] for name in ("concept", "country", "condition")}


def _texts(stage: Stage, word: str) -> dict[str, str]:
    texts: dict[str, Any] = {column.name: f"{word.title()}: {column.name}" for column in _shown_columns(stage)}
    return texts | ({"references": f"{word}|{word}s"} if "references" in texts else {})


def _first_value(known: Mapping[str, str], otherwise: str) -> str:
    return next(iter(known.values()), otherwise)
