"""The items of a stage: streamed as the answers are."""

from typing import Any

from benchmarks.queries.item_selection import DISAGREEMENTS, UNKNOWN
from releases.rows.annotations import LEFT_OUT
from releases.rows.columns import RowColumn
from releases.rows.filters import RowFilter
from releases.rows.kinds import RowKind, RowScope

_PICTURES = """
  SELECT json_agg(json_build_object('role', p.role, 'sha256', g.sha256, 'format', g.format, 'bytes', g.bytes,
    'width', g.width, 'height', g.height, 'file', p.file_name, 'alt', p.alt, 'source', p.source,
    'licence', p.licence) ORDER BY p.role)
  FROM benchmarks_itemimage p JOIN benchmarks_image g ON g.id = p.image_id WHERE p.item_id = i.id
"""
_DERIVED = """
  SELECT json_agg(json_build_object('stage', b.key, 'item', e.key, 'annotation', d.annotation_id) ORDER BY d.id)
  FROM annotation_itemsource d JOIN benchmarks_item e ON e.id = d.source_id JOIN benchmarks_stage b ON b.id = e.stage_id
  WHERE d.item_id = i.id
"""
_CONTENT = """md5(ROW(i.key, i.concept, i.origin, i.condition, i.text, i.context, (
    SELECT json_agg(json_build_array(p.role, g.sha256) ORDER BY p.role)
    FROM benchmarks_itemimage p JOIN benchmarks_image g ON g.id = p.image_id WHERE p.item_id = i.id
  )::text)::text)"""
_COLUMNS = (
    RowColumn("key", "i.key", "text", "Key of the item in its stage: what the other files call item.", scope="read"),
    RowColumn("concept", "i.concept", "text", "Concept of the item.", scope="read"),
    RowColumn("origin", "i.origin", "text", "The culture the item was made or found for.", scope="read"),
    RowColumn("condition", "i.condition", "text", "Condition of the item.", scope="read"),
    RowColumn(
        "answer_target",
        "i.answer_target",
        "text",
        "The culture that the answer is about which the item was made of; of a pair both, with | between them."
        " Empty: it holds no such answer.",
        scope="read",
    ),
    RowColumn("text", "i.text", "text", "The text that was shown; of a derived item often what somebody wrote."),
    RowColumn("context", "i.context::text", "json", "What else was known of the item or shown with it, as JSON."),
    RowColumn(
        "pictures",
        f"coalesce(({_PICTURES}), '[]')::text",
        "json",
        "Its pictures as a list of role, sha256 (of the file"
        " as it came), format, bytes, width and height upright, file (its path in the import, empty where it came"
        " otherwise), alt, source and licence.",
    ),
    RowColumn(
        "derived_from",
        f"coalesce(({_DERIVED}), '[]')::text",
        "json",
        "What it was made of, as a list of stage and item,"
        " and the number of the accepted annotation, null where the item alone was used. Empty: it was imported.",
    ),
    RowColumn("withdrawn", "i.withdrawn_at IS NOT NULL", "bool", "Whether it has been withdrawn since.", scope="read"),
    RowColumn("withdrawn_at", "i.withdrawn_at", "time", "When it was withdrawn (UTC); null: it was not.", scope="read"),
    RowColumn("id", "i.id", "int8", "Number of the item.", scope="read"),
    RowColumn("stage", "t.key", "text", "Key of the stage.", scope="read"),
)
# Whether an item was made of an answer that no file may hold, also of an earlier version of it, or of an item that was
# made so: texts and pictures are handed on.
MADE_OF_LEFT_OUT = """EXISTS (
    WITH RECURSIVE up(id) AS (
      SELECT {item}.id UNION SELECT p.parent FROM up CROSS JOIN LATERAL (
        SELECT d.source_id AS parent FROM annotation_itemsource d WHERE d.item_id = up.id
        UNION ALL SELECT v.replaces_id FROM benchmarks_item v WHERE v.id = up.id AND v.replaces_id IS NOT NULL) p)
    SELECT FROM up JOIN annotation_itemsource d ON d.item_id = up.id
    JOIN annotation_annotation a ON a.id = d.annotation_id JOIN annotation_assignment s ON s.id = a.assignment_id
    JOIN annotation_campaign m ON m.id = s.campaign_id JOIN benchmarks_stage t ON t.id = m.stage_id
    JOIN benchmarks_benchmark h ON h.id = t.benchmark_id JOIN people_rater r ON r.id = a.rater_id
    WHERE {left_out})""".replace("{left_out}", LEFT_OUT)
WITH_CONSENT = f"({{item}}.withdrawn_at IS NULL OR NOT {MADE_OF_LEFT_OUT})"
_FROM = f"""
  FROM benchmarks_item i JOIN benchmarks_stage t ON t.id = i.stage_id
  WHERE i.stage_id = ANY(%s) AND {WITH_CONSENT.replace("{item}", "i")}
"""
_DISAGREEMENTS = """coalesce((SELECT CASE WHEN y.disagreement IS NULL THEN ARRAY['unknown']
    WHEN y.disagreement = 0 THEN ARRAY['none'] WHEN y.disagreement >= 0.5 THEN ARRAY['some', 'half']
    ELSE ARRAY['some'] END FROM benchmarks_itemtally y WHERE y.item_id = i.id), ARRAY['unknown'])"""
# The newest value of a fact is the one that holds.
_HAS_FACT = """EXISTS (SELECT FROM (SELECT y.value FROM benchmarks_itemfact y WHERE y.item_id = i.id AND y.key = %s
    ORDER BY y.id DESC LIMIT 1) newest WHERE newest.value #>> '{}' = ANY(%s))"""


def _params(scope: RowScope) -> list[Any]:
    return [list(scope.stages)]


ITEMS = RowKind(
    key="items",
    meaning="One row per item of the stage, asked about or not, also those that were withdrawn.",
    columns=_COLUMNS,
    source=_FROM,
    order=("i.id",),
    item="i.id",
    params=_params,
    filters={
        "stage": RowFilter("t.key = ANY(%s)", "text", "Key of the stage."),
        "key": RowFilter("i.key = ANY(%s)", "text", "Key of the item."),
        "concept": RowFilter("i.concept = ANY(%s)", "text", "Concept of the item."),
        "origin": RowFilter("i.origin = ANY(%s)", "text", "Culture the item was made for."),
        "condition": RowFilter("i.condition = ANY(%s)", "text", "Condition of the item."),
        "withdrawn": RowFilter("(i.withdrawn_at IS NOT NULL) = %s", "bool", "true, false or all (default).", "all"),
        "text": RowFilter(
            "i.search @@ to_tsquery('simple'::regconfig, %s)",
            "words",
            "Words, or beginnings of words, of its key, concept, origin, text and context.",
            scope="export",
        ),
        "disagreement": RowFilter(
            f"{_DISAGREEMENTS} && %s",
            "text",
            "Of people's answers, as the list of items has it: none, some, half (of the pairs of people, or more) or"
            " unknown.",
            choices=(*DISAGREEMENTS, UNKNOWN),
        ),
        "fact.": RowFilter(_HAS_FACT, "fact", "Value of a fact, as a text: `fact.nsfw=false`."),
    },
    state="CASE WHEN i.withdrawn_at IS NULL THEN '' ELSE 'withdrawn' END",
    content=_CONTENT,
)
