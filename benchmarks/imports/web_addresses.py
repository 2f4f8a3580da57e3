"""Pictures that a table names by their address on the web."""

from typing import Any
from urllib.parse import unquote, urlsplit

LONGEST = 2000
_LOOKED_AT = 1024 * 1024
_BINARY = (b"PK", b"PAR1")


def is_web_address(text: str) -> bool:
    """
    >>> is_web_address("https://example.org/a.jpg"), is_web_address("pictures/a.jpg")
    (True, False)
    """
    return text[:8].lower().startswith(("https://", "http://"))


def path_of(address: str) -> str:
    """The path as a file would have it: what an item is called by where its row gives no key.

    >>> path_of("https://example.org/photos/tea%20house.jpg?size=full"), path_of("https://[")
    ('photos/tea house.jpg', '')
    """
    try:
        return unquote(urlsplit(address).path).strip("/")
    except ValueError:
        return ""


def may_name_addresses(upload: Any) -> bool:
    """Whether a table may name pictures on the web: its beginning has an address, or it is no text."""
    upload.seek(0)
    start: bytes = upload.read(_LOOKED_AT)
    upload.seek(0)
    return start.startswith(_BINARY) or any(mark in start.lower() for mark in (b"http://", b"https://"))
