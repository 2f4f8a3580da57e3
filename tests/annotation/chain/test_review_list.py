"""The review queue as a list: filters, pages that stay right while decisions are made, decisions without leaving it."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Review
from annotation.services.campaigns import lifecycle
from annotation.services.review import reviews
from benchmarks.models import Item, ItemImage
from people.models import User
from people.services.raters import rater_of
from tests.annotation.chain.factories import QUESTION, a_stage, answer, claim_sheet
from tests.annotation.chain.factories import items as make
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]
SCRIPT: Any = {"headers": {"x-requested-with": "emic"}}


class Queue:
    """Eight questions of Egypt by two people and two of Brazil by one, in a stage that is accepted by review."""

    def __init__(self, world: World) -> None:
        self.world, self.base = world, f"/b/{world.benchmark.slug}/review/"
        self.ask = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
        make(self.ask, 8)
        self.campaign = lifecycle.create(self.ask, "Questions", None, {world.egypt: 1, world.brazil: 1}, seed=1)
        lifecycle.open_campaign(self.campaign, None, timezone.now())
        writers = [world.nour, world.tarek] * 4
        self.answers = [self.written(user, f"Egypt {n}?") for n, user in enumerate(writers)]
        self.brazil = [self.written(world.bia, f"Brazil {n}?", world.brazil) for n in range(2)]

    def written(self, user: User, question: str, cohort: Any = None) -> Annotation:
        sheet = claim_sheet(rater_of(user), self.campaign, cohort or self.world.egypt)
        return answer(sheet, question=question, answer="Tea")

    def shown(self, client: Client, **params: Any) -> list[str]:
        """The questions on a page, in its order."""
        return questions(client.get(self.base, params))

    def decide_path(self, annotation: Annotation) -> str:
        return f"{self.base}{annotation.pk}/decide/"


def questions(reply: Any) -> list[str]:
    listed = str(reply.content.decode()).split('id="mine"')[0]
    return re.findall(r"((?:Egypt|Brazil) \d)\?", listed)


@built_once
def queue(world: World) -> Queue:
    return Queue(world)


def test_the_list_shows_the_text_of_an_item_without_a_picture(queue: Queue, client_of: ClientOf) -> None:
    unit = queue.answers[0].assignment.unit
    ItemImage.objects.filter(item=unit.item).delete()
    Item.objects.filter(pk=unit.item_id).update(text="A proverb about bread")
    assert "A proverb about bread" in client_of(queue.world.reviewer).get(queue.base).content.decode()


def test_filters_narrow_the_list_and_states_say_how_many(queue: Queue, client_of: ClientOf) -> None:
    world, client = queue.world, client_of(queue.world.reviewer)
    reviews.decide(queue.answers[0].pk, world.owner, "return", timezone.now(), reason="unclear")
    reviews.decide(queue.answers[1].pk, world.owner, "reject", timezone.now(), reason="rules")
    reviews.decide(queue.answers[2].pk, world.owner, "reject", timezone.now(), reason="mistake")
    assert queue.shown(client)[:3] == ["Egypt 3", "Egypt 4", "Egypt 5"]
    assert queue.shown(client, cohort=world.brazil.pk) == ["Brazil 0", "Brazil 1"]
    author = world.benchmark.pseudonym(rater_of(world.tarek).pk)
    assert queue.shown(client, author=author) == ["Egypt 3", "Egypt 5", "Egypt 7"]
    assert queue.shown(client, author="nobody") == []
    assert queue.shown(client, state="returned") == ["Egypt 0"]
    assert queue.shown(client, state="rejected") == ["Egypt 2", "Egypt 1"], "the newest decision first"
    assert queue.shown(client, state="rejected", reason="rules") == ["Egypt 1"]
    assert queue.shown(client, state="accepted") == []
    assert queue.shown(client, campaign=queue.campaign.pk + 1) == []
    states = client.get(queue.base).context["list"].states
    assert [(state.name, state.number) for state in states] == [
        ("Waiting", 7), ("Returned", 1), ("Accepted", 0), ("Rejected", 2),
    ]  # fmt: skip


def test_pages_follow_each_other_while_decisions_are_made(queue: Queue, client_of: ClientOf) -> None:
    client = client_of(queue.world.reviewer)
    page = client.get(queue.base, {"per": 4}).context["list"]
    assert [row.line.annotation_id for row in page.rows] == [a.pk for a in queue.answers[:4]] and not page.earlier
    for annotation in queue.answers[:3]:
        client.post(queue.decide_path(annotation), {"decision": "accept"})
    second = client.get(f"{queue.base}?{page.later}").context["list"]
    assert [row.line.annotation_id for row in second.rows] == [a.pk for a in queue.answers[4:8]], "none is passed over"
    third = client.get(f"{queue.base}?{second.later}").context["list"]
    assert [row.line.annotation_id for row in third.rows] == [a.pk for a in queue.brazil] and not third.later
    back = client.get(f"{queue.base}?{second.earlier}").context["list"]
    expected = [a.pk for a in [*queue.answers[3:7]]]
    assert [row.line.annotation_id for row in back.rows] == expected, "too few are left before: the first page, filled"


def test_answers_of_one_moment_are_all_listed_once(queue: Queue, client_of: ClientOf) -> None:
    Assignment.objects.filter(campaign=queue.campaign).update(changed_at=timezone.now() - timedelta(hours=1))
    client, query, listed = client_of(queue.world.reviewer), "per=3", []
    while query:
        page = client.get(f"{queue.base}?{query}").context["list"]
        listed += [row.line.annotation_id for row in page.rows]
        query = page.later
    assert listed == [a.pk for a in [*queue.answers, *queue.brazil]]


def test_the_number_of_queries_is_that_of_a_short_list(queue: Queue, client_of: ClientOf) -> None:
    client = client_of(queue.world.reviewer)
    client.get(queue.base)
    numbers = []
    for size in (2, 10):
        with CaptureQueriesContext(
            connection,
        ) as captured:
            client.get(queue.base, {"per": size})
        numbers.append(len(captured))
    assert numbers[0] >= numbers[1] - 1 and numbers[1] < 32, numbers


def test_a_decision_without_a_script_comes_back_to_the_same_page(queue: Queue, client_of: ClientOf) -> None:
    client = client_of(queue.world.reviewer)
    page = client.get(queue.base, {"per": 4, "cohort": queue.world.egypt.pk}).context["list"]
    posted = {"decision": "reject", "reason": "rules", "comment": "No question", "list": page.query}
    reply = client.post(queue.decide_path(queue.answers[1]), posted)
    assert dict(parse_qsl(reply.url.split("?")[1].removesuffix("#answers"))) == {
        "per": "4",
        "cohort": str(queue.world.egypt.pk),
    }
    review = Review.objects.get()
    assert (review.decision, review.reason, review.comment) == ("reject", "rules", "No question")
    reply = client.post(f"{queue.base}undo/{review.pk}/", {"list": page.query})
    assert reply.status_code == 302 and "cohort=" in reply.url and not Review.objects.filter(undone_at=None).exists()


def test_a_row_names_the_concept_of_its_item(queue: Queue, client_of: ClientOf) -> None:
    Item.objects.filter(pk=queue.answers[0].assignment.unit.item_id).update(concept="Kushari")
    rows = client_of(queue.world.reviewer).get(queue.base).context["list"].rows
    shown = [[text.value for text in row.line.about] for row in rows]
    assert ["Kushari"] in shown and [] in shown


def test_a_script_gets_the_row_as_it_is_now(queue: Queue, client_of: ClientOf) -> None:
    client, path = client_of(queue.world.reviewer), queue.decide_path(queue.answers[0])
    refused = client.post(path, {"decision": "return"}, **SCRIPT)
    assert refused.status_code == 422 and "Choose a reason" in refused.content.decode()
    done = client.post(path, {"decision": "return", "reason": "unclear"}, **SCRIPT)
    row = done.content.decode()
    assert done.status_code == 200 and "Returned" in row and "Undo decision" in row and "<html" not in row
    again = client.post(path, {"decision": "accept"}, **SCRIPT)
    assert again.status_code == 422 and "You have reviewed this answer already" in again.content.decode()
    other = client_of(queue.world.owner).post(path, {"decision": "accept"}, **SCRIPT)
    assert other.status_code == 422 and "Someone else has just reviewed this answer." in other.content.decode()
    undone = client.post(f"{queue.base}undo/{Review.objects.get().pk}/", {"list": ""}, **SCRIPT)
    assert undone.status_code == 200 and 'value="accept"' in undone.content.decode()


@pytest.mark.parametrize("name", ["nour", "manager", "rival", "stranger", "team_admin", "site_admin"])
def test_who_does_not_review_decides_nothing_from_the_list(queue: Queue, client_of: ClientOf, name: str) -> None:
    client = client_of(getattr(queue.world, name))
    assert client.post(queue.decide_path(queue.answers[0]), {"decision": "accept"}).status_code == 404
    assert client.get(queue.base, {"state": "accepted"}).status_code == 404
    assert not Review.objects.exists()


def test_own_answers_are_in_no_state_of_ones_list(queue: Queue, client_of: ClientOf) -> None:
    world = queue.world
    Annotation.objects.filter(rater=rater_of(world.tarek)).update(rater=rater_of(world.reviewer))
    mine = queue.answers[1]
    client = client_of(world.reviewer)
    assert queue.shown(client, cohort=world.egypt.pk) == ["Egypt 0", "Egypt 2", "Egypt 4", "Egypt 6"]
    assert client.post(queue.decide_path(mine), {"decision": "accept"}).status_code == 404
    assert "Egypt 1" in queue.shown(client_of(world.owner))


def test_a_closed_campaign_offers_no_return(queue: Queue, client_of: ClientOf) -> None:
    lifecycle.close(Campaign.objects.get(pk=queue.campaign.pk), None, timezone.now())
    page = client_of(queue.world.reviewer).get(queue.base)
    assert 'value="reject"' in page.content.decode() and 'value="return"' not in page.content.decode()
