"""Where a reader of pages is, as a signed text: nobody can make one, and it fits only the rows it was made for."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core import signing
from django.utils.translation import gettext as _

from api.protocol.problems import InvalidParameter
from releases.rows.kinds import Window

SALT = "api.cursor"


def fingerprint(kind: str, benchmark: int, filters: Mapping[str, Sequence[str]]) -> str:
    """Of which rows, and what narrows them."""
    facts = json.dumps([kind, benchmark, sorted((name, sorted(values)) for name, values in filters.items())])
    return hashlib.sha256(facts.encode()).hexdigest()[:16]


def write_cursor(rows: str, *, after: Sequence[str] | None = None, before: Sequence[str] | None = None) -> str:
    """`rows`: their fingerprint. `after` or `before`: the key of a row."""
    content = {"r": rows, "a": after} if before is None else {"r": rows, "b": before}
    return signing.dumps(content, salt=SALT)


def read_cursor(text: str, rows: str, limit: int) -> Window:
    """Raises InvalidParameter if the cursor is not ours, or was made for other filters."""
    try:
        content: dict[str, Any] = signing.loads(text, salt=SALT)
    except signing.BadSignature as error:
        raise InvalidParameter("cursor", _("This cursor is not valid. Begin without one.")) from error
    if content.get("r") != rows:
        raise InvalidParameter("cursor", _("This cursor was made for other filters. Begin without one."))
    if "b" in content:
        return Window(before=tuple(content["b"]), limit=limit)
    return Window(after=tuple(content["a"]), limit=limit)
