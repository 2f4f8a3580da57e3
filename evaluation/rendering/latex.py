"""A report as LaTeX."""

import re
from collections.abc import Iterable
from itertools import groupby

from evaluation.metrics.estimate import Estimate
from evaluation.rendering.number_format import MINUS, format_interval, format_number
from evaluation.rendering.reason_text import interval_sentence, reason_title
from evaluation.rendering.report import Cell, Reason, Report, ReportColumn, Words

INTERVALS_FIT = 6  # columns: with more, a paper's table has the numbers alone
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "×": r"$\times$", MINUS: r"$-$",
    "“": "``", "”": "''", "…": r"\ldots{}",
}  # fmt: skip

_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def tex(text: object) -> str:
    """Letters that mean something to LaTeX stand for themselves. White space is a space, or a blank line would end the
    paragraph; what turns the direction of writing is left out, and a row does not begin as an argument of the one
    before (`\\\\[3]`, `\\\\*`)."""
    plain = _TURNS.sub("", " ".join(str(text).split()))
    return ("{}" if plain[:1] in ("[", "*") else "") + "".join(_TEX.get(letter, letter) for letter in plain)


def to_latex(report: Report, caption: str, label: str = "") -> str:
    r"""A table of the package booktabs: texts to the left, numbers to the right. In a paper's columns, what has no
    value bears a letter that is explained at the end of the caption; elsewhere the cell says why."""
    letters: dict[str, str] = {}
    intervals = len(report.columns) <= INTERVALS_FIT
    lines = [r"\midrule"]
    for group, rows in groupby(report.rows, key=lambda row: row.group):
        lines += [r"\midrule"] if len(lines) > 1 else []
        lines += [rf"\multicolumn{{{len(report.columns) + 1}}}{{l}}{{\emph{{{tex(group)}}}}} \\"] if group else []
        for row in rows:
            cells = zip(row.cells, report.columns, strict=True)
            lines.append(_line([tex(row.label), *(_cell(*cell, letters, intervals=intervals) for cell in cells)]))
    aligned = "".join("l" if one.shape == "text" and one.style != "num" else "r" for one in report.columns)
    return "\n".join([
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{l{aligned}}}",
        r"\toprule",
        _line(map(tex, [report.corner, *(column.label for column in report.columns)])),
        *lines,
        r"\bottomrule",
        r"\end{tabular}",
        r"\caption{" + " ".join([tex(caption), *(rf"$^{{{key}}}$ {tex(why)}" for why, key in letters.items())]) + "}",
        *([rf"\label{{{label}}}"] if label else []),
        r"\end{table}",
        "",
    ])  # fmt: skip


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell, column: ReportColumn, letters: dict[str, str], *, intervals: bool) -> str:
    if cell.estimate is None:
        return tex(cell.shown)
    if column.shape != "paper":
        return tex_estimate(cell.estimate)
    why = cell.why or Reason("", "")
    if cell.estimate.value is None:
        return "n/a" + _letter([why.title, why.sentence, *cell.notes], " ", letters)
    mark = _letter([*cell.notes, why.sentence if intervals else ""], "; ", letters)
    spread = rf" {{\scriptsize ${cell.shown_interval}$}}" if intervals and cell.shown_interval else ""
    return f"${cell.shown}${mark}{spread}"


def _letter(words: Iterable[Words], joint: str, letters: dict[str, str]) -> str:
    """A raised letter of these words, the same wherever they come again; empty without any."""
    text = joint.join(str(one) for one in words if one)
    return rf"$^{{{letters.setdefault(text, _nth_letter(len(letters)))}}}$" if text else ""


def _nth_letter(place: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    return chr(97 + place) if place < 26 else _nth_letter(place // 26 - 1) + _nth_letter(place % 26)


def tex_estimate(estimate: Estimate) -> str:
    """Value, interval and n, or the reason why there is none."""
    if estimate.value is None:
        return r"\emph{" + tex(reason_title(estimate) or (estimate.reason or "").replace("_", " ")) + "}"
    interval = format_interval(estimate).replace(MINUS, "-")
    number = format_number(estimate.value).replace(MINUS, "-")
    size = rf"$n = {estimate.n_units} \times {estimate.n_raters}$"
    spread = f"${interval}$" if interval else tex(interval_sentence(estimate))
    return f"${number}$" + (rf" {{\scriptsize {spread}}}" if spread else "") + rf" {{\scriptsize {size}}}"
