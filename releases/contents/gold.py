"""gold.csv: items whose right answer is known, apart from the ratings.

`given`: gold labels that came with an item, in the columns `gold` and `gold_entity`. `calibration`: what most people
said of an item that was drawn without one of the filters, so that the limit of that filter can be chosen by it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Q

from benchmarks.models import Item, Stage
from predictions.services.runs.asked_about import gold_of
from releases.contents.soft_labels import option_counts
from releases.contents.tables import ITEMS, RATINGS, Progress, ReleaseTable
from releases.rows.columns import Row, RowColumn
from releases.rows.kinds import stream_query

PATH = "gold.csv"
MEANING = "One row per right answer that came with an item, and per question that people answered about a drawn item."
GIVEN, CALIBRATION = "given", "calibration"
GIVEN_COLUMNS = ("gold", "gold_entity")
COLUMNS = (
    RowColumn("stage", "t.key", "text", "Key of the stage."),
    RowColumn("item", "i.key", "text", "Key of the item in its stage."),
    RowColumn("basis", "'calibration'", "text", "given: it came with the item; calibration: most people said so."),
    RowColumn("question", "g.field", "text", "Key of the question; of what came with the item, its column."),
    RowColumn(
        "answer", "CASE WHEN 2 * g.n > g.m THEN g.code END", "text", "The right answer; null: no answer has a majority."
    ),
    RowColumn("n", "CASE WHEN 2 * g.n > g.m THEN g.n END", "int8", "How many people gave it; null: it was given."),
    RowColumn("answers", "g.m", "int8", "How many people answered the question; null: it was given."),
    RowColumn("drawn_from_stage", "c.stage", "text", "Stage of the candidate that the item was drawn from."),
    RowColumn("drawn_from", "c.item", "text", "Key of that candidate."),
)
# A person has one vote of an item and question, the newest. Of several answers as frequent none has a majority.
_SOURCE = """
  FROM (
    SELECT DISTINCT ON (v.item_id, v.field) v.item_id, v.field, v.code, v.n, v.m FROM (
      SELECT b.item_id, b.field, b.code, count(*) AS n,
        (sum(count(*)) OVER (PARTITION BY b.item_id, b.field))::bigint AS m
      FROM (
        SELECT DISTINCT ON (u.item_id, f.field, f.rater_id) u.item_id, f.field, f.code
        FROM releases_releaserow w
        JOIN annotation_rating f ON f.annotation_id = w.number
        JOIN annotation_unit u ON u.id = f.unit_id
        JOIN benchmarks_item e ON e.id = u.item_id AND e.withdrawn_at IS NULL
        JOIN people_rater r ON r.id = f.rater_id
        WHERE w.release_id = %s AND w."table" = %s AND w.state = 'counted' AND w.split = ANY(%s) AND r.kind = 'person'
          AND f.field = ANY(%s)
        ORDER BY u.item_id, f.field, f.rater_id, f.annotation_id DESC
      ) b
      GROUP BY b.item_id, b.field, b.code
    ) v
    ORDER BY v.item_id, v.field, v.n DESC, v.code
  ) g
  JOIN benchmarks_item i ON i.id = g.item_id
  JOIN benchmarks_stage t ON t.id = i.stage_id
  LEFT JOIN LATERAL (
    SELECT min(p.key) AS stage, min(s.key) AS item FROM annotation_itemsource d
    JOIN benchmarks_item s ON s.id = d.source_id JOIN benchmarks_stage p ON p.id = s.stage_id
    WHERE d.item_id = i.id HAVING count(DISTINCT s.id) = 1
  ) c ON true
  ORDER BY g.item_id, g.field
"""


def gold_facts(tables: Sequence[ReleaseTable]) -> dict[str, Any]:
    """By basis the stages that have any. Read when the rows are frozen."""
    stages = [table.stage for table in tables if table.table.key == RATINGS]
    named = Q()
    for name in GIVEN_COLUMNS:
        named |= Q(context__has_key=name)
    labelled = Item.objects.filter(named, stage__in=stages, sources__isnull=True)
    with_labels = set(labelled.values_list("stage", flat=True).distinct())
    return {
        GIVEN: [stage.key for stage in stages if stage.pk in with_labels],
        CALIBRATION: [stage.key for stage in stages if is_calibration(stage)],
    }


def is_calibration(stage: Stage) -> bool:
    return bool(stage.derivation) and stage.derivation.get("kind") == "sample" and bool(stage.derivation.get("without"))


def gold_rows(facts: dict[str, Any], tables: Sequence[ReleaseTable], progress: Progress) -> Iterator[Row]:
    """What is shipped. Labels that came with an item are shipped as the item is. Raises RowsChanged."""
    for table in tables:
        if table.table.key == ITEMS and table.stage.key in facts[GIVEN]:
            for row in table.frozen_rows(progress):
                yield from _given(table.stage.key, row)
    chosen = tables[0].release.chosen if tables else None
    if chosen is not None:
        shipped = [name for name in chosen.split_names if name != chosen.withheld]
        yield from calibration_rows(facts, tables, shipped)


def calibration_rows(facts: dict[str, Any], tables: Sequence[ReleaseTable], splits: Sequence[str]) -> Iterator[Row]:
    """What people said of drawn items of some splits."""
    for table in tables:
        if table.table.key == RATINGS and table.stage.key in facts[CALIBRATION]:
            params = [table.release.pk, table.name, list(splits), sorted(option_counts(table))]
            yield from stream_query(COLUMNS, _SOURCE, params)


def _given(stage: str, row: Row) -> Iterator[Row]:
    if row["derived_from"]:
        return
    for name in GIVEN_COLUMNS:
        for answer in gold_of(row["context"].get(name)):
            known = {"stage": stage, "item": row["key"], "basis": GIVEN, "question": name, "answer": answer}
            yield {**{column.name: None for column in COLUMNS}, **known}
