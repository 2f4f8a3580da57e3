"""Rows that changed since a moment, by REST: none is missed, and what is gone says so."""

import json
from typing import Any

import pytest
from django.core import signing
from django.db import connection
from django.test import Client

from annotation.models import Annotation, Campaign, ItemSource, Outcome, Review, RuleVersion, SecondReview, Unit
from api.views.rows import MOMENT
from benchmarks.models import Item, ItemImage
from people.models import Consent
from releases.rows.changes import CHANGES, HALF_CYCLE, MARGIN
from tests.annotation.chain.factories import RULE
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
    problem(program(world.mara).get(url, {"changed_after": moment}), 403, "insufficient-scope")
    for user in (world.rival, world.stranger, world.reviewer):
        problem(program(user, "export").get(url, {"changed_after": moment}), 404, "not-found")


def moment_of(client: Client, world: World, kind: str) -> str:
    reply: Any = client.get(address(world, f"{kind}/"))
    assert reply.status_code == 200, reply.content
    return str(reply[MOMENT])


def keys_changed(client: Client, world: World, moment: str) -> list[str]:
    return [row["key"] for row in changes(client, world, moment, "items")]


@pytest.mark.django_db(transaction=True)
def test_items_come_again_with_their_pictures_and_sources(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    moment = moment_of(client, world, "items")
    assert changes(client, world, moment, "items") == []
    first, second, third, fourth = world.items[:4]
    Item.objects.filter(pk=first.pk).update(withdrawn_at=NOON)
    assert keys_changed(client, world, moment) == [first.key]
    moment = moment_of(client, world, "items")
    picture = ItemImage.objects.get(item=second)
    ItemImage.objects.filter(pk=picture.pk).update(alt="Bread")
    assert keys_changed(client, world, moment) == [picture.item.key], "a picture is of its item"
    answer = Annotation.objects.filter(rater__user=world.nour).order_by("pk")[0]
    ItemSource.objects.create(item=third, source=fourth, annotation=answer)
    Item.objects.filter(pk=third.pk).update(withdrawn_at=NOON)
    assert {third.key, picture.item.key} == set(keys_changed(client, world, moment))
    moment = moment_of(client, world, "items")
    Annotation.objects.filter(pk=answer.pk).update(counted=False, uncounted_because="consent_withdrawn")
    gone = {"id": third.pk, "stage": world.stage.key, "gone": "consent_withdrawn"}
    assert changes(client, world, moment, "items") == [gone], "made of an answer that was taken back"
    assert program(world.mara).get(address(world, "items/"), {"changed_after": moment}).json()["results"] == [gone]
    assert client.get(address(world, "items/count/"), {"changed_after": moment}).json() == {"count": 1}
    assert client.get(address(world, f"items/{third.pk}/")).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_outcomes_and_decisions_come_again_and_those_that_are_gone_say_so(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    rule = RuleVersion.objects.create(stage=world.stage, number=1, definition=RULE)
    answers = list(Annotation.objects.filter(rater__user=world.nour).order_by("pk"))
    values = {"campaign": campaign, "rule_version": rule, "answers": 1, "at": NOON}
    units = Unit.objects.filter(assignments__annotations__in=answers).distinct().order_by("pk")
    decided_again, lost = (Outcome.objects.create(unit=unit, state="accepted", **values) for unit in units[:2])
    decision = Review.objects.create(annotation=answers[0], reviewer=world.owner, decision="accept", at=NOON)
    other = Review.objects.create(annotation=answers[1], reviewer=world.owner, decision="accept", at=NOON)
    moment = moment_of(client, world, "outcomes")
    assert changes(client, world, moment, "outcomes") == [] == changes(client, world, moment, "reviews")
    lost_unit, item = lost.unit, lost.unit.item.key
    lost.delete()
    Outcome.objects.filter(pk=decided_again.pk).update(state="rejected")
    gone = {"campaign": campaign.pk, "item": item, "target": lost_unit.target, "gone": "not_decided"}
    rows = changes(client, world, moment, "outcomes")
    assert [row for row in rows if "gone" in row] == [gone]
    assert [row["state"] for row in rows if "gone" not in row] == ["rejected"]
    assert changes(client, world, moment, "outcomes", state="waiting", since="2027-01-01") == [gone], (
        "whatever is asked"
    )
    Outcome.objects.create(unit=lost_unit, state="accepted", **values)
    assert [row["state"] for row in changes(client, world, moment, "outcomes")] == ["rejected", "accepted"]
    Review.objects.filter(pk=decision.pk).update(undone_at=NOON)
    assert [row["annotation"] for row in changes(client, world, moment, "reviews")] == [answers[0].pk]
    second = SecondReview.objects.create(first=other, reviewer=world.mara, decision="accept", at=NOON)
    moment = moment_of(client, world, "reviews")
    SecondReview.objects.filter(pk=second.pk).update(final=other)
    assert {row["round"] for row in changes(client, world, moment, "reviews")} == {"second", "third"}
    Consent.objects.filter(user=world.nour).update(given_at=NOON.replace(year=2025))
    moment = moment_of(client, world, "reviews")
    Annotation.objects.filter(pk=answers[0].pk).update(counted=False, uncounted_because="consent_withdrawn")
    gone = {"annotation": answers[0].pk, "version": 1, "round": "first", "gone": "consent_withdrawn"}
    assert changes(client, world, moment, "reviews") == [gone]


def test_after_half_a_cycle_of_transactions_everything_counts_as_changed(world: World, campaign: Campaign) -> None:
    """Other transactions may still run that are older than this one: the moment lies before it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT (txid_current())::text")
        now = int(cursor.fetchone()[0])
    assert CHANGES["items"].condition(str(now - HALF_CYCLE + MARGIN // 2)).sql == "true"
    assert CHANGES["items"].condition(str(now)).sql != "true" != CHANGES["ratings"].condition("1").sql


@pytest.mark.parametrize(("behind", "is_changed"), [(-5, False), (-1, False), (0, True), (1, True), (2**31 - 1, True)])
def test_a_row_is_compared_over_the_end_of_a_cycle(behind: int, is_changed: bool) -> None:
    """`xmin` begins anew after 2**32 transactions."""
    sql = CHANGES["outcomes"].since.partition(" OR ")[0]
    for moment in (100, 2**32 - 1, 2**32, 5 * 2**32 + 1, 2**40 + 2**31):
        with connection.cursor() as cursor:
            column = str((moment + behind) % 2**32)
            cursor.execute(f"SELECT {sql}".replace("o.touched", f"'{column}'::xid"), [str(moment)])
            assert cursor.fetchone()[0] is is_changed
