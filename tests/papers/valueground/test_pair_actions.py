"""Pairs are built from the page with the practice model: started, stopped, resumed, and sent back with a comment."""

from collections import Counter
from collections.abc import Iterator

import pytest
from django.test import Client

from benchmarks.models import Benchmark, Item
from papers.valueground.builder.models import Build, BuildPlan
from predictions.models import Endpoint
from tests.chains.link_client import text_of
from tests.chains.researcher import do_waiting_work
from tests.module_world import built_once
from tests.papers.valueground.pair_samples import add_pairs, confirm
from tests.papers.valueground.survey_samples import CODEBOOK, METADATA, new_benchmark, page_of, upload
from tests.personas import World
from tests.predictions.request_helpers import an_endpoint
from tests.start.test_practice import serving_practice_model

pytestmark = pytest.mark.django_db
WORDS = {"Q10": "[practice: accept]", "Q2": "[practice: accept] [practice: never source=wren]"}


@pytest.fixture
def client(world: World) -> Client:
    return world.client(world.owner)


@built_once
def benchmark(world: World) -> Benchmark:
    """Two questions are confirmed, with words for the practice model."""
    benchmark = new_benchmark(world)
    metadata = {
        key: {**entry, "question": f"{entry['question']} {WORDS.get(key, '')}"} for key, entry in METADATA.items()
    }
    upload(world.client(world.owner), benchmark, {"codebook": CODEBOOK, "metadata": metadata})
    confirm(benchmark, *WORDS)
    return benchmark


@pytest.fixture
def endpoint(world: World) -> Iterator[Endpoint]:
    with serving_practice_model() as address:
        yield an_endpoint(world, address, offers=["images", "schema", "seed"])


def plan_form(endpoint: Endpoint | None, *models: str, **more: str) -> dict[str, str]:
    form = {"configuration": "planner_editor_critic", "edit_rounds": "2", "replans": "2", "regenerate": "side",
            "base_seed": "5", **more}  # fmt: skip
    for row, model in enumerate(models, start=1):
        form |= {f"s{row}-key": model, f"s{row}-chat_model": f"practice-{model}", f"s{row}-image_model": "practice"}
        form |= {f"s{row}-{part}": str(endpoint.pk) for part in ("chat_endpoint", "image_endpoint") if endpoint}
    return form


def test_pairs_are_built_reviewed_and_sent_back(
    world: World, client: Client, benchmark: Benchmark, endpoint: Endpoint
) -> None:
    address = page_of(benchmark, "pairs")
    assert "Build pairs" in client.get(address).content.decode()
    form = plan_form(endpoint, "heron", "wren", best_effort_to_review="on")
    outlook = client.post(f"{address}?new=1", {**form, "do": "cost"}).content.decode()
    assert "4 pairs would be built." in outlook and not BuildPlan.objects.exists()
    assert client.post(f"{address}?new=1", {**form, "do": "start"}).url == address
    do_waiting_work()
    assert Counter(Build.objects.values_list("state", flat=True)) == {"accepted": 3, "best_effort": 1}
    items = Item.objects.filter(stage__benchmark=benchmark, stage__key="pair-review", withdrawn_at=None)
    assert sorted(items.values_list("concept", "condition")) == [
        ("Q10", "heron"), ("Q10", "wren"), ("Q2", "heron"), ("Q2", "wren"),
    ]  # fmt: skip
    build = Build.objects.get(question__key="Q10", source__key="heron")
    again = client.post(f"{address}?new=1", {**form, "do": "start"})
    assert again.status_code == 400 and "has a build of" in again.content.decode(), "nothing is built twice"
    reply = client.post(address, {"do": "send_back", "id": build.pk, "comment": "A calmer face.", "target": "b"})
    assert reply.url == f"{address}?pair={build.pk}"
    do_waiting_work()
    second = Build.objects.get(replaces=build)
    assert (second.state, second.revision, second.comment) == ("accepted", 2, "A calmer face.")
    assert second.item is not None and second.item.replaces == build.item
    assert "A calmer face." in client.get(f"{address}?pair={second.pk}").content.decode()


def test_without_an_endpoint_the_form_leads_to_one(client: Client, benchmark: Benchmark) -> None:
    page = client.get(f"{page_of(benchmark, 'pairs')}?new=1").content.decode()
    assert "no endpoint that answers chats and draws pictures" in page and "s1-key" not in page
    assert f"/teams/{benchmark.team.slug}/models/" in page


def test_the_forecast_names_endpoints_without_a_seed(world: World, client: Client, benchmark: Benchmark) -> None:
    address = f"{page_of(benchmark, 'pairs')}?new=1"
    for offers, is_named in ((["images", "schema", "seed"], False), (["images"], True)):
        endpoint = an_endpoint(world, "http://localhost:1/v1", offers=offers, name="Seedy" if is_named else "Sown")
        page = text_of(client.post(address, {**plan_form(endpoint, "heron"), "do": "cost"}).content.decode())
        assert "2 pairs would be built." in page and ("“Seedy” takes no seed" in page) is is_named


def test_a_further_source_without_a_key_is_named_after_its_number(
    client: Client, benchmark: Benchmark, endpoint: Endpoint
) -> None:
    form = {**plan_form(endpoint, "heron", "wren"), "s2-key": ""}
    reply = client.post(f"{page_of(benchmark, 'pairs')}?new=1", {**form, "do": "start"})
    assert reply.status_code == 302
    assert sorted(BuildPlan.objects.get().sources.values_list("key", flat=True)) == ["heron", "source2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"s1-key": ""}, "Fill this in, or leave the whole source empty."),
        ({"s1-key": "two words"}, "Use letters, digits and hyphens."),
        ({"questions": "Q10 Q99"}, "Not confirmed in the survey: Q99."),
        ({"budget": "0"}, "greater than or equal to"),
        ({"budget": "1"}, "A budget needs a price."),
    ],
)
def test_a_plan_that_could_not_succeed_is_refused_and_what_was_typed_stays(
    client: Client, benchmark: Benchmark, endpoint: Endpoint, change: dict[str, str], message: str
) -> None:
    form = {**plan_form(endpoint, "heron"), "s1-size": "512x512", **change}
    reply = client.post(f"{page_of(benchmark, 'pairs')}?new=1", {**form, "do": "start"})
    assert reply.status_code == 400 and message in text_of(reply.content.decode())
    assert 'value="512x512"' in reply.content.decode() and not BuildPlan.objects.exists()


def test_a_plan_is_stopped_and_resumed(world: World, client: Client, benchmark: Benchmark) -> None:
    build = add_pairs(benchmark, world.owner)["working"]
    address, plan = page_of(benchmark, "pairs"), {"id": build.plan_id}
    page = client.post(address, {"do": "stop", **plan}, follow=True).content.decode()
    assert "The plan was stopped." in page and "Raise the budget" in page
    build.refresh_from_db()
    assert build.state == "stopped"
    page = client.post(address, {"do": "budget", "budget": "1", **plan}, follow=True).content.decode()
    assert "Give a budget above the present one." in page
    page = client.post(address, {"do": "budget", "budget": "x", **plan}, follow=True).content.decode()
    assert "Give the budget as a number" in page
    assert "The plan goes on." in client.post(address, {"do": "resume", **plan}, follow=True).content.decode()
    page = client.post(address, {"do": "restart", "id": build.pk}, follow=True).content.decode()
    assert "can not be resumed" in page


def test_only_those_who_work_on_the_benchmark_act_and_only_on_their_own_pairs(
    world: World, client: Client, benchmark: Benchmark
) -> None:
    build = add_pairs(benchmark, world.owner)["working"]
    other = new_benchmark(world, "other")
    acts = [{"do": "stop", "id": build.plan_id}, {"do": "restart", "id": build.pk}, {"do": "start"},
            {"do": "send_back", "id": build.pk, "comment": "x"}]  # fmt: skip
    for act in acts:
        for user in (world.bia, world.stranger, world.rival):
            assert world.client(user).post(page_of(benchmark, "pairs"), act).status_code == 404
        if "id" in act:
            assert client.post(page_of(other, "pairs"), act).status_code == 404
    assert client.post(page_of(benchmark, "pairs"), {"do": "erase", "id": build.pk}).status_code == 404
    assert client.post(page_of(benchmark, "pairs"), acts[-1]).status_code == 404, "nobody reviews it yet"
    assert BuildPlan.objects.get().state == "running"
