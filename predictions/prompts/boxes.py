"""Boxes out of replies, to fractions of the picture: left, top, right, bottom. The scale is declared, never guessed.

Notations: `<x><y><x><y>`, [x, y, x, y] once or nested, (x, y), (x, y), JSON objects with named sides, <locYYYY> tokens and
<patch_index_NNNN> pairs. Names in a JSON object ("x0", "left", "xmin", "cx", "w") say what each number is, whatever order
was declared; <loc> tokens are thousandths-and-24 in the order y, x, y, x, and patch pairs are cells of the declared grid:
so these tokens are defined. All other numbers are in the declared order and scale.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predictions.prompts.contract import UnparsedReply
from predictions.prompts.reply_text import ascii_digits, json_objects, without_objects

Box = tuple[float, float, float, float]
SCALES: Mapping[str, float] = {"1": 1.0, "100": 100.0, "1000": 1000.0, "1024": 1024.0}
ORDERS = ("xyxy", "yxyx", "xywh", "cxcywh")
LOC = 1024.0
SLACK = 0.005  # of a side: what rounding to whole pixels may put outside
NUM = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,2})?"
GAP = r"[\s,;]*"
LOCS = re.compile(r"(?:<loc(\d{4})>\s*){4}")
LOC_ONE = re.compile(r"<loc(\d{4})>")
PATCHES = re.compile(r"<patch_index_(\d{1,5})>\s*<patch_index_(\d{1,5})>")
ANGLES = re.compile(rf"<\s*({NUM})\s*>{GAP}<\s*({NUM})\s*>{GAP}<\s*({NUM})\s*>{GAP}<\s*({NUM})\s*>")
IN_ONE = re.compile(rf"[\[({{<]\s*({NUM})\s*[,\s]\s*({NUM})\s*[,\s]\s*({NUM})\s*[,\s]\s*({NUM})\s*[\])}}>]")
CORNERS = re.compile(rf"[\[(]\s*({NUM})\s*,\s*({NUM})\s*[\])]\s*,?\s*[\[(]\s*({NUM})\s*,\s*({NUM})\s*[\])]")
BARE = re.compile(rf"^\W{{0,3}}({NUM})\s*[,\s]\s*({NUM})\s*[,\s]\s*({NUM})\s*[,\s]\s*({NUM})\W{{0,3}}$")
EDGES = (
    ("x0", "y0", "x1", "y1"),
    ("x1", "y1", "x2", "y2"),
    ("xmin", "ymin", "xmax", "ymax"),
    ("x_min", "y_min", "x_max", "y_max"),
    ("left", "top", "right", "bottom"),
)
SIZES = (("x", "y", "w", "h"), ("x", "y", "width", "height"), ("left", "top", "width", "height"))
CENTRES = (("cx", "cy", "w", "h"), ("cx", "cy", "width", "height"))
HOLDERS = (
    "box",
    "boxes",
    "bbox",
    "bboxes",
    "bbox_2d",
    "box_2d",
    "bounding_box",
    "bounding_boxes",
    "coordinates",
    "answer",
)


@dataclass(frozen=True)
class BoxScale:
    """What the numbers of a model mean. `width`, `height`: one unit of a fraction; of the picture as it is sent where
    numbers are pixels. `grid`: cells on a side, for patch indexes. `padded`: of the picture in the middle of a square."""

    width: float
    height: float
    order: str = "xyxy"
    grid: int = 32
    padded: bool = False
    picture: tuple[float, float] = (1.0, 1.0)

    def fractions(self, numbers: Sequence[float], order: str = "") -> Box:
        """Left, top, right, bottom as fractions of what the model sees, wherever they lie."""
        x0, y0, x1, y1 = _edges(numbers, order or self.order)
        return x0 / self.width, y0 / self.height, x1 / self.width, y1 / self.height

    def unpadded(self, box: Box) -> Box:
        """From fractions of the padded square to fractions of the picture in its middle."""
        if not self.padded:
            return box
        wide, high = self.picture
        side = max(wide, high)
        left, top = (side - wide) / 2, (side - high) / 2
        x0, y0, x1, y1 = (one * side for one in box)
        return ((x0 - left) / wide, (y0 - top) / high, (x1 - left) / wide, (y1 - top) / high)


def _edges(numbers: Sequence[float], order: str) -> Box:
    first, two, three, four = numbers
    if order == "yxyx":
        return two, first, four, three
    if order == "xywh":
        return first, two, first + three, two + four
    if order == "cxcywh":
        return first - three / 2, two - four / 2, first + three / 2, two + four / 2
    return first, two, three, four


def box_scale(scale: str, order: str, size: tuple[float, float], *, grid: int = 32, padded: bool = False) -> BoxScale:
    """`size`: width and height of the picture as it is sent, in pixels. Raises ValueError for an unknown scale or order."""
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, not {order!r}")
    if scale not in (*SCALES, "pixels", "patches"):
        raise ValueError(f"scale must be one of {', '.join(SCALES)}, pixels or patches, not {scale!r}")
    if min(size) <= 0 or grid < 1:
        raise ValueError("a picture and a grid have a size")
    side = max(size)
    wide, high = (side, side) if padded else size
    unit = SCALES.get(scale, 1.0)
    return BoxScale(*((wide, high) if scale == "pixels" else (unit, unit)), order, grid, padded, size)


def parse_boxes(text: str, frame: BoxScale, *, patches: bool = False) -> list[Box] | UnparsedReply:
    """All boxes of a reply, each once. `patches`: patch indexes are what was declared.

    A notation that does not fit the declared scale is not read: <loc> tokens need 1024, patch indexes the grid, and
    where these were declared other numbers mean nothing. Boxes of several notations are all of the reply.
    """
    text = ascii_digits(text)
    tokens, named = _tokens(text, frame, patches), _json(text, frame)
    if isinstance(tokens, UnparsedReply):
        return tokens
    if isinstance(named, UnparsedReply):
        return named
    written = [*(named or ()), *_bracketed_boxes(without_objects(text) if named else text, frame)]
    if patches and written:
        return UnparsedReply("out_of_range", "other_notation")
    boxes = [*(tokens or ()), *written]
    if not boxes:
        return UnparsedReply("unparseable", "no_box")
    if written and all(_in_fractions(box, frame) for box in written):
        return UnparsedReply("out_of_range", "other_notation")
    inside_boxes: list[Box] = []
    for box in boxes:
        inside = _clip_to_picture(box, frame)
        if isinstance(inside, UnparsedReply):
            return inside
        if inside not in inside_boxes:
            inside_boxes.append(inside)
    return inside_boxes


def _in_fractions(box: Box, frame: BoxScale) -> bool:
    """Whether no number is above 1 where thousands, or pixels, were declared: the reply is of another scale."""
    far = max(box[2] * frame.width, box[3] * frame.height)
    return min(frame.width, frame.height) >= 100 and 0 < far <= 1


def _clip_to_picture(box: Box, frame: BoxScale) -> Box | UnparsedReply:
    """The box in the picture. What rounding put outside is put back; one that lies outside what the model sees is not
    moved; what reaches into the bars of a padded square is cut off."""
    if not all(map(math.isfinite, box)) or min(box) < -SLACK or max(box) > 1 + SLACK:
        return UnparsedReply("out_of_range", "outside_scale")
    x0, y0, x1, y1 = (round(min(max(one, 0.0), 1.0), 6) for one in frame.unpadded(box))
    (x0, x1), (y0, y1) = sorted((x0, x1)), sorted((y0, y1))
    return UnparsedReply("unparseable", "empty_box") if x0 == x1 or y0 == y1 else (x0, y0, x1, y1)


def _tokens(text: str, frame: BoxScale, patches: bool) -> list[Box] | UnparsedReply | None:
    """Boxes of models that have tokens for places; None where there are none."""
    locs = [LOC_ONE.findall(match[0]) for match in LOCS.finditer(text)]
    pairs = [(int(match), int(two)) for match, two in PATCHES.findall(text)]
    if not locs and not pairs:
        return None
    if (locs and (frame.width, frame.height) != (LOC, LOC)) or (pairs and not patches) or (locs and pairs):
        return UnparsedReply("out_of_range", "other_notation")
    if locs:
        return [frame.fractions([float(one) for one in four], "yxyx") for four in locs]
    if any(max(pair) >= frame.grid**2 for pair in pairs):
        return UnparsedReply("out_of_range", "outside_scale")
    return [patch_box(one, two, frame.grid) for one, two in pairs]


def patch_box(first: int, last: int, grid: int) -> Box:
    """The box between two cells of a grid, as KOSMOS-2 means it: from the middle of the first to the middle of the last;
    where both are one cell, or stand in one row or column, the cells whole."""
    (y0, x0), (y1, x1) = divmod(first, grid), divmod(last, grid)
    low, high = (0.0, 1.0) if x0 == x1 or y0 == y1 else (0.5, 0.5)
    return (x0 + low) / grid, (y0 + low) / grid, (x1 + high) / grid, (y1 + high) / grid


def _json(text: str, frame: BoxScale) -> list[Box] | UnparsedReply | None:
    """Boxes of JSON objects, and of lists of them; None where no object has a box."""
    objects = json_objects(text)
    if isinstance(objects, UnparsedReply):
        return objects
    boxes = [box for one in objects for box in _iter_boxes(one, frame, 0)]
    return boxes or None


def _iter_boxes(value: Any, frame: BoxScale, depth: int) -> Iterable[Box]:
    if depth > 4:
        return
    if isinstance(value, Mapping):
        own = {str(key).casefold(): one for key, one in value.items()}
        for names, order in (
            *((n, "xyxy") for n in EDGES),
            *((n, "xywh") for n in SIZES),
            *((n, "cxcywh") for n in CENTRES),
        ):
            numbers = [_number(own.get(name)) for name in names]
            if all(number is not None for number in numbers):
                yield frame.fractions([number for number in numbers if number is not None], order)
                return
        for key, inner in own.items():
            if key in HOLDERS or isinstance(inner, (Mapping, list)):
                yield from _iter_boxes(inner, frame, depth + 1)
    elif isinstance(value, list):
        numbers = [_number(number) for number in value]
        if len(value) == 4 and all(number is not None for number in numbers):
            yield frame.fractions([number for number in numbers if number is not None])
        elif len(value) == 2 and all(isinstance(number, list) and len(number) == 2 for number in value):
            yield from _iter_boxes([*value[0], *value[1]], frame, depth + 1)
        else:
            for inner in value:
                yield from _iter_boxes(inner, frame, depth + 1) if isinstance(inner, (list, Mapping)) else ()
    elif isinstance(value, str):
        yield from _bracketed_boxes(ascii_digits(value), frame)


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and re.fullmatch(NUM, value.strip()):
        value = float(value)
    if not isinstance(value, (int, float)) or abs(value) > 1e9:
        return None
    return float(value)


def _bracketed_boxes(text: str, frame: BoxScale) -> list[Box]:
    """Boxes in brackets of any kind, or a reply of four bare numbers."""
    rows = [row for pattern in (ANGLES, IN_ONE, CORNERS) for row in pattern.findall(text)]
    if rows:
        return [frame.fractions([float(one) for one in row]) for row in rows]
    bare = BARE.match(text.strip())
    return [frame.fractions([float(group) for group in bare.groups()])] if bare else []
