"""Boxes over their picture: {% box_drawing rows picture as drawing %}, {% own_boxes data picture as drawing %}."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django import template

from annotation.fields.contract import ShownImage
from evaluation.metrics.boxes import corners_of, overlap

register = template.Library()
STROKES = (("#ffd15c", ""), ("#7be0cd", "10 4"), ("#ffffff", "3 3"), ("#ff9d8a", "14 4 3 4"), ("#b9c8ff", "6 6"))


@dataclass(frozen=True)
class Outline:
    """One box in pixels of the picture, and where its owner's number stands: each in another corner, to be read."""

    x: float
    y: float
    width: float
    height: float
    text_x: float
    text_y: float
    anchor: str
    label: str = ""


@dataclass(frozen=True)
class PersonBoxes:
    number: int
    who: str
    data: Mapping[str, Any]
    colour: str
    dash: str
    outlines: Sequence[Outline]


@dataclass(frozen=True)
class BoxDrawing:
    people: Sequence[PersonBoxes]
    pairs: Sequence[tuple[str, str, str]]
    letter: float

    @property
    def labelled(self) -> bool:
        """Whether some box has a label."""
        return any(box["label"] for person in self.people for box in person.data["boxes"])


@register.simple_tag
def box_drawing(rows: Sequence[Mapping[str, Any]], picture: ShownImage | None) -> BoxDrawing:
    """`rows` have `who` and `data`, as compare.html has them. Pairs come with their IoU, two decimals, the least
    first."""
    letter = max(picture.width, picture.height) * 0.035 if picture else 0
    people = []
    for number, row in enumerate(rows):
        colour, dash = STROKES[number % len(STROKES)]
        boxes = zip(row["data"]["answer"], row["data"]["boxes"], strict=True)
        outlines = [_outline(box, picture, letter, number, told["label"]) for box, told in boxes] if picture else []
        people.append(PersonBoxes(number + 1, str(row["who"]), row["data"], colour, dash, outlines))
    shared = [
        (overlap(corners_of(a.data["answer"]), corners_of(b.data["answer"])), a.who, b.who)
        for a, b in combinations(people, 2)
    ]
    shared.sort(key=lambda pair: pair[0])
    pairs = [(a, b, f"{share:.2f}") for share, a, b in shared]
    return BoxDrawing(people, pairs, letter)


@register.simple_tag
def own_boxes(data: Mapping[str, Any], picture: ShownImage) -> BoxDrawing:
    """One person's, without a number."""
    return box_drawing([{"who": "", "data": data}], picture)


def _outline(box: Mapping[str, float], picture: ShownImage, letter: float, number: int, label: str) -> Outline:
    x, y = box["x0"] * picture.width, box["y0"] * picture.height
    width, height = box["x1"] * picture.width - x, box["y1"] * picture.height - y
    end, low = number % 4 in (1, 2), number % 4 in (2, 3)
    text_x = x + width - letter * 0.3 if end else x + letter * 0.3
    text_y = y + height - letter * 0.3 if low else y + letter * 1.1
    return Outline(x, y, width, height, text_x, text_y, "end" if end else "start", label)
