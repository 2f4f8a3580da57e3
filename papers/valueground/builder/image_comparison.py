"""How far two pictures differ, by code alone: the share of their pixels that changed. No database, no network."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image, ImageOps

LEAST_SHARE = 0.005  # of the pixels; below it two pictures are the same
MOST_SHARE = 0.6  # above it the page says so; decides nothing
CHANGED = 16  # of 255, in any channel


@dataclass(frozen=True)
class PictureComparison:
    """`shares`: changed pixels, from 0 to 1, by pair ("base_a", "base_b", "a_b"); a pair of two sizes has none.
    `fault`: "", "identical" or "size_differs", for the pictures of `sides`."""

    shares: Mapping[str, float] = field(default_factory=dict)
    fault: str = ""
    sides: tuple[str, ...] = ()
    what: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"shares": dict(self.shares), "fault": self.fault, "sides": list(self.sides), "what": self.what}


def compare(a: bytes, b: bytes, base: bytes | None = None) -> PictureComparison:
    """Identical pictures come before sizes, since nobody need look at them."""
    pictures = {"a": _pixels(a), "b": _pixels(b)} | ({"base": _pixels(base)} if base is not None else {})
    pairs = (("a", "b"), ("base", "a"), ("base", "b"))
    shares = {}
    for left, right in pairs:
        if left in pictures and right in pictures and pictures[left].shape == pictures[right].shape:
            shares[f"{left}_{right}"] = round(changed_share(pictures[left], pictures[right]), 5)
    same = {name for name, share in shares.items() if share < LEAST_SHARE}
    if "a_b" in same:
        return PictureComparison(shares, "identical", ("a", "b"), "A and B are the same")
    if same:
        sides = tuple(sorted(name.removeprefix("base_") for name in same))
        names = " and ".join(side.upper() for side in sides)
        return PictureComparison(shares, "identical", sides, f"{names} equal to the base picture")
    reference = pictures.get("base", pictures["a"])
    other = tuple(side for side in ("a", "b") if pictures[side].shape != reference.shape)
    return PictureComparison(shares, "size_differs" if other else "", other)


def changed_share(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> float:
    """The share of pixels of which a channel differs by more than 16 of 255. Both have one size.

    >>> black, white = np.zeros((2, 2, 3), np.int16), np.full((2, 2, 3), 255, np.int16)
    >>> changed_share(black, white)
    1.0
    """
    return float((np.abs(left - right).max(axis=2) > CHANGED).mean())


def _pixels(data: bytes) -> np.ndarray[Any, Any]:
    with Image.open(io.BytesIO(data)) as picture:
        return np.asarray(ImageOps.exif_transpose(picture).convert("RGB"), np.int16)
