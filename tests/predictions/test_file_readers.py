"""What a row of a file of answers, of a ranking or of a collection says, read without a database."""

import json
from typing import Any

import pytest

from annotation.sheets.sheet import Sheet
from benchmarks.imports.problems import RowProblem
from predictions.imports import coco, collections, inspect, lm_eval, results
from predictions.imports.coco import Boxes, Names
from predictions.imports.samples import (
    LONGEST_RAW,
    WHOLE,
    FileDescription,
    Likelihoods,
    Sample,
    UnreadableReply,
    answers,
    item_name,
)

POINTS = [{"code": str(n), "label": {"en": f"Point {n}"}, "definition": {"en": "x"}} for n in range(1, 6)]
RATING = {"key": "rating", "kind": "rating", "version": 1, "label": {"en": "How good?"}, "config": {"points": POINTS}}
SHEET = Sheet.from_json({"fields": [RATING]})


def read(answer: Any, key: str = "rating") -> Any:
    """The code, or the reason for which there is none."""
    try:
        parsed = answers(Sample(1, "i", answer), SHEET, key)
    except UnreadableReply as unreadable:
        return unreadable.reason
    return parsed.get("rating", parsed)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("4", "4"), (" **4**. ", "4"), ("“4”", "4"), ("4.0", "4"), ("Point 4", "4"), ("POINT 4.", "4"),
        ("4.5", "outside_scale"), ("7", "outside_scale"), ("four", "no_choice"), ("so 4", "no_choice"),
        ("", "empty"), (" \n", "empty"), (None, "empty"),
        (Likelihoods((-5.0, -1.0, -2.0, -3.0, -4.0)), "2"),
        (Likelihoods((-1.0, -1.0, -2.0, -3.0, -4.0)), "two_verdicts"),
        (Likelihoods((-1.0,) * 4), "other_options"), (Likelihoods((-1.0,) * 6), "other_options"),
    ],
)  # fmt: skip
def test_a_reply_is_a_code_or_the_words_of_an_option_and_nothing_is_guessed(answer: Any, code: str) -> None:
    assert read(answer) == code


@pytest.mark.parametrize(
    ("answer", "parsed"), [('{"rating": "4"}', "4"), ('["4"]', "bad_json"), ("4", "bad_json"), ("{", "bad_json")]
)
def test_a_reply_with_all_answers_is_a_json_object(answer: str, parsed: str) -> None:
    assert read(answer, WHOLE) == parsed


@pytest.mark.parametrize(("value", "name"), [(7, "7"), (" a ", "a"), (True, None), (1.5, None), ("", None)])
def test_an_item_is_named_by_text_or_a_whole_number(value: Any, name: str | None) -> None:
    if name is not None:
        assert item_name({"doc": {"id": value}}, "doc.id", 1) == name
        return
    with pytest.raises(RowProblem):
        item_name({"doc": {"id": value}}, "doc.id", 1)


@pytest.mark.parametrize(
    ("response", "reply"),
    [
        ([[-2.0, False], [-0.5, True]], Likelihoods((-2.0, -0.5))),
        ([[[-2.0, "False"]], [[-0.5, "True"]]], Likelihoods((-2.0, -0.5))),
        ([[float("-inf"), False], [-0.5, True]], "[[-Infinity, false], [-0.5, true]]"),
        (["4", "4"], "4"), (["4", "5"], '["4", "5"]'), ([], None), (None, None), ("[invalid]", "[invalid]"),
    ],
)  # fmt: skip
def test_a_reply_of_lm_eval_comes_out_of_its_lists(response: Any, reply: Any) -> None:
    assert lm_eval.reply(response) == reply


def lines_of(rows: list[dict[str, Any]], **description: Any) -> list[Any]:
    numbered = iter(list(enumerate(rows, 1)))
    return list(lm_eval.lines(numbered, FileDescription(key="doc.id", **description)))


def test_a_line_of_lm_eval_is_read_by_its_filter_and_keeps_the_reply() -> None:
    line = {"doc_id": 0, "doc": {"id": "a"}, "resps": [["so 4"]], "filtered_resps": ["4"], "filter": "digits"}
    assert lines_of([line]) == [Sample(1, "a", "4", raw="so 4")], "without a choice every line counts"
    assert lines_of([line], only="digits") == lines_of([line]) and lines_of([line], only="strict") == []
    [unfiltered] = lines_of([{name: value for name, value in line.items() if name != "filtered_resps"}])
    assert unfiltered.answer == "so 4"
    [long] = lines_of([{**line, "resps": [["x" * (LONGEST_RAW + 1)]]}])
    assert long.raw == "x" * LONGEST_RAW


def test_a_sample_of_inspect_is_its_first_epoch_and_all_the_text_of_its_message() -> None:
    parts = [{"type": "text", "text": "so "}, {"type": "image"}, {"type": "text", "text": "4"}]
    row = {"id": "a", "output": {"choices": [{"message": {"content": parts}}]}, "scores": {"match": {"answer": None}}}
    rows = [(n, {**row, "epoch": n}) for n in (1, 2, 3)]
    assert list(inspect.lines(iter(rows), FileDescription(key="id"))) == [Sample(1, "a", "so 4", raw="so 4")]
    [scored] = inspect.lines(iter(rows), FileDescription(key="id", only="match"))
    assert isinstance(scored, Sample) and scored.answer is None, "a scorer that found nothing says nothing"


def detected(*boxes: tuple[str, float, float, float, float, float]) -> Boxes:
    return Boxes(boxes)


@pytest.mark.parametrize(
    ("box", "fractions"),
    [
        ((-1, -1, 50, 50), (0, 0, 0.49, 0.49)), ((51, 51, 50, 50), (0.51, 0.51, 1, 1)),
        ((-1.1, 0, 50, 50), None), ((51.2, 0, 50, 50), None), ((0, 51.2, 50, 50), None),
    ],
)  # fmt: skip
def test_a_box_may_reach_a_pixel_over_the_edge(box: tuple[float, ...], fractions: tuple[float, ...] | None) -> None:
    x, y, width, height = box
    if fractions is None:
        with pytest.raises(ValueError, match="outside_image"):
            coco.best_box(detected(("", 0.5, x, y, width, height)), (100, 100), "")
        return
    best = coco.best_box(detected(("", 0.5, x, y, width, height)), (100, 100), "")
    assert best is not None and best.box == pytest.approx(fractions)


def test_where_categories_have_names_only_boxes_of_the_concept_count() -> None:
    boxes = detected(("Lamp", 0.3, 0, 0, 10, 10), ("lamp", 0.4, 0, 0, 20, 20), ("tree", 0.9, 0, 0, 90, 90))
    best = coco.best_box(boxes, (100, 100), "LAMP")
    assert best is not None and (best.box[2], best.score, best.among) == (0.2, 0.4, 2)
    assert coco.best_box(boxes, (100, 100), "dog") is None
    without = coco.best_box(boxes, (100, 100), "")
    assert without is not None and (without.score, without.among) == (0.9, 3)


def test_the_best_scored_boxes_of_a_label_are_taken_whatever_its_letters() -> None:
    boxes = detected(("LAMP", 0.3, 0, 0, 10, 10), ("lamp", 0.4, 0, 0, 20, 20), ("Lamp", 0.9, 0, 0, 90, 90))
    taken = coco.labelled_boxes(boxes, (100, 100), {"lamp": "l"}, 2)
    assert [(box.label, box.score) for box in taken] == [("l", 0.9), ("l", 0.4)]


def detections(names: Names, *rows: dict[str, Any]) -> list[Any]:
    return list(coco.lines(iter(list(enumerate(rows, 1))), names, lambda: None))


def test_detections_of_an_image_are_one_sample_named_as_the_release_names_it() -> None:
    row = {"image_id": 7, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}
    [sample] = detections(Names({"7": ("a.jpg", 100.0, 50.0)}, {"1": "lamp"}), row, row)
    assert (sample.key, sample.answer) == ("a.jpg", Boxes((("lamp", 0.5, 1, 2, 3, 4),) * 2, (100.0, 50.0)))
    [unsized] = detections(Names({"7": ("", 100.0, 0.0)}), row)
    assert (unsized.key, unsized.answer.size) == ("7", None), "half a size is none"
    [many] = detections(Names(), *[row] * 25)
    assert (len(many.answer.found), len(json.loads(many.raw))) == (25, 20), "of many, the first are kept as they came"
    [(number, problem)] = detections(Names(), {**row, "score": True})
    assert number == 1 and isinstance(problem, RowProblem)


def test_a_ranking_may_be_as_long_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MOST_FOUND", 2)
    assert results.sort_by_score(["a", "b"], [1, 2]) == (["b", "a"], [2, 1])
    with pytest.raises(RowProblem, match="More than 2 entries"):
        results.sort_by_score(["a", "b", "c"], [1, 2, 3])


def test_a_vector_may_be_as_long_as_the_limit() -> None:
    assert len(results.vector({"key": "a", "vector": [0] * results.MOST_NUMBERS})[1]) == 4 * results.MOST_NUMBERS
    with pytest.raises(RowProblem, match="1 to 16384 numbers"):
        results.vector({"key": "a", "vector": [0] * (results.MOST_NUMBERS + 1)})


def test_a_query_names_its_entries_once_and_a_list_in_a_table_may_have_gaps() -> None:
    row = {"kind": "query", "key": "q", "relevant": " a | |b|a", "role.correct": "a", "role.other": "", "concept": ""}
    _entries, query = collections.read(row)
    assert query is not None and (query.relevant, query.roles, query.about) == (("a", "b"), {"correct": "a"}, {})
    with pytest.raises(RowProblem, match="Two roles"):
        collections.read({**row, "roles": {"other": "a"}})
    about = {"text": "Mint", "country": "Japan"}
    [entry], none = collections.read({"key": "e", "text": "Tea", "country": "Egypt", "year": 1, "about": about})
    assert none is None and entry.about == {**about, "year": 1}, "what the object says goes before the columns"
