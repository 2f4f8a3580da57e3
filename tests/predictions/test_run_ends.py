"""What a page says of calls that were never asked, of a run that came in a file, and of one that stands in another's
place; and what is still possible once the endpoint is gone, or its key cannot be read."""

from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.utils import timezone

from jobs.services import runner
from predictions.models import Call, Endpoint, Run
from predictions.prompts.registry import prompt
from predictions.services.endpoints import endpoints
from predictions.services.runs import answer_runs
from predictions.services.runs.answer_runs import RunRefused
from tests.evaluation.data import an_open_campaign
from tests.personas import World
from tests.predictions.model_file_samples import import_file, jsonl, lm_eval, run_of, store_file
from tests.predictions.model_server import Server
from tests.predictions.request_helpers import Plainly, a_campaign, a_plan, an_endpoint, drive_run, start_run, use


def load_run_page(world: World, run: Run, more: str = "") -> str:
    client = world.client(world.mara)
    return client.get(f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/{more}").content.decode()


def post_action(world: World, run: Run, **data: Any) -> str:
    path = f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/action/"
    return world.client(world.mara).post(path, data, follow=True).content.decode()


@pytest.fixture
def plain(monkeypatch: Any) -> Plainly:
    one = Plainly()
    use(monkeypatch, one)
    return one


def test_calls_after_a_stop_are_not_requested_and_not_failed(world: World) -> None:
    campaign = a_campaign(world, 3)
    run = start_run(world, a_plan(campaign, an_endpoint(world, "http://127.0.0.1:9/v1"), prompt("sheet")))
    broken = Call.objects.filter(run=run).order_by("pk")[0]
    Call.objects.filter(pk=broken.pk).update(state="failed", reason="timeout", ended_at=timezone.now())
    answer_runs.stop(run, world.mara, timezone.now())
    page = load_run_page(world, run)
    assert "Not asked: the run was stopped: 2" in page and "Failed: 1" in page and "<b>1</b> of 3 calls" in page
    unasked, failed = load_run_page(world, run, "?state=unasked"), load_run_page(world, run, "?state=failed")
    assert unasked.count('role="rowheader"') == 2 and "No reply came in time" not in unasked
    assert failed.count('role="rowheader"') == 1 and "No reply came in time" in failed
    waits = Call.objects.filter(run=run, reason="stopped")[0]
    of_one = load_run_page(world, run, f"calls/{waits.pk}/")
    assert "Not asked: the run was stopped" in of_one and "Failed" not in of_one


def test_of_a_stopped_run_what_failed_and_what_waited_are_asked_again_apart(world: World) -> None:
    campaign = a_campaign(world, 3)
    run = start_run(world, a_plan(campaign, an_endpoint(world, "http://127.0.0.1:9/v1"), prompt("sheet")))
    first = Call.objects.filter(run=run).order_by("pk")[0]
    Call.objects.filter(pk=first.pk).update(state="failed", reason="timeout", ended_at=timezone.now())
    answer_runs.stop(run, world.mara, timezone.now())
    assert "asking again goes on with it" in load_run_page(world, run)
    assert "2 calls are asked again" in post_action(world, run, do="retry", states=["unasked"])
    assert Call.objects.filter(run=run, state="pending").count() == 2
    first.refresh_from_db()
    assert first.state == "failed"
    answer_runs.stop(run, world.mara, timezone.now())
    assert "1 call is asked again" in post_action(world, run, do="retry", states=["failed"])


def test_a_run_out_of_a_file_claims_no_cost_and_no_tokens(world: World) -> None:
    world.add_items(2)
    campaign = an_open_campaign(world)
    egypt = [
        lm_eval({"id": item.key, "country": "Egypt"}, reply) for item, reply in zip(world.items, "4x", strict=True)
    ]
    run = run_of(import_file(world, campaign, store_file(jsonl(egypt)), target="doc.country"))
    page = load_run_page(world, run)
    assert "Their cost, their tokens" in page and "$0" not in page and "Tokens in" not in page
    assert "2 items of the file" in page and "all of the campaign" not in page
    assert "<b><code>relevance</code> <bdi>4</bdi></b>" in page and "Times each is asked" not in page


def test_the_run_in_a_withdrawn_ones_place_is_named_and_linked(world: World) -> None:
    campaign, endpoint = a_campaign(world, 1), an_endpoint(world, "http://127.0.0.1:9/v1")
    old = start_run(world, a_plan(campaign, endpoint, prompt("sheet")))
    for act in ("stop", "withdraw"):
        post_action(world, old, do=act)
    assert "Restore" in load_run_page(world, old) and "View existing run" not in load_run_page(world, old)
    new = start_run(world, a_plan(campaign, endpoint, prompt("sheet")))
    page = load_run_page(world, old)
    assert "Another run of this model, of" in page and "Restore" not in page
    assert f'/predictions/run/{new.pk}/">View existing run' in page


class TestWhatCannotBeAsked:
    def test_an_endpoint_without_pictures_is_asked_about_none(
        self, world: World, plain: Plainly, monkeypatch: Any, scripted_server: Server
    ) -> None:
        shows = Plainly(needs_images=True)
        use(monkeypatch, shows)
        campaign = a_campaign(world, 2, images=True)
        blind = an_endpoint(world, scripted_server.base_url, offers=["schema"])
        plan = a_plan(campaign, blind, shows)
        assert answer_runs.preview(plan).missing_input == "no_pictures", "said before anything is sent"
        assert answer_runs.estimate(plan).missing_input == {"no_pictures": 2}
        with pytest.raises(RunRefused, match="None of the 2 items can be sent"):
            start_run(world, plan)
        assert scripted_server.counts()["total"] == 0 and not Call.objects.exists()
        sees = an_endpoint(world, scripted_server.base_url, offers=["images"], name="Sees")
        assert answer_runs.preview(a_plan(campaign, sees, shows)).missing_input == ""

    def test_a_prompt_that_does_not_fit_is_not_begun(self, world: World, plain: Plainly) -> None:
        campaign, server = a_campaign(world, 1), an_endpoint(world, "http://127.0.0.1:9/v1")
        with pytest.raises(RunRefused, match="does not fit"):
            start_run(world, a_plan(campaign, server, prompt("lave")))
        encoder = an_endpoint(world, "", kind=Endpoint.Kind.OPEN_CLIP, name="Encoder")
        with pytest.raises(RunRefused, match="does not fit"):
            start_run(world, a_plan(campaign, encoder, plain))
        assert not Run.objects.exists() and start_run(world, a_plan(campaign, server, plain)).pk


class TestWithoutTheEndpoint:
    def test_replies_are_read_again_once_the_endpoint_is_retired(
        self, world: World, plain: Plainly, scripted_server: Server
    ) -> None:
        endpoint = an_endpoint(world, scripted_server.base_url)
        run = drive_run(start_run(world, a_plan(a_campaign(world, 2), endpoint, plain)))
        asked = scripted_server.counts()["total"]
        endpoints.retire(endpoint, world.team_admin, timezone.now())
        Call.objects.filter(run=run).update(reason="", notes={})
        job = answer_runs.start_reparse(run, world.mara, timezone.now())
        runner.run(job.pk)
        job.refresh_from_db()
        assert (job.state, job.error) == ("done", "") and scripted_server.counts()["total"] == asked
        assert all(Call.objects.filter(run=run).values_list("notes__way", flat=True)), "they were read"

    def test_a_key_that_cannot_be_read_is_not_called_a_retired_endpoint(
        self, world: World, plain: Plainly, scripted_server: Server, settings: Any
    ) -> None:
        settings.SECRETS_KEYS = [Fernet.generate_key().decode()]
        endpoint = an_endpoint(world, scripted_server.base_url)
        endpoints.set_secret(endpoint, "sk-1", world.team_admin, timezone.now())
        run = start_run(world, a_plan(a_campaign(world, 2), endpoint, plain))
        settings.SECRETS_KEYS = [Fernet.generate_key().decode()]
        drive_run(run)
        assert (run.state, run.stopped_because) == ("paused", "key") and scripted_server.counts()["total"] == 0
        page = load_run_page(world, run)
        assert "key cannot be read" in page and "retired" not in page and "Resume" in page
        endpoints.set_secret(endpoint, "sk-1", world.team_admin, timezone.now())
        answer_runs.resume(run, world.mara, timezone.now())
        assert drive_run(run).state == "done"
