"""Hands for sheets with boxes: a campaign that asks for them, and boxes by mouse, by finger and by keys."""

from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page

from annotation.models import Campaign, SheetVersion
from benchmarks.models import Image, ItemFact, ItemImage
from tests.browser.conftest import wait_until

SIZE = (1000, 750)
TARGET = (431, 322, 563, 437)  # pixels of the picture; within sight when it is 4 times closer
LABEL = {"en": "Draw one box round the lantern", "ar": "ارسم إطارًا واحدًا حول الفانوس"}


def box_field(**config: Any) -> dict[str, Any]:
    objects = {
        "key": "objects",
        "at_least": 3,
        "label": {"en": "Other things in the picture", "ar": "أشياء أخرى في الصورة"},
    }
    return {
        "key": "place", "kind": "box", "label": LABEL,
        "help": {"en": "If there are several, choose the one that shows best.", "ar": "إن تعددت فاختر أوضحها."},
        "config": {"max_area": 0.3, "facts": [objects], **config},
    }  # fmt: skip


ANSWERS = (("yes", "نعم"), ("no", "لا"))
STILL = {
    "key": "still", "kind": "choice", "required": False,
    "label": {"en": "Do people here still use it?", "ar": "هل ما زال الناس يستعملونه؟"},
    "config": {"options": [{"code": code, "label": {"en": code, "ar": arabic}} for code, arabic in ANSWERS]},
}  # fmt: skip


def asks_boxes(campaign: Campaign, objects: int | None = 14, **config: Any) -> Campaign:
    """Every sheet of the campaign asks for boxes and one thing more."""
    version = SheetVersion.objects.create(
        stage=campaign.stage, major=2, minor=0, definition={"fields": [box_field(**config), STILL]}
    )
    Campaign.objects.filter(pk=campaign.pk).update(sheet_version=version)
    wide = Image.objects.filter(width=SIZE[0], height=SIZE[1]).first()
    ItemImage.objects.filter(item__stage=campaign.stage).exclude(image__width=SIZE[0]).update(image=wide)
    if objects is not None:
        for item in campaign.stage.items.all():
            ItemFact.objects.create(item=item, key="objects", value=objects, source="detector")
    return campaign


def open_sheet(page: Page, campaign: Campaign) -> None:
    page.goto(f"/work/{campaign.pk}/")
    wait_until(page, "document.querySelector('.view img').complete && document.querySelector('svg.boxes') !== null")


def screen(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where on the screen a pixel of the picture is now."""
    seen = page.evaluate("document.querySelector('.view img').getBoundingClientRect().toJSON()")
    return seen["x"] + x / SIZE[0] * seen["width"], seen["y"] + y / SIZE[1] * seen["height"]


def drag(page: Page, start: tuple[float, float], to: tuple[float, float]) -> None:
    """By mouse, between two pixels of the picture."""
    page.mouse.move(*screen(page, *start))
    page.mouse.down()
    page.mouse.move(*screen(page, (start[0] + to[0]) / 2, (start[1] + to[1]) / 2), steps=3)
    page.mouse.move(*screen(page, *to))
    page.mouse.up()


def touches(hand: CDPSession, kind: str, *points: tuple[float, float]) -> None:
    at = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
    hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})


def finger(page: Page, start: tuple[float, float], to: tuple[float, float], lift: bool = True) -> CDPSession:
    """By one finger, between two pixels of the picture."""
    hand = page.context.new_cdp_session(page)
    touches(hand, "touchStart", screen(page, *start))
    for share in (0.3, 0.6, 0.9, 1):
        there = [a + (b - a) * share for a, b in zip(start, to, strict=True)]
        touches(hand, "touchMove", screen(page, there[0], there[1]))
    if lift:
        touches(hand, "touchEnd")
    return hand


def by_keys(page: Page, target: tuple[int, int, int, int]) -> None:
    """Move the box in hand, then size it: coarse steps, then single pixels."""
    for corner, modifier in (((0, 1), ""), ((2, 3), "Shift+")):
        for side in corner:
            axis = side % 2
            coarse = round(SIZE[axis] / 100)
            left = target[side] - round(pixels(page)[0][side])
            name = [("ArrowLeft", "ArrowRight"), ("ArrowUp", "ArrowDown")][axis][left > 0]
            for _time in range(abs(left) // coarse):
                page.keyboard.press(modifier + name)
            for _time in range(abs(left) % coarse):
                page.keyboard.press(f"Alt+{modifier}{name}")


def typed_boxes(page: Page) -> list[list[str]]:
    """What stands in the inputs, four for each box."""
    values = page.locator("[name=a-place]").evaluate_all("all => all.map(one => one.value)")
    rows = [values[at : at + 4] for at in range(0, len(values), 4)]
    return [row for row in rows if any(row)]


def pixels(page: Page) -> list[list[float]]:
    return [[float(one) / 100 * SIZE[at % 2] for at, one in enumerate(row)] for row in typed_boxes(page)]


def assert_at(page: Page, *targets: tuple[float, ...]) -> None:
    """Within half a pixel of the picture."""
    found = pixels(page)
    assert found == [pytest.approx(target, abs=0.5) for target in targets], found


def assert_drawn_at(page: Page, corner: tuple[int, int]) -> None:
    """The box stands over this pixel of the picture, as soon as the page has been laid out anew."""
    for _time in range(100):
        drawn = page.locator("svg.boxes .box .body").bounding_box()
        if drawn and (drawn["x"], drawn["y"]) == pytest.approx(screen(page, *corner), abs=0.5):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"drawn at {drawn}, and {corner} is at {screen(page, *corner)}")
