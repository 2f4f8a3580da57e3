"""Tables with columns of their own, as a lab has them: uploaded on the import page, matched, and imported.

tests/data/tables/ holds one table in six forms: 36 rows of three raters on 12 items.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.base import ContentFile
from django.http import HttpResponse

from benchmarks.imports.manifest import has_known_columns
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.tables import table
from benchmarks.models import Stage
from jobs.models import Job
from jobs.services import runner
from tests.archives import pack_zip
from tests.importing import draw_pictures, page_of
from tests.personas import World

TABLES = Path(__file__).parents[1] / "data" / "tables"
PICTURES = [f"pic-{number:02}.png" for number in range(1, 13)]
ASKED = {"semicolon-cp1252.csv": "&encoding=cp1252"}
pytestmark = pytest.mark.django_db


def rows_of(name: str = "comma-utf8.csv") -> list[dict[str, str]]:
    with (TABLES / name).open("rb") as file:
        return [row for _number, row in table.read_table(file, table.look(file).format) if isinstance(row, dict)]


def test_rows_are_numbered_as_a_spreadsheet_numbers_them() -> None:
    file = io.BytesIO(b"key,concept\n\nx,tea\n,\n\ny,bread\n")
    numbers = [(number, row["key"]) for number, row in table.read_table(file, table.look(file).format)]
    assert numbers == [(3, "x"), (6, "y")], "an empty row counts, for the report names rows of the file"


def as_workbook(rows: list[dict[str, str]], sheets: int = 1) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append([f" {value}"[1:] for value in row.values()])
        for cell in sheet[sheet.max_row]:
            cell.data_type = "s"  # as typed, "=1+1" is text in this table
    for number in range(1, sheets):
        book.create_sheet(f"Notes {number}")
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def as_parquet(rows: list[dict[str, str]]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


@pytest.fixture
def stage(world: World, settings: Any, tmp_path: Path) -> Stage:
    settings.MEDIA_ROOT = tmp_path
    return world.stage


def post_table(world: World, stage: Stage, data: bytes, name: str, pictures: list[str] | None = None) -> Any:
    archive = ContentFile(pack_zip(draw_pictures(PICTURES if pictures is None else pictures)), "pictures.zip")
    posted = {"stage": stage.pk, "archive": archive, "manifest": ContentFile(data, name)}
    return world.client(world.mara).post(page_of(stage), posted)


def proposals(page: HttpResponse) -> dict[str, str]:
    form = page.context["form"]  # type: ignore[attr-defined]
    return {column.name: column.control.initial for column in form.columns()}


def import_by_mapping(world: World, address: str, **changed: str) -> Job:
    client = world.client(world.mara)
    form = client.get(address).context["form"]
    choices = {column.name: column.control.initial for column in form.columns()} | changed
    reply = client.post(address, {f"column_{place}": role for place, role in enumerate(choices.values())})
    assert reply.status_code == 302, reply.content.decode()
    job = Job.objects.latest("pk")
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    return job


@pytest.mark.parametrize("name", sorted(path.name for path in TABLES.iterdir()))
def test_one_table_in_six_forms_gives_the_same_twelve_items(world: World, stage: Stage, name: str) -> None:
    reply = post_table(world, stage, (TABLES / name).read_bytes(), name)
    assert reply.status_code == 302 and "/import/table/" in reply["Location"]
    address = reply["Location"] + ASKED.get(name, "")
    assert proposals(world.client(world.mara).get(address)) == {
        "img_file": "file", "Image ID": "key", "Caption (EN)": "text", "País": "origin", "WTF?!": "",
        "annotator": "rater", "relevance": "answer", "labels": "answer",
    }  # fmt: skip
    assert stage.items.count() == 0, "nothing is imported before the button is pressed"
    job = import_by_mapping(world, address)
    assert job.result["counts"] == {"created": 12}
    items = {item.key: item for item in stage.items.prefetch_related("images")}
    assert sorted(items) == [f"{number:04}" for number in range(1, 13)], "zeros stay"
    assert (items["0001"].text, items["0001"].origin) == ("two\nlines", "Côte d\u2019Ivoire")
    assert items["0002"].text == "=1+1" and "annotator" not in items["0001"].context
    assert items["0001"].images.get().file_name == "pic-01.png"


def test_an_encoding_that_the_file_does_not_say_is_asked_with_lines_to_choose_by(world: World, stage: Stage) -> None:
    reply = post_table(world, stage, (TABLES / "semicolon-cp1252.csv").read_bytes(), "table.csv")
    page = world.client(world.mara).get(reply["Location"])
    assert list(page.context["choices"])[:2] == ["cp1252", "cp1250"]
    assert "España" in page.content.decode() and "Espańa" in page.content.decode()


@pytest.mark.parametrize("kind", ["xlsx", "parquet", "json"])
def test_workbooks_parquet_and_json_lists_give_the_same_items(world: World, stage: Stage, kind: str) -> None:
    rows = rows_of()
    data = {"xlsx": as_workbook, "parquet": as_parquet, "json": lambda rows: json.dumps(rows).encode()}[kind](rows)
    reply = post_table(world, stage, data, f"table.{kind}")
    job = import_by_mapping(world, reply["Location"])
    assert job.result["counts"] == {"created": 12}
    assert stage.items.get(key="0002").text == "=1+1" and stage.items.get(key="0001").text == "two\nlines"


def test_which_sheet_of_a_workbook_is_asked(world: World, stage: Stage) -> None:
    reply = post_table(world, stage, as_workbook(rows_of(), sheets=3), "table.xlsx")
    page = world.client(world.mara).get(reply["Location"])
    assert list(page.context["choices"]) == ["Sheet", "Notes 1", "Notes 2"]
    assert import_by_mapping(world, f"{reply['Location']}&sheet=Sheet").result["counts"] == {"created": 12}


def test_rows_that_cannot_be_taken_are_named_and_the_rest_is(world: World, stage: Stage) -> None:
    lines = (TABLES / "semicolon-utf8-bom.csv").read_bytes().split(b"\r\n")
    table_lines = [line for line in lines if line]
    head, *body = table_lines
    body.append(b"pic-99.png;0013;lost;Brasil;;ann1;1;food")
    body.append(b"pic-01.png;0014;bad \xff byte;Brasil;;ann1;1;food")
    body.append(b"pic-01.png;0015;too;many;cells;in;this;row;here")
    reply = post_table(world, stage, b"\r\n".join([head, *body]), "table.csv")
    # The bad byte: the file no longer is UTF-8 as a whole, but its mark says that it should be.
    job = import_by_mapping(world, reply["Location"])
    assert job.result["counts"] == {"created": 12, "error": 3}
    wrong = {row.reason: row for row in job.rows.filter(outcome="error")}
    assert set(wrong) == {"missing", "encoding", "too_many_cells"}
    assert "pic-99.png" in wrong["missing"].message and "column 3" in wrong["encoding"].message
    assert wrong["missing"].number == 38, "as a spreadsheet counts: the head is row 1"


def test_the_mapping_is_offered_again_to_a_table_with_the_same_columns(world: World, stage: Stage) -> None:
    data = (TABLES / "comma-utf8.csv").read_bytes()
    reply = post_table(world, stage, data, "table.csv")
    import_by_mapping(world, reply["Location"], **{"WTF?!": "-", "País": "concept"})
    again = post_table(world, stage, data.replace(b"Brasil", b"Brazil"), "later.csv")
    page = world.client(world.mara).get(again["Location"])
    assert proposals(page)["País"] == "concept" and proposals(page)["WTF?!"] == "-"
    assert "imported before" in page.content.decode()
    assert import_by_mapping(world, again["Location"]).result["counts"].get("created") is None


def test_the_page_lists_the_values_that_mean_missing_and_they_can_be_changed(world: World, stage: Stage) -> None:
    data = b"img_file,Image ID,what\npic-01.png,a,NA\npic-02.png,b,-99\n"
    reply = post_table(world, stage, data, "table.csv")
    client = world.client(world.mara)
    assert "N/A, NA, None, nan, null" in client.get(reply["Location"]).content.decode()
    posted = {"column_0": "file", "column_1": "key", "column_2": "concept", "missing": "-99, ?"}
    assert client.post(reply["Location"], {**posted, "missing": ",".join("x" * 60)}).status_code == 400
    assert client.post(reply["Location"], posted).status_code == 302
    runner.run(Job.objects.latest("pk").pk)
    assert {item.key: item.concept for item in stage.items.all()} == {"a": "NA", "b": ""}
    again = client.get(post_table(world, stage, data, "table.csv")["Location"])
    assert 'value="-99, ?"' in again.content.decode(), "it is offered again"


def test_what_means_missing_elsewhere_is_kept_where_it_is_an_item_s_text(world: World, stage: Stage) -> None:
    data = b"img_file,Image ID,caption,what\npic-01.png,a,None,None\npic-02.png,b,NA,tea\n"
    address = post_table(world, stage, data, "table.csv")["Location"]
    posted = {"column_0": "file", "column_1": "key", "column_2": "text", "column_3": "concept"}
    assert world.client(world.mara).post(address, posted).status_code == 302
    runner.run(Job.objects.latest("pk").pk)
    assert {item.key: (item.text, item.concept) for item in stage.items.all()} == {
        "a": ("None", ""),
        "b": ("NA", "tea"),
    }


def test_namibia_among_codes_of_countries_is_not_taken_for_a_missing_value(world: World, stage: Stage) -> None:
    data = b"img_file,Image ID,iso\npic-01.png,a,EG\npic-02.png,b,NA\npic-03.png,c,\n"
    posted = {"column_0": "file", "column_1": "key", "column_2": "country"}
    client = world.client(world.mara)
    assert client.post(post_table(world, stage, data, "table.csv")["Location"], posted).status_code == 302
    job = Job.objects.latest("pk")
    runner.run(job.pk)
    assert dict(stage.items.values_list("key", "origin")) == {"a": "Egypt", "c": ""}
    refused = job.rows.get(outcome="error")
    assert (refused.number, refused.reason) == (3, "ambiguous_country") and "Namibia" in refused.message
    named = {**posted, "missing": "N/A, null"}
    assert client.post(post_table(world, stage, data, "table.csv")["Location"], named).status_code == 302
    runner.run(Job.objects.latest("pk").pk)
    assert stage.items.get(key="b").origin == "Namibia"
    words = b"img_file,Image ID,iso\npic-04.png,d,Egypt\npic-05.png,e,NA\n"
    assert client.post(post_table(world, stage, words, "table.csv")["Location"], posted).status_code == 302
    runner.run(Job.objects.latest("pk").pk)
    assert stage.items.get(key="e").origin == "", "among names of countries it is no country"


def test_a_choice_that_makes_no_item_is_refused_with_a_reason(world: World, stage: Stage) -> None:
    reply = post_table(world, stage, (TABLES / "comma-utf8.csv").read_bytes(), "table.csv")
    client = world.client(world.mara)
    nothing = client.post(reply["Location"], {})
    assert nothing.status_code == 400 and "Say which column is the picture" in nothing.content.decode()
    twice = client.post(reply["Location"], {"column_0": "file", "column_1": "key", "column_2": "key"})
    assert twice.status_code == 400 and "Another column is this already" in twice.content.decode()
    assert not Job.objects.exists()


def test_only_those_who_import_see_the_page_and_a_signed_file_is_of_one_benchmark(world: World, stage: Stage) -> None:
    reply = post_table(world, stage, (TABLES / "comma-utf8.csv").read_bytes(), "table.csv")
    for user in (world.stranger, world.rival, world.nour, world.reviewer):
        assert world.client(user).get(reply["Location"]).status_code == 404, user
    elsewhere = reply["Location"].replace(world.benchmark.slug, world.other_benchmark.slug)
    assert world.client(world.rival).get(elsewhere).status_code == 404
    client = world.client(world.mara)
    for address in (reply["Location"] + "x", reply["Location"].partition("?")[0]):
        assert client.get(address)["Location"] == page_of(stage)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, ".xls"),
        (pack_zip({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": b"<a/>"}), ".ods"),
        (pack_zip({"a.png": b"x"}), "holds no table"),
        (as_workbook([{"a": "1"}])[:-40], "damaged"),
        (as_parquet([{"a": "1"}])[:-10], "damaged"),
        (b'[{"a": 1},', "line 1"),
        (b"", "empty"),
    ],
    ids=["xls", "ods", "zip", "workbook-cut", "parquet-cut", "json-cut", "empty"],
)
def test_a_file_that_is_no_table_is_refused_with_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(SourceProblem, match=sentence):
        table.look(io.BytesIO(data))


def test_a_workbook_that_unpacks_too_large_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<a/>")
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (201 * 1024**2))
    with pytest.raises(SourceProblem, match="200 MB"):
        table.look(bomb)


def test_a_row_with_a_stray_quotation_mark_ends_no_table() -> None:
    file = io.BytesIO(b'key;text\n1;ok\n2;"never closed ' + b"x" * 140_000 + b"\n3;ok\n")
    found = list(table.read_table(file, table.TableFormat("csv", "utf-8", ";")))
    assert found[0] == (2, {"key": "1", "text": "ok"})
    assert any(isinstance(row, RowProblem) for _number, row in found)


@pytest.mark.parametrize("name", ["note", "file"])
def test_a_first_line_that_cannot_be_read_is_refused_with_a_sentence(world: World, stage: Stage, name: str) -> None:
    reply = post_table(world, stage, f"{name},{'x' * 140_000}\na,b\n".encode(), "table.csv")
    assert reply.status_code == 302
    page = world.client(world.mara).get(reply["Location"], follow=True).content.decode()
    assert "This row cannot be read. Look for a stray quotation mark." in page


def test_columns_are_known_whatever_ends_the_first_line(world: World, stage: Stage) -> None:
    for end in ("\n", "\r\n", "\r"):
        assert has_known_columns(io.BytesIO(end.join(["file,key", "a.jpg,a", ""]).encode())), repr(end)
