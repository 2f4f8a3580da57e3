"""Prices of images that are made: one for all sizes, or one for each size ("512x512=0.02, 1024x1024=0.04")."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

ALL_SIZES = "*"


def split_sizes(text: str) -> dict[str, str]:
    """Size to its price as it is written; `*` for all others.

    >>> split_sizes("512x512=0.02, 0.04")
    {'512x512': '0.02', '*': '0.04'}
    """
    prices = {}
    for part in text.split(","):
        size, equals, price = part.partition("=")
        prices[size.strip() if equals else ALL_SIZES] = (price if equals else size).strip()
    return prices


def join_sizes(prices: Mapping[str, str]) -> str:
    """The inverse of `split_sizes`."""
    return ", ".join(price if size == ALL_SIZES else f"{size}={price}" for size, price in prices.items())


def price_for(text: str, size: str) -> Decimal | None:
    """The price of an image of this size; None where the list does not say it."""
    if not text:
        return None
    prices = split_sizes(text)
    price = prices.get(size, prices.get(ALL_SIZES, ""))
    try:
        return Decimal(price) if price else None
    except InvalidOperation:
        return None
