"""Rectangles of other tools as fractions of the upright picture. Pure."""

from dataclasses import replace
from math import cos, isfinite, radians, sin

from releases.foreign.contract import UPRIGHT, ForeignBox

OVERHANG = 0.5
"""Pixels over the edge that are cut off without a word: tools round."""
DIGITS = 6


class BoxRefused(ValueError):
    """Why a rectangle is not taken: a code, and numbers for its sentence."""

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(code)
        self.code = code
        self.params = params


def box_fractions(box: ForeignBox, size: tuple[int, int] | None, rotated: str) -> dict[str, float | str]:
    """Corners from 0 to 1, and the label where there is one. `size`: the picture's own, upright, in pixels.

    Raises BoxRefused: size_differs, size_unknown, image_rotated, rotated, box_outside, box_empty, box_not_numbers.
    """
    numbers = (box.x, box.y, box.width, box.height, box.angle, box.turned)
    if not all(isinstance(number, int | float) and isfinite(number) for number in numbers):
        raise BoxRefused("box_not_numbers")
    if box.turned:
        raise BoxRefused("image_rotated", angle=f"{box.turned:g}")
    if size and box.size and size != box.size:
        told, own = (f"{width} × {height}" for width, height in (box.size, size))
        raise BoxRefused("size_differs", file=told, picture=own)
    known = size or box.size
    if box.angle % 360 and rotated != UPRIGHT:
        raise BoxRefused("rotated", angle=f"{box.angle:g}")
    if known is None and (box.unit == "pixel" or box.angle % 360):
        raise BoxRefused("size_unknown")
    corners = _corners(box, known or (1, 1))
    return corners | ({"label": box.label} if box.label else {})


def _corners(box: ForeignBox, size: tuple[int, int]) -> dict[str, float | str]:
    width, height = size
    box = _in_pixels(box, size)
    left, top, right, bottom = (
        _around(box) if box.angle % 360 else (box.x, box.y, box.x + box.width, box.y + box.height)
    )
    slack = OVERHANG if size != (1, 1) else OVERHANG / 1000
    if left < -slack or top < -slack or right > width + slack or bottom > height + slack:
        raise BoxRefused("box_outside")
    sides = (("x0", left / width), ("y0", top / height), ("x1", right / width), ("y1", bottom / height))
    corners: dict[str, float | str] = {name: round(min(1.0, max(0.0, value)), DIGITS) for name, value in sides}
    if box.width <= 0 or box.height <= 0 or corners["x0"] == corners["x1"] or corners["y0"] == corners["y1"]:
        raise BoxRefused("box_empty")
    return corners


def _in_pixels(box: ForeignBox, size: tuple[int, int]) -> ForeignBox:
    if box.unit == "pixel":
        return box
    share = 100.0 if box.unit == "percent" else 1.0
    across, down = size[0] / share, size[1] / share
    return replace(
        box, x=box.x * across, y=box.y * down, width=box.width * across, height=box.height * down, unit="pixel"
    )


def _around(box: ForeignBox) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the upright rectangle around one that is rotated clockwise."""
    turn = radians(box.angle)
    centred = box.pivot == "centre"
    middle = (box.x + box.width / 2, box.y + box.height / 2) if centred else (box.x, box.y)
    points = [(box.x + dx - middle[0], box.y + dy - middle[1]) for dx in (0.0, box.width) for dy in (0.0, box.height)]
    across = [middle[0] + x * cos(turn) - y * sin(turn) for x, y in points]
    down = [middle[1] + x * sin(turn) + y * cos(turn) for x, y in points]
    return min(across), min(down), max(across), max(down)
