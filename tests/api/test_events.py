"""The feed of events: a reader who keeps `after` sees each event once, also one that is committed late."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client

from api.protocol.event_verbs import VERBS
from jobs.models import record
from jobs.queries import event_feed
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.personas import World

URL = "/api/v1/events/"
LATE = """INSERT INTO jobs_event (at, verb, scope, target, data, implied)
VALUES (now(), 'campaign.opened', %s, 'campaign:1', '{}', false)"""
pytestmark = pytest.mark.django_db(transaction=True)


def read(client: Client, after: str = "", **more: str) -> Any:
    reply = client.get(URL, {"after": after, **more} if after else more)
    assert reply.status_code == 200, reply.content
    return reply.json()


def targets(page: Any) -> list[str]:
    return [event["target"] for event in page["results"]]


def test_an_event_that_is_committed_late_is_read_once_as_every_other(world: World) -> None:
    """A writes, B writes and commits, the reader polls, A commits, the reader polls."""
    client, other = program(world.mara), connection.copy()
    start = read(client, "now")
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute(LATE, [world.benchmark.scope])
            record(world.mara, "campaign.paused", scope=world.benchmark.scope, target="campaign:2")
            first = read(client, start["after"])
            cursor.execute("COMMIT")
    finally:
        other.close()
    assert targets(first) == [], "an older transaction still runs"
    second = read(client, first["after"])
    assert targets(second) == ["campaign:1", "campaign:2"]
    assert targets(read(client, second["after"])) == []


def test_what_is_rolled_back_never_appears(world: World) -> None:
    client, other = program(world.mara), connection.copy()
    start = read(client, "now")
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute(LATE, [world.benchmark.scope])
            cursor.execute("ROLLBACK")
    finally:
        other.close()
    record(world.mara, "campaign.paused", scope=world.benchmark.scope, target="campaign:2")
    assert targets(read(client, start["after"])) == ["campaign:2"]


def test_pages_follow_each_other_and_narrow_by_verb(world: World) -> None:
    for number in range(5):
        verb = "campaign.opened" if number % 2 else "campaign.closed"
        record(world.mara, verb, scope=world.benchmark.scope, target=f"campaign:{number}")
    client = program(world.mara)
    numbers, page = [], read(client, page_size="2")
    while page["results"]:
        numbers += targets(page)
        page = read(client, page["after"], page_size="2")
    assert numbers == [f"campaign:{number}" for number in range(5)]
    assert targets(read(client, verb="campaign.opened")) == ["campaign:1", "campaign:3"]


def test_data_holds_numbers_and_codes_and_no_verb_tells_of_a_person(world: World) -> None:
    data = {"counted": True, "version": 2, "note": "Amina said so"}
    record(world.nour, "answer.submitted", scope=world.benchmark.scope, target="assignment:1", **data)
    record(world.owner, "role.given", scope=world.benchmark.scope, target=f"user:{world.mara.pk}", role="reviewer")
    [event] = read(program(world.mara))["results"]
    assert event["data"] == {"counted": True, "version": 2}
    assert set(event) == {"id", "at", "verb", "benchmark", "target", "data", "after"}
    of_people = [verb for verb in VERBS if verb.startswith(("role.", "cohort.", "team.", "person."))]
    assert of_people == ["cohort.complete"], "it says of a campaign how much is there"


def test_events_are_for_those_who_work_on_the_benchmark(world: World) -> None:
    record(world.mara, "campaign.opened", scope=world.benchmark.scope, target="campaign:1")
    record(world.rival, "campaign.opened", scope=world.other_benchmark.scope, target="campaign:2")
    assert targets(read(program(world.mara))) == ["campaign:1"]
    assert targets(read(program(world.rival))) == ["campaign:2"]
    for user in (world.reviewer, world.stranger, world.nour):
        assert targets(read(program(user))) == []
        problem(program(user).get(f"{URL}?scope=benchmark:sea-and-river"), 404, "not-found")
    problem(program(world.mara, "answer").get(URL), 403, "insufficient-scope")


def test_a_position_of_another_database_is_gone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = program(world.mara)
    after = read(client)["after"]
    monkeypatch.setattr("api.views.events.feed_epoch", lambda: "another")
    problem(client.get(URL, {"after": after}), 410, "feed-restarted")
    for parameter, value in (("after", "guess"), ("verb", "weather.changed"), ("scope", "team:nile-lab")):
        assert problem(client.get(URL, {parameter: value}), 400, "invalid-request")["parameter"] == parameter
    assert event_feed.feed_epoch() == event_feed.feed_epoch() != ""


def test_what_a_program_does_is_in_the_feed(world: World) -> None:
    client = program(world.mara, "write")
    created = send(client, "POST", "/api/v1/benchmarks/", {"team": "nile-lab", "name": "Teas", "recipe": "caire"})
    [event] = read(client, scope=f"benchmark:{created.json()['slug']}")["results"]
    assert (event["verb"], event["data"]) == ("benchmark.created", {"recipe": "caire-universal"})
