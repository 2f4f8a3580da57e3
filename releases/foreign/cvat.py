"""CVAT XML 1.1 "for images": of CVAT itself, or of a program that writes its format. Pure."""

from collections.abc import Iterator, Sequence

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
from releases.foreign.values import head_of, problem_of, stem, type_problem
from releases.foreign.xml_stream import XmlElement, parse_xml, read_xml_elements

BOX, TAG = "box", "tag"
HEAD = 256 * 1024
SHAPES = {"polygon", "polyline", "points", "mask", "cuboid", "skeleton", "ellipse"}


class CvatReader:
    key, name = "cvat", "CVAT XML"

    def sniff(self, files: Sequence[ForeignFile]) -> float:
        return max((1.0 if _is_cvat(file) else 0.0 for file in files), default=0.0)

    def program(self, files: Sequence[ForeignFile]) -> SourceProgram:
        """CVAT dates its files, Datumaro writes the order of each box, and Potato neither of them."""
        head = next((head_of(file) for file in files if _is_cvat(file)), "")
        if "<dumped>" in head:
            return SourceProgram("CVAT", sign="dumped")
        if "<z_order>" in head or "keyframe=" in head:
            return SourceProgram("Datumaro", sign="z_order")
        return SourceProgram("Potato", sign="meta/task") if "<color" in head else SourceProgram("", sign="")

    def sheet(self, files: Sequence[ForeignFile]) -> list[ForeignField]:
        return []

    def read(self, files: Sequence[ForeignFile], mapping: ForeignMapping) -> Iterator[ForeignRecord]:
        readable = [file for file in files if _is_cvat(file)]
        for file in readable:
            rater = _assignee(file) or mapping.rater or (file.base.rpartition(".")[0] if len(readable) > 1 else "")
            with file.open() as stream:
                for number, element in read_xml_elements(stream, "image"):
                    if isinstance(element, RowProblem):
                        yield problem_of(file, number, element)
                    else:
                        yield from _read_image(file, number, element, rater)


def _is_cvat(file: ForeignFile) -> bool:
    head = head_of(file, 4096)
    return head.startswith("<") and "<annotations" in head


def _assignee(file: ForeignFile) -> str:
    """Of the job or the task, where the head of the file names one."""
    head = head_of(file, HEAD)
    start, end = head.find("<meta>"), head.find("</meta>")
    if start < 0 or end < 0:
        return ""
    try:
        meta = parse_xml(head[start : end + 7])
    except RowProblem as problem:
        raise SourceProblem(problem.message) from problem
    names = [name for one in meta.walk() if one.tag == "assignee" for name in one.walk() if name.tag == "username"]
    return names[0].text.strip() if names else ""


def _read_image(file: ForeignFile, number: int, image: XmlElement, rater: str) -> Iterator[ForeignRecord]:
    name = image.attributes.get("name", "")
    if not name:
        yield ForeignProblem(file.name, number, "no_key", _("The picture has no name."))
        return
    item = stem(name)
    size = _size(image)
    stated = {side: image.attributes[side] for side in ("width", "height") if side in image.attributes}
    yield from (type_problem(file, number, side, "number") for side, text in stated.items() if not text.isdecimal())
    yield ForeignItem(file.name, number, item, picture=name, size=size)
    boxes: list[ForeignBox] = []
    values: dict[str, object] = {}
    left_out: dict[str, list[object]] = {}
    for element in image.children:
        if element.tag == "box":
            box = _box(element, size)
            if box is None:
                text = _("A box of “%(name)s” has a corner that is no number.")
                yield ForeignProblem(file.name, number, "box_not_numbers", text % {"name": name})
                return
            boxes.append(box)
            for attribute in element.named("attribute"):
                kept = {"attribute": attribute.attributes.get("name", ""), "value": attribute.text}
                left_out.setdefault("attribute of a region", []).append(kept)
        elif element.tag == "tag":
            _add_tag(element, values)
        else:
            kind = element.tag if element.tag in SHAPES else "unknown"
            left_out.setdefault(kind, []).append(dict(element.attributes))
    values |= {BOX: boxes} if boxes else {}
    if values or left_out:
        yield ForeignAnswer(file.name, number, item, rater, values, left_out=left_out)


def _size(image: XmlElement) -> tuple[int, int] | None:
    width, height = image.attributes.get("width", ""), image.attributes.get("height", "")
    return (int(width), int(height)) if width.isdecimal() and height.isdecimal() and len(width + height) < 16 else None


def _add_tag(element: XmlElement, values: dict[str, object]) -> None:
    """A tag is an option of the picture; its attributes are questions of their own."""
    chosen = values.setdefault(TAG, [])
    assert isinstance(chosen, list)
    chosen.append(element.attributes.get("label", ""))
    for attribute in element.named("attribute"):
        if name := attribute.attributes.get("name"):
            values[name] = attribute.text.strip()


def _box(element: XmlElement, size: tuple[int, int] | None) -> ForeignBox | None:
    try:
        left, top, right, bottom = (float(element.attributes[name]) for name in ("xtl", "ytl", "xbr", "ybr"))
        angle = float(element.attributes.get("rotation", "0"))
    except (KeyError, ValueError):
        return None
    return ForeignBox(
        left, top, right - left, bottom - top, "pixel", element.attributes.get("label", ""), size, angle, "centre"
    )
