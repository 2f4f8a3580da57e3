"""Pictures of items inside figures: as signed addresses on a page, as bytes in a file that is opened elsewhere."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable

from django.core.files.storage import default_storage

from benchmarks.images.image_urls import image_url
from benchmarks.images.pictures import NotAPicture
from benchmarks.models import Benchmark, Image, ItemImage
from benchmarks.services.derivatives import derivative

WIDTH = 480  # enough for a card at two pixels for one


def first_images(pks: Iterable[int]) -> dict[int, Image]:
    """The first picture of each item that has one."""
    rows = ItemImage.objects.filter(item__in=set(pks)).select_related("image").order_by("-pk")
    return {row.item_id: row.image for row in rows}


def signed_address(benchmark: Benchmark) -> Callable[[str], str]:
    """From a checksum to the address of a small derivative; "" for what the team does not have."""

    def href(sha: str) -> str:
        image = Image.objects.filter(team=benchmark.team_id, sha256=sha).first()
        return image_url(image, WIDTH) if image else ""

    return href


def data_address(benchmark: Benchmark) -> Callable[[str], str]:
    """The same picture inside the file itself."""

    def href(sha: str) -> str:
        if not Image.objects.filter(team=benchmark.team_id, sha256=sha).exists():
            return ""
        try:
            with default_storage.open(derivative(sha, WIDTH), "rb") as file:
                return "data:image/webp;base64," + b64encode(file.read()).decode()
        except (FileNotFoundError, NotAPicture):
            return ""

    return href
