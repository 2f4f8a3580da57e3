"""A real Chromium before a live server. Screenshots go to EMIC_SHOTS, if it is set."""

import functools
import io
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings as django_settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from PIL import Image as Pillow
from PIL import ImageOps
from playwright.sync_api import Browser, Page

from annotation.models import Assignment, Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.images import pictures
from benchmarks.models import Image, Item, ItemImage
from config.local.testing import BROWSERS
from people.models import User
from tests.browser.windows import Window, Windows, shared_windows
from tests.personas import World

CHROMIUM = os.environ.get("EMIC_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), BROWSERS[0])
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
# A new document of the same site takes the frame of the one before, as in earlier versions of Chromium: a page costs a
# quarter less. The first two names are those that Playwright gives, which the last list of names replaces. Measurements
# do without it, for people's browsers do.
ONE_FRAME = (
    "--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies,RenderDocument:level/crashed-frame"
)
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
LABELS = [
    ("1", "Not relevant", "The picture has nothing to do with the culture."),
    ("2", "Minimally relevant", "There is a slight link. It may be vague, or one thing alone that seems out of place."),
    ("3", "Somewhat relevant", "Some things belong to it, and are found elsewhere too. The link could be stronger."),
    ("4", "Relevant", "Much of it belongs to the culture, and rightly. There may be room for more depth."),
    ("5", "Highly relevant", "It could hardly be from anywhere else. All of it feels natural and known."),
]
ARABIC = ["لا صلة لها", "صلة ضعيفة", "ذات صلة إلى حد ما", "ذات صلة", "وثيقة الصلة"]


@pytest.fixture(scope="session")
def windows(chromium: Browser) -> Iterator[Windows]:
    yield from shared_windows(chromium)


@pytest.fixture
def open_as(windows: Windows, live_server: Any, world: World) -> Iterator[Callable[..., Page]]:
    """A window in which this person is signed in. Errors on the page fail the test."""
    opened_windows: list[Window] = []
    faults: list[str] = []

    def opened(user: User | None, **how: Any) -> Page:
        cookie = world.client(user).cookies.get(django_settings.SESSION_COOKIE_NAME)
        still = {"reduced_motion": "reduce"}  # a colour half way between two is nobody's choice
        options = {"base_url": live_server.url, "locale": "en-GB", **DESKTOP, **still, **how}
        window = windows.take(options)
        opened_windows.append(window)
        if cookie is not None:
            window.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_server.url}])
        page = window.page
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
        return page

    yield opened
    for window in opened_windows:
        windows.give_back(window, live_server.url)
    assert not faults


@pytest.fixture(scope="session", autouse=True)
def small_pictures() -> Iterator[None]:
    """The same small pictures are made once in a session: the tests show the same few, and each is half a second."""
    small: dict[tuple[bytes, int], bytes] = {}
    resize = pictures.resize_to_webp

    def resize_once(source: BinaryIO, width: int, most_pixels: int) -> bytes:
        data = source.read()
        if (data, width) not in small:
            small[data, width] = resize(io.BytesIO(data), width, most_pixels)
        return small[data, width]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "resize_to_webp", resize_once)
        yield


@pytest.fixture
def shot() -> Callable[..., None]:
    def take(page: Page, name: str, **how: Any) -> None:
        folder = os.environ.get("EMIC_SHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(Path(folder) / f"{name}.png"), **how)

    return take


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> None:
    """Pictures lie in a folder of the test's own."""
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}},
    }


@pytest.fixture
def campaign(world: World, live_server: Any, media: None) -> Campaign:
    """Open to Egypt and Brazil, with drawn pictures."""
    add_definitions_and_pictures(world)
    new_campaign = lifecycle.create(
        world.stage,
        "Relevance, natural photos",
        world.owner,
        {world.egypt: 3, world.brazil: 1},
        summary="Say how much a picture has to do with {target}, 1 to 5.",
        instructions={
            "en": "Look at the whole picture first.\n\nThen say how much it has to do with your culture.",
            "ar": "انظر إلى الصورة كلها أولاً.\n\nثم قل ما مدى صلتها بثقافتك.",
        },
        seed=5,
    )
    lifecycle.open_campaign(new_campaign, world.owner, timezone.now())
    return new_campaign


def add_definitions_and_pictures(world: World, count: int = 8) -> None:
    """Definitions of several sentences in two languages, and pictures as the demo draws them."""
    stage = world.stage
    field = stage.sheet["fields"][0]
    field["config"]["points"] = [
        {"code": code, "label": {"en": label, "ar": arabic}, "definition": {"en": words}}
        for (code, label, words), arabic in zip(LABELS, ARABIC, strict=True)
    ]
    stage.skip_reasons = [
        {"code": "unknown", "label": {"en": "I do not know what it shows", "ar": "لا أعرف ما تعرضه"}},
        {"code": "unclear", "label": {"en": "It cannot be judged", "ar": "لا يمكن الحكم عليها"}},
        {"code": "broken", "label": {"en": "It is broken or unreadable", "ar": "معطوبة أو غير مقروءة"}},
    ]
    stage.save()
    attach_all(dict(zip(world.add_items(count), drawings(count), strict=True)))


def drawings(count: int) -> list[bytes]:
    """JPEG bytes of the demo's scenes, all different; the third is upright. Read once in a session."""
    from demo import pictures as drawn

    scenes = drawn.of_kind("scene")
    while len(DRAWN) < count:
        number = len(DRAWN)
        size = (1000, 750) if number != 2 else (600, 900)
        with Pillow.open(scenes[number * 7 % len(scenes)].path) as opened:  # 7 shares no factor with 72
            picture = ImageOps.fit(opened.convert("RGB"), size)
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=88)
        DRAWN.append(buffer.getvalue())
    return DRAWN[:count]


DRAWN: list[bytes] = []


def attach(item: Item, data: bytes, role: str = "image") -> None:
    attach_all({item: data}, role)


def attach_all(pictures_of: Mapping[Item, bytes], role: str = "image") -> None:
    """Give each of these items of one team its picture in this role, in place of another."""
    team = next(iter(pictures_of)).stage.benchmark.team
    files = {sha256(data).hexdigest(): data for data in pictures_of.values()}
    known = set(team.images.filter(sha256__in=files).values_list("sha256", flat=True))
    new = [image_of(data, team=team, sha256=sha) for sha, data in files.items() if sha not in known]
    for image in Image.objects.bulk_create(new):
        default_storage.save(image.original_name, ContentFile(files[image.sha256]))
    images = {image.sha256: image for image in team.images.filter(sha256__in=files)}
    ItemImage.objects.filter(item__in=pictures_of, role=role).delete()
    ItemImage.objects.bulk_create(
        ItemImage(item=item, role=role, image=images[sha256(data).hexdigest()], alt=f"Drawing: a {item.concept}")
        for item, data in pictures_of.items()
    )


def image_of(data: bytes, **columns: Any) -> Image:
    width, height = size_of(data)
    return Image(format="jpeg", bytes=len(data), width=width, height=height, **columns)


@functools.lru_cache
def size_of(data: bytes) -> tuple[int, int]:
    """Width and height in pixels."""
    return Pillow.open(io.BytesIO(data)).size


def current_assignment(user: User) -> Assignment:
    return Assignment.objects.get(rater__user=user, state="reserved", in_hand=True)


VIOLATIONS = "axe.run({ resultTypes: ['violations'] }).then((results) => results.violations)"


def axe_violations(page: Page) -> list[dict[str, Any]]:
    """What axe finds on the page. `Axe.run` would bring every rule that holds, too."""
    page.evaluate(Axe().axe_script)
    violations: list[dict[str, Any]] = page.evaluate(VIOLATIONS)
    return violations


def wait_until(page: Page, condition: str, arg: Any = None) -> None:
    """Wait for a condition on the page. `wait_for_function` cannot: the page's policy forbids what it does."""
    for _time in range(300):
        if page.evaluate(condition, arg):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {condition}")


def until_sheet_ready(page: Page) -> None:
    """Wait until the sheet listens: a key pressed earlier is lost."""
    wait_until(page, "performance.getEntriesByName('sheet-ready').length > 0")


# How many people's answers wait on this device.
UNSENT = "Object.keys(localStorage).filter(key => key.endsWith('outbox') && localStorage.getItem(key) !== '[]').length"


def until_sent(page: Page) -> None:
    """Wait until no answer is on its way: the next sheet appears before the server has the last one. A page that says
    that it is offline is not waited for.
    """
    wait_until(page, f"!(document.getElementById('line')?.hidden ?? true) || {UNSENT} === 0")


def until_seen(page: Page) -> None:
    """A refused answer that came back takes no key and no click at once: they were meant for the sheet it replaced."""
    page.wait_for_timeout(700)


# The key of an option, and the words of the option over it.
COVERED_KEYS = """() => [...document.querySelectorAll('label > kbd')].filter((key) => {
  const box = key.getBoundingClientRect();
  if (!box.width || !key.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
  return [...key.parentElement.children].some((part) => {
    if (part === key || part.matches('input, select, textarea')) return false;
    const words = document.createRange();
    words.selectNodeContents(part);
    return [...words.getClientRects()].some((line) => line.width > 1 && line.left < box.right - 1 &&
      line.right > box.left + 1 && line.top < box.bottom - 1 && line.bottom > box.top + 1);
  });
}).map((key) => key.parentElement.textContent.trim().slice(0, 110))"""


def covered_keys(page: Page) -> list[str]:
    """Options whose words lie over their key."""
    options: list[str] = page.evaluate(COVERED_KEYS)
    return options
