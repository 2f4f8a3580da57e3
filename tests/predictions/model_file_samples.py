"""Files of a model's answers as harnesses write them, and the door they come in by."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Campaign
from jobs.models import Job
from predictions.imports.samples import FileDescription
from predictions.models import Run
from predictions.services.files import answer_import as door
from predictions.services.files.answer_import import ModelInfo
from predictions.services.files.answer_samples import AnswerFile
from tests.personas import World
from tests.predictions.file_helpers import run_job

Row = Mapping[str, Any]


def lm_eval(doc: Row, reply: Any, *, number: int = 0, filtered: Any = None, filter_: str = "none") -> dict[str, Any]:
    """A line as lm-evaluation-harness 0.4 writes it."""
    return {
        "doc_id": number, "doc": doc, "target": "4", "arguments": {"gen_args_0": {"arg_0": "Rate it."}},
        "resps": [[reply]], "filtered_resps": [reply if filtered is None else filtered], "filter": filter_,
        "metrics": ["exact_match"], "exact_match": 0.0, "doc_hash": "d", "prompt_hash": "p", "target_hash": "t",
    }  # fmt: skip


def jsonl(rows: Sequence[Row]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def inspect(samples: Sequence[Row], model: str = "openai/tiny") -> bytes:
    """A log as `inspect log dump` writes it."""
    log = {"version": 2, "status": "success", "eval": {"model": model, "task": "rate"}, "plan": {"steps": []},
           "results": {"scores": []}, "stats": {}, "samples": list(samples), "reductions": []}  # fmt: skip
    return json.dumps(log, indent=2).encode()


def sample(key: Any, reply: str, *, epoch: int = 1, answer: str = "", metadata: Row | None = None) -> dict[str, Any]:
    return {
        "id": key, "epoch": epoch, "input": "Rate it.", "target": "4", "metadata": metadata or {}, "messages": [],
        "output": {"model": "tiny", "choices": [{"message": {"role": "assistant", "content": reply}}],
                   "completion": reply},
        "scores": {"match": {"value": "C", "answer": answer, "explanation": reply}},
    }  # fmt: skip


def store_file(data: bytes, names: bytes | None = None) -> AnswerFile:
    sent = None if names is None else SimpleUploadedFile("instances.json", names)
    return door.store_upload(SimpleUploadedFile("answers", data), sent)


def import_file(
    world: World, campaign: Campaign, file: AnswerFile, *, model: str = "tiny-vlm", setting: str = "", **settings: Any
) -> Job:
    about = ModelInfo(model, setting, {})
    description = FileDescription(**{"key": "doc.id", "field": "relevance", **settings})
    job = door.start(campaign, world.mara, file, description, about, title="answers")
    assert job is not None, "this file was there"
    return run_job(job)


def run_of(job: Job) -> Run:
    return Run.objects.get(pk=job.params["run"])
