"""LAVE over the authors' own demonstrations: the filter of references as they wrote it, and unreadable replies counted.

Without the folder of shared data this is skipped, loudly.
"""

import csv
import io
import json
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item
from benchmarks.services.benchmarks import create_from_recipe
from evaluation.rendering.report import Rounding
from papers.culturalvqa.metrics import lave_accuracy, scores_of
from papers.culturalvqa.prompts import lave
from people.models import Rater
from predictions.models import Call, Reply
from predictions.services.runs.engine import retries
from tests.personas import World, stand_in
from tests.predictions.model_server import Act, ReceivedRequest, Server
from tests.predictions.request_helpers import a_plan, an_endpoint, drive_run, start_run, states

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "lave"
FILES = ("lave_demos.json", "lave_demos_binary.json")
SCALE = {"1": "Incorrect or irrelevant", "2": "Ambiguous or incomplete", "3": "Correct"}
MUTE = {3: "", 7: "I cannot tell.", 11: "At first rating=3, on reflection rating=1.", 19: "rating=5"}
STATES = {"answered": 20, "no_response": 1, "refused": 1, "unparseable": 1, "out_of_range": 1}
COUNTRIES = ("Brazil", "Egypt")


@pytest.fixture(scope="module")
def demos() -> list[dict[str, Any]]:
    if not all((DATA / name).exists() for name in FILES):
        warnings.warn(f"LAVE was not judged on its demonstrations: {DATA} is not here", stacklevel=1)
        pytest.skip("the demonstrations of LAVE are not here")
    found = [one for name in FILES for one in json.loads((DATA / name).read_text(encoding="utf-8"))]
    assert len(found) == 24
    return found


@pytest.fixture
def campaign(world: World, demos: list[dict[str, Any]]) -> Campaign:
    benchmark = create_from_recipe(world.team, "culturalvqa", "VQA", "vqa", world.owner)
    stage = benchmark.stages.get(key="lave")
    options = [{"code": code, "label": {"en": words}} for code, words in SCALE.items()]
    stage.sheet = {
        "fields": [{**stage.sheet["fields"][0], "config": {**stage.sheet["fields"][0]["config"], "options": options}}]
    }
    stage.save()
    for number, demo in enumerate(demos):
        context = {
            "candidate": demo["prediction"], "references": demo["references"], "question": f"q{number}",
            "candidate_by": "model-a", "setting": "vlm", "facet": "food",
        }  # fmt: skip
        item = Item.objects.create(
            stage=stage, key=f"demo-{number:02}", text=demo["question"], origin=COUNTRIES[number % 2], context=context
        )
        stand_in([item])
    new_campaign = lifecycle.create(stage, "Judging", world.owner, {world.egypt: 1, world.brazil: 1}, seed=1)
    lifecycle.open_campaign(new_campaign, world.owner, timezone.now())
    new_campaign.refresh_from_db()
    return new_campaign


def parse_request(text: str) -> tuple[str, list[str], str]:
    """Question, references and candidate of the unit itself, which comes after the demonstrations."""
    tail = text.rsplit("Question: '", 1)[1]
    question, rest = tail.split("'\nReference answers: ", 1)
    references, rest = rest.split("\nCandidate answer:\n", 1)
    return question, re.findall(r"'([^']*)'", references), rest


def as_the_authors(references: list[str]) -> list[str]:
    """Those that are given more than a quarter as often as the commonest."""
    seen = Counter(references)
    return sorted(one for one in references if seen[one] > 0.25 * max(seen.values()))


def drive_lave_run(
    world: World, campaign: Campaign, server: Server, monkeypatch: pytest.MonkeyPatch, demos: Any
) -> Any:
    monkeypatch.setattr(retries, "BACKOFF", 0.02)
    by_question = {(one["question"], one["prediction"]): n for n, one in enumerate(demos)}
    assert len(by_question) == 24

    def judge(asked: ReceivedRequest) -> Act:
        question, _references, rest = parse_request(asked.text)
        number = next(n for (q, candidate), n in by_question.items() if q == question and candidate in rest)
        gold = demos[number]
        return Act(text=MUTE.get(number, f"{gold['explanation']} So rating={gold['output']}"))

    server.answer_by(judge)
    endpoint = an_endpoint(world, server.base_url, {"scripted": {"in": "1", "out": "2"}})
    return drive_run(start_run(world, a_plan(campaign, endpoint, lave.ORIGINAL)))


def test_the_original_judge_over_its_own_demonstrations(
    world: World, campaign: Campaign, scripted_server: Server, monkeypatch: pytest.MonkeyPatch, demos: Any
) -> None:
    run = drive_lave_run(world, campaign, scripted_server, monkeypatch, demos)
    assert (run.state, states(run)) == ("done", STATES)
    gold = [None if n in MUTE else one["output"] for n, one in enumerate(demos)]
    answers = dict(Call.objects.filter(run=run, state="answered").values_list("item__key", "annotation__answers__lave"))
    assert [answers.get(f"demo-{n:02}") for n in range(24)] == gold, "what cannot be read has no value"
    for reply in Reply.objects.filter(pk__in=[pk for call in run.calls.all() for pk in call.replies]):
        text = json.dumps(reply.request, ensure_ascii=False)
        assert "rating=X" in text
    for call in run.calls.select_related("item"):
        [request] = [one.text for one in scripted_server.asked if _is_about(one.text, call.item)]
        _question, references, _rest = parse_request(request)
        wanted = [one.replace("'", "’") for one in as_the_authors(call.item.context["references"])]
        assert references == wanted, call.item.key
        assert ("Is the shop open?" in request) == lave.is_binary(call.item.context["references"])


def _is_about(text: str, item: Item) -> bool:
    question, _references, rest = parse_request(text)
    return question == item.text and str(item.context["candidate"]) in rest


def test_unreadable_replies_are_left_out_with_the_worst_and_the_best_case(
    world: World, campaign: Campaign, scripted_server: Server, monkeypatch: pytest.MonkeyPatch, demos: Any
) -> None:
    drive_lave_run(world, campaign, scripted_server, monkeypatch, demos)
    gold = [None if n in MUTE else one["output"] for n, one in enumerate(demos)]
    wanted = lave_accuracy(scores_of(gold, "1-3"), [f"q{n}" for n in range(24)])
    assert wanted.extras["n_unreadable"] == 4
    client = world.client(world.owner)
    page = client.get("/b/vqa/tables/facets/?scale=1-3").content.decode()
    ends = [Rounding(1, 100).text(wanted.extras[end]) for end in ("worst", "best")]
    assert f"left out 4; between {ends[0]} and {ends[1]}" in page, re.findall(r"left out[^<]+", page)
    assert Rater.objects.get(kind="model").name == "scripted"
    data = b"".join(client.get("/b/vqa/tables/facets.csv?scale=1-3")).decode()  # type: ignore[call-overload]
    [row] = [one for one in csv.DictReader(io.StringIO(data)) if one["value"]]
    assert row["left_out"] == "4" and float(row["value"]) == pytest.approx(wanted.value)
    assert [float(row[end]) for end in ("worst", "best")] == [wanted.extras[end] for end in ("worst", "best")]
