"""The keys of an item's revisions, and of the versions of a verdict: the same way for both. Pure.

The first one has the base key itself, the n-th the key `<key>.v<n>`.
"""

import re

SUFFIX = re.compile(r"\.(?:v([0-9]+)|[0-9a-f]{8})$")


def revision_key(base: str, number: int) -> str:
    return f"{base}.v{number}" if number > 1 else base


def split_revision(key: str) -> tuple[str, int]:
    """The base key, and the number. A key that ends in a digest, since its own was taken, has the number 1."""
    match = SUFFIX.search(key)
    return (key[: match.start()], int(match[1] or 1)) if match else (key, 1)


def revision_number(key: str, base: str) -> int:
    """The number of a key that was made of this base key, which may itself end like the key of a revision."""
    return split_revision(key)[1] if key != base and split_revision(key)[0] == base else 1
