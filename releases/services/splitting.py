"""Which split each item of a release is in: by a seed, whole groups together, the same in every version.

An item that was made of items of the release follows them, also where a stage in between is not in the release. If
one of these is withheld, so is it, with its text: the text may be an answer.
"""

from typing import Any

from django.db import connection

from releases.models import Release, ReleaseItem, ReleaseSelection

_KEYS = {
    "item": "'item:' || t.key || ':' || i.key",
    "concept": "CASE WHEN i.concept = '' THEN 'item:' || t.key || ':' || i.key ELSE 'concept:' || i.concept END",
    "origin": "CASE WHEN i.origin = '' THEN 'item:' || t.key || ':' || i.key ELSE 'origin:' || i.origin END",
    "source": "coalesce(a.key, 'item:' || t.key || ':' || i.key)",
}
# The nearest items that an item was made of, and those of other stages on the way to them.
_NEAR = """
  WITH RECURSIVE near(item_id, source_id) AS (
    SELECT d.item_id, d.source_id FROM annotation_itemsource d JOIN benchmarks_item i ON i.id = d.item_id
    WHERE i.stage_id = ANY(%(stages)s)
    UNION SELECT n.item_id, e.source_id FROM near n
    JOIN benchmarks_item s ON s.id = n.source_id AND NOT s.stage_id = ANY(%(stages)s)
    CROSS JOIN LATERAL (
      SELECT d.source_id FROM annotation_itemsource d WHERE d.item_id = s.id
      UNION ALL SELECT s.replaces_id WHERE s.replaces_id IS NOT NULL
    ) e
  )
"""
# The first of all items that an item was made of, over all stages of the benchmark.
_ANCESTORS = """
  , up(item_id, source_id) AS (
    SELECT d.item_id, d.source_id FROM annotation_itemsource d JOIN benchmarks_item i ON i.id = d.item_id
    WHERE i.stage_id = ANY(%(stages)s)
    UNION SELECT up.item_id, d.source_id FROM up JOIN annotation_itemsource d ON d.item_id = up.source_id
  ), first AS (
    SELECT up.item_id, min(up.source_id) AS source_id FROM up
    WHERE NOT EXISTS (SELECT FROM annotation_itemsource d WHERE d.item_id = up.source_id) GROUP BY up.item_id
  )
"""
_ROOTS = """
  INSERT INTO releases_releaseitem (release_id, item_id, split, hides_text)
  {near} {ancestors}
  SELECT %(release)s, g.id, {split}, false FROM (
    SELECT i.id, ('x' || substr(md5(%(seed)s || ':' || {key}), 1, 8))::bit(32)::bigint / 4294967296.0 AS place
    FROM benchmarks_item i JOIN benchmarks_stage t ON t.id = i.stage_id
    {join}
    WHERE i.stage_id = ANY(%(stages)s) AND i.replaces_id IS NULL AND NOT EXISTS (
      SELECT FROM near d JOIN benchmarks_item s ON s.id = d.source_id
      WHERE d.item_id = i.id AND s.stage_id = ANY(%(stages)s))
  ) g
"""
_ANCESTOR_JOIN = """LEFT JOIN (
      SELECT first.item_id, 'item:' || b.key || ':' || e.key AS key FROM first
      JOIN benchmarks_item e ON e.id = first.source_id JOIN benchmarks_stage b ON b.id = e.stage_id
    ) a ON a.item_id = i.id"""
# Items whose sources and earlier revision all have a split by now.
_NEXT = """
  INSERT INTO releases_releaseitem (release_id, item_id, split, hides_text)
  {near}
  SELECT %(release)s, p.id,
    CASE WHEN bool_or(r.split = %(withheld)s) THEN %(withheld)s ELSE (array_agg(r.split ORDER BY p.parent))[1] END,
    bool_or(r.hides_text OR (r.split = %(withheld)s AND p.made))
  FROM (
    SELECT d.item_id AS id, s.id AS parent, true AS made FROM near d JOIN benchmarks_item s ON s.id = d.source_id
    WHERE s.stage_id = ANY(%(stages)s)
    UNION SELECT i.id, i.replaces_id, false FROM benchmarks_item i
    WHERE i.stage_id = ANY(%(stages)s) AND i.replaces_id IS NOT NULL
  ) p
  LEFT JOIN releases_releaseitem r ON r.release_id = %(release)s AND r.item_id = p.parent
  WHERE NOT EXISTS (SELECT FROM releases_releaseitem k WHERE k.release_id = %(release)s AND k.item_id = p.id)
  GROUP BY p.id HAVING bool_and(r.id IS NOT NULL)
"""


def assign_splits(release: Release) -> None:
    """Write the split of every item of the selection. Needs a transaction."""
    ReleaseItem.objects.filter(release=release)._raw_delete(using="default")
    chosen = release.chosen
    if not chosen.splits:
        return
    params: dict[str, Any] = {"release": release.pk, "stages": list(chosen.stages)}
    params |= {"seed": str(chosen.seed), "withheld": chosen.withheld}
    by_source = chosen.group_by == "source"
    sql = _ROOTS.format(
        near=_NEAR,
        ancestors=_ANCESTORS if by_source else "",
        join=_ANCESTOR_JOIN if by_source else "",
        key=_KEYS[chosen.group_by],
        split=_split_case(chosen, params),
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        while cursor.rowcount:
            cursor.execute(_NEXT.format(near=_NEAR), params)


def _split_case(chosen: ReleaseSelection, params: dict[str, Any]) -> str:
    """SQL from a place between 0 and 1 to the name of a split, by cumulated shares."""
    cases, share = "", 0
    for place, (name, percent) in enumerate(chosen.splits):
        share += percent
        params |= {f"name{place}": name, f"below{place}": share / 100}
        cases += f" WHEN g.place < %(below{place})s THEN %(name{place})s"
    return f"CASE{cases} ELSE %(name{len(chosen.splits) - 1})s END"
