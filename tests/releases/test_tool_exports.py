"""Files for other tools hold what our own readers find in them again."""

import io
import json
import xml.etree.ElementTree as ET
import zipfile
from collections import Counter
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from annotation.services.files import withdrawals
from jobs.models import Job
from releases.foreign.boxes import box_fractions
from releases.foreign.contract import ForeignAnswer, ForeignItem
from releases.foreign.registry import reader_for
from releases.writers.registry import WRITERS
from tests.evaluation.data import an_open_campaign
from tests.module_world import built_once
from tests.personas import World
from tests.releases.foreign_samples import LABEL_STUDIO, as_files, needs_peers, records
from tests.releases.test_foreign_import import ForeignImporter, bring

pytestmark = needs_peers


@built_once
def importer(world: World) -> ForeignImporter:
    return bring(world, *LABEL_STUDIO)[0]


def download(world: World, importer: ForeignImporter, tool: str, emails: str = "") -> dict[str, bytes]:
    data: dict[str, Any] = {"stage": importer.stage.pk, "form": tool, "campaign": importer.campaign.pk}
    data |= {"emails": ContentFile(emails.encode(), "emails.csv")} if emails else {}
    reply = world.client(world.mara).post(f"/b/{world.benchmark.slug}/export/tools/", data)
    assert reply.status_code == 200, reply.content
    with zipfile.ZipFile(io.BytesIO(b"".join(reply.streaming_content))) as archive:  # type: ignore[attr-defined]
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def test_a_tool_that_takes_none_of_the_answers_is_refused(world: World) -> None:
    """The stage asks for ratings, and no boxes."""
    world.add_items(2)
    campaign = an_open_campaign(world)
    for tool, expected in (("coco", 400), ("doccano", 200)):
        data = {"stage": campaign.stage_id, "form": tool}
        reply: Any = world.client(world.mara).post(f"/b/{world.benchmark.slug}/export/tools/", data)
        assert reply.status_code == expected, tool
        content = reply.content if expected == 400 else b"".join(reply.streaming_content)
        assert (b"asks no question whose answers this tool takes" in content) == (expected == 400)


def comparable(answers: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in answers.items() if key != "box"}, sort_keys=True)


def stored(importer: ForeignImporter) -> Counter[tuple[str, str]]:
    rows = importer.live().select_related("assignment__unit__item")
    return Counter((row.assignment.unit.item.key, comparable(row.answers)) for row in rows)


def as_stored(answer: ForeignAnswer) -> dict[str, Any]:
    """A single choice comes as a list of one; only tags are several."""
    values = {key: value for key, value in answer.values.items() if key != "box"}
    return {key: value[0] if isinstance(value, list) and key != "tags" else value for key, value in values.items()}


def assert_same_boxes(drawn: list[dict[str, Any]], importer: ForeignImporter) -> None:
    stored_boxes = [box for row in importer.live() for box in row.answers.get("box", ())]
    assert len(drawn) == len(stored_boxes) == 41
    sides = ("x0", "y0", "x1", "y1", "label")
    rows, expected = (sorted([box[side] for side in sides] for box in boxes) for boxes in (drawn, stored_boxes))
    for row, other in zip(rows, expected, strict=True):
        assert row[4] == other[4]
        assert row[:4] == pytest.approx(other[:4], abs=1e-6)


def test_label_studio_output_read_again_gives_the_same_codes_and_boxes(world: World, importer: ForeignImporter) -> None:
    members = download(world, importer, "label_studio")
    files = as_files(list(members.items()))
    assert reader_for(files).key == "label_studio"
    rows = records(files)
    answers = [row for row in rows if isinstance(row, ForeignAnswer)]
    assert Counter((row.item, comparable(as_stored(row))) for row in answers) == stored(importer)
    boxes = [box for row in answers for box in row.values.get("box", ())]
    assert_same_boxes([box_fractions(box, box.size, "refuse") for box in boxes], importer)
    config = ET.fromstring(members["label-config.xml"])
    names = {element.get("name") for element in config.iter()}
    tasks = json.loads(members["tasks.json"])
    used = {result["from_name"] for task in tasks for one in task["annotations"] for result in one["result"]}
    assert used == {"box", "kind", "tags", "relevance", "answer", "place"} and used <= names
    assert all("completed_by" not in one for task in tasks for one in task["annotations"])
    assert all(len(task["data"]["emic_raters"]) == len(task["annotations"]) for task in tasks)


def test_potato_files_have_the_number_of_the_rater(world: World, importer: ForeignImporter) -> None:
    rows = records(as_files(list(download(world, importer, "potato").items())))
    assert Counter(row.rater for row in rows if isinstance(row, ForeignAnswer)) == {"1": 12, "2": 12, "3": 10}


def test_potato_files_are_a_project_that_asks_the_same(world: World, importer: ForeignImporter) -> None:
    members = download(world, importer, "potato")
    scheme = {field.key: field for field in reader_for(as_files(list(members.items())), "potato").sheet(
        as_files([("config.yaml", members["config.yaml"])]))}  # fmt: skip
    assert {key: field.kind for key, field in scheme.items()} == {
        "box": "boxes", "kind": "single", "relevance": "scale", "answer": "words", "tags": "several", "place": "single",
    }  # fmt: skip
    assert [code for code, _label in scheme["kind"].options] == ["food", "clothing", "ritual"]
    items = [json.loads(line) for line in members["items.json"].splitlines()]
    assert len(items) == 12 and all(item["image_url"].startswith("media/") for item in items)
    assert {(item["image_width"], item["image_height"]) for item in items} == {(640, 480), (480, 640)}


def test_accounts_of_label_studio_are_named_only_by_a_table(world: World, importer: ForeignImporter) -> None:
    raters = sorted({row.rater.name for row in importer.live()})
    listed = {task["data"]["key"]: task["data"]["emic_raters"] for task in
              json.loads(download(world, importer, "label_studio")["tasks.json"])}  # fmt: skip
    names = sorted({rater for row in listed.values() for rater in row})
    assert len(names) == len(raters) == 3
    table = "rater,email\n" + "".join(f"{name},{number}@example.org\n" for number, name in enumerate(names[:2]))
    members = download(world, importer, "label_studio", table)
    used = Counter(str(one.get("completed_by")) for task in json.loads(members["tasks.json"])
                   for one in task["annotations"])  # fmt: skip
    assert set(used) == {"{'email': '0@example.org'}", "{'email': '1@example.org'}", "None"}
    data = {"stage": importer.stage.pk, "form": "label_studio", "campaign": importer.campaign.pk}
    for wrong in ("who,email\na,b@example.org\n", "rater,email\nx,nobody\n", "\udcff"):
        file = ContentFile(wrong.encode("utf-8", "surrogateescape"), "emails.csv")
        reply = world.client(world.mara).post(f"/b/{world.benchmark.slug}/export/tools/", {**data, "emails": file})
        assert reply.status_code == 400, wrong


def test_coco_has_a_file_for_each_rater_with_the_same_boxes(world: World, importer: ForeignImporter) -> None:
    members = download(world, importer, "coco")
    assert len(members) == 3
    rows = [row for name, data in members.items() for row in records(as_files([(name, data)]))]
    boxes = [box for row in rows if isinstance(row, ForeignAnswer) for box in row.values["box"]]
    assert_same_boxes([box_fractions(box, box.size, "refuse") for box in boxes], importer)


def test_doccano_and_argilla_output_is_read_again(world: World, importer: ForeignImporter) -> None:
    members = download(world, importer, "doccano")
    kind = [(name.partition("/")[2], data) for name, data in members.items() if name.startswith("kind/")]
    rows = records(as_files(kind))
    assert len([row for row in rows if isinstance(row, ForeignAnswer)]) == 34
    rows = records(as_files(list(download(world, importer, "argilla").items())))
    answers = [row for row in rows if isinstance(row, ForeignAnswer)]
    assert Counter((row.item, comparable(as_stored(row))) for row in answers) == stored(importer)
    assert len([row for row in rows if isinstance(row, ForeignItem)]) == 12


def test_each_tool_says_what_is_lost_before_the_download(world: World, importer: ForeignImporter) -> None:
    html = world.client(world.mara).get(f"/b/{world.benchmark.slug}/export/tools/").content.decode()
    for writer in WRITERS:
        assert str(writer.losses).split(".")[0] in html
    assert html.count("not tried with the tool") == sum(not writer.tried for writer in WRITERS)


def test_withdrawn_answers_and_strangers_get_nothing(world: World, importer: ForeignImporter) -> None:
    withdrawals.withdraw(Job.objects.get(kind="import_foreign"), world.owner, timezone.now())
    assert b'"result"' not in download(world, importer, "label_studio")["tasks.json"]
    for person in (world.stranger, world.annotators[0]):
        assert world.client(person).get(f"/b/{world.benchmark.slug}/export/tools/").status_code == 404
