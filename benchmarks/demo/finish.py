"""The last touches on a picture: bloom, colour, vignette and grain."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageChops, ImageEnhance

from benchmarks.demo.canvas import soften


def finish(picture: Image.Image, *, generated: bool, seed: int) -> Image.Image:
    """Grade a picture: film-like for a photograph's stand-in, glossy for a generated one's."""
    if generated:
        picture = bloom(picture, 0.42)
        picture = ImageEnhance.Color(picture).enhance(1.28)
        picture = ImageEnhance.Contrast(picture).enhance(1.06)
        return grain(vignette(picture, 0.26), 2.0, seed)
    picture = bloom(picture, 0.12)
    picture = ImageEnhance.Color(picture).enhance(0.94)
    return grain(vignette(picture, 0.32), 3.4, seed)


def bloom(picture: Image.Image, strength: float) -> Image.Image:
    """Bright parts spread a little light."""
    small = picture.reduce(4)
    bright = small.point([max(0, round((v - 150) * 2.2)) if v > 150 else 0 for v in range(256)] * 3)
    spread = soften(bright, picture.width / 160).resize(picture.size, Image.Resampling.BILINEAR)
    spread = spread.point([round(v * strength) for v in range(256)] * 3)
    return ImageChops.screen(picture, spread)


def vignette(picture: Image.Image, strength: float) -> Image.Image:
    """Corners a little darker than the middle."""
    ys = np.linspace(-1.0, 1.0, 90, dtype=np.float32)[:, None]
    xs = np.linspace(-1.0, 1.0, 120, dtype=np.float32)[None, :]
    fall = np.clip((np.sqrt(xs**2 * 0.9 + ys**2) - 0.55) / 0.9, 0.0, 1.0) ** 1.6 * strength * 255
    mask = Image.fromarray(fall.astype(np.uint8)).resize(picture.size, Image.Resampling.BICUBIC)
    out = picture.copy()
    out.paste((22, 12, 26), (0, 0), mask)
    return out


def grain(picture: Image.Image, sigma: float, seed: int) -> Image.Image:
    """Fine noise, from one tile laid side by side."""
    gen = np.random.default_rng(seed + 911)
    tile = np.clip(gen.normal(128.0, sigma, (256, 256)), 0, 255).astype(np.uint8)
    rows, cols = -(-picture.height // 256), -(-picture.width // 256)
    grey = Image.fromarray(np.tile(tile, (rows, cols))[: picture.height, : picture.width])
    return ImageChops.add(picture, Image.merge("RGB", (grey,) * 3), scale=1.0, offset=-128)
