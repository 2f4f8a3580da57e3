"""What a row of a file says: whose answer to what, when, and whether it counts."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.sheets.sheet import Field, Sheet
from benchmarks.imports.problems import RowProblem
from people.models import Rater

LONGEST_NAME = 200
MOST_ABOUT = 4000
DEEPEST = 20
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=1)
LONGEST_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class AnswerRow:
    """One answer as the file has it; names are not looked up yet. `raw` is what the sheet's `parse` takes.

    `setting` and `about` are of a model: how it was asked, and what is known of it.
    """

    item: str
    target: str | None
    cohort: str
    rater: str
    kind: str
    raw: Mapping[str, Any]
    at: datetime
    shown_at: datetime
    counted: bool = True
    because: str = ""
    version: int = 1
    language: str = "en"
    rule: str | None = None
    seconds: float | None = None
    confirmed: tuple[str, ...] = ()
    trace: Mapping[str, Any] = field(default_factory=dict)
    setting: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    label_set: str = ""

    @property
    def by_model(self) -> bool:
        return self.kind == Rater.Kind.MODEL


def model_info_problem(model: str, name: str, known: Any, reported: Any) -> str:
    """All benchmarks of a team share what is known of a model: a file does not change it for the others."""
    text = _(
        "“%(name)s” of the model “%(model)s” is %(known)s in this team. The row gives "
        "%(told)s, so it was rejected. Remove “%(name)s” from “model_info”, or use another "
        "model name or setting."
    )
    values = {"known": repr(known)[:60], "told": repr(reported)[:60]}
    return text % {"model": model, "name": name, **values}


def model_as_person_problem(name: str) -> str:
    text = _("“%(name)s” is the pseudonym of a person here, and the row says it is a model. Write the model's name.")
    return text % {"name": name}


def clean(value: Any, deep: int = 0) -> Any:
    """A row as the database can keep it: without NUL. Raises RowProblem for what it cannot keep at all."""
    if deep > DEEPEST:
        raise RowProblem("unreadable", _("This row is nested too deeply. Write it as an export does."))
    if isinstance(value, str):
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise RowProblem("not_utf8", _("This row is not in UTF-8. Save the file as UTF-8."))
        return value.replace("\x00", "")
    if isinstance(value, float) and not math.isfinite(value):
        raise RowProblem("unreadable", _("This row contains NaN or infinity. Use a finite number."))
    if isinstance(value, list):
        return [clean(one, deep + 1) for one in value]
    if isinstance(value, dict):
        return {clean(key): clean(one, deep + 1) for key, one in value.items()}
    return value


def parse_row(row: Mapping[str, Any], sheet: Sheet, now: datetime) -> AnswerRow:
    """Of a clean row. Raises RowProblem. Times that are not given are those of the import."""
    at = _parse_time(row, "submitted_at", now) or now
    counted = _flag(row, "counted")
    because = _text(row, "uncounted_because", 20)
    seconds = _number(row, "active_seconds")
    if seconds is not None and seconds > LONGEST_SECONDS:
        raise _unreadable("active_seconds", row["active_seconds"])
    opened = _json(row, "opened", list)
    kind = _kind(row)
    by_model = kind == Rater.Kind.MODEL
    return AnswerRow(
        item=_required(row, "item"),
        target=str(row["target"]) if row.get("target") is not None else None,
        cohort=_text(row, "cohort", 120),
        rater=_required(row, "rater"),
        kind=kind,
        raw=_answers(row, sheet),
        at=at,
        shown_at=min(_parse_time(row, "shown_at", now) or at, at),
        counted=counted,
        because="" if counted else because or "in_file",
        version=_version(row),
        language=_text(row, "language", 12) or "en",
        rule=_text(row, "rule_version", 20) if "rule_version" in row else None,
        seconds=seconds,
        confirmed=tuple(str(one)[:200] for one in _json(row, "confirmed", list) or ()),
        trace={"opened": opened} if opened is not None else {},
        setting=_text(row, "setting", 60) if by_model else "",
        about=_parse_model_info(row) if by_model else {},
        label_set=_text(row, "label_set", 130),
    )


def _text(row: Mapping[str, Any], name: str, most: int) -> str:
    value = row.get(name)
    text = "" if value is None else str(value).strip()
    if len(text) > most:
        message = _("“%(name)s” is longer than %(most)s characters.") % {"name": name, "most": most}
        raise RowProblem("too_long", message)
    return text


def _required(row: Mapping[str, Any], name: str) -> str:
    text = _text(row, name, LONGEST_NAME)
    if not text:
        raise RowProblem("missing", _("“%(name)s” is empty. Every row needs it.") % {"name": name})
    return text


def _unreadable(name: str, value: Any) -> RowProblem:
    message = _("“%(name)s” is %(value)s, which cannot be read. Write it as an export does.")
    return RowProblem("unreadable", message % {"name": name, "value": repr(value)[:60]})


def _kind(row: Mapping[str, Any]) -> str:
    kind = _text(row, "rater_kind", 20) or "person"
    if kind not in Rater.Kind.values:
        raise _unreadable("rater_kind", kind)
    return kind


def _parse_time(row: Mapping[str, Any], name: str, now: datetime) -> datetime | None:
    value = row.get(name)
    if value in (None, ""):
        return None
    try:
        moment = datetime.fromisoformat(str(value))
        if timezone.is_naive(moment):
            moment = timezone.make_aware(moment, timezone.get_default_timezone())
        fits = EARLIEST <= moment.astimezone(UTC) <= now + AHEAD
    except OverflowError:  # a year that UTC does not have
        fits = False
    except ValueError:
        raise _unreadable(name, value) from None
    if not fits:
        message = _("“%(name)s” is %(value)s. It must lie between 1990 and tomorrow.")
        raise RowProblem("out_of_time", message % {"name": name, "value": repr(value)[:60]})
    return moment.astimezone(UTC)


def _flag(row: Mapping[str, Any], name: str) -> bool:
    value = row.get(name)
    words = {None: True, "": True, "true": True, "false": False, "True": True, "False": False, "1": True, "0": False}
    if isinstance(value, bool):
        return value
    if (value is not None and not isinstance(value, str)) or value not in words:
        raise _unreadable(name, value)
    return words[value]


def _number(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    if value in (None, ""):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _unreadable(name, value) from None
    if not math.isfinite(number) or number < 0:
        raise _unreadable(name, value)
    return number


def _version(row: Mapping[str, Any]) -> int:
    number = _number(row, "version")
    if number is None:
        return 1
    if number != int(number) or not 1 <= number < 32_000:
        raise _unreadable("version", row["version"])
    return int(number)


def _parse_model_info(row: Mapping[str, Any]) -> Mapping[str, Any]:
    column = "about" if "about" in row and "model_info" not in row else "model_info"  # its name in version 0.1
    values = _json(row, column, dict) or {}
    if len(json.dumps(values)) > MOST_ABOUT:
        message = _("“%(name)s” is longer than %(most)s characters.") % {"name": column, "most": MOST_ABOUT}
        raise RowProblem("too_long", message)
    return dict(values)


def _json(row: Mapping[str, Any], name: str, type_: type) -> Any:
    """A cell of a CSV holds it as text."""
    value = row.get(name)
    if value in (None, ""):
        return None
    if isinstance(value, str):
        try:
            value = clean(json.loads(value))
        except (ValueError, RecursionError):
            raise _unreadable(name, value) from None
    if value is not None and not isinstance(value, type_):
        raise _unreadable(name, value)
    return value


def _answers(row: Mapping[str, Any], sheet: Sheet) -> Mapping[str, Any]:
    """The answers as they were stored; of a table without that column, those that stand in columns of their own."""
    whole = _json(row, "answers", dict)
    if whole is not None:
        return dict(whole)
    return {one.key: raw for one in sheet.fields if (raw := cell(row, f"answer.{one.key}", one)) is not None}


def cell(row: Mapping[str, Any], name: str, field: Field) -> Any:
    """What a field's `parse` takes, out of the column `name`. Raises RowProblem."""
    value = row.get(name)
    if value in (None, ""):
        return None
    if field.spec.columns(field.config)[0].type == "json":
        return _json(row, name, object)
    return field.spec.from_cell(value, field.config)
