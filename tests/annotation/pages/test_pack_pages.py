"""Pages of offline packs: each person's own, taken by their own browser alone, and said to those who plan."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign
from annotation.services.answers.exclusions import exclude
from annotation.services.campaigns import lifecycle
from annotation.services.queue import leases, packs
from jobs.models import Event
from people.models import User
from people.services import consent
from people.services.raters import rater_of
from tests.module_world import built_once
from tests.personas import World, sign_in

pytestmark = pytest.mark.django_db
SCRIPT = {"HTTP_X_REQUESTED_WITH": "emic"}


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(15)
    made = lifecycle.create(world.stage, "Relevance", world.owner, {world.egypt: 1}, seed=5, instructions={})
    lifecycle.open_campaign(made, world.owner, timezone.now())
    return made


def address(campaign: Campaign, what: str = "") -> str:
    return reverse(f"annotation:pack{what}", args=[campaign.pk])


def take(world: World, user: User, campaign: Campaign) -> Any:
    return world.client(user).post(address(campaign, "_take"), **SCRIPT)


def test_a_script_takes_a_pack_and_its_page_has_all_sheets(world: World, campaign: Campaign) -> None:
    reply = take(world, world.nour, campaign)
    assert reply.status_code == 200 and reply.json()["page"] == address(campaign)
    ids = reply.json()["assignments"]
    assert len(ids) == 5
    assert take(world, world.nour, campaign).json()["assignments"] == ids
    page = world.client(world.nour).get(address(campaign)).content.decode()
    assert [f'data-assignment="{pk}"' in page for pk in ids] == [True] * 5
    assert page.count("<template data-later>") == 5  # four sheets, and what is said after the last


def test_an_answer_that_comes_after_the_close_says_that_it_does_not_count(world: World, campaign: Campaign) -> None:
    first, second = take(world, world.nour, campaign).json()["assignments"][:2]
    browser = world.client(world.nour)

    def words(assignment: int) -> str:
        sent = {"a-relevance": "4", "client_key": f"k{assignment}", "pack": "1"}
        reply = browser.post(f"/assignments/{assignment}/submit", sent, **SCRIPT)
        return str(reply.json()["words"])

    assert words(first) == ""
    lifecycle.close(campaign, world.owner, timezone.now())
    assert words(second) == "Saved. The campaign was already closed, so it is not counted."


def test_what_was_taken_stays_on_the_work_page_while_the_campaign_rests(world: World, campaign: Campaign) -> None:
    """A device forgets packs that the page does not name."""
    ids = take(world, world.nour, campaign).json()["assignments"]
    box = f'data-pack="{campaign.pk}" data-n="5"'
    lifecycle.pause(campaign, world.owner)
    page = world.client(world.nour).get(reverse("annotation:work")).content.decode()
    assert box in page and "js/pack" in page
    assert 'data-pack="' not in world.client(world.tarek).get(reverse("annotation:work")).content.decode()
    lifecycle.resume(campaign, world.owner, timezone.now())
    Campaign.objects.filter(pk=campaign.pk).update(pack_hours=0)  # nobody takes one any more
    page = world.client(world.nour).get(reverse("annotation:work")).content.decode()
    assert box in page and "js/pack" in page
    assert take(world, world.nour, campaign).json()["assignments"] == ids
    assert take(world, world.tarek, campaign).status_code == 409


def test_a_browser_without_scripts_takes_nothing(world: World, campaign: Campaign) -> None:
    assert world.client(world.nour).post(address(campaign, "_take")).url == reverse("annotation:work")  # type: ignore[attr-defined]
    assert not Assignment.objects.exists()


def test_strangers_and_other_cohorts_have_no_pack_here(world: World, campaign: Campaign) -> None:
    for user in (world.stranger, world.rival, world.bia, world.mara):
        for what in ("_take", "_give_back"):
            assert world.client(user).post(address(campaign, what), **SCRIPT).status_code == 404
        assert world.client(user).get(address(campaign)).status_code == 404
    assert world.client().post(address(campaign, "_take"), **SCRIPT).status_code == 302
    assert not Assignment.objects.exists()


def test_one_person_neither_sees_nor_gives_back_anothers_pack(world: World, campaign: Campaign) -> None:
    ids = take(world, world.nour, campaign).json()["assignments"]
    tarek = world.client(world.tarek)
    page = tarek.get(address(campaign)).content.decode()
    assert "Nothing is left that you took with you" in page and not any(f'data-assignment="{pk}"' in page for pk in ids)
    for body in ({"assignment": ids}, {}):
        assert tarek.post(address(campaign, "_give_back"), body, **SCRIPT).json() == {"released": 0}
    assert tarek.post(reverse("annotation:submit", args=[ids[0]]), {"pack": "1"}, **SCRIPT).status_code == 404
    assert Assignment.objects.filter(packed=True, state="reserved").count() == 5


def test_a_form_of_another_site_takes_and_gives_back_nothing(world: World, campaign: Campaign) -> None:
    take(world, world.nour, campaign)
    client = Client(enforce_csrf_checks=True)
    sign_in(client, world.nour)
    for what in ("_take", "_give_back"):
        assert client.post(address(campaign, what), **SCRIPT).status_code == 403
    assert Assignment.objects.filter(packed=True, state="reserved").count() == 5


@pytest.mark.parametrize("bad", ["0", "x", "9" * 40, "-1", "", "\0"])
def test_what_is_no_assignment_gives_nothing_back(world: World, campaign: Campaign, bad: str) -> None:
    take(world, world.nour, campaign)
    reply = world.client(world.nour).post(address(campaign, "_give_back"), {"assignment": bad}, **SCRIPT)
    assert reply.json() == {"released": 0}
    assert Assignment.objects.filter(packed=True, state="reserved").count() == 5


def test_a_pack_is_given_back_without_a_script_too(world: World, campaign: Campaign) -> None:
    take(world, world.nour, campaign)
    page = world.client(world.nour).post(address(campaign, "_give_back"), follow=True)
    assert "5 items were given back." in page.content.decode()
    assert not Assignment.objects.filter(state="reserved").exists()


def test_an_answer_of_a_pack_brings_no_next_sheet_late_or_not(world: World, campaign: Campaign) -> None:
    ids = take(world, world.nour, campaign).json()["assignments"]
    client = world.client(world.nour)

    def send(pk: int, **more: str) -> Any:
        body = {"a-relevance": "4", "client_key": f"key-{pk}", "pack": "1", **more}
        return client.post(reverse("annotation:submit", args=[pk]), body, **SCRIPT)

    assert send(ids[0]).json() == {"words": ""} == send(ids[0]).json()
    assert send(ids[1], **{"a-relevance": "9"}).status_code == 422
    Assignment.objects.filter(packed=True, state="reserved").update(lease_until=timezone.now() - timedelta(hours=1))
    leases.release_expired(timezone.now())
    assert send(ids[2]).status_code == 200
    assert Annotation.objects.filter(counted=True).count() == 2
    assert not Assignment.objects.filter(state="reserved").exists()
    skipped = client.post(reverse("annotation:skip", args=[ids[3]]), {"reason": "unknown", "pack": "1"}, **SCRIPT)
    assert skipped.json() == {"words": ""}


def test_an_excluded_person_is_shown_none_of_their_pack(world: World, campaign: Campaign) -> None:
    ids = take(world, world.nour, campaign).json()["assignments"]
    exclude(world.benchmark, rater_of(world.nour), "Answers at random.", world.owner, timezone.now())
    page = world.client(world.nour).get(address(campaign)).content.decode()
    assert not any(f'data-assignment="{pk}"' in page for pk in ids)
    assert take(world, world.nour, campaign).status_code == 409


def test_a_new_consent_text_comes_before_the_sheets_of_a_pack(world: World, campaign: Campaign) -> None:
    take(world, world.nour, campaign)
    client = world.client(world.nour)
    version = consent.publish_text(world.team, {"en": "Answers are published."}, world.owner, timezone.now())
    assert "data-assignment=" not in client.get(address(campaign)).content.decode()
    version.refresh_from_db()
    consent.agree(world.nour, version, "en")
    assert client.get(address(campaign)).content.decode().count("data-assignment=") >= 5, "none of it was lost"


def test_a_refused_pack_is_explained(world: World, campaign: Campaign) -> None:
    lifecycle.pause(campaign, world.owner)
    assert "This campaign is paused." in take(world, world.nour, campaign).json()["words"]
    lifecycle.resume(campaign, world.owner, timezone.now())
    lifecycle.set_pack_hours(campaign, 0, world.owner)
    assert "You cannot take items" in take(world, world.nour, campaign).json()["words"]
    assert "data-pack" not in world.client(world.nour).get(reverse("annotation:work")).content.decode()


def test_the_work_page_offers_a_pack_or_says_why_not(world: World, campaign: Campaign) -> None:
    work = reverse("annotation:work")
    assert "Take up to 20 with me" in world.client(world.nour).get(work).content.decode()
    take(world, world.nour, campaign)
    assert "With you: 5, until" in world.client(world.nour).get(work).content.decode()
    campaign.stage.coverage = {"stop_when_full": True}
    campaign.stage.save()
    page = world.client(world.tarek).get(work).content.decode()
    assert "the work stops as soon as enough answers arrive" in page and "js/pack.js" not in page


def test_coverage_and_campaign_say_how_many_are_on_devices_and_how_long(world: World, campaign: Campaign) -> None:
    coverage = reverse("annotation:coverage", args=[world.benchmark.slug]) + f"?campaign={campaign.pk}"
    assert "on devices" not in world.client(world.mara).get(coverage).content.decode()
    take(world, world.nour, campaign)
    assert "5 open answers are on devices, until" in world.client(world.mara).get(coverage).content.decode()


def test_who_works_on_a_benchmark_sets_the_hours_and_nobody_else(world: World, campaign: Campaign) -> None:
    act = reverse("annotation:campaign_action", args=[world.benchmark.slug, campaign.pk])
    world.client(world.owner).post(act, {"act": "pack", "pack_hours": "48"})
    campaign.refresh_from_db()
    assert campaign.pack_hours == 48
    for bad in ("", "-1", "169", "two"):
        page = world.client(world.owner).post(act, {"act": "pack", "pack_hours": bad}, follow=True)
        assert "a whole number of hours, at most 168" in page.content.decode()
    for user in (world.nour, world.stranger):
        assert world.client(user).post(act, {"act": "pack", "pack_hours": "0"}).status_code == 404
    campaign.refresh_from_db()
    assert campaign.pack_hours == 48
    assert Event.objects.get(verb="campaign.pack_hours_changed").data == {"hours": 48}


def test_the_site_is_an_app_and_its_worker_speaks_for_the_whole_site(world: World) -> None:
    manifest = world.client().get("/manifest.webmanifest")
    content = json.loads(manifest.content)
    assert manifest["Content-Type"] == "application/manifest+json"
    assert (content["scope"], content["start_url"], content["display"]) == ("/", "/work/", "standalone")
    assert {icon["sizes"] for icon in content["icons"]} == {"192x192", "512x512"}
    worker = world.client().get("/service-worker.js")
    assert worker["Content-Type"].startswith("text/javascript") and worker["Cache-Control"] == "no-cache"
    assert "script-src 'self'" in worker["Content-Security-Policy"]


def test_the_page_for_no_line_is_of_its_person_and_has_no_inline_script(world: World) -> None:
    assert world.client().get("/offline/").status_code == 302
    page = world.client(world.nour).get("/offline/").content.decode()
    assert f'data-person="{world.nour.pk}"' in page and "<script>" not in page


def test_pages_that_a_worker_asks_for_name_their_person(world: World) -> None:
    work = reverse("annotation:work")
    client = world.client(world.nour)
    assert "X-Emic-Person" not in client.get(work).headers
    asked = client.get(work, HTTP_SERVICE_WORKER_NAVIGATION_PRELOAD="true")
    assert asked.headers["X-Emic-Person"] == str(world.nour.pk)


def test_signing_out_with_answers_that_wait_leaves_them(world: World) -> None:
    sign_out = reverse("people:sign_out")
    assert world.client(world.nour).post(sign_out).headers["Clear-Site-Data"] == '"cache", "storage"'
    assert world.client(world.nour).post(sign_out, {"keep": "1"}).headers["Clear-Site-Data"] == '"cache"'


def test_the_status_page_says_when_a_site_cannot_offer_packs(world: World, campaign: Campaign, settings: Any) -> None:
    status, admin = reverse("evaluation:status"), world.client(world.site_admin)
    take(world, world.nour, campaign)
    assert "not offered" not in admin.get(status).content.decode()
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "emic.example.org"]
    assert "keep items on a device only for a site with https" in admin.get(status).content.decode()
    settings.HTTPS = True
    assert "not offered" not in admin.get(status).content.decode()


def test_a_pack_does_not_cost_more_queries_with_more_sheets(
    world: World, campaign: Campaign, django_assert_max_num_queries: Any
) -> None:
    packs.take_pack(rater_of(world.nour), campaign.cohorts.get(), timezone.now())
    client = world.client(world.nour)
    client.get(address(campaign))
    with django_assert_max_num_queries(25):
        client.get(address(campaign))
