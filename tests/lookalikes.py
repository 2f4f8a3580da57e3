"""Sets of look-alikes for tests: a scene of the demo cropped, enlarged, shifted and by night."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from PIL import Image, ImageEnhance

from demo import pictures

VARIANTS = ("", "crop", "shift", "zoom", "crop", "shift", "night", "zoom", "shift", "night shift")
MARGIN = 1.12  # a scene is larger than what is shown of it, so that a shift shows new parts


@dataclass(frozen=True)
class LookAlike:
    """One picture. Pictures of one scene at the same time of day are duplicates of each other."""

    scene: int
    variant: str
    picture: Image.Image

    @property
    def night(self) -> bool:
        return self.variant.startswith("night")


def lookalikes(scenes: int, seed: int, size: tuple[int, int] = (640, 480)) -> Iterator[LookAlike]:
    """Ten pictures of each scene, scene by scene. The same arguments give the same pixels."""
    natural = [picture for picture in pictures.of_kind("scene") if picture.condition == "natural"]
    natural.sort(key=lambda picture: ["Egypt", "Brazil", "China"].index(picture.country))
    for scene in range(scenes):
        rng = Random(seed * 1000 + scene)
        wide = (round(size[0] * MARGIN), round(size[1] * MARGIN))
        with Image.open(natural[scene].path) as opened:
            page = opened.convert("RGB").resize(wide, Image.Resampling.LANCZOS)
        for variant in VARIANTS:
            yield LookAlike(scene, variant, vary(page, variant, rng, size))


def vary(page: Image.Image, variant: str, rng: Random, size: tuple[int, int]) -> Image.Image:
    """The page as one of VARIANTS, at this size."""
    if variant.startswith("night"):
        page = darken(page)
    width, height = page.size
    share = {"crop": rng.uniform(0.74, 0.82), "zoom": rng.uniform(0.64, 0.7)}.get(variant, 1 / MARGIN)
    free = (width * (1 - share), height * (1 - share))
    random = (rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9))
    position = random if variant.endswith(("crop", "shift")) else (0.5, 0.5)
    left, top = free[0] * position[0], free[1] * position[1]
    box = (left, top, left + width * share, top + height * share)
    return page.resize(size, Image.Resampling.LANCZOS, box=box)


def darken(page: Image.Image) -> Image.Image:
    """A night picture: dark, pale and blue."""
    low = ImageEnhance.Color(ImageEnhance.Brightness(page).enhance(0.62)).enhance(0.5)
    return Image.blend(low, Image.new("RGB", page.size, "#10265c"), 0.3)
