"""Whole numbers out of addresses and forms: whatever is typed there becomes a number that the database can hold."""

from typing import overload

LARGEST = 2**31 - 1  # of an integer column
LARGEST_ID = 2**63 - 1


@overload
def parse_int(text: str | None, *, default: int = 0, minimum: int = 0, maximum: int = LARGEST) -> int: ...
@overload
def parse_int(text: str | None, *, default: None, minimum: int = 0, maximum: int = LARGEST) -> int | None: ...
def parse_int(text: str | None, *, default: int | None = 0, minimum: int = 0, maximum: int = LARGEST) -> int | None:
    """The number that the text writes in plain digits, within the bounds; else `default`.

    >>> parse_int("12"), parse_int("-1"), parse_int("٣"), parse_int("9" * 400), parse_int(None, default=None)
    (12, 0, 0, 0, None)
    """
    if not text or not text.isascii() or not text.isdigit() or len(text) > len(str(maximum)):
        return default
    number = int(text)
    return number if minimum <= number <= maximum else default


def parse_id(text: str | None) -> int:
    """The number of a row; 0, which no row has, for anything else."""
    return parse_int(text, maximum=LARGEST_ID)
