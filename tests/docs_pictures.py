"""The pictures of the documentation, taken from a running demo site: `python -m tests.docs_pictures DATA_FOLDER`.

The site is one of `./emic run`, a few minutes after its first start, when the whole demo is loaded. A picture has the
same size each time; its content changes with the pages. `tests/test_docs.py` holds that the documentation shows these
pictures only, and that each is small.
"""

import io
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from config.local.data_folder import DataFolder
from config.local.testing import BROWSERS

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
DESKTOP, PHONE = (1280, 800), (390, 844)
QUALITY = 72


@dataclass(frozen=True)
class DocsPicture:
    """A page as one account of the demo sees it; "" is a visitor. `then`: what is clicked there, in order."""

    name: str
    account: str
    path: str
    size: tuple[int, int] = DESKTOP
    then: tuple[str, ...] = ()


RATE = ("a[aria-label='Open: Rate a picture']", "label.opt >> nth=3")
PICTURES = (
    DocsPicture("front", "", "/"),
    DocsPicture("benchmarks", "mara", "/benchmarks/"),
    DocsPicture("overview", "mara", "/b/caire-demo/"),
    DocsPicture("agreement", "mara", "/b/caire-demo/agreement/"),
    DocsPicture("models", "mara", "/b/caire-demo/models/"),
    DocsPicture(
        "composer", "mara", "/b/caire-demo/stages/", then=("main a[href*='/stages/']:has-text('Relevance rating')",)
    ),
    DocsPicture("work", "bia", "/work/"),
    DocsPicture("sheet", "bia", "/tour/", then=RATE),
    DocsPicture("sheet-phone", "nour", "/tour/", PHONE, then=RATE),
)


def main(folder: str) -> int:
    """Take each picture of the site that runs on this data folder."""
    home = DataFolder(Path(folder))
    address = str(home.current_run().get("address") or "")
    if not address:
        print(f"No site runs on {folder}. Start one: EMIC_DATA={folder} ./emic run", file=sys.stderr)
        return 1
    return take(address)


def take(address: str) -> int:
    """Write the pictures of the site at this address."""
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for picture in PICTURES:
            data = to_webp(shot(browser, address, picture))
            (FOLDER / f"{picture.name}.webp").write_bytes(data)
            print(f"{picture.name}.webp {len(data) / 1024:.0f} KiB")
        browser.close()
    return 0


def shot(browser: Browser, address: str, picture: DocsPicture) -> bytes:
    """The bytes of a PNG. Raises an error of Playwright if something to click is not there."""
    width, height = picture.size
    is_phone = picture.size == PHONE
    context = browser.new_context(
        base_url=address, locale="en-GB", viewport={"width": width, "height": height}, reduced_motion="reduce",
        is_mobile=is_phone, has_touch=is_phone,
    )  # fmt: skip
    page = context.new_page()
    if picture.account:
        sign_in(page, picture.account)
    page.goto(picture.path)
    for selector in picture.then:
        page.locator(selector).first.click()
        page.wait_for_load_state("networkidle")
    page.wait_for_load_state("networkidle")
    data = page.screenshot()
    context.close()
    return data


def sign_in(page: Page, account: str) -> None:
    page.goto("/")
    page.locator(f"form[action='/tour/{account}/enter'] button").click()
    page.wait_for_url(re.compile("/tour/$"))


def to_webp(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(data)) as opened:
        opened.convert("RGB").save(buffer, "WEBP", quality=QUALITY, method=6)
    return buffer.getvalue()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or [str(Path("data"))]))
