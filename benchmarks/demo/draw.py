"""The door to the demo's pictures: `draw` one, `describe` it in words."""

from __future__ import annotations

import zlib
from random import Random

from PIL import Image

from benchmarks.demo.canvas import HEIGHT, WIDTH, Canvas
from benchmarks.demo.finish import finish
from benchmarks.demo.register import CONCEPTS, CULTURES, SCENES
from benchmarks.demo.scene import Condition, Hour, Scene
from benchmarks.demo.words import SHOWN

HOURS: tuple[Hour, ...] = ("dawn", "day", "golden", "dusk")
CONDITIONS: tuple[Condition, ...] = ("natural", "generated")
LARGEST_SCALE = 1.75


def draw(
    concept: str, culture: str, condition: Condition, seed: int, size: tuple[int, int] = (1200, 900)
) -> Image.Image:
    """The picture of a concept in a culture. The same arguments give the same pixels.

    Scenes are composed on a 4:3 page; another shape shows its middle. Above 2100 pixels
    the page is drawn smaller and enlarged, so that a 12-megapixel picture stays affordable.
    """
    concept, culture = _known(concept, CONCEPTS, "concept"), _known(culture, CULTURES, "culture")
    if condition not in CONDITIONS:
        raise ValueError(f"condition must be one of {', '.join(CONDITIONS)}; got {condition!r}")
    if min(size) < 16:
        raise ValueError(f"size must be at least 16 by 16 pixels; got {size}")
    mixed = zlib.crc32(f"{concept}/{culture}/{condition}/{seed}".encode())
    rng = Random(mixed)  # noqa: S311 - pictures, not secrets
    wanted = max(size[0] / WIDTH, size[1] / HEIGHT)
    canvas = Canvas(min(max(wanted, 0.25), LARGEST_SCALE), mixed % 100_003)
    scene = Scene(canvas, rng, culture, condition == "generated", HOURS[(seed + rng.randrange(2)) % 4])
    SCENES[concept](scene)
    page = _cover(canvas.image, size)
    return finish(page, generated=scene.generated, seed=mixed % 100_003)


def describe(concept: str, culture: str, condition: Condition) -> str:
    """What the picture shows, as its alternative text.

    The words are the same for both conditions: a rater who listens must learn no more about
    where a picture comes from than one who looks.
    """
    concept, culture = _known(concept, CONCEPTS, "concept"), _known(culture, CULTURES, "culture")
    if condition not in CONDITIONS:
        raise ValueError(f"condition must be one of {', '.join(CONDITIONS)}; got {condition!r}")
    return f"Drawing: {SHOWN[concept, culture]}."


def _known(name: str, allowed: tuple[str, ...], what: str) -> str:
    plain = name.strip().lower().replace("_", " ").replace("-", " ")
    if plain not in allowed:
        raise ValueError(f"{what} must be one of {', '.join(allowed)}; got {name!r}")
    return plain


def _cover(page: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Enlarge or reduce so that the page covers `size`, and cut its middle."""
    scale = max(size[0] / page.width, size[1] / page.height)
    if page.size == size:
        return page
    width, height = size[0] / scale, size[1] / scale
    x, y = (page.width - width) / 2, (page.height - height) / 2
    return page.resize(size, Image.Resampling.LANCZOS, box=(x, y, x + width, y + height))
