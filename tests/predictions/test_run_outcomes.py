"""How a run ends: failed without any answer, else with how many answered; and what a retry can change."""

from typing import Any

import pytest
from django.utils import timezone

from jobs.services import runner
from predictions.models import Call, Endpoint, Run
from predictions.services.runs import answer_runs
from predictions.services.runs.engine import retries
from predictions.texts.call_reasons import MISSING_INPUT, unfit
from tests.personas import World, draw_image
from tests.predictions import model_server
from tests.predictions.model_server import Act, Rule, Server
from tests.predictions.request_helpers import (
    Plainly,
    a_campaign,
    a_plan,
    an_endpoint,
    drive_run,
    start_run,
    states,
    use,
)
from tests.predictions.test_run_ends import load_run_page, post_action

pytestmark = pytest.mark.django_db


@pytest.fixture
def plain(monkeypatch: Any) -> Plainly:
    prompt = Plainly()
    use(monkeypatch, prompt)
    monkeypatch.setattr(retries, "BACKOFF", 0.02)
    monkeypatch.setattr(retries, "TRIES", 2)
    return prompt


@pytest.fixture
def asked(world: World, plain: Plainly, scripted_server: Server) -> Any:
    def asked(items: int, *rules: Rule, **more: Any) -> Run:
        scripted_server.rules(*rules)
        endpoint = an_endpoint(world, scripted_server.base_url)
        return drive_run(start_run(world, a_plan(a_campaign(world, items), endpoint, plain, **more)))

    return asked


def load_run_list(world: World) -> str:
    return world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/").content.decode()


def test_a_run_without_any_answer_has_failed(world: World, asked: Any) -> None:
    run = asked(3, Rule(model_server.PROSE))
    assert (run.state, run.complete, states(run)) == ("failed", True, {"unparseable": 3})
    page = load_run_page(world, run)
    assert '<span class="chip no">Failed</span>' in page and "ended without any answer" in page
    assert "Done" not in load_run_list(world) and "0 of 3" in load_run_list(world)


def test_a_run_with_some_answers_says_how_many(world: World, asked: Any) -> None:
    run = asked(4, Rule(model_server.PROSE, numbers=(1,)))
    assert run.state == "done" and "3 of 4 calls answered." in load_run_page(world, run)
    assert "3 of 4" in load_run_list(world)


def test_retry_and_reparsing_repair_a_failed_run(world: World, asked: Any, scripted_server: Server) -> None:
    run = asked(2, Rule(model_server.PROSE))
    scripted_server.rules()
    assert "2 calls are asked again" in post_action(world, run, do="retry", states=["unparseable"])
    assert drive_run(run).state == "done"
    Call.objects.filter(run=run).update(state="unparseable", reason="no_number")
    Run.objects.filter(pk=run.pk).update(state="failed")
    job = answer_runs.start_reparse(run, world.mara, timezone.now())
    runner.run(job.pk)
    run.refresh_from_db()
    assert (run.state, states(run)) == ("done", {"answered": 2})


def test_what_broke_on_the_way_is_offered_for_a_retry(world: World, asked: Any) -> None:
    run = asked(2, Rule(Act(status=500, error="Stumbled")))
    assert (
        run.state == "failed"
        and "Failed: 2" in load_run_page(world, run)
        and "Retry calls" in load_run_page(world, run)
    )


def test_what_was_missing_is_offered_only_once_it_is_there(
    world: World, monkeypatch: Any, scripted_server: Server
) -> None:
    prompt = Plainly(needs_images=True)
    use(monkeypatch, prompt)
    campaign = a_campaign(world, 3, images=True)
    endpoint = an_endpoint(world, scripted_server.base_url, offers=["images"])
    gone = [use for item in world.items[:2] for use in item.images.all()]
    for one in gone:
        one.delete()
    run = drive_run(start_run(world, a_plan(campaign, endpoint, prompt)))
    assert states(run) == {"failed": 2, "answered": 1}
    page = load_run_page(world, run)
    assert "Retry calls" not in page and "2 calls have no value, and a retry would not change that" in page
    assert "There was no such call" in post_action(world, run, do="retry", states=["failed"])
    draw_image(world.items[0])
    page = load_run_page(world, run)
    assert "Retry calls" in page and "1 call has no value, and a retry" in page
    assert "1 call is asked again" in post_action(world, run, do="retry", states=["failed"])
    assert states(drive_run(run)) == {"failed": 1, "answered": 2}


@pytest.mark.parametrize("gone", ["campaign", "endpoint", "address"])
def test_nothing_is_offered_where_nothing_can_be_asked_any_more(world: World, asked: Any, gone: str) -> None:
    run = asked(2, Rule(model_server.PROSE))
    if gone == "campaign":
        run.campaign.state, run.campaign.closed_at = "closed", timezone.now()
        run.campaign.save()
    else:
        changed = {"retired_at": timezone.now()} if gone == "endpoint" else {"base_url": "http://127.0.0.1:9/v2"}
        Endpoint.objects.filter(pk=run.endpoint.pk).update(**changed)
    assert "Retry calls" not in load_run_page(world, run)


def test_an_encoder_is_not_asked_the_same_again(world: World, asked: Any) -> None:
    run = asked(2, Rule(model_server.PROSE))
    Endpoint.objects.filter(pk=run.endpoint.pk).update(kind=Endpoint.Kind.OPEN_CLIP)
    assert "Retry calls" not in load_run_page(world, run)


def test_every_missing_input_has_its_sentence() -> None:
    """What `MissingInput` names is what a retry leaves out: a new code needs its sentence in MISSING_INPUT."""
    import re
    from pathlib import Path

    root = Path(answer_runs.__file__).resolve().parents[3]
    code = [path.read_text() for app in ("predictions", "papers") for path in (root / app).rglob("*.py")]
    codes = {name for text in code for name in re.findall(r'MissingInput\("([a-z_]+)"\)', text)}
    assert codes and codes <= set(MISSING_INPUT), codes - set(MISSING_INPUT)


def test_a_reply_that_the_sheet_does_not_take_names_the_question_and_the_rule() -> None:
    text = unfit({"which_proverb": ["too_short"], "why": ["required"]})
    assert "which_proverb: " in text and "short" in text and "why: " in text
    assert unfit(None) == unfit({}) and "does not take it" in unfit({})
