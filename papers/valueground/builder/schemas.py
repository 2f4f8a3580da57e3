"""The JSON that each prompt of the builder asks for, and what is wrong with a reply that does not fit. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from papers.valueground.builder.states import AXES, SIDES

Schema = Mapping[str, Any]
TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT, "minItems": 1}
FLAG: Schema = {"type": "boolean"}
TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "integer": int, "boolean": bool,
}  # fmt: skip


def _object(**properties: Schema) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _named(title: str, schema: Schema) -> dict[str, Any]:
    """With the name that it has in a request."""
    return {"title": title, **schema}


def _sides(part: Schema, sides: Iterable[str] = SIDES) -> dict[str, Any]:
    return _object(**dict.fromkeys(sides, part))


REWRITE = _named("pair_rewrite", _object(statement=TEXT))
PLAN = _named("pair_plan", _object(
    endpoint_selection=_sides({"type": "integer"}),
    semantic_statement=_sides(TEXT),
    plan=_object(
        style={"type": "string", "enum": ["comic"]}, base_scene=TEXT, signals=_sides(TEXTS), locked=TEXTS,
        editable=TEXTS, risks={"type": "array", "items": TEXT},
    ),
))  # fmt: skip
CHECK = _named("pair_check", _object(object_presence=FLAG, single_moment=FLAG, expert_scene=FLAG, reason=TEXT))
CRITIC = _named(
    "pair_critic",
    _object(
        issues=_sides(_object(**dict.fromkeys(AXES, TEXT))),
        routing={"type": "string", "enum": ["accept", "regenerate", "revise_edits", "replan"]},
        targets={"type": "array", "items": {"type": "string", "enum": [*SIDES]}},
        text_visible=FLAG,
    ),
)


def instruct_schema(sides: Iterable[str]) -> dict[str, Any]:
    """Of the editor: an instruction for each of the sides, and for no other."""
    return {"title": "pair_instruct", **_sides(_object(instruction=TEXT), sides)}


def signals_schema(sides: Iterable[str]) -> dict[str, Any]:
    """Of a planner without an editor: new signals for each of the sides."""
    return {"title": "pair_signals", **_sides(_object(signals=TEXTS), sides)}


class InvalidReply(Exception):
    """A reply that is not the JSON that was asked for; the message says why, for the model."""


def parse_reply(text: str, schema: Schema) -> dict[str, Any]:
    """The JSON of a reply, also within a fence of Markdown. Raises InvalidReply."""
    stripped = text.strip()
    if stripped.startswith("```"):
        stripped = stripped.partition("\n")[2].rpartition("```")[0]
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        raise InvalidReply("The reply is not valid JSON.") from None
    if problem := fault_of(value, schema):
        raise InvalidReply(problem)
    parsed: dict[str, Any] = value
    return parsed


def fault_of(value: Any, schema: Schema, path: str = "the reply") -> str:
    """What is wrong with a value, in a sentence; empty where it fits.

    >>> fault_of({"statement": 3}, REWRITE)
    'statement must be a string.'
    """
    kind: str = schema["type"]
    fits = isinstance(value, TYPES[kind]) and not (kind == "integer" and isinstance(value, bool))
    if not fits:
        return f"{path} must be {'an' if kind[0] in 'aeio' else 'a'} {kind}."
    if "enum" in schema and value not in schema["enum"]:
        return f"{path} must be one of: {', '.join(map(str, schema['enum']))}."
    if kind == "array":
        if len(value) < schema.get("minItems", 0):
            return f"{path} must not be empty."
        faults = (fault_of(part, schema["items"], f"{path}[{n}]") for n, part in enumerate(value))
        return next(filter(None, faults), "")
    return _object_fault(value, schema, path) if kind == "object" else ""


def _object_fault(value: Mapping[str, Any], schema: Schema, path: str) -> str:
    properties = schema["properties"]
    if missing := [name for name in properties if name not in value]:
        return f"{path} lacks {', '.join(missing)}."
    if extra := [name for name in value if name not in properties]:
        return f"{path} must not have {', '.join(map(str, extra))}."
    prefix = "" if path == "the reply" else f"{path}."
    return next(filter(None, (fault_of(value[name], part, f"{prefix}{name}") for name, part in properties.items())), "")
