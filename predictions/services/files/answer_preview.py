"""A look into a file of a model's answers before it comes in: what it is, what can be known of it, its first rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from annotation.imports.source import Row
from annotation.models import Campaign, CampaignCohort
from annotation.services.files.rows import ImportTarget, RowsRejected, look_up, resolve_answer
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.sheets.sheet import Sheet, localise
from benchmarks.imports.problems import RowProblem
from predictions.imports import coco, inspect, lm_eval
from predictions.imports.samples import ALL, FileDescription, flatten
from predictions.requests.serialization import storable
from predictions.services.files import answer_samples
from predictions.services.files.answer_samples import (
    RATINGS,
    AnswerFile,
    FileAnswer,
    items_named,
    model_named,
    reword_problem,
)
from predictions.texts.call_reasons import reason_text

LOOKED = 300
SCANNED = 20_000
SHOWN = 5
LONGEST_CELL = 200


@dataclass(frozen=True)
class FilePreview:
    """`keys`: columns that name items, with how many of the `seen` rows they name one for, the best first. `targets`:
    columns that name cultures of the campaign, in how many of the rows, the most first. `cultures`: those it asks
    about, where a file does not say of itself which each answer is about. `only`: filters of lm-eval, or scorers of
    Inspect. `settings`: of a table. `names`: what the release's COCO file calls things."""

    format: str
    seen: int
    keys: Mapping[str, int] = field(default_factory=dict)
    targets: Mapping[str, int] = field(default_factory=dict)
    cultures: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    names: coco.Names = field(default_factory=coco.Names)

    def guess(self) -> FileDescription:
        """What is likeliest, to be shown and confirmed."""
        return FileDescription(
            key=next(iter(self.keys), ""),
            target=next(iter(self.targets), ALL + self.cultures[0] if len(self.cultures) == 1 else ""),
            only=self.only[0] if self.only and self.format == lm_eval.KEY else "",
            field=next(iter(self.fields), ""),
            rater=self.models[0] if len(self.models) > 1 else "",
            of_setting=self.settings[0] if len(self.settings) > 1 else "",
        )


def inspect_file(file: AnswerFile, campaign: Campaign, sheet: Sheet, language: str = "en") -> FilePreview:
    """Raises SourceProblem for a file that cannot be read at all."""
    with answer_samples.open_file(file) as rows:
        some = [row for _number, row in islice(rows, LOOKED) if isinstance(row, Mapping)]
        only, models, settings = Counter[str](), Counter[str](), Counter[str]()
        for row in [*some, *_scanned_rows(rows)]:
            only.update(map(storable, _filter_choices(file.format, row)))
            models.update(storable(name) for name in [_model(file.format, row)] if name)
            settings.update([storable(str(row.get("setting") or "").strip())] if _model(file.format, row) else [])
    some = [row for row in some if file.format != inspect.KEY or "id" in row]
    cultures, names = _target_choices(file, campaign), answer_samples.names_of(file)
    return FilePreview(
        file.format, len(some), _keys(file, some, names, campaign), _targets(some, cultures), cultures, tuple(only),
        tuple(models), tuple(settings) if file.format == RATINGS else (), _fields(file, sheet, language), names,
    )  # fmt: skip


def _scanned_rows(rows: Iterator[Row]) -> Iterator[Mapping[str, Any]]:
    return (row for _number, row in islice(rows, SCANNED) if isinstance(row, Mapping))


def _filter_choices(kind: str, row: Mapping[str, Any]) -> list[str]:
    if kind == lm_eval.KEY:
        return [name for name in [lm_eval.filters_of(row)] if name]
    return inspect.scorers_of(row) if kind == inspect.KEY else []


def _model(kind: str, row: Mapping[str, Any]) -> str:
    if kind == RATINGS:
        return "" if row.get("rater_kind") == "person" else model_named(row)
    return str(row.get("model") or "") if kind == inspect.KEY and "id" not in row else ""


def _fields(file: AnswerFile, sheet: Sheet, language: str) -> dict[str, str]:
    """Questions of the sheet that this file can answer; of a table, that is said row by row."""
    if file.format == RATINGS:
        return {}
    boxes = file.format == coco.KEY
    fields = [one for one in sheet.fields if (one.spec.level(one.config) == "box") == boxes]
    return {one.key: localise(one.label, language).replace("{target}", "…") for one in fields}


def _keys(file: AnswerFile, some: list[Mapping[str, Any]], names: coco.Names, campaign: Campaign) -> dict[str, int]:
    """A table and detections say it themselves."""
    if file.format == RATINGS:
        return {"item": len(some)}
    if file.format == coco.KEY:
        values = [str(row.get("image_id")) for row in some]
        return {
            "image_id": _matches([names.images.get(value, (value, 0, 0))[0] or value for value in values], campaign)
        }
    columns = {name: [str(flatten(row).get(name, "")) for row in some] for name in _scalar_columns(some)}
    found = {name: _matches(values, campaign) for name, values in columns.items()}
    good = {name: n for name, n in sorted(found.items(), key=lambda one: -one[1]) if n}
    return good or dict.fromkeys(columns, 0)


def _scalar_columns(some: list[Mapping[str, Any]]) -> list[str]:
    row = flatten(some[0]) if some else {}
    fits = (name for name, one in row.items() if isinstance(one, str | int) and not isinstance(one, bool))
    return [name for name in fits if len(str(row[name])) <= LONGEST_CELL and _may_name(name)]


def _may_name(column: str) -> bool:
    """Replies and settings name no item."""
    return column.split(".")[0] in ("doc", "doc_id", "id", "metadata", "target", "input")


def _matches(values: list[str], campaign: Campaign) -> int:
    found = items_named(campaign.stage, set(values))
    return sum(value in found and not isinstance(found[value], RowProblem) for value in values)


def _target_choices(file: AnswerFile, campaign: Campaign) -> tuple[str, ...]:
    """A table names them row by row; an item that is asked about for its own culture names it itself."""
    stage = campaign.stage
    if not stage.has_target or stage.own_items_only or file.format == RATINGS:
        return ()
    rows = CampaignCohort.objects.filter(campaign=campaign).order_by("cohort__label")
    return tuple(rows.values_list("cohort__label", flat=True))


def _targets(some: list[Mapping[str, Any]], cultures: tuple[str, ...]) -> dict[str, int]:
    """Also where not every row names one that is asked about: that row is then told, not put to another culture."""
    if not cultures:
        return {}
    found = {name: sum(flatten(row).get(name) in cultures for row in some) for name in _columns(some)}
    return {name: n for name, n in sorted(found.items(), key=lambda one: -one[1]) if n}


def _columns(some: list[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in some[:20] for name in _scalar_columns([row])))


@dataclass(frozen=True)
class PreviewRow:
    """A row as it would come in: the answers by field, or why it has no value, or what is wrong with the row."""

    number: int
    item: str
    target: str
    text: str
    answers: Mapping[str, Any]
    unread: str = ""
    wrong: str = ""


def preview_rows(
    file: AnswerFile, looked: FilePreview, description: FileDescription, campaign: Campaign, now: Any
) -> list[PreviewRow]:
    """The first answers, without writing anything."""
    sheet = sheet_of(campaign.sheet_version)
    place = ImportTarget(
        campaign, sheet, {row.cohort.label: row for row in campaign.cohorts.select_related("cohort")}, ""
    )
    with answer_samples.open_file(file) as rows:
        first = islice(rows, LOOKED if file.format == coco.KEY else SCANNED)
        found = answer_samples.read_answers(file, first, description, sheet, campaign.stage, lambda: None, looked.names)
        some = answer_samples.match_items(list(islice(found, SHOWN)), file, description, sheet, campaign.stage)
    for file_answer in some:
        file_answer.gathered.row = {**file_answer.gathered.row, "rater": "model", "rater_kind": "model"}
    known = look_up(place, [one.gathered for one in some])
    return [_preview_row(one, place, known, now) for one in some]


def _of_table(row: Mapping[str, Any]) -> str:
    """What a row of ratings says, question by question."""
    answers = row.get("answers")
    if isinstance(answers, Mapping):
        return ", ".join(f"{key}: {value}" for key, value in answers.items())
    return str(answers or row.get("code") or "")


def _preview_row(answer: FileAnswer, place: ImportTarget, known: Any, now: Any) -> PreviewRow:
    row = answer.gathered.row
    item = storable(str(row.get("item", ""))), storable(str(row.get("target") or row.get("cohort") or ""))
    text = storable((answer.raw or _of_table(row))[:LONGEST_CELL])
    if answer.unread is not None:
        return PreviewRow(answer.number, *item, text, {}, unread=reason_text(answer.unread.reason))
    try:
        return PreviewRow(answer.number, *item, text, resolve_answer(place, answer.gathered, known, now).parsed.answers)
    except RowsRejected as refused:
        problems = [reword_problem(problem, item[0]) for problem in refused.problems.values()]
        words = " ".join(dict.fromkeys(problem.message for problem in problems))
        return PreviewRow(answer.number, *item, text, {}, **({"unread": words} if refused.codes else {"wrong": words}))
