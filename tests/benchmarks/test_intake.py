"""Candidates are judged when they are imported; versions, decisions by hand and the job that judges again."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from benchmarks.models import FilterResult, FilterVersion, Image, Item, ItemFact, Stage
from benchmarks.queries.availability import kept_without
from benchmarks.rules.filters import FilterError, FilterState
from benchmarks.services.intake import by_hand, filter_versions, judge_job, picture_hashes
from benchmarks.services.intake.by_hand import ReasonMissing
from benchmarks.services.intake.filter_versions import FiltersChanged
from jobs.models import Event, Job
from jobs.services import lifecycle as jobs
from jobs.services import runner
from tests import pictures as draw
from tests.importing import lines, outcomes, upload
from tests.personas import World

pytestmark = pytest.mark.django_db
ASPECT = {"key": "aspect", "kind": "aspect", "params": {}}
SIDE = {"key": "side", "kind": "shortest_side", "params": {"least": 40}}
WORDS = {"key": "words", "kind": "blocked_words", "params": {"words": ["logo"]}}
SCORE = {"key": "score", "kind": "fact", "params": {"key": "clip_score", "least": 23}}
SAME = {"key": "same", "kind": "same_picture", "params": {}}
NEAR = {"key": "near", "kind": "near_duplicate", "params": {"least": 0.9}}

PICTURES = {
    "good.png": draw.png(60, 40, seed=1),
    "wide.png": draw.png(200, 40, seed=2),
    "small.png": draw.png(30, 30, seed=3),
    "other.png": draw.png(64, 48, seed=4),
}


def row(key: str, file: str = "good.png", **more: Any) -> dict[str, Any]:
    return {"key": key, "file": file, "concept": "tea", "country": "Egypt", **more}


ROWS = [
    row("good", **{"fact.clip_score": 23}),
    row("wide", "wide.png", **{"fact.clip_score": 30}),
    row("small", "small.png", **{"fact.clip_score": 30}),
    row("logo", "other.png", alt="A Logo", **{"fact.clip_score": 30}),
    row("low", "other.png", rank=3, **{"fact.clip_score": 22.5}),
    row("waits", "other.png", rank=1),
    row("both", "wide.png", rank=2),
]
STATES = {
    "good": "kept", "wide": "dropped", "small": "dropped", "logo": "dropped", "low": "dropped", "waits": "waiting",
    "both": "dropped",
}  # fmt: skip


@pytest.fixture
def stage(world: World) -> Stage:
    return world.stage


@pytest.fixture
def mara(world: World) -> Client:
    return world.client(world.mara)


def set_up(stage: Stage, *definition: Mapping[str, Any], actor: Any = None) -> None:
    """Set the filters and let a worker carry them out."""
    job = filter_versions.set_filters(stage, definition, actor)
    if job:
        runner.run(job.pk)
        job.refresh_from_db()
        assert job.state == "done", job.error


def states(stage: Stage) -> dict[str, str]:
    return dict(stage.items.filter(withdrawn_at=None).values_list("key", "intake"))


def results(stage: Stage, key: str) -> dict[str, str]:
    version = stage.filter_versions.latest("number")
    return dict(FilterResult.objects.filter(version=version, item__key=key).values_list("key", "state"))


def snapshot() -> tuple[list[Any], list[Any]]:
    rows = FilterResult.objects.order_by("item__key", "version__number", "key")
    fields = ("item__key", "version__number", "key", "state", "value", "limit", "reason")
    return list(rows.values_list(*fields)), sorted(Item.objects.values_list("key", "intake"))


def test_an_import_judges_its_rows_and_dropped_wins_over_waiting(stage: Stage, mara: Client) -> None:
    set_up(stage, ASPECT, SIDE, WORDS, SCORE)
    job = upload(mara, stage, lines(*ROWS), PICTURES)
    assert set(outcomes(job).values()) <= {("created", ""), ("created", "shares_picture")}
    assert states(stage) == STATES
    assert results(stage, "both") == {"aspect": "dropped", "side": "kept", "words": "kept", "score": "waiting"}
    result = FilterResult.objects.get(item__key="low", key="score")
    assert (result.value, result.limit, result.reason) == (22.5, 23, "too_low")
    assert FilterResult.objects.get(item__key="logo", key="words").value == "logo"
    assert f"/b/{stage.benchmark.slug}/stages/{stage.pk}/filters/" in mara.get(f"/jobs/{job.pk}/").content.decode()


def test_a_stage_without_filters_judges_nothing(stage: Stage, mara: Client) -> None:
    upload(mara, stage, lines(*ROWS), PICTURES)
    assert set(states(stage).values()) == {""}
    assert not FilterVersion.objects.exists() and not FilterResult.objects.exists()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_same_import_in_another_order_gives_the_same_states(stage: Stage, mara: Client, seed: int) -> None:
    rows = [*ROWS, row("again", rank=2, **{"fact.clip_score": 25}), row("first", rank=1, **{"fact.clip_score": 25})]
    set_up(stage, ASPECT, SIDE, WORDS, SAME, SCORE)
    shuffled: Sequence[Any] = random.Random(seed).sample(rows, len(rows))
    for part in (shuffled[:4], shuffled[4:]):
        upload(mara, stage, lines(*part), PICTURES)
    assert states(stage) == {**STATES, "good": "dropped", "first": "kept", "again": "dropped", "low": "dropped"}
    duplicate = FilterResult.objects.get(item__key="again", key="same")
    assert duplicate.value == {"key": "first"}


@pytest.mark.parametrize(
    "value", ["oops", "NaN", "-inf", "1e999", pytest.param(10**400, id="huge"), True, "23,5", "20|30"]
)
def test_a_row_is_refused_where_a_filter_cannot_read_its_fact_as_a_number(
    stage: Stage, mara: Client, value: Any
) -> None:
    set_up(stage, SCORE)
    rows = [row("a", **{"fact.clip_score": value, "fact.scene": "oops"}), row("b", **{"fact.clip_score": "24.5"})]
    job = upload(mara, stage, lines(*rows), PICTURES)
    assert outcomes(job) == {1: ("error", "fact_not_number"), 2: ("created", "")}
    message = job.rows.get(number=1).message
    assert "“fact.clip_score” is “" in message and str(value).split("|")[0][:80] in message
    rows[0] = row("a", **{"fact.clip_score": 24, "fact.scene": "oops"})
    assert outcomes(upload(mara, stage, lines(*rows), PICTURES))[1] == ("created", "shares_picture")
    assert states(stage) == {"a": "kept", "b": "kept"}
    assert ItemFact.objects.get(key="scene").value == "oops", "a fact that nothing reads as a number stays free"


def test_what_a_detector_measured_is_no_earlier_fact_of_the_import(stage: Stage, mara: Client) -> None:
    upload(mara, stage, lines(row("a")), PICTURES)
    item = stage.items.get(key="a")
    ItemFact.objects.create(item=item, key="objects", value=5, source="detector", version="1")
    job = upload(mara, stage, lines(row("a", **{"fact.objects": 7})), PICTURES, complete="on")
    assert outcomes(job)[1][0] == "updated"
    assert sorted(item.facts.filter(key="objects").values_list("source", "value")) == [("detector", 5), ("import", 7)]


GATE = {"key": "clip_score", "at_least": 3, "label": {"en": "Score"}}
BOX = {"key": "box", "kind": "box", "version": 1, "label": {"en": "Box"}, "config": {"facts": [GATE]}}


@pytest.mark.parametrize(
    ("by_gate", "expression", "refused"),
    [
        (True, "", True),
        (False, "facts.clip_score >= 3", True),
        (False, "facts.clip_score + 1 == 3", True),
        (False, "facts.clip_score in (1, -2)", True),
        (False, 'facts.clip_score == "oops"', False),
        (False, 'facts.clip_score > 3 or facts.clip_score == "none"', False),
        (False, "facts.objects >= 3", False),
    ],
)
def test_a_gate_and_an_acceptance_rule_need_numbers_too(
    stage: Stage, mara: Client, by_gate: bool, expression: str, refused: bool
) -> None:
    if by_gate:
        stage.sheet = {"fields": [BOX]}
    else:
        clause = {"key": "enough", "expression": expression, "words": {"en": "Enough"}}
        stage.acceptance, stage.acceptance_rule = Stage.Acceptance.BY_RULE, {"clauses": [clause]}
    stage.save()
    job = upload(mara, stage, lines(row("a", **{"fact.clip_score": "oops"})), PICTURES)
    assert outcomes(job) == {1: ("error", "fact_not_number") if refused else ("created", "")}


def test_a_fact_that_comes_with_a_later_import_ends_the_wait(stage: Stage, mara: Client) -> None:
    set_up(stage, SCORE)
    upload(mara, stage, lines(row("a"), row("b")), PICTURES)
    assert states(stage) == {"a": "waiting", "b": "waiting"}
    upload(mara, stage, lines(row("a", **{"fact.clip_score": 24})), PICTURES, complete="on")
    assert states(stage) == {"a": "kept", "b": "waiting"}
    assert FilterResult.objects.get(item__key="b").value == "clip_score"


def test_a_changed_limit_is_a_new_version_and_changes_exactly_the_items_between(stage: Stage, mara: Client) -> None:
    rows = [row(f"s{score}", **{"fact.clip_score": score}) for score in (22, 23, 24, 25)]
    set_up(stage, SCORE)
    upload(mara, stage, lines(*rows), PICTURES)
    assert states(stage) == {"s22": "dropped", "s23": "kept", "s24": "kept", "s25": "kept"}
    set_up(stage, {**SCORE, "params": {"key": "clip_score", "least": 25}})
    assert states(stage) == {"s22": "dropped", "s23": "dropped", "s24": "dropped", "s25": "kept"}
    assert list(stage.filter_versions.values_list("number", flat=True)) == [1, 2]
    assert FilterResult.objects.filter(version__number=1).count() == 4, "an earlier version keeps its results"
    assert "2 items have another state." in Job.objects.latest("pk").result["notes"][0]


def test_no_filters_any_more_keeps_everything(stage: Stage, mara: Client) -> None:
    set_up(stage, ASPECT)
    upload(mara, stage, lines(*ROWS), PICTURES)
    set_up(stage)
    assert set(states(stage).values()) == {""}


def test_filters_that_do_not_differ_make_no_version(stage: Stage) -> None:
    set_up(stage, ASPECT)
    assert filter_versions.set_filters(stage, [ASPECT], None) is None
    assert stage.filter_versions.count() == 1


def test_a_change_made_from_an_old_version_is_refused(stage: Stage) -> None:
    filter_versions.set_filters(stage, [ASPECT], None, number_seen=0)
    with pytest.raises(FiltersChanged):
        filter_versions.set_filters(stage, [SIDE], None, number_seen=0)
    filter_versions.set_filters(stage, [ASPECT, SIDE], None, number_seen=1)
    assert stage.filter_versions.latest("number").number == 2


def test_filters_that_are_not_valid_change_nothing(stage: Stage) -> None:
    with pytest.raises(FilterError):
        filter_versions.set_filters(stage, [{"key": "a", "kind": "magic"}], None)
    stage.refresh_from_db()
    assert stage.filters == [] and not FilterVersion.objects.exists()


# by hand


def test_a_decision_by_hand_wins_and_survives_a_new_version(world: World, stage: Stage, mara: Client) -> None:
    set_up(stage, ASPECT)
    upload(mara, stage, lines(*ROWS), PICTURES)
    wide, good = stage.items.get(key="wide"), stage.items.get(key="good")
    by_hand.decide(wide, FilterState.KEPT, "A panorama on purpose", world.mara, timezone.now())
    by_hand.decide(good, FilterState.DROPPED, "Shows another dish", world.mara, timezone.now())
    expected = {"wide": "kept", "good": "dropped"}
    assert {key: states(stage)[key] for key in expected} == expected
    set_up(stage, ASPECT, SIDE)
    upload(mara, stage, lines(*ROWS), PICTURES)
    assert {key: states(stage)[key] for key in expected} == expected
    assert FilterResult.objects.filter(key="by_hand").count() == 2
    assert Event.objects.get(verb="item.kept_by_hand").data == {"reason": "A panorama on purpose"}
    assert by_hand.remove_decision(wide, world.mara) and states(stage)["wide"] == "dropped"
    assert not by_hand.remove_decision(wide, world.mara)


def test_a_decision_needs_a_reason(world: World, stage: Stage, mara: Client) -> None:
    set_up(stage, ASPECT)
    upload(mara, stage, lines(ROWS[0]), PICTURES)
    item = stage.items.get(key="good")
    for reason in ("", "   "):
        with pytest.raises(ReasonMissing):
            by_hand.decide(item, FilterState.DROPPED, reason, world.mara, timezone.now())
    with pytest.raises(ValueError, match="waiting"):
        by_hand.decide(item, FilterState.WAITING, "why", world.mara, timezone.now())
    assert states(stage) == {"good": "kept"}


def test_the_next_duplicate_stays_when_the_first_is_dropped_by_hand(world: World, stage: Stage, mara: Client) -> None:
    set_up(stage, SAME)
    upload(mara, stage, lines(row("a"), row("b"), row("c", "other.png")), PICTURES)
    assert states(stage) == {"a": "kept", "b": "dropped", "c": "kept"}
    by_hand.decide(stage.items.get(key="a"), FilterState.DROPPED, "Blurred", world.mara, timezone.now())
    assert states(stage) == {"a": "dropped", "b": "kept", "c": "kept"}


# the job


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(judge_job, "STEP", 2)
    yield


def test_a_killed_job_goes_on_and_judges_each_item_once_per_version(
    stage: Stage, mara: Client, small_steps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(mara, stage, lines(*ROWS), PICTURES)
    job = filter_versions.set_filters(stage, [ASPECT, SIDE, WORDS, SCORE], None)
    assert job
    real, calls = judge_job.judge_items, []

    def fail_at_third(locked: Stage, ids: Sequence[int]) -> list[int]:
        calls.append(ids)
        if len(calls) == 3:
            raise RuntimeError("killed")
        return real(locked, ids)

    monkeypatch.setattr(judge_job, "judge_items", fail_at_third)
    with pytest.raises(RuntimeError):
        runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "failed" and job.done == 4
    judged = sum(1 for state in states(stage).values() if state)
    assert judged == 4, "what is committed stays, and a batch is whole"
    jobs.resume(job, None)
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.done, job.total) == ("done", 7, 7)
    assert states(stage) == STATES
    assert FilterResult.objects.count() == 7 * 4
    before = snapshot()
    again = judge_job.start(stage, None)
    runner.run(again.pk)
    assert snapshot() == before


def test_a_job_can_be_stopped_between_batches(stage: Stage, mara: Client, small_steps: None) -> None:
    upload(mara, stage, lines(*ROWS), PICTURES)
    job = filter_versions.set_filters(stage, [ASPECT], None)
    assert job
    jobs.request_cancel(job, None)
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "cancelled" and set(states(stage).values()) == {""}


def test_a_job_of_an_older_version_leaves_the_work_to_the_newer_one(stage: Stage, mara: Client) -> None:
    upload(mara, stage, lines(*ROWS), PICTURES)
    older, newer = (filter_versions.set_filters(stage, [each], None) for each in (ASPECT, SIDE))
    assert older and newer
    runner.run(older.pk)
    assert not FilterResult.objects.exists()
    runner.run(newer.pk)
    assert set(FilterResult.objects.values_list("version__number", flat=True)) == {2}


def test_perceptual_hashes_are_computed_once_and_an_unreadable_picture_waits(
    stage: Stage, mara: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = draw.png(120, 80, seed=1)
    upload(mara, stage, lines(row("a"), row("b", "copy.png"), row("c", "other.png")), {**PICTURES, "copy.png": copy})
    assert not Image.objects.exclude(perceptual_hash="").filter(uses__item__stage=stage).exists()
    lost = Image.objects.create(
        team=stage.benchmark.team, sha256="1" * 64, format="png", bytes=1, width=90, height=90
    )  # whose file is gone
    stage.items.get(key="c").images.update(image=lost)
    set_up(stage, NEAR)
    found = FilterResult.objects.get(item__key="c")
    assert (found.state, found.value, found.reason) == ("waiting", "perceptual_hash", "unreadable")
    assert states(stage)["a"] == "kept" and len(Image.objects.get(uses__item__key="a").perceptual_hash) == 70
    computed: list[str] = []
    monkeypatch.setattr(picture_hashes, "derivative", lambda *args: computed.append(args[0]))
    runner.run(judge_job.start(stage, None).pk)
    assert computed == []


def test_a_similar_picture_is_dropped_in_the_import(stage: Stage, mara: Client) -> None:
    set_up(stage, NEAR)
    copy = draw.png(60, 40, seed=1) + b"\0"  # other bytes, the same picture
    job = upload(mara, stage, lines(row("a"), row("b", "copy.png")), {**PICTURES, "copy.png": copy})
    assert set(outcomes(job).values()) == {("created", "")}
    assert states(stage) == {"a": "kept", "b": "dropped"}
    assert FilterResult.objects.get(item__key="b").value == {"key": "a", "similarity": 1.0}


def test_kept_without_a_filter_leaves_out_what_another_drops(world: World, stage: Stage, mara: Client) -> None:
    set_up(stage, ASPECT, SIDE, WORDS, SCORE)
    upload(mara, stage, lines(*ROWS), PICTURES)
    keys = set(kept_without(stage, "score").values_list("key", flat=True))
    assert keys == {"good", "low", "waits"}
    by_hand.decide(stage.items.get(key="low"), FilterState.DROPPED, "No", world.mara, timezone.now())
    by_hand.decide(stage.items.get(key="wide"), FilterState.KEPT, "Yes", world.mara, timezone.now())
    assert set(kept_without(stage, "score").values_list("key", flat=True)) == {"good", "waits", "wide"}


def test_the_newest_fact_of_a_key_counts(stage: Stage, mara: Client) -> None:
    set_up(stage, SCORE)
    upload(mara, stage, lines(row("a", **{"fact.clip_score": 20})), PICTURES)
    item = stage.items.get(key="a")
    ItemFact.objects.create(item=item, key="clip_score", value=29.0, source="clip", version="run 1")
    runner.run(judge_job.start(stage, None).pk)
    assert states(stage) == {"a": "kept"}
