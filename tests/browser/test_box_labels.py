"""Labels of boxes by mouse, by finger and by keys; required ones are asked for in place; on a phone and in Arabic."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign
from people.models import User
from tests.browser.box_steps import asks_boxes, drag, finger, open_sheet, screen
from tests.browser.conftest import PHONE, UNSENT, wait_until
from tests.browser.test_rating import answered, find_violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
LABELS = [
    {
        "code": "lantern",
        "label": {"en": "Lantern", "ar": "فانوس"},
        "definition": {"en": "A lamp for Ramadan.", "ar": "مصباح لرمضان."},
    },
    {"code": "awning", "label": {"en": "Awning", "ar": "مظلة"}},
    {"code": "fruit", "label": {"en": "Fruit and spices on a table", "ar": "فواكه وتوابل على طاولة"}, "key": "f"},
]
ONE, TWO, THREE = (431, 322, 563, 437), (60, 480, 260, 640), (650, 90, 850, 260)


def draw(page: Page, box: tuple[int, int, int, int]) -> None:
    drag(page, box[:2], box[2:])


def selected(page: Page) -> list[str]:
    """The labels of the list, of rows with a box."""
    rows = page.locator("[data-row]")
    return [
        rows.nth(at).locator("select").input_value().removeprefix("label:")
        for at in range(rows.count())
        if rows.nth(at).locator("[data-side]").first.input_value()
    ]


def tags(page: Page) -> list[str]:
    return page.locator("svg.boxes .tag").all_text_contents()


def heading(page: Page) -> Any:
    return page.locator("[data-labels-of]")


def chip(page: Page, name: str) -> Any:
    return page.locator(".labels-list").get_by_role("button", name=name)


def test_a_label_before_and_after_drawing(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    asks_boxes(campaign, most=4, labels=LABELS, label_required=True)
    page = open_as(nour)
    open_sheet(page, campaign)
    expect(heading(page)).to_have_text("Label of the next box")
    chip(page, "Lantern").click()
    draw(page, ONE)  # has its label from the first
    assert (selected(page), tags(page)) == (["lantern"], ["1 Lantern"])
    expect(heading(page)).to_have_text("Label of box 1")
    page.keyboard.press("2")  # another, after drawing
    assert tags(page) == ["1 Awning"]
    expect(chip(page, "Awning")).to_have_attribute("aria-pressed", "true")
    draw(page, TWO)  # as pressed before drawing
    assert selected(page) == ["awning", "lantern"]
    page.mouse.click(*screen(page, 500, 60))  # an empty place: the next box
    expect(heading(page)).to_have_text("Label of the next box")
    page.keyboard.press("f")
    draw(page, THREE)
    assert tags(page) == ["1 Awning", "2 Lantern", "3 Fruit and spices on a t…"]
    shot(page, "box-labels")
    page.mouse.click(*screen(page, 100, 560))  # the second box is chosen
    expect(heading(page)).to_have_text("Label of box 2")
    page.keyboard.press("Delete")
    assert selected(page) == ["awning", "fruit"]
    page.keyboard.press("Control+z")
    assert selected(page) == ["awning", "lantern", "fruit"]
    answered(page, lambda: page.keyboard.press("Enter"))
    assert [box["label"] for box in Annotation.objects.get().answers["place"]] == ["awning", "lantern", "fruit"]


def test_a_required_label_is_asked_for_in_place(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    asks_boxes(campaign, most=2, labels=LABELS, label_required=True)
    page = open_as(nour)
    open_sheet(page, campaign)
    draw(page, ONE)
    asked = page.locator("[data-halt=label]")
    expect(asked).to_have_text("Box 1 has no label. Choose a label for it.")
    assert tags(page) == ["1 ?"]
    expect(page.locator("#said")).to_contain_text("Box 1 has no label.")
    shot(page, "box-labels-missing")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Choose a label for it.")
    assert not Annotation.objects.exists()
    page.keyboard.press("1")
    expect(asked).to_be_hidden()
    expect(page.locator("svg.boxes .box")).to_have_attribute(
        "aria-label", r"Box 1 of 1, from 43.1 % to 56.3 % across and from 42.9 % to 58.3 % down. Lantern."
    )
    assert not find_violations(page)
    page.keyboard.press("Control+z")
    expect(asked).to_be_visible()
    page.locator("[data-row]").first.locator("select").select_option("label:fruit")  # or from the list
    expect(asked).to_be_hidden()
    assert tags(page) == ["1 Fruit and spices on a t…"]
    page.keyboard.press("Escape")
    wait_until(page, "document.querySelector('#saved').textContent.includes('Draft')")
    page.reload()
    open_sheet(page, campaign)
    assert tags(page) == ["1 Fruit and spices on a t…"]


def test_digits_go_to_the_question_that_has_the_focus(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    asks_boxes(campaign, labels=LABELS)
    page = open_as(nour)
    open_sheet(page, campaign)
    expect(heading(page)).to_have_text("Label")
    page.keyboard.press("n")
    page.keyboard.press("1")
    page.locator("[name=a-still]").first.focus()
    page.keyboard.press("2")
    assert selected(page) == ["lantern"]
    assert page.locator("[name=a-still][value=no]").is_checked()
    page.locator("svg.boxes .box").focus()
    page.keyboard.press("2")
    assert selected(page) == ["awning"]
    chip(page, "No label").click()
    assert selected(page) == [""]
    answered(page, lambda: page.keyboard.press("Enter"))  # the focus went back to the box
    assert "label" not in Annotation.objects.get().answers["place"][0]


@pytest.mark.parametrize("language", ["en", "ar"])
def test_by_finger_on_a_phone(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot, language: str) -> None:
    asks_boxes(campaign, most=3, labels=LABELS, label_required=True)
    User.objects.filter(pk=nour.pk).update(language=language)
    page = open_as(nour, **PHONE)
    open_sheet(page, campaign)
    finger(page, (150, 200), (450, 500))
    lantern, fruit = ("Lantern", "Fruit") if language == "en" else ("فانوس", "فواكه")
    expect(page.locator("[data-halt=label]")).to_be_visible()  # it moves the labels
    page.wait_for_timeout(500)  # a tap at once after the finger would be half of a double tap
    chip(page, lantern).tap()
    expect(page.locator("svg.boxes .tag").first).to_contain_text(lantern)
    finger(page, (550, 150), (900, 400))
    expect(page.locator("[data-halt=label]")).to_be_visible()
    page.wait_for_timeout(500)
    shot(page, f"box-labels-phone-missing-{language}")
    chip(page, fruit).tap()
    expect(page.locator("svg.boxes .tag").last).to_contain_text(fruit)
    assert selected(page) == ["lantern", "fruit"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    small = page.locator(".labels-list button").evaluate_all("all => all.filter(one => one.offsetHeight < 44).length")
    assert small == 0
    shot(page, f"box-labels-phone-{language}")
    page.locator(".acts .go").tap()
    wait_until(page, f"{UNSENT} === 0 && document.getElementById('saved').textContent.length > 0")
    expect(page.locator("svg.boxes .box")).to_have_count(0)
    assert [box["label"] for box in Annotation.objects.get().answers["place"]] == ["lantern", "fruit"]


def test_the_list_works_without_a_script(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    asks_boxes(campaign, labels=LABELS, label_required=True)
    page = open_as(nour, java_script_enabled=False)
    page.goto(f"/work/{campaign.pk}/")
    for at, value in enumerate(("10", "10", "20", "20")):
        page.locator("[data-side]").nth(at).fill(value)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("Box 1 has no label.").first).to_be_visible()
    page.locator("[data-row] select").select_option("label:awning")
    page.get_by_role("button", name="Submit").click()
    assert Annotation.objects.get().answers["place"][0]["label"] == "awning"
