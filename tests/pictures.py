"""Pictures for tests: good ones, turned ones, and the kinds that must be refused."""

import io
import random
import struct
import zlib
from typing import Any

from PIL import Image

CORNERS = ("red", "lime", "blue", "white")  # top left, top right, bottom left, bottom right
COLOURS = {"red": (255, 0, 0), "lime": (0, 255, 0), "blue": (0, 0, 255), "white": (255, 255, 255)}
# What has to be done to an upright picture so that the orientation's own turn brings it back.
UNDO = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


def encode_picture(picture: Image.Image, form: str, **options: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def plain(width: int = 120, height: int = 90, colour: str = "teal") -> Image.Image:
    return Image.new("RGB", (width, height), colour)


def noise(width: int, height: int, seed: int = 1) -> Image.Image:
    return Image.frombytes("RGB", (width, height), random.Random(seed).randbytes(width * height * 3))


def png(width: int = 120, height: int = 90, seed: int = 1) -> bytes:
    return encode_picture(noise(width, height, seed), "PNG")


def four_colours(width: int, height: int) -> Image.Image:
    """A colour in each quarter, so that any turn or flip shows."""
    page = Image.new("RGB", (width, height))
    half = (width // 2, height // 2)
    for number, name in enumerate(CORNERS):
        page.paste(COLOURS[name], (number % 2 * half[0], number // 2 * half[1], width, height))
    return page


def turned_jpeg(orientation: int, width: int = 400, height: int = 300) -> bytes:
    """A JPEG that is `width` x `height` upright, stored as a camera held that way would."""
    page = four_colours(width, height)
    if orientation in UNDO:
        page = page.transpose(UNDO[orientation])
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encode_picture(page, "JPEG", exif=exif, quality=92)


def corners(picture: Image.Image) -> tuple[str, ...]:
    width, height = picture.size
    names = []
    for x, y in ((0.2, 0.2), (0.8, 0.2), (0.2, 0.8), (0.8, 0.8)):
        pixel = picture.convert("RGB").getpixel((int(width * x), int(height * y)))
        names.append(min(COLOURS, key=lambda name: sum(abs(a - b) for a, b in zip(COLOURS[name], pixel, strict=True))))
    return tuple(names)


def enormous_png(width: int, height: int) -> bytes:
    """A PNG of a few hundred bytes that claims to be enormous."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes(100_000), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
