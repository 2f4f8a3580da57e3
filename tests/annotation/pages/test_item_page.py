"""One item with everything known of it; answers only for those who work on the benchmark, people by pseudonyms."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import (
    Annotation,
    Assignment,
    ItemAcceptance,
    ItemSource,
    Participation,
    ProblemReport,
    Resolution,
    Review,
    SecondReview,
    Slot,
)
from annotation.tasks import renew_item_tallies
from benchmarks.models import FilterResult, FilterVersion, Item, ItemFact
from people.models import User
from people.services import consent
from tests import samples
from tests.personas import World

pytestmark = pytest.mark.django_db


def html_of(world: World, item: Item, user: User | None = None, **query: str) -> str:
    reply = world.client(user or world.mara).get(f"/b/{world.benchmark.slug}/items/{item.pk}/", query)
    assert reply.status_code == 200
    return reply.content.decode()


def fill(world: World, item: Item) -> tuple[Annotation, Annotation]:
    """Two answers, one of them rejected, a skip, a problem, a settled question, filters, facts and later stages."""
    opened = samples.open_campaign(world, world.egypt)
    slot: Slot = opened.slots.get(unit__item=item)
    first, second = (
        samples.assign(opened, person, slot, code=code).annotations.get()
        for person, code in ((world.nour, "4"), (world.tarek, "2"))
    )
    Annotation.objects.filter(pk=second.pk).update(counted=False, uncounted_because="rejected")
    at = timezone.now()
    Review.objects.create(
        annotation=second, reviewer=world.reviewer, decision="reject", reason="broken", comment="Not readable", at=at
    )
    third = samples.assign(opened, world.add_annotators(world.egypt, 1)[0], slot)
    type(third).objects.filter(pk=third.pk).update(
        state="skipped", lease_until=None, skip_reason="unknown", skip_note="never saw one"
    )
    Slot.objects.filter(pk=slot.pk).update(reserved=0)
    ProblemReport.objects.create(assignment=third, rater=third.rater, text="It is turned")
    Resolution.objects.create(
        unit=slot.unit, field="relevance", code="3", answer="3", annotation=first, reason="In between", by=first.rater,
        at=at, version=1,
    )  # fmt: skip
    ItemAcceptance.objects.create(item=item, reason="It is famous", by=world.owner, at=at)
    ItemFact.objects.create(item=item, key="clip_score", value=24.5, source="encoder", version="1")
    ItemFact.objects.create(item=item, key="object_labels", value={"lamp": 2, "cup": 1}, source="detector", version="1")
    version = FilterVersion.objects.create(stage=item.stage, number=1)
    FilterResult.objects.create(
        item=item, version=version, key="by_hand", state="kept", reason="We need it", decided_by=world.mara,
        decided_at=at,
    )  # fmt: skip
    later = Item.objects.create(stage=item.stage, key="made-later")
    ItemSource.objects.create(item=later, source=item, annotation=first)
    renew_item_tallies()
    return first, second


def test_everything_known_of_an_item_stands_on_its_page_with_time_and_author(world: World) -> None:
    item, _other = world.add_items(2)
    first, second = fill(world, item)
    html = html_of(world, item)
    name = world.benchmark.pseudonym
    for text in (
        name(first.rater_id), name(second.rater_id), "Not counted: rejected in review", "Not readable", "Reviewer",
        "I do not know what it shows", "never saw one", "It is turned", "In between", "It is famous", "24.5",
        "Kept by Mara: We need it", "made-later", 'href="#answers"', 'href="#filters"', 'href="#origin"',
        "First round", "1 of 2", "<dd>1 answer</dd>", "cup: 1, lamp: 2", "<b>3</b> <bdi>Moderately relevant<",
    ):  # fmt: skip
        assert text in html, text
    assert "Nour" not in html and "Tarek" not in html, "people are named by their pseudonyms"
    assert item.key in html_of(world, Item.objects.get(key="made-later")), "the later item leads back"
    empty = html_of(world, Item.objects.create(stage=item.stage, key="alone"))
    assert 'id="answers"' not in empty and 'id="filters"' not in empty and 'id="origin"' not in empty


def test_who_may_not_read_answers_sees_the_item_without_them(world: World) -> None:
    (item,) = world.add_items(1)
    first, _second = fill(world, item)
    for user in (world.reviewer, world.team_admin):
        html = html_of(world, item, user)
        assert item.key in html and "We need it" in html
        for hidden in (world.benchmark.pseudonym(first.rater_id), "Not readable", "never saw one", "In between"):
            assert hidden not in html, hidden
    for user in (world.nour, world.manager, world.stranger, world.rival):
        assert world.client(user).get(f"/b/{world.benchmark.slug}/items/{item.pk}/").status_code == 404


def test_a_first_decision_is_hidden_until_the_second_is_made(world: World) -> None:
    (item,) = world.add_items(1)
    _first, second = fill(world, item)
    blind = SecondReview.objects.create(first=Review.objects.get(annotation=second))
    html = html_of(world, item)
    assert "Not readable" not in html and "A second reviewer decides without seeing the first" in html
    SecondReview.objects.filter(pk=blind.pk).update(decision="accept", reviewer=world.owner, at=timezone.now())
    assert "Not readable" in html_of(world, item)


def test_answers_of_a_person_who_withdrew_are_not_shown(world: World) -> None:
    (item,) = world.add_items(1)
    first, _second = fill(world, item)
    Annotation.objects.filter(pk=first.pk).update(counted=False, uncounted_because="consent_withdrawn")
    html = html_of(world, item)
    answers = html[html.index('id="answers"') :]
    assert f"<b><bdi>{world.benchmark.pseudonym(first.rater_id)}" not in answers


def test_a_skip_of_a_person_who_withdrew_is_not_shown_nor_whose_a_report_is(world: World) -> None:
    """By REST such an assignment is left out, too: a name with skips and no answers would tell who withdrew."""
    (item,) = world.add_items(1)
    fill(world, item)
    skipped = Assignment.objects.get(state="skipped")
    person = skipped.rater.user
    assert person is not None
    name, campaign = world.benchmark.pseudonym(skipped.rater_id), skipped.campaign_id
    pages = (f"items/{item.pk}/", f"campaigns/{campaign}/")

    def htmls() -> list[str]:
        client = world.client(world.mara)
        return [client.get(f"/b/{world.benchmark.slug}/{page}").content.decode() for page in pages]

    assert all(name in html and "It is turned" in html for html in htmls()) and "never saw one" in htmls()[0]
    consent.withdraw(person, world.team, timezone.now())
    assert "never saw one" not in htmls()[0]
    assert all(name not in html and "It is turned" in html for html in htmls()), "the report waits for an answer"
    consent.agree(person, world.consent_version, "en")
    assert all(name in html for html in htmls()) and "never saw one" in htmls()[0]


def test_an_imported_skip_is_named_in_words_and_not_by_its_key(world: World) -> None:
    (item,) = world.add_items(1)
    fill(world, item)
    skipped = Assignment.objects.filter(state="skipped")
    skipped.update(participation=None, skip_reason="imported", skip_note="file:3f9a:7:12")
    html = html_of(world, item)
    assert "Skipped in an imported file" in html and "file:3f9a" not in html
    skipped.update(skip_reason="imported", skip_note="never saw one", participation=Participation.objects.first())
    assert "never saw one" in html_of(world, item), "a reason of the stage may have the same code"


def test_previous_and_next_stay_in_the_filtered_list(world: World) -> None:
    items = world.add_items(9)
    concept = [item for item in items if item.concept == items[1].concept]
    assert len(concept) >= 2
    html = html_of(world, concept[0], concept=concept[0].concept, order="newest")
    assert f"items/{concept[1].pk}/?" in html and "concept=" in html and "order=newest" in html
    assert 'rel="prev"' in html and 'rel="next"' not in html, "the newest comes first"
    assert "Back to the filtered items" in html and "Back to the items" in html_of(world, items[0])


def test_the_page_asks_as_often_for_many_answers_as_for_few(world: World) -> None:
    few, many = world.add_items(2)
    opened = samples.open_campaign(world, world.egypt)

    def asked(item: Item) -> int:
        client: Any = world.client(world.mara)
        client.get("/benchmarks/")
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/b/{world.benchmark.slug}/items/{item.pk}/").status_code == 200
        return len(queries)

    for item, people in ((few, [world.nour]), (many, world.add_annotators(world.egypt, 12))):
        for person in people:
            samples.assign(opened, person, opened.slots.get(unit__item=item), code="3")
            Slot.objects.filter(unit__item=item).update(submitted=0)
    assert asked(many) <= asked(few)
