"""Text as LaTeX prints it."""

from evaluation.reports.numbers import MINUS

_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "×": r"$\times$", MINUS: r"$-$",
    "“": "``", "”": "''", "…": r"\ldots{}", "\n": " ",
}  # fmt: skip


def tex(text: object) -> str:
    """Letters that mean something to LaTeX stand for themselves."""
    return "".join(_TEX.get(letter, letter) for letter in str(text))
