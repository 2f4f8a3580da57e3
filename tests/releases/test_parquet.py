"""The export as Parquet: the rows of the other formats, with types, and nothing known apart from nothing there."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from annotation.fields.contract import Option, typed_code
from annotation.models import Campaign
from annotation.sheets.sheet import Sheet
from benchmarks.models import Item
from releases.exports.archive_files import _cells
from releases.formats import parquet as writer
from releases.rows.columns import RowColumn
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.test_export import download_files


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1234", world.tarek: "12.5"})
    give_ratings(campaign, world.brazil, world.bia, {natural[0]: "5"}, because="surplus")
    return campaign


def read(files: dict[str, bytes], name: str) -> Any:
    return parquet.read_table(io.BytesIO(files[name]))


def test_it_has_the_rows_of_json_lines_with_types(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "ROWS", 3)  # several groups
    Item.objects.filter(pk=world.items[0].pk).update(concept='=cmd|"/c calc"!A1')
    files = download_files(world.client(world.mara), world, "parquet")
    lines = download_files(world.client(world.mara), world)["ratings.jsonl"].decode().splitlines()
    ratings = read(files, "ratings.parquet")
    types = {field.name: field.type for field in ratings.schema}
    assert (types["annotation"], types["counted"], types["active_seconds"]) == (
        arrow.int64(), arrow.bool_(), arrow.float64(),
    )  # fmt: skip
    assert types["submitted_at"] == arrow.timestamp("us", tz="UTC")
    assert types["answer.relevance"] == arrow.int16(), "its codes are 1 to 5"
    assert types["state"] == arrow.dictionary(arrow.int32(), arrow.string())
    assert ratings.schema.field("active_seconds").metadata[b"unit"] == b"seconds"
    for row, line in zip(ratings.to_pylist(), map(json.loads, lines), strict=True):
        assert row["submitted_at"] == datetime.fromisoformat(line["submitted_at"])
        assert row["answer.relevance"] == int(line["codes"]["relevance"])
        for name, value in line.items():
            if name not in ("submitted_at", "shown_at"):
                stored = row[name]
                assert (json.loads(stored) if isinstance(value, dict | list) else stored) == value, name
    book = json.loads(files["codebook.json"])
    assert book["file"]["rows"] == ratings.num_rows == 8
    assert [column["name"] for column in book["columns"]] == ratings.schema.names[: len(book["columns"])]


def test_a_file_without_rows_has_its_columns(world: World) -> None:
    world.add_items(2)
    an_open_campaign(world)
    ratings = read(download_files(world.client(world.mara), world, "parquet"), "ratings.parquet")
    assert ratings.num_rows == 0 and "answer.relevance" in ratings.schema.names


def test_nothing_known_is_not_nothing_there() -> None:
    from releases.formats.archive import FileSummary

    columns = [
        RowColumn("text", "", "text", ""), RowColumn("number", "", "float8", ""), RowColumn("at", "", "time", ""),
        RowColumn("more", "", "json", ""),
    ]  # fmt: skip
    rows = [
        {"text": "", "number": 0.0, "at": "2026-03-01T12:00:00.000000Z", "more": {}},
        {"text": None, "number": None, "at": None, "more": None},
    ]
    data = b"".join(writer.parquet_blocks(rows, columns, {}, FileSummary()))
    assert parquet.read_table(io.BytesIO(data)).to_pylist() == [
        {"text": "", "number": 0.0, "at": datetime(2026, 3, 1, 12, tzinfo=UTC), "more": "{}"},
        {"text": None, "number": None, "at": None, "more": None},
    ]
    assert data == b"".join(writer.parquet_blocks(rows, columns, {}, FileSummary())), "the same bytes each time"


def test_several_codes_are_a_list() -> None:
    from releases.formats.archive import FileSummary

    rows = [{"cells": {"seen": "food|rite"}}, {"cells": {"seen": ""}}, {"cells": {}}]
    data = b"".join(writer.parquet_blocks(rows, [], {"seen": "codes"}, FileSummary()))
    read_back = parquet.read_table(io.BytesIO(data))
    assert read_back.to_pydict() == {"answer.seen": [["food", "rite"], [], None]}
    assert read_back.schema.field("answer.seen").type == arrow.list_(arrow.string())


@pytest.mark.parametrize(
    ("codes", "kind", "read_back"),
    [
        (["1", "2", "-3", "0"], "int16", [1, 2, -3, 0, None]),
        (["true", "false"], "bool", [True, False, None]),
        (["01", "2"], "dictionary<values=string, indices=int32, ordered=0>", ["01", "2", None]),
        (["1", "70000"], "dictionary<values=string, indices=int32, ordered=0>", ["1", "70000", None]),
        (["yes", "no"], "dictionary<values=string, indices=int32, ordered=0>", ["yes", "no", None]),
    ],
)
def test_single_codes_have_the_type_that_they_are_coded_in(codes: list[str], kind: str, read_back: list[Any]) -> None:
    from releases.formats.archive import FileSummary

    typed = typed_code([Option(code, {"en": code}) for code in codes])
    rows: list[dict[str, Any]] = [*({"cells": {"seen": code}} for code in codes), {"cells": {}}]
    data = b"".join(writer.parquet_blocks(rows, [], {"seen": typed}, FileSummary()))
    table = parquet.read_table(io.BytesIO(data))
    assert str(table.schema.field("answer.seen").type) == kind
    assert table.to_pydict() == {"answer.seen": read_back}


def test_versions_of_a_sheet_with_other_codes_share_a_type() -> None:
    def sheet(codes: list[str]) -> Sheet:
        options = [{"code": code, "label": {"en": code}} for code in codes]
        fields = [
            {"key": "seen", "kind": "choice", "version": 1, "label": {"en": "Seen"}, "config": {"options": options}}
        ]
        return Sheet.from_json({"fields": fields})

    assert _cells([sheet(["1", "2"])])["seen"] == "integer_code"
    assert _cells([sheet(["1", "2"]), sheet(["1", "none"])])["seen"] == "code"
