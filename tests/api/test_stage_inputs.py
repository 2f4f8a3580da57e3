"""The runs whose answers a stage judges, by REST: read with what became of their answers, and chosen."""

from benchmarks.models import Stage
from tests.annotation.chain.factories import live_items, process_derivations
from tests.annotation.chain.judged_scene import Scene
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.test_stage_inputs import a_run

STAGES = "/api/v1/benchmarks/sea-and-river/stages/"
INPUTS = f"{STAGES}judge/inputs/"


@built_once
def scene(world: World) -> Scene:
    Stage.objects.filter(benchmark=world.benchmark).delete()
    scene = Scene(questions=2, benchmark=world.benchmark, people="leave_one_out")
    scene.people_answer()
    return scene


def test_runs_are_chosen_and_their_answers_become_items(world: World, scene: Scene) -> None:
    run, client = a_run(scene, "A"), program(world.mara, "write")
    process_derivations()
    before = client.get(INPUTS)
    [row] = before.json()["runs"]
    assert (row["model"], row["run"], row["chosen"], row["answers"], row["items"]) == ("A", run.pk, False, 2, 0)
    assert before.json()["people"]["items"] == 6
    problem(send(client, "PUT", INPUTS, {"chosen": [row["id"]]}), 428, "precondition-required")
    chosen = send(client, "PUT", INPUTS, {"chosen": [row["id"]]}, if_match=before["ETag"])
    assert chosen.json()["runs"][0]["chosen"], chosen.content
    problem(send(client, "PUT", INPUTS, {"chosen": []}, if_match=before["ETag"]), 412, "stale")
    process_derivations()
    assert len(live_items(scene.judge)) == 8
    assert not send(client, "PUT", INPUTS, {"chosen": []}, if_match="*").json()["runs"][0]["chosen"]
    process_derivations()
    assert len(live_items(scene.judge)) == 6


def test_what_cannot_be_chosen_is_named_and_others_choose_nothing(world: World, scene: Scene) -> None:
    a_run(scene, "A")
    client = program(world.mara, "write")
    reply = problem(send(client, "PUT", INPUTS, {"chosen": ["1-999999"]}, if_match="*"), 422, "refused")
    assert [error["pointer"] for error in reply["errors"]] == ["/chosen/0"]
    assert client.get(f"{STAGES}ask/inputs/").json() == {"judges": False, "runs": [], "people": None, "by_setting": []}
    problem(send(client, "PUT", f"{STAGES}ask/inputs/", {"chosen": []}, if_match="*"), 409, "conflict")
    for user in (world.reviewer, world.rival, world.stranger, world.nour):
        problem(program(user, "read").get(INPUTS), 404, "not-found")
        problem(send(program(user, "admin"), "PUT", INPUTS, {"chosen": []}, if_match="*"), 404, "not-found")
    problem(send(program(world.mara, "read"), "PUT", INPUTS, {"chosen": []}), 403, "insufficient-scope")
