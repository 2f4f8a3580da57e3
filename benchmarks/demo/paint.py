"""Colours, gradients and noise: what a shape is filled with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

RGB = tuple[int, int, int]
Colour = str | RGB
FloatArray = npt.NDArray[np.float32]
Box = tuple[int, int, int, int]


def rgb(colour: Colour) -> RGB:
    """A colour as three numbers; '#rrggbb' or a triple."""
    if isinstance(colour, str):
        text = colour.lstrip("#")
        return int(text[0:2], 16), int(text[2:4], 16), int(text[4:6], 16)
    return colour


def mix(a: Colour, b: Colour, t: float) -> RGB:
    """The colour `t` of the way from `a` to `b`."""
    first, second = rgb(a), rgb(b)
    r, g, bl = (round(x + (y - x) * t) for x, y in zip(first, second, strict=True))
    return r, g, bl


def lighter(colour: Colour, t: float = 0.25) -> RGB:
    """Towards warm white."""
    return mix(colour, (255, 250, 238), t)


def darker(colour: Colour, t: float = 0.3) -> RGB:
    """Towards a warm near-black."""
    return mix(colour, (20, 10, 18), t)


def ramp(stops: Sequence[Colour], t: FloatArray) -> npt.NDArray[np.uint8]:
    """Colours at the positions `t` in [0, 1] along evenly spaced stops."""
    table = np.array([rgb(stop) for stop in stops], dtype=np.float32)
    places = np.linspace(0.0, 1.0, len(stops))
    channels = [np.interp(t, places, table[:, k]) for k in range(3)]
    return np.stack(channels, axis=-1).astype(np.uint8)


@dataclass(frozen=True)
class Lin:
    """A linear gradient over the shape's box; 90 degrees runs from top to bottom."""

    stops: tuple[Colour, ...]
    angle: float = 90.0

    def image(self, shape: Box, view: Box) -> Image.Image:
        """The gradient of `shape` as seen through `view` (both in pixels)."""
        u, v = _grid(shape, view)
        rad = math.radians(self.angle)
        dx, dy = math.cos(rad), math.sin(rad)
        span = abs(dx) + abs(dy)
        t = ((u - 0.5) * dx + (v - 0.5) * dy) / span + 0.5
        return _fit(ramp(self.stops, t.astype(np.float32)), view)


@dataclass(frozen=True)
class Rad:
    """A radial gradient; centre and radius are fractions of the shape's box."""

    stops: tuple[Colour, ...]
    cx: float = 0.38
    cy: float = 0.32
    radius: float = 0.75

    def image(self, shape: Box, view: Box) -> Image.Image:
        """The gradient of `shape` as seen through `view` (both in pixels)."""
        u, v = _grid(shape, view)
        t = np.sqrt((u - self.cx) ** 2 + (v - self.cy) ** 2) / self.radius
        return _fit(ramp(self.stops, np.clip(t, 0.0, 1.0).astype(np.float32)), view)


Fill = Colour | Lin | Rad


def fill_image(fill: Fill, shape: Box, view: Box) -> Image.Image:
    """The fill as an RGB picture as large as `view`."""
    if isinstance(fill, Lin | Rad):
        return fill.image(shape, view)
    return Image.new("RGB", (view[2] - view[0], view[3] - view[1]), rgb(fill))


def base_colour(fill: Fill) -> RGB:
    """One colour that stands for the fill."""
    if isinstance(fill, Lin | Rad):
        return rgb(fill.stops[len(fill.stops) // 2])
    return rgb(fill)


def noise(width: int, height: int, cell: tuple[float, float], seed: int) -> Image.Image:
    """Smooth grey noise in 0..255 whose blotches measure `cell` pixels."""
    gen = np.random.default_rng(seed)
    cols = max(2, math.ceil(width / max(cell[0], 1.0)) + 1)
    rows = max(2, math.ceil(height / max(cell[1], 1.0)) + 1)
    small = gen.integers(0, 256, (rows, cols), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def fractal(width: int, height: int, cell: tuple[float, float], seed: int) -> FloatArray:
    """Three octaves of noise, 0..1, for clouds and mist."""
    total = np.zeros((height, width), dtype=np.float32)
    for octave, weight in enumerate((0.55, 0.28, 0.17)):
        step = (cell[0] / 2**octave, cell[1] / 2**octave)
        layer = np.asarray(noise(width, height, step, seed + octave), dtype=np.float32)
        total += weight * layer / 255.0
    return total


def _grid(shape: Box, view: Box) -> tuple[FloatArray, FloatArray]:
    """Positions inside `shape`'s box, sampled coarsely over `view`: gradients are smooth."""
    coarse = 4 if (view[2] - view[0]) * (view[3] - view[1]) > 4096 else 1
    cols = max(2, (view[2] - view[0]) // coarse)
    rows = max(2, (view[3] - view[1]) // coarse)
    xs = view[0] + (np.arange(cols, dtype=np.float32) + 0.5) * (view[2] - view[0]) / cols
    ys = view[1] + (np.arange(rows, dtype=np.float32) + 0.5) * (view[3] - view[1]) / rows
    u = (xs - shape[0]) / max(1, shape[2] - shape[0])
    v = (ys - shape[1]) / max(1, shape[3] - shape[1])
    grid = np.meshgrid(u, v)
    return grid[0].astype(np.float32), grid[1].astype(np.float32)


def _fit(pixels: npt.NDArray[np.uint8], view: Box) -> Image.Image:
    size = (view[2] - view[0], view[3] - view[1])
    picture = Image.fromarray(pixels)
    return picture if picture.size == size else picture.resize(size, Image.Resampling.BILINEAR)
