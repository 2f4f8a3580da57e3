"""Simple pictures that the practice model server draws: the same for the same words, and edits that change one thing.

>>> len(draw_scene("A photo of dance in Brazil")) > 1000
True
"""

import hashlib
import io
from random import Random

from PIL import Image, ImageDraw

SIDE = 512
DECLINED = "[practice: refuse]"
UNCHANGED = "[practice: identical]"
Colour = tuple[int, int, int]


def _dice(*parts: object) -> Random:
    digest = hashlib.sha256("\t".join(str(part) for part in parts).encode()).digest()
    return Random(digest)  # noqa: S311  (it draws, and keeps no secret)


def _colour(dice: Random, low: int, high: int) -> Colour:
    return dice.randint(low, high), dice.randint(low, high), dice.randint(low, high)


def draw_scene(prompt: str, seed: object = "") -> bytes:
    """A PNG of 512 x 512: ground, sky, a house and two figures, by the digest of the prompt."""
    dice = _dice(prompt, seed)
    picture = Image.new("RGB", (SIDE, SIDE), _colour(dice, 140, 240))
    draw = ImageDraw.Draw(picture)
    horizon = dice.randint(260, 360)
    draw.rectangle((0, horizon, SIDE, SIDE), fill=_colour(dice, 40, 160))
    _house(draw, dice, horizon)
    for left in (dice.randint(40, 180), dice.randint(300, 440)):
        _figure(draw, dice, left, horizon)
    return _png(picture)


def _house(draw: ImageDraw.ImageDraw, dice: Random, horizon: int) -> None:
    left, width, height = dice.randint(150, 260), dice.randint(90, 150), dice.randint(70, 130)
    draw.rectangle((left, horizon - height, left + width, horizon), fill=_colour(dice, 60, 220))
    roof = (
        (left - 12, horizon - height),
        (left + width + 12, horizon - height),
        (left + width // 2, horizon - height - 60),
    )
    draw.polygon(roof, fill=_colour(dice, 60, 200))


def _figure(draw: ImageDraw.ImageDraw, dice: Random, left: int, horizon: int) -> None:
    top, colour = horizon - dice.randint(10, 50), _colour(dice, 20, 230)
    draw.ellipse((left, top - 34, left + 30, top - 4), fill=_colour(dice, 90, 220))
    draw.rectangle((left - 4, top, left + 34, top + 80), fill=colour)


def edit_scene(original: bytes, prompt: str, seed: object = "") -> bytes:
    """The picture with one object changed in one region: 2 to 10 % of its pixels, by the digest of the prompt."""
    picture = Image.open(io.BytesIO(original)).convert("RGB")
    if UNCHANGED in prompt:
        return _png(picture)
    dice = _dice(prompt, seed)
    width, height = picture.size
    share = dice.uniform(0.03, 0.09)
    side = max(1, int((width * height * share) ** 0.5))
    left, top = dice.randint(0, max(0, width - side)), dice.randint(0, max(0, height - side))
    region = picture.crop((left, top, left + side, top + side))
    inverted = region.point([255 - value if abs(255 - 2 * value) > 40 else 20 for value in range(256)] * 3)
    picture.paste(inverted, (left, top))
    return _png(picture)


def _png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
