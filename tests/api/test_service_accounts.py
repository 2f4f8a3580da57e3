"""Service accounts and their tokens by REST, for programs of the team's admins."""

from django.test import Client

from people.models import ApiToken, User
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.personas import World

ACCOUNTS = "/api/v1/teams/nile-lab/service-accounts/"
B = "/api/v1/benchmarks/sea-and-river/"


def test_an_account_is_created_gets_a_role_and_a_token_and_ends(world: World) -> None:
    client = program(world.team_admin, "admin")
    created = send(client, "POST", ACCOUNTS, {"name": "Nightly"})
    assert created.status_code == 201, created.content
    url, number = created["Location"], created.json()["id"]
    assert client.get(ACCOUNTS).json()["results"] == [client.get(url).json()] == [created.json()]
    refused = send(client, "POST", f"{url}tokens/", {"name": "N", "benchmarks": [world.benchmark.pk]})
    assert problem(refused, 422, "refused")["errors"][0]["pointer"] == "/benchmarks", "it has no role there yet"
    for content, code in (
        ({"service_account": number, "role": "reviewer"}, "/name"),
        ({"role": "owner"}, "/service_account"),
    ):
        reply = send(program(world.owner, "admin"), "POST", f"{B}members/", content)
        assert problem(reply, 422, "refused")["errors"][0]["pointer"] == code
    role = send(
        program(world.owner, "admin"), "POST", f"{B}members/", {"service_account": number, "role": "researcher"}
    )
    assert (role.status_code, role.json()["email"], role.json()["name"]) == (201, "", "Nightly")
    content = {"name": "Night", "scopes": ["export"], "benchmarks": [world.benchmark.pk], "days": 10}
    done, again = (send(client, "POST", f"{url}tokens/", content, idempotency_key="t") for _attempt in range(2))
    assert (
        done.status_code == 201 and again.json()["token"] is None and ApiToken.objects.filter(user=number).count() == 1
    )
    reader = Client(headers={"authorization": f"Bearer {done.json()['token']}"})
    assert reader.get(f"{B}items/").status_code == 200
    assert reader.get("/api/v1/me/").json()["name"] == "Nightly"
    problem(send(reader, "PATCH", B, {"name": "x"}, if_match="*"), 403, "insufficient-scope")
    token = f"{url}tokens/{done.json()['id']}/"
    assert client.get(f"{url}tokens/").json()["results"] == [client.get(token).json()]
    assert send(client, "DELETE", token).status_code == 200 and client.get(token).status_code == 404
    assert reader.get(f"{B}items/").status_code == 401
    assert number not in [row["id"] for row in client.get("/api/v1/teams/nile-lab/members/").json()["results"]]
    assert send(client, "DELETE", url, if_match=client.get(url)["ETag"]).status_code == 200
    assert client.get(url).status_code == 404 and not User.objects.get(pk=number).is_active


def test_no_token_of_an_account_manages_people_or_publishes(world: World) -> None:
    client = program(world.team_admin, "admin")
    url = send(client, "POST", ACCOUNTS, {"name": "Nightly"})["Location"]
    for scope in ("admin", "answer"):
        problem(send(client, "POST", f"{url}tokens/", {"name": "x", "scopes": [scope]}), 400, "invalid-content")
    assert not ApiToken.objects.filter(user__sign_in="service").exists()


def test_only_admins_of_the_team_with_the_scope_manage_them(world: World) -> None:
    url = send(program(world.team_admin, "admin"), "POST", ACCOUNTS, {"name": "Nightly"})["Location"]
    for user in (world.mara, world.owner, world.manager, world.reviewer, world.nour, world.rival, world.stranger):
        client = program(user, "admin")
        for path in (ACCOUNTS, url, f"{url}tokens/"):
            problem(client.get(path), 404, "not-found")
        problem(send(client, "POST", ACCOUNTS, {"name": "x"}), 404, "not-found")
        problem(send(client, "POST", f"{url}tokens/", {"name": "x"}), 404, "not-found")
        problem(send(client, "DELETE", url, if_match="*"), 404, "not-found")
    weak = program(world.team_admin, "write")
    problem(send(weak, "POST", ACCOUNTS, {"name": "x"}), 403, "insufficient-scope")
    problem(weak.get(url), 403, "insufficient-scope")
    assert User.objects.filter(sign_in="service").count() == 1
