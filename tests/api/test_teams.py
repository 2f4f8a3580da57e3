"""Roles, members, endpoints, label sets and composed tables by REST, for those who may change them."""

from typing import Any

from django.db import connection

from benchmarks.models import LabelSet, Role
from people.models import Invitation, TeamMember
from predictions.models import Endpoint
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.personas import World
from tests.predictions.model_server import Server

T, B = "/api/v1/teams/nile-lab/", "/api/v1/benchmarks/sea-and-river/"
KEY = "sk-a-key-that-nobody-sees"
ENDPOINT: dict[str, Any] = {
    "name": "Our server", "base_url": "https://models.example.org/v1", "offers": ["images"], "secret": KEY,
}  # fmt: skip


def test_roles_are_given_changed_and_taken_by_an_owner(world: World) -> None:
    client = program(world.owner, "admin")
    rows = client.get(f"{B}members/").json()["results"]
    assert {row["role"] for row in rows} == {"owner", "researcher", "reviewer"}
    created = send(client, "POST", f"{B}members/", {"email": world.team_admin.email, "role": "reviewer"})
    assert created.status_code == 201, created.content
    changed = send(client, "PATCH", created["Location"], {"role": "researcher"}, if_match=created["ETag"])
    assert changed.json()["role"] == "researcher"
    problem(send(client, "PATCH", created["Location"], {"role": "owner"}, if_match=created["ETag"]), 412, "stale")
    assert send(client, "DELETE", created["Location"], if_match=changed["ETag"]).status_code == 200
    assert not Role.objects.filter(user=world.team_admin).exists()
    refused = send(client, "POST", f"{B}members/", {"email": world.rival.email, "role": "owner"})
    assert problem(refused, 422, "refused")["errors"][0]["pointer"] == "/email"
    own = next(row["id"] for row in rows if row["role"] == "owner")
    problem(send(client, "DELETE", f"{B}members/{own}/", if_match="*"), 422, "last-owner")
    for user in (world.mara, world.reviewer, world.rival):
        problem(program(user, "admin").get(f"{B}members/"), 404, "not-found")
    problem(program(world.owner, "write").get(f"{B}members/"), 403, "insufficient-scope")


def test_members_are_invited_changed_and_ended_by_an_admin(world: World) -> None:
    client = program(world.team_admin, "admin")
    rows = {row["name"]: row for row in client.get(f"{T}members/").json()["results"]}
    new = {"email": "amina@example.org", "role": "admin"}
    first, second = (send(client, "POST", f"{T}members/", new, idempotency_key="k").json() for _n in range(2))
    assert first["link"] and second == {"id": first["id"], "link": None}
    assert Invitation.objects.get().team_role == "admin"
    mara = f"{T}members/{rows['Mara']['id']}/"
    changed = send(client, "PATCH", mara, {"role": "admin"}, if_match=client.get(mara)["ETag"])
    assert changed.json()["role"] == "admin"
    assert send(client, "DELETE", mara, if_match=changed["ETag"]).status_code == 200
    assert not TeamMember.objects.filter(user=world.mara).exists()
    own = f"{T}members/{rows['Admin']['id']}/"
    problem(send(client, "DELETE", own, if_match="*"), 422, "last-admin")
    problem(send(program(world.owner, "admin"), "POST", f"{T}members/", new), 404, "not-found")
    problem(program(world.rival, "admin").get(own), 404, "not-found")


def test_a_secret_goes_in_and_never_comes_out(world: World) -> None:
    client = program(world.team_admin, "admin")
    created = send(client, "POST", f"{T}endpoints/", ENDPOINT, idempotency_key="k")
    assert created.status_code == 201, created.content
    assert created.json()["has_secret"] is True and KEY not in created.content.decode()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM api_apirequest WHERE response LIKE %s", [f"%{KEY}%"])
        assert cursor.fetchone() == (0,)
    assert KEY not in Endpoint.objects.get().secret
    url = created["Location"]
    changed = send(client, "PATCH", url, {"most_in_flight": 2, "secret": ""}, if_match=created["ETag"]).json()
    assert (changed["most_in_flight"], changed["has_secret"], changed["offers"]) == (2, False, ["images"])
    refused = send(client, "PATCH", url, {"base_url": "ftp://x"}, if_match="*")
    assert refused.status_code == 422, refused.content
    problem(send(client, "POST", f"{T}endpoints/", {**ENDPOINT, "name": ""}), 400, "invalid-content")
    assert send(client, "PATCH", url, {"retired": True}, if_match="*").json()["retired_at"]
    assert program(world.mara, "read").get(url).status_code == 200, "members see that it is there"
    problem(send(program(world.mara, "admin"), "PATCH", url, {"name": "x"}, if_match="*"), 404, "not-found")
    problem(program(world.rival, "admin").get(url), 404, "not-found")


def test_a_check_says_which_models_a_server_has(world: World, scripted_server: Server) -> None:
    client = program(world.team_admin, "admin")
    created = send(client, "POST", f"{T}endpoints/", {**ENDPOINT, "base_url": scripted_server.base_url})
    result = send(client, "POST", f"{created['Location']}check/").json()
    assert result["works"] and result["models"], result
    problem(send(program(world.mara, "admin"), "POST", f"{created['Location']}check/"), 404, "not-found")


def test_a_label_set_gets_versions_and_the_same_content_makes_none(world: World) -> None:
    client, url = program(world.mara, "write"), f"{T}label-sets/"
    labels = [{"text": "Nubian", "country": "EG"}, {"text": "Coptic", "aliases": ["Copt"]}]
    created = send(client, "POST", url, {"name": "Peoples", "kind": "cultures", "labels": labels})
    assert created.status_code == 201, created.content
    assert [label["key"] for label in created.json()["labels"]] == ["nubian", "coptic"]
    assert send(client, "POST", url, {"key": "peoples", "labels": labels}).json()["version"] == 1
    assert send(client, "POST", url, {"key": "peoples", "labels": labels[:1]}).json()["version"] == 2
    assert client.get(created["Location"]).json()["labels"][1]["aliases"] == ["Copt"]
    twice = send(client, "POST", url, {"name": "Twice", "labels": [labels[0], labels[0]]})
    assert "Nubian" in problem(twice, 422, "label-set-refused")["detail"]
    assert problem(send(client, "POST", url, {"key": "none", "labels": labels}), 422, "refused")["errors"]
    assert LabelSet.objects.filter(team=world.team).count() == 2
    problem(send(program(world.reviewer, "write"), "POST", url, {"name": "X", "labels": labels}), 404, "not-found")
    problem(program(world.rival, "write").get(created["Location"]), 404, "not-found")


def test_a_table_is_composed_changed_and_removed(world: World) -> None:
    world.add_items(2)
    client, url = program(world.mara, "write"), f"{B}table-specs/"
    new = {"kind": "distribution", "stage": "relevance", "field": "relevance", "rows": "concept"}
    created = send(client, "POST", url, new)
    assert created.status_code == 201, created.content
    spec, where = created.json(), created["Location"]
    assert (spec["rows"], spec["version"]) == ("concept", 1)
    assert client.get(f"{B}tables/{spec['key']}/").status_code in (200, 409)
    changed = send(client, "PATCH", where, {"rows": "origin"}, if_match=created["ETag"]).json()
    assert (changed["rows"], changed["version"], changed["field"]) == ("origin", 2, "relevance")
    refused = problem(send(client, "POST", url, {**new, "field": "nothing"}), 422, "refused")
    assert refused["errors"][0]["pointer"] == "/question"
    assert send(client, "DELETE", where, if_match="*").status_code == 200
    problem(client.get(where), 404, "not-found")
    problem(send(program(world.reviewer, "write"), "POST", url, new), 404, "not-found")
