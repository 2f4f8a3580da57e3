"""A concept's pictures before a person: drawn look-alikes, and a hand that knows which are which."""

import hashlib
import io
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from playwright.sync_api import Page

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Image, Item, ItemImage, Stage
from benchmarks.services.picture_arrangement import arrange
from tests.browser.conftest import wait_until
from tests.lookalikes import lookalikes
from tests.personas import World

SIZE = (400, 300)
SHEET: dict[str, Any] = {
    "fields": [
        {
            "key": "duplicates",
            "kind": "grouping",
            "label": {"en": "Which pictures are the same?", "ar": "أي الصور متشابهة؟"},
            "config": {
                "roles": [
                    {"code": "crop", "label": {"en": "Crop", "ar": "اقتطاع"}},
                    {"code": "zoom", "label": {"en": "Zoom", "ar": "تقريب"}},
                    {"code": "shift", "label": {"en": "Shift", "ar": "إزاحة"}},
                    {"code": "time", "label": {"en": "Other time of day", "ar": "وقت آخر من اليوم"}, "keeps": True},
                ]
            },
        }
    ]
}


@lru_cache(maxsize=2)
def draw_pictures(scenes: int) -> tuple[tuple[str, bytes], ...]:
    """What a picture is ("3 day": all with the same words are duplicates), and its bytes."""
    pictures = []
    for lookalike in lookalikes(scenes, seed=3, size=SIZE):
        buffer = io.BytesIO()
        lookalike.picture.convert("RGB").save(buffer, "JPEG", quality=88)
        pictures.append((f"{lookalike.scene} {'night' if lookalike.night else 'day'}", buffer.getvalue()))
    return tuple(pictures)


def make_stage(world: World) -> Stage:
    return Stage.objects.create(
        benchmark=world.benchmark, key="look-alikes", name="Look-alikes", display="contact", sheet=SHEET, position=1,
        target_answers=2, has_target=False, skip_reasons=[{"code": "broken", "label": {"en": "It is broken"}}],
    )  # fmt: skip


def make_item(stage: Stage, concept: str, shown_pictures: Sequence[tuple[str, bytes]]) -> Item:
    """`truth` in the item's context says of each role what it shows."""
    item = Item.objects.create(stage=stage, key=concept, concept=concept, context={})
    truth = {}
    for number, (shows, data) in enumerate(shown_pictures, start=1):
        image, new = Image.objects.get_or_create(
            team=stage.benchmark.team, sha256=hashlib.sha256(data).hexdigest(),
            defaults={"format": "jpeg", "bytes": len(data), "width": SIZE[0], "height": SIZE[1]},
        )  # fmt: skip
        if new and not default_storage.exists(image.original_name):
            default_storage.save(image.original_name, ContentFile(data))
        ItemImage.objects.create(item=item, image=image, role=f"p{number:03}", alt=f"Drawing {number}")
        truth[f"p{number:03}"] = shows
    item.context = {"truth": truth}
    item.save()
    arrange(item)
    return item


def make_campaign(world: World, *scenes: int) -> Campaign:
    """One item for each number of scenes; ten pictures of each scene."""
    stage = make_stage(world)
    shown_pictures = draw_pictures(sum(scenes))
    first = 0
    for number, count in enumerate(scenes):
        make_item(stage, f"market stall {number}", shown_pictures[first * 10 : (first + count) * 10])
        first += count
    campaign = lifecycle.create(stage, "Look-alikes: market stall", world.owner, {world.egypt: 2}, seed=5)
    lifecycle.open_campaign(campaign, world.owner, timezone.now())
    return campaign


def truth_of(item: Item) -> dict[str, str]:
    return dict(item.context["truth"])


AT = """() => {
  const on = document.querySelector('.contact [aria-current]');
  const all = [...document.querySelectorAll('[data-picture]')];
  const other = document.querySelector('[data-target]').textContent;
  return [on.dataset.picture, other ? all[other - 1].dataset.picture : '', all.map((one) => one.dataset.picture)];
}"""


def decide(page: Page, truth: dict[str, str], names_of_shown: dict[str, str]) -> int:
    """What somebody who knows the truth presses: keep the first of its kind, call the others the same as it. If it
    is compared with another one: once on to the next, then by its number. Returns how many keys that took."""
    name, other, order = page.evaluate(AT)
    shows = truth[name]
    if shows not in names_of_shown:
        names_of_shown[shows] = name
        page.keyboard.press("k")
        return 1
    taken = 1
    if truth.get(other) != shows:
        page.keyboard.press("w")
        taken += 1
        if truth.get(page.evaluate(AT)[1]) != shows:
            number = str(order.index(names_of_shown[shows]) + 1)
            for key in number:
                page.keyboard.press(key)
            taken += len(number)
    page.keyboard.press("s")
    return taken


def dedupe(page: Page, truth: dict[str, str]) -> list[int]:
    """The whole sheet by keys alone; how many keys each picture took."""
    kept: dict[str, str] = {}
    return [decide(page, truth, kept) for _picture in truth]


def read_answer(page: Page) -> dict[str, Any]:
    """The answer as it would go out, once the page has written it."""
    wait_until(page, "document.querySelector('[data-partition]').value !== ''")
    page.wait_for_timeout(150)
    answer: dict[str, Any] = page.evaluate("JSON.parse(document.querySelector('[data-partition]').value)")
    return answer
