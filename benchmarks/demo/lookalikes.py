"""Sets of look-alikes, as an image search brings them: one scene again, cropped, zoomed, shifted, at night."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from PIL import Image, ImageEnhance

from benchmarks.demo.draw import draw
from benchmarks.demo.register import CONCEPTS, CULTURES

HOW = ("", "crop", "shift", "zoom", "crop", "shift", "night", "zoom", "shift", "night shift")
MARGIN = 1.12  # a scene is drawn a little larger than it is shown, so that a shift brings in what was outside


@dataclass(frozen=True)
class LookAlike:
    """One picture. `scene` and whether it is `night` say which others are duplicates of it; `how` it was made."""

    scene: int
    how: str
    picture: Image.Image

    @property
    def night(self) -> bool:
        return self.how.startswith("night")


def lookalikes(scenes: int, seed: int, size: tuple[int, int] = (640, 480)) -> Iterator[LookAlike]:
    """Ten pictures of each scene, scene by scene. The same arguments give the same pixels."""
    for scene in range(scenes):
        rng = Random(seed * 1000 + scene)  # noqa: S311 - pictures, not secrets
        wide = (round(size[0] * MARGIN), round(size[1] * MARGIN))
        concept, culture = CONCEPTS[scene % len(CONCEPTS)], CULTURES[scene // len(CONCEPTS) % len(CULTURES)]
        page = draw(concept, culture, "natural", seed * 100 + scene, wide)
        for how in HOW:
            yield LookAlike(scene, how, varied(page, how, rng, size))


def varied(page: Image.Image, how: str, rng: Random, size: tuple[int, int]) -> Image.Image:
    """The page in one of the ways of `HOW`, at the size asked for."""
    if how.startswith("night"):
        page = _dark(page)
    across, down = page.size
    share = {"crop": rng.uniform(0.74, 0.82), "zoom": rng.uniform(0.64, 0.7)}.get(how, 1 / MARGIN)
    room = (across * (1 - share), down * (1 - share))
    drawn = (rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9))
    at = drawn if how.endswith(("crop", "shift")) else (0.5, 0.5)
    left, top = room[0] * at[0], room[1] * at[1]
    box = (left, top, left + across * share, top + down * share)
    return page.resize(size, Image.Resampling.LANCZOS, box=box)


def _dark(page: Image.Image) -> Image.Image:
    """Night: little light, and that blue."""
    low = ImageEnhance.Color(ImageEnhance.Brightness(page.convert("RGB")).enhance(0.62)).enhance(0.5)
    return Image.blend(low, Image.new("RGB", page.size, "#10265c"), 0.3)
