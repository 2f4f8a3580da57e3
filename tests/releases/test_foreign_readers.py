"""Files of other tools are read with the counts that their tools state, and by row where they are damaged."""

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.imports.problems import SourceProblem
from releases.foreign.boxes import BoxRefused, box_fractions
from releases.foreign.contract import (
    ForeignAnswer,
    ForeignBox,
    ForeignItem,
    ForeignMapping,
    ForeignProblem,
    ForeignRecord,
)
from releases.foreign.registry import READERS, reader_for, recognise
from releases.foreign.scan import proposed_mapping, scan_files
from releases.foreign.uploaded_files import with_pulse
from tests.releases.foreign_samples import (
    ARGILLA,
    LABEL_STUDIO,
    POTATO,
    as_files,
    content,
    needs_peers,
    records,
    sample,
)

pytestmark = needs_peers


def answers(rows: Sequence[ForeignRecord]) -> list[ForeignAnswer]:
    return [row for row in rows if isinstance(row, ForeignAnswer)]


def problems(rows: Sequence[ForeignRecord]) -> list[ForeignProblem]:
    return [row for row in rows if isinstance(row, ForeignProblem)]


def by_person(rows: Sequence[ForeignRecord], question: str) -> dict[tuple[str, str], Any]:
    return {
        (row.item, row.rater): row.values[question]
        for row in answers(rows)
        if question in row.values and not row.model and not row.skipped
    }


# files, tool, program, items, answers, skips, models' answers, boxes, answers by question
COUNTS: list[tuple[tuple[str, ...], str, str, int, int, int, int, int, dict[str, int]]] = [
    (LABEL_STUDIO, "label_studio", "Label Studio", 12, 34, 1, 0, 44,
     {"kind": 34, "relevance": 34, "answer": 34, "place": 34, "tags": 27, "box": 34}),
    (("label-studio/export.json",), "label_studio", "Label Studio", 12, 34, 1, 0, 44,
     {"kind": 34, "relevance": 34, "answer": 34, "place": 34, "tags": 27, "box": 34}),
    *[((f"label-studio/{name}", *more), "label_studio", "Label Studio", 12, 34, 0, 0, 44,
       {"kind": 34, "relevance": 34, "answer": 34, "place": 34, "tags": 27, "box": 34})
      for name in ("export-min.json", "export.csv", "export.tsv") for more in ((), ("label-studio/label-config.xml",))],
    (("label-studio/export-coco.zip",), "coco", "Label Studio", 12, 34, 0, 0, 44, {"box": 34}),
    *[((f"doccano/text-classification.{form}.zip",), "doccano", "doccano", 12, 35, 0, 0, 0, {"label": 35})
      for form in ("jsonl", "json", "csv")],
    *[((f"doccano/seq2seq.{form}.zip",), "doccano", "doccano", 12, 36, 0, 0, 0, {"label": 36})
      for form in ("jsonl", "csv")],
    (("doccano/image-classification.jsonl.zip",), "doccano", "doccano", 12, 36, 0, 0, 0, {"label": 36}),
    (("doccano/bounding-box.jsonl.zip",), "doccano", "doccano", 12, 36, 0, 0, 50, {"box": 36}),
    *[(files, "potato", "Potato", 12, 36, 0, 0, 46,
       {"relevance": 36, "kind": 36, "answer": 36, "box": 36, "tags": 22})
      for files in (POTATO, ("potato/annotations.jsonl",), ("potato/annotations.csv",))],
    (("potato/user_state-ann2.json",), "potato", "Potato", 12, 12, 0, 0, 17,
     {"relevance": 12, "kind": 12, "answer": 12, "box": 12, "tags": 7}),
    (("potato/annotations-coco.json",), "coco", "Potato", 12, 12, 0, 0, 46, {"box": 12}),
    (("cvat/annotations-potato.xml",), "cvat", "Potato", 12, 12, 0, 0, 46, {"box": 12}),
    (("cvat/annotations-datumaro.xml",), "cvat", "Datumaro", 12, 12, 0, 0, 14, {"box": 12}),
    (("cvat/instances_default.json",), "coco", "Datumaro (CVAT)", 12, 14, 0, 0, 14, {"box": 14}),
    (ARGILLA, "argilla", "Argilla", 12, 34, 1, 12, 0, {"relevance": 34, "kind": 34, "tags": 34, "answer": 34}),
    (("argilla/records-flattened.parquet",), "argilla", "Argilla", 12, 34, 1, 12, 0,
     {"relevance": 34, "kind": 34, "tags": 34, "answer": 34}),
    (("argilla/records.json", "argilla/.argilla/settings.json"), "argilla", "Argilla", 12, 35, 0, 12, 0,
     {"relevance": 35, "kind": 35, "tags": 35, "answer": 35}),
]  # fmt: skip


@pytest.mark.parametrize("row", COUNTS, ids=lambda row: "+".join(row[0]))
def test_each_file_has_the_counts_that_its_tool_states(row: tuple[Any, ...]) -> None:
    paths, tool, program, items, people, skips, models, boxes, by_question = row
    files = sample(*paths)
    reader = reader_for(files)
    assert (reader.key, reader.program(files).name) == (tool, program)
    rows = records(files)
    by_people = [one for one in answers(rows) if not one.model and not one.skipped]
    assert len({one.key for one in rows if isinstance(one, ForeignItem)}) == items
    assert (len(by_people), sum(one.skipped for one in answers(rows))) == (people, skips)
    assert sum(one.model for one in answers(rows)) == models
    drawn = [box for one in by_people for value in one.values.values() for box in value if isinstance(box, ForeignBox)]
    assert len(drawn) == boxes
    assert Counter(question for one in by_people for question in one.values) == by_question
    assert not problems(rows)


def test_no_two_tools_claim_a_file() -> None:
    for row in COUNTS:
        keys = [reader.key for reader in recognise(sample(*row[0]))]
        assert keys[0] == row[1]
        assert len(keys) == 1 or keys == ["argilla", "hugging_face"]


def test_label_studio_codes_are_those_of_a_short_script() -> None:
    rows = records(sample(*LABEL_STUDIO))
    expected: dict[str, dict[tuple[str, str], Any]] = {}
    for task in json.loads(content("label-studio/export.json")):
        for annotation in task["annotations"]:
            for result in annotation["result"]:
                value = {name: result["value"].get(name) for name in ("choices", "rating", "text", "taxonomy")}
                person = (task["data"]["key"], str(annotation["completed_by"]))
                if result["type"] == "taxonomy":
                    expected.setdefault(result["from_name"], {})[person] = [" / ".join(p) for p in value["taxonomy"]]
                elif result["type"] != "rectanglelabels":
                    plain = value["choices"] or (value["text"] or [str(value["rating"])])[0]
                    expected.setdefault(result["from_name"], {})[person] = plain
    for question, codes in expected.items():
        assert by_person(rows, question) == codes
    assert by_person(rows, "tags")["item-01", "4"] == ["people", "in"]  # an alias, not the value “indoors”
    assert by_person(rows, "place")["item-01", "2"] == ["Asia / East"]


def test_label_studio_flat_forms_hold_the_same_codes() -> None:
    whole = records(sample(*LABEL_STUDIO))
    for name in ("export-min.json", "export.csv", "export.tsv"):
        rows = records(sample(f"label-studio/{name}", "label-studio/label-config.xml"))
        for question in ("kind", "relevance", "answer", "place", "tags", "box"):
            flat, full = by_person(rows, question), by_person(whole, question)
            assert {key: _comparable(value) for key, value in flat.items()} == {
                key: _comparable(value) for key, value in full.items()
            }


def _comparable(value: Any) -> Any:
    """Boxes of the flat forms do not say by how much the picture was turned, and come in any order."""
    if isinstance(value, list) and value and isinstance(value[0], ForeignBox):
        return sorted((box.x, box.y, box.width, box.height, box.label, box.angle) for box in value)
    return value


def test_label_studio_configuration_names_the_questions() -> None:
    files = sample(*LABEL_STUDIO)
    fields = {field.key: field for field in reader_for(files).sheet(files)}
    kinds = {key: field.kind for key, field in fields.items()}
    assert kinds == {"box": "boxes", "kind": "single", "tags": "several", "relevance": "scale", "answer": "words",
                     "place": "single"}  # fmt: skip
    assert fields["tags"].options[0] == ("in", "indoors")
    assert [code for code, _label in fields["place"].options] == [
        "Asia", "Asia / South", "Asia / East", "Europe", "Europe / West",
    ]  # fmt: skip
    assert [code for code, _label in fields["relevance"].options] == ["1", "2", "3", "4", "5"]


def test_label_studio_choices_in_several_results_of_one_question_are_one_answer() -> None:
    results = [{"from_name": "tags", "type": "choices", "value": {"choices": [code]}} for code in ("night", "people")]
    task = {"id": 1, "data": {"text": "a"}, "annotations": [{"completed_by": 2, "result": results}]}
    [answer] = answers(records(as_files([("export.json", json.dumps([task]).encode())])))
    assert answer.values == {"tags": ["night", "people"]}


def test_label_studio_person_is_reduced_to_the_number() -> None:
    task = json.loads(content("label-studio/export.json"))[0]
    task["annotations"][0]["completed_by"] = {"id": 2, "email": "ana@example.org", "first_name": "Ana"}
    rows = records(as_files([("export.json", json.dumps([task]).encode())]))
    assert answers(rows)[0].rater == "2"
    assert "ana@" not in repr(rows)


def test_label_studio_predictions_are_of_models_and_other_shapes_are_counted() -> None:
    task = json.loads(content("label-studio/export.json"))[0]
    polygon = {"from_name": "poly", "type": "polygonlabels", "value": {"points": [[1, 2]], "polygonlabels": ["a"]}}
    part = {"from_name": "kind", "type": "choices", "value": {"x": 1, "choices": ["food"]}}
    order = {"from_name": "order", "type": "ranker", "value": {"ranker": {"first": ["a"]}}}
    task["annotations"][0]["result"] += [polygon, part, order, {"type": "relation", "from_id": "a", "to_id": "b"}]
    task["predictions"] = [{"model_version": "v7", "result": task["annotations"][1]["result"][:1]}]
    task["drafts"] = [{"id": 9}]
    task["comment_count"] = 2
    rows = records(as_files([("export.json", json.dumps([task]).encode())]))
    first = answers(rows)[0]
    assert {kind: len(parts) for kind, parts in first.left_out.items()} == {
        "polygon": 1, "attribute of a region": 1, "ranking": 1, "relation": 1,
    }  # fmt: skip
    assert first.left_out["polygon"] == [polygon]
    assert first.values["kind"] == ["food"]  # the whole picture's own answer is another
    assert [(one.rater, one.values) for one in answers(rows) if one.model] == [("v7", {"kind": ["ritual"]})]
    assert [one.left_out for one in problems(rows)] == ["draft", "comment"]


def test_doccano_codes_are_those_of_a_short_script() -> None:
    for form, key in (("jsonl", "label"), ("json", "label"), ("csv", "label")):
        rows = by_person(records(sample(f"doccano/text-classification.{form}.zip")), key)
        assert Counter(rater for (_item, rater), labels in rows.items() for _label in labels) == {
            "ann1": 16, "ann2": 14, "ann3": 13,
        }  # fmt: skip
        assert rows["item-01", "ann1"] == ["food", "ritual"]
        assert ("item-12", "ann3") not in rows  # an empty list means: not answered
    with zipfile.ZipFile(io.BytesIO(content("doccano/bounding-box.jsonl.zip"))) as archive:
        lines = [json.loads(line) for line in archive.read("ann1.jsonl").splitlines()]
    boxes = by_person(records(sample("doccano/bounding-box.jsonl.zip")), "box")
    for line in lines:
        drawn = [(box.x, box.y, box.width, box.height, box.label) for box in boxes[str(line["id"]), "ann1"]]
        assert drawn == [(box["x"], box["y"], box["width"], box["height"], box["label"]) for box in line["bbox"]]


def test_doccano_empty_list_is_an_answer_if_chosen() -> None:
    rows = records(sample("doccano/text-classification.jsonl.zip"), ForeignMapping(empty_is_answer=True))
    assert Counter(one.rater for one in answers(rows)) == {"admin": 12, "ann1": 12, "ann2": 12, "ann3": 12}


def test_doccano_shared_file_takes_the_rater_that_is_named() -> None:
    with zipfile.ZipFile(io.BytesIO(content("doccano/text-classification.jsonl.zip"))) as archive:
        data = archive.read("ann1.jsonl")
    rows = records(as_files([("all.jsonl", data)]), ForeignMapping(rater="group"))
    assert {one.rater for one in answers(rows)} == {"group"}


def test_potato_codes_are_those_of_a_short_script() -> None:
    rows = records(sample(*POTATO))
    for line in content("potato/annotations.jsonl").splitlines():
        row = json.loads(line)
        person = (row["instance_id"], row["user_id"])
        assert by_person(rows, "relevance")[person] == list(row["labels"]["relevance"])
        assert by_person(rows, "answer")[person] == row["labels"]["answer"]["text_box"]
        assert by_person(rows, "tags").get(person, []) == list(row["labels"].get("tags", {}))
    state = records(sample("potato/user_state-ann2.json"))
    assert by_person(state, "kind") == {
        person: code for person, code in by_person(rows, "kind").items() if person[1] == "ann2"
    }


def test_coco_rater_is_a_member_of_the_annotation_or_asked() -> None:
    rows = records(sample("cvat/instances_default.json"))
    assert {one.rater for one in answers(rows)} == {"ann1", "ann2", "ann3"}
    rows = records(sample("potato/annotations-coco.json"), ForeignMapping(rater="team"))
    assert {one.rater for one in answers(rows)} == {"team"}
    rows = records(sample("label-studio/export-coco.zip"))
    assert Counter(one.rater for one in answers(rows)) == {"entry-1": 12, "entry-2": 12, "entry-3": 10}


def test_coco_segmentations_and_crowds_are_counted() -> None:
    data = json.loads(content("cvat/instances_default.json"))
    data["annotations"][0]["iscrowd"], data["annotations"][1]["segmentation"] = 1, [[1, 2, 3, 4, 5, 6]]
    data["images"][0]["id"] = data["annotations"][0]["image_id"] = 0  # ids may begin at 0 and have gaps
    rows = records(as_files([("instances_default.json", json.dumps(data).encode())]))
    assert Counter(kind for one in answers(rows) for kind in one.left_out) == {"crowd": 1, "segmentation": 1}


def test_cvat_tags_attributes_and_shapes() -> None:
    text = """<annotations><version>1.1</version><meta><job><assignee><username>lena</username></assignee></job>
    <dumped>2026</dumped></meta><image id="0" name="a/b.png" width="10" height="10">
    <tag label="food"><attribute name="hot">yes</attribute></tag><polygon label="x" points="1,2"/>
    <box label="x" xtl="1" ytl="1" xbr="5" ybr="5" rotation="90"><attribute name="part">rim</attribute></box>
    </image></annotations>"""
    files = as_files([("annotations.xml", text.encode())])
    assert reader_for(files).program(files).name == "CVAT"
    (answer,) = answers(records(files))
    assert (answer.rater, answer.item, answer.values["tag"], answer.values["hot"]) == (
        "lena",
        "a/b.png",
        ["food"],
        "yes",
    )
    assert (answer.values["box"][0].angle, answer.values["box"][0].pivot) == (90, "centre")
    assert {kind: len(parts) for kind, parts in answer.left_out.items()} == {"polygon": 1, "attribute of a region": 1}


def test_argilla_discarded_answers_are_seen_in_the_flattened_form_only() -> None:
    skipped = [(one.item, one.rater[-1]) for one in answers(records(sample(*ARGILLA))) if one.skipped]
    assert skipped == [("item-11", "3")]
    rows = records(sample("argilla/records.json", *ARGILLA))
    assert sum(one.skipped for one in answers(rows)) == 1  # the form that knows more is read where both are there
    assert {one.rater for one in answers(rows) if one.model} == {"model-a"}
    assert sum(len(one.left_out["ranking"]) for one in answers(rows) if "ranking" in one.left_out) == 35


def test_proposal_finds_the_columns_and_questions() -> None:
    files = sample(*LABEL_STUDIO)
    scan = scan_files(
        files, reader_for(files), ForeignMapping(), countries=lambda name: name in ("Brazil", "Iran", "India")
    )
    assert (scan.items, scan.answers, scan.skips, scan.boxes, scan.rotated) == (12, 34, 1, 44, 3)
    assert dict(scan.raters) == {"2": 12, "3": 12, "4": 10}
    mapping = proposed_mapping(scan, ForeignMapping(), ["kind", "Relevance"])
    assert (mapping.key, mapping.picture, mapping.text) == ("key", "image", "caption")
    assert mapping.roles == {"country": "country"}
    assert mapping.answers == {"kind": "kind", "relevance": "Relevance"}
    assert ForeignMapping.from_json(json.loads(json.dumps(mapping.to_json()))) == mapping


def test_proposal_without_a_configuration_reads_kinds_from_answers() -> None:
    files = sample("label-studio/export.json")
    scan = scan_files(files, reader_for(files), ForeignMapping())
    kinds = {field.key: field.kind for field in scan.fields}
    assert kinds == {"kind": "single", "relevance": "scale", "answer": "single", "place": "single", "box": "boxes",
                     "tags": "several"}  # fmt: skip


SIZE = (640, 480)
BOXES: list[tuple[ForeignBox, tuple[float, float, float, float]]] = [
    (ForeignBox(25, 50, 50, 25, "percent"), (0.25, 0.5, 0.75, 0.75)),
    (ForeignBox(0.25, 0.5, 0.5, 0.25, "fraction"), (0.25, 0.5, 0.75, 0.75)),
    (ForeignBox(160, 240, 320, 120, "pixel"), (0.25, 0.5, 0.75, 0.75)),
    (ForeignBox(160, 240, 480.4, 240.4, "pixel"), (0.25, 0.5, 1, 1)),
    (ForeignBox(320, 240, 100, 50, "pixel", angle=90, pivot="centre"), (0.539062, 0.447917, 0.617188, 0.65625)),
    (ForeignBox(320, 240, 100, 50, "pixel", angle=90, pivot="corner"), (0.421875, 0.5, 0.5, 0.708333)),
]


@pytest.mark.parametrize(("box", "expected"), BOXES)
def test_box_becomes_fractions(box: ForeignBox, expected: tuple[float, ...]) -> None:
    corners = box_fractions(box, SIZE, "upright")
    assert [corners[side] for side in ("x0", "y0", "x1", "y1")] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("box", "size", "code"),
    [
        (ForeignBox(0, 0, 10, 10, "pixel", size=(480, 640)), SIZE, "size_differs"),
        (ForeignBox(0, 0, 10, 10, "pixel"), None, "size_unknown"),
        (ForeignBox(0, 0, 10, 10, "percent", angle=12.5), SIZE, "rotated"),
        (ForeignBox(0, 0, 10, 10, "percent", turned=90), SIZE, "image_rotated"),
        (ForeignBox(630, 0, 10.6, 10, "pixel"), SIZE, "box_outside"),
        (ForeignBox(0, 0, 0, 10, "pixel"), SIZE, "box_empty"),
        (ForeignBox(float("nan"), 0, 1, 10, "pixel"), SIZE, "box_not_numbers"),
    ],
)
def test_box_is_refused(box: ForeignBox, size: tuple[int, int] | None, code: str) -> None:
    with pytest.raises(BoxRefused) as refused:
        box_fractions(box, size, "refuse")
    assert refused.value.code == code


TEXT_FILES = ["label-studio/export.json", "label-studio/export-min.json", "label-studio/export.csv",
              "label-studio/export.tsv", "potato/annotations.jsonl", "potato/annotations.csv",
              "potato/annotations-coco.json", "cvat/annotations-potato.xml", "cvat/annotations-datumaro.xml",
              "cvat/instances_default.json", "argilla/records.json"]  # fmt: skip


@pytest.mark.parametrize("path", TEXT_FILES)
def test_file_that_was_cut_is_read_up_to_the_cut(path: str) -> None:
    data = content(path)
    rows = records(as_files([(path.rpartition("/")[2], data[: len(data) * 7 // 10])]))
    whole = answers(records(sample(path)))
    assert len(whole) / 3 <= len(answers(rows)) <= len(whole)
    assert _parts(answers(rows)) < _parts(whole)
    if not path.endswith(("csv", "tsv")):  # where a table ends is no fault that one can see
        assert [problem.code for problem in problems(rows)][-1:] in (["cut"], ["unreadable"])


def _parts(rows: Sequence[ForeignAnswer]) -> int:
    return sum(len(value) if isinstance(value, list) else 1 for row in rows for value in row.values.values())


@pytest.mark.parametrize("path", ["potato/annotations.jsonl", "potato/annotations.csv", "label-studio/export.csv",
                                  "label-studio/export.json", "argilla/records.json"])  # fmt: skip
def test_rows_of_another_encoding_are_named_and_the_rest_is_read(path: str) -> None:
    text = content(path).decode().replace("نان", "pão")
    escaped = path.endswith("records.json")
    text = re.sub(r"\\u[0-9a-f]{4}", "ã", text) if escaped else text.replace("naan", "pão")
    data = text.encode("cp1252", "ignore")
    rows = records(as_files([(path.rpartition("/")[2], data)]))
    assert {problem.code for problem in problems(rows)} == {"encoding"}
    assert all(problem.row > 0 and problem.file for problem in problems(rows))
    assert answers(rows)


@pytest.mark.parametrize("path", ["label-studio/export.json", "argilla/records.json", "potato/annotations.jsonl"])
def test_file_in_utf16_with_its_mark_is_read(path: str) -> None:
    data = content(path).decode().encode("utf-16")
    rows = records(as_files([(path.rpartition("/")[2], data)]))
    assert len(answers(rows)) == len(answers(records(sample(path))))


def test_one_bad_row_in_ten_is_named_and_the_rest_is_read() -> None:
    tasks = json.loads(content("label-studio/export.json"))
    parts = [json.dumps(task) for task in tasks * 2]
    for at in range(3, len(parts), 10):
        parts[at] = parts[at].replace('"annotations"', "annotations", 1)
    rows = records(as_files([("export.json", ("[" + ",".join(parts) + "]").encode())]))
    assert [(problem.row, problem.code) for problem in problems(rows)] == [
        (4, "unreadable"),
        (14, "unreadable"),
        (24, "unreadable"),
    ]
    lines = content("potato/annotations.jsonl").decode().splitlines()
    lines[::10] = [line[:-5] for line in lines[::10]]
    rows = records(as_files([("annotations.jsonl", "\n".join(lines).encode())]))
    assert [problem.row for problem in problems(rows)] == [1, 11, 21, 31]
    assert len(answers(rows)) == 32
    images = content("cvat/annotations-potato.xml").decode().replace('xtl="2', 'xtl="two ')
    rows = records(as_files([("annotations.xml", images.encode())]))
    bad = {problem.row for problem in problems(rows)}
    assert bad and len(answers(rows)) == 12 - len(bad)


def test_coco_annotation_that_names_nothing_is_refused_with_its_row() -> None:
    data = json.loads(content("cvat/instances_default.json"))
    data["annotations"][2]["category_id"] = 99
    data["annotations"][3]["image_id"] = 99
    data["annotations"][4]["bbox"] = [1, 2, "3", 4]
    rows = records(as_files([("instances_default.json", json.dumps(data).encode())]))
    assert [(problem.row, problem.code) for problem in problems(rows)][:1] == [(3, "unknown_label")]
    assert {problem.code for problem in problems(rows)} >= {"unknown_label", "no_item", "box_not_numbers"}
    assert len(answers(rows)) == 11


ENTITY = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


def test_hostile_xml_is_refused() -> None:
    for head in (ENTITY, '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'):
        data = f'{head}<annotations><image name="&x;" width="1" height="1"/></annotations>'.encode()
        for name in ("annotations.xml", "late.xml"):
            start = b"<annotations>" if name == "late.xml" else b""
            with pytest.raises(SourceProblem):
                records(as_files([(name, start + data)]))
    config = f'{ENTITY}<View><Choices name="a"/></View>'.encode()
    with pytest.raises(SourceProblem):
        records(as_files([("export.json", content("label-studio/export.json")), ("label-config.xml", config)]))


def test_hostile_json_is_a_problem_of_its_row() -> None:
    deep = '{"id":2,"data":{"a":' + "[" * 5000 + "]" * 5000 + '},"annotations":[]}'
    tasks = f"[{json.dumps(json.loads(content('label-studio/export.json'))[0])},{deep}]"
    rows = records(as_files([("export.json", tasks.encode())]))
    assert [(problem.row, problem.code) for problem in problems(rows)] in ([(2, "too_deep")], [(2, "unreadable")])
    assert len(answers(rows)) == 3


def test_a_long_reading_is_heard_before_the_first_answer() -> None:
    """Rows are sorted before the first is given, so the job's lease is kept by the blocks that are read."""
    for paths in (("cvat/instances_default.json",), POTATO, ARGILLA, ("doccano/bounding-box.jsonl.zip",)):
        pulses: list[int] = []
        files = [with_pulse(file, lambda pulses=pulses: pulses.append(1)) for file in sample(*paths)]  # type: ignore[misc]
        reader = reader_for(files)
        pulses.clear()
        assert answers(list(reader.read(files, ForeignMapping()))) and pulses


def test_hostile_yaml_is_refused() -> None:
    for text in ("a: &x [1]\nb: *x", "a: !!python/object/apply:os.system [id]"):
        files = [("annotations.jsonl", content("potato/annotations.jsonl")), ("config.yaml", text.encode())]
        with pytest.raises(SourceProblem):
            records(as_files(files))


def test_hostile_zip_is_refused() -> None:
    for name in ("../../etc/annotations.jsonl", "/etc/annotations.jsonl", "C:/annotations.jsonl"):
        with pytest.raises(SourceProblem):
            as_files([("export.zip", _zip({name: content("potato/annotations.jsonl")}))])
    with pytest.raises(SourceProblem):
        as_files([("bomb.zip", _zip({"annotations.jsonl": b"0" * 50_000_000}))])
    with pytest.raises(SourceProblem):
        as_files([("damaged.zip", _zip({"annotations.jsonl": b"{}"})[:-30])])
    damaged = bytearray(_zip({"a.jsonl": content("potato/annotations.jsonl")}, zipfile.ZIP_STORED))
    damaged[2000] ^= 255
    with pytest.raises(SourceProblem):
        records(as_files([("damaged.zip", bytes(damaged))]))


def _zip(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def test_files_that_no_tool_wrote_are_refused_with_the_known_names() -> None:
    for name, data in (("a.json", b"[1, 2]"), ("b.bin", b"\x00\x01"), ("c.csv", b"a,b\n1,2"), ("d.json", b"")):
        with pytest.raises(SourceProblem, match="Label Studio"):
            records(as_files([(name, data)]))


def test_every_reader_refuses_files_that_are_not_its_own() -> None:
    """No reader raises anything but SourceProblem on files of any other."""
    for row in COUNTS[::3]:
        files = sample(*row[0])
        for reader in READERS:
            if reader.key != row[1]:
                try:
                    rows = list(reader.read(files, ForeignMapping()))
                except SourceProblem:
                    continue
                assert not [one for one in answers(rows) if one.values] or reader.key in ("hugging_face", "table")
