"""How a program changes things: once, only what it has seen, by its scopes, and never more than its person may."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from api.models import ApiRequest
from api.protocol import idempotency, problems
from api.protocol.authentication import ScopeMissing, TokenLimited
from api.protocol.problem_codes import PROBLEM_CODES
from api.protocol.refusals import REFUSALS
from benchmarks.models import Benchmark
from benchmarks.recipes.recipe_json import file_text
from benchmarks.services.recipes.saved_recipes import recipe_content
from people.models import ApiToken
from people.services import tokens
from tests.api.clients import program
from tests.personas import World

API = "/api/v1/benchmarks/"
NEW = {"team": "nile-lab", "name": "Breads", "recipe": "caire"}


def send(client: Client, method: str, path: str, content: Any = None, **headers: str) -> Any:
    """JSON, with headers such as idempotency_key."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.generic(method, path, json.dumps(content or {}), "application/json", headers=named)


def problem(reply: Any, status: int, code: str) -> Any:
    data = json.loads(reply.content)
    assert (reply.status_code, data["code"], reply["Content-Type"]) == (status, code, "application/problem+json"), data
    return data


def test_a_benchmark_is_created_from_a_recipe_and_owned_by_the_person(world: World) -> None:
    client = program(world.mara, "write")
    reply = send(client, "POST", API, NEW)
    assert (reply.status_code, reply["Location"]) == (201, f"{API}breads/"), reply.content
    benchmark = Benchmark.objects.get(slug="breads")
    assert benchmark.recipe == "caire-universal" and benchmark.roles.get().user == world.mara
    assert client.get(reply["Location"]).json() == reply.json()
    assert [row["slug"] for row in client.get(API).json()["results"]] == ["sea-and-river", "breads"]


def test_a_composed_benchmark_is_a_recipe_file(world: World) -> None:
    file = json.loads(file_text(recipe_content(world.benchmark, "Rivers", "Pictures of rivers."), 1))
    client = program(world.mara, "write")
    reply = send(client, "POST", API, {"team": "nile-lab", "name": "Rivers", "file": file})
    assert reply.status_code == 201, reply.content
    assert Benchmark.objects.get(slug="rivers").stages.get().sheet == world.stage.sheet
    broken = {**file, "stages": [{**file["stages"][0], "display": "hologram"}]}
    problem(send(client, "POST", API, {"team": "nile-lab", "name": "X", "file": broken}), 422, "recipe-refused")
    asked = send(client, "POST", API, {"team": "nile-lab", "name": "Songs", "question": "How old is it?"})
    assert asked.json()["slug"] == "songs"


@pytest.mark.parametrize(
    ("content", "status", "code", "pointer"),
    [
        ({**NEW, "colour": "red"}, 400, "invalid-content", "/colour"),
        ({"team": "nile-lab", "recipe": "caire"}, 400, "invalid-content", "/name"),
        ({**NEW, "name": 7 * ["x"]}, 400, "invalid-content", "/name"),
        ({**NEW, "name": "a\0b"}, 400, "invalid-content", "/name"),
        ({**NEW, "question": "Both?"}, 400, "invalid-content", ""),
        ({**NEW, "recipe": "none-such"}, 422, "refused", "/recipe"),
        ({**NEW, "slug": "sea-and-river"}, 422, "refused", "/slug"),
    ],
)
def test_what_is_wrong_is_named_by_its_pointer_and_nothing_is_written(
    world: World, content: Any, status: int, code: str, pointer: str
) -> None:
    reply = send(program(world.mara, "write"), "POST", API, content, idempotency_key="k")
    assert [error["pointer"] for error in problem(reply, status, code)["errors"]] == [pointer]
    assert not Benchmark.objects.filter(team=world.team).exclude(pk=world.benchmark.pk).exists()
    assert not ApiRequest.objects.exists(), "what was refused may be sent again with the same key"


def test_other_kinds_of_bodies_are_refused(world: World) -> None:
    client = program(world.mara, "write")
    form = client.post(API, "name=Breads", "application/x-www-form-urlencoded")
    problem(form, 415, "unsupported-media-type")
    problem(client.generic("POST", API, "[1]", "application/json"), 400, "invalid-content")
    problem(client.generic("POST", API, "{", "application/json"), 400, "invalid-request")
    problem(client.generic("POST", API, "[" * 100_000, "application/json"), 400, "invalid-request")
    problem(client.generic("POST", API, " " * (5 * 1024 * 1024 + 1), "application/json"), 413, "content-too-large")
    assert problem(client.get(f"{API}?colour=red"), 400, "invalid-request")["parameter"] == "colour"


# ---- once ------------------------------------------------------------------------------------------------------------


def test_a_repeated_request_has_the_first_reply_and_no_effect(world: World) -> None:
    client = program(world.mara, "write")
    replies = [send(client, "POST", API, NEW, idempotency_key='"k-1"') for _attempt in range(3)]
    assert [reply.status_code for reply in replies] == [201, 201, 201]
    assert len({reply.content for reply in replies}) == 1 and len({reply["ETag"] for reply in replies}) == 1
    assert [reply.get("Idempotency-Replayed") for reply in replies] == [None, "true", "true"]
    assert Benchmark.objects.filter(name="Breads").count() == 1
    problem(send(client, "POST", API, {**NEW, "name": "Teas"}, idempotency_key="k-1"), 422, "idempotency-key-reused")
    other = send(program(world.owner, "write"), "POST", API, NEW, idempotency_key="k-1")
    assert other.status_code == 201 and other.json()["slug"] == "breads-2", "a key is its person's"


def test_a_key_that_is_none_is_refused(world: World) -> None:
    client = program(world.mara, "write")
    for key in ("a b", "x" * 201, "é"):
        problem(send(client, "POST", API, NEW, idempotency_key=key), 400, "idempotency-key-invalid")


def test_keys_are_kept_for_48_hours(world: World) -> None:
    send(program(world.mara, "write"), "POST", API, NEW, idempotency_key="k")
    now = timezone.now()
    assert [idempotency.forget_old(now + timedelta(hours=hours)) for hours in (47, 49)] == [0, 1]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_a_second_request_waits_for_the_first(world: World, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    """Another connection has the key and has not ended. A wait that is too long is 409, and nothing is written."""
    client, other = program(world.mara, "write"), connection.copy()
    monkeypatch.setattr(idempotency, "WAIT_SECONDS", 0.2)
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute(idempotency.INSERT, [world.mara.pk, "k", "POST", API, "0" * 64, timezone.now()])
            busy = send(client, "POST", API, NEW, idempotency_key="k")
            problem(busy, 409, "request-in-progress")
            assert busy["Retry-After"] == "2"
            cursor.execute(end)
    finally:
        other.close()
    after = send(client, "POST", API, NEW, idempotency_key="k")
    assert after.status_code == (422 if end == "COMMIT" else 201)
    assert Benchmark.objects.filter(name="Breads").count() == (end == "ROLLBACK")


# ---- only what was seen ----------------------------------------------------------------------------------------------


def test_a_change_needs_the_tag_of_what_was_read(world: World) -> None:
    client, url = program(world.mara, "write"), f"{API}sea-and-river/"
    tag = client.get(url)["ETag"]
    problem(send(client, "PATCH", url, {"licence": "CC0"}), 428, "precondition-required")
    changed = send(client, "PATCH", url, {"licence": "CC BY 4.0"}, if_match=tag)
    assert (changed.status_code, changed.json()["licence"]) == (200, "CC BY 4.0")
    problem(send(client, "PATCH", url, {"licence": "CC0"}, if_match=tag), 412, "stale")
    assert client.get(url, headers={"if-none-match": changed["ETag"]}).status_code == 304
    assert send(client, "PATCH", url, {"name": "Sea"}, if_match=changed["ETag"]).json()["licence"] == "CC BY 4.0"
    problem(send(client, "PATCH", url, {"name": "x" * 121}, if_match="*"), 400, "invalid-content")
    packed = client.get(url, headers={"accept-encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip" and packed["ETag"].startswith("W/"), "as most clients read it"
    assert send(client, "PATCH", url, {"name": "River"}, if_match=packed["ETag"]).status_code == 200
    problem(send(client, "PATCH", url, {"name": "x"}, if_match=packed["ETag"]), 412, "stale")


# ---- by whom ---------------------------------------------------------------------------------------------------------


def test_the_smaller_of_scope_and_role_wins(world: World) -> None:
    url = f"{API}sea-and-river/"
    for scopes in (["read"], ["export"], ["answer"]):
        reply = send(program(world.owner, *scopes), "PATCH", url, {"name": "Mine"}, if_match="*")
        assert problem(reply, 403, "insufficient-scope")["needs"] == "write"
    for user in (world.reviewer, world.team_admin, world.site_admin, world.rival, world.stranger, world.nour):
        problem(send(program(user, "admin"), "PATCH", url, {"name": "Mine"}, if_match="*"), 404, "not-found")
    assert send(program(world.owner, "admin"), "PATCH", url, {"name": "Ours"}, if_match="*").status_code == 200
    assert send(program(world.stranger, "write"), "POST", API, NEW).status_code == 404, "not of the team"
    problem(program(world.owner, "answer").get(url), 403, "insufficient-scope")


def test_a_token_for_chosen_benchmarks_opens_no_other(world: World) -> None:
    own = send(program(world.mara, "write"), "POST", API, NEW).json()
    _token, text = tokens.create_token(
        world.mara, "narrow", timezone.now(), scopes=["write"], benchmark_ids=[own["id"]]
    )
    client = Client(headers={"authorization": f"Bearer {text}"})
    assert [row["slug"] for row in client.get(API).json()["results"]] == ["breads"]
    assert client.get(f"{API}breads/").status_code == 200
    for rest in ("", "items/", "agreement/", "runs/"):
        problem(client.get(f"{API}sea-and-river/{rest}"), 404, "not-found")
    problem(send(client, "POST", API, {**NEW, "name": "More"}), 403, "token-limited")


def test_the_page_makes_such_tokens_and_offers_no_benchmark_of_others(world: World) -> None:
    client = world.client(world.mara)
    data = {"name": "x", "days": "366", "scopes": ["write", "export"], "benchmarks": [str(world.benchmark.pk)]}
    assert client.post("/me/tokens", data).status_code == 302
    token = ApiToken.objects.get()
    assert (token.scopes, token.benchmark_ids) == (["export", "write"], [world.benchmark.pk])
    assert client.post("/me/tokens", {**data, "benchmarks": [str(world.other_benchmark.pk)]}).status_code == 400
    assert client.post("/me/tokens", {**data, "days": "367"}).status_code == 400
    assert world.benchmark.name in client.get("/me/tokens").content.decode()


def test_an_address_that_is_not_there_is_a_problem_document_for_every_method(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        problem(client.generic(method, "/api/v1/benchmarks/a/runs/-1/start/"), 404, "not-found")


def problem_kinds(kind: type[problems.ApiProblem] = problems.ApiProblem) -> set[str]:
    return {kind.code} | {code for below in kind.__subclasses__() for code in problem_kinds(below)}


def test_the_type_of_a_problem_is_a_page_for_everybody_that_has_every_code() -> None:
    refused = Client().get(API)
    address, _hash, code = refused.json()["type"].partition("#")
    known = problem_kinds() | {*problems.CODES.values()} | {code for _status, code, _words in REFUSALS.values()}
    known |= {f"{ScopeMissing.default_code}", f"{TokenLimited.default_code}"}
    assert known - {""} == PROBLEM_CODES.keys()
    page = Client().get(address)
    assert (page.status_code, page["Content-Type"]) == (200, "text/html; charset=utf-8")
    shown = page.content.decode()
    assert f'id="{code}"' in shown and all(f'id="{code}"' in shown for code in PROBLEM_CODES)
    assert Client().post(address).status_code == 405


def test_the_documentation_says_what_is_served_of_it_and_where_the_guides_are() -> None:
    page = Client().get("/docs/")
    assert page.status_code == 200 and "docs/index.md" in page.content.decode()
    for name in ("api:docs", "api-problems"):
        assert f'href="{reverse(name)}"' in page.content.decode()
    assert Client().post("/docs/").status_code == 405
