"""Addresses of pictures: signed, expiring, and the same for everybody within a period so that browsers keep them."""

import base64
import struct
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.templatetags.static import static
from django.urls import reverse

_SIGNER = Signer(salt="benchmarks.image")
_SHAPE = struct.Struct(">32sHI")
PLACEHOLDER = "0" * 64  # stands for a picture where there is none yet: in the preview of a sheet


class HasImage(Protocol):
    """An Image row; or what a display holds of one, with `sha` for `sha256`."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...


@dataclass(frozen=True)
class ImageGrant:
    sha: str
    width: int
    expires: int


def widths(image: HasImage) -> list[int]:
    """The widths a page may ask for: never wider than the picture is."""
    smaller = [width for width in settings.IMAGE_WIDTHS if width < image.width]
    return [*smaller, image.width] if image.width <= max(settings.IMAGE_WIDTHS) else smaller


def image_url(image: HasImage, width: int, *, now: float | None = None) -> str:
    """The address of the smallest offered width that is at least `width`, or of the widest."""
    offered = widths(image)
    chosen = next((offered_width for offered_width in offered if offered_width >= width), offered[-1])
    sha = sha_of(image)
    if sha == PLACEHOLDER:
        return static("img/placeholder.svg")
    return _address(sha, chosen, _expiry(sha, time.time() if now is None else now))


@lru_cache(maxsize=8192)
def _address(sha: str, width: int, expires: int) -> str:
    """Sheets of many people show the same pictures, and each sheet is drawn twice: ahead and in hand."""
    packed = base64.urlsafe_b64encode(_SHAPE.pack(bytes.fromhex(sha), width, expires)).decode()
    return reverse("benchmarks:image", args=[_SIGNER.sign(packed)])


def srcset(image: HasImage) -> str:
    return ", ".join(f"{image_url(image, width)} {width}w" for width in widths(image))


def parse_grant(signed: str, *, now: float | None = None) -> ImageGrant | None:
    """What the address grants, or None if it is forged or over."""
    try:
        packed = _SIGNER.unsign(signed)
    except BadSignature:
        return None
    sha, width, expires = _SHAPE.unpack(base64.urlsafe_b64decode(packed))
    if expires <= (time.time() if now is None else now):
        return None
    return ImageGrant(sha.hex(), width, expires)


def sha_of(image: HasImage) -> str:
    return str(getattr(image, "sha256", None) or getattr(image, "sha"))  # noqa: B009


def _expiry(sha: str, now: float) -> int:
    """One to two periods from now. Each picture has its own edge, so that not all go stale at once."""
    period: int = settings.IMAGE_URL_SECONDS
    edge = int(sha[:8], 16) % period
    return (int(now - edge) // period + 2) * period + edge
