"""A plugin's own rows by REST: the survey and the builds of ValueGround, as its pages and releases have them."""

import json
from typing import Any

import pytest

from benchmarks.models import Benchmark
from papers.valueground.survey.models import SurveyQuestion
from tests.api.clients import pages, program
from tests.api.test_protocol import problem
from tests.module_world import built_once
from tests.papers.valueground.pair_samples import add_build, add_plan, confirm
from tests.papers.valueground.survey_samples import EIGHT, new_benchmark, upload
from tests.personas import World

pytestmark = pytest.mark.django_db
STREAM = {"accept": "application/x-ndjson"}
KINDS = ("surveys", "survey-questions", "survey-counts", "option-pairs", "build-plans", "build-sources", "builds",
         "build-steps")  # fmt: skip


@built_once
def benchmark(world: World) -> Benchmark:
    """With a survey, and a build of one of its questions. Another benchmark of the team has a survey, too."""
    for slug in ("valueground", "other"):
        benchmark = new_benchmark(world, slug)
        upload(world.client(world.owner), benchmark, EIGHT)
        (question,) = confirm(benchmark, "Q10")
        add_build(add_plan(benchmark, world.owner, [question]), question, "heron", "accepted")
    return Benchmark.objects.get(slug="valueground")


def address(kind: str, slug: str = "valueground", plugin: str = "valueground") -> str:
    return f"/api/v1/benchmarks/{slug}/x/{plugin}/{kind}/"


def test_survey_and_builds_are_read_page_by_page_and_as_a_stream(world: World, benchmark: Benchmark) -> None:
    client = program(world.owner, "export")
    read = {kind: client.get(address(kind)).json()["results"] for kind in KINDS}
    assert [row["key"] for row in read["survey-questions"]] == ["Q10", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8"]
    assert read["survey-questions"][0]["state"] == SurveyQuestion.State.CONFIRMED
    assert [row["version"] for row in read["surveys"]] == [1], "of this benchmark alone"
    assert [row["key"] for row in read["build-sources"]] == ["heron", "wren"]
    (build,) = read["builds"]
    assert (build["question"], build["state"], build["option_a"]) == ([1, "Q10"], "accepted", "Can be trusted")
    assert not {"holder", "decided_by", "comment_by"} & set(build), "what is of the queue, and accounts"
    by_page = [row["key"] for page in pages(client, f"{address('survey-questions')}?page_size=3")
               for row in page["results"]]  # fmt: skip
    assert by_page == [row["key"] for row in read["survey-questions"]]
    reply: Any = client.get(address("survey-questions"), headers=STREAM)
    lines = [json.loads(line) for line in b"".join(reply.streaming_content).splitlines()]
    assert lines == read["survey-questions"] and reply["X-Emic-Rows"] == "8"
    assert client.get(f"{address('builds')}count/").json() == {"count": 1}
    for wrong in ("?state=accepted", "?changed_after=x"):
        assert (
            problem(client.get(address("builds") + wrong), 400, "invalid-request")["parameter"]
            == wrong[1:].partition("=")[0]
        )


def test_only_who_works_on_a_benchmark_of_the_plugin_reads_its_rows(world: World, benchmark: Benchmark) -> None:
    others = [program(user, "export") for user in (world.nour, world.manager, world.stranger, world.rival)]
    owner, weak = program(world.owner, "export"), program(world.owner, "read")
    for kind in KINDS:
        for path in (address(kind), f"{address(kind)}count/"):
            for client in others:
                problem(client.get(path), 404, "not-found")
            problem(weak.get(path), 403, "insufficient-scope")
        problem(owner.get(address(kind, world.benchmark.slug)), 404, "not-found")
    problem(owner.get(address("builds", plugin="xcm")), 404, "not-found")
