"""Surveys for tests: eight invented questions with the traps of real ones, and the World Values Survey where it is."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from benchmarks.models import Benchmark
from benchmarks.services.benchmarks import create_from_recipe
from jobs.models import Job
from jobs.services import runner
from papers.valueground.recipe import LABELLED
from papers.valueground.survey.models import Survey, SurveyQuestion
from tests.personas import World

WVS = Path(__file__).parents[4] / "shared" / "data" / "wvs7"
NONE = {"-1": "Don't know", "-2": "No answer"}
CODEBOOK: dict[str, Any] = {
    "version": {"question": "Version of the file", "type": "objective", "choices": {"x": "1-0-0"}},
    "Q10": {"question": "Trust in people", "choices": {"2": "Be careful", "1": "Can be trusted", **NONE}},
    "Q2": {"question": "Living standard", "choices": {"1": "Better", "2": "Worse", "3": "About the same", **NONE}},
    "Q3": {"question": "Membership of a choir", "choices": {"0": "Not a member", "1": "Passive", "2": "Active"}},
    "Q4": {"question": "Growth or nature", "choices": {"1": "Nature", "2": "Growth", "3": "Other answer", **NONE}},
    "Q5": {"question": "Tax the rich", "choices": {"0": "Against", "1": "Not needed", "2": "Useful", "3": "Needed"}},
    "Q6": {"question": "A sense of humour in children", "choices": {"1": "Mentioned", "2": "Not mentioned"}},
    "Q7": {"question": "Age", "choices": dict(NONE)},
    "Q8": {"question": "Kind of school", "choices": {"1": "Village", "2": "Town"}},
}


def about(low: int, high: int, use: str = "value") -> dict[str, Any]:
    return {
        "question": f"On a scale of {low} to {high}, what do you think?", "category": "Values", "use_case": use,
        "answer_scale_min": low, "answer_scale_max": high, "answer_data_type": "ordinal",
    }  # fmt: skip


METADATA = {
    "Q10": about(1, 2), "Q2": about(1, 3), "Q3": about(0, 2), "Q4": about(1, 2), "Q5": about(1, 3), "Q6": about(1, 2),
    "Q7": {"question": "How old are you?", "use_case": "demographic", "answer_scale_min": "", "answer_scale_max": ""},
}  # fmt: skip
ADJUSTMENT = {"Q2": {"2": "3", "3": "2"}, "Q4": {"3": ""}, "Q5": {"0": "1"}}
Files = Mapping[str, Any]
EIGHT: Files = {"codebook": CODEBOOK, "metadata": METADATA, "adjustment": ADJUSTMENT}


def new_benchmark(world: World, slug: str = "valueground") -> Benchmark:
    return create_from_recipe(world.team, "valueground", "ValueGround", slug, world.owner)


def page_of(benchmark: Benchmark, key: str = "survey") -> str:
    return f"/b/{benchmark.slug}/pages/{key}/"


def upload(client: Client, benchmark: Benchmark, files: Files, state: str = "done", **more: Any) -> Job:
    """Post the form of the import page, and do the work. A file that is no text is written as JSON."""
    contents = {
        kind: ContentFile((data if isinstance(data, str) else json.dumps(data)).encode(), f"{kind}.txt")
        for kind, data in files.items()
    }
    posted = {"name": "Survey", "label_set": "countries", **more, **contents}
    reply = client.post(page_of(benchmark, "import"), posted)
    assert reply.status_code == 302, reply.content.decode()
    job = Job.objects.latest("pk")
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == state, (job.error, list(job.rows.values_list("name", "message")))
    return job


def wvs_files() -> dict[str, str]:
    """The files of the World Values Survey, as they are."""
    if not WVS.is_dir():
        pytest.skip("NO WORLD VALUES SURVEY HERE: ../shared/data/wvs7 is missing, its questions were not tried")
    names = {"codebook": "codebook", "metadata": "question_metadata", "adjustment": "answer_adjustment"}
    return {kind: (WVS / f"wvs7_{name}.json").read_text() for kind, name in names.items()}


def questions_of(survey: Survey) -> dict[str, SurveyQuestion]:
    return {question.key: question for question in survey.questions.all()}


def random_counts(codes: Mapping[str, list[int]], seed: int) -> dict[str, dict[str, dict[str, int]]]:
    """Counts of 13 countries for each code of some questions."""
    rng = random.Random(seed)
    return {
        key: {country: {str(code): rng.randint(1, 400) for code in chosen} for country in LABELLED}
        for key, chosen in codes.items()
    }


def write_files(folder: Path, files: Files) -> dict[str, Path]:
    """The files as somebody has them on a disk, by kind."""
    paths = {}
    for kind, data in files.items():
        paths[kind] = folder / f"{kind}.json"
        paths[kind].write_text(data if isinstance(data, str) else json.dumps(data))
    return paths
