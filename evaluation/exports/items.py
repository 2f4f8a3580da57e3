"""The items of a stage: streamed as the answers are."""

from collections.abc import Iterator

from benchmarks.models import Stage
from evaluation.exports.ratings import Column, Row, stream_query

_PICTURES = """
  SELECT json_agg(json_build_object('role', p.role, 'sha256', g.sha256, 'format', g.format, 'width', g.width,
    'height', g.height, 'file', p.file_name, 'alt', p.alt, 'source', p.source, 'licence', p.licence) ORDER BY p.role)
  FROM benchmarks_itemimage p JOIN benchmarks_image g ON g.id = p.image_id WHERE p.item_id = i.id
"""
_DERIVED = """
  SELECT json_agg(json_build_object('stage', b.key, 'item', e.key, 'annotation', d.annotation_id) ORDER BY d.id)
  FROM annotation_itemsource d JOIN benchmarks_item e ON e.id = d.source_id JOIN benchmarks_stage b ON b.id = e.stage_id
  WHERE d.item_id = i.id
"""
ITEMS: tuple[Column, ...] = (
    ("key", "i.key", "text", "Key of the item in its stage: what the other files call item."),
    ("concept", "i.concept", "text", "Concept of the item."),
    ("origin", "i.origin", "text", "The culture the item was made or found for."),
    ("condition", "i.condition", "text", "Condition of the item."),
    ("text", "i.text", "text", "The text that was shown; for a derived item often what somebody wrote before."),
    ("context", "i.context::text", "text", "What else was known of the item or shown with it, as JSON."),
    ("pictures", f"coalesce(({_PICTURES}), '[]')::text", "text", "Its pictures as a list of role, sha256 (of the file"
     " as it came), format, width and height upright, file (its path in the import, empty where it came otherwise),"
     " alt, source and licence."),
    ("derived_from", f"coalesce(({_DERIVED}), '[]')::text", "text", "What it was made of, as a list of stage and item,"
     " and the number of the accepted annotation, null where the item alone was used. Empty: it was imported."),
    ("withdrawn", "i.withdrawn_at IS NOT NULL", "bool", "Whether it has been withdrawn since."),
    ("withdrawn_at", "{utc}(i.withdrawn_at)", "text", "When it was withdrawn (UTC); null: it was not."),
)  # fmt: skip
_ITEMS = """
  FROM benchmarks_item i
  WHERE i.stage_id = %s AND NOT EXISTS (
    SELECT FROM annotation_itemsource d JOIN annotation_annotation a ON a.id = d.annotation_id
    WHERE d.item_id = i.id AND i.withdrawn_at IS NOT NULL AND a.uncounted_because = 'consent_withdrawn')
  ORDER BY i.id
"""


def items(stage: Stage) -> Iterator[Row]:
    """One row per item of the stage, asked about or not; also those that were withdrawn."""
    return stream_query(ITEMS, _ITEMS, [stage.pk], ("context", "pictures", "derived_from"))
