"""Files through the doors of predictions, as a worker takes them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from jobs.models import Job
from jobs.services import runner
from predictions.models import Collection, Run
from predictions.services.collections import collection_import
from predictions.services.runs import result_runs
from predictions.services.runs.result_runs import RunFileInfo
from tests.personas import World

Rows = Sequence[Mapping[str, Any]]
ENTRIES: Rows = [{"kind": "entry", "key": key, "country": country} for key, country in (
    ("e1", "Egypt"), ("e2", "Brazil"), ("e3", "Egypt"), ("e4", "Japan"),
)]  # fmt: skip
QUERIES: Rows = [
    {"kind": "query", "key": "q1", "query_set": "plain", "text": "bread", "relevant": ["e1", "e3"],
     "roles": {"correct": "e1", "language_biased": "e2"}},
    {"kind": "query", "key": "q2", "query_set": "plain", "text": "tea", "relevant": "e2|e4",
     "role.correct": "e2", "role.language_biased": "e4", "concept": "tea"},
]  # fmt: skip


def jsonl(rows: Rows) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def run_job(job: Job) -> Job:
    runner.run(job.pk)
    job.refresh_from_db()
    return job


def a_collection(world: World, data: bytes | None = None, *, version: str = "1", name: str = "Dishes") -> Job:
    upload = SimpleUploadedFile("dishes.jsonl", jsonl([*ENTRIES, *QUERIES]) if data is None else data)
    facts = {"key": "dishes", "version": version, "name": name, "licence": "CC BY 4.0"}
    return run_job(collection_import.start(world.benchmark, world.mara, upload, **facts))


def run_info(**more: Any) -> RunFileInfo:
    about = {"model": "CLIP", "setting": "main", "about": {}, "task": "retrieval", "query_set": "plain"}
    rest = {"system_prompt": "", "score_kind": "cosine"}
    return RunFileInfo(**{"collection": Collection.objects.latest("pk"), **about, **rest, **more})


def a_run(world: World, data: bytes, **more: Any) -> Job:
    job = result_runs.start(world.benchmark, world.mara, SimpleUploadedFile("run.jsonl", data), run_info(**more))
    assert job is not None
    return run_job(job)


def run_of(job: Job) -> Run:
    return Run.objects.get(pk=job.params["run"])
