"""Adjudication by REST: who is asked settles an item in dispute, by the rules of the sheet, and nobody else does."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from annotation.models import Annotation, Campaign, Draft, Resolution
from annotation.services.answers import consent
from benchmarks.models import Benchmark
from people.models import CohortMember, Consent, Rater
from tests.annotation.chain.disputed_scene import FIRST, Disputes, lower
from tests.annotation.chain.factories import claim_sheet, process_derivations
from tests.annotation.queue.factories import NOON
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.personas import World

pytestmark = pytest.mark.django_db
URL = "/api/v1/benchmarks/sea-and-river/resolutions/"
ANOTHER = {"decision": "another", "box": [{"x0": 0, "y0": 0, "x1": 0.4, "y1": 0.5}], "reason": "both are off"}


class Adjudication:
    """An item in dispute in the hand of a third person, and their program."""

    def __init__(self, world: World) -> None:
        Benchmark.objects.filter(pk=world.benchmark.pk).update(answers_by_api=True)
        self.scene = Disputes(world.benchmark, world.egypt)
        self.scene.draw_both(lower(0.2))
        self.third = self.scene.person()
        self.client = self.program_of(self.third)
        claims = f"/api/v1/benchmarks/{world.benchmark.slug}/campaigns/{self.scene.campaigns['settling'].pk}/claims/"
        claim = send(self.client, "POST", claims)
        assert claim.status_code == 200, claim.content
        self.assignment = claim.json()["current"]["id"]

    @staticmethod
    def program_of(rater: Rater, *scopes: str) -> Any:
        assert rater.user is not None
        return program(rater.user, *(scopes or ("answer",)))

    def settle(self, answers: Any = None, key: str = "k1", **more: Any) -> Any:
        content = {"assignment": self.assignment, "answers": answers or ANOTHER, "client_key": key, **more}
        return send(self.client, "POST", URL, content)


@pytest.fixture
def asked(world: World) -> Adjudication:
    return Adjudication(world)


def change(client: Any, place: str, answers: Any, tag: str = "*", key: str = "k2") -> Any:
    return send(client, "PATCH", place, {"answers": answers, "client_key": key}, if_match=tag)


def test_the_answer_to_an_item_in_dispute_settles_it_once(world: World, asked: Adjudication) -> None:
    done = asked.settle()
    assert done.status_code == 201, done.content
    line = done.json()["resolution"]
    assert (line["field"], line["reason"], line["version"], line["ended_at"]) == ("box", "both are off", 1, None)
    assert line["chosen_annotation"] is None and line["by"] == world.benchmark.pseudonym(asked.third.pk)
    again = asked.settle()
    assert again.json()["repeated"] and again.json()["resolution"] == line
    assert asked.scene.gold() == lower(0.4)[0] and Resolution.objects.count() == 1
    reader = program(world.mara, "export")
    assert reader.get(URL).json()["results"] == [line]
    read = reader.get(done["Location"])
    assert read.json() == line and read["ETag"] == done["ETag"]
    problem(asked.settle(key="other"), 409, "conflict")


def test_a_decision_is_changed_by_its_author_as_the_next_version(world: World, asked: Adjudication) -> None:
    done = asked.settle()
    place, tag = done["Location"], done["ETag"]
    undecided = {"decision": "undecided", "reason": "two of them"}
    problem(
        send(asked.client, "PATCH", place, {"answers": undecided, "client_key": "k2"}), 428, "precondition-required"
    )
    problem(change(asked.client, place, undecided, '"old"'), 412, "stale")
    refused = problem(change(asked.client, place, {"decision": "7", "reason": "x"}, tag), 422, "refused")
    assert refused["errors"][0]["pointer"] == "/answers/decision"
    assert not Draft.objects.exists(), "what was refused leaves no change begun"
    changed = change(asked.client, place, undecided, tag)
    assert changed.status_code == 200, changed.content
    line = changed.json()["resolution"]
    assert (line["version"], line["answer"], line["reason"]) == (2, None, "two of them")
    problem(change(asked.client, place, ANOTHER, "*", "k3"), 409, "conflict")
    assert program(world.mara, "export").get(place).json()["ended_at"]
    assert [row.version for row in asked.scene.live()] == [2]


def test_a_decision_of_the_last_seconds_is_taken_back_and_later_it_is_too_late(asked: Adjudication) -> None:
    place = asked.settle()["Location"]
    Annotation.objects.filter(rater=asked.third).update(submitted_at=F("submitted_at") - timedelta(hours=1))
    problem(send(asked.client, "POST", f"{place}withdraw/"), 409, "conflict")
    Annotation.objects.filter(rater=asked.third).update(submitted_at=F("submitted_at") + timedelta(hours=1))
    withdrawn = send(asked.client, "POST", f"{place}withdraw/")
    assert withdrawn.status_code == 200 and withdrawn.json()["ended_at"], withdrawn.content
    assert asked.scene.live() == [] and asked.scene.gold() == FIRST[0]
    problem(send(asked.client, "POST", f"{place}withdraw/"), 409, "conflict")
    assert asked.settle(key="k2").json()["resolution"]["version"] == 2, "the item was in hand again"


def test_what_the_sheet_refuses_settles_nothing(asked: Adjudication) -> None:
    refused = problem(asked.settle({"decision": "1"}), 422, "refused")
    assert [(row["pointer"], row["code"]) for row in refused["errors"]] == [("/answers/reason", "required")]
    problem(asked.settle(mood="x"), 400, "invalid-content")
    problem(asked.settle("all"), 400, "invalid-content")
    drawn = Annotation.objects.get(rater=asked.scene.finder).assignment_id
    asked.client = asked.program_of(asked.scene.finder)
    assert problem(asked.settle(assignment=drawn), 422, "refused")["errors"][0]["pointer"] == "/assignment"
    assert not Resolution.objects.exists()


def test_only_who_has_the_item_in_hand_settles_it(world: World, asked: Adjudication) -> None:
    content = {"assignment": asked.assignment, "answers": ANOTHER, "client_key": "k"}
    for user in (world.stranger, world.rival, world.mara, world.owner, world.reviewer):
        problem(send(program(user, "answer"), "POST", URL, content), 404, "not-found")
    for part in (asked.scene.finder, asked.scene.verifier):
        problem(send(asked.program_of(part), "POST", URL, content), 404, "not-found")
    problem(send(asked.program_of(asked.third, "write"), "POST", URL, content), 403, "insufficient-scope")
    place = asked.settle()["Location"]
    undecided = {"decision": "undecided", "reason": "x"}
    for client in (program(world.mara, "answer"), program(world.rival, "answer"), asked.program_of(asked.scene.finder)):
        problem(change(client, place, undecided), 404, "not-found")
        problem(send(client, "POST", f"{place}withdraw/"), 404, "not-found")
    problem(asked.program_of(asked.third, "export").get(place), 404, "not-found")
    problem(program(world.mara, "read").get(place), 403, "insufficient-scope")
    problem(program(world.reviewer, "export").get(place), 404, "not-found")
    Benchmark.objects.filter(pk=world.benchmark.pk).update(answers_by_api=False)
    problem(change(asked.client, place, undecided), 409, "conflict")
    problem(asked.settle(key="k3"), 409, "conflict")
    assert [row.version for row in asked.scene.live()] == [1]


def test_a_person_of_two_benchmarks_reaches_nothing_of_one_through_the_other(world: World, asked: Adjudication) -> None:
    other = Disputes()
    CohortMember.objects.create(cohort=other.cohort, user=asked.third.user)
    assert claim_sheet(asked.third, other.campaigns["boxes"], other.cohort) is not None
    elsewhere = URL.replace(world.benchmark.slug, other.boxes.benchmark.slug)
    content = {"assignment": asked.assignment, "answers": ANOTHER, "client_key": "k"}
    problem(send(asked.client, "POST", elsewhere, content), 404, "not-found")
    place = asked.settle()["Location"].replace(URL, elsewhere)
    problem(change(asked.client, place, {"decision": "undecided", "reason": "x"}), 404, "not-found")
    problem(send(asked.client, "POST", f"{place}withdraw/"), 404, "not-found")
    assert [row.version for row in asked.scene.live()] == [1]


def test_a_change_is_refused_when_the_campaign_is_over(asked: Adjudication) -> None:
    place = asked.settle()["Location"]
    Campaign.objects.filter(pk=asked.scene.campaigns["settling"].pk).update(state=Campaign.State.CLOSED)
    problem(change(asked.client, place, {"decision": "undecided", "reason": "x"}), 409, "conflict")
    assert [row.version for row in asked.scene.live()] == [1]


def test_nobody_reads_what_somebody_settled_who_withdrew_their_consent(world: World, asked: Adjudication) -> None:
    """Also an earlier version of it, which held until it was changed."""
    done = asked.settle()
    changed = change(asked.client, done["Location"], {"decision": "undecided", "reason": "My aunt."})
    assert changed.status_code == 200, changed.content
    reader, places = program(world.mara, "export"), (done["Location"], changed["Location"])
    assert [reader.get(place).status_code for place in places] == [200, 200]
    assert asked.third.user is not None
    if not Consent.objects.filter(user=asked.third.user).exists():
        early = {"given_at": NOON, "language": "en"}
        Consent.objects.create(user=asked.third.user, version=world.consent_version, **early)
    consent.withdraw(asked.third.user, world.team, timezone.now())
    assert reader.get(URL).json()["results"] == [], "also before a worker has looked at it"
    process_derivations()
    for place in places:
        problem(reader.get(place), 404, "not-found")
