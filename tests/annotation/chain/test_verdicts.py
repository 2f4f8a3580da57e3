"""What a researcher reads of a rule's verdict on an item's page, and how they find items by it."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

import pytest

from annotation.models import Outcome, Unit
from annotation.pages import missing_answers, rule_results
from benchmarks.models import Item, Stage
from benchmarks.queries import item_selection
from people.models import User
from tests.annotation.chain.disputed_scene import a_willing_person
from tests.annotation.chain.factories import (
    GOOD,
    RULE,
    a_benchmark,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    items,
    process_derivations,
)
from tests.annotation.queue.factories import NOON, a_cohort, a_person
from tests.personas import World

pytestmark = pytest.mark.django_db


def item_with_verdicts(over: str, *codes: str) -> Item:
    benchmark = a_benchmark()
    rule = {**RULE, "over": over, "score": {"expression": "good", "most": 1}}
    stage = a_stage(benchmark, "rate", GOOD, acceptance="by_rule", acceptance_rule=rule)
    items(stage, 1)
    cohort = a_cohort(benchmark.team)
    campaign = create_open_campaign(stage, cohort, target=len(codes))
    for code in codes:
        answer(claim_sheet(a_person(cohort), campaign, cohort), good=code)
    process_derivations()
    return stage.items.get()


def test_a_clause_that_failed_is_named_with_how_many_answers_failed_it() -> None:
    [result] = rule_results.rule_results(item_with_verdicts("majority", "0", "1", "0")) or []
    assert result.outcome.state == "rejected"
    assert [(one.words, one.answers) for one in result.failed] == [("It is good", 2)]
    assert result.score == pytest.approx(1 / 3) and result.most == 1


def test_an_item_names_the_answers_that_its_rule_waits_for_and_of_whom(world: World) -> None:
    """Two answers of each country are wanted, and one of Brazil is there."""
    stage = a_stage(
        world.benchmark, "rate", GOOD, acceptance="by_rule", acceptance_rule={**RULE, "least": 2}, has_target=False
    )
    items(stage, 1)
    campaign = create_open_campaign(stage, world.brazil, world.egypt, target=2)
    answer(claim_sheet(a_willing_person(world.brazil), campaign, world.brazil), good="1")
    process_derivations()
    item = stage.items.get()
    [waits] = missing_answers.missing_answers(item) or []
    assert (waits.text, waits.cohorts) == ("Waits for 3 more answers", [("Brazil", 1), ("Egypt", 2)])
    address = f"/b/{world.benchmark.slug}/items/{item.pk}/"
    assert "Waits for 3 more answers" in world.client(world.mara).get(address).content.decode()
    assert world.client(world.stranger).get(address).status_code == 404
    for cohort, n in ((world.brazil, 1), (world.egypt, 2)):
        for _time in range(n):
            answer(claim_sheet(a_willing_person(cohort), campaign, cohort), good="1" if cohort == world.brazil else "0")
    process_derivations()
    assert missing_answers.missing_answers(item) is None
    [result] = rule_results.rule_results(item) or []
    assert (result.outcome.state, result.least) == ("accepted", 2), "two of four are enough here"
    assert "2 met everything; 2 must." in world.client(world.mara).get(address).content.decode()


def test_rule_by_means_marks_no_single_answer_as_failing() -> None:
    [result] = rule_results.rule_results(item_with_verdicts("means", "0", "1", "1")) or []
    assert [(one.words, one.answers) for one in result.failed] == [("It is good", None)]


def test_what_was_accepted_names_nothing_and_what_was_not_judged_is_not_there() -> None:
    [result] = rule_results.rule_results(item_with_verdicts("majority", "1", "1", "0")) or []
    assert (result.outcome.state, result.failed) == ("accepted", [])
    assert rule_results.rule_results(items(a_stage(a_benchmark(), "other", GOOD), 1)[0]) is None


def store_verdicts(world: World, codes: Mapping[Item, str]) -> None:
    """Verdicts as the rule leaves them, on one answer each."""
    campaign = create_open_campaign(world.stage, world.egypt)
    for item, code in codes.items():
        outcomes = {"1": "accepted", "0": "rejected", "?": "undecided"}
        unit, _new = Unit.objects.get_or_create(item=item, target="")
        Outcome.objects.create(
            campaign=campaign, unit=unit, rule_version=campaign.rule_version, state=outcomes[code], answers=1, at=NOON
        )


def by_rule(world: World) -> None:
    stage = world.stage
    stage.sheet, stage.acceptance, stage.acceptance_rule = GOOD, Stage.Acceptance.BY_RULE, RULE
    stage.save()


def listed_keys(world: World, user: User, **query: str) -> set[str]:
    reply = world.client(user).get(f"/b/{world.benchmark.slug}/items/", query)
    assert reply.status_code == 200
    return {item.key for item in reply.context["list"].items}


def test_items_are_filtered_by_rule_result(world: World) -> None:
    by_rule(world)
    a, b, c, d, e = world.add_items(5)
    store_verdicts(world, {a: "1", b: "0", c: "?", d: "1"})
    store_verdicts(world, {d: "0"})  # another campaign saw it differently
    assert listed_keys(world, world.mara, verdict="accepted") == {a.key, d.key}
    assert listed_keys(world, world.mara, verdict="rejected") == {b.key, d.key}
    assert listed_keys(world, world.mara, verdict="undecided") == {c.key, e.key}
    assert listed_keys(world, world.mara, verdict="") == listed_keys(world, world.mara, verdict="x\0") == {
        one.key for one in world.items
    }  # fmt: skip
    condition = a.condition
    both = {one.key for one in (a, d) if one.condition == condition}
    assert listed_keys(world, world.mara, verdict="accepted", condition=condition) == both


def test_the_choice_goes_on_to_further_pages(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    by_rule(world)
    monkeypatch.setattr(item_selection, "PAGE", 2)
    rows = world.add_items(4)
    store_verdicts(world, {rows[0]: "1", rows[1]: "0", rows[2]: "1", rows[3]: "1"})
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/items/", {"verdict": "accepted"})
    assert '<option value="accepted" selected>' in reply.content.decode()
    further = dict(parse_qsl(reply.context["list"].later))
    assert further["verdict"] == "accepted" and listed_keys(world, world.mara, **further) == {rows[3].key}


def test_where_no_rule_decides_nothing_can_be_chosen_and_strangers_see_no_page(world: World) -> None:
    rows = world.add_items(2)
    address = f"/b/{world.benchmark.slug}/items/"
    assert 'name="verdict"' not in world.client(world.mara).get(address).content.decode()
    assert listed_keys(world, world.mara, verdict="accepted") == {one.key for one in rows}
    by_rule(world)
    assert 'name="verdict"' in world.client(world.mara).get(address).content.decode()
    for user in (world.stranger, world.rival):
        assert world.client(user).get(address, {"verdict": "accepted"}).status_code == 404
