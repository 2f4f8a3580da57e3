"""The pages of a run: who may, what they say, what a press does, and that they stay small."""

import json
from typing import Any

import pytest
from django.utils import timezone

from annotation.fields.contract import Shown
from annotation.models import Annotation, Campaign
from annotation.services.answers import model_answers
from annotation.services.answers.model_answers import AnswerDestination
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Item
from jobs.models import Event, Job
from predictions.backends.contract import Decoding
from predictions.models import Attempt, Call, Reply, Run
from predictions.pages.runs import PAGE
from predictions.prompts.registry import prompt
from predictions.services.runs import answer_runs
from tests.forms import inputs_of
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.request_helpers import a_campaign, a_plan, an_endpoint

WORDS = "Markets look alike in many places. <b>Really</b>"
REPLY_BODY = {"text": WORDS, "finish": "stop", "way": "text", "model": "m"}
ASKED = {"messages": [{"role": "user", "pieces": [{"text": "How relevant is it?"}, {"image": "0" * 64}]}]}


@built_once
def campaign(world: World) -> Campaign:
    return a_campaign(world, 3)


@built_once
def run(world: World, campaign: Campaign) -> Run:
    """Opened, and nobody works on it yet."""
    endpoint = an_endpoint(world, "http://127.0.0.1:9/v1")
    return answer_runs.open_run(a_plan(campaign, endpoint, prompt("sheet")), world.mara, timezone.now())


def address(world: World, run: Run, more: str = "") -> str:
    return f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/{more}"


def load_run_page(world: World, run: Run, more: str = "") -> str:
    return world.client(world.mara).get(address(world, run, more)).content.decode()


def post_action(world: World, run: Run, **what: Any) -> str:
    return world.client(world.mara).post(address(world, run, "action/"), what, follow=True).content.decode()


def end(run: Run, state: str = "unparseable", reason: str = "no_number") -> Call:
    """The first waiting call, ended with a reply that has no number."""
    at = timezone.now()
    call = Call.objects.filter(run=run, state="pending").order_by("pk")[0]
    key = f"{call.pk:064}"
    reply = Reply.objects.create(team=run.benchmark.team, key=key, request=ASKED, body=REPLY_BODY, created_at=at)
    Attempt.objects.create(call=call, number=1, at=at, seconds=1.5, outcome="reply", status=200, reply=reply)
    call.state, call.reason, call.replies, call.ended_at, call.attempts_made = state, reason, [reply.pk], at, 1
    call.save()
    return call


def answered(call: Call, code: str) -> Annotation:
    """What a call's answer is written as."""
    run = call.run
    assert run.campaign is not None and call.unit_id is not None
    destination, at, key = AnswerDestination.of(run.campaign, run.rater), timezone.now(), f"run:{run.pk}:{call.pk}:"
    sheet = sheet_of(run.campaign.sheet_version)
    parsed = sheet.parse({"relevance": code}, Shown(item_id=call.item_id), partial=True)
    annotation_ids = model_answers.write(
        destination, [model_answers.ModelAnswer(call.unit_id, call.item_id, 0, key, parsed, at, at, call.run_id)], at
    )
    return Annotation.objects.get(pk=annotation_ids[key])


def test_only_those_who_work_on_the_benchmark_see_a_run(world: World, run: Run) -> None:
    call = end(run)
    for more in ("", "live/", "calls.jsonl", f"calls/{call.pk}/"):
        assert world.client(world.mara).get(address(world, run, more)).status_code == 200
        for user in (world.nour, world.reviewer, world.rival, world.stranger):
            assert world.client(user).get(address(world, run, more)).status_code == 404
    assert world.client(world.reviewer).post(address(world, run, "action/"), {"do": "stop"}).status_code == 404
    run.refresh_from_db()
    assert run.state == "running"


def test_a_call_of_another_run_is_not_found_under_this_one(world: World, run: Run, campaign: Campaign) -> None:
    plan = a_plan(campaign, run.endpoint, prompt("sheet"), setting="other")  # type: ignore[arg-type]
    other = answer_runs.open_run(plan, world.mara, timezone.now())
    call = Call.objects.filter(run=other)[0]
    assert world.client(world.mara).get(address(world, run, f"calls/{call.pk}/")).status_code == 404


def test_a_press_changes_the_run_and_leaves_an_event(world: World, run: Run) -> None:
    assert "The run is pausing" in post_action(world, run, do="pause")
    assert "No requests are sent" in load_run_page(world, run)
    assert "The run resumes where it stopped" in post_action(world, run, do="resume")
    assert "The run was stopped" in post_action(world, run, do="stop")
    verbs = Event.objects.filter(target=f"run:{run.pk}").values_list("verb", flat=True)
    assert {"run.opened", "run.paused", "run.resumed", "run.stopped"} <= set(verbs)
    assert "The run is over already" in post_action(world, run, do="stop"), (
        "what cannot be done is said, and nothing breaks"
    )
    assert world.client(world.mara).post(address(world, run, "action/"), {"do": "dance"}).status_code == 400


def test_a_done_run_leads_to_the_numbers_of_its_own_stage(world: World, run: Run) -> None:
    """Not to the first stage's, where nobody may have asked a model."""
    assert run.campaign
    Run.objects.filter(pk=run.pk).update(state="done")
    link = f"/b/{world.benchmark.slug}/models/?stage={run.campaign.stage.key}"
    assert link in load_run_page(world, run)
    assert world.client(world.mara).get(link).status_code == 200


def test_a_withdrawn_run_offers_to_come_back(world: World, run: Run) -> None:
    post_action(world, run, do="stop")
    assert "The run was withdrawn" in post_action(world, run, do="withdraw")
    page = load_run_page(world, run)
    assert "Restore" in page and "not counted" in page and "Retry calls" not in page
    assert "The run was restored" in post_action(world, run, do="back")


def test_the_door_of_runs_over_collections_does_not_touch_answers(world: World, run: Run) -> None:
    """It would withdraw the run and leave its answers counted."""
    path = f"/b/{world.benchmark.slug}/predictions/runs/{run.pk}/"
    assert world.client(world.mara).post(path, {"do": "withdraw"}).status_code == 404
    run.refresh_from_db()
    assert run.withdrawn_at is None


@pytest.mark.parametrize("budget", ["", "much", "-1", "nan", "1e400"])
def test_a_budget_that_is_none_is_refused_in_words(world: World, run: Run, budget: str) -> None:
    assert "Give the new budget in dollars, as a number" in post_action(world, run, do="budget", budget=budget)


def test_the_live_part_is_sent_only_when_something_changed(world: World, run: Run) -> None:
    client, path = world.client(world.mara), address(world, run, "live/")
    reply = client.get(path)
    state = reply.content.decode().split("live/?seen=")[1].split('"')[0]
    assert client.get(path, {"seen": state}).status_code == 204
    end(run)
    assert "Unreadable reply: 1" in client.get(path, {"seen": state}).content.decode()
    Run.objects.filter(pk=run.pk).update(state="done")
    assert client.get(path, {"seen": state}).headers["HX-Refresh"] == "true"


def test_failure_shows_its_reason_and_the_reply(world: World, run: Run) -> None:
    call = end(run)
    listed, page = load_run_page(world, run, "?state=unparseable"), load_run_page(world, run, f"calls/{call.pk}/")
    for text in (listed, page):
        assert "There is no number in the reply." in text
        assert "Markets look alike in many places. &lt;b&gt;Really" in text, (
            "said by a model, so never taken for markup"
        )
    assert "How relevant is it?" in page and "A picture that is not kept here" in page
    assert "No call is in this state now" in load_run_page(world, run, "?state=refused")


def test_the_list_shows_the_answer_that_counts_and_the_reply_where_it_says_otherwise(world: World, run: Run) -> None:
    for text, counted in (("3", "4"), ("2", "2")):
        call = end(run, "answered", "")
        Reply.objects.filter(pk__in=call.replies).update(body={**REPLY_BODY, "text": text})
        Call.objects.filter(pk=call.pk).update(annotation=answered(call, counted))
    page = load_run_page(world, run)
    assert page.count("<b><code>relevance</code> <bdi>4</bdi></b>") == 1
    assert page.count('<span class="note">Reply:</span> 3</p>') == 1 and "Reply:</span> 2" not in page


def test_codes_that_are_equally_likely_are_named(world: World, run: Run) -> None:
    call = end(run, "unparseable", "two_verdicts")
    assert "two different verdicts" in load_run_page(world, run)
    Call.objects.filter(pk=call.pk).update(notes={"distribution": {"1": 0.2, "2": 0.4, "5": 0.4}})
    for page in (load_run_page(world, run), load_run_page(world, run, f"calls/{call.pk}/")):
        assert "These codes are equally likely, so none is taken: 2, 5." in page
        assert "two different verdicts" not in page
    Call.objects.filter(pk=call.pk).update(notes={"distribution": {"1": 0.2, "2": 0.3, "5": 0.5}})
    assert "two different verdicts" in load_run_page(world, run)


def test_a_budget_below_a_cent_is_shown_as_it_was_given(world: World, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(budget="0.0010", state="paused", stopped_because="budget")
    page = load_run_page(world, run)
    assert "of $0.001<" in page and "too small for the next request" in page
    assert "Raise the budget" in page.split("More…")[0] and ">Resume<" not in page


def test_button_requests_units_added_since(world: World, run: Run) -> None:
    assert 'value="extend"' not in load_run_page(world, run), "only where there are some"
    world.add_items(2)
    assert "Send 2 new items" in load_run_page(world, run)
    assert "2 calls were added" in post_action(world, run, do="extend")
    assert Call.objects.filter(run=run).count() == 5 and 'value="extend"' not in load_run_page(world, run)
    assert "There are no new items" in post_action(world, run, do="extend")
    Item.objects.filter(pk=Call.objects.filter(run=run)[0].item_id).update(withdrawn_at=timezone.now())
    world.add_items(1)
    assert "Send 1 new item" in load_run_page(world, run), "one that was withdrawn takes no new one's place"
    Item.objects.filter(pk=Call.objects.filter(run=run)[1].item_id).update(intake=Item.Intake.DROPPED)
    assert "Send 1 new item" in load_run_page(world, run), "nor does one that a filter has dropped since"
    Campaign.objects.filter(pk=run.campaign_id).update(state="closed")
    assert 'value="extend"' not in load_run_page(world, run)


def test_a_sample_does_not_grow_beyond_its_size(world: World, run: Run, campaign: Campaign) -> None:
    plan = a_plan(campaign, run.endpoint, prompt("sheet"), setting="few", selection={"sample": 2})  # type: ignore[arg-type]
    few = answer_runs.open_run(plan, world.mara, timezone.now())
    world.add_items(4)
    assert 'value="extend"' not in load_run_page(world, few)


def test_another_run_like_this_is_planned_with_all_it_was_planned_with(world: World, run: Run) -> None:
    plan = a_plan(
        run.campaign, run.endpoint, prompt("sheet"), model="other", name="Shown as", setting="warm", repeats=3,  # type: ignore[arg-type]
        selection={
            "conditions": [], "targets": [], "concepts": ["wedding"], "sample": 2, "asked_about": {"kind": "cohorts"},
        },
        seed=9, decoding=Decoding(temperature=0.5, seed=4, ways=("text",)), longest=640,
    )  # fmt: skip
    first_run = answer_runs.open_run(plan, world.mara, timezone.now())
    link = f"/b/{world.benchmark.slug}/predictions/run/new/?like={first_run.pk}"
    assert f'href="{link}"' in load_run_page(world, first_run)
    page = world.client(world.mara).get(link).content.decode()
    sent = list(inputs_of(page))
    planned = {
        "model": "other", "name": "Shown as", "setting": "warm", "repeats": "3", "seed": "9", "temperature": "0.5",
        "decoding_seed": "4", "longest": "640", "sample": "2", "prompt": "sheet@1",
        "concepts": "wedding", "ways": "text",
    }  # fmt: skip
    assert dict(sent) | planned == dict(sent)
    again = [pair if pair[0] != "setting" else ("setting", "warmer") for pair in sent]
    form_data: dict[str, list[str]] = {}
    for name, value in again:
        form_data.setdefault(name, []).append(value)
    world.client(world.mara).post(link.partition("?")[0], form_data | {"do": "start"})
    same = Run.objects.get(rater__setting="warmer")
    for name in ("model", "prompt", "prompt_version", "decoding", "selection", "seed", "repeats"):
        assert getattr(same, name) == getattr(first_run, name), name
    assert same.options == first_run.options
    for number in (0, first_run.pk + 99):
        assert world.client(world.mara).get(link.partition("=")[0] + f"={number}").status_code == 404
    assert world.client(world.rival).get(link).status_code == 404


def test_retrying_asks_which_and_says_how_many(world: World, run: Run) -> None:
    end(run)
    end(run, "failed", "timeout")
    assert "Choose which calls to ask again" in post_action(world, run, do="retry")
    assert "1 call is asked again" in post_action(world, run, do="retry", states=["failed"])
    assert Call.objects.filter(run=run, state="unparseable").count() == 1
    assert "There was no such call" in post_action(world, run, do="retry", states=["answered"])


def test_calls_come_as_json_lines_with_replies_and_attempts(world: World, run: Run) -> None:
    end(run)
    reply: Any = world.client(world.mara).get(address(world, run, "calls.jsonl"))
    lines = [json.loads(line) for line in b"".join(reply.streaming_content).splitlines()]
    assert len(lines) == Call.objects.filter(run=run).count()
    assert lines[0]["state"] == "unparseable" and lines[0]["answers"] is None
    assert lines[0]["replies"][0]["text"] == WORDS and lines[0]["attempts"][0]["seconds"] == 1.5
    assert lines[1]["replies"] == []


def test_a_page_holds_a_hundred_calls_and_asks_the_same_however_many(
    world: World, run: Run, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    client = world.client(world.mara)
    end(run)
    client.get(address(world, run))
    with django_assert_max_num_queries(30) as few:
        client.get(address(world, run))
    one = Call.objects.filter(run=run).order_by("pk")[0]
    more = [Call(run=run, item=one.item, unit=one.unit, repeat=number) for number in range(1, PAGE + 20)]
    Call.objects.bulk_create(more)
    while Call.objects.filter(run=run).exclude(replies=[]).count() < 5:
        end(run)
    with django_assert_num_queries(len(few)):
        page = client.get(address(world, run)).content.decode()
    assert page.count('<tr role="row"><th scope="row"') == PAGE and "More calls" in page


def test_the_index_lists_runs_with_the_same_queries(
    world: World, run: Run, campaign: Campaign, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    client, home = world.client(world.mara), f"/b/{world.benchmark.slug}/predictions/"
    client.get(home)
    with django_assert_max_num_queries(25) as few:
        client.get(home)
    for setting in ("a", "b", "c"):
        plan = a_plan(campaign, run.endpoint, prompt("sheet"), setting=setting)  # type: ignore[arg-type]
        answer_runs.open_run(plan, world.mara, timezone.now())
    with django_assert_num_queries(len(few)):
        page = client.get(home).content.decode()
    assert page.count("Running") == 4 and Job.objects.count() >= 4


def test_a_reply_that_never_ends_is_shown_by_its_beginning(world: World, run: Run) -> None:
    call = end(run)
    Reply.objects.filter(pk__in=call.replies).update(body={**REPLY_BODY, "text": "ha " * 30_000, "refusal": ""})
    refused = end(run, "refused", "said_no")
    Reply.objects.filter(pk__in=refused.replies).update(body={**REPLY_BODY, "text": "", "refusal": "No. " * 9_000})
    page = load_run_page(world, run)
    assert len(page) < 60_000 and "ha ha" in page and "No. No." in page
    page = load_run_page(world, run, f"calls/{call.pk}/")
    assert len(page) < 60_000 and "70000 more characters are not shown here" in page.replace(",", "")
