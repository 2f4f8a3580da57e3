"""One unreadable question does not throw away the others: they are kept, counted and marked everywhere."""

import json
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Rating
from jobs.services import runner
from people.services.raters import rater_of
from predictions.models import Call, Run
from predictions.prompts.registry import prompt
from predictions.services.runs import answer_runs
from predictions.services.runs.engine import retries
from tests.annotation.chain.factories import a_field, answer, claim_sheet, points
from tests.personas import World
from tests.predictions.model_server import Act, Server
from tests.predictions.request_helpers import a_campaign, a_plan, an_endpoint, drive_run, start_run, states
from tests.predictions.test_run_ends import load_run_page
from tests.releases.test_export_runs import exported_rows

pytestmark = pytest.mark.django_db
RATINGS = ("colour", "dress", "food", "place", "music")
GOOD = dict.fromkeys(RATINGS, "2")
BOX = {"x0": 0.1, "y0": 0.1, "x1": 0.5, "y1": 0.5}
EMPTY = {"x0": 0.3, "y0": 0.3, "x1": 0.3, "y1": 0.3}


@pytest.fixture
def ask(world: World, scripted_server: Server, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A run over one picture for each reply; the sheet has five ratings and a box."""
    monkeypatch.setattr(retries, "BACKOFF", 0.02)

    def ask(*replies: dict[str, Any]) -> Run:
        stage = world.stage
        box = a_field("box", "box", least=1, most=1)
        stage.sheet = {"fields": [*(points(key, 1, 2, 3) for key in RATINGS), box]}
        stage.save()
        campaign = a_campaign(world, len(replies), images=True)
        for _item in replies:
            answer(claim_sheet(rater_of(world.nour), campaign, world.egypt), **GOOD, box=[BOX])
        scripted_server.answer_by(lambda asked: Act(text=json.dumps(replies[asked.number - 1])))
        endpoint = an_endpoint(world, scripted_server.base_url, offers=["images"], most_in_flight=1)
        return drive_run(start_run(world, a_plan(campaign, endpoint, prompt("sheet"))))

    return ask


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ({"box": [EMPTY]}, "box: The box has no area"),
        ({"box": []}, "box:"),
        ({"box": None}, "leaves a question of the sheet without an answer"),
        ({}, "leaves a question of the sheet without an answer"),
    ],
)
def test_one_bad_box_keeps_five_ratings(world: World, ask: Any, broken: dict[str, Any], why: str) -> None:
    run = ask({**GOOD, **broken})
    [call] = run.calls.all()
    assert (run.state, call.state, call.reason, set(call.notes["incomplete"])) == (
        "done", "answered", "incomplete", {"box"},
    )  # fmt: skip
    assert call.annotation.answers == GOOD and call.annotation.counted
    assert set(Rating.objects.filter(rater=run.rater).values_list("field", flat=True)) == set(RATINGS)
    page = load_run_page(world, run)
    assert "1 of them incomplete" in page and "Answered, incomplete" in page
    assert "Without a readable answer: box" in page and why in page


def test_a_code_outside_the_scale_is_named_and_the_rest_counts(world: World, ask: Any) -> None:
    run = ask({**GOOD, "food": "9", "box": [BOX]}, {**GOOD, "box": [BOX]})
    first, second = run.calls.order_by("pk")
    assert first.notes["incomplete"] == {"food": "outside_scale"} and second.reason == ""
    assert Rating.objects.filter(rater=run.rater, field="food").count() == 1
    assert Rating.objects.filter(rater=run.rater, field="music").count() == 2
    only = load_run_page(world, run, "?state=incomplete")
    assert only.count('role="rowheader"') == 1 and "food: The reply is out of range" in only
    of_call = load_run_page(world, run, f"calls/{first.pk}/")
    assert "Answered, incomplete" in of_call and "Questions without a readable answer" in of_call


def test_a_reply_without_any_readable_answer_has_no_value(world: World, ask: Any) -> None:
    run = ask({**dict.fromkeys(RATINGS, "9"), "box": [EMPTY]})
    assert run.state == "failed" and states(run).keys() <= {"unparseable", "out_of_range"}
    assert not Annotation.objects.filter(rater=run.rater).exists()


def test_numbers_count_the_readable_fields_and_say_so(world: World, ask: Any) -> None:
    ask({**GOOD, "box": [EMPTY]}, {**GOOD, "food": "9", "box": [BOX]}, {**GOOD, "box": [BOX]})
    client = world.client(world.mara)
    base = f"/b/{world.benchmark.slug}/models"

    def numbers(field: str) -> dict[str, Any]:
        return client.get(f"{base}.json", {"field": field}).json()["models"][0]  # type: ignore[no-any-return]

    music, food = numbers("music"), numbers("food")
    assert (music["answered"]["value"], music["answered"]["n_units"], music["left_out"]["n"]) == (1.0, 3, 0)
    assert (food["answered"]["n_units"], food["left_out"]["states"]) == (3, {"unparseable": 1})
    assert food["answered"]["value"] == pytest.approx(2 / 3) and food["ways"] == {"text": 2}
    assert music["incomplete"] == food["incomplete"] == 2
    page = client.get(f"{base}/", {"field": "food"}).content.decode()
    assert "2 replies are incomplete" in page and "Left out 1: unreadable reply 1" in page
    assert "2 replies are incomplete" not in client.get(f"{base}.csv").content.decode()
    assert "incomplete" in client.get(f"{base}.csv").content.decode().splitlines()[0]


def test_the_exports_have_the_mark(world: World, ask: Any) -> None:
    run = ask({**GOOD, "box": [EMPTY]}, {**GOOD, "box": [BOX]})
    address = f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/calls.jsonl"
    reply = world.client(world.mara).get(address)
    lines = [json.loads(line) for line in b"".join(reply.streaming_content).splitlines()]
    assert [line["reason"] for line in lines] == ["incomplete", ""] and "box" in lines[0]["notes"]["incomplete"]
    rows = [one for one in exported_rows(world, "jsonl") if one["rater_kind"] == "model"]
    assert sorted(set(one["incomplete"]) == {"box"} for one in rows) == [False, True]
    people = [one for one in exported_rows(world, "jsonl") if one["rater_kind"] == "person"]
    assert {one["incomplete"] for one in people} == {None}


def test_replies_thrown_away_before_are_kept_when_read_again(world: World, ask: Any) -> None:
    run = ask({**GOOD, "box": [EMPTY]})
    Annotation.objects.filter(rater=run.rater).update(live=False, counted=False, uncounted_because="withdrawn")
    Rating.objects.filter(rater=run.rater).update(live=False, counted=False)
    Call.objects.filter(run=run).update(state="unparseable", reason="sheet", annotation=None)
    Run.objects.filter(pk=run.pk).update(state="failed")
    runner.run(answer_runs.start_reparse(run, world.mara, timezone.now()).pk)
    run.refresh_from_db()
    assert (run.state, states(run)) == ("done", {"answered": 1})
    assert Rating.objects.filter(rater=run.rater, counted=True).count() == 5
