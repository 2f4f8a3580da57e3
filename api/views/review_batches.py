"""Samples of authors' answers: drawn by reviewers, and the author's other answers accepted together."""

import random
from collections.abc import Callable
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import batch_for
from annotation.forms.review_samples import SampleForm
from annotation.models import Annotation, ReviewBatch, SampledAnswer
from annotation.pages.review_samples import SEEDS, authors_named, state_of
from annotation.queries.review_batches import SampleCounts, sample_counts
from annotation.services.review import batches
from api.protocol.contents import check_form, form_data, problem
from api.protocol.operations import PAGING, operation, query_parameter
from api.protocol.paging import page_of
from api.protocol.preconditions import with_etag
from api.protocol.problems import Refused
from api.schemas import review_batches as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark, Stage
from people.models import User

STAGE = query_parameter("stage", "Key of a stage.")
NAMES = ("drawn", "population", "seed", "limit", "at", "accepted_at")
REPLACED = "replaced"


class ReviewBatchList(ResourceView):
    @operation("review_batches", "Samples of authors' answers, also replaced ones; never your own", scope="export",
               parameters=(*PAGING, STAGE), reply=page_of_shape(shapes.ReviewBatchLine))  # fmt: skip
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="review")
        rows = ReviewBatch.objects.filter(stage__benchmark=benchmark).exclude(author__user=request.user)
        if key := request.query_params.get("stage"):
            rows = rows.filter(stage__key=key)
        rows = rows.select_related("stage")
        return page_of(request, rows, "review_batches", lambda page: batches_json(page, benchmark), benchmark.pk)

    @operation("review_batches_create", "Draw a sample of each author's waiting answers, as a reviewer", scope="write",
               body=shapes.NewReviewBatches, reply=shapes.ReviewBatchesDrawn, status=201)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="review")
        stage = stage_by_review(benchmark, self.content["stage"])
        asked = {name: value for name, value in self.content.items() if name != "stage"}
        form = SampleForm(form_data({"size": 5, "unit": "answers", "limit": 10, **asked}))
        data = check_form(form)
        name, user = data["author"], request.user
        authors = authors_named(stage, user, name) if name else None
        seed = random.SystemRandom().randrange(SEEDS) if data["seed"] is None else data["seed"]
        at = timezone.now()
        drawn = batches.draw_samples(stage, user, form.size_of_sample, data["limit"] / 100, seed, at, authors=authors)
        counts = {name: getattr(drawn, name) for name in ("authors", "answers", "unchanged")}
        return Response({**counts, "seed": seed}, status=201)


class ReviewBatchDetail(ResourceView):
    @operation("review_batch", "One sample", scope="export", reply=shapes.ReviewBatchLine)
    def get(self, request: Request, slug: str, batch_id: int) -> Response:
        benchmark = benchmark_for(request.user, slug, can="review")
        batch = batch_for(request.user, benchmark, batch_id)
        return with_etag(request, batches_json([batch], benchmark)[0])


class SampledAnswerList(ResourceView):
    @operation("review_batch_answers", "Answers of a sample; each is decided by a review", scope="export",
               parameters=PAGING, reply=page_of_shape(shapes.SampledAnswerLine))  # fmt: skip
    def get(self, request: Request, slug: str, batch_id: int) -> Response:
        benchmark = benchmark_for(request.user, slug, can="review")
        batch = batch_for(request.user, benchmark, batch_id)
        rows = SampledAnswer.objects.filter(batch=batch).exclude(annotation__uncounted_because="consent_withdrawn")
        rows = rows.select_related("annotation__assignment__unit__item")
        return page_of(request, rows, "sampled_answers", sampled_json, batch.pk)


def action_view(name: str, summary: str, act: Callable[[int, User, Benchmark], int]) -> Any:
    """A POST that calls a service with the number of the batch, the person and the benchmark."""

    class BatchAction(ResourceView):
        @operation(f"review_batch_{name}", summary, scope="write", reply=shapes.ReviewBatchDone)
        def post(self, request: Request, slug: str, batch_id: int) -> Response:
            benchmark = benchmark_for(request.user, slug, can="review")
            batch_for(request.user, benchmark, batch_id)
            answers = act(batch_id, request.user, benchmark)
            batch = batch_for(request.user, benchmark, batch_id)
            return Response({**batches_json([batch], benchmark)[0], "answers": answers})

    return BatchAction.as_view()


def _accept(batch_id: int, user: User, _benchmark: Benchmark) -> int:
    return batches.accept_others(batch_id, user, timezone.now())


def _undo(batch_id: int, user: User, benchmark: Benchmark) -> int:
    runs = is_permitted(user, benchmark, "work_on")
    return batches.undo_acceptance(batch_id, user, timezone.now(), runs=runs)


ACTIONS = (
    ("accept", "Accept the author's other answers, once the sample has passed", _accept),
    ("undo", "Undo that: what was accepted together waits again", _undo),
)


def stage_by_review(benchmark: Benchmark, key: str) -> Stage:
    """Raises Refused."""
    stage = benchmark.stages.filter(key=key, acceptance=Stage.Acceptance.BY_REVIEW).first()
    if stage is None:
        text = _("The benchmark has no such stage that is accepted by review.")
        raise Refused(text, errors=[problem("/stage", "unknown", text)])
    stage.benchmark = benchmark
    return stage


def batches_json(rows: list[ReviewBatch], benchmark: Benchmark) -> list[dict[str, Any]]:
    counts = sample_counts([row.pk for row in rows])
    return [_batch_json(row, counts.get(row.pk, SampleCounts()), benchmark) for row in rows]


def _batch_json(row: ReviewBatch, counts: SampleCounts, benchmark: Benchmark) -> dict[str, Any]:
    return {
        "id": row.pk, "stage": row.stage.key, "author": benchmark.pseudonym(row.author_id),
        "state": REPLACED if row.replaced_at else state_of(row, counts),
        **{name: getattr(row, name) for name in NAMES},
        **{name: getattr(counts, name) for name in ("accepted", "refused", "undecided")},
    }  # fmt: skip


def sampled_json(rows: list[SampledAnswer]) -> list[dict[str, Any]]:
    assignments = [row.annotation.assignment_id for row in rows]
    current = Annotation.objects.filter(assignment__in=assignments, live=True).values_list("assignment", "pk")
    live = dict(current)
    return [
        {
            "annotation": live.get(row.annotation.assignment_id, row.annotation_id), "sampled": row.annotation_id,
            "item": row.annotation.assignment.unit.item.key, "state": row.annotation.assignment.state,
        }
        for row in rows
    ]  # fmt: skip
