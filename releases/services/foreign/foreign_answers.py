"""Answers of another tool as the sheet's own: each value in a form that its field parses, each box in fractions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.displays.shown_item import build_shown
from annotation.fields.contract import InvalidAnswer, Shown
from annotation.imports.row_groups import AnswerRowGroup
from annotation.imports.rows import clean
from annotation.models import Unit
from annotation.services.files.answer_files import report_rejected, report_written
from annotation.services.files.rows import ImportTarget, ParsedAnswer, RowLookup, RowsRejected, look_up, resolve_answer
from annotation.services.files.skips import SkippedRow, write_skips
from annotation.services.files.writing import write
from annotation.sheets.sheet import Field
from benchmarks.imports.problems import RowProblem
from benchmarks.models import Item
from jobs.models import JobRow
from people.models import Rater
from releases.foreign.boxes import BoxRefused, box_fractions
from releases.foreign.contract import UPRIGHT, ForeignAnswer, ForeignBox, ForeignMapping

SETTING = "imported"
LONGEST_TRACE = 20_000
LEFT_OUT = "left_out"
ROTATED = "rotated box"
Outcome = JobRow.Outcome
NumberedAnswer = tuple[int, ForeignAnswer]


@dataclass
class AdaptedAnswer:
    """A row as an import of answers takes it, and what goes beside it."""

    group: AnswerRowGroup
    trace: dict[str, Any]
    left_out: dict[str, list[Any]] = field(default_factory=dict)


@dataclass
class AnswerReport:
    rows: list[JobRow] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def count(self, left_out: Mapping[str, Sequence[Any]]) -> None:
        for kind, parts in left_out.items():
            self.left_out[kind] = self.left_out.get(kind, 0) + len(parts)


def import_answers(
    place: ImportTarget, batch: Sequence[NumberedAnswer], mapping: ForeignMapping, cohort: str, now: datetime
) -> AnswerReport:
    """Needs a transaction that holds the team's row. Items must be there."""
    report = AnswerReport()
    groups = [AnswerRowGroup([number], {"item": answer.item}) for number, answer in batch]
    known = look_up(place, groups)
    ready: list[tuple[ParsedAnswer, AdaptedAnswer]] = []
    skips: list[SkippedRow] = []
    for number, answer in batch:
        left_out: Mapping[str, Sequence[Any]] = answer.left_out
        group = AnswerRowGroup([number], {"item": answer.item})
        try:
            if answer.skipped:
                skips.append(_skip(place, known, number, answer, mapping, cohort, now))
                continue
            adapted = _adapt(place, known, number, answer, mapping, cohort)
            left_out = adapted.left_out
            parsed = resolve_answer(place, adapted.group, known, now)
        except RowProblem as problem:
            report.rows += report_rejected(group, {number: problem})
        except RowsRejected as refused:
            report.rows += report_rejected(group, refused.problems)
        else:
            parsed.row = replace(parsed.row, trace={**parsed.row.trace, **adapted.trace})
            ready.append((parsed, adapted))
        finally:
            report.count(left_out)
    judged = write(place, [parsed for parsed, _adapted in ready], now)
    for (parsed, adapted), result in zip(ready, judged, strict=True):
        report.rows += _reported(parsed, adapted, *result)
    report.rows += _report_skips(place, skips, now)
    return report


def _reported(
    parsed: ParsedAnswer, adapted: AdaptedAnswer, outcome: str, reason: str, message: str
) -> Iterator[JobRow]:
    if adapted.left_out and outcome in (Outcome.CREATED, Outcome.UPDATED) and not reason:
        reason, message = LEFT_OUT, left_out_text({kind: len(parts) for kind, parts in adapted.left_out.items()})
    yield from report_written(parsed, outcome, reason, message)


def left_out_text(counts: Mapping[str, int]) -> str:
    """What has no place here, by kind."""
    parts = ", ".join(f"{kind} ({count})" for kind, count in sorted(counts.items()))
    return _("Not taken, kept with the answer: %(parts)s.") % {"parts": parts}


def _report_skips(place: ImportTarget, skips: Sequence[SkippedRow], now: datetime) -> Iterator[JobRow]:
    for row, outcome in zip(skips, write_skips(place, skips, now) if skips else (), strict=True):
        text = _("Skipped there, so it is a skip here.")
        yield JobRow(number=row.number, name=row.item.key[:300], outcome=outcome, reason="skip", message=text)


def _skip(
    place: ImportTarget, known: RowLookup, number: int, answer: ForeignAnswer, mapping: ForeignMapping, cohort: str,
    now: datetime,
) -> SkippedRow:  # fmt: skip
    item = _item(known, answer.item)
    row = place.cohorts.get(cohort)
    if place.campaign.stage.has_target and row is None:
        raise RowProblem("no_cohort", _("This stage asks about a culture. Choose the cohort whose answers these are."))
    target = cohort if place.campaign.stage.has_target else ""
    _kind, name = _rater(answer, mapping)
    return SkippedRow(number, item, row.cohort if row else None, target, name, _moment(answer.at) or now)


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _item(known: RowLookup, key: str) -> Item:
    item = known.items.get(key)
    if isinstance(item, RowProblem):
        raise item
    if item is None:
        text = _("The item “%(key)s” was not imported, so this answer was not. Look at its own row.")
        raise RowProblem("no_item", text % {"key": key})
    return item


def _rater(answer: ForeignAnswer, mapping: ForeignMapping) -> tuple[str, str]:
    """Kind and name. A name that is mapped stays as it is mapped; others are those of file raters of the tool."""
    user = answer.rater or mapping.rater
    if not user:
        raise RowProblem("no_rater", _("The file does not say who answered. Fill in “Who answered”."))
    model = answer.model or user in mapping.models
    name = mapping.raters.get(user) or (user if model else f"{mapping.tool}:{user}")
    return (Rater.Kind.MODEL if model else Rater.Kind.PERSON).value, name


def _adapt(
    place: ImportTarget, known: RowLookup, number: int, answer: ForeignAnswer, mapping: ForeignMapping, cohort: str
) -> AdaptedAnswer:
    """Raises RowProblem."""
    item = _item(known, answer.item)
    kind, rater = _rater(answer, mapping)
    shown = build_shown(Unit(item=item, target=""), None)
    left_out: dict[str, list[Any]] = {name: list(parts) for name, parts in answer.left_out.items()}
    trace: dict[str, Any] = {}
    raw: dict[str, Any] = {}
    for question, value in answer.values.items():
        key = (mapping.answers or {}).get(question, "")
        sheet_field = next((one for one in place.sheet.fields if one.key == key), None)
        if sheet_field is None:
            left_out.setdefault(_("question “%(name)s”") % {"name": question}, []).append(value)
            continue
        taken = _raw_value(sheet_field, value, shown, mapping, left_out, trace)
        raw |= {key: taken} if taken not in (None, []) else {}
    _require_something(answer, raw, left_out, mapping)
    trace |= {"lead_seconds": answer.lead_seconds} if answer.lead_seconds is not None else {}
    trace |= {LEFT_OUT: _kept(left_out)} if left_out else {}
    row = {
        "item": answer.item, "rater": rater, "rater_kind": kind, "cohort": cohort, "submitted_at": answer.at,
        "setting": SETTING, "answers": raw,
    }  # fmt: skip
    group = AnswerRowGroup([number], dict(clean(row)), partial=not mapping.empty_is_answer or answer.model)
    return AdaptedAnswer(group, dict(clean(trace)), left_out)


def _require_something(
    answer: ForeignAnswer, raw: Mapping[str, Any], left_out: Mapping[str, Sequence[Any]], mapping: ForeignMapping
) -> None:
    if raw or (mapping.empty_is_answer and not answer.values):
        return
    if set(left_out) == {ROTATED}:
        raise RowProblem("rotated", _("Its boxes are rotated. Choose “Upright box around it”, or leave it out."))
    if left_out:
        text = left_out_text({kind: len(parts) for kind, parts in left_out.items()})
        raise RowProblem("nothing_taken", _("Nothing of this answer has a place here.") + " " + text)
    raise RowProblem("empty", _("The answer is empty."))


def _kept(left_out: Mapping[str, Sequence[Any]]) -> Any:
    """What has no place, as it stands in the file; where that is too long, its counts."""
    plain = {kind: [_plain(part) for part in parts] for kind, parts in left_out.items()}
    if len(json.dumps(plain, default=str)) <= LONGEST_TRACE:
        return plain
    return {kind: len(parts) for kind, parts in left_out.items()}


def _plain(part: Any) -> Any:
    if isinstance(part, list):
        return [_plain(one) for one in part]
    return asdict(part) if is_dataclass(part) and not isinstance(part, type) else part


def _raw_value(
    sheet_field: Field, value: Any, shown: Shown, mapping: ForeignMapping, left_out: dict[str, list[Any]],
    trace: dict[str, Any],
) -> Any:  # fmt: skip
    """What the field's `parse` takes: the form that it accepts, else the first, which it then says is wrong."""
    if isinstance(value, list) and value and isinstance(value[0], ForeignBox):
        return _boxes(sheet_field, value, shown, mapping, left_out, trace)
    forms = [value]
    if isinstance(value, list):
        forms += [value[0]] if len(value) == 1 else ["\n".join(map(str, value))]
    for raw in forms:
        try:
            sheet_field.spec.parse(raw, sheet_field.config, shown)
        except InvalidAnswer:
            continue
        return raw
    return forms[0] if len(forms) == 1 or len(value) > 1 else value[0]


def _boxes(
    sheet_field: Field, boxes: Sequence[ForeignBox], shown: Shown, mapping: ForeignMapping,
    left_out: dict[str, list[Any]], trace: dict[str, Any],
) -> list[dict[str, Any]]:  # fmt: skip
    """In fractions of the item's picture. Raises RowProblem for what is no box on it."""
    size = (shown.images[0].width, shown.images[0].height) if shown.images else None
    codes = {label.code for label in sheet_field.spec.part_labels(sheet_field.config)}
    taken: list[dict[str, Any]] = []
    for box in boxes:
        try:
            corners = box_fractions(box, size, mapping.rotated)
        except BoxRefused as refused:
            if refused.code != "rotated":
                raise RowProblem(refused.code, _box_text(refused)) from refused
            left_out.setdefault(ROTATED, []).append(box)
            continue
        if box.label and not codes:
            left_out.setdefault(_("label of a box"), []).append(corners.pop("label"))
        if box.angle % 360 and mapping.rotated == UPRIGHT:
            trace.setdefault("rotated", []).append({"box": len(taken), "angle": box.angle})
        taken.append(dict(corners))
    return taken


def _box_text(refused: BoxRefused) -> str:
    text = {
        "size_differs": _("The file says the picture is %(file)s pixels, and it is %(picture)s here."),
        "size_unknown": _("The boxes are in pixels, and the item has no picture here. Bring the picture."),
        "image_rotated": _("The tool showed the picture turned by %(angle)s degrees. Turn it back there, and export."),
        "box_outside": _("A box lies outside the picture."),
        "box_empty": _("A box has no area."),
        "box_not_numbers": _("A box has a side that is no number."),
    }[refused.code]
    return text % refused.params if refused.params else text
