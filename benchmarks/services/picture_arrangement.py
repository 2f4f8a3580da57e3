"""Lay an item's pictures out as look-alikes, when a set was imported or derived."""

from collections.abc import Iterator

from PIL import Image as Pillow

from benchmarks.images import perceptual_hash, pictures
from benchmarks.images.perceptual_hash import Fingerprint
from benchmarks.models import Item
from benchmarks.services import storage
from benchmarks.services.derivatives import derivative

WIDTH = 240  # the thumbnails that the contact sheet shows: made here, so that nobody waits for them


def arrange(item: Item, threshold: float = perceptual_hash.ALIKE) -> None:
    """Write `groups` and `near` into the item's context. One picture is in memory at a time; running it twice is safe.

    Pictures that cannot be read stand alone. Raises lookalikes.TooMany, and then nothing is written.
    """
    prints = dict(fingerprints_of(item))
    arrangement = perceptual_hash.arrangement(list(prints), list(prints.values()), threshold)
    item.context = {**item.context, **arrangement}
    item.save(update_fields=["context"])


def fingerprints_of(item: Item) -> Iterator[tuple[str, Fingerprint]]:
    """Role and fingerprint of each picture, in the order of roles."""
    if item.images.count() > perceptual_hash.MOST:
        raise perceptual_hash.TooManyPictures(item.images.count())
    for use in item.images.select_related("image").order_by("role"):
        try:
            with storage.open_binary(derivative(use.image.sha256, WIDTH)) as file, Pillow.open(file) as picture:
                yield use.role, perceptual_hash.fingerprint(picture)
        except (FileNotFoundError, pictures.NotAPicture):
            continue
