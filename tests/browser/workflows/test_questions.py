"""CulturalVQA, whole: questions are written, returned, corrected, accepted; others answer; models are judged."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Assignment, Campaign, ItemContributor
from annotation.services.derivation import derived_items
from benchmarks.models import Benchmark, Item, Role, Stage
from people.models import User
from tests.browser.conftest import PHONE, drawings, wait_until
from tests.browser.test_rating import wait_for_images
from tests.browser.workflows import steps
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
FACTS = (
    ("Feijoada", "food", "Feijoada is eaten with orange and couve."),
    ("Chimarrão", "drink", "Chimarrão is drunk from a gourd."),
    ("Festa Junina", "traditions", "At Festa Junina people jump over a fire."),
    ("Bombacha", "clothing", "Bombachas are tied at the ankle."),
    ("Capoeira", "rituals", "Capoeira is danced in a circle."),
    ("Quentão", "drink", "Quentão is served hot in June."),
    ("Acarajé", "food", "Acarajé is fried in dendê."),
    ("Bumba meu boi", "traditions", "In bumba meu boi an ox comes to life."),
)


def photos() -> Mapping[str, bytes]:
    return {f"brazil/{number}.jpg": data for number, data in enumerate(drawings(8))}


def collect_questions(world: World, researcher: Page, folder: Path) -> tuple[Stage, Campaign]:
    stage = steps.create_benchmark(world, "culturalvqa").stages.get(key="questions")
    rows = [
        {"file": name, "key": f"brazil-{facet}-{number}", "country": "Brazil", "concept": concept, "facet": facet,
         "assertion": assertion, "source": "https://example.org/page", "licence": "CC BY 4.0"}
        for number, (name, (concept, facet, assertion)) in enumerate(zip(photos(), FACTS, strict=True))
    ]  # fmt: skip
    steps.import_items(researcher, stage, folder, rows, photos())
    return stage, steps.create_open_campaign(stage, world.mara, {world.brazil: 1})


def write(page: Page, question: str, answer: str, familiar: str = "familiar", fold: str = "never") -> None:
    """Fill the sheet, and open what is folded before the gate, after it, or never."""
    wait_for_images(page)
    expect(page.locator(".folded")).to_be_hidden()
    if fold == "before":
        unfold(page)
    page.locator(f"label:has([value={familiar}])").click()
    if fold == "after":
        unfold(page)
    page.locator("#a-question").fill(question)
    page.locator("#a-answer").fill(answer)


def unfold(page: Page) -> None:
    """Nobody types sooner than the page has noted that it was opened."""
    page.locator("[data-fold] summary").click()
    expect(page.locator(".folded dd").first).to_be_visible()
    wait_until(page, "document.querySelector('[name=trace]').value.includes('text_typed')")


def decide(reviewer: Page, decision: str, reason: str = "", comment: str = "") -> None:
    before = reviewer.url
    if reason:
        reviewer.locator("label.opt", has_text=reason).click()
        reviewer.get_by_label("Comment to the author").fill(comment)
    reviewer.locator(f"[name=decision][value={decision}]").click()
    expect(reviewer).not_to_have_url(before)


def review_questions(open_as: OpenAs, world: World, benchmark: Benchmark, author: Page, shot: Shot) -> None:
    """The first of three is returned, corrected by its author, and accepted with the others."""
    Role.objects.create(benchmark=benchmark, user=world.reviewer, name=Role.Name.REVIEWER)
    reviewer = open_as(world.reviewer)
    reviewer.goto(f"/b/{benchmark.slug}/review/")
    reviewer.get_by_role("link", name="Start reviewing").click()
    expect(reviewer.locator("#main")).to_contain_text("What is eaten here?")
    wait_for_images(reviewer)
    shot(reviewer, "questions-review-desktop")
    decide(reviewer, "return", "several correct answers", "Ask for the dish.")
    decide(reviewer, "accept")
    decide(reviewer, "accept")
    expect(reviewer.locator("main")).to_contain_text("No answer waits for you now.")
    author.goto("/work/")
    expect(author.locator("main")).to_contain_text("Ask for the dish.")
    author.get_by_role("button", name="Correct").first.click()
    wait_for_images(author)
    author.locator("#a-question").fill("What is this dish called?")
    shot(author, "questions-correct-desktop")
    author.keyboard.press("Control+Enter")
    author.wait_for_url("**/work/history/")
    reviewer.reload()
    reviewer.get_by_role("link", name="Start reviewing").click()
    expect(reviewer.locator(".changed")).to_contain_text("What is this dish called?")
    edges = "name => document.querySelector(`.body > ${name}`).getBoundingClientRect().toJSON()"
    assert reviewer.evaluate(edges, "fieldset")["top"] >= reviewer.evaluate(edges, ".wrap")["bottom"]
    shot(reviewer, "questions-review-again-desktop")
    decide(reviewer, "accept")


def test_questions_are_written_reviewed_answered_and_judged(
    open_as: OpenAs, world: World, tmp_path: Path, shot: Shot
) -> None:
    researcher, bia, caio = open_as(world.mara), open_as(world.bia), open_as(world.caio, **PHONE)
    lina = steps.speaks_arabic(world)
    third = open_as(lina)
    stage, campaign = collect_questions(world, researcher, tmp_path)
    hand = steps.sheet(bia, campaign)
    write(bia, "What is eaten here?", "Feijoada", "somewhat", fold="before")
    shot(bia, "questions-desktop")
    steps.drafted(bia, hand)
    expect(bia.locator("#a-question")).to_have_value("What is eaten here?")
    steps.submit(bia)
    write(bia, "What is it drunk from?", "Cuia", fold="after")
    steps.submit(bia)
    hand = steps.sheet(caio, campaign)
    write(caio, "Which feast is it?", "Festa Junina")
    steps.drafted(caio, hand)
    assert caio.evaluate("document.documentElement.scrollWidth") <= 390
    shot(caio, "questions-phone", full_page=True)
    steps.submit(caio)
    steps.sheet(third, campaign)
    write(third, "ما اسم هذا اللباس؟", "بومباتشا", fold="after")
    shot(third, "questions-ar-desktop")
    third.set_viewport_size({"width": 390, "height": 844})
    shot(third, "questions-ar-narrow", full_page=True)
    third.set_viewport_size({"width": 1280, "height": 800})

    review_questions(open_as, world, stage.benchmark, bia, shot)
    derived_items.process_due(timezone.now())
    archive = steps.export_zip(world, stage)
    rows = steps.rows_of(archive, "ratings.jsonl")
    told = ("opened_before_gate", "opened_before_text", "state")
    assert {row["answers"]["question"]: tuple(row[name] for name in told) for row in rows} == {
        "What is this dish called?": (True, True, "accepted"),
        "What is it drunk from?": (False, True, "accepted"),
        "Which feast is it?": (False, False, "accepted"),
    }  # fmt: skip
    replies = answered(world, stage.benchmark, [(world.bia, bia), (world.caio, caio), (lina, third)], shot)
    judge_answers(world, stage.benchmark, researcher, [bia, caio, third], tmp_path, shot)
    steps.import_back(researcher, campaign, archive)
    steps.import_back(researcher, replies, steps.export_zip(world, replies.stage))


def answered(world: World, benchmark: Benchmark, people: list[tuple[User, Page]], shot: Shot) -> Campaign:
    """Everybody answers all there is for them: never what they asked themselves."""
    stage = benchmark.stages.get(key="answers")
    assert set(stage.items.values_list("text", flat=True)) == {
        "What is this dish called?", "What is it drunk from?", "Which feast is it?"
    }  # fmt: skip
    campaign = steps.create_open_campaign(stage, world.mara, {world.brazil: 3})
    for (user, page), name, most in zip(people, ("desktop", "phone", "ar-desktop"), (1, 2, 3), strict=True):
        for number in range(most):
            hand = steps.sheet(page, campaign)
            page.locator("#a-answer").fill(f"Cuia {number}")
            page.locator("label:has([value=yes])").click()
            if not number:
                wait_for_images(page)
                shot(page, f"answers-{name}", full_page=True)
                steps.drafted(page, hand)
                expect(page.locator("#a-answer")).to_have_value("Cuia 0")
            steps.submit(page)
        expect(page.locator(".bench.none")).to_be_visible()
        offered = Assignment.objects.filter(campaign=campaign, rater__user=user).values("unit__item")
        assert offered.count() == most
        assert not ItemContributor.objects.filter(item__in=offered, rater__user=user).exists()
    assert Annotation.objects.filter(assignment__campaign=campaign, live=True, counted=True).count() == 6
    return campaign


def judge_answers(
    world: World, benchmark: Benchmark, researcher: Page, people: list[Page], folder: Path, shot: Shot
) -> None:
    """What a model answered to the questions comes in by a manifest, and is judged blind."""
    stage = benchmark.stages.get(key="model-answers")
    files = dict(zip(Item.objects.filter(stage__key="answers").order_by("key"), photos(), strict=False))
    rows: list[dict[str, Any]] = [
        {"file": name, "key": f"{item.key}/model-a", "country": "Brazil", "concept": item.concept, "text": item.text,
         "candidate": "A gourd", "model": "model-a"}
        for item, name in files.items()
    ]  # fmt: skip
    steps.import_items(researcher, stage, folder, rows, photos())
    campaign = steps.create_open_campaign(stage, world.mara, {world.brazil: 3})
    for page, name, verdict in zip(people, ("desktop", "phone", "ar-desktop"), "345", strict=True):
        hand = steps.sheet(page, campaign)
        expect(page.locator(".judged")).to_contain_text("A gourd")
        assert "model-a" not in page.locator("#bench").inner_text()
        page.locator(f"label:has([name=a-verdict][value='{verdict}'])").click()
        wait_for_images(page)
        shot(page, f"model-answers-{name}", full_page=name == "phone")
        steps.drafted(page, hand)
        expect(page.locator(f"[name=a-verdict][value='{verdict}']")).to_be_checked()
        steps.submit(page)
    assert {code for _key, _field, code, _value in steps.ratings(campaign)} == {"3", "4", "5"}
    steps.import_back(researcher, campaign, steps.export_zip(world, stage))
