"""The tokens of static/css/emic.css, for drawings that are read without it, and what is made from them.

A test holds both to be the same. Every look differs by more than its colour: patterns, dashes, labels.
"""

from __future__ import annotations

from dataclasses import dataclass

INK, INK_2, INK_3 = "#14201c", "#42504a", "#59665f"
LINE, EDGE, SUNK, SURFACE, RAISED = "#c9d1c9", "#73817a", "#e0e5df", "#fbfcfa", "#fff"
VERDIGRIS, VERDIGRIS_DEEP, VERDIGRIS_TINT = "#0a5c53", "#06443d", "#dcede8"
BRASS, BRASS_DEEP, BRASS_TINT = "#e2a62b", "#7a5200", "#fff2d2"
MADDER, MADDER_TINT, INDIGO, INDIGO_TINT, STAGE = "#a12a1e", "#fceae6", "#28446e", "#e5ecf6", "#18211f"
TOKENS = {
    "ink": INK, "ink-2": INK_2, "ink-3": INK_3, "line": LINE, "edge": EDGE, "sunk": SUNK, "surface": SURFACE,
    "raised": RAISED, "verdigris": VERDIGRIS, "verdigris-deep": VERDIGRIS_DEEP, "verdigris-tint": VERDIGRIS_TINT,
    "brass": BRASS, "brass-deep": BRASS_DEEP, "brass-tint": BRASS_TINT, "madder": MADDER,
    "madder-tint": MADDER_TINT, "indigo": INDIGO, "indigo-tint": INDIGO_TINT, "stage": STAGE,
}  # fmt: skip

Rgb = tuple[float, float, float]


@dataclass(frozen=True)
class Look:
    """How one of several kinds of things is filled; `ink` is the colour of words on it."""

    fill: str
    ink: str
    pattern: str = ""


# Dark and light in turn, each with a pattern of its own: told apart in grey, and by those who do not see red and green.
KINDS: tuple[Look, ...] = (
    Look(VERDIGRIS, "#fff"),
    Look(BRASS, INK, "rising"),
    Look(INDIGO, "#fff", "dots-light"),
    Look(VERDIGRIS_TINT, INK, "falling"),
    Look(BRASS_DEEP, "#fff", "across-light"),
    Look(SURFACE, INK, "dots"),
    Look(LINE, INK, "grid"),
    Look(MADDER, "#fff", "rising-light"),
)
UNKNOWN = Look(SUNK, INK, "hatch")
_FROM, _MID, _TO = "#eef6f3", "#5fa698", VERDIGRIS_DEEP
_HEAT_TO = "#60958f"  # 65 % verdigris on white: the deepest on which ink is read (4.5)


def kind(place: int) -> Look:
    """The look of the n-th of several kinds; after the eighth they begin again, and labels tell them apart."""
    return KINDS[place % len(KINDS)]


def sequential(share: float) -> str:
    """0 to 1 from the palest verdigris to the deepest; lightness falls all the way, so it holds in grey.

    >>> sequential(0), sequential(1)
    ('#eef6f3', '#06443d')
    """
    at = min(max(share, 0.0), 1.0)
    first, second, part = (_FROM, _MID, at * 2) if at < 0.5 else (_MID, _TO, at * 2 - 1)
    return _mix(first, second, part)


def heat(share: float) -> str:
    """As `sequential`, but pale enough for ink on every colour: the cells of a heat map.

    >>> heat(0), heat(1), round(contrast(INK, heat(1)), 1)
    ('#eef6f3', '#60958f', 4.9)
    """
    return _mix(_FROM, _HEAT_TO, min(max(share, 0.0), 1.0))


def steps(count: int) -> list[Look]:
    """Looks of an ordered scale of `count` points, from pale to deep."""
    fills = [sequential(place / max(count - 1, 1)) for place in range(count)]
    return [Look(fill, ink_on(fill)) for fill in fills]


def ink_on(fill: str) -> str:
    """Black or white, whichever has more contrast (WCAG 2): at least 4.5 on any colour, which ink does not reach."""
    return "#000" if contrast("#000", fill) >= contrast("#fff", fill) else "#fff"


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio, 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [c / 255 for c in _rgb(colour)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _mix(first: str, second: str, share: float) -> str:
    return _hex(*(a + (b - a) * share for a, b in zip(_rgb(first), _rgb(second), strict=True)))


def _rgb(colour: str) -> Rgb:
    digits = colour.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * d for d in digits)
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def _hex(*parts: float) -> str:
    return "#" + "".join(f"{round(part):02x}" for part in parts)
