"""What a notebook reads of a live site: the rows, numbers and refusals of the REST API, as Python objects."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

import emic_client
from annotation.models import Campaign
from api.schemas.rows import row_serializer
from emic_client import records
from emic_client.connection import Connection
from emic_client.row_query import RowQuery
from releases.rows.changes import GONE
from releases.rows.columns import ColumnType
from releases.rows.registry import KINDS
from tests.api.clients import program
from tests.client.conftest import Connect
from tests.personas import World

CLASSES: dict[str, type[records.RowRecord]] = {
    "items": records.Item,
    "annotations": records.Annotation,
    "ratings": records.Rating,
    "outcomes": records.Outcome,
    "reviews": records.Review,
}
SHAPES: dict[ColumnType, str] = {
    "int8": "int", "int4": "int", "float8": "float", "bool": "bool", "text": "str", "person": "str",
    "time": "datetime", "json": "Any",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
def test_the_classes_have_the_columns_of_the_api(kind: Any) -> None:
    """After a column was added: add it to client/emic_client/records.py, at the same place."""
    columns = {column.name: SHAPES[column.type] for column in kind.written}
    assert dict(records.shapes_of(CLASSES[kind.key])) == columns
    assert list(row_serializer(kind)().fields) == [*columns, GONE]


def test_rows_are_read_one_by_one_and_are_those_of_the_api(world: World, campaign: Campaign, connect: Connect) -> None:
    benchmark = connect(world.mara).benchmarks.get(world.benchmark.slug)
    page = program(world.mara, "export").get(f"/api/v1/benchmarks/{world.benchmark.slug}/ratings/?counted=all").json()
    ratings = list(benchmark.ratings(counted="all"))
    assert [rating.rating for rating in ratings] == [row["rating"] for row in page["results"]]
    keys = ["item-00000", "item-00001"]
    codes = [row["code"] for row in page["results"] if row["cohort"] == "Egypt" and row["item"] in keys]
    assert [rating.code for rating in benchmark.ratings(cohort="Egypt", key=keys)] == codes
    assert ratings[0].submitted_at is not None and ratings[0].submitted_at.isoformat() == "2026-03-01T12:00:09+00:00"
    assert benchmark.ratings(counted="all").count() == 8 == len(ratings)
    assert list(benchmark.ratings(counted="all").to_dicts()) == page["results"]


def test_every_kind_of_rows_is_there(world: World, campaign: Campaign, connect: Connect) -> None:
    benchmark = connect(world.mara).benchmarks.get(world.benchmark.slug)
    for query in (benchmark.items(), benchmark.annotations(), benchmark.outcomes(), benchmark.reviews()):
        assert len(list(query)) == query.count()
    assert benchmark.items(condition="natural").count() == 4
    assert [row.codes for row in benchmark.annotations(key="item-00001")] == [{"relevance": "2"}] * 2


def test_a_reader_who_stops_early_leaves_room_for_the_next(world: World, campaign: Campaign, connect: Connect) -> None:
    benchmark = connect(world.mara, retries=0).benchmarks.get(world.benchmark.slug)
    for _reading in range(4):  # a person reads two streams at once
        rows = iter(benchmark.ratings())
        assert next(rows).field == "relevance"
        rows.close()  # type: ignore[attr-defined]


def test_a_data_frame_has_types_and_keeps_what_is_not_known(world: World, campaign: Campaign, connect: Connect) -> None:
    benchmark = connect(world.mara).benchmarks.get(world.benchmark.slug)
    frame = benchmark.ratings(counted="all").to_pandas()
    types = {name: str(frame[name].dtype) for name in ("rating", "code", "value", "counted", "run")}
    assert types == {"rating": "Int64", "code": "string", "value": "float64", "counted": "boolean", "run": "Int64"}
    assert str(frame["submitted_at"].dtype).startswith("datetime64") and "UTC" in str(frame["submitted_at"].dtype)
    assert frame["run"].isna().all() and (frame["setting"] == "").all()
    assert frame.groupby("cohort")["value"].mean().to_dict() == {"Brazil": 5.0, "Egypt": 18 / 7}
    nothing = benchmark.ratings(stage="none").to_pandas()
    assert len(nothing) == 0 and list(nothing.columns) == list(frame.columns)
    assert str(nothing["value"].dtype) == "float64"


def test_files_hold_all_rows(world: World, campaign: Campaign, connect: Connect, tmp_path: Path) -> None:
    query = connect(world.mara).benchmarks.get(world.benchmark.slug).annotations(counted="all")
    assert query.to_ndjson(tmp_path / "rows.jsonl") == 8
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == list(query.to_dicts())
    assert query.to_parquet(tmp_path / "rows.parquet") == 8
    written = pq.read_table(tmp_path / "rows.parquet")
    assert written["annotation"].to_pylist() == [row.annotation for row in query]
    assert json.loads(written["codes"][0].as_py()) == {"relevance": "1"}
    assert str(written.schema.field("submitted_at").type) == "timestamp[us, tz=UTC]"


def test_a_text_with_line_separators_is_one_row(
    world: World, campaign: Campaign, connect: Connect, tmp_path: Path
) -> None:
    """JSON keeps these as they are; what is copied from a page or a PDF has them."""
    item, text = world.items[0], "one\u2028two\u2029three\x85four\x1cfive"
    item.text = text
    item.save()
    query = connect(world.mara).benchmarks.get(world.benchmark.slug).items()
    assert [row.text for row in query if row.key == item.key] == [text]
    assert query.to_ndjson(tmp_path / "items.jsonl") == query.count()
    with (tmp_path / "items.jsonl").open(newline="\n") as file:
        assert [json.loads(line) for line in file] == list(query.to_dicts())


def broken(lines: int, announced: int | None, error: Exception | None = None) -> RowQuery[records.Rating]:
    def body() -> Any:
        for number in range(lines):
            yield json.dumps({"rating": number, "later": "a column of a newer site"}).encode() + b"\n"
        if error:
            raise error

    headers = {"X-Emic-Changed-After": "behind"}
    headers |= {} if announced is None else {"X-Emic-Rows": str(announced)}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=body(), headers=headers))
    connection = Connection("https://emic.test", "token", transport=transport)
    return RowQuery(connection, "/ratings/", records.Rating, {})


def test_a_broken_stream_raises_and_leaves_no_file(tmp_path: Path) -> None:
    assert [row.rating for row in broken(3, 3)] == [0, 1, 2]
    assert len(list(broken(3, None))) == 3
    target = tmp_path / "rows.jsonl"
    target.write_text("earlier\n")
    for query in (broken(2, 3), broken(2, 3, httpx.RemoteProtocolError("peer closed connection"))):
        rows = iter(query)
        assert [next(rows).rating, next(rows).rating] == [0, 1]
        with pytest.raises(emic_client.BrokenStream, match="after 2 of 3 rows"):
            next(rows)
        with pytest.raises(emic_client.BrokenStream):
            query.to_ndjson(target)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"] and target.read_text() == "earlier\n"


def test_where_to_read_on_is_known_only_after_all_rows() -> None:
    """Whoever went on from there after a broken reading would miss the rows that did not come."""
    whole = broken(3, 3)
    assert len(list(whole)) == 3 and whole.changed_after == "behind"
    for query in (whole, broken(2, 3)):
        query._connection = broken(2, 3)._connection
        with pytest.raises(emic_client.BrokenStream):
            list(query)
        assert query.changed_after is None
    stopped = broken(3, 3)
    next(iter(stopped))
    assert stopped.changed_after is None


def test_a_broken_stream_leaves_an_earlier_parquet_file_as_it_is(tmp_path: Path) -> None:
    target = tmp_path / "rows.parquet"
    assert broken(3, 3).to_parquet(target) == 3
    with pytest.raises(emic_client.BrokenStream):
        broken(2, 3).to_parquet(target)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]
    assert pq.read_table(target).num_rows == 3


def test_agreement_is_the_apis_number_by_number(world: World, campaign: Campaign, connect: Connect) -> None:
    benchmark = connect(world.mara).benchmarks.get(world.benchmark.slug)
    report = benchmark.agreement(measure="alpha_ordinal")
    raw = report.raw["rows"][0]["cells"][0]["estimates"]["alpha_ordinal"]
    first = report.numbers[0]
    assert (first.value, first.low, first.n_units, first.reason) == (
        raw["value"], raw["low"], raw["n_units"], raw["reason"],
    )  # fmt: skip
    frame = report.to_pandas()
    assert {"value", "low", "high", "n_units", "n_raters", "reason", "cohort", "condition"} <= set(frame.columns)
    assert len(frame) == len(report) == sum(len(row["cells"]) for row in report.raw["rows"])
    assert any(number.value is None and number.reason for number in report), "nothing is made a zero"
    assert {number.field for number in report.questions} == {"relevance"} and report.counted


def test_tables_are_listed_with_what_they_lack(world: World, campaign: Campaign, connect: Connect) -> None:
    benchmark = connect(world.mara).benchmarks.get(world.benchmark.slug)
    lines = benchmark.tables.list()
    assert lines and all(line.key and line.title for line in lines)
    ready = next(line for line in lines if not line.lacking)
    table = benchmark.tables.get(ready.key)
    assert table.title == ready.title
    shown = [cell["shown"] for row in table.raw["rows"] for cell in row["cells"] if not cell["empty"]]
    assert [number.shown for number in table.numbers] == shown and len(table.to_pandas()) == len(shown)
    lacking = next((line for line in lines if line.lacking), None)
    if lacking:
        with pytest.raises(emic_client.Conflict):
            benchmark.tables.get(lacking.key)


def test_each_refusal_names_its_reason(world: World, campaign: Campaign, connect: Connect) -> None:
    benchmark = connect(world.mara).benchmarks.get(world.benchmark.slug)
    with pytest.raises(emic_client.InvalidRequest) as wrong:
        benchmark.ratings(colour="red").count()
    assert wrong.value.problem.parameter == "colour" and "There are: stage" in str(wrong.value)
    with pytest.raises(emic_client.InvalidRequest):
        next(iter(benchmark.ratings(counted="maybe")))
    with pytest.raises(emic_client.Forbidden) as lacks:
        connect(world.mara, "read").benchmarks.get(world.benchmark.slug).ratings().count()
    assert lacks.value.problem.needs == "export"
    with pytest.raises(emic_client.NotFound):
        connect(world.stranger).benchmarks.get(world.benchmark.slug)
    assert connect(world.stranger).benchmarks.list() == []
    connection = connect(world.stranger, "export")._connection
    with pytest.raises(emic_client.NotFound):
        list(RowQuery(connection, benchmark.ratings()._path, records.Rating, {}))


def test_a_token_to_read_sees_the_structure_of_items(world: World, campaign: Campaign, connect: Connect) -> None:
    items = connect(world.mara, "read").benchmarks.get(world.benchmark.slug).items()
    assert [item.key for item in items][:2] == ["item-00000", "item-00001"]
    assert {asdict(item)["text"] for item in items} == {None}
