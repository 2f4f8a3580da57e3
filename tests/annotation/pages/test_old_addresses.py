"""Addresses of version 0.1 lead to those of today."""

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation, Assignment, Campaign
from config.old_addresses import MOVED
from tests.personas import World

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "addresses.md"


def old_and_new(old: str, route: str) -> tuple[str, str]:
    values = {name: "x" if kind == "slug" else 7 for kind, name in re.findall(r"<(\w+):(\w+)>", old)}
    address = re.sub(r"<\w+:(\w+)>", lambda match: str(values[match[1]]), old)
    return f"/{address}", reverse(route, kwargs=values)


@pytest.mark.parametrize(("old", "route"), MOVED)
def test_an_old_address_redirects_with_its_query(client: Client, old: str, route: str) -> None:
    before, now = old_and_new(old, route)
    reply = client.get(before, {"page": "2"})
    assert (reply.status_code, reply["Location"]) == (301, f"{now}?page=2")
    sent = client.post(before, {"a": "b"})
    assert (sent.status_code, sent["Location"]) == (308, now)


def test_the_page_lists_every_old_address() -> None:
    listed = re.findall(r"^\| `(/\S+)` \| `(/\S+)` \|$", PAGE.read_text(), re.MULTILINE)
    assert [old for old, _new in listed] == ["/" + re.sub(r"<\w+:", "<", old) for old, _route in MOVED]
    values = {"slug": "x"}
    for (_old, new), (old, route) in zip(listed, MOVED, strict=True):
        filled = re.sub(r"<(\w+)>", lambda match: values.get(match[1], "7"), new)
        assert filled == old_and_new(old, route)[1]


def test_an_answer_sent_to_the_old_address_arrives(world: World, campaign: Campaign) -> None:
    """A device may hold an answer from before the update."""
    browser = world.client(world.nour)
    browser.get(f"/work/{campaign.pk}/")
    assignment = Assignment.objects.get(campaign=campaign, rater__user=world.nour, in_hand=True)
    posted = {"a-relevance": "4", "client_key": "k1"}
    reply = browser.post(f"/work/{assignment.pk}/submit", posted, follow=True)
    assert reply.redirect_chain[0] == (f"/assignments/{assignment.pk}/submit", 308)
    assert Annotation.objects.get(assignment=assignment).answers["relevance"] == "4"
    stranger = world.client(world.tarek).post(f"/work/{assignment.pk}/submit", posted, follow=True)
    assert stranger.status_code == 404
