"""Writing a question with folded information, answering one, judging an answer: what is opened is kept and exported."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign, Draft
from people.models import User
from tests.browser.conftest import PHONE, until_seen, until_sent, wait_until
from tests.browser.stage_setup import apply_recipe_stage, create_items, create_open_campaign
from tests.browser.test_rating import answered, find_violations, wait_for_images
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
TOLD = {"assertion": "Mint tea is poured from high up."}
QUESTION = "What is poured from the pot at a wedding?"


@pytest.fixture
def writing(world: World, live_server: object, media: None) -> Campaign:
    apply_recipe_stage(world.stage, "culturalvqa", "questions")
    create_items(world, ("image",), concept="Mint tea", context=TOLD)
    return create_open_campaign(world)


def recorded_openings(annotation: Annotation) -> list[tuple[bool, bool]]:
    return [(one["gate_answered"], one["text_typed"]) for one in annotation.trace["opened"]]


def test_opening_before_and_after_the_gate_is_kept_and_exported(
    open_as: OpenAs, writing: Campaign, world: World, nour: User, shot: Shot
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{writing.pk}/")
    wait_for_images(page)
    fold = page.locator("[data-fold]")
    expect(fold.get_by_text(TOLD["assertion"])).to_be_hidden()
    fold.locator("summary").click()
    expect(fold.get_by_text(TOLD["assertion"])).to_be_visible()
    shot(page, "question-folded-desktop")
    wait_until(page, "document.getElementById('saved').textContent.startsWith('Draft saved')")
    assert [one["gate_answered"] for one in Draft.objects.get().trace["opened"]] == [False]
    page.reload()
    wait_for_images(page)
    page.locator("[value=somewhat]").check()
    page.get_by_label("Your question about it").fill("What is poured here?")
    page.locator("[data-fold] summary").click()
    page.get_by_label("The answer").fill("Mint tea")
    assert find_violations(page) == ""
    answered(page, lambda: page.keyboard.press("Control+Enter"))
    kept = Annotation.objects.get()
    assert recorded_openings(kept) == [(False, False), (True, True)]
    assert [one["part"] for one in kept.trace["opened"]] == ["concept,assertion"] * 2
    page.locator("[value=familiar]").check()
    page.get_by_label("Your question about it").fill("Who made this?")
    page.get_by_label("The answer").fill("Umm Ali")
    answered(page, lambda: page.keyboard.press("Control+Enter"))
    rows = exported_rows(world, writing)
    assert [row["opened_before_gate"] for row in rows] == [True, False]
    assert [row["opened_before_text"] for row in rows] == [True, False]
    assert [len(row["opened"]) for row in rows] == [2, 0]


def exported_rows(world: World, campaign: Campaign) -> list[dict[str, object]]:
    from releases.rows.annotations import current_answers

    return list(current_answers(world.benchmark, [campaign.pk]))


def test_a_second_press_of_submit_says_nothing_of_the_next_sheet(
    open_as: OpenAs, writing: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{writing.pk}/")
    wait_until(page, "document.getElementById('ahead') !== null")
    page.locator("[value=somewhat]").check()
    page.get_by_label("Your question about it").fill("What is poured here?")
    page.get_by_label("The answer").fill("Mint tea")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Control+Enter")
    until_sent(page)
    expect(page.locator("[data-missing]:visible")).to_have_count(0)


def test_remarks_on_an_answer_are_confirmed_at_once(open_as: OpenAs, writing: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{writing.pk}/")
    wait_for_images(page)
    page.locator("label", has_text="Somewhat").tap()
    page.get_by_label("Your question about it").fill("Say what is poured")
    page.get_by_label("The answer").fill("It is the Festa Junina.")
    page.get_by_role("button", name="Submit").tap()
    expect(page.locator("#w-answer li")).to_have_count(3)
    expect(page.locator("#w-question")).to_contain_text("question mark")
    assert page.get_by_label("The answer").input_value() == "It is the Festa Junina."
    shot(page, "question-warned-phone", full_page=True)
    assert find_violations(page) == ""
    until_seen(page)
    page.get_by_label("Your question about it").fill("What is poured?")
    page.locator("#w-answer").get_by_label("Submit anyway").check()
    answered(page, lambda: page.get_by_role("button", name="Submit").tap())
    assert Annotation.objects.get().confirmed == ["answer:words", "answer:full_stop", "answer:sentence_start"]


def test_an_answer_that_is_the_question_stays(open_as: OpenAs, writing: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{writing.pk}/")
    page.locator("[value=familiar]").check()
    page.get_by_label("Your question about it").fill("Mint tea?")
    page.get_by_label("The answer").fill("Mint  tea?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-remark=same]")).to_contain_text("The answer repeats the question")
    assert not Annotation.objects.exists()
    page.get_by_label("The answer").fill("Mint")
    expect(page.locator("[data-remark=same]")).to_have_count(0)
    answered(page, lambda: page.keyboard.press("Control+Enter"))


def test_a_question_is_answered_right_to_left_on_a_telephone(
    open_as: OpenAs, world: World, live_server: object, media: None, nour: User, shot: Shot
) -> None:
    apply_recipe_stage(world.stage, "culturalvqa", "answers")
    create_items(world, ("image",), text="ماذا يُصب من الإبريق؟")
    campaign = create_open_campaign(world)
    nour.language = "ar"
    nour.save()
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{campaign.pk}/")
    wait_for_images(page)
    expect(page.locator(".panel .ask").first).to_have_text("ماذا يُصب من الإبريق؟")
    page.locator("#a-answer").fill("شاي بالنعناع")
    page.locator("label:has([value=yes])").tap()
    shot(page, "answer-ar-phone", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert find_violations(page) == ""
    answered(page, lambda: page.locator(".acts .go").tap())
    assert Annotation.objects.get().answers["answer"] == "شاي بالنعناع"


def test_words_alone_and_a_candidate_answer(
    open_as: OpenAs, world: World, live_server: object, media: None, nour: User, shot: Shot
) -> None:
    apply_recipe_stage(world.stage, "culturalvqa", "model-answers")
    create_items(world, ("image",), text=QUESTION, context={"candidate": "Mint tea", "references": ["Shai"]})
    campaign = create_open_campaign(world)
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    wait_for_images(page)
    expect(page.locator(".judged")).to_contain_text("Mint tea")
    assert "Shai" not in page.content()
    shot(page, "candidate-desktop")
    assert find_violations(page) == ""
    page.keyboard.press("3")
    answered(page, lambda: page.keyboard.press("Enter"))
    assert json.loads(json.dumps(Annotation.objects.get().answers)) == {"verdict": "3"}
