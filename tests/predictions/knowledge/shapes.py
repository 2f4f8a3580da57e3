"""A knowledge base of drawn shapes: each picture belongs to its kind, and to the classes of its colour and shape."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.predictions.tiny_clip import COLOURS, KINDS, SHAPES, caption, draw_shape, png

Kind = tuple[str, str]


def kind_of(number: int) -> Kind:
    return KINDS[number % len(KINDS)]


def name_of(number: int) -> str:
    return f"drawn/{number:05}.png"


def pictures(count: int) -> Iterator[tuple[str, bytes]]:
    """In turn of each kind; the same number is the same picture."""
    for number in range(count):
        yield name_of(number), png(draw_shape(*kind_of(number), seed=500_000 + number))


def query_pictures(count: int) -> Iterator[tuple[str, str, bytes]]:
    """Other pictures of the same kinds: key, id of the right entry, bytes."""
    for number in range(count):
        colour, shape = kind_of(number)
        yield f"q{number:03}", f"{colour}-{shape}", png(draw_shape(colour, shape, seed=900_000 + number))


def entries(count: int) -> list[dict[str, Any]]:
    """24 rows: sixteen kinds, four colours, four shapes."""
    images: dict[str, list[str]] = defaultdict(list)
    for number in range(count):
        colour, shape = kind_of(number)
        for key in (f"{colour}-{shape}", colour, shape):
            images[key].append(name_of(number))
    names = {f"{colour}-{shape}": caption(colour, shape) for colour, shape in KINDS}
    names |= {colour: f"the colour {colour}" for colour in COLOURS} | {shape: f"the shape {shape}" for shape in SHAPES}
    return [
        {"id": key, "lemmas": [name], "gloss": name, "title": name, "text": f"{name}. " * 40, "images": images[key]}
        for key, name in names.items()
    ]


def write(folder: Path, count: int) -> None:
    """The pictures as a folder."""
    (folder / "drawn").mkdir(parents=True)
    for name, data in pictures(count):
        (folder / name).write_bytes(data)
