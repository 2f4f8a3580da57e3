"""An example of the JSON that each operation takes and answers with, made from its own description.

Values follow from names of members where these say enough, else from types; so no example is written twice, and none
is forgotten when a member is added.
"""

import re
from collections.abc import Mapping
from typing import Any

JSON = "application/json"
DEEPEST = 8  # members of members
BY_FORMAT = {
    "date-time": "2026-03-01T12:00:00Z",
    "date": "2026-03-01",
    "email": "person@example.org",
    "uri": "https://emic.example.org/",
    "decimal": "1.00",
    "uuid": "0b5f6a52-3f3e-4b39-9d0c-3c1f0a6f0001",
}
_BY_MEMBERS = {
    "breads": ("slug", "benchmark"),
    "Breads": ("name", "title"),
    "lab": ("team",),
    "relevance": ("stage", "field", "key", "question"),
    "item-00001": ("item",),
    "R-7KQ2M": ("rater", "author", "by", "reviewer"),
    "Egypt": ("cohort", "target", "origin", "label"),
    "natural": ("condition",),
    "bread": ("concept",),
    "en": ("language",),
    "4": ("code", "answer", "decision"),
    "caire": ("recipe",),
    "1.0.0": ("version",),
    "person@example.org": ("email",),
    "The picture shows something else.": ("reason", "comment"),
    "0" * 64: ("sha256",),
    "sheet-0001": ("client_key",),
}
BY_NAME = {name: value for value, names in _BY_MEMBERS.items() for name in names}
OTHER = "text"


def add_examples(result: Any, **_more: Any) -> Any:
    """Into the description, after it was generated."""
    schemas = result["components"]["schemas"]
    for methods in result["paths"].values():
        for described in methods.values():
            contents = [described.get("requestBody", {})]
            contents += [reply for status, reply in described["responses"].items() if status.startswith("2")]
            for content in contents:
                media = content.get("content", {}).get(JSON)
                if media is not None and "example" not in media:
                    media["example"] = example_of(media["schema"], schemas)
    return result


def example_of(schema: Mapping[str, Any], schemas: Mapping[str, Any], name: str = "", depth: int = 0) -> Any:
    """A value that the schema takes. `name`: of the member that it is of."""
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas, name, depth)
    if "enum" in schema:
        return schema["enum"][0]
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            return example_of(schema[several][0], schemas, name, depth)
    kind = _kind_of(schema)
    if kind == "object":
        return _object(schema, schemas, depth)
    if kind == "array":
        return [] if depth > DEEPEST else [example_of(schema["items"], schemas, name.removesuffix("s"), depth + 1)]
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 1), 1) if kind == "integer" else schema.get("maximum", 0.5)
    return kind == "boolean" or _text(schema, name)


def _kind_of(schema: Mapping[str, Any]) -> str:
    """The first kind that is no null; of what may be anything a text."""
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    return next((kind for kind in kinds if kind != "null"), "string") if isinstance(kinds, list) else str(kinds)


def _object(schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int) -> dict[str, Any]:
    members = schema.get("properties", {})
    if depth > DEEPEST:
        members = {name: members[name] for name in schema.get("required", ())}
    return {name: example_of(member, schemas, name, depth + 1) for name, member in members.items()}


def _text(schema: Mapping[str, Any], name: str) -> str:
    known = [BY_FORMAT.get(schema.get("format", ""), ""), BY_NAME.get(name, OTHER), *_BY_MEMBERS]
    pattern = re.compile(schema.get("pattern", ""))
    text = next((value for value in known if value and pattern.search(value)), OTHER)
    return text[: schema.get("maxLength")]
