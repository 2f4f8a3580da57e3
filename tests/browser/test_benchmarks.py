"""Researchers' pages in a real browser: an import is followed without reloading, every page stands at every width."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.services.campaigns import lifecycle
from benchmarks.services.benchmarks import create_from_recipe
from jobs.models import Job
from jobs.services import runner
from tests.archives import faulty_archive
from tests.browser.conftest import PHONE, attach, axe_violations, drawings
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]


@pytest.fixture(autouse=True)
def own_storage(live_server: Any, settings: Any, tmp_path: Path) -> None:
    backend = "django.core.files.storage.FileSystemStorage"
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": backend, "OPTIONS": {"location": tmp_path}}}


def check_layout(page: Page) -> None:
    """Nothing sticks out sideways, and pictures are there."""
    page.evaluate("for (const image of document.images) image.loading = 'eager'")
    for image in page.locator("img").all():
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("image => image.naturalWidth > 0")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
    found = axe_violations(page)
    assert not found, [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]


def test_an_import_is_followed_to_its_end(open_as: OpenAs, world: World, shot: Shot, tmp_path: Path) -> None:
    create_from_recipe(world.team, "caire-universal", "Ten countries", "ten", world.mara)
    archive = tmp_path / "pictures.zip"
    archive.write_bytes(faulty_archive())
    page = open_as(world.mara)
    page.goto("/b/ten/import/?stage=relevance")
    shot(page, "import-desktop", full_page=True)
    check_layout(page)
    page.get_by_label("Pictures, as a zip").set_input_files(archive)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("Starts when a worker is free.")).to_be_visible()
    job = Job.objects.get()
    Job.objects.update(state="running", total=10, done=4, result={"counts": {"created": 3, "error": 1}})
    expect(page.get_by_text("4 of 10 rows")).to_be_visible()
    shot(page, "job-running-desktop", full_page=True)
    check_layout(page)
    Job.objects.update(state="queued", total=None, done=0, result={})
    runner.run(job.pk)
    expect(page.get_by_role("link", name="View items")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="bomb.png")).to_contain_text("pixels")
    name = page.get_by_role("rowheader", name="nowhere.png")
    share = "cell => cell.offsetWidth / cell.closest('table').offsetWidth"
    assert name.evaluate(share) > 0.25, "names of files have room"
    shot(page, "job-report-desktop", full_page=True)
    check_layout(page)
    phone = open_as(world.mara, **PHONE)
    phone.goto(f"/jobs/{job.pk}/")
    shot(phone, "job-report-phone", full_page=True)
    check_layout(phone)


@pytest.mark.parametrize("how", ["desktop", "phone", "arabic"])
def test_every_page_stands(open_as: OpenAs, world: World, shot: Shot, how: str) -> None:
    ours = create_from_recipe(world.team, "caire-universal", "Ten countries", "ten", world.owner)
    stage = ours.stages.get(key="relevance")
    for number, picture in enumerate(drawings(8)):
        concept = ("dance", "drinks", "farming")[number % 3]
        attach(stage.items.create(key=f"{number}", concept=concept, origin="Egypt", condition="natural"), picture)
    campaign = lifecycle.create(stage, "Autumn", world.owner, {world.egypt: 2})
    lifecycle.open_campaign(campaign, world.owner, timezone.now())
    if how == "arabic":
        world.owner.language = "ar"
        world.owner.save()
    page = open_as(world.owner, **(PHONE if how == "phone" else {}))
    item = stage.items.first()
    for name in ("benchmarks/", "benchmarks/new/", "b/ten/", "b/ten/items/", f"b/ten/items/{item.pk}/", "b/ten/roles/"):
        page.goto(f"/{name}")
        label = name.strip("/").replace(str(item.pk), "one").replace("/", "-")
        check_layout(page)
        shot(page, f"{label}-{how}", full_page=True)


def test_filters_act_at_once(open_as: OpenAs, world: World) -> None:
    world.add_items(8, images=True)
    page = open_as(world.owner)
    page.goto(f"/b/{world.benchmark.slug}/items/")
    page.get_by_label("Concept").select_option("market")
    expect(page.get_by_text("2 items with what you chose.")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.get_by_text("8 items in the stage")).to_be_visible()


def test_making_a_benchmark_by_hand(open_as: OpenAs, world: World) -> None:
    page = open_as(world.mara)
    page.goto("/benchmarks/")
    page.get_by_role("link", name="Create benchmark").click()
    question = page.get_by_label("First question (optional)")
    expect(question).to_be_hidden()
    page.locator(".opt", has_text="A blank benchmark").click()
    expect(page.get_by_role("radio", name="A blank benchmark")).to_be_checked()
    expect(question).to_be_visible()
    page.get_by_label("Name", exact=True).fill("Tea")
    question.fill("Is this tea from {target}?")
    page.get_by_role("button", name="Create benchmark").click()
    expect(page.get_by_role("heading", name="Tea")).to_be_visible()
