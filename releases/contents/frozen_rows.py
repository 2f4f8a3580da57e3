"""Frozen rows of a release, read again as they were."""

from collections.abc import Callable, Iterator, Sequence

from releases.models import Release, ReleaseRow
from releases.rows.columns import Row
from releases.rows.filters import Condition
from releases.rows.frozen import FrozenKey, read_frozen
from releases.rows.kinds import RowKind, RowScope

CHUNK = 2000


def frozen_rows(
    release: Release, name: str, kind: RowKind, scope: RowScope, conditions: Sequence[Condition],
    progress: Callable[[int], None],
) -> Iterator[Row]:  # fmt: skip
    """The rows as they were frozen, a few at a time; `progress` gets the number of each few. Raises RowsChanged."""
    finish, place = kind.finish(scope), 0
    frozen = ReleaseRow.objects.filter(release=release, table=name).order_by("place")
    while keys := list(frozen.filter(place__gt=place).values_list("number", "part", "digest")[:CHUNK]):
        yield from read_frozen(kind, scope, conditions, [FrozenKey(*key) for key in keys], finish)
        place += len(keys)
        progress(len(keys))
