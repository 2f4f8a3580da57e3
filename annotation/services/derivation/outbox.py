"""What may be accepted otherwise than before is noted in the transaction that changed it, and worked off afterwards.

A row of Due says of an item: of its own stage, that its answers changed; of a later stage, that what is made of it must
be looked at again. See annotation.services.derivation.
"""

from collections.abc import Iterable, Sequence

from django.db import connection, transaction

from jobs.connections.broker import dispatch
from jobs.queries.statements import fetch

TASK = "annotation.derive"

# A later stage takes its items from the stage `st`, or the names that were merged, or what models propose.
FEEDS_LATER = """EXISTS (SELECT FROM benchmarks_stage later
    WHERE later.benchmark_id = st.benchmark_id AND (jsonb_exists(later.derivation -> 'from', st.key)
      OR later.derivation #>> '{params,rename,by}' = st.key
      OR later.derivation #>> '{params,proposals,stage}' = st.key))"""
# Only where somebody waits for it: a rule of the stage itself, cells that close when they are full, a dispute that its
# answers settle, or a later stage.
MATTERS = f"""(st.acceptance = 'by_rule' OR st.coverage -> 'stop_when_full' = 'true'
  OR st.derivation ->> 'kind' = 'disagree' OR {FEEDS_LATER})"""
INSERT = f"""INSERT INTO annotation_due (stage_id, source_id, at)
SELECT st.id, i.id, clock_timestamp() FROM benchmarks_item i JOIN benchmarks_stage st ON st.id = i.stage_id
WHERE i.id = ANY(%(items)s) AND {MATTERS}"""  # noqa: S608  (a constant)
NOTE = f"{INSERT} RETURNING id"
OF_SLOTS = """SELECT u.item_id FROM annotation_slot s JOIN annotation_unit u ON u.id = s.unit_id WHERE s.id = ANY(%s)"""
OF_ANSWERS = """SELECT DISTINCT u.item_id FROM annotation_annotation an
  JOIN annotation_assignment a ON a.id = an.assignment_id JOIN annotation_unit u ON u.id = a.unit_id
  WHERE an.id = ANY(%s)"""

# One item of each column is enough: all its cells are looked at.
NOTE_CELLS = """INSERT INTO annotation_due (stage_id, source_id, at)
  SELECT i.stage_id, min(i.id), clock_timestamp() FROM benchmarks_item i WHERE i.stage_id = %s
  GROUP BY i.stage_id, i.concept, i.condition RETURNING id"""

OF_COHORT = """SELECT DISTINCT u.item_id FROM annotation_slot s JOIN annotation_unit u ON u.id = s.unit_id
  WHERE s.cohort_id = %s"""

OF_CAMPAIGN = """SELECT u.item_id FROM annotation_campaigncohort cc JOIN annotation_slot s ON s.cohort_id = cc.id
    JOIN annotation_unit u ON u.id = s.unit_id WHERE cc.campaign_id = %(campaign)s
  UNION SELECT u.item_id FROM annotation_assignment a JOIN annotation_unit u ON u.id = a.unit_id
  WHERE a.campaign_id = %(campaign)s"""


def mark_items_due(item_ids: Iterable[int]) -> None:
    """The answers to these items changed, or what counts of them."""
    ids = list(item_ids)
    if ids and fetch(NOTE, {"items": ids}):
        schedule_worker()


def mark_cells_due(stage_id: int) -> None:
    """The stage wants other cells, or there are new slots in them."""
    if fetch(NOTE_CELLS, [stage_id]):
        schedule_worker()


def mark_slots_due(slot_ids: Sequence[int]) -> None:
    mark_items_due(item for (item,) in fetch(OF_SLOTS, [list(slot_ids)]))


def mark_answers_due(annotation_ids: Sequence[int]) -> None:
    mark_items_due(item for (item,) in fetch(OF_ANSWERS, [list(annotation_ids)]))


def mark_cohort_due(campaign_cohort_id: int) -> None:
    mark_items_due(item for (item,) in fetch(OF_COHORT, [campaign_cohort_id]))


def mark_campaign_due(campaign_id: int) -> None:
    """What the campaign asks about waits for more answers now, or for no more."""
    mark_items_due(item for (item,) in fetch(OF_CAMPAIGN, {"campaign": campaign_id}))


def schedule_worker() -> None:
    """Tell the worker when this transaction commits, once. Without a broker the beat comes round."""
    if all(hook[1] is not send_task for hook in connection.run_on_commit):
        transaction.on_commit(send_task, robust=True)


def send_task() -> None:
    """Without a broker, what follows from answers waits for the beat."""
    dispatch(TASK)
