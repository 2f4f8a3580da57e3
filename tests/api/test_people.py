"""Teams, cohorts, members and invitations by REST, for those who manage them."""

from django.utils import timezone

from annotation.models import Assignment
from annotation.services.campaigns import lifecycle
from annotation.services.queue.next_work import get_or_claim_work
from people.models import Cohort, CohortMember, Invitation
from people.services.raters import rater_of
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.personas import World

T = "/api/v1/teams/nile-lab/"


def test_a_token_says_what_it_is(world: World) -> None:
    data = program(world.mara, "answer").get("/api/v1/me/").json()
    assert (data["name"], data["token"]["scopes"], data["token"]["benchmarks"]) == ("Mara", ["answer"], [])
    assert world.client(world.mara).get("/api/v1/me/").json()["token"] is None


def test_a_token_says_when_it_ends_and_recipes_what_they_have(world: World) -> None:
    client = program(world.stranger, "answer")
    data = client.get("/api/v1/me/token/").json()["token"]
    assert (data["scopes"], data["prefix"][:5]) == (["answer"], "emic_") and data["expires_at"]
    assert 0 < data["requests_left"] < 120
    assert world.client(world.mara).get("/api/v1/me/token/").json() == {"token": None}
    problem(client.get("/api/v1/recipes/"), 403, "insufficient-scope")
    rows = {row["key"]: row for row in program(world.stranger).get("/api/v1/recipes/").json()["results"]}
    assert rows["caire-universal"]["version"] and rows["caire-universal"]["summary"]
    assert all(row["stages"] and row["licence"] for row in rows.values())
    problem(program(world.mara).get("/api/v1/recipes/?key=caire"), 400, "invalid-request")


def test_a_cohort_is_created_changed_and_paused_by_an_admin(world: World) -> None:
    client = program(world.team_admin, "admin")
    assert [team["slug"] for team in client.get("/api/v1/teams/").json()["results"]] == ["nile-lab"]
    new = {
        "label": "Peru",
        "names": {"pt": "Peru"},
        "country": "PE",
        "languages": ["es", "qu"],
        "time_zone": "America/Lima",
    }
    created = send(client, "POST", f"{T}cohorts/", new)
    assert created.status_code == 201, created.content
    assert {name: created.json()[name] for name in new} == new
    change = {"label": "Andes", "paused": True}
    changed = send(client, "PATCH", created["Location"], change, if_match=created["ETag"]).json()
    assert (changed["label"], changed["languages"], changed["paused"]) == ("Andes", ["es", "qu"], True)
    assert [row["label"] for row in client.get(f"{T}cohorts/").json()["results"]] == ["Egypt", "Brazil", "Andes"]
    wrong = send(client, "POST", f"{T}cohorts/", {"label": "Egypt", "time_zone": "Mars/Base"})
    assert {error["pointer"] for error in problem(wrong, 422, "refused")["errors"]} == {"/label", "/time_zone"}
    problem(send(program(world.mara, "admin"), "POST", f"{T}cohorts/", new), 404, "not-found")


def test_members_are_seen_and_ended_by_who_manages_the_cohort(world: World) -> None:
    url = f"{T}cohorts/{world.egypt.pk}/members/"
    client = program(world.manager, "admin")
    rows = client.get(url).json()["results"]
    assert [row["name"] for row in rows] == ["Nour", "Tarek"]
    one_member = f"{url}{rows[0]['id']}/"
    problem(send(client, "DELETE", one_member), 428, "precondition-required")
    ended = send(client, "DELETE", one_member, if_match=client.get(one_member)["ETag"])
    assert ended.json()["left_at"] and world.nour.cohort_memberships.get().left_at
    for user in (world.nour, world.rival):
        problem(program(user, "admin").get(url), 404, "not-found")
    problem(send(program(world.mara, "admin"), "DELETE", one_member, if_match="*"), 404, "not-found")
    foreign = f"/api/v1/teams/other-lab/cohorts/{world.egypt.pk}/members/"
    problem(program(world.team_admin, "admin").get(foreign), 404, "not-found")


def test_who_is_ended_by_a_program_gives_reserved_places_back(world: World) -> None:
    """As on the page of the cohort: others wait for these places."""
    world.add_items(4)
    campaign = lifecycle.create(world.stage, "Ratings", world.owner, {world.egypt: 1}, seed=1)
    lifecycle.open_campaign(campaign, world.owner, timezone.now())
    seat, at = campaign.cohorts.get(), timezone.now()
    assert get_or_claim_work(rater_of(world.nour), seat, at).current
    assert get_or_claim_work(rater_of(world.tarek), seat, at).current
    member = CohortMember.objects.get(user=world.nour)
    url = f"{T}cohorts/{world.egypt.pk}/members/{member.pk}/"
    assert send(program(world.manager, "admin"), "DELETE", url, if_match="*").status_code == 200
    reserved = Assignment.objects.filter(state="reserved")
    assert not reserved.filter(rater=rater_of(world.nour)).exists(), "released with the membership"
    assert reserved.filter(rater=rater_of(world.tarek)).exists(), "of nobody else"


def test_links_of_invitations_are_sent_once_with_a_result_for_each_row(world: World) -> None:
    client = program(world.manager, "admin")
    people = [
        {"email": "amina@example.org"},
        {"email": "no address"},
        {"note": "Link 1"},
        {"email": "amina@example.org"},
    ]
    content = {"cohort": world.egypt.pk, "people": people}
    problem(send(client, "POST", f"{T}invitations/", content), 400, "idempotency-key-required")
    assert not Invitation.objects.exists()
    first, second = (send(client, "POST", f"{T}invitations/", content, idempotency_key="i").json() for _n in range(2))
    assert [row["status"] for row in first["results"]] == [201, 422, 201, 422]
    assert Invitation.objects.count() == 2
    link = first["results"][0]["link"]
    assert world.client().get(link).status_code == 200
    assert [row.get("link") for row in second["results"]] == [None] * 4, "a link is sent once"
    assert [row.get("id") for row in second["results"]] == [row.get("id") for row in first["results"]]
    other = {**content, "cohort": Cohort.objects.get(label="Brazil").pk}
    problem(send(client, "POST", f"{T}invitations/", other, idempotency_key="j"), 404, "not-found")
