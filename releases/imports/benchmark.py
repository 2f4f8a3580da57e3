"""The benchmark that a release becomes, and its counters once all rows are there."""

import secrets
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef
from django.utils.translation import gettext as _

from annotation.models import CampaignCohort, Tally
from annotation.queries.answers import watermark
from annotation.services.queue.recount import recount_cohorts
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.models import Benchmark, Role, Stage
from jobs.models import Job, record
from predictions.models import Embedding, Run
from predictions.queries.results import VECTORS_LEFT_OUT
from releases.imports.state import ImportState
from releases.imports.values import parse_line, plain_values

LATER = ("purpose", "citation", "licence", "recipe_version")
"""What a later version of the release may change."""


def write_benchmark(state: ImportState, line: bytes) -> None:
    """Create it, or bring its texts up to date. Needs a transaction. Raises SourceProblem."""
    kind = state.kinds["benchmark"]
    try:
        values = plain_values(kind, parse_line(kind, line))
    except RowProblem as problem:
        raise SourceProblem(f"site/benchmark.jsonl: {problem.message}") from problem
    if state.release_import.benchmark_id is None:
        state.release_import.benchmark = _create(state, values)
        state.release_import.save(update_fields=["benchmark"])
    else:
        later = {name: values[name] for name in LATER if name in values}
        Benchmark.objects.filter(pk=state.benchmark.pk).update(**later)


def _create(state: ImportState, values: Mapping[str, Any]) -> Benchmark:
    own = {"name": state.release_import.name, "slug": state.release_import.slug, "team": state.team}
    own |= {"pseudonym_key": secrets.token_hex(16), "imported": True, "created_by": state.actor}
    benchmark = Benchmark(**{**values, **own})
    try:
        with transaction.atomic():
            benchmark.save(force_insert=True)
    except IntegrityError as error:
        text = _("The address “%(slug)s” was taken meanwhile. Import the release again with another one.")
        raise SourceProblem(text % {"slug": benchmark.slug}) from error
    if state.actor is not None:
        Role.objects.create(benchmark=benchmark, user=state.actor, name=Role.Name.OWNER)
    if state.release_import.job is not None:
        Job.objects.filter(pk=state.release_import.job.pk).update(scope=benchmark.scope)
    data: dict[str, Any] = {"version": state.release_import.version, "source": state.release_import.source}
    record(state.actor, "release.imported", scope=benchmark.scope, target=benchmark.slug, **data)
    return benchmark


def finish(state: ImportState, stated_watermark: int) -> None:
    """Count what was answered, and let the watermark go on from the release's. A later version raises it in any case,
    so that no number of before is taken for one of now. Needs a transaction."""
    cohorts = CampaignCohort.objects.filter(campaign__stage__benchmark=state.benchmark).order_by("pk")
    ids = list(cohorts.values_list("pk", flat=True))
    recount_cohorts(ids)
    _note_missing_vectors(state.benchmark)
    is_later = state.release_import.manifest.get("later", False)
    missing = max(stated_watermark - watermark(state.benchmark), int(is_later))
    if missing > 0 and ids:
        Tally.objects.filter(cohort=ids[0], shard=0).update(changes=F("changes") + missing)
    elif missing > 0:
        stages = Stage.objects.filter(benchmark=state.benchmark).order_by("pk")
        Stage.objects.filter(pk__in=stages.values("pk")[:1]).update(changes=F("changes") + missing)
    state.release_import.finished_at = state.at
    state.release_import.save(update_fields=["finished_at"])


def _note_missing_vectors(benchmark: Benchmark) -> None:
    """Tables that need them say so."""
    runs = Run.objects.filter(benchmark=benchmark, task=Run.Task.EMBEDDING)
    for run in runs.filter(~Exists(Embedding.objects.filter(run=OuterRef("pk")))):
        Run.objects.filter(pk=run.pk).update(options=run.options | {VECTORS_LEFT_OUT: True})
