"""Perceptual hashes of pictures, computed outside transactions when a filter needs them."""

import logging
from collections.abc import Callable, Collection

from PIL import Image as Pillow

from benchmarks.images import perceptual_hash, pictures
from benchmarks.models import Image, ItemImage, Stage
from benchmarks.models.images import UNREADABLE
from benchmarks.rules.filters import FilterError, parse_filters
from benchmarks.rules.filters.contract import HASH
from benchmarks.services import storage
from benchmarks.services.derivatives import derivative
from benchmarks.services.picture_arrangement import WIDTH

log = logging.getLogger(__name__)


def needs_hashes(stage: Stage) -> bool:
    """Whether a filter of the stage compares perceptual hashes."""
    try:
        return any(rule.needs == HASH for rule in parse_filters(stage.filters))
    except FilterError:
        return False


def has_missing_hashes(item_ids: Collection[int]) -> bool:
    return ItemImage.objects.filter(item__in=item_ids, item__withdrawn_at=None, image__perceptual_hash="").exists()


def store_missing_hashes(item_ids: Collection[int], beat: Callable[[], None]) -> int:
    """Compute the hashes that pictures of these items lack; returns how many. Reads files: no transaction."""
    uses = ItemImage.objects.filter(item__in=item_ids, image__perceptual_hash="").order_by()
    lacking = list(Image.objects.filter(pk__in=uses.values("image")).order_by("pk"))
    for image in lacking:
        beat()
        store_hash(image)
    return len(lacking)


def store_hash(image: Image) -> None:
    """Compute a picture's hash if it has none. A picture that cannot be read is marked, so that nobody tries again."""
    if image.perceptual_hash:
        return
    try:
        with storage.open_binary(derivative(image.sha256, WIDTH)) as file, Pillow.open(file) as picture:
            text = perceptual_hash.hash_text(perceptual_hash.fingerprint(picture))
    except (FileNotFoundError, pictures.NotAPicture):
        log.warning("no perceptual hash of picture %s: it cannot be read", image.sha256[:12])
        text = UNREADABLE
    image.perceptual_hash = text
    Image.objects.filter(pk=image.pk).update(perceptual_hash=text)
