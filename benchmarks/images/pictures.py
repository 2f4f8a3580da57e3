"""What is in these bytes, and how does it look at another width. Pillow only: no Django, no database."""

import io
import re
import struct
import warnings
import zlib
from dataclasses import dataclass
from typing import BinaryIO

from PIL import Image, ImageCms

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "AVIF")
ENCODER = "w1"  # goes up when derivatives must be made anew: quality, colour, background
TALLEST = 8000  # WebP ends at 16,383
QUALITY = 82
SENT_QUALITY = 92
ORIENTATION = 0x0112
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# Everything that decoders are known to raise over bytes that are not what they say.
BROKEN = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    AssertionError,
    BufferError,
    RuntimeError,
    MemoryError,
    Image.DecompressionBombError,
    struct.error,
    zlib.error,
)
# What one pixel takes in memory at the peak of decoding and shrinking, measured; a picture may take this much in all.
MOST_MEMORY = 400_000_000
PIXEL_OF_FORMAT = {"WEBP": 16, "AVIF": 14}  # their decoders hold the whole picture several times over
PIXEL_OF_MODE = {"1": 2, "L": 2, "RGB": 5, "P": 6, "LA": 14}
PIXEL = 10  # with transparency, or 16 bits deep: converted as a whole before it is shrunk


class NotAPicture(Exception):
    """`code` is one of markup, text, unknown, too_many_pixels, damaged; of `pixels`, only `most` would be taken."""

    def __init__(self, code: str, pixels: int = 0, most: int = 0) -> None:
        super().__init__(code)
        self.code = code
        self.pixels = pixels
        self.most = most


@dataclass(frozen=True)
class PictureInfo:
    """Format and upright size, after every pixel was decoded once."""

    format: str
    width: int
    height: int
    orientation: int


def inspect(data: bytes, most_pixels: int) -> PictureInfo:
    """Look at the content, never at the name. Size is checked before anything is decoded."""
    picture = _open(data, most_pixels)
    if picture.format == "JPEG":
        # All of the file is read, at an eighth of the size: a truncated one is found at a fraction of the cost.
        size = picture.size
        picture.draft(None, (max(1, size[0] // 8), max(1, size[1] // 8)))
    else:
        size = picture.size
    try:
        picture.load()
    except BROKEN as error:
        raise NotAPicture("damaged") from error
    turn = orientation(picture)
    width, height = size if turn < 5 else (size[1], size[0])
    name = "JPEG" if picture.format in ("JPEG", "MPO") else str(picture.format)
    return PictureInfo(name, width, height, turn)


def orientation(picture: Image.Image) -> int:
    try:
        value = picture.getexif().get(ORIENTATION, 1)
    except BROKEN:
        return 1
    return value if value in TURNS else 1


def decode_memory(source: BinaryIO, most_pixels: int) -> int:
    """About how many bytes deriving from this takes at its peak; nothing is decoded. Raises NotAPicture."""
    picture = _open(source, most_pixels)
    source.seek(0)
    return picture.size[0] * picture.size[1] * _pixel(picture)


def resize_to_webp(source: BinaryIO, width: int, most_pixels: int) -> bytes:
    """A WebP at most `width` wide: upright, sRGB, on white, first frame, never enlarged, nothing but pixels.

    Raises NotAPicture for what cannot be read after all.
    """
    picture = _open(source, most_pixels)
    try:
        return _encode_picture(_scale_upright(picture, width, TALLEST), "WEBP", quality=QUALITY, method=4)
    except BROKEN as error:
        raise NotAPicture("damaged") from error


def jpeg_for_model(source: BinaryIO, longest: int, most_pixels: int) -> bytes:
    """A JPEG, which every model server reads, with no side longer; else as in `resize_to_webp`. Raises NotAPicture."""
    picture = _open(source, most_pixels)
    try:
        return _encode_picture(_scale_upright(picture, longest, longest), "JPEG", quality=SENT_QUALITY, subsampling=0)
    except BROKEN as error:
        raise NotAPicture("damaged") from error


def _encode_picture(picture: Image.Image, form: str, **how: int) -> bytes:
    """Of a fresh picture of the pixels alone: no EXIF, no profile, no comment can travel along."""
    out = io.BytesIO()
    Image.frombytes("RGB", picture.size, picture.tobytes()).save(out, form, **how)
    return out.getvalue()


def upright_rgb(source: BinaryIO, most_pixels: int) -> Image.Image:
    """The first frame as people see it, in its own size: upright, sRGB, on white. Raises NotAPicture."""
    picture = _open(source, most_pixels)
    try:
        turn, profile = orientation(picture), picture.info.get("icc_profile")
        picture = _rgb(_resizable_mode(picture), profile)
        return picture.transpose(TURNS[turn]) if turn in TURNS else picture
    except BROKEN as error:
        raise NotAPicture("damaged") from error


def _scale_upright(picture: Image.Image, width: int, tallest: int) -> Image.Image:
    turn = orientation(picture)
    profile = picture.info.get("icc_profile")
    across, down = picture.size if turn < 5 else picture.size[::-1]
    scale = min(1.0, width / across, tallest / down)
    target = (max(1, round(across * scale)), max(1, round(down * scale)))
    if turn >= 5:
        target = (target[1], target[0])
    picture.draft("RGB", (target[0] * 2, target[1] * 2))
    picture = _resizable_mode(picture)
    if picture.size != target:
        picture = picture.resize(target, Image.Resampling.LANCZOS, reducing_gap=3.0)
    picture = _rgb(picture, profile)
    return picture.transpose(TURNS[turn]) if turn in TURNS else picture


def _open(source: bytes | BinaryIO, most_pixels: int) -> Image.Image:
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    head = file.read(2048)
    file.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(file, formats=FORMATS)
    except Image.DecompressionBombError as error:
        digits = re.search(r"\d+", str(error))
        raise NotAPicture("too_many_pixels", int(digits[0]) if digits else 2 * most_pixels, most_pixels) from error
    except BROKEN as error:
        raise NotAPicture(_open_error(head)) from error
    most = min(most_pixels, MOST_MEMORY // _pixel(picture))
    if picture.size[0] * picture.size[1] > most:
        raise NotAPicture("too_many_pixels", picture.size[0] * picture.size[1], most)
    return picture


def _pixel(picture: Image.Image) -> int:
    """Bytes of memory for one pixel."""
    if picture.format in ("JPEG", "MPO"):
        # A progressive one is held whole as well, at two bytes a coefficient.
        layers = getattr(picture, "layer", [])
        largest = max((across * down for _id, across, down, _table in layers), default=1)
        coefficients = sum(2 * across * down for _id, across, down, _table in layers)
        return 5 + (-(-coefficients // largest) if "progressive" in picture.info else 0)
    if picture.format not in PIXEL_OF_FORMAT and "transparency" in picture.info:
        return PIXEL
    return PIXEL_OF_FORMAT.get(str(picture.format)) or PIXEL_OF_MODE.get(picture.mode, PIXEL)


def _open_error(head: bytes) -> str:
    """Why Pillow could not open it, for a sentence that helps."""
    if any(head.startswith(magic) for magic in (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8")):
        return "damaged"
    if (head[:4] == b"RIFF" and head[8:12] == b"WEBP") or head[4:12] in (b"ftypavif", b"ftypavis"):
        return "damaged"
    start = head.lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")
    if start.startswith(b"<"):
        return "markup"
    try:
        head[:2000].decode("utf-8")
    except UnicodeDecodeError as error:
        # A letter cut in two at the end of the sample is still text.
        return "text" if head and error.start > len(head) - 4 and b"\x00" not in head else "unknown"
    return "unknown" if b"\x00" in head else "text"


def _resizable_mode(picture: Image.Image) -> Image.Image:
    """A mode that can be resized without artefacts."""
    if picture.mode.startswith("I"):  # 16 bits of grey; a plain convert would clip them
        return picture.convert("I").point(lambda value: value * (1 / 257)).convert("L")
    if picture.mode == "1":
        return picture.convert("L")
    if picture.mode in ("P", "PA"):
        return picture.convert("RGBA" if "transparency" in picture.info or picture.mode == "PA" else "RGB")
    if "transparency" in picture.info:
        return picture.convert("RGBA")
    if picture.mode in ("LA", "La", "RGBa"):
        return picture.convert("RGBA")
    return picture


def _rgb(picture: Image.Image, profile: bytes | None) -> Image.Image:
    """sRGB on white: everybody, and every model, sees the same pixels whatever lies behind the picture."""
    if picture.mode == "RGBA":
        white = Image.new("RGBA", picture.size, "white")
        white.alpha_composite(picture)
        picture = white.convert("RGB")
    if profile and picture.mode in ("RGB", "CMYK", "L"):
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            turned = ImageCms.profileToProfile(picture, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
        except (ImageCms.PyCMSError, *BROKEN):
            turned = None
        if turned is not None:
            return turned
    return picture.convert("RGB")
