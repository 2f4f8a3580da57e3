"""Within v1 nothing is removed; and every operation keeps out whom it must."""

import copy
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from jsonschema import Draft202012Validator

from people.models import ApiToken, User
from people.services import tokens
from tests.api.clients import reset_request_counts
from tests.contracts import openapi
from tests.personas import World

ALL = tuple(ApiToken.Scope.values)
OWN = {"/api/v1/benchmarks/", "/api/v1/me/", "/api/v1/teams/", "/api/v1/events/", "/api/v1/jobs/",
       "/api/v1/webhooks/", "/api/v1/me/token/", "/api/v1/recipes/"}  # each person's  # fmt: skip
OF_ADMINS = {f"/api/v1/teams/nile-lab/{name}/" for name in ("service-accounts", "invitations")}
OF_NO_BENCHMARK = {"/api/v1/uploads/"}  # somebody without a team is refused, for there is nothing to hide


def test_nothing_of_the_stored_description_is_gone() -> None:
    stored = json.loads(openapi.STORED.read_text(encoding="utf-8"))
    gone = list(openapi.removed(stored, openapi.current()))
    assert not gone, "\n".join(gone)


@pytest.mark.parametrize("place", ["path", "member", "parameter", "enum", "status", "required"])
def test_what_is_removed_is_noticed(place: str) -> None:
    stored = json.loads(openapi.STORED.read_text(encoding="utf-8"))
    now = copy.deepcopy(stored)
    operation = now["paths"]["/api/v1/benchmarks/"]["get"]
    if place == "path":
        del now["paths"]["/api/v1/benchmarks/"]
    elif place == "member":
        del now["components"]["schemas"]["BenchmarkLine"]["properties"]["name"]
    elif place == "parameter":
        del operation["parameters"][0]
    elif place == "enum":
        now["components"]["schemas"]["DirectionEnum"]["enum"].remove("rtl")
    elif place == "status":
        del operation["responses"]["200"]
    else:
        operation["parameters"][0]["required"] = True
    assert len(list(openapi.removed(stored, now))) == 1
    assert not list(openapi.removed(stored, {**stored, "more": 1})), "additions are allowed"


def bearer(user: User, *scopes: str, ended: bool = False) -> Client:
    token, text = tokens.create_token(user, "walk", timezone.now(), scopes=scopes)
    if ended:
        ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    return Client(headers={"authorization": f"Bearer {text}"})


def operations(world: World) -> list[tuple[str, str, Any]]:
    """Each with its method and an address in the benchmark and the team of the world."""
    item = world.stage.items.first()
    values = {"slug": world.benchmark.slug, "team": world.team.slug}
    values |= dict.fromkeys(("item_id", "row_id"), item.pk if item else 1)
    rows = []
    for path, methods in openapi.current()["paths"].items():
        for method, described in methods.items():
            names = [p["name"] for p in described.get("parameters", ()) if p["in"] == "path"]
            known = {**values, "key": world.stage.key if "/stages/{key}/" in path else "small"}
            address = path.format(**{name: known.get(name, world.egypt.pk) for name in names})
            rows.append((method.upper(), address, described))
    return rows


def status(client: Client, method: str, address: str) -> int:
    reset_request_counts()
    headers = {"idempotency-key": "walk", "if-match": "*"}
    return int(client.generic(method, address, "{}", "application/json", headers=headers).status_code)


def test_every_operation_keeps_out_whom_it_must(world: World) -> None:
    """A visitor and an expired token 401, a token without the scope 403; with every scope a stranger and an admin of
    another team 404. Its owner is let in to what names no row."""
    lacking = {
        "read": bearer(world.owner, "answer"), "export": bearer(world.owner, "read"),
        "write": bearer(world.owner, "export"), "admin": bearer(world.owner, "write"),
        "answer": bearer(world.owner, "admin"),
    }  # fmt: skip
    visitor, expired, stranger = Client(), bearer(world.owner, *ALL, ended=True), bearer(world.stranger, *ALL)
    rival, owner, admin = (bearer(user, *ALL) for user in (world.rival, world.owner, world.team_admin))
    wrong = []
    for method, address, described in operations(world):
        scope = described["x-emic-scope"]
        expected = {401: [visitor, expired], 404: [] if address in OWN else [stranger, rival]}
        expected[403] = [] if scope == "any" else [lacking[scope]]
        if address in OF_NO_BENCHMARK:
            expected[403] += [stranger]
            del expected[404]
        for code, clients in expected.items():
            answers = {status(client, method, address) for client in clients}
            if answers - {code}:
                wrong.append(f"{method} {address} answers {answers}, not {code}")
        rows = {p["name"] for p in described.get("parameters", ()) if p["in"] == "path"} - {"slug", "team"}
        insider = admin if address in OF_ADMINS else owner
        of_plugin = "/x/" in address  # of benchmarks of its recipe: tests/api/test_plugin_rows.py
        if (
            method == "GET"
            and not rows
            and not of_plugin
            and (code := status(insider, method, address)) in (401, 403, 404)
        ):
            wrong.append(f"{method} {address} keeps its owner out: {code}")
    assert not wrong, "\n".join(wrong)


def test_every_operation_has_an_example_that_its_own_description_takes() -> None:
    description = openapi.current()
    missing, wrong = [], []
    for path, methods in description["paths"].items():
        for method, described in methods.items():
            contents = [described.get("requestBody", {}), *(
                reply for status, reply in described["responses"].items() if status.startswith("2"))]  # fmt: skip
            for media in (content["content"]["application/json"] for content in contents
                          if "application/json" in content.get("content", {})):  # fmt: skip
                if "example" not in media:
                    missing.append(f"{method} {path}")
                    continue
                schema = {**media["schema"], "components": description["components"]}
                wrong += [f"{method} {path} {error.json_path}: {error.message[:80]}"
                          for error in Draft202012Validator(schema).iter_errors(media["example"])]  # fmt: skip
    assert (missing, wrong) == ([], [])


def test_the_page_of_the_description_shows_examples(world: World) -> None:
    page = world.client(world.mara).get("/api/docs/").content.decode()
    assert "&quot;client_key&quot;: &quot;sheet-0001&quot;" in page
