"""A report as JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.utils.functional import Promise

from evaluation.metrics.estimate import Estimate
from evaluation.rendering.reason_text import resampled_text
from evaluation.rendering.report import Cell, PrintedValue, Rounding, Row


def to_json(value: Any) -> Any:
    """Plain JSON types of a nested structure: an Estimate with all its parts, a moment in ISO 8601, texts in the
    reader's language."""
    if isinstance(value, Estimate):
        return to_json(value.to_json())
    if isinstance(value, Row):
        return {"label": value.label, "group": value.group, "cells": to_json(value.cells)}
    if isinstance(value, Cell):
        return to_json(_cell(value))
    if isinstance(value, Mapping):
        return {str(key): to_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(inner) for inner in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Promise) else value


def _cell(cell: Cell) -> dict[str, Any]:
    """With all digits, beside what the table shows."""
    estimate = cell.estimate
    return {
        "shown": cell.shown,
        "shown_interval": cell.shown_interval,
        "estimate": estimate,
        "resampled": resampled_text(estimate) if estimate else "",
        "left_out": "; ".join(map(str, cell.notes)),
        "why": {"title": cell.why.title, "words": cell.why.sentence or cell.why.title} if cell.why else None,
        "rounding": asdict(cell.rounding or Rounding()) if estimate else None,
        "empty": cell.empty,
        "printed": asdict(cell.printed) if cell.printed else None,
        "mark": cell.mark,
    }


def rows_from_json(rows: Iterable[Mapping[str, Any]]) -> tuple[Row, ...]:
    """The rows that `to_json` wrote."""
    return tuple(Row(row["label"], tuple(map(_read_cell, row["cells"])), row["group"]) for row in rows)


def _read_cell(data: Mapping[str, Any]) -> Cell:
    printed = PrintedValue(**data["printed"]) if data["printed"] else None
    if data["estimate"] is None:
        return Cell(text=data["shown"], printed=printed, empty=data["empty"])
    notes = (data["left_out"],) if data["left_out"] else ()
    return Cell(Estimate.from_json(data["estimate"]), "", Rounding(**data["rounding"]), printed, notes=notes)
