"""Rows of a table of any kind: each has the number that a person sees, and what is wrong with it; the others are read.

No database: how a table's columns become items is in test_import_tables.py.
"""

import io
import json
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.tables import binary, encodings, objects, separated
from benchmarks.imports.tables.mapping import ColumnMapping, MappedTable, MappingError, item_rows
from benchmarks.imports.tables.table import NeedsAnswer, TableFormat, look, read_table


def rows_of(data: bytes, *, whole_rows: bool = False, **asked: str) -> list[tuple[int, Any]]:
    file = io.BytesIO(data)
    rows = read_table(file, look(file, **asked).format, whole_rows=whole_rows)
    return [(number, row.code if isinstance(row, RowProblem) else row) for number, row in rows]


def problems_of(data: bytes, **how: Any) -> dict[int, RowProblem]:
    file = io.BytesIO(data)
    rows = read_table(file, look(file).format, **how)
    return {number: row for number, row in rows if isinstance(row, RowProblem)}


def mapping(**members: Any) -> ColumnMapping:
    return ColumnMapping.from_json(members)


def as_workbook(rows: list[list[Any]]) -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_rows_of_text_are_numbered_past_empty_and_faulty_ones(mark: bytes, end: bytes) -> None:
    text = b"key,x\na,1\n,\n\nb,2,3\nc,3\nd,4" + end
    assert rows_of(mark + text) == [
        (2, {"key": "a", "x": "1"}), (5, "too_many_cells"), (6, {"key": "c", "x": "3"}), (7, {"key": "d", "x": "4"}),
    ]  # fmt: skip


def test_a_line_that_names_the_separator_is_no_row() -> None:
    assert rows_of(b"sep=|\nkey|x\na,b|1\n") == [(2, {"key": "a,b", "x": "1"})]


def test_a_row_after_an_unreadable_one_keeps_its_number() -> None:
    huge = b"x" * (128 * 1024 + 1)  # more than the reader takes as one cell
    assert rows_of(b"key,x\na,1\n" + huge + b",2\nb,3\n") == [
        (2, {"key": "a", "x": "1"}), (3, "unreadable"), (4, {"key": "b", "x": "3"}),
    ]  # fmt: skip


def test_a_row_with_fewer_cells_is_filled_up_unless_the_file_ends_in_it() -> None:
    assert rows_of(b"key,x,y\na\nb,1") == [(2, {"key": "a", "x": "", "y": ""}), (3, {"key": "b", "x": "1", "y": ""})]
    assert rows_of(b"key,x,y\na,1,2\nb,1") == [(2, {"key": "a", "x": "1", "y": "2"}), (3, "cut")]
    assert "2 cells of 3" in problems_of(b"key,x,y\na,1,2\nb,1")[3].message
    assert rows_of(b"key,x,y\na,1,2\nb,1,\n") == [
        (2, {"key": "a", "x": "1", "y": "2"}), (3, {"key": "b", "x": "1", "y": ""}),
    ]  # fmt: skip


def test_a_table_that_needs_whole_rows_refuses_a_short_one_by_its_number() -> None:
    refused = problems_of(b"key,x\na\nb,1\nc,1,2\n", whole_rows=True)
    assert {number: row.code for number, row in refused.items()} == {2: "too_few_cells", 4: "too_many_cells"}
    assert "1 cells and 2 columns" in refused[2].message and "3 cells but only 2 columns" in refused[4].message


def test_bytes_that_the_encoding_does_not_know_are_one_row_with_line_and_column() -> None:
    file = io.BytesIO(b"key,x\na,1\nb,\xff\n\xff,3\nc,4\n")
    rows = list(read_table(file, TableFormat("csv", "utf-8", ",")))
    messages = {number: row.message for number, row in rows if isinstance(row, RowProblem)}
    assert [number for number, _row in rows] == [2, 3, 4, 5] and {*messages} == {3, 4}
    assert "Line 3, column 2" in messages[3] and "Line 4, column 1" in messages[4]


def test_a_nul_in_a_cell_is_left_out() -> None:
    assert rows_of(b"key,x\na\0b,1\n") == [(2, {"key": "ab", "x": "1"})]


def test_repeated_and_missing_column_names_are_told_apart() -> None:
    assert separated.column_names(["x", "x", "x", "", "x_2"]) == ["x", "x_2", "x_3", "column_4", "x_2_2"]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_lines_of_json_are_numbered_past_empty_and_faulty_ones(mark: bytes) -> None:
    deep = b'{"key": ' + b"[" * 100_000 + b"}"
    text = b'{"key": "a", "n": 1}\n\n{"key": \n[1]\n7\n' + deep + b'\n{"key": "b\\u0000"}'
    assert rows_of(mark + text) == [
        (1, {"key": "a", "n": "1"}), (3, "unreadable"), (4, "unreadable"), (5, "unreadable"), (6, "unreadable"),
        (7, {"key": "b"}),
    ]  # fmt: skip


def test_a_line_of_json_in_another_encoding_is_one_row() -> None:
    file = io.BytesIO(b'{"key": "a"}\n{"key": "\xff"}\n{"key": "b"}\n')
    rows = list(objects.read_lines(file, "utf-8", lambda: None))
    assert [number for number, _row in rows] == [1, 2, 3]
    assert isinstance(rows[1][1], RowProblem) and rows[1][1].code == "encoding"


def test_entries_of_a_json_list_are_numbered_from_one() -> None:
    assert rows_of(b'\xef\xbb\xbf [{"key": "a", "ok": true}, 3, {"key": null}]') == [
        (1, {"key": "a", "ok": "true"}), (2, "unreadable"), (3, {"key": ""}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'[{"key": 1},\n{"key": }]', "Look at line 2"),
        (b'[{"key": 1}', "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b"[]", "no columns"),
        (b"", "The file is empty"),
        (b" \n ", "The file is empty"),
        (b"\xd0\xcf\x11\xe0 old", "the old kind"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_whole(text: bytes, words: str) -> None:
    with pytest.raises(SourceProblem, match=words):
        rows_of(text)


def test_a_json_list_at_its_limit_is_read_and_a_longer_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 2 * 1024**2
    text = b'[{"key": "abc"}]'.ljust(most)
    monkeypatch.setattr(objects, "MOST_ARRAY_BYTES", most)
    assert list(objects.read_array(io.BytesIO(text), "utf-8")) == [(1, {"key": "abc"})]
    with pytest.raises(SourceProblem, match="read whole and may have 2 MB"):
        list(objects.read_array(io.BytesIO(text + b" "), "utf-8"))


def test_a_json_object_is_no_list() -> None:
    with pytest.raises(SourceProblem, match="not a list of objects"):
        list(objects.read_array(io.BytesIO(b'{"key": 1}'), "utf-8"))


def test_rows_of_a_workbook_have_the_numbers_of_its_sheet() -> None:
    data = as_workbook([["key", "n"], ["a", 3.0], [None, None], ["b", True], ["c", 2**53 + 0.0]])
    assert rows_of(data) == [
        (2, {"key": "a", "n": "3"}), (4, {"key": "b", "n": "true"}), (5, {"key": "c", "n": str(2**53)}),
    ]  # fmt: skip


def test_a_sheet_at_its_limit_is_read_and_a_longer_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "MOST_ROWS", 2)
    assert [number for number, _row in rows_of(as_workbook([["key"], ["a"], ["b"]]))] == [2, 3]
    with pytest.raises(SourceProblem, match="more than 2 rows"):
        rows_of(as_workbook([["key"], ["a"], ["b"], ["c"]]))


def test_rows_of_parquet_are_numbered_from_one_across_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "BATCH", 2)
    out = io.BytesIO()
    picture = {"bytes": b"x", "path": "a.png"}
    pq.write_table(pa.table({"key": ["a", "b", "c"], "n": [1.0, None, 2.5], "image": [picture] * 3}), out)
    assert rows_of(out.getvalue()) == [
        (1, {"key": "a", "n": "1", "image": "a.png"}), (2, {"key": "b", "n": "", "image": "a.png"}),
        (3, {"key": "c", "n": "2.5", "image": "a.png"}),
    ]  # fmt: skip


@pytest.mark.parametrize("data", [b"PAR1 no parquet", b"PK\x03\x04 no zip"])
def test_a_damaged_file_is_refused_whole(data: bytes) -> None:
    with pytest.raises(SourceProblem, match="damaged or ends early"):
        rows_of(data)


@pytest.mark.parametrize("text", ["key,x\n" + "a,1\n" * 1999, '{"key": "a"}\n' * 2000])
def test_a_long_table_says_that_it_is_alive_once_in_a_thousand_lines(text: str) -> None:
    beats: list[int] = []
    file = io.BytesIO(text.encode())
    list(read_table(file, look(file).format, lambda: beats.append(1)))
    assert len(beats) == 2


def test_an_encoding_is_asked_for_and_bytes_of_no_text_are_refused() -> None:
    data = "key,País\na,São\n".encode("cp1252")
    with pytest.raises(NeedsAnswer) as asked:
        rows_of(data)
    assert asked.value.name == "encoding" and asked.value.choices["cp1252"] == ["key,País", "a,São"]
    assert rows_of(data, encoding="cp1252") == [(2, {"key": "a", "País": "São"})]
    with pytest.raises(NeedsAnswer):
        rows_of(data, encoding="klingon")
    assert encodings.begins_as_text(io.BytesIO(b"a" * 20 + b"\xff"))
    assert not encodings.begins_as_text(io.BytesIO(b"a" * 19 + b"\xff"))
    assert not encodings.begins_as_text(io.BytesIO(b"a" * 99 + b"\0"))


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ([], ""),
        ({"colour": "x"}, "colour"),
        ({"file": ""}, "file"),
        ({"file": 3}, "file"),
        ({"context": "x"}, "context"),
        ({"context": [3]}, "context"),
        ({"missing": "x"}, "missing"),
        ({"missing": ["x"] * 51}, "missing"),
        ({"facts": ["x"]}, "facts"),
        ({"facts": {"a": 3}}, "facts"),
        ({"answers": {"q": None}}, "answers"),
    ],
)
def test_a_mapping_that_is_none_names_the_member_that_is_wrong(data: Any, name: str) -> None:
    with pytest.raises(MappingError) as refused:
        ColumnMapping.from_json(data)
    assert refused.value.name == name


def test_a_mapping_comes_back_as_it_was_stored() -> None:
    data = {"file": "img", "context": [], "facts": {"score": "s"}, "answers": {"q": "a"}, "missing": ["x"] * 50}
    assert ColumnMapping.from_json(data).to_json() == data
    table = MappedTable(TableFormat("csv", "utf-8", ";"), ColumnMapping.from_json(data), ("img", "s", "a"))
    assert MappedTable.from_params(json.loads(json.dumps(table.to_params()))) == table
    assert MappedTable.from_params({"mapping": {}}) is None


@pytest.mark.parametrize(
    ("members", "name"),
    [
        ({"file": "img"}, ""), ({"file": "imgs"}, "file"), ({"facts": {"f": "n"}}, ""), ({"facts": {"f": "m"}}, "f"),
        ({"answers": {"q": "m"}}, "q"), ({"context": ["n"]}, ""), ({"context": ["n", "m"]}, "context"),
    ],
)  # fmt: skip
def test_a_mapping_of_columns_that_the_table_lacks_is_refused(members: dict[str, Any], name: str) -> None:
    if not name:
        mapping(**members).check(("img", "n"))
        return
    with pytest.raises(MappingError, match="There are: img, n") as refused:
        mapping(**members).check(("img", "n"))
    assert refused.value.name == name


def item_of(row: dict[str, str], **members: Any) -> Any:
    [(_number, item)] = item_rows(iter([(2, row)]), mapping(**members))
    return item


def test_what_means_missing_is_empty_but_in_a_text_and_in_columns_without_a_role() -> None:
    row = {"k": "a", "t": "N/A", "c": " N/A ", "f": "N/A", "n": "N/A", "key": "own"}
    item = item_of(row, key="k", text="t", concept="c", facts={"score": "f"})
    assert item == {"key": "a", "text": "N/A", "concept": "", "fact.score": "", "n": "N/A", "key_": "own"}
    kept = item_of(row, key="k", concept="c", facts={"score": "f"}, context=["n"], missing=[])
    assert kept == {"key": "a", "concept": " N/A ", "fact.score": "N/A", "n": "N/A"}
    assert item_of({"k": "-9", "c": "x"}, key="k", concept="c", missing=["x"]) == {"key": "-9", "concept": ""}


def test_where_each_answer_has_a_row_the_first_row_of_a_key_is_its_item() -> None:
    rows: list[tuple[int, Any]] = [
        (2, {"k": "1", "r": "x", "n": "first"}), (3, {"k": " 1 ", "r": "y", "n": "second"}),
        (4, RowProblem("cut", "no")), (5, {"k": "2", "r": "x", "n": "third"}),
    ]  # fmt: skip
    by_answer = list(item_rows(iter(rows), mapping(key="k", rater="r")))
    assert [number for number, _row in by_answer] == [2, 4, 5]
    by_item = list(item_rows(iter(rows), mapping(key="k")))
    assert [number for number, _row in by_item] == [2, 3, 4, 5]
