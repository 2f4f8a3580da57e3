"""Facts about a stage's items, computed by a local model: how well a picture fits its words (CLIP score), what objects
are in it, how near it is to a picture of a knowledge base. Gates, weights, filters and tables read them by their key;
of several with one key the newest counts.

The work of a request, see predictions.services.encoders.fact_requests: step by step, until no item is without a fact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.services.derivation import outbox
from annotation.services.review.outcomes import judge_items
from benchmarks.models import Item, ItemFact
from benchmarks.services.intake import judging
from benchmarks.services.intake.judging import lock_stage
from jobs.models import Job, JobRow, record
from jobs.services.job_context import JobCancelled, JobContext, JobFailed, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from predictions.backends import clip, detector
from predictions.backends.contract import CallError
from predictions.models import FactFailure, FactRequest, Run
from predictions.models.facts import BASE_SIMILARITY, LABELS, OBJECTS, SCORE, TEXT_VECTOR
from predictions.queries.fact_requests import facts_of_run, missing_items, room_of
from predictions.services.encoders import fact_requests
from predictions.services.encoders.encoding import original
from predictions.services.encoders.fact_requests import KIND, READS_WORDS
from predictions.services.knowledge.base_similarity import BaseComparison

STEP = 64
IN_MEMORY = 16  # pictures whose files are read at a time, where they are not streamed
READ = 16 * STEP  # items that are read at a time
DIGITS = 6  # of each number of a vector, as it is stored


@dataclass(frozen=True)
class ItemPicture:
    item: int
    key: str
    sha: str
    words: str


def load_pictures(request: FactRequest) -> list[ItemPicture]:
    """The first picture of the next items without a fact, with the item's words where they are read. Two queries."""
    where = str(request.options.get("words", "")) if request.what in READS_WORDS else ""
    pictures, room = [], room_of(request)
    for item in missing_items(request).prefetch_related("images__image")[: READ if room is None else min(READ, room)]:
        use = min(item.images.all(), key=lambda image_use: image_use.role, default=None)
        sha = use.image.sha256 if use is not None else ""
        pictures.append(ItemPicture(item.pk, item.key, sha, words_of(item, where)))
    return pictures


def words_of(item: Item, where: str) -> str:
    head, _dot, rest = where.partition(".")
    value = item.context.get(rest) if head == "context" else {"text": item.text, "concept": item.concept}.get(head)
    return str(value or "").strip()


def drive(work: JobContext) -> None:
    """Compute until nothing is missing. A model that cannot be used pauses the request. Raises JobFailed."""
    request = _begin(work)
    try:
        while True:
            _compute(work, request)
            if _finish(work, request.pk):
                return
    except CallError as error:
        fact_requests.pause_by_job(work.job, fact_requests.MODEL, error.words)
        raise JobFailed(error.words) from error
    except JobCancelled:
        fact_requests.pause_by_job(work.job, fact_requests.PERSON)
        raise


def _begin(work: JobContext) -> FactRequest:
    """The request, active. Raises JobFailed, JobCancelled."""
    with transaction.atomic():
        own = FactRequest.objects.filter(run=work.params["run"], run__job=work.job).values_list("pk", flat=True).first()
        if own is None:
            raise JobFailed(_("Nothing asks for these facts any more. Start it again on the page “Item facts”."))
        request = fact_requests.lock_request(own)
        if request.state == FactRequest.State.CANCELLED or request.run.withdrawn_at:
            raise JobFailed(_("This request was cancelled meanwhile. Create a new one."))
        if request.state == FactRequest.State.PAUSED:
            if Job.objects.filter(pk=work.job.pk, cancel_asked=True).exists():
                raise JobCancelled
            fact_requests.activate_locked(request, work.job.created_by)  # somebody goes on at the job's own page
        retired = request.endpoint.retired_at is not None
        if retired:
            fact_requests.pause_locked(request, fact_requests.RETIRED, "", None)
        else:
            Run.objects.filter(pk=request.run_id).update(state=Run.State.RUNNING)
    if retired:
        raise JobFailed(_("The endpoint was retired. Cancel the request and create one with another endpoint."))
    missing, room = missing_items(request).count(), room_of(request)
    work.expect(work.job.done + (missing if room is None else min(missing, room)))
    return request


def _compute(work: JobContext, request: FactRequest) -> None:
    time_slice = TimeSlice(work)
    find = FINDERS[request.what]
    while pictures := load_pictures(request):
        blank = [(picture, _("The item has no text.")) for picture in pictures if _lacks_words(request, picture)]
        if blank:
            _write(work, request, {}, blank)
        for computed in find(request.run, [p for p in pictures if not _lacks_words(request, p)]):
            _write(work, request, *_without_undefined(computed, pictures))
            work.check()
            time_slice.is_over()


def _without_undefined(computed: Computed, pictures: Sequence[ItemPicture]) -> Computed:
    """A fact with a number that is none, as half precision may give it, is a failure of its item: no database keeps it,
    and the other items of the step have theirs."""
    facts_by_item, failures = computed
    undefined = {pk for pk, values in facts_by_item.items() if not _is_finite(values)}
    text = _("The model gave no number for this item.")
    others = {pk: values for pk, values in facts_by_item.items() if pk not in undefined}
    return others, [*failures, *((picture, text) for picture in pictures if picture.item in undefined)]


def _is_finite(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _lacks_words(request: FactRequest, picture: ItemPicture) -> bool:
    return request.what in READS_WORDS and not picture.words


def _write(
    work: JobContext, request: FactRequest, facts_by_item: Mapping[int, Mapping[str, Any]], failures: Failures
) -> None:
    """One transaction: facts, what filters and rules say of them, and how far the job is."""
    run, at = request.run, timezone.now()
    rows = [JobRow(number=picture.item % 2_000_000_000, name=picture.key[:300], outcome=JobRow.Outcome.ERROR,
                   reason="unread", message=words) for picture, words in failures]  # fmt: skip
    with transaction.atomic():
        stage = lock_stage(request.stage)
        ItemFact.objects.bulk_create(
            (
                ItemFact(item_id=pk, key=key, value=value, source=run.model[:120], version=f"run {run.pk}")
                for pk, values in facts_by_item.items()
                for key, value in values.items()
            ),
            ignore_conflicts=True,  # of a worker that was thought dead; its step is refused below
        )
        FactFailure.objects.bulk_create(
            (FactFailure(request=request, item_id=picture.item, message=words, at=at) for picture, words in failures),
            ignore_conflicts=True,
        )
        if stage.filters:
            judging.judge_items(stage, facts_by_item)
        judge_items(facts_by_item, at)  # what a rule said of them may stand on these facts
        outbox.mark_items_due(facts_by_item)  # and what is made of them, such as a weighted draw
        done = work.job.done + len(facts_by_item) + len(failures)
        work.step(done=done, cursor={"done": done}, rows=rows)


def _finish(work: JobContext, request_id: int) -> bool:
    """Close the run until more items arrive; false if some did meanwhile. Raises JobCancelled."""
    with transaction.atomic():
        request = fact_requests.lock_request(request_id)
        if request.state != FactRequest.State.ACTIVE or request.run.job_id != work.job.pk:
            raise JobCancelled
        if missing_items(request).exists():
            return room_of(request) == 0 and fact_requests.pause_locked(request, fact_requests.LIMIT, "", None)
        run = request.run
        rows = facts_of_run(run).order_by().values("item").distinct().count()
        counts = {"rows": rows, "unread": request.failures.count()}
        Run.objects.filter(pk=run.pk).update(
            state=Run.State.DONE, complete=True, finished_at=timezone.now(), options={**run.options, **counts},
            stopped_because="",
        )  # fmt: skip
        scope, target = request.stage.benchmark.scope, f"run:{run.pk}"
        record(work.job.created_by, "run.finished", scope=scope, target=target, implied=True, **counts)
    return True


Failures = Sequence[tuple[ItemPicture, str]]
Computed = tuple[dict[int, Mapping[str, Any]], Failures]
"""Facts by item and key; and what could not be read, and why."""


def _iter_scores(run: Run, things: Sequence[ItemPicture]) -> Iterator[Computed]:
    """100 x the cosine of picture and words, from 32-bit vectors."""
    if not things:
        return
    encoder = clip.load(run.model)
    streamed = encoder.stream([partial(original, thing.sha) for thing in things], STEP)
    for places, vectors, unread in streamed:
        texts = encoder.texts([things[place].words for place in places])
        scores = 100.0 * (vectors.astype(float) * texts.astype(float)).sum(axis=1)
        facts_by_item: dict[int, Mapping[str, Any]] = {
            things[place].item: {SCORE: float(score)} for place, score in zip(places, scores, strict=True)
        }
        yield facts_by_item, [(things[place], error.words) for place, error in unread.items()]


def _iter_objects(run: Run, things: Sequence[ItemPicture]) -> Iterator[Computed]:
    finder, least = detector.load(run.model), float(run.options.get("threshold", detector.THRESHOLD))
    for picture in things:
        look: Callable[[], bytes] = partial(original, picture.sha)
        try:
            objects = finder.objects(look(), least)
        except FileNotFoundError:
            yield {}, [(picture, _("The picture file is missing. Import it again."))]
        except CallError as error:
            yield {}, [(picture, error.words)]
        else:
            yield {picture.item: {OBJECTS: len(objects), LABELS: detector.count_labels(objects)}}, []


def _iter_text_vectors(run: Run, things: Sequence[ItemPicture]) -> Iterator[Computed]:
    """The words of each item as a vector of unit length."""
    encoder = clip.load(run.model) if things else None
    for start in range(0, len(things), STEP):
        part = things[start : start + STEP]
        vectors = encoder.texts([thing.words for thing in part]) if encoder is not None else ()
        yield (
            {
                thing.item: {TEXT_VECTOR: [round(float(number), DIGITS) for number in vector]}
                for thing, vector in zip(part, vectors, strict=True)
            },
            [],
        )


def _iter_base_similarities(run: Run, things: Sequence[ItemPicture]) -> Iterator[Computed]:
    """How near each picture is to the nearest one of the knowledge base, and whose that is."""
    if not things:
        return
    assert run.knowledge_index is not None
    base = BaseComparison(run.knowledge_index)
    for start in range(0, len(things), IN_MEMORY):
        part = things[start : start + IN_MEMORY]
        facts = dict(zip(part, base.compare([thing.sha for thing in part]), strict=True))
        yield (
            {thing.item: {BASE_SIMILARITY: fact} for thing, fact in facts.items() if fact is not None},
            [(thing, _("The picture cannot be read.")) for thing, fact in facts.items() if fact is None],
        )


FINDERS: Mapping[str, Callable[[Run, Sequence[ItemPicture]], Iterator[Computed]]] = {
    SCORE: _iter_scores,
    OBJECTS: _iter_objects,
    TEXT_VECTOR: _iter_text_vectors,
    BASE_SIMILARITY: _iter_base_similarities,
}


def next_link(job: Job) -> NextLink | None:
    run = Run.objects.select_related("benchmark").filter(pk=job.params.get("run")).first()
    if run is None:
        return None
    return NextLink(_("View facts"), reverse("predictions:facts", args=[run.benchmark.slug]))


DRIVE = JobKind(KIND, drive, next_link)
