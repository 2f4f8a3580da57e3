"""Campaigns by REST: from a draft to its end, with the reasons of the page where something stands in the way."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Campaign
from benchmarks.models import Stage
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.module_world import built_once
from tests.personas import World

URL = "/api/v1/benchmarks/sea-and-river/campaigns/"
NEW = {"stage": "relevance", "cohorts": {"Egypt": 2, "Brazil": 1}}


@built_once
def draft(world: World) -> Any:
    """Its address."""
    world.add_items(6)
    reply = send(program(world.mara, "write"), "POST", URL, NEW)
    assert reply.status_code == 201, reply.content
    return reply["Location"]


def test_a_campaign_is_created_opened_paused_and_closed(world: World, draft: str) -> None:
    client = program(world.mara, "write")
    created = client.get(draft).json()
    assert (created["name"], created["state"]) == ("Relevance rating", "draft")
    assert {row["label"]: row["wanted"] for row in created["cohorts"]} == {"Egypt": 2, "Brazil": 1}
    states = [send(client, "POST", f"{draft}{name}/").json()["state"] for name in ("open", "pause", "resume", "close")]
    assert states == ["open", "paused", "open", "closed"]
    again = problem(send(client, "POST", f"{draft}open/"), 422, "campaign-refused")
    assert again["detail"] == "The campaign is closed. Copy the campaign to continue."
    assert [row["state"] for row in client.get(URL).json()["results"]] == ["closed"]


def test_a_close_that_is_repeated_with_its_key_is_one_close(world: World, draft: str) -> None:
    client = program(world.mara, "write")
    replies = [send(client, "POST", f"{draft}close/", idempotency_key="c") for _attempt in range(2)]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert replies[1]["Idempotency-Replayed"] == "true"


def test_progress_and_coverage_say_what_is_wanted_and_in_progress(world: World, draft: str) -> None:
    client = program(world.mara, "write")
    send(client, "POST", f"{draft}open/")
    campaign = Campaign.objects.get()
    assert world.client(world.nour).get(f"/work/{campaign.pk}/").status_code == 200
    rows = {row["label"]: row for row in client.get(f"{draft}progress/").json()["cohorts"]}
    assert (rows["Egypt"]["wanted"], rows["Brazil"]["wanted"]) == (12, 6)
    assert rows["Egypt"]["reserved"] > 0 and rows["Brazil"]["reserved"] == 0
    coverage = client.get(f"{draft}coverage/?by=item").json()
    assert coverage["total"] == 6
    assert sum(cell["wanted"] for row in coverage["rows"] for cell in row["cells"]) == 18
    assert sum(cell["reserved"] for row in coverage["rows"] for cell in row["cells"]) == rows["Egypt"]["reserved"]
    assert problem(client.get(f"{draft}coverage/?by=mood"), 400, "invalid-request")["parameter"] == "by"


def test_a_cohort_is_added_and_asked_for_more(world: World) -> None:
    world.add_items(3)
    client = program(world.mara, "write")
    url = send(client, "POST", URL, {**NEW, "cohorts": {str(world.egypt.pk): 1}})["Location"]
    added = send(client, "POST", f"{url}cohorts/", {"cohort": world.brazil.pk, "wanted": 1})
    assert added.status_code == 201, added.content
    one_cohort, tag = added["Location"], added["ETag"]
    change = {"wanted": 3, "paused": True, "most_per_day": 5}
    changed = send(client, "PATCH", one_cohort, change, if_match=tag).json()
    assert changed == {"cohort": world.brazil.pk, "label": "Brazil", "most_per_person": None, **change}
    for change, limits in (
        ({"most_per_person": 9}, (9, 5)),
        ({"most_per_day": 4}, (9, 4)),
        ({"wanted": 2}, (9, 4)),
        ({"most_per_person": None}, (None, 4)),
        ({"most_per_person": 8, "most_per_day": None}, (8, None)),
    ):
        line = send(client, "PATCH", one_cohort, change, if_match="*").json()
        assert (line["most_per_person"], line["most_per_day"], line["paused"]) == (*limits, True), "the rest stays"
    problem(send(client, "PATCH", one_cohort, {"wanted": 1}, if_match=tag), 412, "stale")
    problem(send(client, "POST", f"{url}cohorts/", {"cohort": world.other_cohort.pk, "wanted": 1}), 422, "refused")
    Stage.objects.filter(pk=world.stage.pk).update(target_in_all=True)
    refused = send(client, "PATCH", one_cohort, {"paused": False, "wanted": 5}, if_match="*")
    problem(refused, 422, "campaign-refused")
    assert client.get(one_cohort).json()["paused"], "of a change that is refused nothing is done"
    Stage.objects.filter(pk=world.stage.pk).update(target_in_all=False)
    assert send(client, "POST", f"{url}close/", {}).status_code == 200
    for change in ({"wanted": 9}, {"paused": False}, {"most_per_day": 1}):
        problem(send(client, "PATCH", one_cohort, change, if_match="*"), 422, "campaign-refused")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"stage": "none"}, "/stage"),
        ({"cohorts": {"Norway": 1}}, "/cohorts/Norway"),
        ({"cohorts": {}}, ""),
        ({"conditions": ["painted"]}, "/conditions"),
        ({"opens_on": "2026-03-02", "closes_on": "2026-03-01"}, "/closes_on"),
    ],
)
def test_what_the_form_refuses_is_refused(world: World, change: Any, pointer: str) -> None:
    world.add_items(2)
    reply = send(program(world.mara, "write"), "POST", URL, {**NEW, **change})
    assert [error["pointer"] for error in problem(reply, 422, "refused")["errors"]] == [pointer]
    assert not Campaign.objects.exists()


def test_a_campaign_without_items_does_not_open(world: World) -> None:
    client = program(world.mara, "write")
    url = send(client, "POST", URL, {**NEW, "closes_on": str(timezone.now().date() + timedelta(days=9))})["Location"]
    refused = problem(send(client, "POST", f"{url}open/"), 422, "campaign-refused")
    assert "There are no items to show yet" in refused["detail"]


def test_reviewers_look_and_change_nothing(world: World, draft: str) -> None:
    client = program(world.reviewer, "admin")
    assert client.get(draft).status_code == 200
    for path, content in ((URL, NEW), (f"{draft}open/", {}), (f"{draft}cohorts/", {"cohort": 1, "wanted": 1})):
        problem(send(client, "POST", path, content), 404, "not-found")
