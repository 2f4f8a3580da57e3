"""Items that were made of withheld answers, without what may be one of these answers."""

# ruff: noqa: S608  (only constants are put into the statement)

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from releases.models import Release
from releases.rows.columns import Row
from releases.rows.site.kinds import SiteScope
from releases.rows.site.withheld import COPIED, open_picture, open_value

_HIDDEN = f"""
  SELECT x.id, {", ".join(open_value("x", name) for name in COPIED)},
    ARRAY(SELECT p.role FROM benchmarks_itemimage p
      WHERE p.item_id = x.id AND {open_picture("x.id", "p.image_id")})
  FROM benchmarks_item x JOIN releases_releaseitem k ON k.item_id = x.id
  WHERE k.release_id = {{release}} AND k.hides_text AND x.id = ANY(%s)
"""


@dataclass(frozen=True)
class HiddenItem:
    """`copied`: the values that stay, and empty ones. `roles`: of the pictures that stay."""

    copied: Row
    roles: frozenset[str]

    def shown(self, row: Row) -> Row:
        pictures = [p | {"alt": "", "source": ""} for p in row["pictures"] if p["role"] in self.roles]
        return row | self.copied | {"text": "", "context": {}, "derived_from": [], "pictures": pictures}


def hidden_items(release: Release, ids: Sequence[int]) -> dict[int, HiddenItem]:
    """Those of these items that are hidden, by their ids."""
    if not release.chosen.withheld:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(SiteScope.of(release).fill(_HIDDEN, "x"), [list(ids)])
        rows = cursor.fetchall()
    return {pk: HiddenItem(dict(zip(COPIED, copied, strict=True)), frozenset(roles)) for pk, *copied, roles in rows}
