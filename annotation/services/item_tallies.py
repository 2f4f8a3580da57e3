"""How far people's answers to each item differ, kept beside the items: see benchmarks.models.tallies.

Computed stage by stage by a worker, when the counters of the stage's campaigns moved; never while a page is asked for.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Sum

from annotation.models import Annotation, Campaign, Tally
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import ItemTally, Stage, StageTally
from evaluation.metrics.boxes import corners_of
from evaluation.metrics.disagreement import between_boxes, between_groupings
from evaluation.metrics.partitions import Partition
from jobs.queries.statements import execute
from jobs.services.bulk import insert_rows
from people.models import Rater

PAUSE = 30
"""A stage is computed again after so many times the seconds that it took before: a thirtieth of a worker at most."""
BATCH = 2000

# Of each person the latest answer to a question of a unit. A unit's pairs that differ are all its pairs without those
# that are the same, code by code.
WRITE = """
WITH given AS (
  SELECT DISTINCT ON (r.unit_id, r.field, r.rater_id) r.unit_id, u.item_id, r.field, r.rater_id, r.code
  FROM annotation_rating r JOIN annotation_unit u ON u.id = r.unit_id JOIN people_rater p ON p.id = r.rater_id
  WHERE r.campaign_id = ANY(%(campaigns)s) AND r.live AND r.counted AND p.kind = 'person'
  ORDER BY r.unit_id, r.field, r.rater_id, r.annotation_id DESC
), codes AS (SELECT item_id, unit_id, field, code, count(*) AS n FROM given GROUP BY item_id, unit_id, field, code
), units AS (
  SELECT item_id, field, sum(n) * (sum(n) - 1) AS pairs, sum(n * (n - 1)) AS same
  FROM codes GROUP BY item_id, unit_id, field
), fields AS (
  SELECT item_id, field, 1 - sum(same) / sum(pairs) AS differ FROM units GROUP BY item_id, field HAVING sum(pairs) > 0
), highest AS (SELECT DISTINCT ON (item_id) item_id, field, differ FROM fields ORDER BY item_id, differ DESC, field
), answers AS (
  SELECT u.item_id, count(*) AS n, count(DISTINCT an.rater_id) AS people
  FROM annotation_assignment a JOIN annotation_annotation an ON an.assignment_id = a.id AND an.counted
    JOIN annotation_unit u ON u.id = a.unit_id JOIN people_rater p ON p.id = an.rater_id
  WHERE a.campaign_id = ANY(%(campaigns)s) AND p.kind = 'person' GROUP BY u.item_id
), gone AS (
  DELETE FROM benchmarks_itemtally t WHERE t.stage_id = %(stage)s AND t.item_id NOT IN (SELECT item_id FROM answers)
)
INSERT INTO benchmarks_itemtally AS t (item_id, stage_id, answers, people, disagreement, field, at)
SELECT a.item_id, %(stage)s, a.n, a.people, h.differ, coalesce(h.field, ''), %(at)s
FROM answers a LEFT JOIN highest h ON h.item_id = a.item_id
ON CONFLICT (item_id) DO UPDATE SET answers = EXCLUDED.answers, people = EXCLUDED.people, at = EXCLUDED.at,
  disagreement = EXCLUDED.disagreement, field = EXCLUDED.field
WHERE (t.answers, t.people, t.disagreement, t.field)
  IS DISTINCT FROM (EXCLUDED.answers, EXCLUDED.people, EXCLUDED.disagreement, EXCLUDED.field)
"""
# Of answers without codes: higher than what the codes gave, or the only value.
RAISE = """ON CONFLICT (item_id) DO UPDATE SET disagreement = EXCLUDED.disagreement, field = EXCLUDED.field,
  at = EXCLUDED.at WHERE t.disagreement IS NULL OR t.disagreement < EXCLUDED.disagreement"""
TYPES = {
    "item_id": "bigint", "stage_id": "bigint", "answers": "int", "people": "int", "disagreement": "float8",
    "field": "text", "at": "timestamptz",
}  # fmt: skip


def renew_all(at: datetime) -> int:
    """Compute the stages whose answers changed; return how many. For the beat."""
    return sum(renew(stage_id, watermark, at) for stage_id, watermark in _changed_stages(at))


def _changed_stages(at: datetime) -> list[tuple[int, int]]:
    counters = Tally.objects.order_by().values_list("cohort__campaign__stage").annotate(changes=Sum("changes"))
    known = StageTally.objects.in_bulk()
    return [
        (stage_id, changes)
        for stage_id, changes in counters
        if stage_id not in known
        or (
            known[stage_id].watermark != changes
            and at - known[stage_id].at >= timedelta(seconds=PAUSE * known[stage_id].seconds)
        )
    ]


@transaction.atomic
def renew(stage_id: int, watermark: int, at: datetime) -> bool:
    """Compute the tallies of a stage's items; false while another worker does. `watermark`: of the answers before."""
    StageTally.objects.get_or_create(stage_id=stage_id, defaults={"watermark": -1, "at": at, "seconds": 0})
    stored = StageTally.objects.select_for_update(skip_locked=True).filter(stage=stage_id).first()
    if stored is None:
        return False
    begun = time.monotonic()
    stage = Stage.objects.get(pk=stage_id)
    campaigns = list(Campaign.objects.filter(stage=stage).order_by("pk").values_list("pk", flat=True))
    execute(WRITE, {"campaigns": campaigns, "stage": stage.pk, "at": at})
    _raise_by_shapes(stage, campaigns, at)
    stored.watermark, stored.at, stored.seconds = watermark, at, time.monotonic() - begun
    stored.save()
    return True


def _between_boxes(answers: Sequence[Any]) -> float | None:
    return between_boxes([corners_of(boxes) for boxes in answers])


def _between_groupings(answers: Sequence[Any]) -> float | None:
    value = between_groupings([Partition.of(answer) for answer in answers])
    return None if value is None else min(max(value, 0.0), 1.0)  # below chance it is above 1


MEASURES: Mapping[str, Callable[[Sequence[Any]], float | None]] = {
    "box": _between_boxes,
    "partition": _between_groupings,
}


def _raise_by_shapes(stage: Stage, campaigns: Sequence[int], at: datetime) -> None:
    """Boxes and groupings have no code: two people's overlap is what they have in common."""
    for batch in _batches(_shape_rows(stage, campaigns)):
        rows = [
            {"item_id": item, "stage_id": stage.pk, "answers": n, "people": n, "disagreement": value, "field": key,
             "at": at.isoformat()}
            for item, key, value, n in batch
        ]  # fmt: skip
        insert_rows(f"{ItemTally._meta.db_table} AS t", TYPES, rows, extra=RAISE)


def _batches(rows: Iterable[tuple[int, str, float, int]]) -> Iterator[list[tuple[int, str, float, int]]]:
    """An item is once in a batch, with its highest value."""
    highest: dict[int, tuple[int, str, float, int]] = {}
    for row in rows:
        if row[0] not in highest or highest[row[0]][2] < row[2]:
            highest[row[0]] = row
        if len(highest) >= BATCH:
            yield list(highest.values())
            highest = {}
    if highest:
        yield list(highest.values())


def _shape_rows(stage: Stage, campaigns: Sequence[int]) -> Iterator[tuple[int, str, float, int]]:
    """Item, question, disagreement and people of units with two such answers, in the order of units."""
    measures = _shape_fields(campaigns)
    if not measures:
        return
    answers = Annotation.objects.filter(
        counted=True, rater__kind=Rater.Kind.PERSON, assignment__campaign__in=campaigns
    ).order_by("assignment__unit__item", "assignment__unit", "pk")
    rows = answers.values_list("assignment__unit__item", "assignment__unit", "rater", "answers")
    unit: tuple[int, int] | None = None
    by_rater: dict[int, Mapping[str, Any]] = {}
    for item_id, unit_id, rater_id, sheet_answers in rows.iterator(chunk_size=BATCH):
        if unit != (item_id, unit_id):
            yield from _of_unit(unit, by_rater, measures)
            unit, by_rater = (item_id, unit_id), {}
        by_rater[rater_id] = sheet_answers
    yield from _of_unit(unit, by_rater, measures)


def _shape_fields(campaigns: Sequence[int]) -> dict[str, str]:
    """The key and level of questions that are answered by boxes or groupings."""
    levels: dict[str, str] = {}
    for campaign in Campaign.objects.filter(pk__in=campaigns).select_related("sheet_version"):
        sheet = sheet_of(campaign.sheet_version)
        levels |= {field.key: sheet.level(field.key) for field in sheet.fields}
    return {key: level for key, level in levels.items() if level in MEASURES}


def _of_unit(
    unit: tuple[int, int] | None, by_rater: Mapping[int, Mapping[str, Any]], levels: Mapping[str, str]
) -> Iterator[tuple[int, str, float, int]]:  # fmt: skip
    for key, level in levels.items():
        answers = [given[key] for given in by_rater.values() if given.get(key) is not None]
        value = MEASURES[level](answers) if len(answers) > 1 else None
        if unit is not None and value is not None:
            yield unit[0], key, value, len(answers)
