"""What the preview of another tool's files shows."""

from dataclasses import dataclass
from typing import Any

from releases.foreign.contract import ForeignAnswer, ForeignBox
from releases.foreign.scan import Scan

LONGEST = 80


@dataclass(frozen=True)
class ForeignPreviewRow:
    """An answer as a line: where it stands, whose it is, and its values as texts."""

    file: str
    row: int
    item: str
    rater: str
    model: bool
    skipped: bool
    values: list[tuple[str, str]]


def preview_rows(scan: Scan) -> list[ForeignPreviewRow]:
    """The first answers."""
    return [
        ForeignPreviewRow(
            row.file, row.row, row.item, row.rater, row.model, row.skipped,
            [(question, answer_text(value)) for question, value in row.values.items()],
        )
        for row in scan.rows
        if isinstance(row, ForeignAnswer)
    ]  # fmt: skip


def answer_text(value: Any) -> str:
    """
    >>> answer_text(["a", "b"]), answer_text("x" * 100)[-3:]
    ('a, b', 'xx…')
    >>> answer_text([ForeignBox(1.5, 2, 3, 4, "pixel", "cup")])
    'cup 1.5, 2, 3 × 4'
    """
    rows = value if isinstance(value, list) else [value]
    text = ", ".join(_box_text(row) if isinstance(row, ForeignBox) else str(row) for row in rows)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _box_text(box: ForeignBox) -> str:
    return f"{box.label} {box.x:g}, {box.y:g}, {box.width:g} × {box.height:g}".strip()
