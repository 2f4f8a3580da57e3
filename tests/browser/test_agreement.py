"""The agreement page in a browser: it moves while ratings come in, rests when hidden, and its axes never mirror."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Campaign
from annotation.services.answers.exclusions import exclude
from annotation.services.answers.problem_reports import report_problem
from annotation.services.answers.submit import Submission, submit
from annotation.services.campaigns import lifecycle
from annotation.services.queue.next_work import get_or_claim_work
from people.models import User
from people.services.raters import rater_of
from tests.browser.conftest import PHONE, axe_violations
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
# Where the middle of an element's text is; the element itself has no width.
MIDDLE = """(e) => {
  const range = document.createRange();
  range.selectNodeContents(e);
  const box = range.getBoundingClientRect();
  return box.x + box.width / 2;
}"""


@pytest.fixture
def campaign(world: World) -> Campaign:
    """Egypt agrees well on natural photos, has no variation in generated pictures; Brazil has hardly begun."""
    world.add_items(40)
    campaign = an_open_campaign(world, target=6)
    natural, generated = of_condition(world.items, "natural"), of_condition(world.items, "generated")
    people = [world.nour, world.tarek, *world.add_annotators(world.egypt, 2)]
    digits = ["12345123451234512345", "12344123552234512345", "22345123451134512344", "12335223451234512355"]
    table(campaign, world.egypt, natural, dict(zip(people, digits, strict=True)))
    table(campaign, world.egypt, generated[:5], dict.fromkeys(people[:2], "11111"))
    table(campaign, world.brazil, natural[:3], {world.bia: "345"})
    return campaign


def rate(campaign: Campaign, user: User, code: str = "3") -> None:
    rater = rater_of(user)
    work = get_or_claim_work(rater, campaign.cohorts.get(cohort__members__user=user), timezone.now())
    assert work.current
    submit(work.current.pk, rater, Submission({"relevance": code}, f"key-{work.current.pk}"), timezone.now())


def last_submitted_id(user: User) -> int:
    return Assignment.objects.filter(rater__user=user, state="submitted").latest("pk").pk


def address(world: World, query: str = "") -> str:
    return f"/b/{world.benchmark.slug}/agreement/{query}"


def counts(number: int) -> str:
    return f"Live, {number} ratings, updated"


def test_n_grows_without_reloading(world: World, campaign: Campaign, open_as: Open, shot: Any) -> None:
    page = open_as(world.mara)
    page.goto(address(world))
    expect(page.locator("#live")).to_contain_text(counts(93))
    row = page.locator("tr", has_text="Brazil").last
    expect(row).to_contain_text("1 person so far")
    page.evaluate("window.stays = true")
    rate(campaign, world.caio)
    expect(page.locator("#live")).to_contain_text(counts(94))
    assert page.evaluate("window.stays") is True
    shot(page, "agreement-desktop", full_page=True)


def test_it_rests_while_hidden_and_goes_on_afterwards(world: World, campaign: Campaign, open_as: Open) -> None:
    page = open_as(world.mara)
    looks: list[str] = []
    page.on("request", lambda request: looks.append(request.url) if "/live/" in request.url else None)
    hide = """(hidden) => { Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
                            document.dispatchEvent(new Event("visibilitychange")); }"""
    page.goto(address(world))
    expect(page.locator("#live")).to_contain_text("Live")
    page.evaluate(hide, True)
    expect(page.locator("#live")).to_contain_text("Updates paused")
    page.wait_for_timeout(500)  # a look that was on its way
    before = len(looks)
    page.wait_for_timeout(4_000)
    assert len(looks) == before
    page.evaluate(hide, False)
    expect(page.locator("#live")).to_contain_text("Live")
    assert len(looks) == before + 1


def test_lost_server_is_reported_and_reconnected(world: World, campaign: Campaign, open_as: Open) -> None:
    page = open_as(world.mara)
    page.goto(address(world))
    page.route("**/live/**", lambda route: route.abort())
    expect(page.locator("#live")).to_contain_text("No connection since")
    page.unroute("**/live/**")
    expect(page.locator("#live")).to_contain_text("Live")


def test_who_is_signed_out_is_told_so(world: World, campaign: Campaign, open_as: Open) -> None:
    page = open_as(world.mara)
    page.goto(address(world))
    page.context.clear_cookies()
    expect(page.locator("#live")).to_contain_text("You are signed out")


@pytest.mark.parametrize("language", ["en", "ar"])
def test_numbers_run_from_low_to_high_and_stand_over_their_lines(
    world: World, campaign: Campaign, open_as: Open, shot: Any, language: str
) -> None:
    world.mara.language = language
    world.mara.save()
    page = open_as(world.mara)
    page.goto(address(world))
    assert page.locator("html").get_attribute("dir") == ("rtl" if language == "ar" else "ltr")
    labels = page.locator("thead .axis").last.locator("span")
    written = [(text, labels.nth(n).evaluate(MIDDLE)) for n, text in enumerate(labels.all_text_contents())]
    assert [place for _text, place in written] == sorted(place for _text, place in written)
    svg = page.locator("table").last.locator("svg.range").first.bounding_box()
    assert svg
    zero = next(place for text, place in written if text == "0")
    share = 1 / 6 if len(written) == 7 else 0.5
    assert abs(zero - (svg["x"] + svg["width"] * share)) < 2
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shot(page, f"agreement-desktop-{language}", full_page=True)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_phone_shows_cards(world: World, campaign: Campaign, open_as: Open, shot: Any, language: str) -> None:
    world.mara.language = language
    world.mara.save()
    page = open_as(world.mara, **PHONE)
    page.goto(address(world))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("tbody tr").first.evaluate("(row) => getComputedStyle(row).display") == "grid"
    shot(page, f"agreement-phone-{language}", full_page=True)


def test_back_shows_the_choice_that_belongs_to_the_numbers(world: World, campaign: Campaign, open_as: Open) -> None:
    """Browsers put back what was chosen before leaving: the label of one measure over the numbers of another."""
    page = open_as(world.mara)
    page.goto(address(world))
    measure = page.locator("select[name=measure]")
    for key, words in (("percent", "Percent agreement"), ("alpha_nominal", "Alpha, nominal")):
        measure.select_option(key)
        page.wait_for_url(f"**measure={key}**")
        expect(page.locator("table caption").last).to_contain_text(words)
    page.go_back()
    expect(page.locator("table caption").last).to_contain_text("Percent agreement")
    expect(measure).to_have_value("percent")
    page.go_back()
    expect(page.locator("table caption").last).to_contain_text("Alpha, ordinal")
    expect(measure).to_have_value("alpha_ordinal")
    page.go_forward()
    expect(page.locator("table caption").last).to_contain_text("Percent agreement")
    expect(measure).to_have_value("percent")


def test_another_campaign_drops_the_cohort_it_may_not_have(world: World, campaign: Campaign, open_as: Open) -> None:
    other = an_open_campaign(world, name="Brazil alone", cohorts=[world.brazil])
    page = open_as(world.mara)
    page.goto(address(world, f"?cohort={world.egypt.pk}&interval=units"))
    page.get_by_label("Campaign").select_option(str(other.pk))
    page.wait_for_url(f"**campaign={other.pk}**")
    expect(page.locator("table").last.locator("tbody th")).to_have_text(["Brazil"])
    assert "cohort=" not in page.url
    assert "interval=units" in page.url


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_phone_shows_the_present_tab_whole(
    world: World, campaign: Campaign, open_as: Open, shot: Any, language: str
) -> None:
    world.mara.language = language
    world.mara.save()
    page = open_as(world.mara, **{**PHONE, "viewport": {"width": 320, "height": 640}})
    for place in ("export", "agreement", ""):
        page.goto(f"/b/{world.benchmark.slug}/{place}")
        row, tab = page.locator(".bar nav").bounding_box(), page.locator(".bar nav [aria-current]").bounding_box()
        assert row
        assert tab
        assert row["x"] - 1 <= tab["x"]
        assert tab["x"] + tab["width"] <= row["x"] + row["width"] + 1
        assert page.evaluate("scrollY") == 0
    shot(page, f"tabs-phone-{language}")


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_asking_for_a_copy_moves_no_button(
    world: World, campaign: Campaign, open_as: Open, shot: Any, how: dict[str, Any]
) -> None:
    page = open_as(world.mara, **how)
    page.goto(f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/")
    buttons = page.locator(".acts-row > form .btn, .acts-row > a, .acts-row summary")
    before = [buttons.nth(n).bounding_box() for n in range(buttons.count())]
    assert len(before) == 4
    page.get_by_text("Copy…").click()
    expect(page.get_by_role("button", name="Copy campaign")).to_be_visible()
    assert [buttons.nth(n).bounding_box() for n in range(buttons.count())] == before
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shot(page, f"copy-{len(how)}")
    page.get_by_role("button", name="Copy campaign").click()
    expect(page.get_by_text("This is the copy")).to_be_visible()


@pytest.mark.parametrize("script", [True, False])
def test_on_a_phone_the_choices_are_folded_behind_one_button(
    world: World, campaign: Campaign, open_as: Open, script: bool
) -> None:
    page = open_as(world.mara, **PHONE, java_script_enabled=script)
    page.goto(address(world))
    measure = page.locator("select[name=measure]")
    expect(measure).to_be_hidden()
    box = page.locator("table").first.bounding_box()
    assert box
    assert box["y"] < 844, "the numbers begin on the first screen"
    page.get_by_text("Filters", exact=True).click()
    measure.select_option("percent")
    if not script:
        page.get_by_role("button", name="Show").last.click()
    expect(page.locator("table caption").last).to_contain_text("Percent agreement")
    expect(measure).to_be_visible()
    page.locator("#choices").press("Space")
    expect(measure).to_be_hidden()


def test_filters_work_without_scripts(world: World, campaign: Campaign, open_as: Open) -> None:
    page = open_as(world.mara, java_script_enabled=False)
    page.goto(address(world))
    page.locator("select[name=measure]").select_option("percent")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile("measure=percent"))
    expect(page.locator("table caption").last).to_contain_text("Percent agreement")


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing_and_no_page_is_too_wide(
    world: World, campaign: Campaign, open_as: Open, how: dict[str, Any]
) -> None:
    page = open_as(world.mara, **how)
    home = f"/b/{world.benchmark.slug}"
    own = f"{home}/campaigns/{campaign.pk}"
    draft = lifecycle.clone(campaign, world.mara, "Round two")
    rate(campaign, world.caio)
    report_problem(last_submitted_id(world.caio), rater_of(world.caio), "It is upside down", timezone.now())
    exclude(world.benchmark, rater_of(world.nour), "Too fast", world.owner, timezone.now())
    person = f"{home}/people/{rater_of(world.nour).pk}/"
    for path in (
        f"{home}/agreement/", f"{home}/agreement/?measure=table", f"{home}/people/",
        f"{home}/people/?cohort={world.egypt.pk}", person, f"{person}?lift=1", f"{home}/export/",
        f"{home}/campaigns/", f"{own}/", f"{own}/close/", f"{home}/campaigns/new/",
        f"{home}/campaigns/{draft.pk}/", f"{home}/campaigns/{draft.pk}/close/", "/nowhere",
    ):  # fmt: skip
        page.goto(path)
        assert axe_violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
