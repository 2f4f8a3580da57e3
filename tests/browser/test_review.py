"""Written, returned, corrected, accepted, and asked of somebody else: by keys, in a real browser."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign, Review
from annotation.services.campaigns import lifecycle
from annotation.services.derivation import derived_items
from annotation.services.review import reviews
from benchmarks.models import Item, Stage
from people.models import User
from people.services.raters import rater_of
from tests.annotation.chain.factories import ANSWER, ASKED, QUESTION, a_stage, answer, claim_sheet
from tests.browser.conftest import PHONE, attach_all, drawings
from tests.browser.test_rating import answered, find_violations, wait_for_images
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
REASONS = [
    {"code": "several", "label": {"en": "It has several correct answers", "ar": "له أكثر من إجابة صحيحة"}},
    {"code": "not_true", "label": {"en": "It is not a fact", "ar": "ليس حقيقة"}},
    {"code": "language", "label": {"en": "Spelling or wording", "ar": "الإملاء أو الصياغة"}},
]


@pytest.fixture
def chain(world: World, live_server: object, media: None) -> tuple[Campaign, Campaign]:
    """Questions about drawn pictures, accepted by review; answers of others to them."""
    ask = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review", review_reasons=REASONS)
    reply = a_stage(world.benchmark, "reply", ANSWER, staffing="others", derivation=ASKED, display="question")
    Stage.objects.filter(pk=ask.pk).update(name="Question writing")
    Stage.objects.filter(pk=reply.pk).update(name="Answer writing")
    items = (Item.objects.create(stage=ask, key=f"picture-{number}", concept="wedding") for number in range(8))
    attach_all(dict(zip(items, drawings(8), strict=True)))
    return create_open_campaign(world, ask, "Questions about weddings"), create_open_campaign(world, reply, "Answers")


def create_open_campaign(world: World, stage: Stage, name: str) -> Campaign:
    stage.refresh_from_db()
    made = lifecycle.create(stage, name, world.owner, {world.egypt: 1}, seed=1)
    lifecycle.open_campaign(made, world.owner, timezone.now())
    return made


def write(page: Page, campaign: Campaign, question: str) -> None:
    page.goto(f"/work/{campaign.pk}/")
    wait_for_images(page)
    page.get_by_label("Question").fill(question)
    page.get_by_label("Answer", exact=True).fill("Mint tea")
    answered(page, lambda: page.keyboard.press("Control+Enter"))


def test_submit_return_correct_accept_and_on_to_another_person(
    open_as: OpenAs, chain: tuple[Campaign, Campaign], world: World, shot: Shot
) -> None:
    asks, replies = chain
    author = open_as(world.nour)
    author.set_default_timeout(60_000)  # the first page of a process compiles its templates
    write(author, asks, "What is in the glass")
    reviewer = open_as(world.reviewer)
    reviewer.goto(f"/b/{world.benchmark.slug}/review/")
    reviewer.get_by_role("link", name="Start reviewing").click()
    expect(reviewer.locator("#main")).to_contain_text("What is in the glass")
    assert find_violations(reviewer) == ""
    reviewer.keyboard.press("r")  # without a reason, the key goes there
    expect(reviewer.locator("[name=reason]").first).to_be_focused()
    expect(reviewer.get_by_role("alert")).to_have_text("Choose a reason, so that the author knows what to do.")
    shot(reviewer, "review-no-reason")
    reviewer.keyboard.press("3")
    expect(reviewer.get_by_role("alert")).to_be_hidden()
    reviewer.get_by_label("Comment to the author").fill("It ends without a question mark.")
    reviewer.get_by_label("Comment to the author").blur()
    reviewer.keyboard.press("r")
    reviewer.wait_for_url("**/review/?done=*")
    expect(reviewer.locator(".toast")).to_contain_text("Spelling or wording")

    author.goto("/work/")
    expect(author.locator("main")).to_contain_text("One answer was returned to you")
    expect(author.locator("main")).to_contain_text("It ends without a question mark.")
    shot(author, "returned-home-desktop")
    assert find_violations(author) == ""
    author.get_by_role("button", name="Correct").first.click()
    wait_for_images(author)
    expect(author.locator("#main")).to_contain_text("It ends without a question mark.")
    expect(author.locator("#main")).to_contain_text("Correct it here and submit it again")
    expect(author.get_by_role("button", name="Correct later")).to_be_visible()
    expect(author.get_by_role("button", name="Keep the earlier answer")).to_have_count(0)
    shot(author, "returned-sheet-desktop")
    author.get_by_label("Question").fill("What is in the glass?")
    author.keyboard.press("Control+Enter")
    author.wait_for_url("**/work/history/")

    newer = Annotation.objects.get(live=True)
    reviewer.goto(f"/b/{world.benchmark.slug}/review/{newer.pk}/")
    expect(reviewer.locator(".changed")).to_have_text("Changed: What is in the glass?")
    shot(reviewer, "review-versions-desktop")
    assert find_violations(reviewer) == ""
    reviewer.keyboard.press("a")
    reviewer.wait_for_url("**/review/?done=*")
    derived_items.process_due(timezone.now())
    other = open_as(world.tarek)
    other.goto(f"/work/{replies.pk}/")
    expect(other.locator("main")).to_contain_text("What is in the glass?")
    author.goto(f"/work/{replies.pk}/")
    expect(author.locator("main")).to_contain_text("The items here are for other people.")
    reviewer.goto(f"/b/{world.benchmark.slug}/")
    expect(reviewer.locator(".sum [data-stage=ask]")).to_contain_text("1 accepted")
    shot(reviewer, "chain-desktop", full_page=True)
    assert find_violations(reviewer) == ""


def several(world: World, asks: Campaign) -> list[Annotation]:
    texts = ["What is in the glass?", "Who pays for the feast?", "What do guests bring?", "When does it end?"]
    users = [world.nour, world.tarek, world.nour, world.tarek]
    annotations = [
        answer(claim_sheet(rater_of(one), asks, world.egypt), question=text, answer="Mint tea")
        for one, text in zip(users, texts, strict=True)
    ]
    reviews.decide(annotations[3].pk, world.owner, "return", timezone.now(), reason="several", comment="Which guests?")
    return annotations


@pytest.mark.parametrize("name", ["desktop", "phone", "arabic"])
def test_the_queue_in_every_width_and_direction(
    open_as: OpenAs, chain: tuple[Campaign, Campaign], world: World, shot: Shot, name: str
) -> None:
    annotations = several(world, chain[0])
    if name == "arabic":
        User.objects.filter(pk=world.reviewer.pk).update(language="ar")
    page = open_as(world.reviewer, **(PHONE if name == "phone" else {}))
    page.goto(f"/b/{world.benchmark.slug}/review/")
    expect(page.locator(".answer")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
    shot(page, f"review-queue-{name}", full_page=True)
    assert find_violations(page) == ""
    page.goto(f"/b/{world.benchmark.slug}/review/{annotations[0].pk}/")
    expect(page.locator("#main")).to_contain_text("What is in the glass?")
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
    shot(page, f"review-{name}")
    assert find_violations(page) == ""
    page.locator("[name=decision][value=accept]").click()
    page.wait_for_url("**/review/*/?done=*")
    expect(page.locator("#main")).to_contain_text("Who pays for the feast?")
    shot(page, f"review-next-{name}")
    page.locator("[data-undo]").click()
    page.wait_for_url(f"**/review/{annotations[0].pk}/")
    assert Review.objects.filter(undone_at=None, decision="accept").count() == 0


def test_the_list_decides_by_keys_without_leaving_it(
    open_as: OpenAs, chain: tuple[Campaign, Campaign], world: World, shot: Shot
) -> None:
    annotations = several(world, chain[0])
    page = open_as(world.reviewer)
    page.goto(f"/b/{world.benchmark.slug}/review/")
    rows = page.locator(".answer")
    page.keyboard.press("j")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("a")
    expect(rows.nth(0)).to_contain_text("Accepted")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("x")  # without a reason, the key goes there
    expect(rows.nth(1).locator("[name=reason]").first).to_be_focused()
    expect(rows.nth(1).get_by_role("alert")).to_have_text("Choose a reason, so that the author knows what to do.")
    shot(page, "review-list-reason")
    page.keyboard.press("2")
    page.keyboard.press("x")
    expect(rows.nth(1)).to_contain_text("It is not a fact")
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("u")  # the latest decision
    expect(rows.nth(1).get_by_role("button", name="Accept")).to_be_visible()
    shot(page, "review-list-decided", full_page=True)
    assert find_violations(page) == ""
    left = len(annotations) - 2  # one is returned, one accepted
    expect(page.locator(".states a").first).to_have_text(f"Waiting {left}")
    expect(page.locator(".head")).to_contain_text(f"{left} answers wait for you")
    expect(page.locator(".gauge").first).to_contain_text(f"Waiting: {left} · returned: 1 · accepted: 1")
    expect(rows).to_have_count(left + 1)  # the list itself stays
    assert page.url.endswith("/review/")
    expected = {"accept": annotations[0].pk}
    assert {
        one.decision: one.annotation_id for one in Review.objects.filter(reviewer=world.reviewer, undone_at=None)
    } == expected


def test_without_a_script_everything_is_decided_all_the_same(
    open_as: OpenAs, chain: tuple[Campaign, Campaign], world: World
) -> None:
    given = several(world, chain[0])
    page = open_as(world.reviewer, java_script_enabled=False)
    page.goto(f"/b/{world.benchmark.slug}/review/{given[0].pk}/")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose a reason")
    page.get_by_label("It is not a fact").check(force=True)
    page.get_by_role("button", name="Reject").click()
    expect(page.locator(".toast")).to_contain_text("It is not a fact")
    assert Review.objects.filter(decision="reject").count() == 1
