"""From a file's samples to rows of answers: which item each is about, and what the sheet is given to parse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from annotation.imports import source
from annotation.imports.row_groups import AnswerRowGroup, group_long_rows, group_wide_rows
from annotation.imports.source import Row
from annotation.models import CampaignCohort
from annotation.sheets.sheet import Sheet, localise
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.models import Item, Stage
from benchmarks.services import storage
from predictions.imports import coco, inspect, lm_eval, samples
from predictions.imports.samples import Boxes, FileDescription, Line, Sample, UnreadableReply
from predictions.requests.serialization import storable

RATINGS = "csv"
FORMATS = (coco.KEY, lm_eval.KEY, inspect.KEY, RATINGS)
HEAD = 64 * 1024


@dataclass
class FileAnswer:
    """An answer of the file: a row that can be imported, or a reply without a value. `number`: its row or sample."""

    gathered: AnswerRowGroup
    raw: str = ""
    unread: UnreadableReply | None = None
    how: str = ""
    notes: Mapping[str, Any] | None = None

    @property
    def number(self) -> int:
        return self.gathered.numbers[0]


@dataclass(frozen=True)
class AnswerFile:
    """A kept upload. `names`: the release's COCO file, where one was sent with it."""

    name: str
    format: str
    names: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.name, self.names) if self.names else (self.name,)


def format_of(file: BinaryIO) -> str:
    """Which of FORMATS; ratings where it is none of the others. The file is at its beginning again."""
    head = file.read(HEAD)
    file.seek(0)
    if head.startswith(b"PK\x03\x04"):
        raise SourceProblem(_("This is a zip. Unpack it first, and send the file that is in it."))
    if coco.is_format(head):
        return coco.KEY
    if inspect.is_format(head):
        return inspect.KEY
    if not head.lstrip(b"\xef\xbb\xbf \t").startswith(b"{"):
        return RATINGS
    _number, first = next(iter(source.rows(file)), (0, {}))
    file.seek(0)
    return lm_eval.KEY if isinstance(first, Mapping) and lm_eval.is_format(first) else RATINGS


@contextmanager
def open_file(file: AnswerFile) -> Iterator[Iterator[Row]]:
    """Its rows, samples or detections as they stand there."""
    with storage.open_binary(file.name) as data:
        if file.format == coco.KEY:
            yield coco.rows(data)
        elif file.format == inspect.KEY:
            yield inspect.rows(data)
        elif file.format == lm_eval.KEY:
            yield source.rows(data)
        else:
            yield source.rows(data, ("item",))


def names_of(file: AnswerFile) -> coco.Names:
    if not file.names:
        return coco.Names()
    with storage.open_binary(file.names) as data:
        return coco.load_summary(data)


def read_answers(
    file: AnswerFile, rows: Iterator[Row], description: FileDescription, sheet: Sheet, stage: Stage,
    beat: Callable[[], None],
    names: coco.Names | None = None,
) -> Iterator[FileAnswer | Line]:  # fmt: skip
    """Each answer, or the sample of one whose item is still to be found (see `match_items`). `names`: of the release's
    file, where it has been read."""
    if file.format == coco.KEY:
        yield from coco.lines(rows, names or names_of(file), beat)
    elif file.format == inspect.KEY:
        yield from inspect.lines(rows, description)
    elif file.format == lm_eval.KEY:
        yield from lm_eval.lines(rows, description)
    else:
        with_names = _of_model(rows, description.rater, description.of_setting)
        first, with_names = _first_rows(with_names)
        long = source.is_long_format(iter(first))
        many = group_long_rows(with_names, sheet, stage.has_target, beat) if long else group_wide_rows(with_names)
        yield from (FileAnswer(answer_row_group) for answer_row_group in many)


def _first_rows(rows: Iterator[Row]) -> tuple[list[Row], Iterator[Row]]:
    first: list[Row] = []
    for row in rows:
        first.append(row)
        if len(first) == 100:
            break

    def both() -> Iterator[Row]:
        yield from first
        yield from rows

    return first, both()


def model_named(row: Mapping[str, Any]) -> str:
    """Which model a row of ratings is of; empty where it does not say."""
    return str(row.get("rater") or row.get("model") or "").strip()


def _of_model(rows: Iterator[Row], wanted: str, setting: str) -> Iterator[Row]:
    """Rows of one model in one setting: those of others are other runs."""
    for number, row in rows:
        if not isinstance(row, RowProblem) and setting and str(row.get("setting") or "").strip() != setting:
            continue
        if isinstance(row, RowProblem) or not wanted or model_named(row) in ("", wanted):
            if not isinstance(row, RowProblem) and row.get("rater_kind") == "person":
                text = _("This is a person's answer. Import those of people at the campaign.")
                row = RowProblem("is_a_person", text)
            yield number, row


def match_items(
    lines: Sequence[FileAnswer | Line], file: AnswerFile, description: FileDescription, sheet: Sheet, stage: Stage
) -> list[FileAnswer]:
    """The samples with their items, looked up together. What cannot be placed has a problem."""
    keys = {line.key for line in lines if isinstance(line, Sample)}
    items = items_named(stage, keys)
    asked = CampaignCohort.objects.filter(campaign__stage=stage).values_list("cohort__label", flat=True)
    cultures = frozenset(asked) if stage.has_target and keys else frozenset()
    return [
        line if isinstance(line, FileAnswer) else _place_line(line, items, description, sheet, stage, cultures)
        for line in lines
    ]


def _place_line(
    line: Line, items: Mapping[str, Item | RowProblem], description: FileDescription, sheet: Sheet, stage: Stage,
    cultures: frozenset[str],
) -> FileAnswer:  # fmt: skip
    if not isinstance(line, Sample):
        number, problem = line
        return FileAnswer(AnswerRowGroup([number], {}, {number: problem}))
    item = items.get(line.key)
    if item is None or isinstance(item, RowProblem):
        text = _("There is no item “%(key)s” in this stage, nor a picture of that name.") % {"key": line.key[:80]}
        problem = item or RowProblem("no_item", text)
        return FileAnswer(AnswerRowGroup([line.number], {"item": line.key}, {line.number: problem}), line.raw)
    row: dict[str, Any] = {"item": item.key}
    if stage.has_target:
        target = description.target
        row["target"] = target.removeprefix(samples.ALL) if target.startswith(samples.ALL) else (
            line.target if description.target else item.culture
        )  # fmt: skip
        if row["target"] not in cultures:
            text = _("Its culture, “%(name)s”, is none that is asked about in this stage.")
            problem = RowProblem("no_target", text % {"name": str(row["target"])[:80]})
            return FileAnswer(AnswerRowGroup([line.number], {"item": line.key}, {line.number: problem}), line.raw)
    how = (
        "likelihood"
        if isinstance(line.answer, samples.Likelihoods)
        else ""
        if isinstance(line.answer, Boxes)
        else "text"
    )
    answer = FileAnswer(
        AnswerRowGroup([line.number], row, partial=description.field != samples.WHOLE), line.raw, how=how
    )
    try:
        row["answers"] = _boxes(line.answer, item, sheet, description, answer) if isinstance(line.answer, Boxes) else (
            samples.answers(line, sheet, description.field)
        )  # fmt: skip
    except UnreadableReply as unread:
        answer.unread = unread
        return answer
    answer.gathered.of = dict.fromkeys(row["answers"], line.number)
    return answer


def _boxes(
    boxes: Boxes, item: Item, sheet: Sheet, description: FileDescription, answer: FileAnswer
) -> Mapping[str, Any]:
    """The best scored box; of a question with labels the best boxes whose category is a label, where there are some."""
    image = next((use.image for use in sorted(item.images.all(), key=lambda use: use.role)), None)
    if image is None:
        raise UnreadableReply("unparseable", "no_image")
    size, field = (image.width, image.height), sheet.field(description.field)
    names = {
        name.casefold(): label.code
        for label in field.spec.part_labels(field.config)
        for name in (localise(label.label, "en"), label.code)
    }
    try:
        most = int(field.spec.rubric("", field.config).schema.get("maxItems", 1))
        labelled = coco.labelled_boxes(boxes, size, names, most)
        best = None if labelled else coco.best_box(boxes, size, item.concept)
    except ValueError as error:
        raise UnreadableReply("out_of_range", str(error)) from None
    if labelled:
        answer.notes = {"rule": "best_scored", "score": labelled[0].score, "among": len(boxes.found)}
        return {description.field: [[*one.box, one.label] for one in labelled]}
    if best is None:
        raise UnreadableReply("unparseable", "no_box")
    answer.notes = {"rule": "best_scored", "score": best.score, "among": best.among}
    return {description.field: [list(best.box)]}


def _spellings(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name)
    return name, str(path.parent / path.stem), path.name, path.stem


def reword_problem(problem: RowProblem, key: str) -> RowProblem:
    """In words of this door: it makes no items."""
    if problem.code != "no_item":
        return problem
    text = _("There is no item “%(key)s” in this stage. Import the items first, then this file.")
    return RowProblem("no_item", text % {"key": key[:80]})


def items_named(stage: Stage, names: Collection[str]) -> dict[str, Item | RowProblem]:
    """Items by what a file calls them: an item's key; else the name of a picture's file with or without its folder and
    ending, as a key, as the picture's source or as its SHA-256. A name that fits several items fits none."""
    keyed: dict[str, list[Item]] = defaultdict(list)
    wanted = {name: _spellings(name) for name in names if name == storable(name)}
    spelt = {one for many in wanted.values() for one in many}
    rows = Item.objects.filter(stage=stage).prefetch_related("images__image")
    for item in rows.filter(key__in=spelt):
        keyed[item.key].append(item)
    rest = {one for name, many in wanted.items() if not any(spelling in keyed for spelling in many) for one in many}
    for item in rows.filter(images__image__sha256__in=rest).distinct() if rest else ():
        for use in item.images.all():
            if item not in keyed[use.image.sha256]:
                keyed[use.image.sha256].append(item)
    for item in rows.filter(images__source__in=rest).distinct() if rest else ():
        for use in item.images.all():
            if item not in keyed[use.source]:
                keyed[use.source].append(item)
    items_by_name: dict[str, Item | RowProblem] = {}
    for name, spellings in wanted.items():
        items = next((keyed[spelling] for spelling in spellings if keyed.get(spelling)), [])
        if len(items) == 1:
            items_by_name[name] = items[0]
        elif items:
            text = _("“%(key)s” is the picture of several items. Name each by its key.") % {"key": name[:80]}
            items_by_name[name] = RowProblem("several_items", text)
    return items_by_name
