"""A list of people by REST: who has an address is invited by a letter, and only by who manages the cohort."""

from typing import Any

import pytest

from jobs.models import Job
from jobs.services import runner
from people.models import CohortManager, Invitation, OutMail
from tests.api.clients import program
from tests.api.test_imports import B, media, upload
from tests.api.test_protocol import problem, send
from tests.personas import World

__all__ = ["media"]
pytestmark = pytest.mark.django_db
TABLE = b"email,note\namina@example.org,Amina\nno address\n,Only a note\namina@example.org,twice\nbela@example.org,\n"


@pytest.fixture
def managing(world: World, media: None) -> World:
    CohortManager.objects.create(cohort=world.egypt, user=world.mara)
    return world


def content(client: Any, data: bytes = TABLE, cohort: str = "Egypt") -> dict[str, Any]:
    return {"kind": "people", "cohort": cohort, "table": upload(client, data)}


def test_those_with_an_address_are_invited_and_each_other_line_says_why(managing: World) -> None:
    client = program(managing.mara, "admin")
    sent = content(client)
    looked = send(client, "POST", f"{B}imports:preview/", sent).json()["rows"]
    assert [(row["row"], bool(row["problem"])) for row in looked] == [
        ("2", False), ("3", True), ("4", True), ("5", True), ("6", False),
    ]  # fmt: skip
    assert not Invitation.objects.filter(cohort=managing.egypt, email__contains="example").exists()
    reply = send(client, "POST", f"{B}imports/", sent, idempotency_key="a")
    assert reply.status_code == 201, reply.content
    job = Job.objects.get(pk=reply.json()["id"])
    for _twice in range(2):
        runner.run(job.pk)
    invited = Invitation.objects.filter(cohort=managing.egypt).order_by("pk")
    assert [(row.email, row.note) for row in invited] == [("amina@example.org", "Amina"), ("bela@example.org", "")]
    assert OutMail.objects.filter(kind=OutMail.Kind.INVITATION).count() == 2
    rows = list(job.rows.order_by("number"))
    assert [row.outcome for row in rows] == ["created", "error", "error", "error", "created"]
    job.refresh_from_db()
    assert "example.org" not in f"{[(row.name, row.message) for row in rows]} {job.params} {job.result}"


def test_only_who_manages_the_cohort_by_admin_invites_people(managing: World) -> None:
    client = program(managing.mara, "admin")
    sent = content(client)
    url = f"{B}imports/"
    needs = problem(
        send(program(managing.mara, "write"), "POST", url, sent, idempotency_key="b"), 403, "insufficient-scope"
    )
    assert needs["needs"] == "admin"
    for label in ("Brazil", "Nowhere"):  # one that she does not manage looks as one that is not there
        refused = problem(send(client, "POST", url, {**sent, "cohort": label}, idempotency_key=label), 422, "refused")
        assert refused["errors"][0]["pointer"] == "/cohort"
    for user in (managing.manager, managing.rival, managing.stranger):
        problem(send(program(user, "admin"), "POST", url, sent, idempotency_key="c"), 404, "not-found")
    for number, data in enumerate((b"\xff\xff", b"\n", b"a@example.org\n" * 20_000)):
        wrong = send(client, "POST", url, content(client, data), idempotency_key=f"d{number}")
        assert problem(wrong, 422, "refused")["errors"][0]["pointer"] == "/table"
    assert not Job.objects.filter(kind="invite_people").exists()
