"""A table in every form it has. `to_json` is made from the numbers, every other form from that: so all say the same."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _

from evaluation.metrics.estimate import Estimate
from evaluation.rendering import csv_file
from evaluation.rendering.latex import MIDRULE, booktabs, tex
from evaluation.rendering.reason_text import (
    interval_sentence,
    left_out_sentence,
    reason_sentence,
    reason_title,
    resampled_text,
)
from evaluation.rendering.report import Cell, Rounding, Row
from evaluation.selections.catalogue import Catalogue
from evaluation.tables.inclusion_text import counted_words
from evaluation.tables.table import Table
from evaluation.tables.table_report import Data, table_report
from predictions.models import Run

MARKS = ("same", "rounding", "differs")
INTERVALS_FIT = 6  # columns: with more, a printed table has the numbers alone


def to_json(table: Table, catalogue: Catalogue) -> dict[str, Any]:
    """Plain JSON types, in the reader's language. Values with all their digits, beside what the table shows."""
    benchmark = catalogue.benchmark
    marks = Counter(cell.mark for row in table.rows for cell in row.cells)
    return {
        "benchmark": {"slug": benchmark.slug, "name": benchmark.name},
        "key": table.key,
        "number": table.number,
        "title": str(table.title),
        "corner": str(table.corner),
        "columns": [str(column) for column in table.columns],
        "rows": [_row(row) for row in table.rows],
        "words": [str(one) for one in table.words],
        "options": dict(table.chosen),
        "choices": [one.to_json() for one in table.choices],
        "counted": counted_words(table.counted, table.runs, catalogue),
        "selections": [one.to_json() for one in table.counted],
        "runs": [_run(run) for run in table.runs],
        "beside_the_paper": {mark: marks[mark] for mark in MARKS},
        "watermark": table.watermark,
        "computed_at": table.computed_at.isoformat() if table.computed_at else None,
    }


def _row(row: Row) -> dict[str, Any]:
    return {"label": row.label, "group": row.group, "cells": [_cell(cell) for cell in row.cells]}


def _cell(cell: Cell) -> dict[str, Any]:
    rounding = cell.rounding or Rounding()
    estimate = cell.estimate
    return {
        "shown": cell.shown,
        "shown_interval": cell.shown_interval,
        "estimate": estimate.to_json() if estimate else None,
        "resampled": resampled_text(estimate) if estimate else "",
        "left_out": "; ".join(filter(None, _left_out_words(estimate, rounding))) if estimate else "",
        "why": _why(estimate) if estimate else None,
        "rounding": {"decimals": rounding.decimals, "scale": rounding.scale, "cut": rounding.cut} if estimate else None,
        "empty": cell.empty,
        "printed": {"text": cell.printed.text, "known": str(cell.printed.known)} if cell.printed else None,
        "mark": cell.mark,
    }


def _left_out_words(estimate: Estimate, rounding: Rounding) -> Iterator[str]:
    least, most, averaged, every = (estimate.extras.get(name) for name in ("n_least", "n_most", "n_averaged", "n_all"))
    if least is None or most is None or estimate.value is None:
        yield left_out_sentence(estimate)
    else:  # a mean over models
        yield _("%(n)s of %(every)s models") % {"n": averaged, "every": every} if averaged != every else ""
        yield _("%(least)s to %(most)s each") % {"least": f"{least:,}", "most": f"{most:,}"} if least != most else ""
    yield _unread(estimate, rounding)


def _unread(estimate: Estimate, rounding: Rounding) -> str:
    """How many replies had no value, and within which ends the number would lie were they all wrong or all right."""
    n, worst, best = (estimate.extras.get(name) for name in ("n_unreadable", "worst", "best"))
    if not n or worst is None or best is None or estimate.extras.get("unreadable") == "wrong":
        return ""
    if estimate.value is None:
        return _("left out %(n)s") % {"n": f"{n:,}"}
    ends = {"worst": rounding.text(float(worst)), "best": rounding.text(float(best))}
    return _("left out %(n)s; between %(worst)s and %(best)s") % {"n": f"{n:,}", **ends}


def _why(estimate: Estimate) -> dict[str, str] | None:
    """Why there is no value, or no interval; in words."""
    if estimate.value is None:
        return {"title": reason_title(estimate), "words": reason_sentence(estimate)}
    words = interval_sentence(estimate) if estimate.low is None else ""
    return {"title": "", "words": words} if words else None


def _run(run: Run) -> dict[str, Any]:
    """A linking run is over a knowledge base and over no collection."""
    index = run.knowledge_index
    return {
        "id": run.pk,
        "model": run.rater.name,
        "setting": run.rater.setting,
        "task": run.task,
        "query_set": run.query_set,
        "system_prompt": run.system_prompt,
        "collection": run.collection.key if run.collection else None,
        "version": run.collection.version if run.collection else None,
        "knowledge_base": f"{index.base.key}@{index.base.version}" if index else None,
        "digest": run.digest,
    }


def to_csv(data: Data) -> Iterator[str]:
    """One line for each cell: what it shows, with all digits, and what it rests on. `value` is before `scale`."""
    return csv_file.to_csv(table_report(data))


def cells(data: Data) -> Iterator[tuple[Data, str, Data]]:
    """Row, name of the column and cell, of every cell the table has."""
    for row in data["rows"]:
        for column, cell in zip(data["columns"], row["cells"], strict=True):
            if not cell["empty"]:
                yield row, column, cell


def groups(data: Data) -> Iterator[tuple[str, list[Data]]]:
    for name, rows in groupby(data["rows"], key=lambda row: row["group"]):
        yield name, list(rows)


def to_latex(data: Data) -> str:
    """A booktabs table. What has no value bears a letter that is explained in the caption."""
    letters: dict[str, str] = {}
    width = len(data["columns"]) + 1
    lines: list[tuple[str, ...] | str] = []
    for name, rows in groups(data):
        lines.append(MIDRULE)
        if name:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\emph{{{tex(name)}}}}} \\")
        for row in rows:
            shown = [_tex_cell(cell, width - 1, letters) for cell in row["cells"]]
            lines.append((tex(row["label"]), *shown))
    why = [rf"$^{{{letter}}}$ {tex(words)}" for words, letter in letters.items()]
    title = heading(data) if heading(data).endswith((".", "?", "!")) else heading(data) + "."
    caption = " ".join([tex(" ".join([title, *data["words"], *data["counted"], *brackets(data, width - 1)])), *why])
    label = rf"\label{{tab:{data['benchmark']['slug']}-{data['key']}}}"
    return booktabs([data["corner"], *data["columns"]], 1, lines, caption, [label])


def brackets(data: Data, columns: int = 0) -> Iterator[str]:
    """What the brackets hold, and n; with many columns the printed table has neither."""
    estimated_cells = [
        cell for _row, _column, cell in cells(data) if cell["estimate"] and cell["estimate"]["value"] is not None
    ]
    drawn = list(dict.fromkeys(cell["resampled"] for cell in estimated_cells if cell["resampled"]))
    if drawn and columns <= INTERVALS_FIT:
        yield _("Brackets: %(level)s %% interval, over %(drawn)s.") % {
            "level": f"{100 * estimated_cells[0]['estimate']['level']:g}", "drawn": ", ".join(drawn),
        }  # fmt: skip
    sizes = sorted({cell["estimate"]["n_units"] for cell in estimated_cells})
    if sizes:
        one = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} – {sizes[-1]:,}"
        yield _("n of a value: %(n)s items.") % {"n": one}


def _tex_cell(cell: Data, columns: int, letters: dict[str, str]) -> str:
    if cell["empty"] or cell["estimate"] is None:
        return tex(cell["shown"])
    if cell["estimate"]["value"] is None:
        words = " ".join(filter(None, [cell["why"]["title"], cell["why"]["words"], cell["left_out"]]))
        letter = letters.setdefault(words, _letter(len(letters)))
        return rf"n/a$^{{{letter}}}$"
    interval = cell["shown_interval"] if columns <= INTERVALS_FIT else ""
    why = cell["why"]["words"] if cell["why"] and columns <= INTERVALS_FIT else ""
    noted = "; ".join(filter(None, [cell["left_out"], why]))
    mark = rf"$^{{{letters.setdefault(noted, _letter(len(letters)))}}}$" if noted else ""
    return f"${cell['shown']}${mark}" + (rf" {{\scriptsize ${interval}$}}" if interval else "")


def _letter(place: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    return chr(97 + place) if place < 26 else _letter(place // 26 - 1) + _letter(place % 26)


def heading(data: Data, separator: str = ": ") -> str:
    return f"{data['number']}{separator}{data['title']}" if data["number"] else str(data["title"])


def to_text(data: Data) -> str:
    """For a terminal: columns in line, then the words."""
    width = 1 + max((len(row["label"]) for row in data["rows"]), default=0)
    head = [data["corner"], *data["columns"]]
    body = [[row["label"], *map(_text_cell, row["cells"])] for row in data["rows"]]
    widths = [max(len(line[place]) for line in [head, *body]) for place in range(len(head))]
    widths[0] = max(widths[0], width)
    lines = [heading(data), "", _line(head, widths)]
    for name, rows in groups(data):
        lines += [name] if name else []
        lines += [_line([row["label"], *map(_text_cell, row["cells"])], widths) for row in rows]
    return "\n".join([*lines, "", *data["words"], *data["counted"], ""])


def _text_cell(cell: Data) -> str:
    if cell["estimate"] is None:
        return str(cell["shown"])
    if cell["estimate"]["value"] is None:
        return f"({cell['estimate']['reason']})"
    return f"{cell['shown']} {cell['shown_interval']}".strip()


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(texts, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(text.rjust(width) for text, width in rest)]).rstrip()
