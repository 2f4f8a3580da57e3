"""COCO files of a release: one for each question that asks for boxes, with the boxes of all people.

Where disagreements were settled, or a reviewer accepted one answer to an item, a second file holds the boxes that
hold. Boxes of models are in the tables of ratings only. Memory holds a few numbers for each picture with an answer.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.fields.contract import Option, localise
from annotation.models import Annotation, Assignment, Resolution
from annotation.sheets.sheet import Sheet
from benchmarks.models import Stage
from evaluation.metrics.boxes import corners_of, overlap
from releases.contents.tables import ITEMS, RATINGS, ReleaseTable
from releases.exports.codebook import sheets_of
from releases.formats.coco import LicenceNumbers, Object, detection, file_info, pixel_box
from releases.models import Release
from releases.rows.columns import Row

Progress = Callable[[int], None]
IMAGES = "images/"
MAIN_ROLE = "image"
ADJUDICATED, ACCEPTED = "adjudicated", "accepted"


@dataclass(frozen=True)
class BoxQuestion:
    """A question that asks for boxes. `labels`: of all versions of the sheet, those of the newest first."""

    key: str
    labels: tuple[Option, ...]
    may_lack_label: bool

    def categories(self) -> list[Object]:
        """The labels from 1 on; after them, named like the question, what boxes without a label are."""
        named = [
            {"id": number, "name": label.code, "supercategory": self.key, "emic_label": localise(label.label, "en")}
            for number, label in enumerate(self.labels, start=1)
        ]
        bare = [{"id": len(named) + 1, "name": self.key, "supercategory": self.key}]
        return named + bare if self.may_lack_label else named

    def numbers(self) -> dict[str, int]:
        """The number of a category by the code of a label, "" for none."""
        known = {label.code: number for number, label in enumerate(self.labels, start=1)}
        return {**known, "": len(known) + 1}


@dataclass(frozen=True)
class CocoFile:
    """`open` makes the content, and tells `Progress` of the rows it reads. `expected`: how many those are."""

    path: str
    open: Callable[[Progress], Iterator[bytes]]
    expected: int


def coco_files(
    release: Release, tables: Sequence[ReleaseTable], pictures: Callable[[Progress], Iterator[Row]]
) -> Iterator[CocoFile]:
    """A file for each split with answers, where there are several. `pictures`: the rows of the table of pictures, which
    name the files. Without that table there is no picture that a box could be on."""
    counts = release.facts.get("rows", {})
    items = sum(counts.get(table.name, 0) for table in tables if table.table.key == ITEMS)
    ratings = [table for table in tables if table.table.key == RATINGS]
    for table in ratings if release.chosen.pictures != "none" else ():
        splits = dict.fromkeys(part.split for part in table.parts)
        for question in box_questions(table):
            for split in splits:
                path = f"coco/{table.stage.key}-{question.key}" + (
                    f"-{split}" if len(release.chosen.split_names) > 1 else ""
                )
                read = items + 2 * sum(part.rows for part in table.parts if part.split == split)
                yield CocoFile(f"{path}.json", _opener(table, question, split, pictures, _all_boxes), read)
                if question.key in release.facts["consensus"].get(table.stage.key, ()):
                    opener = _opener(table, question, split, pictures, _consensus)
                    yield CocoFile(f"{path}-consensus.json", opener, read)


def consensus_questions(tables: Sequence[ReleaseTable]) -> dict[str, list[str]]:
    """By stage, the questions of boxes of which some were settled or accepted. Read when the rows are frozen."""
    ratings = [table for table in tables if table.table.key == RATINGS]
    return {table.stage.key: [q.key for q in box_questions(table) if _has_consensus(table, q.key)] for table in ratings}


def _has_consensus(table: ReleaseTable, key: str) -> bool:
    settled = Resolution.objects.filter(unit__item__stage=table.stage, field=key, live=True)
    accepted = Annotation.objects.filter(
        assignment__campaign__in=table.campaigns,
        assignment__state=Assignment.State.ACCEPTED,
        live=True,
        counted=True,
        **{f"answers__{key}__isnull": False},
    )
    return settled.exclude(answer=None).exists() or accepted.exists()


def box_questions(table: ReleaseTable) -> list[BoxQuestion]:
    sheets = [sheet for _version, sheet in reversed(sheets_of(table.campaigns).values())]
    keys = dict.fromkeys(one.key for sheet in sheets for one in sheet.fields if one.spec.level(one.config) == "box")
    return [_question(key, sheets) for key in keys]


def _question(key: str, sheets: Sequence[Sheet]) -> BoxQuestion:
    fields = [one for sheet in sheets for one in sheet.fields if one.key == key]
    labels: dict[str, Option] = {}
    for one in fields:
        for label in one.spec.part_labels(one.config) if one.spec.level(one.config) == "box" else ():
            labels.setdefault(label.code, label)
    required = all(one.spec.needs_part_label(one.config) for one in fields)
    return BoxQuestion(key, tuple(labels.values()), not required)


@dataclass
class _Answered:
    """What is known of an item with an answer. `image`: its number and size, once its picture is known."""

    origin: str
    concept: str
    has_box: bool = False
    image: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class _Drawn:
    """Boxes of one annotation, or those that settled a disagreement about `row`."""

    row: Row
    boxes: Sequence[Mapping[str, Any]]
    more: Mapping[str, Any] = field(default_factory=dict)


Select = Callable[[Iterable[Row], str], Iterator[_Drawn]]


def _opener(
    table: ReleaseTable, question: BoxQuestion, split: str, pictures: Callable[[Progress], Iterator[Row]],
    select: Select,
) -> Callable[[Progress], Iterator[bytes]]:  # fmt: skip
    def begin(progress: Progress) -> Iterator[bytes]:
        return _content(
            table, question, pictures(progress), lambda: select(_rows(table, split, progress), question.key)
        )

    return begin


def _rows(table: ReleaseTable, split: str, progress: Progress) -> Iterator[Row]:
    """Counted answers of people to items of a split that are still there."""
    for row in table.frozen_rows(progress, [part for part in table.parts if part.split == split]):
        if row["counted"] and not row["withdrawn"] and row["rater_kind"] == "person":
            yield row


def _all_boxes(rows: Iterable[Row], key: str) -> Iterator[_Drawn]:
    for row in rows:
        yield _Drawn(row, row["answers"].get(key) or ())


def _consensus(rows: Iterable[Row], key: str) -> Iterator[_Drawn]:
    """Of each item and target the answer that settled it, else the one that a reviewer accepted; of several accepted
    ones that which overlaps the others most.

    What cannot be decided has none. Memory holds these answers.
    """
    settled: dict[tuple[str, str], _Drawn] = {}
    accepted: dict[tuple[str, str], list[_Drawn]] = {}
    for row in rows:
        unit = (row["item"], row["target"])
        if key in row["resolved"]:
            settled.setdefault(unit, _Drawn(row, row["resolved"][key] or (), {"emic_basis": ADJUDICATED}))
        elif row["state"] == ACCEPTED and row["answers"].get(key):
            accepted.setdefault(unit, []).append(_Drawn(row, row["answers"][key]))
    central = (_most_central(drawings) for unit, drawings in accepted.items() if unit not in settled)
    yield from (drawn for drawn in (*settled.values(), *central) if drawn.boxes)


def _most_central(drawings: Sequence[_Drawn]) -> _Drawn:
    """The answer with the largest sum of overlaps with the others, the earliest of equal ones. It says of how many."""
    boxes = [corners_of(drawn.boxes) for drawn in drawings]
    sums = [sum(overlap(ours, theirs) for theirs in boxes) for ours in boxes]
    drawn = drawings[sums.index(max(sums))]
    return _Drawn(drawn.row, drawn.boxes, {"emic_basis": ACCEPTED, "emic_accepted": len(drawings)})


def _content(
    table: ReleaseTable,
    question: BoxQuestion,
    pictures: Iterator[Row],
    select: Callable[[], Iterator[_Drawn]],
) -> Iterator[bytes]:
    """The rows are read twice: first for the pictures, then for the boxes."""
    answered: dict[str, _Answered] = {}
    for drawn in select():
        known = answered.setdefault(drawn.row["item"], _Answered(drawn.row["origin"], drawn.row["concept"]))
        known.has_box = known.has_box or bool(drawn.boxes)
    licences = LicenceNumbers()
    images = list(_images(table.stage, answered, pictures, licences))
    bare = [one.image[0] for _key, one in sorted(answered.items()) if one.image and not one.has_box]
    release = table.release
    info = {**file_info(release.benchmark, release.version), "emic_answered_without_box": bare}
    head = {"info": info, "licenses": licences.objects(), "categories": question.categories(), "images": images}
    for name, value in head.items():
        yield f"{'{' if name == 'info' else ', '}{json.dumps(name)}: ".encode() + _json(value)
    yield b', "annotations": ['
    for number, annotation in enumerate(_annotations(question, answered, select()), start=1):
        yield (b"\n" if number == 1 else b",\n") + _json({**annotation, "id": number})
    yield b"\n]}\n"


def _images(
    stage: Stage, answered: Mapping[str, _Answered], pictures: Iterator[Row], licences: LicenceNumbers
) -> Iterator[Object]:
    """The picture that is drawn upon, of each item with an answer, by the order of their keys."""
    shown: dict[str, Row] = {}
    for picture in pictures:
        key = picture["item"]
        of_answer = picture["stage"] == stage.key and key in answered
        if of_answer and (key not in shown or picture["role"] == MAIN_ROLE):
            shown[key] = picture
    for number, key in enumerate(sorted(shown), start=1):
        picture, known = shown[key], answered[key]
        known.image = (number, picture["width"], picture["height"])
        yield {
            "id": number,
            "file_name": (picture["file"] or f"{picture['source_sha256']}.{picture['format']}").removeprefix(IMAGES),
            "width": picture["width"],
            "height": picture["height"],
            "license": licences.number(picture["licence"]),
            "emic_item": key,
            "country": known.origin,
            "concept": known.concept,
        }


def _annotations(
    question: BoxQuestion, answered: Mapping[str, _Answered], drawings: Iterable[_Drawn]
) -> Iterator[Object]:
    numbers = question.numbers()
    for drawn in drawings:
        image = answered[drawn.row["item"]].image
        if image is None:
            continue
        number, width, height = image
        for box in drawn.boxes:
            bbox = pixel_box((box["x0"], box["y0"], box["x1"], box["y1"]), width, height)
            category = numbers[box.get("label", "")]
            yield {**detection(0, number, category, bbox), **_origin(drawn), **drawn.more}


def _origin(drawn: _Drawn) -> Object:
    """Whose box it is. Of one that settled a disagreement, who settled it."""
    row = drawn.row
    if drawn.more.get("emic_basis") == ADJUDICATED:
        whose = {"emic_annotation": None, "emic_rater": row["resolved_by"], "emic_cohort": None}
    else:
        whose = {"emic_annotation": row["annotation"], "emic_rater": row["rater"], "emic_cohort": row["cohort"]}
    return {**whose, "emic_target": row["target"]}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
