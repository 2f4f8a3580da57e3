"""Conditions that keep withheld answers out of site rows, and what is made of them."""

# ruff: noqa: S608  (only constants are put into the statements)

_OF_SPLIT = "SELECT FROM releases_releaseitem w WHERE w.release_id = {release} AND w.item_id ="
NOTHING_WITHHELD = "{withheld} = ''"


def is_open(item: str) -> str:
    """SQL: the answers to an item, by its id, are not withheld."""
    return f"NOT EXISTS ({_OF_SPLIT} {item} AND w.split = {{withheld}})"


def has_open_text(item: str) -> str:
    """SQL: an item, by its id, was not made of withheld answers."""
    return f"NOT EXISTS ({_OF_SPLIT} {item} AND w.hides_text AND {{withheld}} <> '')"


def open_unit(unit: str) -> str:
    """SQL: the answers to a unit, by its id, are not withheld."""
    return is_open(f"(SELECT v.item_id FROM annotation_unit v WHERE v.id = {unit})")


def without_hidden(item: str, value: str, otherwise: str) -> str:
    """SQL: a value of an item, and another one where it may be a withheld answer."""
    return f"CASE WHEN {has_open_text(item)} THEN {value} ELSE {otherwise} END"
