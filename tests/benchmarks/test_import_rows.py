"""One row of a manifest: at each limit it is imported, and one past it is refused; its report names it and its number.

No database: what the rows become of a stage is in test_imports.py and test_import_shapes.py.
"""

import io
from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.imports import manifest
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.records import LENGTHS, Defaults, Record, Row, from_manifest, from_path
from benchmarks.imports.vocabulary import Vocabulary
from benchmarks.rules.filters import Candidate, near_duplicate


def vocabulary(pictures: str = "one", **words: Any) -> Vocabulary:
    return Vocabulary(
        **{"concepts": {}, "origins": {}, "conditions": {}, "needs_origin": False, **words}, pictures=pictures
    )


def read(row: Mapping[str, Any], pictures: str = "one", **defaults: str) -> Row:
    return from_manifest(7, row, vocabulary(pictures), Defaults(**defaults))


def record(row: Mapping[str, Any], pictures: str = "one", **defaults: str) -> Record:
    result = read(row, pictures, **defaults).found
    assert isinstance(result, Record), result
    return result


def problem(row: Mapping[str, Any], pictures: str = "one") -> RowProblem:
    result = read(row, pictures).found
    assert isinstance(result, RowProblem), result
    return result


def rows_of(text: bytes) -> list[tuple[int, Any]]:
    rows = manifest.read_rows(io.BytesIO(text))
    return [(number, row.code if isinstance(row, RowProblem) else dict(row)) for number, row in rows]


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("file", 500), ("role", 30), ("key", 200), ("concept", 120), ("origin", 120), ("condition", 60),
        ("source", 500), ("licence", 120), ("alt", 300), ("text", 20_000),
    ],
)  # fmt: skip
def test_a_value_at_its_limit_is_imported_and_a_longer_one_is_refused(name: str, most: int) -> None:
    row = {"file": "a.png", "key": "a", "role": "a"}
    at_limit = record({**row, name: "x" * most}, "named")
    assert len(getattr(at_limit, name)) == most
    longer = problem({**row, name: "x" * (most + 1)}, "named")
    assert longer.code == "too_long" and f"“{name}” is longer than {most} characters" in longer.message


def test_every_column_with_a_limit_is_in_the_list_above() -> None:
    listed = {"file", "role", "key", "concept", "origin", "condition", "source", "licence", "alt", "text"}
    assert {*LENGTHS} - listed == {"country"}  # which is looked up


@pytest.mark.parametrize(("name", "code"), [("x", ""), ("x" * 60, ""), ("", "bad_fact"), ("x" * 61, "bad_fact")])
def test_a_fact_has_a_name_of_one_to_sixty_characters(name: str, code: str) -> None:
    row = {"file": "a.png", f"fact.{name}": "1"}
    if code:
        assert problem(row).code == code
    else:
        assert record(row).facts == {name: 1}


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("3", 3), ("3.0", 3), ("3.5", 3.5), ("1e3", 1000), (True, True), (False, False), ("-2", -2), ("0", 0),
        ("0.5", 0.5), ("-0.5", -0.5), ("007", "007"), (" -01", "-01"), ("2024_01", "2024_01"),
        ("nan", "nan"), ("inf", "inf"), (10**400, str(10**400)), ("tea", "tea"), ("a|b", ["a", "b"]),
        ('{"a": 1}', {"a": 1}), (str(2**53 - 1), 2**53 - 1), (str(2**53 + 2), float(2**53 + 2)),
    ],
)  # fmt: skip
def test_a_fact_is_a_number_where_it_reads_as_one(cell: Any, value: Any) -> None:
    fact = record({"file": "a.png", "fact.x": cell}).facts["x"]
    assert (fact, type(fact)) == (value, type(value))


@pytest.mark.parametrize("cell", [[["b", 0.95], ["c", 1]], '[["b", 0.95], ["c", 1]]'])
def test_the_most_similar_items_may_be_listed_in_pairs(cell: Any) -> None:
    facts = record({"file": "a.png", "fact.alike": cell}).facts
    assert facts == {"alike": [["b", 0.95], ["c", 1]]}
    first, second = (Candidate(pk, key, None, {}, (), {}, facts) for pk, key in ((1, "b"), (2, "a")))
    outcomes = near_duplicate.judge([first, second], {"fact": "alike", "within": []})
    assert [str(outcome.state) for outcome in outcomes] == ["kept", "dropped"]


def test_a_fact_of_spaces_is_no_fact() -> None:
    assert record({"file": "a.png", "fact.x": "  "}).facts == {}


def test_thirty_other_columns_stay_with_the_item_and_empty_ones_take_no_place() -> None:
    others = {"empty": "", "none": None} | {f"c{n}": f"v{n}" for n in range(31)} | {"x" * 61: "long name"}
    context = record({"file": "a.png", **others, "fact.f": 1}).context
    assert context == {f"c{n}": f"v{n}" for n in range(30)}
    assert record({"file": "a.png", "x" * 61: "long name"}).context == {"x" * 60: "long name"}


def test_other_columns_are_cut_at_their_limits() -> None:
    deep = {"Japan": {"1": 9, "2": 2.5, "big": 10**400, "infinite": float("inf"), "deeper": {"no": 1}}, "n": 3}
    words = [*("w" * 2001 for _n in range(51)), {"no": 1}]
    row = record({"file": "a.png", "long": "x" * 2001, "words": words, "bar": " a | |b", "deep": deep, "n": 5,
                  "broken": '{"a": ', "list": "[1]", "prompt": "a|b", "query": "{}"})  # fmt: skip
    assert row.context["long"] == "x" * 2000
    assert row.context["words"] == ["w" * 2000] * 50
    assert row.context["bar"] == ["a", "b"]
    japan = {"1": 9, "2": 2.5, "big": str(10**400)[:2000], "infinite": "inf"}
    assert row.context["deep"] == {"Japan": japan, "n": 3} and row.context["n"] == "5"
    assert (row.context["broken"], row.context["list"]) == ('{"a":', "[1]")
    assert (row.context["prompt"], row.context["query"]) == ("a|b", "{}")
    large = record({"file": "a.png", "table": {f"{n}": n for n in range(301)}})
    assert list(large.context["table"]) == [f"{n}" for n in range(300)]


@pytest.mark.parametrize("name", ["prompt", "query", "candidate", "option_a", "option_b", "first", "second", "title"])
def test_a_text_that_is_shown_is_taken_whole_or_refused(name: str) -> None:
    longest = "| " + "x" * 19_996 + " |"  # 20,000 characters
    assert record({"file": "a.png", name: longest}).context == {name: longest}
    longer = problem({"file": "a.png", name: f"{longest}x"})
    assert longer.code == "too_long" and f"“{name}” is longer than 20000 characters" in longer.message


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"key": "a", "file": "b.png"}, "a (b.png)"),
        ({"key": " a "}, "a"),
        ({"file": "b.png"}, "b.png"),
        ({"key": "b.png", "file": "b.png"}, "b.png"),
        ({"concept": "tea"}, "row 7"),
        ({"key": "a" * 150, "file": "b" * 200}, f"{'a' * 150} ({'b' * 200}"[:300]),
    ],
)
def test_the_report_names_a_row_by_its_key_and_file_or_by_its_number(row: dict[str, str], name: str) -> None:
    result = read(row)
    assert (result.number, result.name) == (7, name)


def test_a_row_that_cannot_be_read_keeps_its_number_and_its_reason() -> None:
    unreadable = RowProblem("unreadable", "no")
    assert from_manifest(9, unreadable, vocabulary(), Defaults()) == Row(9, "row 9", unreadable)


def test_the_form_speaks_for_rows_that_say_nothing_themselves() -> None:
    form = {"condition": "generated", "source": "a museum", "licence": "CC0"}
    own = {"condition": "natural", "source": "a book", "licence": "CC BY 4.0"}
    silent, speaking = record({"file": "a.png"}, **form), record({"file": "a.png", **own}, **form)
    assert {name: getattr(silent, name) for name in form} == form
    assert {name: getattr(speaking, name) for name in own} == own


@pytest.mark.parametrize(
    ("pictures", "row", "described"),
    [
        ("none", {"key": "q"}, True),
        ("optional", {"key": "q"}, True),
        ("optional", {"key": "q", "file": "a.png"}, True),
        ("one", {"key": "q"}, False),
        ("set", {"key": "q"}, False),
    ],
)
def test_source_and_licence_of_the_form_are_for_items_without_pictures_and_for_pictures_that_come(
    pictures: str, row: dict[str, str], described: bool
) -> None:
    """A row that only names an item whose picture is there already says nothing new of that picture."""
    found = record(row, pictures, source="a museum", licence="CC0")
    assert (found.source, found.licence) == (("a museum", "CC0") if described else ("", ""))


@pytest.mark.parametrize(
    ("pictures", "row", "code"),
    [
        ("one", {"concept": "tea"}, "no_picture"),
        ("one", {"file": " "}, "no_picture"),
        ("named", {"file": "q/a.png"}, "no_role"),
        ("named", {"file": "a.png", "role": "a"}, "no_key"),
        ("set", {"file": "a.png"}, "no_key"),
        ("none", {"concept": "tea"}, "no_key"),
        ("optional", {"concept": "tea"}, "no_key"),
        ("one", {"file": "../a.png"}, "unsafe_path"),
        ("one", {"file": "b/../../a.png"}, "unsafe_path"),
        ("one", {"file": "/a.png"}, "unsafe_path"),
        ("one", {"file": "C:\\a.png"}, "unsafe_path"),
        ("optional", {"file": "/a.png"}, "unsafe_path"),
    ],
)
def test_a_row_without_what_its_stage_needs_says_so(pictures: str, row: dict[str, str], code: str) -> None:
    assert problem(row, pictures).code == code


@pytest.mark.parametrize(
    ("pictures", "row", "key", "file", "unused"),
    [
        ("one", {"file": "q/a.v1.png"}, "q/a.v1", "q/a.v1.png", ""),
        ("one", {"file": "README"}, "README", "README", ""),
        ("one", {"file": ".\\q\\a.png"}, "q/a", "q/a.png", ""),
        ("one", {"file": "a..b.png"}, "a..b", "a..b.png", ""),
        ("set", {"file": "p/q/a.png"}, "p/q", "p/q/a.png", ""),
        ("named", {"file": "q/a.png", "role": "a"}, "q", "q/a.png", ""),
        ("named", {"file": "q/a.png", "role": "a", "key": "k"}, "k", "q/a.png", ""),
        ("none", {"key": "k", "file": "a.png"}, "k", "", "a.png"),
        ("none", {"file": "a.png"}, "a", "", "a.png"),
        ("optional", {"key": "k"}, "k", "", ""),
        ("optional", {"file": "a.png"}, "a", "a.png", ""),
        ("one", {"file": "https://example.org/q/a.png?size=2"}, "q/a", "https://example.org/q/a.png?size=2", ""),
    ],
)
def test_a_row_without_a_key_is_called_by_its_path(
    pictures: str, row: dict[str, str], key: str, file: str, unused: str
) -> None:
    result = record(row, pictures)
    assert (result.key, result.file, result.unused_file) == (key, file, unused)


def test_folders_say_the_concept_only_where_there_is_a_folder() -> None:
    inside, top = (from_path(3, path, vocabulary(), Defaults()) for path in ("tea/pots/a.png", "a.png"))
    assert isinstance(inside.found, Record) and isinstance(top.found, Record)
    assert (inside.number, inside.name, inside.found.concept, top.found.concept) == (3, "tea/pots/a.png", "tea", "")
    words = vocabulary(concepts={"tea": "Tea", "pots": "Pots"})
    known = from_path(3, "tea/pots.png", words, Defaults()).found
    assert isinstance(known, Record) and known.concept == "Pots"  # the last word that is known: here the file's name
    nameless = from_path(4, " ", vocabulary(), Defaults())
    assert (nameless.number, nameless.name) == (4, "?")
    assert isinstance(nameless.found, RowProblem) and nameless.found.code == "no_picture"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"", b"\r\n"])
def test_rows_of_a_table_have_the_numbers_of_a_spreadsheet(separator: str, mark: bytes, end: bytes) -> None:
    lines = ["Image;Concept", "a.png;tea", ";", "b.png", "c.png;x;y", "d.png;bread"]
    text = "\r\n".join(lines).replace(";", separator).encode()
    assert rows_of(mark + text + end) == [
        (2, {"file": "a.png", "concept": "tea"}),
        (4, {"file": "b.png"}),
        (5, "too_many_cells"),
        (6, {"file": "d.png", "concept": "bread"}),
    ]


def test_a_row_after_an_unreadable_one_keeps_its_number() -> None:
    huge = b"x" * (128 * 1024 + 1)  # more than the reader takes as one cell
    assert rows_of(b"file\na.png\n" + huge + b"\nb.png\n\xff.png\nc.png") == [
        (2, {"file": "a.png"}), (3, "unreadable"), (4, {"file": "b.png"}), (5, "encoding"), (6, {"file": "c.png"}),
    ]  # fmt: skip


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_lines_of_json_are_numbered_from_one_and_empty_lines_count(mark: bytes) -> None:
    text = b'{"Image": "a.png"}\n\n{"file": \n[1]\n"x"\n{"file": "\xff"}\n{"License": "CC0", "path": "b.png"}'
    assert rows_of(mark + text) == [
        (1, {"file": "a.png"}), (3, "unreadable"), (4, "unreadable"), (5, "unreadable"), (6, "encoding"),
        (7, {"licence": "CC0", "file": "b.png"}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "no column “file”"),
        (b"name,concept\na,b", "no column “file”"),
        (b"file,Image\na,b", "names a column twice"),
        (b"key,ID\na,b", "names a column twice"),
        (b' \n[{"file": "a"}]', "is a JSON list"),
        (b'\xef\xbb\xbf[{"file": "a"}]', "is a JSON list"),
    ],
)
def test_a_manifest_that_names_no_file_or_key_is_refused_whole(text: bytes, words: str) -> None:
    with pytest.raises(SourceProblem, match=words):
        rows_of(text)


def test_a_manifest_of_a_head_alone_has_no_rows() -> None:
    assert rows_of(b"key,concept\n") == [] == rows_of(b"file")


@pytest.mark.parametrize(("head", "line"), [(b"key\n", b"\n"), (b"", b'{"key": "a"}\n')])
def test_a_long_manifest_says_that_it_is_alive_once_in_a_thousand_lines(head: bytes, line: bytes) -> None:
    beats: list[int] = []
    list(manifest.read_rows(io.BytesIO(head + line * 2000), lambda: beats.append(1)))
    assert len(beats) == 2


@pytest.mark.parametrize(("head", "line"), [(b"key\n", b"a\n"), (b"", b'{"key": "a"}\n')])
def test_a_manifest_at_its_limit_is_read_and_a_longer_one_is_refused(
    head: bytes, line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "MOST_LINES", 5)
    assert len(rows_of(head + line * 5)) == 5
    with pytest.raises(SourceProblem, match="more than 5 lines"):
        rows_of(head + line * 6)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (b"file,concept", True), (b"ID;x", True), (b"\xef\xbb\xbfkey\tx", True), (b'{"image": "a"}', True),
        (b'{"broken', True), (b"name,concept", False), (b"file,path", False), (b'{"id": 1, "key": 2}', False),
        (b'{"name": 1}', False), (b'[{"file": "a"}]', False), (b"PKfile,key", False), (b"PAR1file,key", False),
        (b"file,\0key", False), (b"", False),
    ],
)  # fmt: skip
def test_a_table_with_our_columns_is_known_and_another_is_asked_about(text: bytes, known: bool) -> None:
    assert manifest.has_known_columns(io.BytesIO(text + b"\nrow")) is known
