"""Finding a picture in a real browser: sent and fetched, seen before it is submitted, replaced, cleared, stopped."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Annotation, Campaign, SheetVersion, Upload
from annotation.services.answers import uploads
from benchmarks.services.safe_fetch import FetchRefused, FetchResult
from people.models import User
from tests import pictures
from tests.browser.conftest import PHONE, drawings, wait_until
from tests.browser.test_rating import answered, find_violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
FINDING: dict[str, Any] = {
    "fields": [
        {
            "key": "photo", "kind": "picture",
            "label": {"en": "Bring a picture of this in {target}", "ar": "أحضر صورة لهذا في {target}"},
            "help": {"en": "One that people there would take themselves.", "ar": "صورة كالتي يلتقطها أهلها بأنفسهم."},
            "config": {"least_side": 300},
        },
        {
            "key": "common", "kind": "choice",
            "label": {"en": "How common is it?", "ar": "ما مدى شيوعه؟"},
            "config": {"options": [
                {"code": "rare", "label": {"en": "Rare", "ar": "نادر"}},
                {"code": "common", "label": {"en": "Common", "ar": "شائع"}},
            ]},
        },
    ]
}  # fmt: skip


@pytest.fixture
def finding(campaign: Campaign) -> Campaign:
    version = SheetVersion.objects.create(stage=campaign.stage, major=2, minor=0, definition=FINDING)
    Campaign.objects.filter(pk=campaign.pk).update(sheet_version=version)
    return campaign


def file_of(data: bytes, name: str = "tea.jpg") -> Any:
    return {"name": name, "mimeType": "image/jpeg", "buffer": data}


def photo() -> bytes:
    return drawings(1)[0]


def bring(page: Page, data: bytes, name: str = "tea.jpg") -> None:
    page.locator("[type=file]").set_input_files(file_of(data, name))


def expect_picture(page: Page) -> None:
    expect(page.locator("[data-came]")).to_be_visible()
    wait_until(page, "document.querySelector('[data-came] img').naturalWidth > 0")


def test_a_file_is_brought_looked_at_and_submitted(open_as: OpenAs, finding: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.goto(f"/work/{finding.pk}/")
    shot(page, "finding-empty-desktop")
    assert find_violations(page) == ""
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-missing]").first).to_be_visible()
    bring(page, photo())
    expect_picture(page)
    expect(page.locator("#said")).to_contain_text("Picture uploaded: 1000 × 750 pixels.")
    page.get_by_label("Source page").fill("https://example.org/tea")
    page.get_by_label("Licence", exact=True).select_option("CC BY 4.0")
    page.locator(".seg label", has_text="Common").click()
    shot(page, "finding-desktop", full_page=True)
    assert find_violations(page) == ""
    page.reload()  # what was brought comes back with the draft
    expect_picture(page)
    expect(page.get_by_label("Source page")).to_have_value("https://example.org/tea")
    expect(page.get_by_label("Licence", exact=True)).to_have_value("CC BY 4.0")
    answered(page, lambda: page.get_by_role("button", name="Submit").click())
    sha = Upload.objects.get().image.sha256
    answer = Annotation.objects.get().answers["photo"]
    assert answer == {"sha": sha, "kind": "file", "source": "https://example.org/tea", "licence": "CC BY 4.0"}


def test_by_keys_alone_with_an_address_and_a_licence_in_words(
    open_as: OpenAs, finding: Campaign, nour: User, monkeypatch: pytest.MonkeyPatch, shot: Shot
) -> None:
    def fetch(url: str, most: int) -> FetchResult:
        if "inside" in url:
            raise FetchRefused("private")
        return FetchResult(photo(), url)

    monkeypatch.setattr(uploads, "_ask", fetch)
    page = open_as(nour)
    page.goto(f"/work/{finding.pk}/")
    page.get_by_label("Or the address").focus()
    page.keyboard.type("http://inside.example/")
    page.keyboard.press("Enter")
    expect(page.locator(".brings [data-failed]")).to_contain_text("private network")
    shot(page, "finding-refused-desktop", full_page=True)
    page.get_by_label("Or the address").fill("")
    page.get_by_label("Or the address").focus()
    page.keyboard.type("https://example.org/tea.jpg")
    page.keyboard.press("Enter")
    expect_picture(page)
    assert not Annotation.objects.exists()  # Enter brought the picture, and sent nothing
    expect(page.get_by_role("button", name="Another picture")).to_be_focused()
    page.get_by_label("Source page").focus()
    page.keyboard.type("https://example.org/tea")
    page.keyboard.press("Tab")
    page.keyboard.type("Another")  # a select goes where its words begin
    page.keyboard.press("Tab")
    expect(page.get_by_label("Name of the licence")).to_be_focused()
    page.keyboard.type("GFDL 1.3")
    page.get_by_label("Common").focus()
    page.keyboard.press("Space")
    answered(page, lambda: page.keyboard.press("Control+Enter"))
    answer = Annotation.objects.get().answers
    assert (answer["photo"]["kind"], answer["photo"]["licence"], answer["common"]) == ("url", "GFDL 1.3", "common")


def test_by_touch_on_a_phone(open_as: OpenAs, finding: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{finding.pk}/")
    shot(page, "finding-empty-phone", full_page=True)
    expect(page.locator("[type=file]")).to_be_hidden()  # two large buttons stand for it
    for button, capture in (("Take a picture", "environment"), ("Choose from the gallery", None)):
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name=button).tap()
        box = page.get_by_role("button", name=button).bounding_box()
        assert box and box["height"] >= 72
        assert chooser.value.element.get_attribute("capture") == capture
        chooser.value.set_files(file_of(photo()))
        expect_picture(page)
        page.get_by_role("button", name="Another picture").tap()
    expect_picture(page)
    page.get_by_label("Licence", exact=True).select_option("own")
    page.locator(".seg label", has_text="Rare").tap()
    shot(page, "finding-phone", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert find_violations(page) == ""
    small = "[...document.querySelectorAll('.brings :is(button, input:not([type=hidden]), select)')]"
    assert page.evaluate(f"{small}.filter(e => e.offsetHeight && e.offsetHeight < 44).map(e => e.outerHTML)") == []
    answered(page, lambda: page.get_by_role("button", name="Submit").tap())
    assert Annotation.objects.get().answers["photo"]["licence"] == "own"


def test_right_to_left(open_as: OpenAs, finding: Campaign, nour: User, shot: Shot) -> None:
    User.objects.filter(pk=nour.pk).update(language="ar")
    page = open_as(nour)
    page.goto(f"/work/{finding.pk}/")
    bring(page, photo())
    expect_picture(page)
    shot(page, "finding-ar-desktop", full_page=True)
    page.set_viewport_size({"width": 390, "height": 844})
    shot(page, "finding-ar-phone", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_is_replaced_and_cleared(open_as: OpenAs, finding: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{finding.pk}/")
    bring(page, photo())
    expect_picture(page)
    first = page.locator("[data-sha]").input_value()
    page.get_by_role("button", name="Another picture").click()
    bring(page, pictures.png(640, 480))
    wait_until(page, "before => document.querySelector('[data-sha]').value !== before", first)
    expect_picture(page)
    expect(page.locator("[data-size]")).to_have_text("640 × 480")
    page.get_by_role("button", name="Remove picture").click()
    expect(page.locator("[data-came]")).to_be_hidden()
    assert page.locator("[data-sha]").input_value() == ""
    page.locator(".seg label", has_text="Common").click()
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-missing]").first).to_be_visible()
    assert not Annotation.objects.exists()


def test_what_is_no_picture_says_so_and_nothing_typed_is_emptied(
    open_as: OpenAs, finding: Campaign, nour: User, shot: Shot
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{finding.pk}/")
    page.get_by_label("Source page").fill("https://example.org/tea")
    bring(page, b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    expect(page.locator(".brings [data-failed]")).to_contain_text("not a photo file")
    page.evaluate("document.querySelector('[data-most]').dataset.most = 0.001")
    bring(page, photo())  # told here, before anything is sent
    expect(page.locator(".brings [data-failed]")).to_contain_text("is larger than")
    expect(page.get_by_label("Source page")).to_have_value("https://example.org/tea")
    assert not Upload.objects.exists()


def test_without_a_line_it_goes_out_when_the_line_is_back(
    open_as: OpenAs, finding: Campaign, nour: User, shot: Shot
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{finding.pk}/")
    page.context.set_offline(True)
    bring(page, photo())
    expect(page.locator(".brings [data-failed]")).to_contain_text("No connection")
    shot(page, "finding-offline-desktop", full_page=True)
    page.context.set_offline(False)
    expect_picture(page)
    assert Upload.objects.count() == 1


def test_it_is_stopped_and_the_sheet_waits_for_it(open_as: OpenAs, finding: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.goto(f"/work/{finding.pk}/")
    held: list[Route] = []
    page.route("**/picture", lambda route: held.append(route))
    bring(page, photo())
    expect(page.locator("[data-way]")).to_contain_text("Sending the picture")
    shot(page, "finding-sending-desktop", full_page=True)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("[data-way]")).to_be_hidden()
    expect(page.locator("#said")).to_contain_text("Nothing was sent")
    assert page.locator("[data-sha]").input_value() == "" and not Upload.objects.exists()


def test_signed_out_underway_the_picture_goes_out_after_signing_in(
    open_as: OpenAs, finding: Campaign, nour: User
) -> None:
    from django.contrib.sessions.models import Session

    from tests.browser.test_never_lost import sign_in

    page = open_as(nour)
    page.goto(f"/work/{finding.pk}/")
    Session.objects.all().delete()
    bring(page, photo())
    expect(page.locator("#session")).to_be_visible()
    sign_in(page)
    expect_picture(page)
    assert Upload.objects.count() == 1


@pytest.mark.parametrize("status", [403, 200])
def test_what_a_network_refuses_is_not_sent_again_without_end(
    open_as: OpenAs, finding: Campaign, nour: User, status: int
) -> None:
    """A filter in front of the site, while the session goes on."""
    page = open_as(nour)
    page.goto(f"/work/{finding.pk}/")
    sent: list[Route] = []

    def refuse(route: Route) -> None:
        sent.append(route)
        route.fulfill(status=status, body="<p>Blocked</p>", content_type="text/html")

    page.route("**/picture", refuse)
    bring(page, photo())
    page.wait_for_timeout(3000)
    assert 1 <= len(sent) <= 3
    expect(page.locator(".brings [data-failed]")).to_be_visible()
    page.unroute("**/picture")
    page.locator(".brings [data-failed] button").click()
    expect_picture(page)


def test_without_a_script(open_as: OpenAs, finding: Campaign, nour: User, shot: Shot, tmp_path: Path) -> None:
    page = open_as(nour, java_script_enabled=False)
    page.goto(f"/work/{finding.pk}/")
    page.locator(".seg label", has_text="Rare").click()
    page.get_by_label("Licence", exact=True).select_option("own")
    bring(page, photo())
    page.get_by_role("button", name="Fetch").click()
    expect(page.locator("[data-came]")).to_be_visible()
    shot(page, "finding-noscript-desktop", full_page=True)
    expect(page.get_by_label("Rare")).to_be_checked()
    page.get_by_role("button", name="Submit").click()
    answer = Annotation.objects.get().answers
    assert answer["photo"]["sha"] == Upload.objects.get().image.sha256 and answer["common"] == "rare"
