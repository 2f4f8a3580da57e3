"""A table in every form it has. `to_json` is made from the numbers, every other form from that: so all say the same."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluation.metrics.estimate import Estimate
from evaluation.rendering import csv_file, json_file, latex, text_file
from evaluation.rendering.reason_text import left_out_sentence, resampled_text
from evaluation.rendering.report import Cell, Report, Rounding
from evaluation.selections.catalogue import Catalogue
from evaluation.tables.inclusion_text import inclusion_sentences
from evaluation.tables.table import Table
from evaluation.tables.table_report import Data, table_report
from predictions.models import Run

MARKS = ("same", "rounding", "differs")


def to_json(table: Table, catalogue: Catalogue) -> dict[str, Any]:
    """Plain JSON types, in the reader's language. Values with all their digits, beside what the table shows."""
    benchmark = catalogue.benchmark
    marks = Counter(cell.mark for row in table.rows for cell in row.cells)
    document: dict[str, Any] = json_file.to_json({
        "benchmark": {"slug": benchmark.slug, "name": benchmark.name},
        "key": table.key,
        "number": table.number,
        "title": table.title,
        "corner": table.corner,
        "columns": table.columns,
        "rows": [replace(row, cells=tuple(map(_with_left_out, row.cells))) for row in table.rows],
        "words": table.words,
        "options": dict(table.chosen),
        "choices": [one.to_json() for one in table.choices],
        "counted": inclusion_sentences(table.counted, table.runs, catalogue),
        "selections": [one.to_json() for one in table.counted],
        "runs": [_run(run) for run in table.runs],
        "beside_the_paper": {mark: marks[mark] for mark in MARKS},
        "watermark": table.watermark,
        "computed_at": table.computed_at,
    })  # fmt: skip
    return document


def _with_left_out(cell: Cell) -> Cell:
    """With what is left out of its number, in words."""
    if cell.estimate is None:
        return cell
    words = _left_out_words(cell.estimate, cell.rounding or Rounding())
    return replace(cell, notes=tuple(filter(None, words)))


def _left_out_words(estimate: Estimate, rounding: Rounding) -> Iterator[str]:
    least, most, averaged, every = (estimate.extras.get(name) for name in ("n_least", "n_most", "n_averaged", "n_all"))
    if least is None or most is None or estimate.value is None:
        yield left_out_sentence(estimate)
    else:  # a mean over models
        yield _("%(n)s of %(every)s models") % {"n": averaged, "every": every} if averaged != every else ""
        yield _("%(least)s to %(most)s each") % {"least": f"{least:,}", "most": f"{most:,}"} if least != most else ""
    yield _unread(estimate, rounding)
    if n := estimate.extras.get("n_no_answer"):
        yield _("no answer: %(n)s") % {"n": f"{n:,}"}


def _unread(estimate: Estimate, rounding: Rounding) -> str:
    """How many replies had no value, and within which ends the number would lie were they all wrong or all right."""
    n, worst, best = (estimate.extras.get(name) for name in ("n_unreadable", "worst", "best"))
    if not n or worst is None or best is None or estimate.extras.get("unreadable") == "wrong":
        return ""
    if estimate.value is None:
        return _("left out %(n)s") % {"n": f"{n:,}"}
    ends = {"worst": rounding.text(float(worst)), "best": rounding.text(float(best))}
    return _("left out %(n)s; between %(worst)s and %(best)s") % {"n": f"{n:,}", **ends}


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


def to_latex(data: Data) -> str:
    """With the words below the table, the level of the intervals, and n in the caption."""
    report = table_report(data)
    title = heading(data) if heading(data).endswith((".", "?", "!")) else heading(data) + "."
    caption = " ".join([title, *data["words"], *data["counted"], *_brackets(report)])
    return latex.to_latex(report, caption, f"tab:{data['benchmark']['slug']}-{data['key']}")


def _brackets(report: Report) -> Iterator[str]:
    """What the brackets hold, and n; with many columns the printed table has neither."""
    estimates = [cell.estimate for cell in report.cells if cell.estimate and cell.estimate.value is not None]
    resampled = list(dict.fromkeys(filter(None, map(resampled_text, estimates))))
    if resampled and len(report.columns) <= latex.INTERVALS_FIT:
        yield _("Brackets: %(level)s %% interval, over %(drawn)s.") % {
            "level": f"{100 * estimates[0].level:g}", "drawn": ", ".join(resampled),
        }  # fmt: skip
    if sizes := sorted({estimate.n_units for estimate in estimates}):
        n = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} – {sizes[-1]:,}"
        yield ngettext("n of a value: %(n)s item.", "n of a value: %(n)s items.", sizes[-1]) % {"n": n}


def heading(data: Data, separator: str = ": ") -> str:
    return f"{data['number']}{separator}{data['title']}" if data["number"] else str(data["title"])


def to_text(data: Data) -> str:
    """For a terminal: the table, then the words."""
    table = text_file.to_text(table_report(data))
    return "\n".join([heading(data), "", table, "", *data["words"], *data["counted"], ""])
