"""Items made from rows of ratings, for a team that has ratings of them and no pictures."""

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from annotation.imports.rows import clean
from benchmarks.imports.problems import RowProblem
from benchmarks.imports.vocabulary import Vocabulary, vocabulary_of
from benchmarks.models import Item, Stage

LENGTHS = {"key": 200, "concept": 120, "country": 120, "origin": 120, "condition": 60, "text": 20_000}
MOST_COLUMNS = 30
MOST_LETTERS = 20_000
# What a row says of its answer, and not of its item.
OF_ANSWERS = frozenset(
    [
        "item",
        "unit",
        "target",
        "label_set",
        "cohort",
        "rater",
        "rater_kind",
        "setting",
        "about",
        "field",
        "code",
        "answers",
        "codes",
        "annotation",
        "campaign",
        "withdrawn",
        "state",
        "counted",
        "uncounted_because",
        "consent",
        "consent_version",
        "resolved",
        "resolved_by",
        "resolved_reason",
        "version",
        "language",
        "sheet_version",
        "instruction_version",
        "rule_version",
        "shown_at",
        "submitted_at",
        "active_seconds",
        "confirmed",
        "opened",
        "opened_before_gate",
        "opened_before_text",
    ]
)


def items_from_rows(stage: Stage, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Item | RowProblem]:
    """The items of these keys, none of which the stage has: each as its row describes it, or why it cannot be made.

    Needs a transaction; locks the stage, as imports of items do.
    """
    if not rows:
        return {}
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    words = vocabulary_of(stage)
    new_items: dict[str, Item | RowProblem] = {}
    for key, row in rows.items():
        try:
            new_items[key] = _item(stage, key, row, words)
        except RowProblem as problem:
            new_items[key] = problem
    Item.objects.bulk_create([item for item in new_items.values() if isinstance(item, Item)], ignore_conflicts=True)
    stored_items = Item.objects.filter(stage=stage, key__in=rows).prefetch_related("images__image", "facts")
    return new_items | {item.key: item for item in stored_items}


def _item(stage: Stage, key: str, row: Mapping[str, Any], words: Vocabulary) -> Item:
    values = {name: str(row.get(name) or "").strip() for name in LENGTHS} | {"key": key.strip()}
    if not values["key"]:
        raise RowProblem("missing", _("“%(name)s” is empty. Every row needs it.") % {"name": "item"})
    for name, most in LENGTHS.items():
        if len(values[name]) > most:
            message = _("“%(name)s” is longer than %(most)s characters.") % {"name": name, "most": most}
            raise RowProblem("too_long", message)
    by_country = values["country"] or not values["origin"]
    return Item(
        stage=stage,
        key=values["key"],
        concept=words.concept(values["concept"]),
        origin=words.country(values["country"]) if by_country else words.origin(values["origin"]),
        condition=words.condition(values["condition"]),
        text=values["text"],
        context=_context(row),
    )


def _context(row: Mapping[str, Any]) -> dict[str, Any]:
    others = [name for name in row if name not in OF_ANSWERS | LENGTHS.keys() and not name.startswith("answer.")]
    return {name[:60]: _value(name, row[name]) for name in others[:MOST_COLUMNS] if row[name] not in (None, "")}


def _value(name: str, value: Any) -> Any:
    """A list or an object stays one; in a table it is written as JSON."""
    if len(value if isinstance(value, str) else json.dumps(value)) > MOST_LETTERS:
        message = _("“%(name)s” is longer than %(most)s characters.") % {"name": name[:60], "most": MOST_LETTERS}
        raise RowProblem("too_long", message)
    if isinstance(value, str) and value.startswith(("[", "{")):
        try:
            return clean(json.loads(value))
        except (ValueError, RecursionError):
            return value
    return value
