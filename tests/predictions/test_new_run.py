"""A run is planned in steps without a script; nothing is sent, and nothing is made, before the last press."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Campaign
from benchmarks.models import ItemImage
from jobs.models import record
from people.models import Rater
from predictions.models import Call, Endpoint, Run
from predictions.prompts.contract import PromptOption
from predictions.services.endpoints import endpoints
from tests.forms import inputs_of
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.request_helpers import Plainly, a_campaign, an_endpoint, use

TARGET = "sheet@1"


@built_once
def campaign(world: World) -> Campaign:
    return a_campaign(world, 4, images=True)


@built_once
def endpoint(world: World) -> Endpoint:
    return an_endpoint(world, "http://127.0.0.1:9/v1", offers=["images"])


def address(world: World) -> str:
    return f"/b/{world.benchmark.slug}/predictions/run/new/"


def press(world: World, **data: Any) -> Any:
    return world.client(world.mara).post(address(world), data)


def text_of(reply: Any) -> str:
    return str(reply.content.decode())


def plan(campaign: Campaign, endpoint: Endpoint, **more: Any) -> dict[str, Any]:
    first = {"campaign": campaign.pk, "endpoint": endpoint.pk, "model": "tiny", "prompt": TARGET}
    first |= {"asked_about": "cohorts"}
    rest = {"temperature": "0", "longest": "1024", "seed": "0", "repeats": "1"}
    return first | rest | {"shown_prompt": TARGET} | more


def test_without_a_campaign_or_an_endpoint_the_page_says_what_is_missing(world: World) -> None:
    assert "No campaign has been opened yet" in text_of(world.client(world.mara).get(address(world)))
    a_campaign(world)
    page = text_of(world.client(world.mara).get(address(world)))
    assert "The team has no endpoint yet" in page and f"/teams/{world.team.slug}/models/" in page


def test_it_works_in_steps_and_keeps_what_was_typed(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    first = text_of(world.client(world.mara).get(address(world), {"campaign": campaign.pk}))
    assert f'value="{campaign.pk}" selected' in first and 'name="model"' not in first
    second = text_of(press(world, campaign=campaign.pk, endpoint=endpoint.pk, do="form"))
    assert 'name="model"' in second and "The sheet as people have it" in second
    sent = dict(inputs_of(second)) | {"model": "tiny", "repeats": "x", "sample": "3", "prompt": TARGET}
    wrong = press(world, **sent, do="look")
    assert wrong.status_code == 400
    kept = dict(inputs_of(text_of(wrong)))
    assert (kept["model"], kept["repeats"], kept["sample"]) == ("tiny", "x", "3")


def test_another_prompt_brings_its_own_options_and_keeps_the_rest(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    data = plan(campaign, endpoint, prompt="caire-digit@1", model="kept", **{"o-wording": "of the other prompt"})
    page = text_of(press(world, **data))
    kept = dict(inputs_of(page))
    assert kept["model"] == "kept" and kept["o-wording"].strip() == "" and kept["shown_prompt"] == "caire-digit@1"


def test_the_preview_shows_the_very_words_and_sends_nothing(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    page = text_of(press(world, **plan(campaign, endpoint), do="look"))
    assert "Item 1 of 4" in page and "How relevant is this picture to Egypt?" in page and "<img" in page
    assert "Item 4 of 4" in text_of(press(world, **plan(campaign, endpoint), show="99"))
    cost = text_of(press(world, **plan(campaign, endpoint), do="cost"))
    assert "price unknown" in cost and "Run" in cost
    assert not Run.objects.exists() and not Rater.objects.filter(kind="model").exists()


def test_an_item_is_found_by_its_key(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    def find(key: str, **more: str) -> str:
        return text_of(press(world, **plan(campaign, endpoint, find=key, **more), do="find"))

    assert "Item 3 of 4" in find("item-00002") and "Item 3 of 4" in find("  item-00002 ", at="3")
    assert "Item 3 of 4" in find("item-00002", at="2"), "its only unit is its next one, too"
    missing = find("item-9<b>", at="1")
    assert "This plan does not include the item <bdi>item-9&lt;b&gt;</bdi>" in missing and "Item 2 of 4" in missing
    first = missing.partition('<form class="stack"')[2].partition("<button")[2].partition(">")[0]
    assert 'value="find"' in first, "the key Enter finds, and never starts the run"


def test_with_prices_the_cost_is_in_dollars(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    endpoints.set_prices(endpoint, {"*": {"in": "100", "out": "100"}}, world.team_admin, timezone.now())
    page = text_of(press(world, **plan(campaign, endpoint), do="cost"))
    assert "prices, version 1" in page and "price unknown" not in page


def test_a_prompt_that_lacks_something_says_so_before_the_start(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    page = text_of(press(world, **plan(campaign, endpoint, prompt="caire-digit@1"), do="cost"))
    assert "No linking run is chosen" in page and "4 items cannot be sent" in page
    assert f"/b/{world.benchmark.slug}/links/" in page, "where one is made"
    form = text_of(press(world, **plan(campaign, endpoint, prompt="caire-digit@1"), do="form"))
    assert "Needs what a linking run found" in form


def test_prompts_that_lack_pictures_are_named_with_the_place_that_is_empty(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    data = {"campaign": campaign.pk, "endpoint": endpoint.pk, "do": "form"}
    name = "Relevance, the digit alone"
    page = text_of(press(world, **data))
    assert name in page and "has a picture with this role" not in page
    ItemImage.objects.filter(item__in=world.items[:-1]).delete()
    assert 'value="caire-digit@1"' in text_of(press(world, **data)), "one item with its picture is enough to ask it"
    ItemImage.objects.filter(item__in=world.items).delete()
    page = text_of(press(world, **data))
    assert "has a picture with this role: <code>image</code>" in page and name in page
    assert 'value="caire-digit@1"' not in page, "it is named, and cannot be chosen"
    assert "A picture that is to be shown is missing" in text_of(press(world, **plan(campaign, endpoint), do="look"))


def test_an_option_that_is_needed_is_marked_where_it_is_missing(world: World, campaign: Campaign) -> None:
    scoring = an_endpoint(world, "http://127.0.0.1:9/v1", offers=["continuation"], name="Scoring")
    data = plan(campaign, scoring, prompt="caire-likelihood-text@1", shown_prompt="caire-likelihood-text@1")
    assert "Cut (needed)" in text_of(press(world, **data, do="form"))
    refused = press(world, **data, do="look")
    page = text_of(refused)
    assert refused.status_code == 400 and 'id="id_o-cut_error"' in page and "no_cut" not in page
    assert "Give a number" in page and "It is marked below" in page
    assert 'id="id_o-cut_error"' not in text_of(press(world, **data, **{"o-cut": "2"}, do="look"))


def test_what_the_reply_may_be_is_shown_only_where_it_is_sent(world: World, campaign: Campaign) -> None:
    data = {"prompt": "sheet@1", "do": "look"}
    plain = an_endpoint(world, "http://127.0.0.1:9/v1", offers=["images"], name="Plain")
    formed = an_endpoint(world, "http://127.0.0.1:9/v1", offers=["images", "schema"], name="Formed")
    assert "What the reply may be" not in text_of(press(world, **plan(campaign, plain, **data)))
    page = text_of(press(world, **plan(campaign, formed, **data)))
    assert "What the reply may be" in page and "additionalProperties" in page


def test_before_the_start_the_whole_plan_is_there_and_what_is_in_its_way(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    more = {"setting": "twice", "sample": "2", "repeats": "3", "temperature": "0.5"}
    page = text_of(press(world, **plan(campaign, endpoint, **more), do="look"))
    for words in ("The sheet as people have it", "sheet 1", "a sample of 2", "temperature: 0.5", "twice"):
        assert words in page
    assert "View existing run" not in page
    press(world, **plan(campaign, endpoint, **more), do="start")
    run, link = Run.objects.get(), "View existing run"
    for do in ("look", "cost", "start"):
        page = text_of(press(world, **plan(campaign, endpoint, **more), do=do))
        assert link in page and f"/predictions/run/{run.pk}/" in page and "It is marked below" not in page
    other = more | {"setting": "thrice"}
    assert link not in text_of(press(world, **plan(campaign, endpoint, **other), do="look"))


def test_a_model_that_the_endpoint_did_not_name_is_asked_about(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    check = {"works": True, "models": ["tiny", "larger"], "words": ""}
    record(
        world.team_admin,
        "endpoint.checked",
        scope=endpoints.scope_of(endpoint),
        target=endpoints.target_of(endpoint),
        **check,
    )
    form = text_of(press(world, **plan(campaign, endpoint), do="form"))
    assert '<option value="larger">' in form and 'list="models"' in form
    assert "Is it spelt right" not in text_of(press(world, **plan(campaign, endpoint), do="look"))
    assert "Is it spelt right" in text_of(press(world, **plan(campaign, endpoint, model="tyni"), do="look"))


def test_where_nobody_checked_the_models_of_earlier_runs_are_offered(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    priced = endpoint.prices.first()
    assert priced is None or set(priced.table) <= {"*"}
    assert '<option value="tiny">' not in text_of(press(world, **plan(campaign, endpoint), do="form"))
    press(world, **plan(campaign, endpoint), do="start")
    assert Run.objects.get().model == "tiny"
    assert '<option value="tiny">' in text_of(press(world, **plan(campaign, endpoint, model=""), do="form"))


def test_the_start_makes_the_run_as_it_was_planned(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    more = {
        "sample": "1",
        "repeats": "3",
        "seed": "5",
        "setting": "twice",
        "temperature": "0.5",
        "concepts": ["wedding"],
    }
    reply = press(world, **plan(campaign, endpoint, **more), do="start")
    run = Run.objects.get()
    assert reply.url.endswith(f"/predictions/run/{run.pk}/")
    assert (run.model, run.prompt, run.repeats, run.seed, run.rater.setting) == ("tiny", "sheet", 3, 5, "twice")
    assert run.selection["concepts"] == ["wedding"] and run.decoding["temperature"] == 0.5
    assert Call.objects.filter(run=run).count() == 3
    again = press(world, **plan(campaign, endpoint, **more), do="start")
    assert again.status_code == 400 and "already has a run here" in text_of(again)
    assert Run.objects.count() == 1


def test_a_prompt_that_speaks_of_pixels_and_the_pictures_sent_agree_on_the_size(
    world: World, campaign: Campaign, endpoint: Endpoint, monkeypatch: Any
) -> None:
    prompt: Any = Plainly(options=(PromptOption("longest", "Longest side", "number", default=1024),))
    use(monkeypatch, prompt)
    data = plan(campaign, endpoint, prompt="plainly@1")
    assert 'name="longest"' not in text_of(press(world, **data)), "one size, asked for once"
    assert press(world, **data, **{"o-longest": "9"}, do="start").status_code == 400
    press(world, **data, **{"o-longest": "640"}, do="start")
    run = Run.objects.get()
    assert run.options["longest"] == run.prompt_options["longest"] == 640


def test_endpoints_and_campaigns_of_others_are_not_offered_and_not_taken(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    foreign = Endpoint.objects.create(team=world.other_team, name="Foreign", base_url="https://a.example/v1")
    page = text_of(world.client(world.mara).get(address(world)))
    assert "Scripted" in page and "Foreign" not in page
    assert press(world, **plan(campaign, foreign), do="start").status_code == 400
    Endpoint.objects.filter(pk=endpoint.pk).update(retired_at=timezone.now())
    assert press(world, **plan(campaign, endpoint), do="start").status_code == 400
    assert not Run.objects.exists()


@pytest.mark.parametrize("who", ["nour", "reviewer", "team_admin", "rival", "stranger"])
def test_only_those_who_work_on_the_benchmark_plan_runs(
    world: World, campaign: Campaign, endpoint: Endpoint, who: str
) -> None:
    client = world.client(getattr(world, who))
    assert client.get(address(world)).status_code == 404
    assert client.post(address(world), plan(campaign, endpoint) | {"do": "start"}).status_code == 404
    assert not Run.objects.exists()


def test_only_endpoints_that_some_prompt_can_use_are_offered(world: World, campaign: Campaign) -> None:
    an_endpoint(world, "http://127.0.0.1:9/v1", name="A server")
    an_endpoint(world, "", kind="detector", name="A detector")
    client = world.client(world.mara)
    before = text_of(client.get(address(world)))
    assert "A server" in before and "A detector" in before, "nothing is known of the sheet yet"
    page = text_of(client.get(address(world), {"campaign": campaign.pk}))
    assert "A server" in page and "A detector" not in page and "Endpoints with a compatible prompt" in page
