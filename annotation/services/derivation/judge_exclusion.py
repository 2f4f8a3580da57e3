"""Who judged earlier revisions of an item is excluded from judging the new one."""

from collections.abc import Iterable, Sequence

from benchmarks.models import Item
from jobs.queries.statements import execute

# Everybody who ever answered the former revision, decided on an answer to it, or returned it; and whoever was excluded
# from it already.
EXCLUDE = """
INSERT INTO benchmarks_formerjudge (item_id, user_id)
SELECT i.id, former.user_id FROM benchmarks_item i CROSS JOIN LATERAL (
  SELECT r.user_id FROM annotation_unit u JOIN annotation_assignment a ON a.unit_id = u.id
    JOIN annotation_annotation an ON an.assignment_id = a.id JOIN people_rater r ON r.id = an.rater_id
  WHERE u.item_id = i.replaces_id AND r.user_id IS NOT NULL
  UNION SELECT v.reviewer_id FROM annotation_unit u JOIN annotation_assignment a ON a.unit_id = u.id
    JOIN annotation_annotation an ON an.assignment_id = a.id JOIN annotation_review v ON v.annotation_id = an.id
  WHERE u.item_id = i.replaces_id AND v.reviewer_id IS NOT NULL
  UNION SELECT d.reviewer_id FROM annotation_unit u JOIN annotation_assignment a ON a.unit_id = u.id
    JOIN annotation_annotation an ON an.assignment_id = a.id JOIN annotation_review v ON v.annotation_id = an.id
    JOIN annotation_secondreview d ON d.first_id = v.id
  WHERE u.item_id = i.replaces_id AND d.reviewer_id IS NOT NULL
  UNION SELECT t.by_id FROM benchmarks_itemreturn t WHERE t.item_id = i.replaces_id AND t.undone_at IS NULL
    AND t.by_id IS NOT NULL
  UNION SELECT f.user_id FROM benchmarks_formerjudge f WHERE f.item_id = i.replaces_id
) former WHERE i.id = ANY(%s) AND i.replaces_id IS NOT NULL
ON CONFLICT DO NOTHING
"""


def exclude_former_judges(_stage_id: int, item_ids: Sequence[int]) -> None:
    """Listen to arrivals (benchmarks.services.item_changes): in the transaction that wrote these items, before they
    have slots."""
    execute(EXCLUDE, [list(item_ids)])


def follow_late_answers(item_ids: Iterable[int]) -> None:
    """Answers to items came in or changed: where an item has later revisions, their authors judged it before these."""
    later = list(Item.objects.filter(replaces__in=list(item_ids)).values_list("pk", flat=True))
    while later:
        execute(EXCLUDE, [later])
        later = list(Item.objects.filter(replaces__in=later).values_list("pk", flat=True))
