"""A model's answers made elsewhere stand as a finished run: what is readable is an answer, all else a coded failure."""

import json
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Campaign, Rating, Unit
from annotation.services.queue import recount
from jobs.models import Job
from jobs.services import job_context, runner
from people.models import Rater
from predictions.models import Call, Reply, Run
from predictions.services.files import answer_import as door
from predictions.services.files.answer_import import ModelInfo
from predictions.services.runs.result_runs import FileRunRefused
from tests.annotation.chain.factories import a_field
from tests.evaluation.data import an_open_campaign
from tests.evaluation.test_measures import CHOICE, with_sheet
from tests.importing import outcomes
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.model_file_samples import import_file, inspect, jsonl, lm_eval, run_of, sample, store_file


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(6)
    return an_open_campaign(world)


def log(world: World, replies: list[Any], **more: Any) -> bytes:
    egypt = {"country": "Egypt"}
    pairs = zip(world.items, replies, strict=True)
    return jsonl([lm_eval({"id": item.key, **egypt}, reply, number=n, **more) for n, (item, reply) in enumerate(pairs)])


def model_codes(campaign: Campaign) -> dict[str, str]:
    rows = Rating.objects.filter(campaign=campaign, rater__kind="model", live=True, counted=True)
    return dict(rows.order_by("unit__item__key").values_list("unit__item__key", "code"))


def calls(run: Run) -> list[tuple[str, str]]:
    return list(Call.objects.filter(run=run).order_by("item__key").values_list("state", "reason"))


def test_a_log_of_samples_becomes_a_finished_run(world: World, campaign: Campaign) -> None:
    replies = ["4", " 5. ", "I would say 4", "", "9", "Relevant"]
    job = import_file(world, campaign, store_file(log(world, replies)), target="doc.country", setting="main")
    assert job.state == "done", job.error
    run = run_of(job)
    assert (run.task, run.state, run.source, run.complete) == ("answers", "done", "lm_eval", True)
    assert (run.rater.name, run.rater.setting, run.rater.kind) == ("tiny-vlm", "main", "model")
    keys = [item.key for item in world.items]
    assert model_codes(campaign) == {keys[0]: "4", keys[1]: "5", keys[5]: "4"}
    assert calls(run) == [
        ("answered", ""), ("answered", ""), ("unparseable", "no_choice"), ("no_response", "empty"),
        ("out_of_range", "outside_scale"), ("answered", ""),
    ]  # fmt: skip
    answered = Call.objects.filter(run=run, state="answered").order_by("pk")
    assert [one.annotation.answers for one in answered] == [{"relevance": "4"}, {"relevance": "5"}, {"relevance": "4"}]  # type: ignore[union-attr]
    assert not Call.objects.filter(run=run).exclude(state="answered").exclude(annotation=None).exists()
    raw = Reply.objects.get(pk=Call.objects.get(run=run, reason="no_choice").replies[0])
    assert raw.body["text"] == "I would say 4", "what came is kept, also where it has no value"
    assert outcomes(job)[3] == ("error", "no_choice") and "I would say 4" in job.rows.get(number=3).message
    assert "It says" not in job.rows.get(number=4).message, "an empty reply says nothing"
    assert recount.find_differences() == []


def test_options_scored_by_likelihood_are_an_answer_by_likelihood(world: World, campaign: Campaign) -> None:
    scored = [[-3.0, False], [-2.0, False], [-0.5, True], [-1.0, False], [-9.0, False]]
    tied = [[-1.0, False], [-1.0, False], [-2.0, False], [-2.0, False], [-3.0, False]]
    rows = [
        {**lm_eval({"id": world.items[0].key, "country": "Egypt"}, ""), "filtered_resps": scored, "resps": [[scored]]},
        {**lm_eval({"id": world.items[1].key, "country": "Egypt"}, ""), "filtered_resps": tied, "resps": [[tied]]},
        {**lm_eval({"id": world.items[2].key, "country": "Egypt"}, ""), "filtered_resps": scored[:3]},
    ]
    run = run_of(import_file(world, campaign, store_file(jsonl(rows)), target="doc.country"))
    assert model_codes(campaign) == {world.items[0].key: "3"}
    assert calls(run) == [("answered", ""), ("unparseable", "two_verdicts"), ("unparseable", "other_options")]
    assert set(Call.objects.filter(run=run).values_list("how", flat=True)) == {"likelihood"}


def test_only_the_lines_of_one_filter_count(world: World, campaign: Campaign) -> None:
    one = log(world, ["so 4"] * 6, filtered="4", filter_="digits")
    other = log(world, ["so 4"] * 6, filtered="[invalid]", filter_="strict")
    run = run_of(import_file(world, campaign, store_file(other + b"\n" + one), target="doc.country", only="digits"))
    assert set(model_codes(campaign).values()) == {"4"} and Call.objects.filter(run=run).count() == 6
    again = import_file(world, campaign, store_file(other), target="doc.country", only="strict", model="other")
    assert model_codes(campaign) == {item.key: "4" for item in world.items}, "nothing of it has a value"
    assert run_of(again).complete is False and Call.objects.filter(run=run_of(again), state="unparseable").count() == 6


def test_a_second_row_for_an_answer_without_a_value_is_told_and_not_lost(world: World, campaign: Campaign) -> None:
    egypt = {"id": world.items[0].key, "country": "Egypt"}
    rows = [lm_eval(egypt, "7"), lm_eval(egypt, "3"), lm_eval({**egypt, "id": world.items[1].key}, "4")]
    job = import_file(world, campaign, store_file(jsonl(rows)), target="doc.country")
    assert outcomes(job) == {1: ("error", "outside_scale"), 2: ("error", "twice"), 3: ("created", "")}
    assert model_codes(campaign) == {world.items[1].key: "4"}, "what the report says is what stands"
    assert calls(run_of(job)) == [("out_of_range", "outside_scale"), ("answered", "")]


def test_a_log_of_inspect(world: World, campaign: Campaign) -> None:
    meta = {"country": "Egypt"}
    samples = [
        sample(world.items[0].key, "The answer is 4", answer="4", metadata=meta),
        sample(world.items[0].key, "The answer is 1", answer="1", metadata=meta, epoch=2),
        sample(world.items[1].key, "No idea", answer="", metadata=meta),
        sample("elsewhere", "4", answer="4", metadata=meta),
    ]
    told = {"key": "id", "target": "metadata.country", "only": "match"}
    job = import_file(world, campaign, store_file(inspect(samples)), **told)
    assert model_codes(campaign) == {world.items[0].key: "4"}, "the first epoch, as the scorer read it"
    assert calls(run_of(job)) == [("answered", ""), ("no_response", "empty")]
    assert outcomes(job)[4] == ("error", "no_item") and "elsewhere" in job.rows.get(number=4).message
    assert run_of(job).source == "inspect"


def test_a_table_of_ratings(world: World, campaign: Campaign) -> None:
    rows = [("item", "cohort", "rater", "field", "code"), *(
        (item.key, "Egypt", "gpt" if n % 2 else "qwen", "relevance", "7" if n == 3 else "2")
        for n, item in enumerate(world.items)
    )]  # fmt: skip
    file = store_file("\n".join(",".join(row) for row in rows).encode())
    job = import_file(world, campaign, file, model="gpt", rater="gpt")
    assert model_codes(campaign) == {world.items[1].key: "2", world.items[5].key: "2"}, "one model of the two"
    assert calls(run_of(job)) == [("answered", ""), ("out_of_range", "outside_scale"), ("answered", "")]
    assert run_of(job).source == "csv"


TINY, WIDE, BEYOND = [0.1, 0.1, 0.11, 0.11], [0.0, 0.0, 0.9, 0.9], [0.5, 0.1, 1.2, 0.3]
FINE = {"sort": "food", "things": [[0.1, 0.1, 0.3, 0.3]], "place": [[0.1, 0.1, 0.3, 0.3]], "title": "Lamp"}


@pytest.mark.parametrize(
    ("wrong", "call"),
    [
        ({"sort": "9"}, ("out_of_range", "outside_scale")),
        ({"things": [TINY, WIDE]}, ("out_of_range", "outside_scale")),
        ({"sort": "9", "things": [TINY, WIDE], "place": [BEYOND]}, ("out_of_range", "outside_scale")),
        ({"title": "A lamp of brass"}, ("unparseable", "sheet")),
        ({"sort": "9", "title": "A lamp of brass"}, ("unparseable", "sheet")),
    ],
    ids=["option", "sizes", "all", "text", "option-and-text"],
)
def test_an_answer_is_out_of_range_where_nothing_else_is_wrong_with_it(
    world: World, wrong: dict[str, Any], call: tuple[str, str]
) -> None:
    boxes = {"max_area": 0.3, "min_area": 0.01, "most": 2}
    campaign = with_sheet(
        world,
        CHOICE,
        a_field("things", "box", **boxes),
        a_field("place", "box"),
        a_field("title", "text", max_length=9),
    )
    rows = [
        {"item": item.key, "target": "Egypt", "rater": "tiny-vlm", "rater_kind": "model", "answers": {**FINE, **own}}
        for item, own in zip(world.items, (wrong, {}), strict=False)
    ]
    job = import_file(world, campaign, store_file(jsonl(rows)))
    assert sorted(calls(run_of(job))) == sorted([call, ("answered", "")])


@pytest.mark.parametrize("target", ["", "Brazil"], ids=["cohort-alone", "beside-a-target"])
def test_a_row_of_a_cohort_is_about_its_culture_and_of_no_cohort(world: World, campaign: Campaign, target: str) -> None:
    row = {"item": world.items[0].key, "cohort": "Egypt", "rater": "tiny-vlm", "answers": {"relevance": "4"}}
    import_file(world, campaign, store_file(jsonl([row | ({"target": target} if target else {})])))
    answer = Annotation.objects.get(rater__kind="model")
    assert (answer.cohort, Rating.objects.get(annotation=answer).cohort) == (None, None)
    assert Unit.objects.get(assignments__annotations=answer).target == (target or "Egypt")


def test_a_persons_rows_are_refused_here(world: World, campaign: Campaign) -> None:
    data = f"item,cohort,rater,rater_kind,field,code\n{world.items[0].key},Egypt,Nour,person,relevance,4\n".encode()
    job = import_file(world, campaign, store_file(data))
    assert outcomes(job) == {2: ("error", "is_a_person")} and not Annotation.objects.exists()
    assert run_of(job).withdrawn_at is not None, "what brought nothing stands in nobody's way"


def test_one_run_of_a_model_stands_and_the_same_file_adds_nothing(world: World, campaign: Campaign) -> None:
    data = log(world, ["4"] * 6)
    import_file(world, campaign, store_file(data), target="doc.country")
    told = run_of(Job.objects.latest("pk")).options["told"]
    again = door.start(
        campaign, world.mara, store_file(data), door.FileDescription(**told), ModelInfo("tiny-vlm", "", {}), title="x"
    )
    assert again is None and Run.objects.count() == 1
    with pytest.raises(FileRunRefused, match="Withdraw it first"):
        import_file(world, campaign, store_file(log(world, ["5"] * 6)), target="doc.country")
    assert set(model_codes(campaign).values()) == {"4"}


def test_an_import_that_stopped_goes_on_where_it_was(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "STEP", 2)
    real, steps = door.import_batch, []

    def stops(*args: Any) -> Any:
        steps.append(1)
        if len(steps) == 3:
            raise job_context.LeaseLost
        return real(*args)

    monkeypatch.setattr(door, "import_batch", stops)
    job = import_file(world, campaign, store_file(log(world, ["4", "5", "", "2", "1", "x"])), target="doc.country")
    assert job.state == "running" and len(model_codes(campaign)) == 3
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timezone.timedelta(minutes=5))
    runner.run(job.pk)
    assert list(model_codes(campaign).values()) == ["4", "5", "2", "1"] and Call.objects.count() == 6
    assert Reply.objects.count() == 5, "one for each reply that says something, none twice"


def test_rows_say_what_is_wrong_with_them(world: World, campaign: Campaign) -> None:
    fine = lm_eval({"id": world.items[0].key, "country": "Egypt"}, "4")
    rows = [json.dumps(fine), "{broken", json.dumps({**fine, "doc": {}}), json.dumps(fine),
            json.dumps(lm_eval({"id": world.items[0].key, "country": "Egypt"}, "5"))]  # fmt: skip
    job = import_file(world, campaign, store_file("\n".join(rows).encode()), target="doc.country")
    assert outcomes(job) == {
        1: ("created", ""), 2: ("error", "unreadable"), 3: ("error", "no_key"), 4: ("unchanged", ""),
        5: ("error", "answered"),
    }  # fmt: skip
    assert Call.objects.count() == 1 and Rater.objects.filter(kind="model").count() == 1


def test_a_row_again_in_a_later_step_is_unchanged(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "STEP", 1)
    fine = lm_eval({"id": world.items[0].key, "country": "Egypt"}, "4")
    job = import_file(world, campaign, store_file(jsonl([fine, fine])), target="doc.country")
    assert outcomes(job) == {1: ("created", ""), 2: ("unchanged", "")} and calls(run_of(job)) == [("answered", "")]


def test_the_file_of_an_import_that_failed_may_be_sent_again(world: World, campaign: Campaign) -> None:
    data = log(world, ["4"] * 6)
    about = door.FileDescription(key="doc.id", field="relevance", target="doc.country")
    model = ModelInfo("tiny-vlm", "", {})
    first = door.start(campaign, world.mara, store_file(data), about, model, title="x")
    assert first is not None
    with pytest.raises(FileRunRefused, match="coming in now"):
        door.start(campaign, world.mara, store_file(data), about, model, title="x")
    Job.objects.filter(pk=first.pk).update(state="failed", finished_at=timezone.now())
    again = door.start(campaign, world.mara, store_file(data), about, model, title="x")
    assert again is not None and run_of(first).withdrawn_at is not None and run_of(again).withdrawn_at is None
