"""The sixth benchmark needs no code: composed, opened, gone through and answered, in browsers alone."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign
from annotation.services.derivation import derived_items
from benchmarks.models import Benchmark, Item
from tests.browser.conftest import PHONE, attach, drawings
from tests.personas import World

expect.set_options(timeout=40_000)


def compose(page: Page, slug: str) -> None:
    """The first stage asks a rating, a choice and a text; a reviewer accepts."""
    page.goto(f"/b/{slug}/stages/")
    page.get_by_role("link", name="Rating", exact=True).click()
    for at, (kind, words) in enumerate((("Choice", "Have you seen it yourself?"), ("Text", "What is it called?")), 1):
        page.get_by_role("button", name=kind, exact=True).click()
        page.locator(f"[name='w:sheet.fields[{at}].label.en']").fill(words)
    page.get_by_text("When an answer is accepted").click()
    page.get_by_label("How an answer is accepted", exact=True).select_option("by_review")
    expect(page.get_by_text("Reasons to return or reject")).to_be_visible()
    publish(page, 2)


def derive(page: Page, slug: str) -> None:
    """The second stage shows what was written, with its picture, to people who did not write it."""
    page.goto(f"/b/{slug}/stages/")
    page.get_by_label("Name", exact=True).fill("Second look")
    page.get_by_role("button", name="Create stage").click()
    page.get_by_label("What is shown", exact=True).select_option("question")
    page.get_by_role("button", name="Rating on a scale").click()
    page.locator("[name='w:sheet.fields[0].label.en']").fill("Does the name fit?")
    page.get_by_text("Source of items").click()
    page.get_by_label("Its items", exact=True).select_option("promote")
    page.get_by_label("Rating", exact=True).check()
    page.get_by_label("Text", exact=True).select_option("what_is_it")
    page.get_by_text("Who answers, and how often").click()
    page.get_by_label("Who may answer", exact=True).select_option("others")
    publish(page, 1)


def publish(page: Page, number: int) -> None:
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text(f"Version {number} is published.").first).to_be_visible()


def open_one(page: Page, slug: str, stage: str, cohort: str) -> None:
    page.goto(f"/b/{slug}/campaigns/new/?stage={stage}")
    page.get_by_label("Name", exact=True).fill(f"{stage} round")
    page.get_by_label(cohort, exact=True).fill("1")
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.get_by_text("The campaign is open.")).to_be_visible()


def test_a_benchmark_of_two_stages_is_composed_opened_and_answered(
    open_as: Callable[..., Page], world: World, media: None, shot: Callable[..., None], live_server: Any
) -> None:
    mara = open_as(world.mara)
    mara.set_default_timeout(60_000)
    mara.goto("/benchmarks/new/")
    mara.locator("[name=recipe][value=blank]").check()
    mara.get_by_label("Name", exact=True).fill("Names of things")
    mara.get_by_label("First question (optional)").fill("How common is this in {target}?")
    mara.get_by_role("button", name="Create benchmark").click()
    mara.wait_for_url("**/b/names-of-things/")
    slug = Benchmark.objects.get(name="Names of things").slug
    compose(mara, slug)
    derive(mara, slug)
    first = Benchmark.objects.get(slug=slug).stages.get(key="rating")
    item = Item.objects.create(stage=first, key="one", concept="lamp")
    attach(item, drawings(1)[0])
    open_one(mara, slug, "rating", "Egypt")
    mara.goto(f"/b/{slug}/campaigns/")
    mara.get_by_role("link", name="rating round").click()
    mara.get_by_role("link", name="Write instructions").click()
    mara.locator("[name='t:texts[0].body']").fill("Look well at what is from {target}.")
    mara.get_by_label("Required before starting").check()
    mara.get_by_role("button", name="Publish instructions").click()
    expect(mara.get_by_text("are published").first).to_be_visible()

    nour = open_as(world.nour, **PHONE)
    nour.set_default_timeout(60_000)
    nour.goto("/work/")
    nour.get_by_role("link", name="Read the instructions").tap()
    expect(nour.get_by_text("Look well at what is from Egypt.")).to_be_visible()
    nour.get_by_role("button", name="I have read this").tap()
    nour.locator("[name=a-answer][value='5']").check()
    nour.locator("[name=a-have_you_seen][value=yes]").check()
    nour.get_by_label("What is it called?").fill("Fanous")
    shot(nour, "composed-sheet-phone", full_page=True)
    nour.get_by_role("button", name="Submit").tap()
    expect(nour.get_by_text("Your last answer:").or_(nour.locator(".idle")).first).to_be_visible()
    annotation = Annotation.objects.get()
    assert annotation.answers["what_is_it"] == "Fanous"

    mara.goto(f"/b/{slug}/review/")
    mara.get_by_role("link", name="Start reviewing").click()
    mara.get_by_role("button", name="Accept").first.click()
    for _time in range(100):
        annotation.assignment.refresh_from_db()
        if annotation.assignment.state == "accepted":
            break
        mara.wait_for_timeout(100)
    derived_items.process_due(timezone.now())
    derived = Item.objects.get(stage__key="second-look")
    assert derived.text == "Fanous" and derived.images.exists()
    open_one(mara, slug, "second-look", "Egypt")
    campaign = Campaign.objects.get(name="second-look round")
    nour.goto(f"/work/{campaign.pk}/")
    expect(nour.get_by_text("Does the name fit?")).to_have_count(0)  # it is her own
    tarek = open_as(world.tarek, **PHONE)
    tarek.set_default_timeout(60_000)
    tarek.goto(f"/work/{campaign.pk}/")
    expect(tarek.get_by_text("Fanous").first).to_be_visible()
    tarek.locator("[name=a-does_the_name][value='5']").check()
    tarek.get_by_role("button", name="Submit").tap()
    for _time in range(100):
        if Annotation.objects.count() == 2:
            break
        tarek.wait_for_timeout(100)
    assert Annotation.objects.count() == 2
