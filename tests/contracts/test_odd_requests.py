"""Requests that no careful program sends, made from the description: none fails, and each reply is as described."""

import json
import random
from typing import Any

import jsonschema
import pytest
from django.test import Client

from tests.api.clients import reset_request_counts
from tests.contracts import openapi
from tests.contracts.test_openapi import ALL, bearer, operations
from tests.personas import World

ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**30, 1e308, "", "x", "\0", "\ud800", "ع" * 300, "2026-13-45"),
    *([], [[]], {}, {"": None}, ["x", 1]),
)
TEXTS = ("", "0", "-1", "9" * 40, "\0", "é", "../..", "%", "true", "2026-13-45", "eyJ9:x:y")


def example(shape: Any, schemas: Any, chance: random.Random, depth: int = 0) -> Any:
    """A value of a shape, and now and then one that is not."""
    if depth > 4 or chance.random() < 0.12:
        return chance.choice(ODD)
    if "$ref" in shape:
        return example(schemas[shape["$ref"].rsplit("/", 1)[1]], schemas, chance, depth)
    for several in ("oneOf", "anyOf", "allOf"):
        if several in shape:
            return example(chance.choice(shape[several]), schemas, chance, depth)
    if "enum" in shape:
        return chance.choice(shape["enum"])
    kind = shape.get("type", "object")
    kind = chance.choice(kind) if isinstance(kind, list) else kind
    if kind == "object" and "properties" in shape:
        required = shape.get("required", ())
        return {
            name: example(member, schemas, chance, depth + 1)
            for name, member in shape["properties"].items()
            if name in required or chance.random() < 0.4
        }
    if kind == "object":
        return {chance.choice(("en", "Egypt", "x", "")): chance.choice(ODD)}
    if kind == "array":
        return [example(shape.get("items", {}), schemas, chance, depth + 1) for _n in range(chance.randint(0, 2))]
    plain = {"integer": 1, "number": 0.5, "boolean": True, "null": None}
    return plain.get(kind, chance.choice(("relevance", "Egypt", "2026-03-01", "a")))


def body_of(described: Any) -> Any:
    content = described.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("schema")


def describes(described: Any, reply: Any, schema: Any) -> str:
    """What is wrong with the description of a reply; empty where it is as described."""
    known = described["responses"].get(str(reply.status_code))
    if known is None:
        return f"{reply.status_code} is not described"
    kind = reply.get("Content-Type", "").partition(";")[0]
    shape = known.get("content", {}).get(kind, {}).get("schema")
    if known.get("content") and shape is None:
        return f"{kind} is not described for {reply.status_code}"
    if shape is None or not reply.content:
        return ""
    whole = {**shape, "components": schema["components"]}
    errors = list(jsonschema.Draft202012Validator(whole).iter_errors(json.loads(reply.content)))
    return f"{errors[0].json_path}: {errors[0].message[:120]}" if errors else ""


@pytest.mark.parametrize("scopes", [("read",), ALL])
def test_no_operation_fails_and_each_reply_is_as_described(world: World, scopes: tuple[str, ...]) -> None:
    world.add_items(2)
    schema, chance = openapi.current(), random.Random(7)
    client, wrong, codes = bearer(world.owner, *scopes), [], set()
    for method, address, described in operations(world):
        for attempt in range(2 if method == "GET" else 6):
            reply, sent = send_odd(client, method, address, described, schema, chance, attempt)
            codes.add(reply.status_code)
            problem = "fails" if reply.status_code >= 500 else describes(described, reply, schema)
            if problem and reply.status_code != 304:
                wrong.append(f"{method} {address} {sent[:160]}: {reply.status_code} {problem}")
    assert not wrong, "\n".join(sorted(set(wrong)))
    assert codes >= ({200, 400, 404} if "write" in scopes else {200, 400, 403}), codes


def test_a_reply_that_is_not_described_is_noticed(world: World) -> None:
    schema, client = openapi.current(), bearer(world.owner, "read")
    described = schema["paths"]["/api/v1/benchmarks/"]["get"]
    assert not describes(described, client.get("/api/v1/benchmarks/"), schema)
    assert "required" in describes(described, client.get("/api/v1/me/"), schema)
    assert "404 is" not in describes(described, client.get("/api/v1/nothing/"), schema)
    del described["responses"]["404"]
    assert describes(described, client.get("/api/v1/nothing/"), schema) == "404 is not described"


def send_odd(
    client: Client, method: str, address: str, described: Any, schema: Any, chance: random.Random, attempt: int
) -> tuple[Any, str]:
    """One request; the first has no odd parameter."""
    reset_request_counts()
    query = {}
    for parameter in described.get("parameters", ()):
        if parameter["in"] == "query" and attempt and chance.random() < 0.4:
            query[parameter["name"]] = chance.choice(TEXTS)
    shape = body_of(described)
    content = example(shape, schema["components"]["schemas"], chance) if shape else {}
    headers = {"idempotency-key": f"k{chance.random()}", "if-match": "*"} if chance.random() < 0.9 else {}
    text = json.dumps(content)
    if method == "GET":
        reply = client.get(address, query, headers={})
    else:
        reply = client.generic(method, address, text, "application/json", headers=headers)
    return reply, f"{query} {text}"
