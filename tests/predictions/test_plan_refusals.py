"""A plan that makes no sense is refused in the form, with the reason; a plan that lacks some units is confirmed."""

from typing import Any

import pytest

from annotation.models import Campaign
from benchmarks.models import ItemImage
from predictions.models import Call, Endpoint, Run
from tests.annotation.chain.factories import a_field
from tests.forms import inputs_of
from tests.module_world import built_once
from tests.personas import SHEET, World
from tests.predictions.knowledge.samples import a_linking
from tests.predictions.request_helpers import a_campaign, an_endpoint
from tests.predictions.test_new_run import plan, press, text_of

pytestmark = pytest.mark.django_db
NO_LINKS = "No item has an article or concepts of its own, and no linking run is chosen"


@built_once
def campaign(world: World) -> Campaign:
    return a_campaign(world, 4, images=True)


@built_once
def endpoint(world: World) -> Endpoint:
    return an_endpoint(world, "http://127.0.0.1:9/v1", offers=["images"])


def refused(reply: Any) -> str:
    assert reply.status_code == 400 and not Run.objects.filter(task="answers").exists() and not Call.objects.exists()
    return text_of(reply)


@pytest.mark.parametrize("name", ["o-wording", "o-system"])
@pytest.mark.parametrize("text", [" ", "\n\n \t", "\u2003\u00a0", "\u200b\ufeff"])
@pytest.mark.parametrize("do", ["look", "cost", "start"])
def test_a_wording_of_white_space_is_refused(
    world: World, campaign: Campaign, endpoint: Endpoint, name: str, text: str, do: str
) -> None:
    page = refused(press(world, **plan(campaign, endpoint, **{name: text}), do=do))
    assert "There is only white space here" in page and f'id="id_{name}_error"' in page


def test_an_empty_wording_is_the_prompts_own(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    press(world, **plan(campaign, endpoint, **{"o-wording": "", "o-system": ""}), do="start")
    assert Run.objects.get().prompt_version == "1"


def test_a_wording_without_a_needed_place_is_refused(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    page = refused(press(world, **plan(campaign, endpoint, **{"o-wording": "Say something of {shown}"}), do="start"))
    assert "{questions} is missing, and the prompt needs it" in page
    press(world, **plan(campaign, endpoint, **{"o-wording": "{shown} {questions}"}), do="start")
    assert Run.objects.get().prompt_version.startswith("1+")


def test_a_run_does_not_start_when_nothing_can_be_asked(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(offers=[])
    cost = press(world, **plan(campaign, endpoint), do="cost")
    assert "None of the 4 items can be sent. The prompt shows pictures" in text_of(cost)
    assert "Run" not in text_of(cost), "no button that cannot work"
    page = refused(press(world, **plan(campaign, endpoint), do="start"))
    assert "None of the 4 items can be sent. The prompt shows pictures" in page
    refused(press(world, **plan(campaign, endpoint), do="start", confirmed="4"))


def test_a_selection_without_units_is_refused(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    campaign.stage.items.update(condition="drawn", concept="tea")
    campaign.stage.items.filter(pk=world.items[0].pk).update(condition="photo", concept="bread")
    data = plan(campaign, endpoint, conditions=["photo"], concepts=["tea"])
    assert "No items match" in refused(press(world, **data, do="start"))


def test_a_needed_linking_run_is_preselected_and_its_lack_refused(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    data = plan(campaign, endpoint, prompt="caire-digit@1", shown_prompt="caire-digit@1")
    assert NO_LINKS in refused(press(world, **data, do="start")), "there is none yet"
    older, other = a_linking(world), a_linking(world)
    newest = a_linking(world)
    Run.objects.filter(pk=other.pk).update(selection={"stage": "another"})
    form = text_of(press(world, campaign=campaign.pk, endpoint=endpoint.pk, prompt="caire-digit@1", do="form"))
    assert dict(inputs_of(form))["o-links"] == str(newest.pk) != str(older.pk)
    Run.objects.filter(pk=newest.pk).update(selection={"stage": "another"})
    form = text_of(press(world, campaign=campaign.pk, endpoint=endpoint.pk, prompt="caire-digit@1", do="form"))
    assert dict(inputs_of(form))["o-links"] == str(older.pk), "the newest one of this stage"
    cost = text_of(press(world, **data, **{"o-links": ""}, do="cost"))
    assert NO_LINKS in cost and "Run" not in cost
    assert Run.objects.filter(task="answers").count() == 0


def test_a_question_about_labels_without_any_label_is_refused(world: World, endpoint: Endpoint) -> None:
    stage = world.stage
    stage.sheet = {"fields": [a_field("labels", "text", max_length=200)]}
    stage.save()
    campaign = a_campaign(world, 2, images=True)
    data = plan(campaign, endpoint, prompt="xcm-labels@1", shown_prompt="xcm-labels@1")
    page = refused(press(world, **data, do="start"))
    assert "None of the 2 items can be sent. The item has no options to choose from" in page
    press(world, **data, **{"o-concepts": "Tea\nBread"}, do="start")
    assert Call.objects.count() == 2


def test_units_that_cannot_be_asked_are_confirmed_by_their_number(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    ItemImage.objects.filter(item=world.items[0]).delete()
    data = plan(campaign, endpoint, repeats="2")
    cost = text_of(press(world, **data, do="cost"))
    assert "1 item cannot be sent" in cost and "Run although 1 of 4 items cannot be sent" in cost
    again = refused(press(world, **data, do="start"))
    assert "1 of 4 items cannot be sent. Confirm the number" in again and 'name="confirmed" value="1"' in again
    assert 'name="model" value="tiny"' in again, "the plan is still there"
    ItemImage.objects.filter(item=world.items[1]).delete()
    now = refused(press(world, **data, do="start", confirmed="1"))
    assert "2 of 4 items cannot be sent" in now and 'value="2"' in now, "another number than the one confirmed"
    press(world, **data, do="start", confirmed="2")
    assert Call.objects.count() == 8


def test_nothing_is_confirmed_where_every_unit_can_be_asked(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    assert world.stage.sheet == SHEET
    assert "confirmed" not in text_of(press(world, **plan(campaign, endpoint), do="cost"))
    press(world, **plan(campaign, endpoint), do="start")
    assert Run.objects.get().state == "running"
