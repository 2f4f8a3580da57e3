"""The page Survey in a browser: eight questions imported and decided by keys, on a phone and from right to left too."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from jobs.models import Job
from jobs.services import runner
from papers.valueground.survey.models import OptionPair, SurveyQuestion
from tests.browser.conftest import PHONE
from tests.browser.test_everywhere import complaints
from tests.papers.valueground.survey_samples import EIGHT, new_benchmark, page_of, random_counts, upload, write_files
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COUNTS = random_counts({"Q10": [1, 2, -1], "Q2": [1, 2, 3], "Q3": [0, 1, 2]}, seed=3)


def press(page: Page, key: str) -> None:
    """The script that hears keys runs before the page counts as loaded."""
    page.wait_for_load_state()
    page.keyboard.press(key)


def test_eight_questions_are_imported_and_decided_by_keys(
    world: World, open_as: Callable[..., Page], shot: Callable[..., None], media: None, tmp_path: Path
) -> None:
    benchmark = new_benchmark(world)
    page = open_as(world.owner)
    page.goto(page_of(benchmark))
    page.get_by_role("link", name="Import a survey").click()
    for kind, path in write_files(tmp_path, {**EIGHT, "counts": COUNTS}).items():
        page.get_by_label(kind.capitalize()).first.set_input_files(path)
    shot(page, "survey-import", full_page=True)
    assert not list(complaints(page, phone=False))
    page.get_by_role("button", name="Import").click()
    runner.run(Job.objects.latest("pk").pk)
    page.reload()
    page.get_by_role("link", name="View the survey").click()
    shot(page, "survey", full_page=True)
    assert not list(complaints(page, phone=False))
    question = page.locator(".survey-question")
    for key, title in (("y", "Living standard"), ("y", "Membership of a choir")):
        press(page, key)
        expect(question.get_by_role("heading")).to_have_text(title)
    press(page, "u")
    expect(page.get_by_text("1 decision undone.")).to_be_visible()
    page.get_by_role("link", name="Q2 Living standard").click()
    expect(question.get_by_role("heading")).to_have_text("Living standard")
    press(page, "y")
    expect(question.get_by_role("heading")).to_have_text("Membership of a choir")
    press(page, "e")  # code 0 has no place yet: all moved up by one, A and B as the metadata has them
    expect(page.get_by_label("Place of Not a member")).to_be_focused()
    shot(page, "survey-change", full_page=True)
    page.get_by_role("button", name="Save and confirm").click()
    for title in ("Growth or nature", "Tax the rich", "A sense of humour in children"):
        expect(question.get_by_role("heading")).to_have_text(title)
        press(page, "y")
    expect(question.get_by_role("heading")).to_have_text("Kind of school")
    press(page, "n")
    expect(page.get_by_label("Reason")).to_be_focused()
    press(page, "y")  # typed into the list, it decides nothing
    page.locator("summary", has_text="Exclude").click()
    page.get_by_role("button", name="Confirm Y").click()
    expect(page.get_by_text("Q8: Confirmed")).to_be_visible()
    states = SurveyQuestion.objects.values_list("state", flat=True)
    assert sorted(states) == ["confirmed"] * 7 + ["excluded"]
    assert OptionPair.objects.get(current=True, how="options").question.key == "Q3"


def test_the_page_fits_a_phone_and_reads_from_right_to_left(
    world: World, open_as: Callable[..., Page], shot: Callable[..., None], media: None
) -> None:
    benchmark = new_benchmark(world)
    upload(world.client(world.owner), benchmark, {**EIGHT, "counts": COUNTS})
    page = open_as(world.owner, **PHONE)
    for query in ("?q=Q3", "?view=counts"):
        page.goto(f"{page_of(benchmark)}{query}")
        shot(page, f"survey-phone-{query[1:5].strip('=')}", full_page=True)
        assert not list(complaints(page, phone=True)), query
    world.owner.language = "ar"
    world.owner.save()
    page.goto(f"{page_of(benchmark)}?q=Q3")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    shot(page, "survey-phone-ar", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
