"""Rows that changed since a moment, by REST: none is missed, and what is gone says so."""

import json
from typing import Any

import pytest
from django.core import signing
from django.db import connection
from django.test import Client

from annotation.models import Annotation, Campaign
from api.views.rows import MOMENT
from people.models import Consent
from tests.api.clients import pages, program
from tests.api.test_protocol import problem
from tests.api.test_rows import STREAM, address
from tests.evaluation.data import NOON, an_open_campaign, give_ratings, of_condition, table
from tests.personas import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1234", world.tarek: "12.5"})
    return campaign


def settle() -> None:
    """As if what was written until now were committed long ago: a test is one transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE annotation_annotation DISABLE TRIGGER annotation_annotation_changed")
        cursor.execute("UPDATE annotation_annotation SET xact = '1'")
        cursor.execute("ALTER TABLE annotation_annotation ENABLE TRIGGER annotation_annotation_changed")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def changes(client: Client, world: World, moment: str, kind: str = "annotations", **more: str) -> list[Any]:
    reply: Any = client.get(address(world, f"{kind}/"), {"changed_after": moment, **more}, headers=STREAM)
    assert reply.status_code == 200, reply.content
    rows = [json.loads(line) for line in b"".join(reply.streaming_content).splitlines()]
    assert reply["X-Emic-Rows"] == str(len(rows)) and reply[MOMENT]
    paged = [row for page in pages(client, f"{address(world, kind)}/?changed_after={moment}&page_size=1"
             + "".join(f"&{name}={value}" for name, value in more.items())) for row in page["results"]]  # fmt: skip
    assert paged == rows
    return rows


def test_new_rows_and_those_that_stopped_counting_come_once_more(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    settle()
    first = client.get(address(world, "annotations/"))
    moment = first[MOMENT]
    assert changes(client, world, moment) == []
    old = Annotation.objects.order_by("pk").first()
    assert old is not None
    Annotation.objects.filter(pk=old.pk).update(counted=False, live=False, uncounted_because="superseded")
    [new] = give_ratings(campaign, world.brazil, world.bia, {world.items[0]: "5"})
    rows = changes(client, world, moment)
    assert [(row["annotation"], row["counted"], row["uncounted_because"]) for row in rows] == [
        (old.pk, False, "superseded"), (new.pk, True, ""),
    ]  # fmt: skip
    assert [row["annotation"] for row in changes(client, world, moment, counted="true")] == [new.pk]
    assert [row["code"] for row in changes(client, world, moment, "ratings")] == ["1", "5"]
    assert client.get(address(world, "annotations/count/"), {"changed_after": moment}).json() == {"count": 2}
    decided = Annotation.objects.filter(live=True).exclude(pk=new.pk).order_by("pk")[0]
    settle()
    decided.assignment.state = "accepted"
    decided.assignment.save(update_fields=["state"])
    assert [(row["annotation"], row["state"]) for row in changes(client, world, moment)] == [(decided.pk, "accepted")]


def test_answers_of_somebody_who_withdrew_are_gone(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    moment = client.get(address(world, "annotations/"))[MOMENT]
    theirs = list(Annotation.objects.filter(rater__user=world.nour).order_by("pk"))
    Consent.objects.filter(user=world.nour).update(given_at=NOON.replace(year=2025))
    settle()
    Annotation.objects.filter(pk__in=[one.pk for one in theirs]).update(
        counted=False, uncounted_because="consent_withdrawn"
    )
    rows = changes(client, world, moment)
    assert rows == [{"annotation": one.pk, "gone": "consent_withdrawn"} for one in theirs]
    ratings = changes(client, world, moment, "ratings")
    assert {(*sorted(row),) for row in ratings} == {("annotation", "gone", "rating")} and len(ratings) == len(theirs)


def test_a_moment_is_ours_and_of_this_database(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    url = address(world, "annotations/")
    refused = problem(client.get(url, {"changed_after": "yesterday"}), 400, "invalid-request")
    assert refused["parameter"] == "changed_after"
    foreign = signing.dumps(["another cluster", "5"], salt=MOMENT)
    problem(client.get(url, {"changed_after": foreign}), 410, "feed-restarted")
    moment = client.get(url)[MOMENT]
    assert client.get(address(world, "items/"), {"changed_after": moment}).status_code == 400, "items have none"
    problem(program(world.mara).get(url, {"changed_after": moment}), 403, "insufficient-scope")
    for user in (world.rival, world.stranger, world.reviewer):
        problem(program(user, "export").get(url, {"changed_after": moment}), 404, "not-found")
