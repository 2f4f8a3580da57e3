"""A rule that reads a missing fact decides nothing; it decides when the fact comes, by an import or by a filter."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Campaign, Outcome
from annotation.pages.rule_results import rule_results
from annotation.queries.board_counts import chain_counts
from annotation.queries.coverage import CoverageFilter, coverage_page
from annotation.services.answers import exclusions
from annotation.services.derivation import outbox
from annotation.services.review.item_acceptance import accept_as_it_is
from benchmarks.models import Item, ItemFact, Stage
from benchmarks.services.intake import filter_versions, judge_job
from jobs.services import runner
from people.models import Rater, User
from tests.annotation.chain.factories import (
    GOOD,
    RULE,
    a_benchmark,
    a_field,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    items,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_cohort, a_person
from tests.importing import lines, outcomes, upload
from tests.personas import World, make_user

pytestmark = pytest.mark.django_db
READS = {**RULE, "clauses": [*RULE["clauses"], {"key": "full", "expression": "facts.objects >= 3",
                                                "words": {"en": "There is enough to see"}}]}  # fmt: skip
LATER: dict[str, Any] = {"kind": "promote", "from": ["rate"], "params": {"text": "item.key"}}
SCORE: dict[str, Any] = {"key": "score", "kind": "fact", "params": {"key": "clip_score", "least": 23}}
GATE = {"key": "objects", "at_least": 3, "label": {"en": "Things"}}


def rated(
    sheet: Any = GOOD, rule: Any = READS, stage: Stage | None = None, world: World | None = None, **raw: Any
) -> tuple[Stage, Stage, Campaign]:
    """A stage with one item and one good answer, and a stage that takes what its rule accepts."""
    if stage is None:
        stage = a_stage(a_benchmark(), "rate", sheet, acceptance="by_rule", acceptance_rule=rule)
        items(stage, 1)
    later = a_stage(stage.benchmark, "later", GOOD, derivation={**LATER, "from": [stage.key]})
    cohort = a_cohort(stage.benchmark.team)
    campaign = create_open_campaign(stage, cohort)
    person = a_person(cohort)
    if world is not None and person.user is not None:
        world.give_consent(stage.benchmark.team, person.user)
    answer(claim_sheet(person, campaign, cohort), good="1", **raw)
    process_derivations()
    return stage, later, campaign


def fact(stage: Stage, key: str, value: float) -> None:
    """As something else than a page or a request would bring it, and the answers are looked at again."""
    item = stage.items.get()
    ItemFact.objects.create(item=item, key=key, value=value, source="s", version=str(value))
    outbox.mark_items_due([item.pk])
    process_derivations()


def outcome() -> tuple[str, list[str], list[str]]:
    one = Outcome.objects.get()
    return one.state, one.waits_for, one.failed


@pytest.mark.parametrize(("objects", "state", "derived"), [(3, "accepted", 1), (2, "rejected", 0), (0, "rejected", 0)])
def test_a_missing_fact_is_waited_for_and_then_decides(objects: int, state: str, derived: int) -> None:
    stage, later, _campaign = rated()
    assert outcome() == ("waiting", ["objects"], []) and live_items(later) == []
    [result] = rule_results(stage.items.get()) or []
    assert result.waits_for == ["objects"] and result.failed == []
    fact(stage, "objects", objects)
    assert outcome()[:2] == (state, []) and len(live_items(later)) == derived


def test_of_several_facts_with_one_key_the_newest_decides() -> None:
    stage, _later, _campaign = rated()
    for objects, state in ((2, "rejected"), (4, "accepted"), (1, "rejected")):
        fact(stage, "objects", objects)
        assert outcome()[0] == state


def test_an_outcome_keeps_its_moment_while_nothing_of_it_changes() -> None:
    stage, _later, _campaign = rated()
    fact(stage, "objects", 4)
    at = Outcome.objects.get().at
    fact(stage, "colours", 5)
    assert Outcome.objects.get().at == at
    fact(stage, "objects", 1)
    assert Outcome.objects.get().at > at


def test_what_a_person_accepted_as_it_is_waits_for_nothing() -> None:
    stage, _later, _campaign = rated()
    assert outcome() == ("waiting", ["objects"], [])
    accept_as_it_is(stage.items.get().pk, make_user("Ada"), "There is enough.", timezone.now())
    process_derivations()
    assert outcome() == ("accepted", [], [])


def test_an_answer_that_does_not_count_and_that_of_a_model_have_no_say() -> None:
    stage = a_stage(a_benchmark(), "rate", GOOD, acceptance="by_rule", acceptance_rule=RULE)
    items(stage, 1)
    cohort = a_cohort(stage.benchmark.team)
    campaign = create_open_campaign(stage, cohort, target=1)
    excluded, model = a_person(cohort), a_person(cohort)
    answer(claim_sheet(excluded, campaign, cohort), good="1")
    process_derivations()
    assert outcome()[0] == "accepted"
    exclusions.exclude(stage.benchmark, excluded, "Asked for it.", make_user("Ada"), timezone.now())
    process_derivations()
    assert not Outcome.objects.exists(), "it lacks its one answer"
    answer(claim_sheet(model, campaign, cohort), good="0")
    process_derivations()
    assert outcome()[0] == "rejected", "one of one: the excluded answer is no tie"
    Rater.objects.filter(pk=model.pk).update(kind="model", user=None, name="M", team=stage.benchmark.team)
    outbox.mark_items_due([stage.items.get().pk])
    process_derivations()
    assert not Outcome.objects.exists()


def test_a_rule_that_reads_no_fact_waits_for_none() -> None:
    _stage, later, _campaign = rated(rule=RULE)
    assert outcome() == ("accepted", [], []) and len(live_items(later)) == 1


def test_an_import_that_brings_the_fact_has_the_rule_decide(world: World) -> None:
    Stage.objects.filter(pk=world.stage.pk).update(
        sheet=GOOD, acceptance="by_rule", acceptance_rule=READS, pictures="optional", has_target=False
    )
    stage = Stage.objects.get(pk=world.stage.pk)
    client = world.client(world.mara)
    upload(client, stage, lines({"key": "a", "text": "Tea"}))
    _stage, later, _campaign = rated(stage=stage, world=world)
    item = stage.items.get()
    text = client.get(f"/b/{world.benchmark.slug}/items/{item.pk}/").content.decode()
    assert "Waiting for a fact" in text and "<bdi>objects</bdi>" in text
    listed = f"/b/{world.benchmark.slug}/items/?stage={stage.key}&verdict="
    assert item.key in client.get(f"{listed}waiting").content.decode()
    upload(client, stage, lines({"key": "a", "text": "Tea", "fact.objects": 4}), complete="on")
    process_derivations()
    assert outcome() == ("accepted", [], []) and len(live_items(later)) == 1


@pytest.mark.parametrize("frozen", ["rule", "gate"])
def test_an_import_refuses_a_text_where_a_running_campaign_reads_a_number(world: World, frozen: str) -> None:
    gated = {"fields": [a_field("box", "box", facts=[GATE]), *GOOD["fields"]]}
    sheet, rule = (gated, RULE) if frozen == "gate" else (GOOD, READS)
    shape = {"sheet": sheet, "acceptance": "by_rule", "acceptance_rule": rule, "pictures": "optional"}
    Stage.objects.filter(pk=world.stage.pk).update(**shape)
    stage = Stage.objects.get(pk=world.stage.pk)
    items(stage, 1)
    campaign = create_open_campaign(stage, a_cohort(stage.benchmark.team))
    Stage.objects.filter(pk=stage.pk).update(sheet=GOOD, acceptance="on_submit", acceptance_rule={})
    client, row = world.client(world.mara), lines({"key": "a", "text": "Tea", "fact.objects": "many"})
    assert outcomes(upload(client, stage, row)) == {1: ("error", "fact_not_number")}
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    assert outcomes(upload(client, stage, row)) == {1: ("created", "")}


def test_answers_of_an_item_that_is_assigned_while_it_waits_are_accepted_when_it_is_kept(db: None) -> None:
    benchmark = a_benchmark()
    stage = a_stage(benchmark, "rate", GOOD, acceptance="by_rule", acceptance_rule=RULE, filters=[SCORE])
    user = User.objects.create(email="researcher@example.org", name="R")
    items(stage, 1)
    filter_versions.set_assign_waiting(stage, True, user)
    runner.run(judge_job.start(stage, None).pk)
    _stage, later, campaign = rated(stage=stage)
    assert outcome() == ("waiting", ["clip_score"], []) and live_items(later) == []
    stages = list(benchmark.stages.all())
    assert chain_counts(stages, timezone.now()).totals[stages[0].pk].for_fact == 1
    assert _accepted(campaign) == 0 and Annotation.objects.get().counted
    ItemFact.objects.create(item=stage.items.get(), key="clip_score", value=30, source="clip")
    runner.run(judge_job.start(stage, None).pk)
    process_derivations()
    assert outcome() == ("accepted", [], []) and len(live_items(later)) == 1 and _accepted(campaign) == 1


def _accepted(campaign: Campaign) -> int:
    return sum(cell.accepted for row in coverage_page(campaign, CoverageFilter(by="item")).rows for cell in row.cells)


@pytest.mark.parametrize(("objects", "state", "failed"), [(3, "accepted", []), (1, "rejected", ["facts.objects"])])
def test_a_number_that_a_question_needs_is_waited_for_too(objects: int, state: str, failed: list[str]) -> None:
    sheet = {"fields": [a_field("box", "box", facts=[GATE]), *GOOD["fields"]]}
    stage, later, _campaign = rated(sheet, RULE, box=[[0.1, 0.1, 0.2, 0.2]])
    assert outcome() == ("waiting", ["objects"], []) and live_items(later) == []
    fact(stage, "objects", objects)
    assert outcome() == (state, [], failed) and len(live_items(later)) == (state == "accepted")
    [result] = rule_results(Item.objects.get(pk=stage.items.get().pk)) or []
    words = [clause.words for clause in result.failed]
    assert words == (["objects is 1, and at least 3 is needed"] if failed else [])
