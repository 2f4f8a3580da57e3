"""What hands do on a sheet, and what it says: keys that find nothing, texts of several lines, a hurry."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Assignment, Campaign, ProblemReport
from people.models import User
from tests.browser.conftest import PHONE, current_assignment, wait_until
from tests.browser.stage_setup import apply_recipe_stage, create_items, create_open_campaign
from tests.browser.test_never_lost import story, written  # noqa: F401 (a fixture)
from tests.browser.test_rating import answered, assignment_on, wait_for_images
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]


def test_one_tab_reaches_the_text_and_escape_leaves_it(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    enter = page.locator(".acts .go kbd")
    expect(enter).to_have_text("Enter")
    page.keyboard.press("Tab")
    expect(story(page)).to_be_focused()
    expect(enter).to_have_text("Ctrl Enter")  # here Enter is a new line
    page.keyboard.type("A wedding")
    page.keyboard.press("Escape")
    expect(story(page)).not_to_be_focused()
    expect(enter).to_have_text("Enter")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    assert story(page).input_value() == "A wedding"


def test_the_help_lists_the_digits_there_are_and_its_switch_is_not_in_the_way(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("?")
    expect(page.locator("[data-digits] kbd")).to_have_text(["1", "5"])
    page.keyboard.press("Space")
    expect(page.locator("#letters")).to_be_checked()


def test_a_skip_asks_for_a_reason_that_nobody_chose_beforehand_and_is_undone_by_a_key(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
    shot: Shot,
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    assignment_id = assignment_on(page)
    story(page).fill("Half a")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    expect(page.locator("#why [type=radio]:checked")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Choose a reason, then skip.")
    shot(page, "skip-no-reason-desktop")
    assert not Assignment.objects.filter(state="skipped").exists()
    page.keyboard.press("2")
    answered(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#said")).to_contain_text("It cannot be judged")
    expect(page.locator("#undo")).to_contain_text("Skipped: It cannot be judged")
    shot(page, "skipped-desktop")
    page.keyboard.press("u")
    expect(page.locator("#bench")).to_have_attribute("data-assignment", assignment_id)
    expect(story(page)).to_have_value("Half a")  # also what was typed a moment before the skip
    page.keyboard.press("u")
    expect(page.locator("p.toast")).to_contain_text("Under “Your answers” you can change answers")
    assert current_assignment(nour).pk == int(assignment_id)


def test_what_was_skipped_is_answered_later_from_the_history(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot
) -> None:
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{campaign.pk}/")
    assignment_id = assignment_on(page)
    page.locator(".acts [data-dialog=why]").tap()
    page.locator("#why .opt").first.tap()
    answered(page, lambda: page.locator("#why .go").tap())
    page.goto("/work/history/")
    page.get_by_role("button", name="Answer").tap()
    page.wait_for_url(f"**/work/{campaign.pk}/?change={assignment_id}", wait_until="commit")
    expect(page.locator(".msg.info:visible")).to_contain_text("You skipped this item: I do not know what it shows.")
    shot(page, "skipped-again-phone")
    page.locator(".opt").nth(2).tap()
    answered(page, lambda: page.get_by_role("button", name="Submit").tap())
    assert Annotation.objects.get().assignment_id == int(assignment_id) and Annotation.objects.get().counted


def test_a_report_sent_twice_in_a_hurry_is_one(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("r")
    page.keyboard.type("It is dark.")
    page.locator("#report .go").evaluate("e => { for (let n = 0; n < 4; n++) e.click() }")
    expect(page.locator("p.toast")).to_contain_text("Thank you")
    assert ProblemReport.objects.count() == 1


def test_offline_without_prefetched_sheet_shows_that_the_answer_waits(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    expect(page.locator("[data-loaded]")).to_have_text("Next picture is loaded")
    page.context.set_offline(True)
    page.keyboard.press("2")
    answered(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#notice")).to_have_count(0)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text(
        "Your answer is saved on this device and will be sent automatically."
    )
    shot(page, "offline-last-desktop")
    page.context.set_offline(False)
    wait_until(page, "document.getElementById('notice') === null")
    assert Annotation.objects.count() == 2


def is_clear_of_stage(page: Page) -> bool:
    """The strip about the last answer stands above or below the stage: neither the picture nor a tool is under it."""
    stage, undo = page.locator(".stage").bounding_box(), page.locator("#undo").bounding_box()
    assert stage and undo
    is_above = undo["y"] >= 0 and undo["y"] + undo["height"] <= stage["y"] + 1
    return is_above or (undo["y"] >= stage["y"] + stage["height"] - 1 and is_clear_of_buttons(page, undo))


def is_clear_of_buttons(page: Page, undo: Any) -> bool:
    buttons = [button.bounding_box() for button in page.locator(".acts .btn").all()]
    return all(
        box is None or box["x"] >= undo["x"] + undo["width"] or box["x"] + box["width"] <= undo["x"] for box in buttons
    )


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_strip_about_the_last_answer_hides_nothing_and_can_be_closed(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot, how: dict[str, object], language: str
) -> None:
    User.objects.filter(pk=nour.pk).update(language=language)
    page = open_as(nour, **how)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("4")
    answered(page, lambda: page.keyboard.press("Enter"))
    wait_for_images(page)
    expect(page.locator("#undo")).to_be_visible()
    shot(page, f"strip-{language}-{'phone' if how else 'desktop'}")
    assert is_clear_of_stage(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if how:
        return  # on a phone its place is kept free, so it need not be closed
    page.locator("#undo [data-close]").click()
    expect(page.locator("#undo")).to_have_count(0)
    assert Annotation.objects.count() == 1


def test_what_is_missing_is_shown_with_its_question_below_the_picture(
    open_as: OpenAs, world: World, live_server: object, media: None, nour: User, shot: Shot
) -> None:
    stage = world.stage
    rating = stage.sheet["fields"][0]
    stage.sheet = {"fields": [{**rating, "key": f"q{n}", "label": {"en": f"Question {n}"}} for n in range(1, 4)]}
    stage.save()
    create_items(world, ("image",))
    made = create_open_campaign(world)
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{made.pk}/")
    wait_for_images(page)
    page.locator("[name=a-q3]").first.check(force=True)  # the page is scrolled down, and two are open
    page.get_by_role("button", name="Submit").tap(force=True)  # grey, and it says why
    expect(page.locator("[data-field=q1] [data-missing]")).to_be_visible()
    below = (
        "() => document.querySelector('[data-field=q1] .ask').getBoundingClientRect().top - "
        "document.querySelector('.stage').getBoundingClientRect().bottom"
    )
    wait_until(page, f"({below})() >= 0 && ({below})() < 120")
    shot(page, "missing-phone")


def test_what_was_asked_stands_by_the_answer(
    open_as: OpenAs, world: World, live_server: object, media: None, nour: User, shot: Shot
) -> None:
    apply_recipe_stage(world.stage, "culturalvqa", "model-answers")
    create_items(
        world, ("image",), text="What is poured here?", context={"candidate": "Mint tea", "references": ["Shai"]}
    )
    made = create_open_campaign(world)
    page = open_as(nour)
    page.goto(f"/work/{made.pk}/")
    wait_for_images(page)
    page.keyboard.press("3")
    answered(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#undo")).to_contain_text("What is poured here?")
    shot(page, "undo-about-desktop")
    assert is_clear_of_stage(page)
    page.goto("/work/history/")
    expect(page.locator(".about")).to_have_text("What is poured here?")
    assert "Shai" not in page.content()
    shot(page, "history-about-desktop")


def test_a_finger_has_no_switch_for_keys(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{campaign.pk}/?open=help")
    expect(page.locator("#help .letters")).to_be_hidden()
