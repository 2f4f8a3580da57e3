"""A manager's day in a real browser: people are invited from a list, written to, ended and taken up again."""

from collections.abc import Callable

from django.utils import timezone
from playwright.sync_api import Page

from annotation.models import Assignment, Campaign
from annotation.services.queue.next_work import get_or_claim_work
from people.models import Invitation
from people.services.raters import rater_of
from tests.browser.conftest import PHONE, axe_violations
from tests.personas import World


def test_a_manager_invites_writes_ends_and_takes_up_again(
    world: World, campaign: Campaign, open_as: Callable[..., Page], shot: Callable[..., None]
) -> None:
    assert get_or_claim_work(rater_of(world.nour), campaign.cohorts.get(cohort=world.egypt), timezone.now()).current
    page = open_as(world.manager)
    page.goto(f"/cohorts/{world.egypt.pk}/")
    shot(page, "cohort", full_page=True)
    page.get_by_role("link", name="Invite people").first.click()
    page.get_by_label("E-mail, and a note for yourself").fill("email,note\namina@example.org,Amina\nnot-an-address,B")
    page.get_by_role("button", name="Check list").click()
    page.get_by_text("This is not an e-mail address.").wait_for()
    shot(page, "cohort-list", full_page=True)
    page.get_by_role("button", name="Invite 1 person").click()
    page.get_by_role("heading", name="1 link created").wait_for()
    shot(page, "cohort-invited", full_page=True)
    with page.expect_download() as taken:
        page.get_by_role("link", name="Download the list").click()
    assert "amina@example.org,Amina,http" in taken.value.path().read_text("utf-8-sig")
    assert Invitation.objects.get().email == "amina@example.org"
    page.goto(f"/cohorts/{world.egypt.pk}/messages")
    page.get_by_role("textbox", name="Message to all members").fill("Two days are left. Thank you all.")
    page.get_by_role("button", name="Send to 2 members").click()
    page.get_by_text("read by 0 people").wait_for()
    shot(page, "cohort-messages", full_page=True)
    page.goto(f"/cohorts/{world.egypt.pk}/")
    row = page.get_by_role("row").filter(has_text="Nour")
    row.get_by_text("Edit").click()
    row.get_by_role("button", name="Remove member").click()
    page.get_by_text("2 reservations were released.").wait_for()
    assert not Assignment.objects.filter(state="reserved").exists()
    page.get_by_role("row").filter(has_text="Nour").get_by_role("button", name="Reactivate").click()
    page.get_by_text("Nour is a member again").wait_for()


def test_on_a_phone_and_in_arabic_nothing_runs_out_of_the_screen(
    world: World, campaign: Campaign, open_as: Callable[..., Page], shot: Callable[..., None]
) -> None:
    for language, name in (("en", "phone"), ("ar", "phone-ar")):
        world.manager.language = world.nour.language = language
        world.manager.save(), world.nour.save()
        page = open_as(world.manager, **PHONE)
        for path in ("", "invite", "messages"):
            page.goto(f"/cohorts/{world.egypt.pk}/{path}")
            shot(page, f"cohort-{path or 'page'}-{name}", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert not axe_violations(page), path
        if language == "en":
            page.get_by_role("textbox", name="Message to all members").fill("Two days are left.")
            page.get_by_role("button", name="Send to 2 members").click()
            page.get_by_text("read by 0 people").wait_for()
    page = open_as(world.nour, **PHONE)
    page.goto("/work/")
    shot(page, "home-said-phone", full_page=True)
    page.get_by_text("Two days are left.").wait_for()
    page.locator("section.said button").click()
    page.wait_for_load_state()
    assert page.get_by_text("Two days are left.").count() == 0
