"""A campaign that was opened for imports only is not for people, until everything it asks about can be shown."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation import tasks
from annotation.models import Assignment, Campaign, Slot
from annotation.services.campaigns import lifecycle
from annotation.services.files import answer_files, campaigns
from annotation.services.queue import next_work
from benchmarks.models import Item, Stage
from jobs.services import lifecycle as jobs
from jobs.services import runner
from people.services.raters import rater_of
from tests.evaluation.data import NOON
from tests.module_world import built_once
from tests.personas import World, stand_in


@built_once
def elsewhere(world: World) -> Campaign:
    """Ratings of two items that came without their pictures, beside two that have them."""
    world.add_items(2)
    campaign = lifecycle.create(world.stage, "Elsewhere", world.owner, {world.egypt: 2})
    campaigns.open_for_imports(campaign, world.owner, NOON)
    row = {"rater": "r1", "cohort": "Egypt", "field": "relevance", "code": "3", "country": "Egypt"}
    data = "\n".join(json.dumps({**row, "item": key}) for key in ("bare-1", "bare-2")).encode()
    job = answer_files.start(campaign, world.owner, SimpleUploadedFile("a.jsonl", data), makes_items=True)
    runner.run(job.pk)
    assert Item.objects.filter(key__startswith="bare").count() == 2
    return campaign


def resume_campaign(world: World, campaign: Campaign) -> Any:
    path = f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/action/"
    reply = world.client(world.mara).post(path, {"act": "resume"}, follow=True)
    campaign.refresh_from_db()
    return reply.content.decode()


def slot_item_keys(campaign: Campaign) -> set[str]:
    return set(Slot.objects.filter(cohort__campaign=campaign).values_list("unit__item__key", flat=True))


def test_it_does_not_go_on_while_items_lack_their_picture(world: World, elsewhere: Campaign) -> None:
    page = resume_campaign(world, elsewhere)
    assert "2 items have no “image”, which is needed to show them, such as bare-1, bare-2." in page
    assert elsewhere.state == "paused"
    stand_in(list(Item.objects.filter(key__startswith="bare")))
    assert "The campaign is open again." in resume_campaign(world, elsewhere)
    assert elsewhere.state == "open"


def test_the_beat_gives_nobody_what_cannot_be_shown(world: World, elsewhere: Campaign) -> None:
    tasks.fill_open_campaigns()
    assert slot_item_keys(elsewhere) == {"item-00000", "item-00001"}
    Campaign.objects.filter(pk=elsewhere.pk).update(state="open")  # as if it had been opened before this was asked
    tasks.fill_open_campaigns()
    assert slot_item_keys(elsewhere) == {"item-00000", "item-00001"}
    seat = elsewhere.cohorts.get()
    next_work.get_or_claim_work(rater_of(world.nour), seat, NOON)
    given = Assignment.objects.filter(participation__isnull=False).values_list("unit__item__key", flat=True)
    assert given and set(given) <= {"item-00000", "item-00001"}
    stand_in(list(Item.objects.filter(key="bare-1")))
    tasks.fill_open_campaigns()
    assert slot_item_keys(elsewhere) == {"item-00000", "item-00001", "bare-1"}


@pytest.mark.parametrize("lacks", ["text", "context", "role"])
def test_a_pair_needs_all_of_its_parts(world: World, elsewhere: Campaign, lacks: str) -> None:
    Stage.objects.filter(pk=world.stage.pk).update(display="pair")
    elsewhere.stage.refresh_from_db()
    whole, less = Item.objects.filter(key__startswith="bare").order_by("key")
    for item in (whole, less):
        stand_in([item])
        item.images.update(role="a")
        stand_in([item])
        item.images.exclude(role="a").update(role="b")
    Item.objects.filter(pk__in=(whole.pk, less.pk)).update(text="Which?", context={"option_a": "x", "option_b": "y"})
    if lacks == "role":
        less.images.filter(role="b").update(role="c")
    else:
        Item.objects.filter(pk=less.pk).update(**{"text": ""} if lacks == "text" else {"context": {"option_a": "x"}})
    lifecycle.add_slots(elsewhere)
    assert slot_item_keys(elsewhere) == {whole.key}


@pytest.mark.parametrize("why", ["no_items", "closes_before_it_opens"])
def test_what_would_not_open_does_not_go_on(world: World, why: str) -> None:
    campaign = lifecycle.create(world.stage, "Empty", world.owner, {world.egypt: 2})
    campaigns.open_for_imports(campaign, world.owner, NOON)
    if why != "no_items":
        world.add_items(1)
        Campaign.objects.filter(pk=campaign.pk).update(closes_on="2020-01-01")
        campaign.refresh_from_db()
    with pytest.raises(lifecycle.CampaignRefused) as refused:
        lifecycle.resume(campaign, world.owner, NOON)
    assert refused.value.reasons == [why]
    campaign.refresh_from_db()
    assert campaign.state == "paused"


def test_no_item_is_made_once_people_are_at_work(
    world: World, elsewhere: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job asks at each step: what it made before stays, and it goes on once the campaign is paused."""
    monkeypatch.setattr(answer_files, "STEP", 1)
    whole, states = answer_files.import_batch, iter(["open"])

    def settled(*given: Any) -> Any:
        done = whole(*given)
        Campaign.objects.filter(pk=elsewhere.pk).update(state=next(states, "paused"))
        return done

    monkeypatch.setattr(answer_files, "import_batch", settled)
    row = {"rater": "r1", "cohort": "Egypt", "field": "relevance", "code": "3", "country": "Egypt"}
    data = "\n".join(json.dumps({**row, "item": f"late-{n}"}) for n in (1, 2, 3)).encode()
    upload = SimpleUploadedFile("b.jsonl", data)
    job = answer_files.start(elsewhere, world.owner, upload, makes_items=True)
    runner.run(job.pk)
    job.refresh_from_db()
    late = Item.objects.filter(key__startswith="late")
    assert (job.state, job.done) == ("failed", 1) and "Pause it, then resume." in job.error
    assert late.count() == Assignment.objects.filter(unit__item__in=late).count() == 1
    Campaign.objects.filter(pk=elsewhere.pk).update(state="paused")
    jobs.resume(job, world.owner)
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, late.count()) == ("done", 3)
