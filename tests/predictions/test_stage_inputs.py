"""The page Judged items: which runs a stage takes, and what became of their answers."""

import re

import pytest
from django.utils import timezone

from annotation.models import StageInput, Unit
from annotation.services.campaigns import lifecycle
from benchmarks.models import Stage
from jobs.models import Event
from people.models import Rater
from predictions.models import Call, Run
from tests.annotation.chain.factories import answer, claim_sheet, create_open_campaign, live_items, process_derivations
from tests.annotation.chain.judged_scene import Scene
from tests.chains.link_client import text_of
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db


@built_once
def scene(world: World) -> Scene:
    """Two questions, three people and two models, A in run 1 and B in run 2; B refused the second question."""
    Stage.objects.filter(benchmark=world.benchmark).delete()
    scene = Scene(questions=2, benchmark=world.benchmark, people="leave_one_out")
    scene.people_answer()
    return scene


def a_run(scene: Scene, name: str, texts: dict[int, str] | None = None) -> Run:
    rater = Rater.objects.create(kind="model", team=scene.ask.benchmark.team, name=name, setting="vlm")
    run = Run.objects.create(
        benchmark=scene.ask.benchmark, rater=rater, campaign=scene.replying, task=Run.Task.ANSWERS, model=name
    )
    scene.model_answers(name, run.pk, texts)
    return run


def fail_call(run: Run, stage: Stage, item_number: int, state: str) -> None:
    item = live_items(stage)[item_number]
    unit, _new = Unit.objects.get_or_create(item=item, target="")
    Call.objects.create(run=run, item=item, unit=unit, state=state, reason="no_number", ended_at=timezone.now())


def path(world: World, scene: Scene) -> str:
    return f"/b/{world.benchmark.slug}/stages/{scene.judge.pk}/inputs/"


def rows(world: World, scene: Scene) -> dict[str, list[str]]:
    """By the checkbox: answers, items made, judged, unreadable, without answer, waiting."""
    page = world.client(world.mara).get(path(world, scene)).content.decode()
    found = re.findall(r'<tr role="row" data-run="([^"]+)">(.*?)</tr>', page, re.DOTALL)
    return {value: re.findall(r'<td [^>]*class="num"[^>]*>([^<]*)</td>', row) for value, row in found}


def test_a_researcher_chooses_runs_and_reads_what_became_of_their_answers(world: World, scene: Scene) -> None:
    first, second = a_run(scene, "A"), a_run(scene, "B", {0: "B says"})
    fail_call(second, scene.reply, 1, "refused")
    process_derivations()
    a, b = (f"{run.rater_id}-{run.pk}" for run in (first, second))
    assert rows(world, scene) == {
        a: ["2", "0", "0", "0", "0", "–"],
        b: ["1", "0", "0", "0", "1", "–"],
        "people": ["6", "6", "0", "0", "–", "0"],
        "total": ["6", "6", "0", "0", "0", "0"],
    }
    client = world.client(world.mara)
    reply = client.post(path(world, scene), {"run": [a, b]}, follow=True)
    assert "2 runs were changed" in reply.content.decode()
    process_derivations()
    judging = create_open_campaign(scene.judge, scene.cohort)
    judge_run = Run.objects.create(
        benchmark=world.benchmark, rater=first.rater, campaign=judging, task=Run.Task.ANSWERS, model="J"
    )
    answer(claim_sheet(scene.person(), judging, scene.cohort), good="1")
    shown = rows(world, scene)
    assert [shown[key][:2] for key in (a, b, "people", "total")] == [["2", "2"], ["1", "1"], ["6", "6"], ["9", "9"]]
    assert shown["total"][2] == "1" and shown["total"][4:] == ["1", "0"]
    unjudged = next(n for n, item in enumerate(live_items(scene.judge)) if not _is_judged(item.pk))
    fail_call(judge_run, scene.judge, unjudged, "unparseable")
    assert rows(world, scene)["total"][2:4] == ["1", "1"]
    assert Event.objects.filter(verb="stage.runs_chosen").count() == 1


def test_without_a_chosen_run_there_is_no_total_and_the_page_says_what_to_do(world: World, scene: Scene) -> None:
    params = {key: value for key, value in scene.judge.derivation["params"].items() if key != "people"}
    Stage.objects.filter(pk=scene.judge.pk).update(derivation={**scene.judge.derivation, "params": params})
    run = a_run(scene, "A")
    value, client, sentence = f"{run.rater_id}-{run.pk}", world.client(world.mara), "No run is chosen yet."
    assert set(rows(world, scene)) == {value} and sentence in client.get(path(world, scene)).content.decode()
    client.post(path(world, scene), {"run": [value]})
    process_derivations()
    assert set(rows(world, scene)) == {value, "total"}
    assert sentence not in client.get(path(world, scene)).content.decode()


def _is_judged(item: int) -> bool:
    return Unit.objects.filter(item=item, assignments__annotations__counted=True).exists()


def test_a_run_that_is_left_out_loses_its_items_and_another_choice_changes_nothing(world: World, scene: Scene) -> None:
    run = a_run(scene, "A")
    value, client = f"{run.rater_id}-{run.pk}", world.client(world.mara)
    client.post(path(world, scene), {"run": [value]})
    process_derivations()
    assert len(live_items(scene.judge)) == 8
    again = client.post(path(world, scene), {"run": [value]}, follow=True).content.decode()
    assert "Nothing was changed." in again
    client.post(path(world, scene), {})
    process_derivations()
    assert len(live_items(scene.judge)) == 6
    assert StageInput.objects.get().state == "left_out"


def test_items_that_wait_for_references_and_items_that_changed_are_counted(world: World, scene: Scene) -> None:
    Stage.objects.filter(pk=scene.judge.pk).update(
        derivation={**scene.judge.derivation, "params": {"field": "answer", "runs": {"settings": ["vlm"]}}}
    )
    run = a_run(scene, "A")
    place = scene.replying.cohorts.get()
    lifecycle.change_target(place, 4, None)
    process_derivations()
    assert rows(world, scene)[f"{run.rater_id}-{run.pk}"] == ["2", "0", "0", "0", "0", "2"]
    lifecycle.change_target(place, 3, None)
    process_derivations()
    lifecycle.change_target(place, 4, None)
    scene.people_answer(1)
    process_derivations()
    page = world.client(world.mara).get(path(world, scene)).content.decode()
    assert "2 items changed because a reference changed" in page
    assert "New runs with these prompt variants are chosen automatically: vlm." in page


def test_answers_of_fewer_people_than_a_judge_needs_are_named(world: World) -> None:
    """The stage wants three, its campaign two: what the campaign wants is what people give."""
    Stage.objects.filter(benchmark=world.benchmark).delete()
    scene = Scene(target=2, benchmark=world.benchmark, people="leave_one_out", least=3)
    scene.people_answer(2)
    a_run(scene, "A")
    page = world.client(world.mara).get(path(world, scene)).content.decode()
    assert "judged where at least 3 people answered the question. The campaign wants 2 of each" in text_of(page)


def test_a_stage_of_chosen_runs_asks_for_the_choice(world: World) -> None:
    """On the board and as the next action, from the first answer of a model on until a run is chosen."""
    Stage.objects.filter(benchmark=world.benchmark).delete()
    scene = Scene(benchmark=world.benchmark)
    create_open_campaign(scene.judge, scene.cohort)
    board, text = f"/b/{world.benchmark.slug}/", "waits for you to choose the runs"
    scene.people_answer(3)
    assert text not in world.client(world.mara).get(board).content.decode()
    run = a_run(scene, "A")
    page = world.client(world.mara).get(board).content.decode()
    assert text in page and "No items: no run is chosen yet" in page and path(world, scene) in page
    assert text not in world.client(world.reviewer).get(board).content.decode()
    world.client(world.mara).post(path(world, scene), {"run": [f"{run.rater_id}-{run.pk}"]})
    assert text not in world.client(world.mara).get(board).content.decode()


def test_only_runs_of_the_page_can_be_chosen(world: World, scene: Scene) -> None:
    run = a_run(scene, "A")
    other = Rater.objects.create(kind="model", team=world.other_team, name="Theirs")
    for value in (f"{other.pk}-1", f"{run.rater_id}-{run.pk + 1}", "x", "1-", "-"):
        reply = world.client(world.mara).post(path(world, scene), {"run": [value]})
        assert reply.status_code == 400 and "not on this page any more" in reply.content.decode(), value
    assert not StageInput.objects.exists()


def test_others_neither_see_nor_choose(world: World, scene: Scene) -> None:
    run = a_run(scene, "A")
    refused = (world.stranger, world.rival, world.nour, world.manager, world.reviewer, None)
    for user in refused:
        client = world.client(user)
        sent = client.post(path(world, scene), {"run": [f"{run.rater_id}-{run.pk}"]})
        for reply in (client.get(path(world, scene)), sent):
            assert reply.status_code == (404 if user else 302), user
    elsewhere = f"/b/{world.other_benchmark.slug}/stages/{scene.judge.pk}/inputs/"
    assert world.client(world.rival).get(elsewhere).status_code == 404
    assert not StageInput.objects.exists()
    index = world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/").content.decode()
    assert path(world, scene) in index


def test_a_stage_that_judges_nothing_says_so(world: World, scene: Scene) -> None:
    stage_path = f"/b/{world.benchmark.slug}/stages/{scene.ask.pk}/inputs/"
    page = world.client(world.mara).get(stage_path)
    assert page.status_code == 200 and "are not answers to judge" in page.content.decode()
    assert world.client(world.mara).post(stage_path, {"run": ["1-1"]}).status_code == 400
