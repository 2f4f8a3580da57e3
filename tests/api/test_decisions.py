"""Reviews, exclusions, assignments and resolutions by REST: by the rules of their pages."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Exclusion, Review, Unit
from annotation.services.answers import consent
from benchmarks.models import Stage
from people.models import Consent, Rater
from tests.annotation.files.test_answer_files import import_answers, rows_of
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.module_world import built_once
from tests.personas import World

B = "/api/v1/benchmarks/sea-and-river/"


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(2)
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_review")
    campaign = an_open_campaign(world)
    give_ratings(campaign, world.egypt, world.nour, dict.fromkeys(world.items, "4"))
    return campaign


def test_a_reviewer_decides_once_and_never_on_their_own_answers(world: World, campaign: Campaign) -> None:
    answers = list(Annotation.objects.order_by("pk"))
    client, url = program(world.reviewer, "write"), f"{B}reviews/"
    accepted = send(client, "POST", url, {"annotation": answers[0].pk, "decision": "accept"})
    assert accepted.status_code == 201, accepted.content
    assert Review.objects.get().pk == accepted.json()["review"]
    problem(send(client, "POST", url, {"annotation": answers[0].pk, "decision": "accept"}), 409, "review-refused")
    problem(send(client, "POST", url, {"annotation": answers[1].pk, "decision": "reject"}), 422, "review-refused")
    returned = {"annotation": answers[1].pk, "decision": "return", "reason": "unclear", "comment": "Look again."}
    assert send(client, "POST", url, returned).status_code == 201
    problem(send(client, "POST", url, {**returned, "annotation": 10**9}), 404, "not-found")
    for user in (world.nour, world.rival, world.team_admin):
        problem(send(program(user, "write"), "POST", url, returned), 404, "not-found")
    problem(send(program(world.reviewer, "export"), "POST", url, returned), 403, "insufficient-scope")
    rows = program(world.mara, "export").get(url).json()["results"]
    assert {row["decision"] for row in rows} == {"accept", "return"}


def test_an_exclusion_needs_a_reason_and_can_be_lifted(world: World, campaign: Campaign) -> None:
    client, url = program(world.mara, "write", "export"), f"{B}exclusions/"
    name = client.get(f"{B}annotations/").json()["results"][0]["rater"]
    problem(send(client, "POST", url, {"rater": name}), 400, "invalid-content")
    problem(send(client, "POST", url, {"rater": "R-nobody", "reason": "x"}), 422, "refused")
    created = send(client, "POST", url, {"rater": name, "reason": "Answers at random."})
    assert created.status_code == 201, created.content
    assert not Annotation.objects.filter(counted=True).exists()
    problem(send(client, "PATCH", created["Location"], {"lifted": True}), 428, "precondition-required")
    lifted = send(client, "PATCH", created["Location"], {"lifted": True}, if_match=created["ETag"])
    assert lifted.json()["lifted_at"] and Annotation.objects.filter(counted=True).count() == 2
    problem(send(client, "PATCH", created["Location"], {"lifted": False}, if_match="*"), 409, "conflict")
    assert [row["rater"] for row in client.get(url).json()["results"]] == [name]
    assert Exclusion.objects.get().by == world.mara
    problem(send(program(world.reviewer, "write"), "POST", url, {"rater": name, "reason": "x"}), 404, "not-found")


def test_assignments_name_people_by_pseudonym(world: World, campaign: Campaign) -> None:
    url = f"{B}campaigns/{campaign.pk}/assignments/"
    rows = program(world.mara, "export").get(url).json()["results"]
    assert [(row["state"], row["cohort"]) for row in rows] == [("submitted", "Egypt")] * 2
    assert all(row["rater"].startswith("R-") for row in rows) and "Nour" not in str(rows)
    problem(program(world.mara, "read").get(url), 403, "insufficient-scope")
    problem(program(world.reviewer, "export").get(url), 404, "not-found")


def test_assignments_of_who_withdrew_are_not_listed(world: World, campaign: Campaign) -> None:
    """Neither what they answered nor what they skipped: a name with assignments and no answers would tell who."""
    url, client = f"{B}campaigns/{campaign.pk}/assignments/", program(world.mara, "export")
    first = Assignment.objects.filter(campaign=campaign).order_by("pk")[0]
    third = Unit.objects.create(item=first.unit.item, target="Elsewhere")
    Assignment.objects.create(
        campaign=campaign, unit=third, rater=first.rater, participation=first.participation, state="skipped",
        skip_reason="unsure", in_hand=False, reserved_at=first.reserved_at, changed_at=first.changed_at,
    )  # fmt: skip
    assert len(client.get(url).json()["results"]) == 3
    given = first.reserved_at - timedelta(days=1)
    Consent.objects.filter(user=world.nour).update(given_at=given)
    consent.withdraw(world.nour, world.team, timezone.now())
    assert client.get(url).json()["results"] == []
    assert "R-" not in client.get(f"{B}annotations/?counted=all").content.decode()


def test_lists_that_are_empty_are_pages(world: World) -> None:
    client: Any = program(world.mara, "export")
    for name in ("resolutions", "collections", "table-specs", "exclusions"):
        assert client.get(f"{B}{name}/").json() == {"results": [], "next": None, "previous": None}


def test_models_of_one_name_need_their_pseudonym(world: World, campaign: Campaign) -> None:
    model = {"rater": "LLaVA", "rater_kind": "model", "cohort": None, "target": "Egypt"}
    rows = rows_of(world, {**model, "setting": "main"}, {**model, "setting": "text_only"}, {**model, "rater": "Alone"})
    import_answers(campaign, rows, "a.jsonl")
    client, url = program(world.mara, "write", "export"), f"{B}exclusions/"
    refused = problem(send(client, "POST", url, {"rater": "LLaVA", "reason": "x"}), 422, "refused")
    assert refused["detail"] == "Several models have this name. Name the pseudonym."
    assert not Exclusion.objects.exists()
    text_only = Rater.objects.get(name="LLaVA", setting="text_only")
    pseudonym = world.benchmark.pseudonym(text_only.pk)
    created = send(client, "POST", url, {"rater": pseudonym, "reason": "No pictures."})
    assert (created.status_code, created.json()["rater"]) == (201, pseudonym), created.content
    assert Exclusion.objects.get().rater == text_only
    assert send(client, "POST", url, {"rater": "Alone", "reason": "x"}).json()["rater"] == "Alone"
    assert {row["rater"] for row in client.get(url).json()["results"]} == {pseudonym, "Alone"}
