"""A researcher accepts a pair as it is, gives one up, takes that back, and sees what changed between two pictures."""

import re

import pytest
from django.test import Client

from benchmarks.models import Benchmark, Item
from jobs.models import Event
from papers.valueground.builder.models import Build, BuildStep
from papers.valueground.builder.services import plans
from papers.valueground.builder.services.review_items import publish_builds
from tests.chains.link_client import text_of
from tests.papers.valueground.pair_samples import add_build, add_pairs
from tests.papers.valueground.survey_samples import EIGHT, new_benchmark, page_of, upload
from tests.personas import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(world: World) -> Client:
    return world.client(world.owner)


@pytest.fixture
def benchmark(world: World, client: Client) -> Benchmark:
    benchmark = new_benchmark(world)
    upload(client, benchmark, EIGHT)
    return benchmark


@pytest.fixture
def builds(world: World, benchmark: Benchmark) -> dict[str, Build]:
    return add_pairs(benchmark, world.owner)


def act(client: Client, benchmark: Benchmark, build: Build, do: str, **more: str) -> str:
    reply = client.post(page_of(benchmark, "pairs"), {"do": do, "id": build.pk, **more}, follow=True)
    assert reply.status_code == 200
    return reply.content.decode()


def reviewed(benchmark: Benchmark) -> list[str]:
    items = Item.objects.filter(stage__benchmark=benchmark, stage__key="pair-review", withdrawn_at=None)
    return sorted(items.values_list("key", flat=True))


def test_a_pair_that_the_critic_has_not_accepted_goes_to_review_as_it_is(
    client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    build = builds["best_effort"]
    page = client.get(f"{page_of(benchmark, 'pairs')}?pair={build.pk}").content.decode()
    assert 'value="accept"' in page and 'value="give_up"' in page and 'value="send_back"' in page
    page = act(client, benchmark, build, "accept")
    assert "The pair was put under review as it is." in page and "Accepted as it is" in text_of(page)
    assert reviewed(benchmark) == ["Q10-wren"] and Event.objects.filter(verb="build.accepted").count() == 1
    assert 'value="accept"' not in page, "it is under review"
    assert "cannot be accepted as it is" in act(client, benchmark, build, "accept")
    assert reviewed(benchmark) == ["Q10-wren"], "two presses make one item"


@pytest.mark.parametrize("state", ["working", "accepted", "refused"])
def test_only_a_complete_pair_that_has_come_to_rest_is_accepted_as_it_is(
    client: Client, benchmark: Benchmark, builds: dict[str, Build], state: str
) -> None:
    """One at work, one that the critic accepted, and one without any picture."""
    build = builds[state]
    assert 'value="accept"' not in client.get(f"{page_of(benchmark, 'pairs')}?pair={build.pk}").content.decode()
    assert "cannot be accepted as it is" in act(client, benchmark, build, "accept")
    assert not Item.objects.filter(stage__benchmark=benchmark, stage__key="pair-review").exists()


def test_a_pair_that_is_given_up_leaves_review_and_comes_back(
    world: World, client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    build = builds["accepted"]
    publish_builds(build.plan, build.created_at)
    assert "Say why the pair is given up." in act(client, benchmark, build, "give_up", reason=" ")
    assert reviewed(benchmark) == ["Q10-heron"]
    page = text_of(act(client, benchmark, build, "give_up", reason="Nobody sees trust in it."))
    assert "The pair was given up." in page and "Nobody sees trust in it." in page and "Undo giving up" in page
    assert reviewed(benchmark) == [] and "Send back" not in page
    assert "Given up" in client.get(f"{page_of(benchmark, 'pairs')}?state=given_up").content.decode()
    again = {"do": "send_back", "id": build.pk, "comment": "Again.", "target": "b"}
    assert client.post(page_of(benchmark, "pairs"), again).status_code == 404
    assert not Build.objects.filter(replaces=build).exists()
    assert "cannot be given up" in act(client, benchmark, build, "give_up", reason="Twice.")
    page = text_of(act(client, benchmark, build, "take_back"))
    assert "The pair is not given up any more." in page and reviewed(benchmark) == ["Q10-heron"]
    assert "This pair is not given up." in act(client, benchmark, build, "take_back")
    build.refresh_from_db()
    assert (build.decision, build.state) == ("", "accepted")


def test_what_was_accepted_as_it_is_stays_so_after_giving_up_and_undo(
    client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    build = builds["best_effort"]
    for do in ("accept", "give_up", "take_back"):
        act(client, benchmark, build, do, reason="A doubt.")
    build.refresh_from_db()
    assert build.decision == "accepted" and reviewed(benchmark) == ["Q10-wren"]


def test_a_build_that_was_given_up_is_not_resumed_and_one_at_work_is_not_given_up(
    world: World, client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    working = builds["working"]
    assert "cannot be given up" in act(client, benchmark, working, "give_up", reason="Too slow.")
    plans.stop(working.plan, world.owner)
    act(client, benchmark, working, "give_up", reason="Too slow.")
    assert "can not be resumed" in act(client, benchmark, working, "restart")
    plans_before = working.plan.state
    client.post(page_of(benchmark, "pairs"), {"do": "resume", "id": working.plan_id})
    working.refresh_from_db()
    assert (working.state, working.decision) == ("stopped", "given_up"), plans_before
    act(client, benchmark, working, "take_back")
    act(client, benchmark, working, "restart")
    working.refresh_from_db()
    assert working.state == "planning" and working.decision == ""


def test_an_earlier_revision_is_left_alone(client: Client, benchmark: Benchmark, builds: dict[str, Build]) -> None:
    first = builds["best_effort"]
    add_build(first.plan, first.question, "wren", "criticising", revision=2, replaces=first, comment="Less angry.")
    for do in ("accept", "give_up"):
        assert "cannot be" in act(client, benchmark, first, do, reason="It is old.")
    first.refresh_from_db()
    assert first.decision == ""


def test_only_those_who_work_on_the_benchmark_decide(
    world: World, client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    other = new_benchmark(world, "other")
    for do in ("accept", "give_up", "take_back"):
        posted = {"do": do, "id": builds["best_effort"].pk, "reason": "x"}
        for user in (world.bia, world.stranger, world.rival, world.manager):
            assert world.client(user).post(page_of(benchmark, "pairs"), posted).status_code == 404
        assert client.post(page_of(other, "pairs"), posted).status_code == 404
    assert not Build.objects.exclude(decision="").exists()


def test_the_page_shows_what_changed_between_any_two_pictures(
    client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    build, address = builds["accepted"], page_of(benchmark, "pairs")
    drawn = list(BuildStep.objects.filter(build=build, image__isnull=False).order_by("number"))
    page = client.get(f"{address}?pair={build.pk}").content.decode()
    first_b, second_b = (step.pk for step in drawn if step.target == "b")
    link = f"?pair={build.pk}&amp;left={first_b}&amp;right={second_b}&amp;changed=1"
    assert link in page, "each new version leads to what changed in it"
    shown = client.get(f"{address}{link.replace('&amp;', '&')}").content.decode()
    assert re.search(r"\d+\.\d% of the pixels differ", shown) and 'class="pair-duo changed"' in shown
    assert f'href="?pair={build.pk}&amp;left={first_b}&amp;right={second_b}"' in shown, "and back"
    same = client.get(f"{address}?pair={build.pk}&left={first_b}&right={first_b}&changed=1").content.decode()
    assert "The two pictures are the same." in same
    empty = client.get(f"{address}?pair={builds['refused'].pk}&changed=1").content.decode()
    assert "Nothing is drawn yet." in empty and "differ" not in empty
