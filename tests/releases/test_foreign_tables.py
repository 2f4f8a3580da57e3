"""A table of a lab comes in with its items and its answers, in whichever form it is saved."""

import json
from collections import Counter
from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from annotation.models import Rating
from benchmarks.models import Item
from jobs.models import JobRow
from releases.foreign.contract import ForeignMapping
from releases.foreign.registry import recognise
from tests.importing import draw_pictures
from tests.personas import World
from tests.releases.foreign_samples import as_files
from tests.releases.test_foreign_import import ForeignImporter, outcomes, pack

TABLES = Path(__file__).parents[1] / "data" / "tables"
NAMES = sorted(path.name for path in TABLES.iterdir())
CP1252 = "semicolon-cp1252.csv"
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def pictures() -> bytes:
    return pack(draw_pictures([f"pic-{number:02}.png" for number in range(1, 13)]))


def mapping_for(name: str) -> ForeignMapping:
    return ForeignMapping(encoding="cp1252" if name == CP1252 else "")


@pytest.mark.parametrize("name", NAMES)
def test_one_table_in_six_forms_gives_twelve_items_and_35_ratings(world: World, name: str, pictures: bytes) -> None:
    uploads = [(name, (TABLES / name).read_bytes())]
    assert [reader.key for reader in recognise(as_files(uploads))] == ["table"]
    importer = ForeignImporter(world, uploads, mapping_for(name))
    kinds = {field["key"]: (field["kind"], field["config"].get("many")) for field in importer.stage.sheet["fields"]}
    assert kinds == {"relevance": ("rating", None), "labels": ("choice", True)}
    job = importer.run(uploads, pictures)
    assert (job.state, job.result["counts"]) == ("done", {"created": 12 + 36}), job.error
    item = Item.objects.get(stage=importer.stage, key="0001")
    assert (item.text, item.origin) == ("two\nlines", "Côte d\u2019Ivoire")
    assert importer.live().count() == 36
    ratings = Rating.objects.filter(campaign=importer.campaign, live=True)
    assert Counter(ratings.values_list("field", flat=True))["relevance"] == 35
    answer = importer.live().get(rater__name="table:ann1", assignment__unit__item__key="0001")
    assert answer.answers == {"relevance": "2", "labels": ["food", "ritual"]}


def test_a_table_that_does_not_say_its_encoding_is_asked_and_nothing_is_guessed(world: World) -> None:
    data, client = (TABLES / CP1252).read_bytes(), world.client(world.mara)
    page = f"/b/{world.benchmark.slug}/import/other-tool/"
    address = client.post(page, {"exports": ContentFile(data, "table.csv")})["Location"]
    text = client.get(address).content.decode()
    assert "does not say how its letters are stored" in text and "cp1252: img_file;Image ID;Caption (EN);País" in text
    chosen = client.post(address, {"do": "look", "tool": "table", "encoding": "cp1252"}).content.decode()
    assert "does not say how its letters are stored, and" not in chosen and "Côte d’Ivoire" in chosen
    assert '<option value="key" selected>' in chosen and "Another question" not in chosen, "what it is, is proposed"
    uploads = [(CP1252, data)]
    importer = ForeignImporter(world, uploads, mapping_for(CP1252))
    assert outcomes(importer.run(uploads, encoding="")) == {("error", "encoding"): 1}


def test_a_row_for_each_question_makes_one_answer(world: World) -> None:
    rows = [{"item": key, "text": f"What is {key}?", "annotator": rater, "field": field, "code": code}
            for key in ("tea", "bread") for rater in ("ann1", "ann2")
            for field, code in (("kind", "food"), ("relevance", "3"))]  # fmt: skip
    uploads = [("long.jsonl", "\n".join(map(json.dumps, rows)).encode())]
    importer = ForeignImporter(world, uploads)
    assert [field["key"] for field in importer.stage.sheet["fields"]] == ["kind", "relevance"]
    importer.run(uploads)
    assert importer.live().count() == 4
    assert {tuple(answer.answers) for answer in importer.live()} == {("kind", "relevance")}


def test_missing_values_are_no_answers(world: World) -> None:
    table = "key,text,annotator,rating\n" + "".join(
        f"k{number},a text about number {number},ann1,{value}\n"
        for number, value in enumerate(("1", "2", "1", "2", "N/A", "", "nan", "null", "None", "NA"))
    )
    importer = ForeignImporter(world, [("t.csv", table.encode())])
    job = importer.run([("t.csv", table.encode())])
    assert job.result["counts"] == {"created": 10 + 4}


def test_every_row_that_gives_no_answer_is_in_the_report_with_its_number_and_the_reason(world: World) -> None:
    rows = [f"k{number},a text about number {number},{rater},{number % 3 + 1},c{number % 2}"
            for number in range(12) for rater in ("ann1", "ann2")]  # fmt: skip
    bad = ["k1,a text about number 1", "k2,a text about number 2,,3,c1", ",a text without key,ann1,2,c1",
           "k3,a text about number 3,ann3,,", "k4,a text about number 4,ann3,1,c1,more"]  # fmt: skip
    head = "key,text,annotator,rating,label"
    uploads = [("t.csv", "\n".join([head, *rows[:8], *bad, *rows[8:]]).encode())]
    importer = ForeignImporter(world, uploads)
    job = importer.run(uploads)
    refused = JobRow.objects.filter(job=job, outcome="error").order_by("number")
    assert [(row.name.split(":")[0], row.reason) for row in refused] == [
        ("t.csv, row 10", "too_few_cells"), ("t.csv, row 11", "no_rater"), ("t.csv, row 12", "no_key"),
        ("t.csv, row 13", "no_answer"), ("t.csv, row 14", "too_many_cells"),
    ]  # fmt: skip
    assert all(row.message for row in refused)
    assert (job.state, job.result["counts"]) == ("done", {"created": 12 + 24, "error": 5})


def test_a_table_with_a_row_for_each_question_reports_rows_without_key_and_repeated_ones(world: World) -> None:
    rows = [
        f"{key},ann1,{field},{code}" for key in ("tea", "bread") for field, code in (("kind", "food"), ("fit", "3"))
    ]
    bad = [",ann1,kind,food", "tea,ann1,kind,drink", "tea,ann1"]
    uploads = [("long.csv", "\n".join(["item,annotator,field,code", *rows, *bad, "milk,ann1,kind,drink"]).encode())]
    importer = ForeignImporter(world, uploads, ForeignMapping(key="item"))
    job = importer.run(uploads)
    refused = JobRow.objects.filter(job=job, outcome="error").order_by("name")
    assert [(row.name, row.reason) for row in refused] == [
        ("long.csv, row 6", "no_key"), ("long.csv, row 7", "repeated"), ("long.csv, row 8", "too_few_cells")
    ]  # fmt: skip
    assert job.result["counts"] == {"created": 3 + 3, "error": 3}
