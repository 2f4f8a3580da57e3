"""Conditions that keep withheld answers out of site rows, and what is made of them."""

# ruff: noqa: S608  (only constants are put into the statements)

_OF_SPLIT = "SELECT FROM releases_releaseitem w WHERE w.release_id = {release} AND w.item_id ="
NOTHING_WITHHELD = "{withheld} = ''"
COPIED = ("concept", "origin", "condition", "answer_target")
"""What an item has of its sources, or of an answer."""


def is_open(item: str) -> str:
    """SQL: the answers to an item, by its id, are not withheld."""
    return f"NOT EXISTS ({_OF_SPLIT} {item} AND w.split = {{withheld}})"


def has_open_text(item: str) -> str:
    """SQL: an item, by its id, was not made of withheld answers."""
    return f"NOT EXISTS ({_OF_SPLIT} {item} AND w.hides_text AND {{withheld}} <> '')"


def open_unit(unit: str) -> str:
    """SQL: the answers to a unit, by its id, are not withheld."""
    return is_open(f"(SELECT v.item_id FROM annotation_unit v WHERE v.id = {unit})")


def _may_be_withheld(image: str) -> str:
    """SQL: a picture, by its id, came with an answer to an item whose answers are not shipped."""
    return f"""EXISTS (SELECT FROM annotation_upload b JOIN annotation_assignment c ON c.id = b.assignment_id
      JOIN annotation_unit v ON v.id = c.unit_id JOIN benchmarks_item h ON h.id = v.item_id
      JOIN benchmarks_stage t ON t.id = h.stage_id
    WHERE b.image_id = {image} AND t.benchmark_id = {{benchmark}}
      AND NOT EXISTS ({_OF_SPLIT} h.id AND w.split <> {{withheld}}))"""


def open_picture(item: str, image: str) -> str:
    """SQL: a picture of an item, by both ids, is no withheld answer."""
    return f"({has_open_text(item)} OR NOT {_may_be_withheld(image)})"


def open_value(item: str, column: str) -> str:
    """SQL: a column of an item, by its alias; empty where it may be a withheld answer.

    What an item was made of keeps its values. A value that is one of these tells nothing else.
    """
    return f"""CASE WHEN {has_open_text(f"{item}.id")} THEN {item}.{column}
    WHEN EXISTS (
      WITH RECURSIVE up(id) AS (
        SELECT {item}.id UNION SELECT p.parent FROM up JOIN (
          SELECT item_id AS child, source_id AS parent FROM annotation_itemsource
          UNION ALL SELECT id, replaces_id FROM benchmarks_item WHERE replaces_id IS NOT NULL
        ) p ON p.child = up.id
      )
      SELECT FROM up JOIN releases_releaseitem w ON w.release_id = {{release}} AND w.item_id = up.id
      JOIN benchmarks_item g ON g.id = up.id WHERE NOT w.hides_text AND g.{column} = {item}.{column}
    ) THEN {item}.{column} ELSE '' END"""


def without_hidden(item: str, value: str, otherwise: str) -> str:
    """SQL: a value of an item, and another one where it may be a withheld answer."""
    return f"CASE WHEN {has_open_text(item)} THEN {value} ELSE {otherwise} END"
