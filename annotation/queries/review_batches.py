"""Samples of authors' answers: what was decided of them, and what else of the author waits."""

# ruff: noqa: S608  (only constants are put into the statement)

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Annotation, ReviewBatch, SampledAnswer
from annotation.queries.review_queue import waiting_answers
from annotation.queries.sql import AVAILABLE
from benchmarks.models import Benchmark, Stage
from jobs.queries.statements import fetch
from people.models import User

# Of each sampled answer the first decision on the drawn version or a later one. Left out: answers that were taken back,
# those that do not count for another reason than a rejection, and those to items that nobody can use any more.
COUNTS = f"""
SELECT m.batch_id, count(*) FILTER (WHERE d.decision = 'accept'),
  count(*) FILTER (WHERE d.decision IN ('return', 'reject')), count(*) FILTER (WHERE d.decision IS NULL)
FROM annotation_sampledanswer m
JOIN annotation_annotation s ON s.id = m.annotation_id
JOIN annotation_annotation now ON now.assignment_id = s.assignment_id AND now.live
  AND (now.counted OR now.uncounted_because = 'rejected')
JOIN annotation_assignment a ON a.id = s.assignment_id
JOIN annotation_unit u ON u.id = a.unit_id JOIN benchmarks_item i ON i.id = u.item_id AND {AVAILABLE}
LEFT JOIN LATERAL (SELECT r.decision FROM annotation_annotation v JOIN annotation_review r ON r.annotation_id = v.id
  WHERE v.assignment_id = s.assignment_id AND v.version >= s.version AND r.undone_at IS NULL
  ORDER BY v.version LIMIT 1) d ON true
WHERE m.batch_id = ANY(%s) GROUP BY m.batch_id
"""


@dataclass(frozen=True)
class SampleCounts:
    """`refused`: rejected, or returned to the author. `undecided`: those that wait."""

    accepted: int = 0
    refused: int = 0
    undecided: int = 0

    @property
    def decided(self) -> int:
        return self.accepted + self.refused

    @property
    def is_done(self) -> bool:
        return self.decided > 0 and not self.undecided

    def passes(self, limit: float) -> bool:
        """Whether the others may be accepted: all is decided, and no more than the limit was refused."""
        return self.is_done and self.refused <= limit * self.decided + 1e-9


def sample_counts(batch_ids: Collection[int]) -> dict[int, SampleCounts]:
    """By batch. One query."""
    rows = fetch(COUNTS, [list(batch_ids)])
    return {batch: SampleCounts(*numbers) for batch, *numbers in rows}


def current_batches(stage: Stage) -> QuerySet[ReviewBatch]:
    """The samples of a stage that no larger one replaced."""
    return ReviewBatch.objects.filter(stage=stage, replaced_at=None)


def open_batches(stage: Stage) -> QuerySet[ReviewBatch]:
    return current_batches(stage).filter(accepted_at=None)


def other_answers(benchmark: Benchmark, reviewer: User, batch: ReviewBatch) -> QuerySet[Annotation]:
    """What waited when the sample was drawn, is not in it, and waits still; only what this person may decide on."""
    sampled = SampledAnswer.objects.filter(batch=batch, annotation__assignment=OuterRef("assignment"))
    rows = waiting_answers(benchmark, reviewer).filter(
        rater=batch.author_id, assignment__campaign__stage=batch.stage_id, submitted_at__lte=batch.at
    )
    return rows.filter(~Exists(sampled)).order_by("pk")


def count_others(stage: Stage, reviewer: User) -> Mapping[int, int]:
    """By author, over the open batches of a stage, as `other_answers` of each. One query."""
    mine = ReviewBatch.objects.filter(
        stage=stage, replaced_at=None, accepted_at=None, author=OuterRef("rater"), at__gte=OuterRef("submitted_at")
    )
    sampled = SampledAnswer.objects.filter(
        batch__stage=stage, batch__replaced_at=None, batch__accepted_at=None,
        annotation__assignment=OuterRef("assignment"),
    )  # fmt: skip
    rows = waiting_answers(stage.benchmark, reviewer).filter(Exists(mine), ~Exists(sampled))
    rows = rows.filter(assignment__campaign__stage=stage).order_by()
    return dict(rows.values_list("rater").annotate(n=Count("pk")))


def count_accepted(batches: Collection[ReviewBatch]) -> Mapping[int, int]:
    """By batch, the answers that its acceptance accepted and that nobody has undone."""
    rows = ReviewBatch.objects.filter(pk__in=[batch.pk for batch in batches])
    counted = rows.annotate(n=Count("reviews", filter=Q(reviews__undone_at=None)))
    return dict(counted.values_list("pk", "n"))


def waiting_by_author(stage: Stage, reviewer: User) -> Mapping[int, list[int]]:
    """By author, the ids of what waits in a stage and this person may decide on, in the order of the ids."""
    rows = waiting_answers(stage.benchmark, reviewer).filter(assignment__campaign__stage=stage)
    authors: dict[int, list[int]] = {}
    for author, annotation in rows.order_by("pk").values_list("rater", "pk").iterator(chunk_size=5000):
        authors.setdefault(author, []).append(annotation)
    return authors
