"""The culture that an item made of answers is about. Pure.

It is the target that people or models were asked about, or in a stage of own items the origin of the item that they
answered. It is not part of an item's content: items that were derived without it stay the same items.
"""

from collections.abc import Iterable

SEPARATOR = "|"  # as of gold labels in a file
PAIRED = 2


def shared_culture(cultures: Iterable[str]) -> str:
    """The culture that all of them are; empty where they differ.

    >>> shared_culture(["Brazil", "Brazil"]), shared_culture(["Brazil", "Egypt"]), shared_culture([])
    ('Brazil', '', '')
    """
    different = set(cultures)
    return different.pop() if len(different) == 1 else ""


def paired_cultures(first: str, second: str) -> str:
    """What an item of two sides is about: one culture, or both in the order of the sides.

    >>> paired_cultures("Brazil", "Brazil"), paired_cultures("Brazil", "Egypt"), paired_cultures("", "")
    ('Brazil', 'Brazil|Egypt', '')
    """
    return first if first == second else f"{first}{SEPARATOR}{second}"


def split_cultures(answer_target: str) -> tuple[str, ...]:
    """None, one, or those of the two sides, of which one may be empty.

    >>> split_cultures(""), split_cultures("Brazil"), split_cultures("|Egypt")
    ((), ('Brazil',), ('', 'Egypt'))
    """
    return tuple(answer_target.split(SEPARATOR, PAIRED - 1)) if answer_target else ()
