"""The steps that all workflows share, each through the door that people use."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Assignment, Campaign, Rating
from annotation.services.campaigns import lifecycle
from benchmarks.models import Benchmark, ItemFact, Stage
from benchmarks.services.benchmarks import create_from_recipe
from benchmarks.services.intake.judging import judge_items, lock_stage
from jobs.models import Job
from jobs.services import runner
from people.models import Cohort, User
from tests.archives import pack_zip
from tests.browser.conftest import until_sent, until_sheet_ready
from tests.personas import World


def create_benchmark(world: World, recipe: str) -> Benchmark:
    return create_from_recipe(world.team, recipe, recipe, f"w-{recipe}", world.mara)


def speaks_arabic(world: World) -> User:
    """One more of Brazil, whose pages stand right to left."""
    person = world.add_annotators(world.brazil, 1)[0]
    person.language = "ar"
    person.save(update_fields=["language"])
    return person


def import_items(
    page: Page,
    stage: Stage,
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    pictures: Mapping[str, bytes] | None = None,
) -> None:
    """Upload on the import page, let a worker do it, and see that every row was taken."""
    page.goto(f"/b/{stage.benchmark.slug}/import/?stage={stage.key}")
    if pictures:
        archive = folder / "pictures.zip"
        archive.write_bytes(pack_zip(dict(pictures)))
        page.get_by_label("Pictures, as a zip").set_input_files(archive)
    listed = folder / "manifest.jsonl"
    listed.write_text("\n".join(json.dumps(dict(row), ensure_ascii=False) for row in rows), "utf-8")
    page.get_by_label("Manifest").set_input_files(listed)
    page.get_by_role("button", name="Import").click()
    finish_job(page)


def finish_job(page: Page) -> None:
    """The job that the page is about: a worker does it, and every row was taken."""
    expect(page).to_have_url(re.compile("/jobs/"))
    job = Job.objects.latest("pk")
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    assert not job.rows.filter(outcome="error").exists(), list(job.rows.values_list("number", "message"))


def create_open_campaign(stage: Stage, actor: User, cohorts: Mapping[Cohort, int], **how: Any) -> Campaign:
    campaign = lifecycle.create(stage, stage.name, actor, cohorts, seed=7, **how)
    lifecycle.open_campaign(campaign, actor, timezone.now())
    return campaign


def count_objects(stage: Stage, objects: int) -> None:
    """What a detector finds in pictures that it has not seen, and what the filters of the stage say of it."""
    items = list(stage.items.filter(facts__isnull=True))
    for item in items:
        ItemFact.objects.create(item=item, key="objects", value=objects, source="detector")
    with transaction.atomic():
        judge_items(lock_stage(stage), [item.pk for item in items])


def sheet(page: Page, campaign: Campaign) -> int:
    """Go to the sheet; says which assignment is before the person."""
    page.goto(f"/work/{campaign.pk}/")
    until_sheet_ready(page)
    return current_assignment_id(page)


def current_assignment_id(page: Page) -> int:
    work_area = page.locator("#bench[data-assignment]")
    expect(work_area).to_be_visible()
    return int(work_area.get_attribute("data-assignment") or 0)


def drafted(page: Page, assignment: int) -> None:
    """Wait until the server has the draft, and load the page anew."""
    for _time in range(200):
        draft = Assignment.objects.select_related("draft").filter(pk=assignment, draft__isnull=False).first()
        if draft is not None and not page.evaluate("document.querySelector('#bench').classList.contains('sends')"):
            break
        page.wait_for_timeout(50)
    else:
        raise AssertionError("no draft arrived")
    page.reload()
    assert current_assignment_id(page) == assignment


def submit(page: Page) -> None:
    """Press Submit, and wait for what comes next."""
    before = page.locator("#bench").get_attribute("data-assignment")
    page.locator(".acts .go").click()
    expect(page.locator(f'#bench[data-assignment="{before}"]')).to_have_count(0)
    until_sent(page)


def export_zip(world: World, stage: Stage, form: str = "jsonl") -> bytes:
    """The zip that a researcher downloads."""
    reply = world.client(world.mara).post(f"/b/{stage.benchmark.slug}/export/", {"stage": stage.pk, "form": form})
    assert reply.status_code == 200
    return b"".join(reply.streaming_content)  # type: ignore[attr-defined]


def rows_of(archive: bytes, name: str) -> list[dict[str, Any]]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened_:
        inside = next(one for one in opened_.namelist() if one.endswith(name))
        text = opened_.read(inside).decode("utf-8-sig")
    if name.endswith(".csv"):
        return list(csv.DictReader(io.StringIO(text)))
    return [json.loads(line) for line in text.splitlines()]


def ratings(campaign: Campaign) -> list[tuple[str, str, str, float | None]]:
    """What counts: item, field, code, value; whoever gave it."""
    rows = Rating.objects.filter(campaign=campaign, live=True, counted=True)
    return sorted(rows.values_list("unit__item__key", "field", "code", "value"), key=str)


def answers(campaign: Campaign) -> list[tuple[Any, ...]]:
    """What stands, with all that has no code: boxes, texts, groups; and what was opened on the way."""
    rows = Annotation.objects.filter(assignment__campaign=campaign, live=True)
    told = ("assignment__unit__item__key", "assignment__unit__target", "cohort__label", "counted", "confirmed")
    return sorted(rows.values_list(*told, "answers", "trace__opened"), key=str)


def import_back(page: Page, campaign: Campaign, archive: bytes) -> Campaign:
    """By the file door into an empty campaign of the same stage; a researcher's window. Nothing is missing there."""
    stage, actor = campaign.stage, campaign.created_by
    assert actor is not None and answers(campaign), "there is nothing to compare"
    asked = {one.cohort: one.target_answers for one in campaign.cohorts.select_related("cohort")}
    again = create_open_campaign(stage, actor, asked)
    page.goto(f"/b/{stage.benchmark.slug}/campaigns/{again.pk}/answers/import/")
    page.get_by_label("File of answers").set_input_files(
        {"name": "export.zip", "mimeType": "application/zip", "buffer": archive}
    )
    page.get_by_role("button", name="Import").click()
    finish_job(page)
    assert ratings(again) == ratings(campaign)
    assert answers(again) == answers(campaign)
    return again
