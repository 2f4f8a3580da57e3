"""A researcher puts a pair under review, accepts one as it is, gives one up, takes that back, and sees what changed."""

import re

import pytest
from django.test import Client

from benchmarks.models import Benchmark, Item
from jobs.models import Event
from papers.valueground.builder.models import Build, BuildStep
from papers.valueground.builder.services import plans
from papers.valueground.builder.services.review_items import publish_builds
from tests.annotation.chain.factories import answer, claim_sheet, create_open_campaign
from tests.annotation.queue.factories import a_person
from tests.chains.link_client import text_of
from tests.chains.researcher import do_waiting_work
from tests.module_world import built_once
from tests.papers.valueground.pair_samples import StepLog, add_build, add_pairs
from tests.papers.valueground.survey_samples import EIGHT, new_benchmark, page_of, upload
from tests.personas import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(world: World) -> Client:
    return world.client(world.owner)


@built_once
def benchmark(world: World) -> Benchmark:
    benchmark = new_benchmark(world)
    upload(world.client(world.owner), benchmark, EIGHT)
    return benchmark


@built_once
def builds(world: World, benchmark: Benchmark) -> dict[str, Build]:
    return add_pairs(benchmark, world.owner)


def act(client: Client, benchmark: Benchmark, build: Build, do: str, **more: str) -> str:
    reply = client.post(page_of(benchmark, "pairs"), {"do": do, "id": build.pk, **more}, follow=True)
    assert reply.status_code == 200
    return reply.content.decode()


def reviewed(benchmark: Benchmark) -> list[str]:
    items = Item.objects.filter(stage__benchmark=benchmark, stage__key="pair-review", withdrawn_at=None)
    return sorted(items.values_list("key", flat=True))


def test_a_pair_that_the_critic_has_not_accepted_goes_to_review(
    client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    build = builds["best_effort"]
    page = client.get(f"{page_of(benchmark, 'pairs')}?pair={build.pk}").content.decode()
    assert all(f'value="{do}"' in page for do in ("review", "accept", "give_up", "send_back"))
    page = act(client, benchmark, build, "review")
    assert "The pair was put under review." in page and "Put under review by a person" in text_of(page)
    assert reviewed(benchmark) == ["Q10-wren"] and Event.objects.filter(verb="build.accepted").count() == 1
    assert 'value="review"' not in page and "0 answers so far" in text_of(page)
    assert "cannot be put under review" in act(client, benchmark, build, "review")
    assert reviewed(benchmark) == ["Q10-wren"], "two presses make one item"


@pytest.mark.parametrize("state", ["working", "accepted", "refused"])
def test_only_a_complete_pair_that_has_come_to_rest_is_put_under_review_or_accepted(
    client: Client, benchmark: Benchmark, builds: dict[str, Build], state: str
) -> None:
    """One at work, one that the critic accepted, which is there by itself, and one without any picture."""
    build = builds[state]
    page = client.get(f"{page_of(benchmark, 'pairs')}?pair={build.pk}").content.decode()
    assert 'value="review"' not in page and 'value="accept"' not in page
    assert "cannot be put under review" in act(client, benchmark, build, "review")
    assert "cannot be accepted as it is" in act(client, benchmark, build, "accept", reason="It is good.")
    assert not Item.objects.filter(stage__benchmark=benchmark, stage__key="pair-review").exists()


def test_accepted_as_it_is_overrides_the_rule_of_review_until_it_is_undone(
    world: World, client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    build = builds["accepted"]
    other = Build.objects.get(pk=builds["best_effort"].pk)
    publish_builds(build.plan, build.created_at)
    act(client, benchmark, other, "review")
    judge_pairs(world, benchmark)
    choice = benchmark.stages.get(key="choice")
    page = text_of(client.get(f"{page_of(benchmark, 'pairs')}?pair={build.pk}").content.decode())
    assert "People" in page and "Not accepted · 1 reviewer · mean total 0.88 of 1" in page
    assert "Pair match 1 of 2" in page and "The pictures are alike in all else by 1 of 1 answer" in page
    assert "Say why the pair is accepted" in act(client, benchmark, build, "accept", reason=" ")
    for accepted in (build, other):
        page = text_of(act(client, benchmark, accepted, "accept", reason="The door says it."))
        do_waiting_work()
        assert "It goes on to the later stages." in page and "Undo accepting as it is" in page
    assert "The rule does not accept it" in page and "The door says it." in page
    assert sorted(choice.items.filter(withdrawn_at=None).values_list("condition", flat=True)) == ["heron", "wren"]
    matrix = client.get(f"{page_of(benchmark, 'pairs')}?state=as_it_is").content.decode()
    assert "Accepted as it is 2" in text_of(matrix) and "The door says it." in matrix
    note = "2 pairs were accepted as they are by a person"
    assert note in table_text(client, benchmark, "table-1"), "tables say how many"
    assert "cannot be accepted" in act(client, benchmark, build, "accept", reason="Twice.")
    act(client, benchmark, build, "give_up", reason="A doubt.")
    assert "1 pair was accepted as it is" in table_text(client, benchmark, "table-1")
    assert "Undo accepting as it is" in act(client, benchmark, build, "take_back"), "as it was before"
    assert "The rule of its review decides." in act(client, benchmark, build, "take_back")
    do_waiting_work()
    assert not choice.items.filter(withdrawn_at=None).exists(), "a question needs the pairs of both sources"
    assert "neither given up nor accepted" in act(client, benchmark, build, "take_back")


def judge_pairs(world: World, benchmark: Benchmark) -> None:
    """One person judges every pair, and finds that the pictures of each differ too much."""
    campaign = create_open_campaign(benchmark.stages.get(key="pair-review"), world.brazil)
    rater = a_person(world.brazil)
    assert rater.user is not None
    world.give_consent(world.team, rater.user)
    while (sheet := claim_sheet(rater, campaign, world.brazil)) is not None:
        answer(sheet, match_a="2", match_b="2", pair_match="1", no_cue="1")
    do_waiting_work()


def table_text(client: Client, benchmark: Benchmark, key: str) -> str:
    return text_of(client.get(f"/b/{benchmark.slug}/tables/{key}/?scored_by=person").content.decode())


def test_the_tabs_show_each_round_and_the_page_says_what_a_comment_costs(
    client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    build = builds["accepted"]
    publish_builds(build.plan, build.created_at)
    page = client.get(f"{page_of(benchmark, 'pairs')}?pair={build.pk}").content.decode()
    tabs = re.findall(r'<a href="([^"]+)"( aria-current="true")?>(Round \d)</a>', page)
    assert [(name, bool(current)) for _address, current, name in tabs] == [("Round 1", False), ("Round 2", True)]
    first = client.get(f"{page_of(benchmark, 'pairs')}{tabs[0][0].replace('&amp;', '&')}").content.decode()
    steps = BuildStep.objects.filter(build=build, image__isnull=False, edit_round=0, target__in="ab").order_by("target")
    chosen = re.findall(r'<option value="(\d+)" selected>', first)
    assert chosen[:2] == [str(step.pk) for step in steps]
    cost_text = "A round takes about $ 0.0400 for one picture, $ 0.0500 for both, $ 0.0600 with a new plan."
    assert cost_text in text_of(page) and "It takes about 1 minute." in text_of(page)
    BuildStep.objects.filter(build=build, kind="critic").update(cost=None)
    page = client.get(f"{page_of(benchmark, 'pairs')}?pair={build.pk}").content.decode()
    assert "What a round costs is not known" in text_of(page)


def test_a_pair_that_a_model_refused_is_read_and_planned_again(
    client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    build = builds["refused"]
    StepLog(build).add("base", state="refused", output={"message": "No picture of a door."})
    page = client.get(f"{page_of(benchmark, 'pairs')}?pair={build.pk}").content.decode()
    assert "No picture of a door." in text_of(page) and "Not this picture." in page
    assert "No picture was drawn." in page
    assert "Not this picture." in client.get(f"{page_of(benchmark, 'pairs')}?state=refused").content.decode()
    assert "Plan again" in page and '<option value="a"' not in page, "there is no pair to change"
    act(client, benchmark, build, "send_back", comment="Show a window.", target="plan")
    again = Build.objects.get(replaces=build)
    assert (again.state, again.revision, again.comment_target) == ("planning", 2, "plan")


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
    assert "neither given up nor accepted" in act(client, benchmark, build, "take_back")
    build.refresh_from_db()
    assert (build.decision, build.state) == ("", "accepted")


def test_what_was_put_under_review_stays_so_after_giving_up_and_undo(
    client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    build = builds["best_effort"]
    for do in ("review", "give_up", "take_back"):
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
    for do in ("review", "accept", "give_up"):
        assert "cannot be" in act(client, benchmark, first, do, reason="It is old.")
    first.refresh_from_db()
    assert first.decision == ""


def test_only_those_who_work_on_the_benchmark_decide(
    world: World, client: Client, benchmark: Benchmark, builds: dict[str, Build]
) -> None:
    other = new_benchmark(world, "other")
    for do in ("review", "accept", "give_up", "take_back"):
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
    assert "No picture was drawn." in empty and "differ" not in empty
