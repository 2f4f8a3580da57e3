"""A recipe as JSON: what a recipe file holds besides its tables and label sets. What is as usual is left out. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from benchmarks.recipes.contract import Recipe

FORMAT = "emic-recipe"
FORMAT_VERSION = 1
OUTSIDE = ("version", "format", "format_version")
"""Members of a file that are not part of its content: a version is a number of the team that keeps it."""


def recipe_to_json(recipe: Recipe) -> dict[str, Any]:
    """Every part of the recipe by its name. Members that are what the contract starts with are left out."""
    return parts_to_json({member.name: getattr(recipe, member.name) for member in fields(recipe)})


def parts_to_json(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The same of the members of a recipe that may not be whole yet."""
    usual = {member.name: default_of(member) for member in fields(Recipe)}
    return {name: to_json(value) for name, value in parts.items() if value != usual[name]}


def to_json(part: Any) -> Any:
    """A part as plain JSON; of a data class the members that are not as usual."""
    if is_dataclass(part) and not isinstance(part, type):
        members = {member.name: (getattr(part, member.name), default_of(member)) for member in fields(part)}
        return {name: to_json(value) for name, (value, default) in members.items() if value != default}
    if isinstance(part, Mapping):
        return {str(key): to_json(value) for key, value in part.items()}
    return [to_json(member) for member in part] if isinstance(part, list | tuple) else part


def default_of(member: Any) -> Any:
    """What a member of the contract starts with; MISSING where it must be given."""
    if member.default is not MISSING:
        return member.default
    return member.default_factory() if member.default_factory is not MISSING else MISSING


def content_digest(content: Mapping[str, Any]) -> str:
    """Equal for equal content, whatever the order of its members and whoever keeps it."""
    compared = {key: value for key, value in content.items() if key not in OUTSIDE}
    return hashlib.sha256(json.dumps(compared, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


FIRST = (
    "format", "format_version", "version", "key", "code", "en", "name", "label", "text", "kind", "display", "summary",
    "citation", "licence", "published", "cohorts", "concepts", "conditions", "sheet", "fields", "stages",
)  # fmt: skip
"""Members that people look for stand first; the database keeps no order of its own."""


def file_text(content: Mapping[str, Any], version: int) -> str:
    """The file: indented, in one order, with a line break at its end."""
    head = {"format": FORMAT, "format_version": FORMAT_VERSION, "version": str(version)}
    return json.dumps(_in_order({**content, **head}), ensure_ascii=False, indent=1) + "\n"


def _in_order(part: Any) -> Any:
    if isinstance(part, Mapping):
        return {name: _in_order(part[name]) for name in sorted(part, key=_place)}
    return [_in_order(member) for member in part] if isinstance(part, list) else part


def _place(name: str) -> tuple[int, str]:
    return FIRST.index(name) if name in FIRST else len(FIRST), name
