"""Stages by REST: written as a draft, checked as in the composer, published; their filters and coverage."""

from typing import Any

from annotation.models import Slot, StageDraft, StageVersion
from annotation.services.derivation import derived_items
from benchmarks.models import Stage
from jobs.models import Job
from tests.annotation.chain.factories import (
    ANSWER,
    a_stage,
    create_open_campaign,
    items,
    live_items,
    process_derivations,
)
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.personas import SHEET, World

B = "/api/v1/benchmarks/sea-and-river/"
STAGE = f"{B}stages/relevance/"


def pointers(reply: Any) -> set[str]:
    return {error["pointer"] for error in problem(reply, 422, "refused")["errors"]}


def test_a_draft_is_written_checked_and_published(world: World) -> None:
    client = program(world.mara, "write")
    assert [row["key"] for row in client.get(f"{B}stages/").json()["results"]] == ["relevance"]
    draft = client.get(f"{STAGE}draft/")
    assert (draft.json()["saved_at"], draft.json()["content"]["sheet"]) == (None, SHEET)
    change = {"name": "How relevant?", "target_answers": 4, "layout": {"show": [{"key": "prompt"}]}}
    problem(send(client, "PUT", f"{STAGE}draft/", change), 428, "precondition-required")
    saved = send(client, "PUT", f"{STAGE}draft/", change, if_match=draft["ETag"])
    assert saved.status_code == 200, saved.content
    assert saved.json()["content"]["target_answers"] == 4 and saved.json()["saved_at"]
    problem(send(client, "PUT", f"{STAGE}draft/", change, if_match=draft["ETag"]), 412, "stale")
    assert client.get(STAGE).json()["target_answers"] == 2, "a draft changes nothing"
    published = send(client, "POST", f"{STAGE}publish/")
    assert (published.json()["target_answers"], published.json()["version"]) == (4, 2)
    problem(send(client, "POST", f"{STAGE}publish/"), 409, "conflict")
    versions = client.get(f"{STAGE}versions/").json()["results"]
    assert [row["content"]["target_answers"] for row in versions] == [2, 4]
    assert StageVersion.objects.count() == 2 and not StageDraft.objects.exists()


def test_what_the_composer_refuses_is_named_by_pointer_and_not_saved(world: World) -> None:
    client = program(world.mara, "write")

    def put(**content: Any) -> Any:
        return send(client, "PUT", f"{STAGE}draft/", content, if_match="*")

    field = {**SHEET["fields"][0], "kind": "hologram"}
    assert pointers(put(sheet={"fields": [field]})) == {"/sheet/fields/0/kind"}
    assert pointers(put(display="stage-play", name=" x ")) == {"/display"}
    assert pointers(put(derivation={"kind": "promote", "from": ["nothing"]})) >= {"/derivation/from"}
    rule = {"acceptance": "by_rule", "acceptance_rule": {"clauses": [{"key": "a", "expression": "nowhere >= 3"}]}}
    assert any(pointer.startswith("/acceptance_rule") for pointer in pointers(put(**rule)))
    assert pointers(put(layout={"gate": "nothing"})) == {"/layout/gate"}
    assert pointers(put(skip_reasons=["x"])) == {"/skip_reasons"}
    assert pointers(put(sheet={"fields": "x"})) == {"/sheet"}
    nested: Any = {}
    for _depth in range(40):
        nested = {"a": nested}
    assert pointers(put(layout=nested)) == {""}
    problem(put(sheet=[]), 400, "invalid-content")
    problem(put(target_answers="many"), 400, "invalid-content")
    infinite = client.put(f"{STAGE}draft/", '{"layout": {"n": 1e400}}', "application/json", headers={"if-match": "*"})
    assert problem(infinite, 400, "invalid-content")["errors"][0]["pointer"] == "/layout/n"
    assert not StageDraft.objects.exists()


def test_a_draft_is_discarded_and_a_stage_created_like_another(world: World) -> None:
    client = program(world.mara, "write")
    send(client, "PUT", f"{STAGE}draft/", {"target_answers": 4}, if_match="*")
    assert world.client(world.mara).get(f"/b/sea-and-river/stages/{world.stage.pk}/").status_code == 200
    assert send(client, "DELETE", f"{STAGE}draft/", if_match="*").json()["saved_at"] is None
    blank = send(client, "POST", f"{B}stages/", {"name": "Two words"})
    assert (blank.status_code, blank.json()["key"], blank.json()["sheet"]) == (201, "two-words", {"fields": []})
    alike = send(client, "POST", f"{B}stages/", {"name": "Again", "like": "relevance"})
    assert client.get(alike["Location"]).json()["sheet"] == SHEET
    assert pointers(send(client, "POST", f"{B}stages/", {"name": "Again", "like": "none"})) == {"/like"}


def test_stages_are_for_those_who_work_on_the_benchmark(world: World) -> None:
    for user in (world.reviewer, world.team_admin, world.rival, world.nour):
        problem(program(user, "write").get(STAGE), 404, "not-found")
        problem(send(program(user, "write"), "POST", f"{B}stages/", {"name": "X"}), 404, "not-found")
    problem(send(program(world.mara, "export"), "POST", f"{STAGE}publish/"), 403, "insufficient-scope")
    problem(program(world.mara, "write").get(f"{B}stages/none/draft/"), 404, "not-found")


def test_filters_are_set_as_a_new_version_carried_out_by_a_job(world: World) -> None:
    world.add_items(2)
    client, url = program(world.mara, "write"), f"{STAGE}filters/"
    before = client.get(url)
    assert (before.json()["version"], before.json()["filters"]) == (0, [])
    filters = [{"key": "size", "kind": "shortest_side", "params": {"least": 300}}]
    changed = send(client, "PUT", url, {"filters": filters}, if_match=before["ETag"])
    assert changed.status_code == 200, changed.content
    assert (changed.json()["version"], changed.json()["filters"]) == (1, filters)
    assert Job.objects.filter(pk=changed.json()["job"]).exists()
    problem(send(client, "PUT", url, {"filters": []}, if_match=before["ETag"]), 412, "stale")
    wrong = {"filters": [{"key": "size", "kind": "shortest_side", "params": {"least": "x"}}]}
    assert all(pointer.startswith("/filters/0") for pointer in pointers(send(client, "PUT", url, wrong, if_match="*")))
    returns = {"filters": [{**filters[0], "returns": True}]}
    problem(send(client, "PUT", url, returns, if_match="*"), 422, "refused")
    assert world.stage.filters == filters


def test_coverage_says_what_is_there_of_what_is_wanted(world: World) -> None:
    world.add_items(4)
    client = program(world.reviewer, "read")
    assert client.get(f"{STAGE}coverage/").json()["cells"] == []
    Stage.objects.update(coverage={"rows": "cohorts", "columns": "concepts", "per_cell": 2}, own_items_only=True)
    data = client.get(f"{STAGE}coverage/").json()
    assert data["wanted"] == 2 * len(data["cells"]) > 0, data
    assert {cell["row"] for cell in data["cells"]} == {"Egypt", "Brazil"}


def test_a_weighted_draw_is_extended_by_rest_and_keeps_what_was_drawn(world: World) -> None:
    client, cohort, first = program(world.mara, "write"), world.egypt, world.stage
    params = {"n": 3, "weight": "item.context.score"}
    draw = {"kind": "sample", "from": ["relevance"], "of": "kept", "params": params, "seed": 5}
    drawn = a_stage(world.benchmark, "drawn", ANSWER, derivation=draw)
    for number, item in enumerate(items(first, 12), start=1):
        item.context = {"score": number}
        item.save()
    derived_items.rederive_stage(drawn)
    process_derivations()
    campaign = create_open_campaign(drawn, cohort)
    before = {item.pk: item.key for item in live_items(drawn)}
    assert len(before) == 3

    def publish_draw(n: int) -> None:
        content = {"derivation": {**draw, "params": {**params, "n": n}}}
        assert send(client, "PUT", f"{B}stages/drawn/draft/", content, if_match="*").status_code == 200
        published = send(client, "POST", f"{B}stages/drawn/publish/")
        assert published.status_code == 200, published.content
        process_derivations()

    publish_draw(7)
    after = {item.pk: item.key for item in live_items(drawn)}
    assert before.items() < after.items() and len(after) == 7
    asked = Slot.objects.filter(cohort__campaign=campaign).values_list("unit__item", flat=True)
    assert set(asked) == set(after), "the open campaign asks about the new ones, too"
    problem(send(client, "PUT", f"{B}stages/drawn/draft/", {"derivation": {**draw, "params": {"n": 0}}}, if_match="*"),
            422, "refused")  # fmt: skip
