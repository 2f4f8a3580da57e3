"""A report as LaTeX."""

import re
from collections.abc import Iterable, Sequence

from evaluation.metrics.estimate import Estimate
from evaluation.rendering.number_format import MINUS, format_interval, format_number
from evaluation.rendering.reason_text import interval_sentence, reason_title

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


def booktabs(
    heads: Sequence[object], names: int, rows: Iterable[Sequence[str] | str], caption: str, label: Sequence[str] = ()
) -> str:
    r"""A table of the package booktabs. The first `names` columns are texts. `rows`, `caption` and `label` are LaTeX
    already; a row that is one text is a whole line, such as `\midrule`."""
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\begin{tabular}{" + "l" * names + "r" * (len(heads) - names) + "}",
        r"\toprule",
        " & ".join(map(tex, heads)) + r" \\",
        *(row if isinstance(row, str) else " & ".join(row) + r" \\" for row in rows),
    ]
    lines += [r"\bottomrule", r"\end{tabular}", r"\caption{" + caption + "}", *label, r"\end{table}", ""]
    return "\n".join(lines)


MIDRULE = r"\midrule"


def tex_estimate(estimate: Estimate) -> str:
    """Value, interval and n, or the reason why there is none."""
    if estimate.value is None:
        return r"\emph{" + tex(reason_title(estimate) or (estimate.reason or "").replace("_", " ")) + "}"
    interval = format_interval(estimate).replace(MINUS, "-")
    number = format_number(estimate.value).replace(MINUS, "-")
    size = rf"$n = {estimate.n_units} \times {estimate.n_raters}$"
    spread = f"${interval}$" if interval else tex(interval_sentence(estimate))
    return f"${number}$" + (rf" {{\scriptsize {spread}}}" if spread else "") + rf" {{\scriptsize {size}}}"
