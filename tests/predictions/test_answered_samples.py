"""A sample of a run prefers the units that people answered, says so beside the numbers, and stays what it was."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Campaign
from people.services.raters import rater_of
from predictions.models import Run
from predictions.services.runs import answer_runs
from predictions.services.runs.engine import retries
from predictions.services.runs.unit_selection import count_new_units, select_item_targets
from tests.annotation.chain.factories import answer, claim_sheet
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.request_helpers import Plainly, a_campaign, a_plan, an_endpoint, drive_run, start_run, use
from tests.predictions.test_new_run import plan as typed
from tests.predictions.test_new_run import press, text_of

pytestmark = pytest.mark.django_db


@built_once
def campaign(world: World) -> Campaign:
    """A hundred units; Nour answered twelve of them, and for five of these Salma did too: two answers are wanted."""
    new_campaign = a_campaign(world, 100)
    second = world.add_annotators(world.egypt, 1)[0]
    for _number in range(12):
        answer(claim_sheet(rater_of(world.nour), new_campaign, world.egypt), relevance="4")
    for _number in range(5):
        answer(claim_sheet(rater_of(second), new_campaign, world.egypt), relevance="3")
    return new_campaign


@pytest.fixture
def start(world: World, campaign: Campaign, scripted_server: Server, monkeypatch: pytest.MonkeyPatch) -> Any:
    prompt = Plainly()
    use(monkeypatch, prompt)
    monkeypatch.setattr(retries, "BACKOFF", 0.02)
    endpoint = an_endpoint(world, scripted_server.base_url)
    return lambda **more: start_run(world, a_plan(campaign, endpoint, prompt, **more))


def answered(campaign: Campaign) -> set[str]:
    rows = campaign.cohorts.get().slots.filter(submitted__gt=0)
    return set(rows.values_list("unit__item__key", flat=True))


def keys(run: Run) -> list[str]:
    return list(run.calls.order_by("pk").values_list("item__key", flat=True))


def test_a_sample_takes_answered_units_only_while_there_are_enough(campaign: Campaign, start: Any) -> None:
    run = start(selection={"sample": 10})
    assert len(keys(run)) == 10 and set(keys(run)) <= answered(campaign)
    strata = run.selection["strata"]
    assert (run.selection["draw"], run.selection["units"]) == ("answered", 100)
    assert strata["full"] == min(10, campaign.cohorts.get().slots.filter(submitted=2).count()) and strata["none"] == 0
    assert sum(strata.values()) == 10


def test_full_units_come_first_then_some_then_none(campaign: Campaign) -> None:
    order = [spot.key for spot in select_item_targets(campaign, {"sample": 100}, 3)]
    submitted = dict(campaign.cohorts.get().slots.values_list("unit__item__key", "submitted"))
    counts = [submitted[key] for key in order]
    assert counts == sorted(counts, reverse=True) and counts[0] == 2 and counts[-1] == 0


def test_the_same_seed_draws_the_same_units_and_another_draws_others(campaign: Campaign) -> None:
    first, again, *others = (select_item_targets(campaign, {"sample": 8}, seed) for seed in (3, 3, *range(4, 24)))
    assert first == again and any(set(first) != set(other) for other in others)


def test_any_item_draws_by_the_seed_alone(campaign: Campaign) -> None:
    drawn = select_item_targets(campaign, {"sample": 50, "draw": "any"}, 3)
    assert len({spot.key for spot in drawn} & answered(campaign)) < len(answered(campaign))


def test_a_drawn_sample_stays_though_people_answer_other_units_since(
    world: World, campaign: Campaign, start: Any
) -> None:
    run = drive_run(start(selection={"sample": 20}))
    before = keys(run)
    for _number in range(30):
        answer(claim_sheet(rater_of(world.nour), campaign, world.egypt), relevance="4")
    assert count_new_units(run) == 0 and answer_runs.extend(run, world.mara, timezone.now()) == 0
    assert keys(run) == before


def test_the_choice_is_made_in_the_form_and_the_plan_says_what_is_drawn(
    world: World, campaign: Campaign, scripted_server: Server
) -> None:
    endpoint = an_endpoint(world, scripted_server.base_url, offers=["images"])
    for item in campaign.stage.items.all():
        item.text = item.text or "What is this?"
        item.save()
    page = text_of(press(world, **typed(campaign, endpoint, sample="10"), do="look"))
    assert "a sample of 10 of 100 items, items that people answered first" in page and "0 with none" in page
    press(world, **typed(campaign, endpoint, sample="10"), do="start")
    assert set(keys(Run.objects.get())) <= answered(campaign)
    like = text_of(
        world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/run/new/", {"like": Run.objects.get().pk})
    )
    assert '<option value="answered" selected>' in like
    press(world, **typed(campaign, endpoint, sample="10", draw="any", setting="any"), do="start")
    assert Run.objects.latest("pk").selection["draw"] == "any"


def test_sample_is_stated_with_the_numbers_of_the_model(world: World, campaign: Campaign, start: Any) -> None:
    run = drive_run(start(selection={"sample": 10}))
    sentence = "It was asked about a sample of 10 of 100 items, items that people answered first"
    base = f"/b/{world.benchmark.slug}/models/"
    client = world.client(world.mara)
    assert sentence in text_of(client.get(base))
    assert client.get(f"{base[:-1]}.json").json()["models"][0]["samples"] == [run.selection]
    assert sentence in text_of(client.get(f"{base[:-1]}.csv"))
    assert "a sample of 10 of 100 items" in text_of(client.get(f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/"))
