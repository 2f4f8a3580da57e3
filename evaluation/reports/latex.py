"""Text as LaTeX prints it."""

import re

from evaluation.reports.number_format import MINUS

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
