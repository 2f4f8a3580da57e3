"""Runs of a dual encoder over a collection: embeddings, ranked lists, similarities of candidates. One job drives each.

Vectors lie on disk by what they are made from (collection, model, query set), in shards that are there whole or not at
all: a killed run goes on with the shard that is missing, and another run of the same model finds them made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from jobs.models import Job, JobRow, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext, JobFailed, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from people.models import Team, User
from people.services.raters import add_model_info, models_of
from predictions.backends import clip
from predictions.models import Collection, Endpoint, Entry, Query, Ranking, Run
from predictions.retrieval import scoring
from predictions.services.collections import written_queries
from predictions.services.encoders.encoding import EncodeInput, Encoding
from predictions.services.runs.result_runs import FileRunRefused, local_model_job

KIND = "encoder_run"
STEP = 100
TASKS = (Run.Task.RETRIEVAL, Run.Task.FORCED_CHOICE, Run.Task.EMBEDDING)


@dataclass(frozen=True)
class EncoderPlan:
    """What a person asks for. `name`: of the model rater; `template`: what a query's text is put into, with {text}."""

    collection: Collection
    endpoint: Endpoint
    model: str
    name: str
    task: str
    setting: str = ""
    query_set: str = ""
    template: str = ""
    most: int = 100
    some_missing: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)


def open_run(plan: EncoderPlan, actor: User, at: datetime) -> Run:
    """Begin it, by a job of the benchmark. Raises FileRunRefused."""
    benchmark = plan.collection.benchmark
    written_queries.refresh(plan.collection)
    _check(plan)
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=benchmark.team_id)
        written_queries.lock(plan.collection)
        who = (plan.name, plan.setting)
        rater = models_of(benchmark.team, [who])[who]
        query_set = "" if plan.task == Run.Task.EMBEDDING else plan.query_set
        asked = {"collection": plan.collection, "task": plan.task, "query_set": query_set,
                 "system_prompt": plan.template[:60]}  # fmt: skip
        _make_room(Run.objects.filter(rater=rater, withdrawn_at=None, **asked), at)
        run = Run.objects.create(
            benchmark=benchmark, rater=rater, endpoint=plan.endpoint, model=plan.model, score_kind="cosine",
            options={"most": plan.most, "template": plan.template, "some_missing": plan.some_missing,
                     "about": dict(plan.about)},
            source="here", state=Run.State.RUNNING, started_at=at, created_by=actor, **asked,
        )  # fmt: skip
        title = _("%(model)s: %(task)s") % {"model": plan.name[:80], "task": run.get_task_display()}
        run.job = jobs.start(KIND, title, scope=benchmark.scope, actor=actor, params={"run": run.pk})
        run.save(update_fields=["job"])
        record(actor, "run.started", scope=benchmark.scope, target=f"run:{run.pk}", model=plan.model, task=plan.task)
    return run


def _check(plan: EncoderPlan) -> None:
    if plan.endpoint.kind != Endpoint.Kind.OPEN_CLIP or plan.endpoint.team_id != plan.collection.benchmark.team_id:
        raise FileRunRefused(
            _("Embeddings come from an encoder of images and texts. Choose such an endpoint of your team.")
        )
    if plan.template and "{text}" not in plan.template:
        raise FileRunRefused(_("Write {text} where the query's words go."))
    entries = Entry.objects.filter(collection=plan.collection)
    if not entries.exists():
        raise FileRunRefused(_("This collection has no entries."))
    if entries.filter(image=None, text="").exists():
        raise FileRunRefused(
            _(
                "Entries that were imported from a file have no pictures here. Create a collection "
                "from the items of a stage."
            )
        )
    asked = Query.objects.filter(collection=plan.collection, query_set=plan.query_set)
    if plan.task != Run.Task.EMBEDDING and not asked.exists():
        raise FileRunRefused(_("This query set has no queries."))
    if plan.task == Run.Task.FORCED_CHOICE and asked.filter(roles={}).exists():
        raise FileRunRefused(
            _("These queries name no candidates, so nothing can be chosen between. Run retrieval instead.")
        )


def _make_room(standing: Any, at: datetime) -> None:
    """What never became whole, and is not being worked on, makes room. Raises FileRunRefused."""
    for run in standing:
        if run.complete:
            text = _("There is a run of this model on the same queries already, of %(day)s. Withdraw it first.")
            raise FileRunRefused(text % {"day": f"{run.created_at:%Y-%m-%d %H:%M}"})
        if run.job_id and Job.objects.filter(pk=run.job_id, state__in=Job.LIVE).exists():
            raise FileRunRefused(_("This run is already in progress. Wait for it, or stop it."))
        Run.objects.filter(pk=run.pk).update(withdrawn_at=at)


def drive(work: JobContext) -> None:
    local_model_job(work, Run.objects.select_related("benchmark__team", "collection", "rater"), _drive_run)


def _drive_run(work: JobContext, run: Run) -> None:
    encoder, turn = clip.load(run.model), TimeSlice(work)
    entries = _encode_inputs(Entry.objects.filter(collection=run.pool))
    queries = [] if run.task == Run.Task.EMBEDDING else _queries(run)
    work.expect(len(entries) + len(queries))
    entry_encoding = Encoding(run.pool, "entries", entries, encoder)
    asked = Encoding(run.pool, f"queries {run.query_set} {run.system_prompt}", queries, encoder)
    if not work.cursor:
        _report_cached(work, entry_encoding, asked)
    for part in (entry_encoding, asked):
        for done, failures in part.encode_missing(work.beat):
            rows = [_unread(thing, words) for thing, words in failures]
            at = done if part is entry_encoding else len(entries)  # a query is done when it has its list
            work.step(done=at, cursor={"part": part.what, "done": done}, rows=rows)
            _check_active(run)
            turn.is_over()
    if run.task != Run.Task.EMBEDDING:
        for done in _ranked(work, run, entry_encoding, asked):
            work.step(done=len(entries) + done, cursor={"part": "rankings", "done": done})
            turn.is_over()
    _finish(work, run, encoder, entry_encoding, asked)


def _report_cached(work: JobContext, entry_encoding: Encoding, asked: Encoding) -> None:
    """What an earlier run of the model left done is no work of this one."""
    before, queries = entry_encoding.count_cached(), asked.count_cached()
    if before or queries:
        n = {"n": before, "of": len(entry_encoding.things), "queries": queries, "of_queries": len(asked.things)}
        text = _("Vectors made before, and taken as they are: %(n)s of %(of)s entries")
        text = (text if not asked.things else text + _(", %(queries)s of %(of_queries)s queries")) % n
        work.note(text + ".")
    work.step(done=before, cursor={"part": "before", "done": before})


def _check_active(run: Run) -> None:
    if Run.objects.filter(pk=run.pk).exclude(withdrawn_at=None).exists():
        raise JobFailed(_("This run was withdrawn meanwhile. Start a new one."))


def _encode_inputs(entries: Any) -> list[EncodeInput]:
    rows = entries.order_by("pk").values_list("pk", "key", "text", "image__sha256")
    return [EncodeInput(pk, key, sha or "", text) for pk, key, text, sha in rows]


def _queries(run: Run) -> list[EncodeInput]:
    rows = Query.objects.filter(collection=run.collection, query_set=run.query_set).order_by("pk")
    template = run.options.get("template") or "{text}"
    query_rows = rows.values_list("pk", "key", "text", "image__sha256")
    # an image asks by itself; its words, if it has any, only tell what it shows
    return [
        EncodeInput(pk, key, sha or "", "" if sha else template.replace("{text}", text))
        for pk, key, text, sha in query_rows
    ]


def _unread(thing: EncodeInput, words: str) -> JobRow:
    return JobRow(
        number=thing.pk % 2_000_000_000,
        name=thing.key[:300],
        outcome=JobRow.Outcome.ERROR,
        reason="unread",
        message=words,
    )


def _ranked(work: JobContext, run: Run, held: Encoding, asked: Encoding) -> Iterator[int]:
    """In steps: how many queries have their lists. Those that have one keep it."""
    entries, keys = held.units(), [thing.key for thing in held.things]
    seen = np.flatnonzero(np.any(entries != 0, axis=1))
    entries, keys = entries[seen], [keys[at] for at in seen]
    place = {key: at for at, key in enumerate(keys)}
    vectors, most = asked.units(), int(run.options.get("most") or 100)
    taken = set(Ranking.objects.filter(run=run).values_list("query_id", flat=True))
    for at in range(0, len(asked.things), STEP):
        work.check()
        part = [n for n in range(at, min(at + STEP, len(asked.things))) if asked.things[n].pk not in taken]
        part = [n for n in part if np.any(vectors[n] != 0)]
        if run.task == Run.Task.FORCED_CHOICE:
            ranked_lists = list(_choices(run, [asked.things[n] for n in part], vectors[part], entries, place))
        else:
            scores = scoring.cosines(vectors[part], entries)
            lists = [scoring.top_k(row, keys, most) for row in scores]
            ranked_lists = [(asked.things[n].pk, *found) for n, found in zip(part, lists, strict=True)]
        with transaction.atomic():
            Ranking.objects.bulk_create(Ranking(run=run, query_id=pk, keys=k, scores=s) for pk, k, s in ranked_lists)
        yield min(at + STEP, len(asked.things))


def _choices(
    run: Run, things: Sequence[EncodeInput], vectors: scoring.Floats, entries: scoring.Floats, place: Mapping[str, int]
) -> Iterator[tuple[int, list[str], list[float]]]:
    """Similarities of each query's candidates; a query with a candidate that could not be read has none."""
    roles = dict(Query.objects.filter(pk__in=[thing.pk for thing in things]).values_list("pk", "roles"))
    for thing, vector in zip(things, vectors, strict=True):
        keys = sorted(roles[thing.pk].values())
        if all(key in place for key in keys):
            scores = scoring.cosines(vector[None], entries[[place[key] for key in keys]])[0]
            yield thing.pk, *scoring.top_k(scores, keys, len(keys))


def _finish(work: JobContext, run: Run, encoder: clip.ClipEncoder, entry_encoding: Encoding, asked: Encoding) -> None:
    """A run with a picture that could not be read, or without a query of its set, counts only where that was said."""
    unread = entry_encoding.unread() + asked.unread()
    rows = (
        Ranking.objects.filter(run=run).count()
        if asked.things
        else len(entry_encoding.things) - entry_encoding.unread()
    )
    missing = len(asked.things) - rows if asked.things else 0
    facts = {
        "rows": rows,
        "missing": missing,
        "unread": unread,
        "numbers": encoder.dimensions,
        "vectors": entry_encoding.name,
    }
    with transaction.atomic():
        locked_run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if Entry.objects.filter(collection=run.collection).count() != len(entry_encoding.things):
            raise JobFailed(_("Entries were added to the collection meanwhile. Start a new run."))
        locked_run.options = {**locked_run.options, **facts}
        locked_run.revision = encoder.digest[:12]
        locked_run.complete = (
            not locked_run.withdrawn_at and rows > 0 and (not unread or bool(locked_run.options.get("some_missing")))
        )
        locked_run.state, locked_run.finished_at, locked_run.stopped_because = Run.State.DONE, timezone.now(), ""
        locked_run.save(update_fields=["options", "revision", "complete", "state", "finished_at", "stopped_because"])
        if locked_run.complete:
            add_model_info(
                locked_run.rater, locked_run.options.get("about", {}), work.job.created_by, run.benchmark.scope
            )
        scope, target = run.benchmark.scope, f"run:{run.pk}"
        record(work.job.created_by, "run.finished", scope=scope, target=target, implied=True, **facts)
    if unread and not locked_run.complete:
        text = _(
            "The run is not counted: %(n)s pictures could not be read. Withdraw them, or run it again without them."
        )
        work.note(text % {"n": unread})


def next_link(job: Job) -> NextLink | None:
    run = Run.objects.select_related("benchmark").filter(pk=job.params.get("run")).first()
    if run is None:
        return None
    if run.complete and run.task != Run.Task.EMBEDDING:
        return NextLink(_("View tables"), reverse("evaluation:tables", args=[run.benchmark.slug]))
    return NextLink(_("View encoder runs"), reverse("predictions:encode", args=[run.benchmark.slug]))


DRIVE = JobKind(KIND, drive, next_link)
