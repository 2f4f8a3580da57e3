"""A team, its invitations and the managers of its cohorts by REST, and the jobs of a team."""

from jobs.models import Job
from people.models import CohortManager, Invitation
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.personas import World

T = "/api/v1/teams/nile-lab/"


def test_invitations_are_listed_without_links_and_revoked(world: World) -> None:
    client = program(world.team_admin, "admin")
    content = {"cohort": world.egypt.pk, "people": [{"email": "new@example.org", "note": "Via Amal"}]}
    sent = send(client, "POST", f"{T}invitations/", content, idempotency_key="k").json()["results"][0]
    [line] = client.get(f"{T}invitations/").json()["results"]
    assert (line["id"], line["email"], line["note"], line["state"]) == (
        sent["id"],
        "new@example.org",
        "Via Amal",
        "open",
    )
    assert sent["link"].rsplit("/", 1)[1] not in str(line)
    url = f"{T}invitations/{sent['id']}/"
    problem(send(client, "DELETE", url), 428, "precondition-required")
    assert send(client, "DELETE", url, if_match=client.get(url)["ETag"]).json()["state"] == "revoked"
    assert (
        world.client().get(sent["link"]).status_code != 200
        or "no longer" in world.client().get(sent["link"]).content.decode()
    )
    manager = program(world.manager, "admin")
    assert [row["id"] for row in manager.get(f"{T}invitations/").json()["results"]] == [sent["id"]]
    Invitation.objects.update(cohort=world.brazil)
    assert manager.get(f"{T}invitations/").json()["results"] == [], "of a cohort that somebody else manages"
    problem(manager.get(url), 404, "not-found")
    for user in (world.mara, world.rival, world.stranger, world.nour):
        problem(program(user, "admin").get(f"{T}invitations/"), 404, "not-found")
        problem(send(program(user, "admin"), "DELETE", url, if_match="*"), 404, "not-found")
    problem(program(world.team_admin, "write").get(f"{T}invitations/"), 403, "insufficient-scope")


def test_admins_name_managers_and_managers_name_none(world: World) -> None:
    client, managers = program(world.team_admin, "admin"), f"{T}cohorts/{world.egypt.pk}/managers/"
    assert [row["email"] for row in client.get(managers).json()["results"]] == [world.manager.email]
    created = send(client, "POST", managers, {"email": world.mara.email})
    assert created.status_code == 201 and client.get(created["Location"]).json() == created.json()
    stranger = problem(send(client, "POST", managers, {"email": world.stranger.email}), 422, "refused")
    nobody = problem(send(client, "POST", managers, {"email": "nobody@example.org"}), 422, "refused")
    assert stranger["errors"] == nobody["errors"], "nobody learns who has an account"
    manager = program(world.manager, "admin")
    assert manager.get(managers).status_code == 200
    problem(send(manager, "POST", managers, {"email": world.mara.email}), 404, "not-found")
    problem(send(manager, "DELETE", created["Location"], if_match="*"), 404, "not-found")
    assert send(client, "DELETE", created["Location"], if_match="*").status_code == 200
    assert not CohortManager.objects.filter(user=world.mara).exists()
    for user in (world.owner, world.rival, world.stranger, world.nour):
        problem(program(user, "admin").get(managers), 404, "not-found")
    assert client.get(T).json()["name"] == world.team.name
    problem(program(world.stranger).get(T), 404, "not-found")


def test_jobs_of_a_team_are_found_by_its_slug(world: World) -> None:
    for scope in (f"team:{world.team.pk}", world.benchmark.scope, f"team:{world.other_team.pk}"):
        Job.objects.create(kind="some", title="Some", scope=scope)
    client = program(world.mara)
    [job] = client.get("/api/v1/jobs/?team=nile-lab").json()["results"]
    assert (job["team"], job["benchmark"]) == ("nile-lab", None)
    assert client.get("/api/v1/jobs/?team=other-lab").json()["results"] == []
    assert client.get("/api/v1/jobs/?team=none").json()["results"] == []
