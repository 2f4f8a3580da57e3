"""Simulated people and models, named so: how they answer sheets, review, and what comes in as a model's run.

None of the models ever saw a picture: each knows what the simulated people would say, and errs as much as its noise.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from django.core.files.base import ContentFile

import annotation.services.answers.submit as answers
import annotation.services.queue.next_work as allocation
from annotation.models import Annotation, Assignment, Campaign
from annotation.services.campaigns import lifecycle
from annotation.services.derivation import derived_items
from annotation.services.queue.leases import release_expired
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.services import storage
from demo.context import ANSWERED_BEFORE, SEED, WARNINGS, Demo, DemoError, Row, finish, json_lines
from jobs.models import Job
from predictions.imports.samples import FileDescription
from predictions.models import Collection, Entry, Query, Run
from predictions.services.files import answer_import
from predictions.services.files.answer_import import ModelInfo
from predictions.services.files.answer_samples import RATINGS, AnswerFile
from predictions.services.runs import result_runs

Reply = Callable[["SimulatedSheet"], Mapping[str, Any] | str | None]
"""What a simulated person answers: fields, a reason to skip, or None to leave."""
Scores = Callable[[Query, Random, float], Mapping[str, float]]
"""The score of each entry for a query, by its key; the number is the noise of the model."""
NUMBERS = 8  # of a vector
WRITERS, OTHERS = slice(0, 3), slice(3, 6)
"""Of the six people of a cohort: those who make things, and those who answer what the first ones made."""


@dataclass(frozen=True)
class Model:
    """A simulated model. `noise` is how far it strays from what people say."""

    name: str
    noise: float
    about: Mapping[str, Any] = field(default_factory=dict, compare=False)


HERON = Model("Simulated Heron", 0.5, {"family": "Simulated, large", "open": False, "released": "2026-03-01"})
WREN = Model("Simulated Wren", 1.0, {"family": "Simulated, small", "open": True, "released": "2026-06-01"})
MODELS = (HERON, WREN)
JUDGE = Model("Simulated judge", 0.2, {"family": "Simulated, large", "open": False, "released": "2026-01-01"})


@dataclass(frozen=True)
class SimulatedSheet:
    """An item in the hands of a simulated person of a cohort; `number` counts their sheets from 0."""

    assignment: Assignment
    label: str
    number: int
    rng: Random

    @property
    def item(self) -> Item:
        return self.assignment.unit.item


def answer_sheets(
    demo: Demo, campaign: Campaign, reply: Reply, *, people: slice = WRITERS, most: int, labels: Iterable[str] = ()
) -> int:
    """Simulated people of each cohort answer up to `most` sheets each; return how many were answered or skipped."""
    sheets = 0
    lifecycle.add_slots(campaign)  # of items that came since, as a worker does
    for cohort in campaign.cohorts.select_related("cohort").order_by("cohort__label"):
        label = cohort.cohort.label
        if labels and label not in labels:
            continue
        for rater in demo.raters[label][people]:
            rng = Random(f"{SEED}/{campaign.name}/{label}/{rater.pk - demo.raters[label][0].pk}")
            at = demo.now - ANSWERED_BEFORE - timedelta(hours=rng.uniform(1, 60))
            work = allocation.get_or_claim_work(rater, cohort, at)
            for number in range(most):
                assignment = work.current
                if assignment is None:
                    break
                at += timedelta(seconds=rng.uniform(8, 40))
                raw = reply(SimulatedSheet(assignment, label, number, rng))
                if raw is None:
                    break
                if isinstance(raw, str):
                    work = answers.skip(assignment, rater, raw, "", at)
                else:
                    seconds = rng.uniform(4, 20)
                    submission = answers.Submission(
                        raw=raw,
                        client_key=secrets.token_hex(16),
                        shown_at=at - timedelta(seconds=seconds),
                        active_seconds=round(seconds, 1),
                        confirmed=tuple(f"{key}:{code}" for key in raw for code in WARNINGS),
                    )
                    work = answers.submit(assignment, rater, submission, at).work
                sheets += 1
            release_expired(demo.now)  # what they hold now, others may have
    return sheets


def derive(demo: Demo) -> None:
    """Make the items of later stages out of what was accepted, as the worker does after each answer."""
    derived_items.process_due(demo.now)


def stage_of(slug: str, key: str) -> Stage:
    return Stage.objects.select_related("benchmark__team").get(benchmark__slug=slug, key=key)


def benchmark_of(slug: str) -> Benchmark:
    return Benchmark.objects.get(slug=slug)


def campaign_of(slug: str, key: str) -> Campaign:
    """The stage's campaign, which the opening of the chain made."""
    rows = Campaign.objects.filter(stage__benchmark__slug=slug, stage__key=key)
    return rows.select_related("stage__benchmark__team").latest("pk")


def items_of(slug: str, key: str) -> list[Item]:
    """The stage's items that count, by key."""
    return list(Item.objects.filter(stage__benchmark__slug=slug, stage__key=key, withdrawn_at=None).order_by("key"))


def people_answers(campaign: Campaign) -> list[Annotation]:
    """Answers of simulated people that count, in the order of their items."""
    rows = Annotation.objects.filter(assignment__campaign=campaign, live=True, rater__kind="person")
    rows = rows.select_related("assignment__unit__item", "rater")
    return list(rows.order_by("assignment__unit__item__origin", "assignment__unit__item__concept", "pk"))


def import_model_run(demo: Demo, campaign: Campaign, model: Model, setting: str, rows: Iterable[Row]) -> Run:
    """A finished run of a model out of a file of answers. Raises DemoError."""
    name = storage.keep_upload(ContentFile(json_lines(rows), name=f"{model.name}.jsonl"))
    job = answer_import.start(
        campaign, demo.actor, AnswerFile(name=name, format=RATINGS), FileDescription(),
        ModelInfo(model.name, setting, model.about), title=f"{model.name}, {setting}" if setting else model.name,
    )  # fmt: skip
    if job is None:
        raise DemoError(f"{campaign.name}: the run of {model.name} is there already")
    finish(job)
    return Run.objects.get(pk=job.params["run"])


def answer_of(item: Item, answer: Mapping[str, Any], *, target: str = "") -> dict[str, Any]:
    """A row of a file of a model's answers."""
    return {"item": item.key, "answers": dict(answer)} | ({"target": target} if target else {})


def import_ranked_lists(
    demo: Demo,
    collection: Collection,
    model: Model,
    task: str,
    query_set: str,
    scores: Scores,
    *,
    system_prompt: str = "",
    setting: str = "",
) -> None:
    """A run of a model over the queries of a set: `scores` gives the score of each entry. Raises DemoError."""
    rng = Random(f"{SEED}/{collection.benchmark.slug}/{task}/{query_set}/{system_prompt}/{model.name}/{setting}")
    queries = Query.objects.filter(collection=collection, query_set=query_set).order_by("key")
    rows = []
    for query in queries:
        scored = scores(query, rng, model.noise)
        rows.append(
            {"query": query.key, "keys": list(scored), "scores": [round(value, 6) for value in scored.values()]}
        )
    file_info = result_runs.RunFileInfo(
        collection=collection, model=model.name, setting=setting, about=model.about, task=task, query_set=query_set,
        system_prompt=system_prompt, score_kind="simulated",
    )  # fmt: skip
    file = ContentFile(json_lines(rows), name=f"{model.name}.jsonl")
    job = result_runs.start(collection.benchmark, demo.actor, file, file_info)
    if job is None:
        raise DemoError(f"{collection.name}: the run of {model.name} is there already")
    finish(job)


def finish_waiting_jobs(benchmark: Benchmark) -> None:
    """Do what a service left to the worker, such as the comparison of pictures that a filter needs."""
    for job in Job.objects.filter(scope=benchmark.scope, state=Job.State.QUEUED).order_by("pk"):
        finish(job)


def import_embeddings(demo: Demo, collection: Collection, model: Model) -> None:
    """A vector of each entry: those of one concept lie near each other, and those of one country a little."""
    rows = []
    for entry in Entry.objects.filter(collection=collection).order_by("key"):
        rng = Random(f"{SEED}/{model.name}/{entry.key}")
        concept, country = (Random(f"{SEED}/{entry.about.get(name)}") for name in ("concept", "country"))
        own = [rng.gauss(0, 0.3 * model.noise) for _number in range(NUMBERS)]
        vector = [concept.gauss(0, 1) + 0.4 * country.gauss(0, 1) + value for value in own]
        rows.append({"key": entry.key, "vector": [round(value, 4) for value in vector]})
    file_info = result_runs.RunFileInfo(
        collection=collection, model=model.name, setting="", about=model.about, task=Run.Task.EMBEDDING, query_set="",
        system_prompt="", score_kind="simulated",
    )  # fmt: skip
    file = ContentFile(json_lines(rows), name=f"{model.name}.jsonl")
    job = result_runs.start(collection.benchmark, demo.actor, file, file_info)
    if job is None:
        raise DemoError(f"{collection.name}: the vectors of {model.name} are there already")
    finish(job)
