"""A picture without what a camera or a program wrote beside its pixels: place, device, author, thumbnail, comments.

Pixels, colour profile and orientation stay. JPEG, PNG, WebP and GIF are not encoded again: parts are left out. AVIF is,
and what has an unusual structure.
What follows the end of a picture is cut off.
"""

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress

from PIL import Image, ImageOps

from benchmarks.images.pictures import BROKEN

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT = {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS"}  # what the pixels are
_PNG_KEPT |= {b"iCCP", b"sRGB", b"gAMA", b"cHRM", b"pHYs", b"acTL", b"fcTL", b"fdAT"}  # colours, size, animation
_WEBP_KEPT = {b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"}
_WEBP_EXIF, _WEBP_XMP = 0x08, 0x04  # flags of VP8X
_GIF_LOOPS = (b"NETSCAPE2.0", b"ANIMEXTS1.0")
_QUALITY = 95


class Unreadable(ValueError):
    """The bytes are not what their format says."""


def strip_metadata(data: bytes, form: str, orientation: int = 1) -> bytes:
    """The picture without metadata. `form` as in `benchmarks.models.Image.format`. Raises Unreadable."""
    parts = {"jpeg": _jpeg, "png": _png, "webp": _webp, "gif": _gif}.get(form.lower())
    if parts:
        with suppress(IndexError, ValueError, struct.error):  # unusual, though it can be seen: encoded again
            return b"".join(parts(data, orientation))
    try:
        return _encode_again(data)
    except BROKEN as error:
        raise Unreadable(f"not a whole {form} picture") from error


def _exif(orientation: int) -> bytes:
    """The smallest EXIF block: the orientation alone."""
    return b"MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 0x0112, 3, 1, orientation, 0, 0)


def _jpeg(data: bytes, orientation: int) -> Iterator[bytes]:
    if data[:2] != b"\xff\xd8":
        raise Unreadable("no JPEG")
    yield data[:2]
    written, place = orientation == 1, 2
    while True:
        while data[place] == 0xFF and data[place + 1] == 0xFF:  # fill bytes
            place += 1
        marker = data[place + 1]
        if data[place] != 0xFF:
            raise Unreadable("no marker")
        if marker == 0xD9:
            yield data[place : place + 2]
            return
        end = place + 2 + struct.unpack(">H", data[place + 2 : place + 4])[0]
        segment = data[place:end]
        if not written and marker != 0xE0:  # after JFIF, which comes first
            block = b"Exif\0\0" + _exif(orientation)
            yield b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block
            written = True
        if _jpeg_keeps(marker, segment):
            yield segment
        place = end
        if marker == 0xDA:
            end = _end_of_scan(data, place)
            yield data[place:end]
            place = end


def _jpeg_keeps(marker: int, segment: bytes) -> bool:
    """JFIF without a thumbnail, the colour profile, Adobe's colour transform, and all that is no application's."""
    if marker == 0xE0:
        return segment[4:9] == b"JFIF\0" and segment[16:18] == b"\0\0"
    if marker == 0xE2:
        return segment[4:16] == b"ICC_PROFILE\0"
    return marker == 0xEE or not (0xE0 <= marker <= 0xEF or marker == 0xFE)


def _end_of_scan(data: bytes, place: int) -> int:
    """Where the next marker is that ends the pixels of a scan."""
    while True:
        place = data.index(b"\xff", place)
        if data[place + 1] not in (0x00, 0xFF) and not 0xD0 <= data[place + 1] <= 0xD7:
            return place
        place += 1 if data[place + 1] == 0xFF else 2


def _png(data: bytes, orientation: int) -> Iterator[bytes]:
    if data[:8] != _PNG_SIGNATURE:
        raise Unreadable("no PNG")
    yield _PNG_SIGNATURE
    place = 8
    while True:
        size, name = struct.unpack(">I4s", data[place : place + 8])
        end = place + 12 + size
        if end > len(data):
            raise Unreadable("a chunk is cut")
        if name in _PNG_KEPT:
            yield data[place:end]
        if name == b"IHDR" and orientation != 1:
            block = b"eXIf" + _exif(orientation)
            yield struct.pack(">I", len(block) - 4) + block + struct.pack(">I", zlib.crc32(block))
        if name == b"IEND":
            return
        place = end


def _webp(data: bytes, orientation: int) -> Iterator[bytes]:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        raise Unreadable("no WebP")
    chunks, place, end = [], 12, 8 + struct.unpack("<I", data[4:8])[0]
    if end > len(data):
        raise Unreadable("it is cut")
    while place + 8 <= end:
        name, size = struct.unpack("<4sI", data[place : place + 8])
        content = data[place + 8 : place + 8 + size]
        if len(content) < size:
            raise Unreadable("a chunk is cut")
        if name == b"VP8X":
            flags = content[0] & ~(_WEBP_EXIF | _WEBP_XMP) | (_WEBP_EXIF if orientation != 1 else 0)
            content = bytes([flags]) + content[1:]
        if name in _WEBP_KEPT:
            chunks.append((name, content))
        place += 8 + size + size % 2
    if orientation != 1:
        chunks.append((b"EXIF", _exif(orientation)))
    body = b"".join(struct.pack("<4sI", name, len(c)) + c + b"\0" * (len(c) % 2) for name, c in chunks)
    yield b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def _gif(data: bytes, _orientation: int) -> Iterator[bytes]:
    if data[:3] != b"GIF":
        raise Unreadable("no GIF")
    place = 13 + _colours(data[10])
    yield data[:place]
    while True:
        start, kind = place, data[place]
        if kind == 0x3B:
            yield b"\x3b"
            return
        if kind == 0x21:
            label, place = data[place + 1], _end_of_blocks(data, place + 2)
            is_loop = label == 0xFF and data[start + 3 : start + 14] in _GIF_LOOPS
            if label in (0xF9, 0x01) or is_loop:
                yield data[start:place]
        elif kind == 0x2C:
            place = _end_of_blocks(data, place + 11 + _colours(data[place + 9]))
            yield data[start:place]
        else:
            raise Unreadable("unknown block")


def _colours(flags: int) -> int:
    """Bytes of a table of colours, where the flags say that there is one."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _end_of_blocks(data: bytes, place: int) -> int:
    while size := data[place]:
        place += size + 1
    return place + 1


def _encode_again(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as picture:
        upright, out = ImageOps.exif_transpose(picture), io.BytesIO()
        profile = picture.info.get("icc_profile")
        upright.save(out, picture.format, quality=_QUALITY, exif=b"", icc_profile=profile)
    return out.getvalue()
