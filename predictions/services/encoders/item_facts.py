"""Facts about a stage's items, found by a local model: how well a picture fits its words (CLIP score), what objects
are in it. Gates, weights and tables read them by their key; of several with one key the newest counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.services.review.outcomes import judge_items
from benchmarks.models import Item, ItemFact, ItemImage, Stage
from benchmarks.services.intake import judging
from benchmarks.services.intake.judging import lock_stage
from jobs.models import Job, JobRow, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from people.models import Team, User
from people.services.raters import models_of
from predictions.backends import clip, detector
from predictions.backends.contract import CallError
from predictions.models import Endpoint, Run
from predictions.services.encoders.encoding import original
from predictions.services.runs.result_runs import FileRunRefused, local_model_job

KIND = "item_facts"
SCORE, OBJECTS, LABELS = "clip_score", "objects", "object_labels"
NEEDS = {SCORE: Endpoint.Kind.OPEN_CLIP, OBJECTS: Endpoint.Kind.DETECTOR}
STEP = 64


@dataclass(frozen=True)
class FactPlan:
    """`what`: SCORE or OBJECTS. `words`: where an item's words are, "text", "concept" or "context.KEY" (SCORE).
    `threshold`: from which score on an object counts (OBJECTS)."""

    stage: Stage
    endpoint: Endpoint
    model: str
    what: str
    name: str = ""
    words: str = "text"
    threshold: float = detector.THRESHOLD


@dataclass(frozen=True)
class ItemPicture:
    item: int
    key: str
    sha: str
    words: str


def open_run(plan: FactPlan, actor: User, at: datetime) -> Run:
    """Begin it, by a job of the benchmark. Raises FileRunRefused."""
    benchmark = plan.stage.benchmark
    if plan.endpoint.kind != NEEDS[plan.what] or plan.endpoint.team_id != benchmark.team_id:
        raise FileRunRefused(
            _("This needs another kind of endpoint of your team: an encoder for scores, a detector for objects.")
        )
    if not item_pictures(plan.stage, plan.what, plan.words):
        raise FileRunRefused(_("No item of this stage has a picture, and words where you look for them."))
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=benchmark.team_id)
        model = (plan.name or plan.model, "")
        selection = {"stage": plan.stage.key, "what": plan.what}
        asked = {"words": plan.words} if plan.what == SCORE else {"threshold": plan.threshold}
        run = Run.objects.create(
            benchmark=benchmark, rater=models_of(benchmark.team, [model])[model], endpoint=plan.endpoint,
            model=plan.model, task=Run.Task.FACTS, selection=selection, options=asked, source="here",
            state=Run.State.RUNNING, started_at=at,
            created_by=actor,
        )  # fmt: skip
        titles = {SCORE: _("CLIP scores of %(stage)s"), OBJECTS: _("Objects in %(stage)s")}
        title = titles[plan.what] % {"stage": plan.stage.name}
        run.job = jobs.start(KIND, title, scope=benchmark.scope, actor=actor, params={"run": run.pk})
        run.save(update_fields=["job"])
        record(actor, "run.started", scope=benchmark.scope, target=f"run:{run.pk}", model=plan.model, told=selection)
    return run


def item_pictures(stage: Stage, what_to_find: str, words: str) -> list[ItemPicture]:
    """The first picture of each standing item, with its words where those are asked for; by item."""
    uses = ItemImage.objects.filter(item__stage=stage, item__withdrawn_at=None).select_related("item", "image")
    pictures: dict[int, ItemPicture] = {}
    for use in uses.order_by("item", "role"):
        text = words_of(use.item, words) if what_to_find == SCORE else ""
        if use.item_id not in pictures and (text or what_to_find != SCORE):
            pictures[use.item_id] = ItemPicture(use.item_id, use.item.key, use.image.sha256, text)
    return list(pictures.values())


def words_of(item: Item, where: str) -> str:
    head, _dot, rest = where.partition(".")
    value = item.context.get(rest) if head == "context" else {"text": item.text, "concept": item.concept}.get(head)
    return str(value or "").strip()


def drive(work: JobContext) -> None:
    local_model_job(work, Run.objects.select_related("benchmark__team", "rater"), _drive_run)


def _drive_run(work: JobContext, run: Run) -> None:
    stage = Stage.objects.get(benchmark=run.benchmark, key=run.selection["stage"])
    things = item_pictures(stage, run.selection["what"], run.options.get("words", ""))
    facts, turn = ItemFact.objects.filter(source=run.model[:120], version=f"run {run.pk}"), TimeSlice(work)
    there = set(facts.values_list("item_id", flat=True))
    left = [thing for thing in things if thing.item not in there]
    work.expect(len(things))
    find = _iter_scores if run.selection["what"] == SCORE else _detected
    for facts_by_item, failures in find(run, left):
        rows = [JobRow(number=picture.item % 2_000_000_000, name=picture.key[:300], outcome=JobRow.Outcome.ERROR,
                       reason="unread", message=words) for picture, words in failures]  # fmt: skip
        with transaction.atomic():
            locked = lock_stage(stage) if stage.filters else None
            ItemFact.objects.bulk_create(
                ItemFact(item_id=pk, key=key, value=value, source=run.model[:120], version=f"run {run.pk}")
                for pk, values in facts_by_item.items()
                for key, value in values.items()
            )
            if locked is not None:
                judging.judge_items(locked, facts_by_item)
            judge_items(facts_by_item, timezone.now())  # what a rule said of them may stand on these facts
            done = work.job.done + len(facts_by_item) + len(failures)
            work.step(done=min(done, len(things)), cursor={"done": done}, rows=rows)
        work.check()
        turn.is_over()
    found_in_all = facts.values("item").distinct().count()
    counts = {"rows": found_in_all, "unread": len(things) - found_in_all}
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.DONE,
        complete=True,
        finished_at=timezone.now(),
        options={**run.options, **counts},
        stopped_because="",
    )
    scope, target = run.benchmark.scope, f"run:{run.pk}"
    record(work.job.created_by, "run.finished", scope=scope, target=target, implied=True, **counts)


Some = tuple[dict[int, Mapping[str, Any]], list[tuple[ItemPicture, str]]]
"""Facts by item and key; and what could not be read, and why."""


def _iter_scores(run: Run, things: Sequence[ItemPicture]) -> Iterator[Some]:
    """100 x the cosine of picture and words, from 32-bit vectors."""
    encoder = clip.load(run.model)
    streamed = encoder.stream([partial(original, thing.sha) for thing in things], STEP)
    for places, vectors, unread in streamed:
        texts = encoder.texts([things[place].words for place in places])
        scores = 100.0 * (vectors.astype(float) * texts.astype(float)).sum(axis=1)
        facts_by_item: dict[int, Mapping[str, Any]] = {
            things[place].item: {SCORE: float(score)} for place, score in zip(places, scores, strict=True)
        }
        yield facts_by_item, [(things[place], error.words) for place, error in unread.items()]


def _detected(run: Run, things: Sequence[ItemPicture]) -> Iterator[Some]:
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


def next_link(job: Job) -> NextLink | None:
    run = Run.objects.select_related("benchmark").filter(pk=job.params.get("run")).first()
    if run is None:
        return None
    return NextLink(_("View facts"), reverse("predictions:facts", args=[run.benchmark.slug]))


DRIVE = JobKind(KIND, drive, next_link)
