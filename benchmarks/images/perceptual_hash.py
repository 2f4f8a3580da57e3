"""Which pictures of a set look alike, by a perceptual hash of their own. numpy, scipy and Pillow only: no Django.

A window of a picture is shrunk to 32 x 32 grey levels; its hash has one bit for each of the 16 x 16 lowest frequencies
of the discrete cosine transform but the mean: above their median or not (after pHash, Zauner 2010). A crop or a shift
has another hash than the whole, so each picture is hashed through several windows as well, and two pictures are as
alike as the best match between the whole of one and any window of the other, in both directions.

Similarity = 1 - 2 x Hamming distance / bits, in [0, 1]: 0 is what chance gives, 1 the same picture. Of it goes up to
TONE for another mean colour, so that night lies beside night: the hash alone does not see the hour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt
import scipy
from PIL import Image

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

ALIKE = 0.4  # from here on two pictures are shown in one group
NEAR_EXACT = 0.9  # proposed for removing without a person: a copy in another size or compression
MOST = 1_000  # pictures of one set: the similarities of all pairs are held in memory, 8 MB
NEIGHBOURS = 8  # of each picture, kept with the item
SMALL, LOW = 32, 16
BITS = LOW * LOW - 1
TONE = 0.5
# Shares of the width that a window shows, and how many places it takes along each side.
WINDOWS = ((1.0, 1), (0.9, 3), (0.8, 4), (0.7, 4), (0.6, 4))


class TooManyPictures(ValueError):
    """More pictures than one set may have."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} pictures in one set; there may be {MOST}")
        self.count = count


def _boxes() -> list[tuple[float, float, float, float]]:
    """The windows as fractions of the picture, the whole first."""
    boxes = []
    for share, places in WINDOWS:
        starts = [(1 - share) * place / max(places - 1, 1) for place in range(places)]
        boxes += [(left, top, left + share, top + share) for top, left in product(starts, starts)]
    return boxes


BOXES = _boxes()


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """`bits` (windows, 32): packed bits of all windows, the whole first. `tone` (3,): the mean colour, 0 to 255."""

    bits: Bytes
    tone: Floats


def fingerprint(picture: Image.Image) -> Fingerprint:
    """About 2 kB that stand for a picture, which is not changed."""
    colours = picture.convert("RGB").resize((SMALL * 4, SMALL * 4), Image.Resampling.BOX)
    grey = colours.convert("L")
    windows = np.empty((len(BOXES), SMALL, SMALL))
    for number, (left, top, right, bottom) in enumerate(BOXES):
        box = (left * grey.width, top * grey.height, right * grey.width, bottom * grey.height)
        windows[number] = np.asarray(grey.resize((SMALL, SMALL), Image.Resampling.BILINEAR, box=box), np.float64)
    low = scipy.fft.dctn(windows, axes=(1, 2), norm="ortho")[:, :LOW, :LOW].reshape(len(windows), -1)[:, 1:]
    bits = np.packbits(low > np.median(low, axis=1, keepdims=True), axis=1)
    return Fingerprint(bits, np.asarray(colours, np.float64).mean(axis=(0, 1)))


def hash_text(picture_print: Fingerprint) -> str:
    """The hash of the whole picture and its mean colour, as 64 and 6 hexadecimal digits."""
    tone = np.clip(np.rint(picture_print.tone), 0, 255).astype(np.uint8)
    return bytes(picture_print.bits[0]).hex() + bytes(tone).hex()


def similarities(prints: Sequence[Fingerprint], *, whole: bool = False) -> Floats:
    """(n, n) symmetric, 1 on the diagonal. `whole`: without windows, for copies of a file. Raises TooManyPictures."""
    count = len(prints)
    if count > MOST:
        raise TooManyPictures(count)
    if not count:
        return np.ones((0, 0))
    wholes = np.stack([print_row.bits[0] for print_row in prints])
    nearest = np.empty((count, count))
    for row, single_print in enumerate(prints):  # the windows of one picture against the whole of every other
        windows = single_print.bits[:1] if whole else single_print.bits
        nearest[row] = np.bitwise_count(windows[:, None, :] ^ wholes[None, :, :]).sum(axis=2).min(axis=0)
    alike = np.clip(1 - 2 * np.minimum(nearest, nearest.T) / BITS, 0, 1)
    tones = np.stack([hashed.tone for hashed in prints]) / 255
    apart = np.abs(tones[:, None, :] - tones[None, :, :]).mean(axis=2)
    alike *= 1 - TONE * np.minimum(2 * apart, 1)
    np.fill_diagonal(alike, 1)
    return np.asarray(alike)


def clusters(alike: Floats, threshold: float = ALIKE) -> list[list[int]]:
    """Single-linkage groups of what is at least `threshold` alike, nearest together; larger groups do not come first.

    The order is that of the leaves of the tree, turned so that neighbours are as alike as the tree allows (Bar-Joseph
    et al. 2001): within a group, and from one group to the next.
    """
    count = alike.shape[0]
    if count < 2:
        return [[0]] if count else []
    distance = scipy.spatial.distance.squareform(1 - alike, checks=False)
    tree = scipy.cluster.hierarchy.linkage(distance, "single", optimal_ordering=True)
    label = scipy.cluster.hierarchy.fcluster(tree, 1 - threshold + 1e-9, "distance")
    order = [int(leaf) for leaf in scipy.cluster.hierarchy.leaves_list(tree)]
    groups = [[order[0]]]
    for before, leaf in pairwise(order):
        if label[leaf] == label[before]:
            groups[-1].append(leaf)
        else:
            groups.append([leaf])
    return groups


def arrangement(names: Sequence[str], prints: Sequence[Fingerprint], threshold: float = ALIKE) -> dict[str, object]:
    """What an item's context keeps: `groups` of names, nearest together, and for each its nearest with how alike."""
    alike = similarities(prints)
    groups = [[names[at] for at in group] for group in clusters(alike, threshold)]
    near = {name: nearest_pictures(names, alike, at) for at, name in enumerate(names)}
    return {"groups": groups, "near": near}


def nearest_pictures(names: Sequence[str], alike: Floats, at: int, most: int = NEIGHBOURS) -> list[list[object]]:
    """The most alike of one picture, nearest first: [[name, similarity], ...]; ties in the order of `names`."""
    order = [int(other) for other in np.argsort(-alike[at], kind="stable") if other != at][:most]
    return [[names[other], round(float(alike[at, other]), 2)] for other in order]


@dataclass(frozen=True)
class PicturePair:
    first: str
    second: str
    alike: float


def near_exact_duplicates(
    names: Sequence[str], prints: Sequence[Fingerprint], threshold: float = NEAR_EXACT
) -> Mapping[str, str]:
    """Which pictures may go without a person's look: name to the name of the one that stays, the first of the set."""
    alike = similarities(prints, whole=True)
    stays: dict[str, str] = {}
    for at, name in enumerate(names):
        similar = [other for other in range(at) if names[other] not in stays and alike[at, other] >= threshold]
        if similar:
            stays[name] = names[max(similar, key=lambda other: (alike[at, other], -other))]
    return stays


def pairs_near_threshold(
    names: Sequence[str], prints: Sequence[Fingerprint], threshold: float = NEAR_EXACT, most: int = 4
) -> tuple[list[PicturePair], list[PicturePair]]:
    """Examples on both sides: the pairs just at or above the threshold, and those just below, nearest to it first."""
    alike = similarities(prints, whole=True)
    first, second = np.triu_indices(len(names), 1)
    values = alike[first, second]
    order = [int(at) for at in np.argsort(values, kind="stable")]
    pairs = [PicturePair(names[int(first[at])], names[int(second[at])], round(float(values[at]), 3)) for at in order]
    edge = int((values < threshold).sum())
    return pairs[edge : edge + most], pairs[max(0, edge - most) : edge][::-1]
