"""Which answered items a prompt shows as examples."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any


def choose_examples(rows: Iterable[Mapping[str, Any]], seed: int) -> list[Mapping[str, Any]]:
    """One row of each "target", by rule: the one whose item comes first when all are drawn by `seed`.

    The rows have "item" and "target"; their order does not matter.
    """

    def drawn(row: Mapping[str, Any]) -> str:
        return hashlib.sha256(f"{seed}:{row.get('item')}".encode()).hexdigest()

    by_target: dict[str, Mapping[str, Any]] = {}
    for row in sorted(rows, key=drawn):
        by_target.setdefault(str(row.get("target")), row)
    return [by_target[target] for target in sorted(by_target)]
