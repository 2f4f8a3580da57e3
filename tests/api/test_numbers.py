"""The REST door: the pages' numbers for programs, for those who may see the pages; and its description."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from drf_spectacular.validation import validate_schema

from annotation.models import Campaign
from api.protocol.limits import Throttle
from benchmarks.models import Role
from people.models import TeamMember
from people.services import tokens
from tests.api.clients import program
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.evaluation.sample_tables import SMALL, tables_are
from tests.evaluation.test_table_pages import EMPTY, url
from tests.module_world import built_once
from tests.personas import World

API = "/api/v1/benchmarks/"
PROBLEM = "application/problem+json"


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(20)
    new_campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(new_campaign, world.egypt, natural[:5], {world.nour: "11223", world.tarek: "12233"})
    table(new_campaign, world.brazil, natural[:2], {world.bia: "45"})
    return new_campaign


@pytest.fixture
def tables(world: World, campaign: Campaign) -> Iterator[World]:
    with tables_are(world.benchmark, [SMALL, EMPTY]):
        yield world


def address(world: World, rest: str) -> str:
    return f"{API}{world.benchmark.slug}/{rest}"


def without_time(data: Any) -> Any:
    """Without when it was computed."""
    return {key: value for key, value in data.items() if key != "computed_at"}


def problem(reply: Any) -> Any:
    assert reply["Content-Type"] == PROBLEM
    data = json.loads(reply.content)
    assert set(data) >= {"type", "title", "status", "detail"}
    assert data["status"] == reply.status_code
    assert data["title"]
    return data


@pytest.mark.parametrize("query", ["", "?decimals=4", "?counted=all&interval=none"])
def test_a_table_is_the_pages_json_to_the_last_digit(tables: World, query: str) -> None:
    page = tables.client(tables.mara).get(url(tables, "small.json") + query).json()
    for client in (program(tables.mara), tables.client(tables.mara)):
        assert without_time(client.get(address(tables, "tables/small/") + query).json()) == without_time(page)
    shown = [c["shown"] for row in page["rows"] for c in row["cells"] if c["estimate"] and c["shown"]]
    html = tables.client(tables.mara).get(url(tables, "small/") + query).content.decode().replace("\u2212", "-")
    assert re.findall(r'<b><bdi dir="ltr">([^<]+)</bdi></b>', html) == shown
    assert len(shown) == 5


def test_agreement_is_the_pages_json_to_the_last_digit(tables: World) -> None:
    query = "?measure=table"
    page = tables.client(tables.mara).get(f"/b/{tables.benchmark.slug}/agreement.json{query}").json()
    assert without_time(program(tables.mara).get(address(tables, "agreement/") + query).json()) == without_time(page)


def test_the_lists_name_ones_own_and_what_is_missing(tables: World) -> None:
    client = program(tables.mara)
    [line] = client.get(API).json()["results"]
    assert (line["slug"], line["tables"]) == ("sea-and-river", "/api/v1/benchmarks/sea-and-river/tables/")
    table_list = client.get(line["tables"]).json()["tables"]
    assert [(one["key"], one["lacking"]) for one in table_list] == [
        ("small", ""), ("empty", "There are no predictions for this table yet."),
    ]  # fmt: skip
    assert table_list[0]["options"] == [{"key": "decimals", "label": "Decimals", "values": {"2": "two", "4": "four"}}]
    assert client.get(table_list[0]["address"]).status_code == 200


@pytest.mark.parametrize("rest", ["", "nothing/", "benchmarks/sea-and-river/models/"])
def test_an_address_that_is_none_is_a_problem_document_too(tables: World, rest: str) -> None:
    for client in (program(tables.mara), Client()):
        reply = client.get(f"/api/v1/{rest}")
        assert reply.status_code == 404
        assert problem(reply)["title"] == "Not found"


DOORS = ("agreement/", "tables/", "tables/small/")


@pytest.mark.parametrize("door", DOORS)
def test_a_token_opens_what_its_person_may_see_and_nothing_else(tables: World, door: str) -> None:
    for user in (tables.mara, tables.owner, tables.reviewer, tables.team_admin, tables.site_admin):
        assert program(user).get(address(tables, door)).status_code == 200, user
    for user in (tables.stranger, tables.rival, tables.rival_rater, tables.nour, tables.manager):
        refused = program(user).get(address(tables, door))
        assert refused.status_code == 404, user
        assert tables.benchmark.name not in json.dumps(problem(refused))
        nothing = program(user).get(f"{API}no-such-benchmark/{door}")
        both = [{**problem(reply), "instance": ""} for reply in (nothing, refused)]
        assert both[0] == both[1], "a stranger cannot tell the two apart"
    assert program(tables.stranger).get(API).json()["results"] == []


def test_who_lost_the_role_has_a_token_that_opens_nothing(tables: World) -> None:
    client = program(tables.mara)
    assert client.get(address(tables, "tables/small/")).status_code == 200
    TeamMember.objects.filter(user=tables.mara).delete()
    assert client.get(address(tables, "tables/small/")).status_code == 404
    assert client.get(API).json()["results"] == []
    TeamMember.objects.create(team=tables.team, user=tables.mara, role="member")
    Role.objects.filter(user=tables.mara).delete()
    assert client.get(address(tables, "tables/small/")).status_code == 404


def test_without_a_token_or_with_one_that_was_revoked_it_is_401(tables: World) -> None:
    for header in ("", "Bearer", "Bearer x y", "Bearer emic_guess", "Bearer \u00e9"):
        client = Client(headers={"authorization": header} if header else {})
        reply = client.get(address(tables, "tables/small/"))
        assert reply.status_code == 401, header
        assert reply["WWW-Authenticate"] == "Bearer"
        problem(reply)
    token, text = tokens.create_token(tables.mara, "x", timezone.now())
    client = Client(headers={"authorization": f"bearer {text}"})
    assert client.get(API).status_code == 200
    tokens.revoke(token, tables.mara, timezone.now())
    assert "revoked" in problem(client.get(API))["detail"]
    # A wrong token is refused beside a session, too: whoever sends one means it.
    signed_in = tables.client(tables.mara, headers={"authorization": "Bearer emic_guess"})
    assert signed_in.get(API).status_code == 401


@pytest.mark.parametrize(
    ("rest", "status", "detail", "parameter"),
    [
        ("tables/none/", 404, "no access", None),
        ("tables/empty/", 409, "There are no predictions for this table yet.", None),
        ("tables/small/?decimals=9", 400, "There are: 2, 4.", "decimals"),
        ("tables/small/?counted=most", 400, "There are: counted, all.", "counted"),
        ("agreement/?measure=mean", 400, "“measure”", "measure"),
    ],
)
def test_errors_are_problem_documents(
    tables: World, rest: str, status: int, detail: str, parameter: str | None
) -> None:  # fmt: skip
    reply = program(tables.mara).get(address(tables, rest))
    assert reply.status_code == status
    assert detail in problem(reply)["detail"]
    assert problem(reply).get("parameter") == parameter


def test_it_can_only_be_read_and_only_as_json(tables: World) -> None:
    client = program(tables.mara)
    for method in (client.post, client.put, client.patch, client.delete, client.options):
        assert problem(method(address(tables, "tables/small/")))["status"] == 405
    reply = client.get(address(tables, "tables/small/"), headers={"accept": "text/html"})
    assert (reply.status_code, reply["Content-Type"]) == (406, PROBLEM)


def test_before_any_campaign_agreement_says_so(world: World) -> None:
    reply = program(world.mara).get(address(world, "agreement/"))
    assert (reply.status_code, problem(reply)["detail"]) == (409, "No campaign has been opened yet.")


def test_too_many_requests_are_told_when_to_come_back(tables: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Throttle, "THROTTLE_RATES", {"person": "3/min", "team": "600/min"})
    clients = [program(tables.mara), program(tables.mara), tables.client(tables.mara)]
    assert [client.get(API).status_code for client in clients] == [200, 200, 200]
    reply = clients[0].get(API)  # two tokens and a browser are one person
    assert reply.status_code == 429
    assert 0 < int(reply["Retry-After"]) <= 60
    problem(reply)
    assert program(tables.owner).get(API).status_code == 200


@pytest.mark.parametrize("door", DOORS)
def test_a_door_takes_the_same_number_of_queries_however_much_there_is(
    tables: World, campaign: Campaign, door: str
) -> None:
    client = program(tables.mara)

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert client.get(address(tables, door)).status_code == 200
        return len(seen)

    queries()
    before = queries()
    for user in tables.add_annotators(tables.egypt, 3):
        give_ratings(campaign, tables.egypt, user, dict.fromkeys(of_condition(tables.items, "natural"), "3"))
    assert queries() == before


@pytest.fixture
def schema(tables: World) -> Any:
    reply = tables.client(tables.stranger).get("/api/schema/")
    assert reply.status_code == 200
    return json.loads(reply.content)


def test_the_description_is_for_those_who_are_signed_in(tables: World) -> None:
    assert Client().get("/api/schema/").status_code == 401
    assert program(tables.stranger).get("/api/schema/").status_code == 200


def test_the_description_is_openapi_and_every_path_says_who_may(schema: Any) -> None:
    validate_schema(schema)
    operations = [operation for path in schema["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    for operation in operations:
        assert {"token": []} in operation["security"]
        assert {"cookieAuth": []} in operation["security"]
        assert {} not in operation["security"]
        assert {"401", "403", "404", "429"} <= set(operation["responses"])
        assert operation["summary"] and operation["x-emic-scope"]
    assert schema["components"]["securitySchemes"]["token"] == {
        "type": "http", "scheme": "bearer", "description": "A token made under Me, Tokens for programs.",
    }  # fmt: skip


PATHS = {
    "": "/api/v1/benchmarks/",
    "agreement/": "/api/v1/benchmarks/{slug}/agreement/",
    "tables/": "/api/v1/benchmarks/{slug}/tables/",
    "tables/small/": "/api/v1/benchmarks/{slug}/tables/{key}/",
}


@pytest.mark.parametrize("door", PATHS)
def test_answers_look_as_they_are_described_and_nothing_is_left_undescribed(
    tables: World, schema: Any, door: str
) -> None:
    reply = program(tables.mara).get(address(tables, door) if door else API)
    described = schema["paths"][PATHS[door]]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    whole = {**described, "components": schema["components"]}
    jsonschema.Draft202012Validator(whole).validate(reply.json())
    assert not list(undescribed(reply.json(), described, schema))


def undescribed(data: Any, shape: Mapping[str, Any], schema: Any, at: str = "") -> Iterator[str]:
    """Keys of an answer that its description does not have."""
    for subschema in shape.get("oneOf", shape.get("allOf", [])):
        yield from undescribed(data, subschema, schema, at) if "$ref" in subschema else ()
    if "$ref" in shape:
        yield from undescribed(data, schema["components"]["schemas"][shape["$ref"].rsplit("/", 1)[1]], schema, at)
    elif isinstance(data, list) and "items" in shape:
        for subschema in data:
            yield from undescribed(subschema, shape["items"], schema, at)
    elif isinstance(data, dict) and "properties" in shape:
        for key, value in data.items():
            if key not in shape["properties"]:
                yield f"{at}/{key}"
            else:
                yield from undescribed(value, shape["properties"][key], schema, f"{at}/{key}")


def test_an_answer_that_is_described_wrongly_is_found(schema: Any) -> None:
    row = schema["paths"][PATHS["tables/small/"]]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    data = {"rows": [{"cells": [{"estimate": {"value": 1, "valu": 2}}]}], "other": 1}
    assert list(undescribed(data, row, schema)) == ["/rows/cells/estimate/valu", "/other"]
