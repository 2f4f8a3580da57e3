"""The table of a real lab, imported in the browser: semicolons, a byte-order mark, names of its own, a missing file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jobs.models import Job
from jobs.services import runner
from tests.archives import pack_zip
from tests.browser.conftest import PHONE
from tests.importing import draw_pictures, page_of
from tests.personas import World

TABLE = Path(__file__).parents[1] / "data" / "tables" / "semicolon-utf8-bom.csv"
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_table_of_a_lab_is_imported_without_a_change_to_it(
    open_as: Callable[..., Page], world: World, live_server: Any, settings: Any, tmp_path: Path,
    shot: Callable[..., None],
) -> None:  # fmt: skip
    settings.MEDIA_ROOT = tmp_path / "media"
    pictures = tmp_path / "pictures.zip"
    pictures.write_bytes(pack_zip(draw_pictures([f"pic-{number:02}.png" for number in range(1, 12)])))
    page = open_as(world.mara)
    page.goto(page_of(world.stage))
    page.get_by_label("Pictures, as a zip").set_input_files(pictures)
    page.get_by_label("Manifest", exact=True).set_input_files(TABLE)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="Columns of the table", level=1)).to_be_visible()
    expect(page.get_by_label("img_file")).to_have_value("file")
    expect(page.get_by_label("WTF?!")).to_have_value("")
    shot(page, "import-table")
    for name, language in (("phone", "en"), ("phone-arabic", "ar")):
        phone = open_as(world.mara, **PHONE)
        phone.context.add_cookies([{"name": "django_language", "value": language, "url": live_server.url}])
        phone.goto(page.url)
        expect(phone.get_by_label("WTF?!")).to_be_visible()
        wide = phone.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, "the page fits a phone"
        shot(phone, f"import-table-{name}")
    page.get_by_label("WTF?!").select_option(label="Leave out")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="Import of pictures.zip")).to_be_visible()
    job = Job.objects.latest("pk")
    runner.run(job.pk)
    page.goto(f"/jobs/{job.pk}/")
    expect(page.get_by_text("There is no file “pic-12.png”")).to_be_visible()
    assert world.stage.items.filter(key__startswith="00").count() == 11
