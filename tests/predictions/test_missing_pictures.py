"""A question about pictures is not put to a model without them: nobody is shown such a unit, and no model guesses."""

from dataclasses import replace

import pytest

from annotation.models import Campaign
from benchmarks.models import ItemImage
from predictions.models import Call, Run
from predictions.prompts import registry
from predictions.prompts.contract import Prompt
from predictions.requests.serialization import image_shas
from predictions.services.runs import answer_runs
from predictions.services.runs.answer_runs import RunRefused
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.request_helpers import Plainly, a_campaign, a_plan, an_endpoint, drive_run, start_run


def create_campaign(world: World, items: int, *, pictures: bool) -> Campaign:
    """A campaign of rated pictures; without them, as when they were never brought along."""
    campaign = a_campaign(world, items, images=True)
    if not pictures:
        ItemImage.objects.filter(item__in=world.items).delete()
    return campaign


def drive_run_with(world: World, server: Server, prompt: Prompt, *, pictures: bool) -> Run:
    plan = a_plan(create_campaign(world, 2, pictures=pictures), an_endpoint(world, server.base_url), prompt)
    return drive_run(start_run(world, plan))


def test_the_sheet_is_not_asked_where_its_display_has_no_picture(world: World, scripted_server: Server) -> None:
    with pytest.raises(RunRefused, match="None of the 2 items can be sent"):
        drive_run_with(world, scripted_server, registry.prompt("sheet"), pictures=False)
    assert scripted_server.asked == [] and not Call.objects.exists()


def test_it_is_asked_where_the_picture_is_there(world: World) -> None:
    plan = a_plan(
        create_campaign(world, 1, pictures=True),
        an_endpoint(world, "http://127.0.0.1:9/v1", offers=["images"]),
        registry.prompt("sheet"),
    )
    view = answer_runs.preview(plan)
    assert view.missing_input == "" and view.asked is not None and image_shas(view.asked.requests[0])


def test_a_prompt_that_shows_no_picture_is_not_concerned(
    world: World, scripted_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "PROMPTS", (Plainly(), *registry.PROMPTS))
    run = drive_run_with(world, scripted_server, Plainly(), pictures=False)  # type: ignore[arg-type]
    assert not run.calls.filter(reason="no_image").exists() and len(scripted_server.asked) == 2


def test_a_pair_needs_both_of_its_pictures(world: World) -> None:
    campaign = create_campaign(world, 1, pictures=True)
    campaign.stage.display = "bare-pair"
    plan = a_plan(campaign, an_endpoint(world, "http://127.0.0.1:9/v1"), registry.prompt("sheet"))
    assert answer_runs.preview(plan).missing_input == "no_image"


def test_the_preview_and_the_cost_say_so_before_anything_is_sent(world: World) -> None:
    campaign = create_campaign(world, 3, pictures=False)
    plan = a_plan(campaign, an_endpoint(world, "http://127.0.0.1:9/v1"), registry.prompt("sheet"))
    assert answer_runs.preview(plan).asked is None
    estimate = answer_runs.estimate(replace(plan, repeats=2))
    assert (estimate.to_ask, estimate.calls, estimate.missing_input) == (
        0,
        6,
        {"no_image": 3},
    ) and not Call.objects.exists()
