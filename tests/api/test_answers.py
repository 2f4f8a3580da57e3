"""A person's own answers by a program of theirs: only where the benchmark allows it, by the rules of the sheet."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign
from annotation.services.answers import submit as answer_services
from annotation.services.campaigns import lifecycle
from annotation.services.queue import leases
from api.protocol import idempotency
from api.views import answers as answer_views
from benchmarks.models import Benchmark
from people.services import tokens
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.personas import World

B = "/api/v1/benchmarks/sea-and-river/"


@pytest.fixture
def campaign(world: World) -> Campaign:
    world.add_items(2)
    Benchmark.objects.filter(pk=world.benchmark.pk).update(answers_by_api=True)
    campaign = lifecycle.create(world.stage, "Rate", world.mara, {world.egypt: 1})
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    return campaign


def claims(campaign: Campaign) -> str:
    return f"{B}campaigns/{campaign.pk}/claims/"


def submit(client: Any, assignment: int, code: str = "4", key: str = "k1", **more: Any) -> Any:
    content = {"answers": {"relevance": code}, "client_key": key, **more}
    return send(client, "POST", f"/api/v1/assignments/{assignment}/submissions/", content)


def test_a_program_claims_drafts_and_submits_until_nothing_is_left(world: World, campaign: Campaign) -> None:
    client = program(world.nour, "answer")
    claim = send(client, "POST", claims(campaign))
    assert claim.status_code == 200, claim.content
    current = claim.json()["current"]
    assert (current["target"], current["sheet"]["fields"][0]["key"]) == ("Egypt", "relevance")
    assert world.client().get(current["item"]["pictures"][0]["url"]).status_code in (200, 404), "signed for some hours"
    assert send(client, "POST", claims(campaign)).json()["current"]["id"] == current["id"], "asking twice is once"
    url = f"/api/v1/assignments/{current['id']}/"
    draft = send(client, "PUT", f"{url}draft/", {"answers": {"relevance": "3"}, "version": 0})
    assert (draft.json()["version"], client.get(url).json()["draft"]["answers"]) == (1, {"relevance": "3"})
    problem(send(client, "PUT", f"{url}draft/", {"answers": {"relevance": "2"}, "version": 0}), 409, "conflict")
    first, second = (submit(client, current["id"]).json() for _n in range(2))
    assert (first["counted"], first["repeated"], second["repeated"]) == (True, False, True)
    assert first["annotation"] == second["annotation"]
    assert submit(client, first["next"]["id"], key="k2").json()["no_work"]
    nothing = problem(send(client, "POST", claims(campaign)), 409, "no-work")
    assert nothing["reason"] == "cohort_full" and nothing["detail"]
    assert set(Annotation.objects.values_list("active_seconds", "counted")) == {(None, True)}


def test_the_language_of_an_answer_is_the_one_the_program_names_else_that_of_its_request(
    world: World, campaign: Campaign
) -> None:
    client = program(world.nour, "answer")
    first = send(client, "POST", claims(campaign)).json()["current"]["id"]
    second = submit(client, first, language="ar").json()["next"]["id"]
    answers = {"answers": {"relevance": "4"}, "client_key": "k2"}
    path = f"/api/v1/assignments/{second}/submissions/"
    assert send(client, "POST", path, answers, accept_language="es").status_code == 201
    languages = dict(Annotation.objects.values_list("assignment", "language"))
    assert languages == {first: "ar", second: "es"}


def test_what_the_sheet_refuses_is_named_by_question(world: World, campaign: Campaign) -> None:
    client = program(world.nour, "answer")
    number = send(client, "POST", claims(campaign)).json()["current"]["id"]
    wrong = problem(submit(client, number, "9"), 422, "refused")
    assert [(row["pointer"], row["code"]) for row in wrong["errors"]] == [("/answers/relevance", "not_an_option")]
    other = {"answers": {"mood": "x"}, "client_key": "k"}
    reply = send(client, "POST", f"/api/v1/assignments/{number}/submissions/", other)
    assert {row["code"] for row in problem(reply, 422, "refused")["errors"]} == {"required", "no_such_field"}
    url = f"/api/v1/assignments/{number}/draft/"
    for answers in ({"relevance": {"a": []}}, {"mood": "x"}, {"relevance": ["4"]}):
        problem(send(client, "PUT", url, {"answers": answers, "version": 0}), 422, "refused")
    assert send(client, "PUT", url, {"answers": {}, "version": 0}).status_code == 200, "a draft may lack something"
    assert not Annotation.objects.exists()
    assert world.client(world.nour).get(f"/work/{campaign.pk}/").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_the_services_have_their_own_transactions(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim that waits for places of others must hold none itself: two programs would wait for each other."""
    claim, take = answer_views.get_or_claim_work, answer_services.submit
    outside = []

    def claim_outside(*args: Any) -> Any:
        outside.append(not connection.in_atomic_block)
        return claim(*args)

    def submit_outside(*args: Any) -> Any:
        outside.append(not connection.in_atomic_block)
        return take(*args)

    monkeypatch.setattr(answer_views, "get_or_claim_work", claim_outside)
    monkeypatch.setattr(answer_services, "submit", submit_outside)
    client = program(world.nour, "answer")
    problem(send(client, "POST", claims(campaign), {"wrong": 1}), 400, "invalid-content")
    assert not Assignment.objects.exists(), "a wrong body claims nothing"
    number = send(client, "POST", claims(campaign), idempotency_key="c").json()["current"]["id"]
    problem(submit(client, number, wrong=1), 400, "invalid-content")
    assert not Annotation.objects.exists(), "a wrong body submits nothing"
    assert submit(client, number).status_code == 201
    assert outside == [True, True]


def test_a_key_brings_the_first_reply_of_claims_and_submissions(world: World, campaign: Campaign) -> None:
    client = program(world.nour, "answer")
    first, again = (send(client, "POST", claims(campaign), idempotency_key="c1") for _attempt in range(2))
    assert first.json() == again.json() and again["Idempotency-Replayed"] == "true"
    number, path = first.json()["current"]["id"], f"/api/v1/assignments/{first.json()['current']['id']}/submissions/"
    content = {"answers": {"relevance": "4"}, "client_key": "k"}
    problem(send(client, "POST", path, {"answers": {}, "client_key": "k"}, idempotency_key="s1"), 422, "refused")
    done, repeated = (send(client, "POST", path, content, idempotency_key="s1") for _attempt in range(2))
    assert done.status_code == repeated.status_code == 201, done.content
    assert done.json() == repeated.json() and not repeated.json()["repeated"], "the stored reply, not a new one"
    changed = {"answers": {"relevance": "1"}, "client_key": "k"}
    problem(send(client, "POST", path, changed, idempotency_key="s1"), 422, "idempotency-key-reused")
    assert Annotation.objects.get(assignment=number).answers == {"relevance": "4"}
    later = send(client, "POST", claims(campaign), idempotency_key="c1").json()
    assert later["current"]["id"] == number, "the stored reply; another key takes the next item"
    assert send(client, "POST", claims(campaign), idempotency_key="c2").json()["current"]["id"] != number


@pytest.mark.django_db(transaction=True)
def test_a_second_claim_with_the_key_waits_for_the_first(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, other = program(world.nour, "answer"), connection.copy()
    monkeypatch.setattr(idempotency, "WAIT_SECONDS", 0.2)
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(hashtextextended('c', %s))", [world.nour.pk])
            problem(send(client, "POST", claims(campaign), idempotency_key="c"), 409, "request-in-progress")
            assert not Assignment.objects.exists()
            assert send(client, "POST", claims(campaign), idempotency_key="d").status_code == 200
    finally:
        other.close()
    assert send(client, "POST", claims(campaign), idempotency_key="c").status_code == 200


def test_late_work_is_kept(world: World, campaign: Campaign) -> None:
    client = program(world.nour, "answer")
    number = send(client, "POST", claims(campaign)).json()["current"]["id"]
    leases.release_expired(timezone.now() + timedelta(days=1))
    assert Assignment.objects.get(pk=number).state == "released"
    late = submit(client, number)
    assert late.status_code == 201 and late.json()["counted"], late.content
    problem(submit(client, number, key="other"), 409, "conflict")


def test_it_is_off_until_somebody_who_works_on_the_benchmark_turns_it_on(world: World, campaign: Campaign) -> None:
    client = program(world.nour, "answer")
    number = send(client, "POST", claims(campaign)).json()["current"]["id"]
    url, form = "/b/sea-and-river/settings/", {"name": "Sea and River"}
    page = world.client(world.mara)
    assert page.post(url, form).status_code == 302
    problem(send(client, "POST", claims(campaign)), 409, "conflict")
    problem(submit(client, number), 409, "conflict")
    assert "Answers by API" in page.get(url).content.decode()
    page.post(url, {**form, "answers_by_api": "on"})
    assert submit(client, number).status_code == 201
    patch = send(program(world.mara, "write"), "PATCH", B, {"answers_by_api": False}, if_match="*")
    assert patch.json()["answers_by_api"] is False
    problem(send(client, "POST", claims(campaign)), 409, "conflict")


def test_only_ones_own_work_is_there(world: World, campaign: Campaign) -> None:
    number = send(program(world.nour, "answer"), "POST", claims(campaign)).json()["current"]["id"]
    for user in (world.tarek, world.mara, world.rival_rater):
        client = program(user, "answer")
        problem(client.get(f"/api/v1/assignments/{number}/"), 404, "not-found")
        problem(submit(client, number), 404, "not-found")
    problem(send(program(world.mara, "answer"), "POST", claims(campaign)), 404, "not-found")
    problem(send(program(world.nour, "admin"), "POST", claims(campaign)), 403, "insufficient-scope")
    wrong = claims(campaign).replace("sea-and-river", "fjord-songs")
    problem(send(program(world.nour, "answer"), "POST", wrong), 404, "not-found")
    _token, text = tokens.create_token(
        world.nour, "narrow", timezone.now(), scopes=["answer"], benchmark_ids=[world.other_benchmark.pk]
    )
    narrow = world.client(headers={"authorization": f"Bearer {text}"})
    problem(narrow.get(f"/api/v1/assignments/{number}/"), 404, "not-found")


def test_who_withdrew_consent_sees_nothing_and_is_told_why(world: World, campaign: Campaign) -> None:
    client = program(world.nour, "answer")
    number = send(client, "POST", claims(campaign)).json()["current"]["id"]
    world.client(world.nour).post(f"/consent/{world.team.pk}/withdraw", {"sure": "on"})
    world.nour.consents.update(withdrawn_at=timezone.now())
    assert problem(client.get(f"/api/v1/assignments/{number}/"), 409, "no-work")["reason"] == "no_consent"
    assert problem(send(client, "POST", claims(campaign)), 409, "no-work")["reason"] == "no_consent"
