"""A real vision-language model answers the sheets of CAIRE and ValueGround, over the wire, as any other rater."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from annotation.models import Annotation, Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item, ItemImage, Stage
from benchmarks.services.benchmarks import create_from_recipe
from predictions.backends.contract import Decoding
from predictions.models import Attempt, Call, Run
from predictions.prompts import registry
from tests.personas import World
from tests.predictions.request_helpers import a_plan, an_endpoint, drive_run, start_run, states
from tests.predictions.shapes import store
from tests.predictions.tiny_clip import KINDS, draw_shape, png
from tests.predictions.vlm_server import Server, serving_vlm

pytestmark = pytest.mark.django_db(transaction=True)
OFFERS = ["images", "schema", "guided", "logprobs", "continuation"]


@pytest.fixture(scope="module")
def vlm(needs_models: None) -> Iterator[Server]:
    with serving_vlm() as server:
        yield server


@pytest.fixture(autouse=True)
def afresh(vlm: Server) -> None:
    vlm.ways.clear()
    vlm.schemas, vlm.model.prefers = False, "12345"


def units(world: World, recipe: str, stage: str, count: int, roles: tuple[str, ...], text: str = "") -> Campaign:
    """An open campaign for Egypt over drawn pictures of their own."""
    source_stage = create_from_recipe(world.team, recipe, recipe, f"{recipe}-{count}", world.owner).stages.get(
        key=stage
    )
    Stage.objects.filter(pk=source_stage.pk).update(own_items_only=False)
    for number in range(count):
        item = Item.objects.create(
            stage=source_stage, key=f"item-{number:03}", concept="shape", origin="Egypt", text=text
        )
        for place, role in enumerate(roles):
            image = store(world.team, png(draw_shape(*KINDS[(number + 3 * place) % 16], seed=number)))
            ItemImage.objects.create(item=item, image=image, role=role)
    source_stage.refresh_from_db()
    campaign = lifecycle.create(source_stage, "Round 1", world.owner, {world.egypt: 1}, seed=7)
    lifecycle.open_campaign(campaign, world.owner, timezone.now())
    campaign.refresh_from_db()
    return campaign


def a_run(world: World, vlm: Server, campaign: Campaign, prompt: str, *ways: str, **more: Any) -> Run:
    name = f"Tiny {Run.objects.count()}"
    endpoint = an_endpoint(world, vlm.base_url, name=name, offers=OFFERS, timeout_seconds=120)
    plan = a_plan(campaign, endpoint, registry.prompt(prompt), model="tiny-vlm", decoding=Decoding(ways=ways), **more)
    return drive_run(start_run(world, plan))


def count_methods(run: Run) -> dict[str, int]:
    found = list(Call.objects.filter(run=run).values_list("how", flat=True))
    return {one: found.count(one) for one in set(found)}


def test_fifty_pictures_of_caire_by_log_probabilities_and_by_text_where_the_schema_is_refused(
    world: World, vlm: Server
) -> None:
    campaign = units(world, "caire-universal", "relevance", 50, ("image",))
    scored = a_run(world, vlm, campaign, "caire-digit-plain")
    assert (scored.state, states(scored), count_methods(scored)) == ("done", {"answered": 50}, {"logprobs": 50})
    assert vlm.ways == {"logprobs": 50}
    for annotation in Annotation.objects.filter(rater=scored.rater):
        assert annotation.answers["relevance"] in "12345"
    for call in Call.objects.filter(run=scored):
        shares = call.notes["distribution"]
        assert set(shares) <= set("12345") and sum(shares.values()) == pytest.approx(1)
        assert call.annotation and max(shares, key=shares.get) == call.annotation.answers["relevance"]
    assert len({call.notes["distribution"]["1"] for call in Call.objects.filter(run=scored)}) > 40  # it looked
    vlm.ways.clear()
    fallen = a_run(
        world, vlm, campaign, "caire-digit-plain", "schema", "text", setting="schema", selection={"sample": 10}
    )
    assert count_methods(fallen) == {"text": 10} and states(fallen) == {"answered": 10}
    assert vlm.ways["text"] == 10 and 1 <= vlm.ways["schema refused"] <= 4  # those under way when the first was refused
    assert scored.rater != fallen.rater, "another way of asking is another measurement"
    assert not Attempt.objects.filter(call__run=fallen).exclude(outcome="reply").exists()
    vlm.schemas = True
    filled = a_run(world, vlm, campaign, "caire-digit-plain", "schema", setting="schema, kept", selection={"sample": 5})
    assert count_methods(filled) == {"schema": 5} and states(filled) == {"answered": 5}


def test_twenty_questions_of_valueground_with_the_order_mapped_back(world: World, vlm: Server) -> None:
    campaign = units(world, "valueground", "choice", 20, ("a", "b"), text="Is work a duty towards society?")
    Item.objects.filter(stage=campaign.stage).update(concept=F("key"))  # questions, each with an order of its own
    vlm.model.prefers = "AB"
    run = a_run(world, vlm, campaign, "valueground-main")
    assert (run.state, states(run), count_methods(run)) == ("done", {"answered": 20}, {"text": 20})
    guided = a_run(world, vlm, campaign, "valueground-main", "guided", setting="guided")
    assert (states(guided), count_methods(guided)) == ({"answered": 20}, {"guided": 20})
    for call in [*Call.objects.filter(run=run), *Call.objects.filter(run=guided)]:
        assert sorted(call.order) == ["a", "b"]
        assert call.annotation
        assert call.annotation.answers["choice"] == call.order["AB".index(call.notes["letter"])]
    assert {tuple(order) for order in Call.objects.filter(run=run).values_list("order", flat=True)} == {
        ("a", "b"),
        ("b", "a"),
    }
    vlm.model.prefers = "?"
    unread = a_run(world, vlm, campaign, "valueground-main", setting="prose")
    assert states(unread) == {"unparseable": 20} and not Annotation.objects.filter(rater=unread.rater).exists()


def test_the_likelihood_of_a_culture_is_the_models_own(world: World, vlm: Server) -> None:
    """Of a continuation after a picture: every token of it, and nothing of the question."""
    from predictions.backends.openai import OpenAI
    from predictions.prompts.contract import ImagePart, Message, Request, TextPart

    image = png(draw_shape("red", "circle", 1))
    asked = Request(
        kind="continuation", continuation=" Egypt",
        messages=(Message("user", (ImagePart("sha"), TextPart("This text is relevant to"))),),
    )  # fmt: skip
    backend = OpenAI(vlm.base_url, offers=OFFERS, seconds=60)
    likelihood_reply = backend.answer(asked, "tiny-vlm", Decoding(), lambda sha: image).reply
    assert "".join(token.text for token in likelihood_reply.tokens).strip() == "Egypt"
    other = backend.answer(asked, "tiny-vlm", Decoding(), lambda sha: png(draw_shape("blue", "cross", 2))).reply
    assert sum(one.logprob for one in likelihood_reply.tokens) != sum(one.logprob for one in other.tokens)
    backend.close()
