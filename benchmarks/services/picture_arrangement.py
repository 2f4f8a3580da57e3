"""Lay an item's pictures out as look-alikes, when a set was imported or derived for a question about duplicates."""

import re
from collections.abc import Iterator, Mapping

from django.db import transaction
from PIL import Image as Pillow

from benchmarks.images import perceptual_hash, pictures
from benchmarks.images.perceptual_hash import Fingerprint
from benchmarks.models import Item, Stage
from benchmarks.services import storage
from benchmarks.services.derivatives import derivative

WIDTH = 240  # the thumbnails that the contact sheet shows: made here, so that nobody waits for them


def arrange(item: Item, threshold: float = perceptual_hash.ALIKE) -> None:
    """Write `groups` and `near` into the item's context. One picture is in memory at a time; running it twice is safe.

    Where no question is about duplicates, each picture stands by itself in the order of roles, and `near` is empty: the
    numbers of a ranking stay, and nothing is said of similarity. Pictures that cannot be read stand alone. Raises
    TooManyPictures, and then nothing is written.
    """
    is_written = False
    while not is_written:
        before = _roles_of(item)
        is_written = _write(item, before, _arrangement_of(item, before, threshold))


def _arrangement_of(item: Item, roles: set[str], threshold: float) -> Mapping[str, object]:
    if not compares_pictures(item.stage):
        return {"groups": [[role] for role in sorted(roles, key=_counting)], "near": {}}
    prints = dict(fingerprints_of(item))
    return perceptual_hash.arrangement(list(prints), list(prints.values()), threshold)


def _roles_of(item: Item) -> set[str]:
    return set(item.images.values_list("role", flat=True))


@transaction.atomic
def _write(item: Item, before: set[str], arrangement: Mapping[str, object]) -> bool:
    """False where the item has other pictures than `before`. Reading them takes long, so what another import has said
    of them since then stays."""
    item.context = Item.objects.select_for_update().get(pk=item.pk).context  # no picture is added until the commit
    if _roles_of(item) != before:
        return False
    item.context = {**item.context, **arrangement}
    item.save(update_fields=["context"])
    return True


def compares_pictures(stage: Stage) -> bool:
    """Whether a question of the sheet is about duplicates. True where there is no question yet."""
    fields = stage.sheet.get("fields", ())
    return not fields or any(field.get("kind") == "grouping" for field in fields)


def is_arranged(item: Item, count: int) -> bool:
    """Whether all of the item's `count` pictures are laid out, as look-alikes where a question is about duplicates."""
    laid = sum(len(group) for group in item.context.get("groups", []))
    return laid == count and (bool(item.context.get("near")) or count < 2 or not compares_pictures(item.stage))


def _counting(role: str) -> tuple[str | int, ...]:
    """2 before 10.

    >>> sorted(["10", "b2", "2", "b10"], key=_counting)
    ['2', '10', 'b2', 'b10']
    """
    return tuple(int(part) if at % 2 else part for at, part in enumerate(re.split(r"(\d+)", role)))


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
