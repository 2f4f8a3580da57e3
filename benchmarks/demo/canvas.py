"""A canvas with soft edges, light and depth, in units of a 1200 by 900 page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypedDict, Unpack

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from benchmarks.demo.paint import Box, Colour, Fill, fill_image, fractal, noise, rgb

WIDTH, HEIGHT = 1200.0, 900.0
SUPER = 2
Point = tuple[float, float]
Painter = Callable[[ImageDraw.ImageDraw, Callable[[Point], Point], float], None]


class Look(TypedDict, total=False):
    """How a shape is finished: see `Canvas.poly`."""

    alpha: float
    bevel: float
    blur: float
    tex: tuple[float, float, float] | None
    glossy: float


def soften(picture: Image.Image, radius: float) -> Image.Image:
    """Gaussian blur, done small where the radius is large: nobody can see the difference."""
    factor = 1
    while radius / factor > 5 and min(picture.size) // (factor * 2) >= 8:
        factor *= 2
    if factor == 1:
        return picture.filter(ImageFilter.GaussianBlur(radius))
    small = picture.reduce(factor).filter(ImageFilter.GaussianBlur(radius / factor))
    return small.resize(picture.size, Image.Resampling.BICUBIC)


def smooth(points: Sequence[Point], *, closed: bool = True, steps: int = 8) -> list[Point]:
    """A Catmull-Rom curve through the points."""
    n = len(points)
    out: list[Point] = []
    for i in range(n if closed else n - 1):
        p = [points[(i + k) % n] if closed else points[min(max(i + k, 0), n - 1)] for k in (-1, 0, 1, 2)]
        for s in range(steps):
            t = s / steps
            out.append((_spline([q[0] for q in p], t), _spline([q[1] for q in p], t)))
    if not closed:
        out.append(points[-1])
    return out


def ring(cx: float, cy: float, rx: float, ry: float, rot: float = 0.0) -> list[Point]:
    """The outline of an ellipse, turned by `rot` degrees."""
    n = 28 if max(rx, ry) < 30 else 64
    rad = math.radians(rot)
    ca, sa = math.cos(rad), math.sin(rad)
    turns = [2 * math.pi * k / n for k in range(n)]
    flat = [(rx * math.cos(a), ry * math.sin(a)) for a in turns]
    return [(cx + x * ca - y * sa, cy + x * sa + y * ca) for x, y in flat]


def local(x: float, y: float, z: float, points: Sequence[Point], side: int = 1) -> list[Point]:
    """Points given round an origin, moved to (x, y), scaled by `z`; `side` -1 turns left to right."""
    return [(x + side * u * z, y + v * z) for u, v in points]


class Canvas:
    """The page being drawn. Everything is placed in page units, whatever the pixel size."""

    def __init__(self, scale: float, seed: int) -> None:
        self.k = scale
        self.seed = seed
        self.size = (round(WIDTH * scale), round(HEIGHT * scale))
        self.image = Image.new("RGB", self.size)
        self._clip: Image.Image | None = None
        self._count = 0

    # -- shapes ---------------------------------------------------------------

    def poly(
        self,
        points: Sequence[Point],
        fill: Fill,
        *,
        alpha: float = 1.0,
        bevel: float = 0.0,
        blur: float = 0.0,
        tex: tuple[float, float, float] | None = None,
        glossy: float = 0.75,
    ) -> None:
        """A filled outline. `bevel` lights its edge, `tex` = (cell x, cell y, strength) roughens it."""

        def paint(pen: ImageDraw.ImageDraw, place: Callable[[Point], Point], _: float) -> None:
            pen.polygon([place(p) for p in points], fill=255)

        self._stamp(_bounds(points), paint, fill, alpha, bevel, blur, tex, glossy)

    def ellipse(
        self, cx: float, cy: float, rx: float, ry: float, fill: Fill, rot: float = 0.0, **look: Unpack[Look]
    ) -> None:
        """An ellipse; see `poly` for the look."""
        self.poly(ring(cx, cy, rx, ry, rot), fill, **look)

    def rect(
        self, x0: float, y0: float, x1: float, y1: float, fill: Fill, r: float = 0.0, **look: Unpack[Look]
    ) -> None:
        """A rectangle with corners rounded by `r`; see `poly` for the look."""
        pts: list[Point] = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        if r > 0:
            r = min(r, (x1 - x0) / 2, (y1 - y0) / 2)
            corners = ((x1 - r, y0 + r, -90), (x1 - r, y1 - r, 0), (x0 + r, y1 - r, 90), (x0 + r, y0 + r, 180))
            pts = [
                (cx + r * math.cos(math.radians(a + d)), cy + r * math.sin(math.radians(a + d)))
                for cx, cy, a in corners
                for d in (0, 22, 45, 68, 90)
            ]
        self.poly(pts, fill, **look)

    def line(
        self,
        points: Sequence[Point],
        width: float,
        fill: Fill,
        *,
        alpha: float = 1.0,
        bevel: float = 0.0,
        blur: float = 0.0,
    ) -> None:
        """A round-ended stroke."""

        def paint(pen: ImageDraw.ImageDraw, place: Callable[[Point], Point], unit: float) -> None:
            px = [place(p) for p in points]
            wide = max(1.0, width * unit)
            pen.line(px, fill=255, width=round(wide), joint="curve")
            for x, y in (px[0], px[-1]):
                pen.ellipse((x - wide / 2, y - wide / 2, x + wide / 2, y + wide / 2), fill=255)

        box = _bounds(points)
        half = width / 2
        self._stamp(
            (box[0] - half, box[1] - half, box[2] + half, box[3] + half), paint, fill, alpha, bevel, blur, None, 0.75
        )

    # -- light ----------------------------------------------------------------

    def shadow(
        self, cx: float, cy: float, rx: float, ry: float, alpha: float = 0.45, colour: Colour = "#140a10"
    ) -> None:
        """A soft shadow lying on the ground."""
        self.poly(ring(cx, cy, rx, ry), colour, alpha=alpha, blur=max(3.0, ry * 0.45))

    def glow(self, cx: float, cy: float, radius: float, colour: Colour, strength: float = 0.8) -> None:
        """Light added around a point."""
        full = self._pixels((cx - radius, cy - radius, cx + radius, cy + radius))
        view = self._inside(full)
        if view is None:
            return
        cols, rows = max(2, (view[2] - view[0]) // 4), max(2, (view[3] - view[1]) // 4)
        xs = (np.linspace(view[0], view[2], cols) / self.k - cx) / radius
        ys = (np.linspace(view[1], view[3], rows) / self.k - cy) / radius
        fall = np.clip(1.0 - np.sqrt(xs[None, :] ** 2 + ys[:, None] ** 2), 0.0, 1.0) ** 2.2 * strength
        light = (fall[..., None] * np.array(rgb(colour), dtype=np.float32)).astype(np.uint8)
        layer = Image.fromarray(light).resize((view[2] - view[0], view[3] - view[1]), Image.Resampling.BILINEAR)
        self.image.paste(ImageChops.screen(self.image.crop(view), layer), view)

    def blur(self, radius: float) -> None:
        """Put everything drawn so far out of focus."""
        self.image = soften(self.image, radius * self.k)

    def clouds(
        self, y0: float, y1: float, colour: Colour, amount: float, cell: tuple[float, float] = (420, 110), salt: int = 0
    ) -> None:
        """Drifting cloud or mist between two heights."""
        view = self._inside(self._pixels((0, y0, WIDTH, y1)))
        if view is None:
            return
        w, h = max(8, (view[2] - view[0]) // 4), max(8, (view[3] - view[1]) // 4)
        field = fractal(w, h, (cell[0] * self.k / 4, cell[1] * self.k / 4), self.seed * 7 + salt)
        fade = np.sin(np.linspace(0.0, math.pi, h, dtype=np.float32))[:, None]
        mask = np.clip((field - 0.46) * 3.2, 0.0, 1.0) * fade * amount * 255
        soft = Image.fromarray(mask.astype(np.uint8)).resize(
            (view[2] - view[0], view[3] - view[1]), Image.Resampling.BICUBIC
        )
        self.image.paste(rgb(colour), view, soft)

    def mirror(self, y: float, depth: float, alpha: float = 0.5, blur: float = 4.0, squash: float = 1.0) -> None:
        """Reflect what stands above `y` into the `depth` units below it."""
        width = self.size[0]
        top, low = round((y - depth * squash) * self.k), round(y * self.k)
        bottom = min(self.size[1], round((y + depth) * self.k))
        part = self.image.crop((0, max(0, top), width, low)).transpose(Image.Transpose.FLIP_TOP_BOTTOM)
        part = soften(part.resize((width, bottom - low), Image.Resampling.BILINEAR), blur * self.k)
        fade = Image.fromarray((np.linspace(1.0, 0.25, bottom - low)[:, None] * alpha * 255).astype(np.uint8))
        self.image.paste(part, (0, low), fade.resize((width, bottom - low)))

    def symmetrise(self) -> None:
        """Make the right half the mirror image of the left, as generators like to do."""
        half = self.size[0] // 2
        left = self.image.crop((0, 0, half, self.size[1]))
        self.image.paste(left.transpose(Image.Transpose.FLIP_LEFT_RIGHT), (self.size[0] - half, 0))

    @contextmanager
    def clip(self, points: Sequence[Point]) -> Iterator[None]:
        """Draw only inside an outline."""
        mask = Image.new("L", self.size)
        ImageDraw.Draw(mask).polygon([(x * self.k, y * self.k) for x, y in points], fill=255)
        before = self._clip
        self._clip = mask if before is None else ImageChops.multiply(mask, before)
        try:
            yield
        finally:
            self._clip = before

    # -- inside ---------------------------------------------------------------

    def _pixels(self, box: tuple[float, float, float, float]) -> Box:
        k = self.k
        return math.floor(box[0] * k), math.floor(box[1] * k), math.ceil(box[2] * k) + 1, math.ceil(box[3] * k) + 1

    def _inside(self, box: Box) -> Box | None:
        view = (max(0, box[0]), max(0, box[1]), min(self.size[0], box[2]), min(self.size[1], box[3]))
        return view if view[2] > view[0] and view[3] > view[1] else None

    def _mask(self, view: Box, paint: Painter, blur: float) -> Image.Image:
        factor = 1 if blur > 3 else SUPER
        mask = Image.new("L", ((view[2] - view[0]) * factor, (view[3] - view[1]) * factor))

        def place(p: Point) -> Point:
            return (p[0] * self.k - view[0]) * factor, (p[1] * self.k - view[1]) * factor

        paint(ImageDraw.Draw(mask), place, self.k * factor)
        if factor > 1:
            mask = mask.reduce(factor)
        return soften(mask, blur * self.k) if blur > 0 else mask

    def _stamp(
        self,
        bounds: tuple[float, float, float, float],
        paint: Painter,
        fill: Fill,
        alpha: float,
        bevel: float,
        blur: float,
        tex: tuple[float, float, float] | None,
        glossy: float,
    ) -> None:
        shape = self._pixels(bounds)
        pad = math.ceil(blur * self.k * 2.6) + 1
        view = self._inside((shape[0] - pad, shape[1] - pad, shape[2] + pad, shape[3] + pad))
        if view is None:
            return
        mask = self._mask(view, paint, blur)
        colour = fill_image(fill, shape, view)
        if tex is not None:
            colour = self._roughen(colour, tex)
        if bevel > 0:
            colour = _lit(colour, mask, bevel * self.k, glossy)
        if self._clip is not None:
            mask = ImageChops.multiply(mask, self._clip.crop(view))
        if alpha < 1.0:
            mask = mask.point([round(v * alpha) for v in range(256)])
        self.image.paste(colour, view, mask)

    def _roughen(self, colour: Image.Image, tex: tuple[float, float, float]) -> Image.Image:
        self._count += 1
        cell = (tex[0] * self.k, tex[1] * self.k)
        grey = noise(*colour.size, cell, self.seed * 31 + self._count)
        low = round(255 * (1 - tex[2]))
        table = [round(low + (255 - low) * v / 255) for v in range(256)]
        return ImageChops.multiply(colour, Image.merge("RGB", (grey.point(table),) * 3))


def _spline(v: Sequence[float], t: float) -> float:
    a = 2 * v[1] + (v[2] - v[0]) * t
    b = (2 * v[0] - 5 * v[1] + 4 * v[2] - v[3]) * t * t
    return 0.5 * (a + b + (3 * v[1] - v[0] - 3 * v[2] + v[3]) * t**3)


def _bounds(points: Sequence[Point]) -> tuple[float, float, float, float]:
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    return min(xs), min(ys), max(xs), max(ys)


def _lit(colour: Image.Image, mask: Image.Image, radius: float, glossy: float) -> Image.Image:
    """Light from the upper left: the blurred outline is read as a height field."""
    factor = 2 if radius > 4 else 1
    small = mask if factor == 1 else mask.resize((max(2, mask.width // factor), max(2, mask.height // factor)))
    height = np.asarray(soften(small, radius / factor), dtype=np.float32) / 255.0
    gy, gx = np.gradient(height) if min(height.shape) > 1 else (height * 0, height * 0)
    light = (gx * 0.6 + gy * 0.8) * (radius / factor) * 2.6
    bright = Image.fromarray((np.clip(light, 0, 1) * 255 * glossy * 0.6).astype(np.uint8)).resize(colour.size)
    dark = Image.fromarray((np.clip(-light, 0, 1) * 255 * 0.55).astype(np.uint8)).resize(colour.size)
    lit = colour.copy()
    lit.paste((255, 248, 226), (0, 0), bright)
    lit.paste((26, 10, 22), (0, 0), dark)
    return lit
