"""COCO instances: of CVAT, Datumaro, FiftyOne, Potato, Label Studio or any other program. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem
from releases.foreign.contract import (
    ForeignAnswer,
    ForeignBox,
    ForeignField,
    ForeignFile,
    ForeignItem,
    ForeignMapping,
    ForeignProblem,
    ForeignRecord,
    SourceProgram,
)
from releases.foreign.json_stream import read_json_members
from releases.foreign.row_groups import group_rows
from releases.foreign.values import (
    as_code,
    as_number,
    four_numbers,
    head_of,
    problem_of,
    stem,
    type_problem,
    type_problems,
)

BOX = "box"
LISTS = ("images", "annotations", "categories")
MOST_IMAGES = 1_000_000
RATER_MEMBERS = ("attributes.annotator", "annotator", "emic_rater", "attributes.rater", "rater")


@dataclass
class CocoIndex:
    """What annotations point at: pictures and categories by id. `entries`: how often each picture's name is there."""

    images: dict[Any, tuple[str, tuple[int, int] | None, int]] = field(default_factory=dict)
    categories: dict[Any, str] = field(default_factory=dict)
    entries: Counter[str] = field(default_factory=Counter)

    @property
    def repeats(self) -> bool:
        """Whether a picture has several entries: one for each of its annotators, who are not named."""
        return any(count > 1 for count in self.entries.values())


class CocoReader:
    key, name = "coco", "COCO"

    def sniff(self, files: Sequence[ForeignFile]) -> float:
        return max((0.9 if _is_coco(file) else 0.0 for file in files), default=0.0)

    def program(self, files: Sequence[ForeignFile]) -> SourceProgram:
        head = next((head_of(file) for file in files if _is_coco(file)), "").replace(" ", "")
        if '"contributor":"LabelStudio"' in head:
            return SourceProgram("Label Studio", sign="info.contributor")
        if '"emic_' in head:
            return SourceProgram("Emic", sign="emic_annotation")
        if '"flickr_url"' in head and '"licenses":[{"name":"","id":0' in head:
            return SourceProgram("Datumaro (CVAT)", sign="licenses")
        return (
            SourceProgram("Potato", sign="images")
            if head.replace("\n", "").startswith('{"images":[')
            else SourceProgram("")
        )

    def sheet(self, files: Sequence[ForeignFile]) -> list[ForeignField]:
        return []

    def read(self, files: Sequence[ForeignFile], mapping: ForeignMapping) -> Iterator[ForeignRecord]:
        for file in files:
            if _is_coco(file):
                index = CocoIndex()
                yield from _read_images(file, index)
                yield from _read_annotations(file, index, mapping)


def _is_coco(file: ForeignFile) -> bool:
    head = head_of(file, 64 * 1024)
    if not head.startswith("{"):
        return False
    members = ('"images"', '"annotations"', '"categories"', '"licenses"', '"info"')
    return ('"file_name"' in head and sum(member in head for member in members) >= 1) or sum(
        member in head for member in members
    ) >= 3


def _read_images(file: ForeignFile, index: CocoIndex) -> Iterator[ForeignRecord]:
    with file.open() as stream:
        for name, number, value in read_json_members(stream):
            if name in LISTS and not number:
                yield (
                    problem_of(file, 0, value) if isinstance(value, RowProblem) else type_problem(file, 0, name, "list")
                )
            if name == "categories" and number:
                yield from _category(file, number, value, index)
            if name != "images" or not number:
                continue
            if isinstance(value, RowProblem):
                yield problem_of(file, number, value)
            elif not isinstance(value, dict) or not value.get("file_name") or isinstance(value.get("id"), dict | list):
                yield ForeignProblem(file.name, number, "no_key", _("The picture has no “file_name”."))
            elif len(index.images) >= MOST_IMAGES:
                raise SourceProblem(_("The file names more than a million pictures."))
            else:
                yield from _image(file, number, value, index)


def _category(file: ForeignFile, number: int, value: Any, index: CocoIndex) -> Iterator[ForeignRecord]:
    if isinstance(value, RowProblem):
        yield problem_of(file, number, value)
    elif not isinstance(value, dict):
        yield ForeignProblem(file.name, number, "wrong_type", _("This category is not an object."))
    elif isinstance(value.get("id"), dict | list):
        yield ForeignProblem(file.name, number, "bad_id", _("The “id” of this category is no number."))
    else:
        index.categories[value.get("id")] = as_code(value.get("name", ""))


def _image(file: ForeignFile, number: int, value: Mapping[str, Any], index: CocoIndex) -> Iterator[ForeignRecord]:
    path = str(value["file_name"])
    yield from type_problems(file, number, value, {"width": "number", "height": "number"})
    width, height = as_number(value.get("width")), as_number(value.get("height"))
    size = (int(width), int(height)) if width and height else None
    index.entries[path] += 1
    index.images[value.get("id")] = (path, size, index.entries[path])
    if index.entries[path] == 1:
        yield ForeignItem(file.name, number, stem(path), picture=path, size=size)


def _read_annotations(file: ForeignFile, index: CocoIndex, mapping: ForeignMapping) -> Iterator[ForeignRecord]:
    member = mapping.rater_member

    def rows() -> Iterator[tuple[int, Any]]:
        with file.open() as stream:
            for name, number, value in read_json_members(stream):
                if name == "annotations" and number:
                    yield number, value

    def key(row: Any) -> str:
        image = row.get("image_id") if isinstance(row, dict) else None
        return f"{image}\n{_rater(row, member, mapping)}"

    for group in group_rows(rows(), key):
        yield from _read_group(file, group, index, mapping)


def _rater(row: Any, member: str, mapping: ForeignMapping) -> str:
    """Who drew it: the chosen member, else those that programs use for it."""
    for path in [member] if member else RATER_MEMBERS:
        value: Any = row
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return as_code(value)
    return mapping.rater


def _read_group(
    file: ForeignFile, group: Sequence[tuple[int, Any]], index: CocoIndex, mapping: ForeignMapping
) -> Iterator[ForeignRecord]:  # fmt: skip
    boxes: list[ForeignBox] = []
    left_out: dict[str, list[Any]] = {}
    wrong = False
    for number, row in group:
        read = row if isinstance(row, RowProblem) else _annotation(row, index, left_out)
        if isinstance(read, RowProblem):
            wrong = True
            yield problem_of(file, number, read)
        elif read is not None:
            boxes.append(read)
    first = group[0][1]
    if not (boxes or left_out) or isinstance(first, RowProblem):
        return
    if wrong:
        text = _("Another box of this answer was rejected, so the whole answer is. Correct that box.")
        yield ForeignProblem(file.name, group[0][0], "same_answer", text)
        return
    path, _size, entry = index.images[first.get("image_id")]
    rater = _rater(first, mapping.rater_member, mapping)
    if index.repeats and not _rater(first, mapping.rater_member, ForeignMapping()):
        rater = f"{rater}-{entry}" if rater else f"entry-{entry}"
    values = {BOX: boxes} if boxes else {}
    yield ForeignAnswer(file.name, group[0][0], stem(path), rater, values, left_out=left_out)


def _annotation(row: Any, index: CocoIndex, left_out: dict[str, list[Any]]) -> ForeignBox | RowProblem | None:
    if not isinstance(row, dict) or isinstance(row.get("image_id"), dict | list):
        return RowProblem("unreadable", _("This annotation is not an object."))
    if row.get("image_id") not in index.images:
        return RowProblem("no_item", _("This annotation names a picture that the file does not have."))
    category = row.get("category_id")
    if isinstance(category, dict | list) or (index.categories and category not in index.categories):
        return RowProblem("unknown_label", _("This annotation names a category that the file does not have."))
    if row.get("iscrowd"):
        left_out.setdefault("crowd", []).append(row.get("segmentation"))
        return None
    if row.get("segmentation"):
        left_out.setdefault("segmentation", []).append(row["segmentation"])
    sides = row.get("bbox")
    numbers = four_numbers(sides) if isinstance(sides, list) else None
    if numbers is None:
        return RowProblem("box_not_numbers", _("“bbox” is not four numbers."))
    _path, size, _entry = index.images[row["image_id"]]
    return ForeignBox(*numbers, unit="pixel", label=index.categories.get(category, ""), size=size)
