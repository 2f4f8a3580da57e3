"""Files of answers that are made otherwise than their format has it: a row's problem in words, no error of ours."""

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Campaign
from benchmarks.imports.problems import SourceProblem
from benchmarks.models import Item
from jobs.models import Job
from jobs.services import runner
from predictions.imports import coco
from predictions.imports.samples import FileDescription
from predictions.services.files import answer_import as door
from predictions.services.files.answer_import import ModelInfo
from tests.evaluation.data import an_open_campaign
from tests.personas import World
from tests.predictions.file_helpers import run_job
from tests.predictions.model_file_samples import inspect, jsonl, lm_eval, sample, store_file
from tests.predictions.test_answers_page import URL, token
from tests.predictions.test_coco_files import BOX

HUGE = 10**400
DEEP: Any = "3"
for _n in range(300):
    DEEP = [DEEP, "x"]


def open_campaign(world: World, *, boxes: bool) -> Campaign:
    if boxes:
        stage = world.stage
        stage.sheet, stage.has_target, stage.own_items_only = {"fields": [BOX]}, True, True
        stage.save()
    world.add_items(2, images=boxes)
    Item.objects.update(origin="Egypt")
    return an_open_campaign(world)


def import_file(world: World, campaign: Campaign, data: bytes, **more: Any) -> Job:
    """Through the page: looked at, then begun with, and done."""
    client, upload = world.client(world.mara), SimpleUploadedFile("answers", data)
    where = URL.format(world.benchmark.slug)
    page = client.post(where, {"campaign": campaign.pk, "file": upload, **more})
    assert page.status_code == 200
    fields = {"sent": token(page.content.decode()), "do": "begin", "model": "tiny", "key": "doc.id", "target": "=Egypt"}
    assert client.post(where, fields).status_code == 302
    job = Job.objects.latest("pk")
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    return job


def first_and_last(job: Job) -> set[str]:
    """What became of the fine rows that stand round the odd ones."""
    rows = list(job.rows.order_by("number"))
    assert all(row.message and "Internal error" not in row.message for row in rows if row.outcome == "error")
    return {rows[0].outcome, rows[-1].outcome}


def test_odd_detections(world: World) -> None:
    campaign = open_campaign(world, boxes=True)
    one, two = (item.key for item in world.items)
    fine = [{"image_id": key, "category_id": 1, "bbox": [1, 2, 30, 40], "score": 0.5} for key in (one, two)]
    odd: list[Any] = [
        {**fine[0], "image_id": f"odd {n}", **change}
        for n, change in enumerate((
            {"bbox": [HUGE, 1, 1, 1]}, {"score": HUGE}, {"bbox": {"x": 1}}, {"bbox": "1,2,3,4"}, {"score": "0.5"},
            {"bbox": [1e308, 1, 1e308, 1]}, {"category_id": [DEEP]}, {"image_id": {"a": 1}}, {"image_id": "nul\0"},
            {"image_id": HUGE}, {"image_id": "\ud800"},
        ))
    ]  # fmt: skip
    job = import_file(world, campaign, json.dumps([fine[0], *odd, fine[1]]).encode())
    assert first_and_last(job) == {"created"} and job.rows.filter(outcome="error").count() == len(odd)


@pytest.mark.parametrize(
    "choices", [{"a": 1}, [{"message": [1]}], [{"message": "x"}], "abc", [[]], 7, [{"message": None}]]
)
def test_odd_logs_of_inspect(world: World, choices: Any) -> None:
    campaign = open_campaign(world, boxes=False)
    key, two = (item.key for item in world.items)
    odd = {**sample("x", "4"), "output": {"choices": choices}}
    more = [
        {**odd, "id": key},
        {**odd, "id": HUGE},
        {**odd, "id": "nul\0"},
        {**odd, "id": [1]},
        {**odd, "id": "\ud800"},
    ]
    more += [{**sample(key, "4"), "scores": [1]}, {**sample(key, "4"), "metadata": "x"}, {**odd, "output": 5}]
    first, last = sample(key, "4", metadata={"country": "Egypt"}), sample(two, "4")
    assert first_and_last(import_file(world, campaign, inspect([first, *more, last]))) == {"created"}


def test_odd_logs_of_lm_eval(world: World) -> None:
    campaign = open_campaign(world, boxes=False)
    first, second = ({"id": item.key, "country": "Egypt"} for item in world.items)
    replies: list[Any] = [
        [[HUGE, "False"], [1, "True"]], DEEP, HUGE, {"a": HUGE}, [[]], [[None, None]], "nul\0", "\ud800", [[["x"]]],
        [float("nan")], "1e999", "nan", "²",
    ]  # fmt: skip
    rows = [lm_eval(first, "4", number=0)]
    rows += [{**lm_eval(first, "", number=n), "resps": odd, "filtered_resps": odd} for n, odd in enumerate(replies, 1)]
    rows += [lm_eval({"id": name}, "4") for name in (HUGE, "nul\0", "\ud800", [1])] + [lm_eval(second, "4")]
    assert first_and_last(import_file(world, campaign, jsonl(rows))) == {"created"}


def test_odd_rows_of_a_table(world: World) -> None:
    campaign = open_campaign(world, boxes=False)
    odd: list[Any] = [HUGE, [HUGE], {"a": DEEP}, "nul\0", "\ud800", 1.5, None, True]
    rows = [{"item": world.items[0].key, "cohort": "Egypt", "rater": "tiny", "answers": {"relevance": "4"}}]
    rows += [{**rows[0], "answers": {"relevance": one}} for one in odd] + [{**rows[0], "answers": one} for one in odd]
    rows += [{**rows[0], "cohort": one} for one in odd]
    rows += [{**rows[0], "item": one} for one in odd] + [{**rows[0], "setting": one} for one in odd]
    rows += [{**rows[0], "item": world.items[1].key}]
    assert first_and_last(import_file(world, campaign, jsonl(rows))) == {"created"}


@pytest.mark.parametrize("width", [HUGE, float("inf"), float("nan"), -1, "wide", [1]])
def test_a_release_with_an_odd_size_is_refused_in_words(world: World, width: Any) -> None:
    campaign = open_campaign(world, boxes=True)
    release = {"images": [{"id": 1, "file_name": "a", "width": width, "height": 2}], "categories": []}
    rows = [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}]
    files = {"file": SimpleUploadedFile("a", json.dumps(rows).encode()),
             "names": SimpleUploadedFile("b", json.dumps(release).encode())}  # fmt: skip
    page = world.client(world.mara).post(URL.format(world.benchmark.slug), {"campaign": campaign.pk, **files})
    assert page.status_code == 400 and "no size" in page.content.decode()


def test_a_release_that_is_too_large_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.dumps({"images": [{"id": n, "file_name": "\ud800"} for n in range(9)], "categories": []}).encode()
    assert len(coco.load_summary(io.BytesIO(coco.summarise_release(io.BytesIO(data), len(data)))).images) == 9
    monkeypatch.setattr(coco, "MOST_THINGS", 8)
    with pytest.raises(SourceProblem, match="too large to be looked at"):
        coco.summarise_release(io.BytesIO(data), len(data))
    with pytest.raises(SourceProblem, match="at most 100 MB"):
        coco.summarise_release(io.BytesIO(b""), coco.MOST_BYTES + 1)


def test_what_was_only_looked_at_is_forgotten_after_a_day(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = open_campaign(world, boxes=False)
    rows = [lm_eval({"id": item.key, "country": "Egypt"}, "4") for item in world.items]
    monkeypatch.setattr(door, "KEPT", timedelta(days=-1))  # whatever there is is old
    left, begun = store_file(jsonl(rows[:1])), store_file(jsonl(rows))
    assert not default_storage.exists(left.name), "another file came"
    told = FileDescription(key="doc.id", field="relevance", target="doc.country")
    job = door.start(campaign, world.mara, begun, told, ModelInfo("tiny", "", {}), title="log")
    monkeypatch.setattr(door, "KEPT", timedelta(hours=25))
    young = store_file(jsonl(rows[1:]))
    monkeypatch.setattr(door, "KEPT", timedelta(days=-1))
    store_file(jsonl(rows[:1]))
    assert job is not None and run_job(job).state == "done", "what an import reads stays for it"
    assert not default_storage.exists(begun.name) and not default_storage.exists(young.name)
