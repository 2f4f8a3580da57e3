"""A person accepts an item as it is, whatever the rule says, and takes that back; answers and the rule's words stay."""

import pytest
from django.utils import timezone

from annotation.models import ItemAcceptance, ItemContributor, Outcome
from annotation.queries.board_counts import chain_counts
from annotation.services.review.item_acceptance import AcceptanceRefused, accept_as_it_is, undo_acceptance
from benchmarks.models import Item, Stage
from jobs.models import Event
from people.models import Rater, User
from tests.annotation.chain.factories import (
    GOOD,
    RULE,
    a_benchmark,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    items,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_cohort, a_person
from tests.personas import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(db: None) -> User:
    return make_user("Ada")


def judged(*answers: str, target: int = 2) -> tuple[Stage, Stage, Item]:
    """An item with these answers, and a stage that takes what the rule accepts."""
    stage = a_stage(a_benchmark(), "rate", GOOD, acceptance="by_rule", acceptance_rule=RULE)
    later = a_stage(stage.benchmark, "later", GOOD, derivation={"kind": "join", "from": ["rate"],
                    "params": {"by": "item.key", "needs": "any"}})  # fmt: skip
    [item] = items(stage, 1)
    cohort = a_cohort(stage.benchmark.team)
    campaign = create_open_campaign(stage, cohort, target=target)
    for good in answers:
        answer(claim_sheet(a_person(cohort), campaign, cohort), good=good)
    process_derivations()
    return stage, later, item


@pytest.mark.parametrize(("answers", "failed"), [((), []), (("0",), []), (("0", "0"), ["good"])])
def test_it_goes_on_without_answers_with_too_few_and_with_such_as_reject_it(
    user: User, answers: tuple[str, ...], failed: list[str]
) -> None:
    stage, later, item = judged(*answers)
    assert live_items(later) == []
    accept_as_it_is(item.pk, user, " It shows what is meant. ", timezone.now())
    process_derivations()
    [derived] = live_items(later)
    outcome = Outcome.objects.get(unit__item=item)
    assert (outcome.state, outcome.answers, outcome.failed) == ("accepted", len(answers), failed)
    assert outcome.numbers["by_person"] is True and ItemAcceptance.objects.get().reason == "It shows what is meant."
    assert chain_counts([stage], timezone.now()).totals[stage.pk].accepted == 1
    undo_acceptance(item.pk, user, timezone.now())
    process_derivations()
    assert live_items(later) == [] and Item.objects.get(pk=derived.pk).withdrawn_because == "source"
    states = list(Outcome.objects.filter(unit__item=item).values_list("state", flat=True))
    assert states == (["rejected"] if failed else []), "the rule decides again"
    accept_as_it_is(item.pk, user, "Again.", timezone.now())
    process_derivations()
    assert live_items(later) == [derived], "the same item comes back"
    assert list(Event.objects.filter(target=f"item:{item.pk}").order_by("pk").values_list("verb", flat=True)) == [
        "item.accepted_as_it_is", "item.acceptance_undone", "item.accepted_as_it_is",
    ]  # fmt: skip


def test_answers_that_come_later_change_nothing_and_without_a_campaign_it_goes_on_too(user: User) -> None:
    _stage, later, item = judged("0", target=2)
    accept_as_it_is(item.pk, user, "Good enough.", timezone.now())
    process_derivations()
    [derived] = live_items(later)
    campaign = item.stage.campaigns.get()
    cohort = campaign.cohorts.get().cohort
    answer(claim_sheet(a_person(cohort), campaign, cohort), good="0")
    process_derivations()
    outcome = Outcome.objects.get()
    assert live_items(later) == [derived] and (outcome.state, outcome.failed) == ("accepted", ["good"])
    [other] = items(a_stage(item.stage.benchmark, "alone", GOOD, acceptance="by_rule", acceptance_rule=RULE), 1)
    last = a_stage(item.stage.benchmark, "last", GOOD, derivation={"kind": "promote", "from": ["alone"], "params": {}})
    accept_as_it_is(other.pk, user, "Nobody is to judge it.", timezone.now())
    process_derivations()
    assert [one.key for one in live_items(last)] == [other.key]


def test_it_is_refused_without_a_reason_twice_of_the_withdrawn_of_ones_own_and_where_no_rule_decides(
    user: User,
) -> None:
    stage, _later, item = judged()
    now = timezone.now()

    def refused(reason: str, of: Item = item, why: str = "A reason.") -> None:
        with pytest.raises(AcceptanceRefused) as error:
            accept_as_it_is(of.pk, user, why, now)
        assert error.value.reason == reason

    refused("no_reason", why="  ")
    [free] = items(a_stage(stage.benchmark, "free", GOOD), 1)
    refused("no_rule", free)
    rater = Rater.objects.create(kind=Rater.Kind.PERSON, user=user)
    own = ItemContributor.objects.create(item=item, rater=rater)
    refused("own")
    own.delete()
    Item.objects.filter(pk=item.pk).update(withdrawn_at=now)
    refused("gone")
    Item.objects.filter(pk=item.pk).update(withdrawn_at=None)
    with pytest.raises(AcceptanceRefused):
        undo_acceptance(item.pk, user, now)
    accept_as_it_is(item.pk, user, "A reason.", now)
    refused("decided")


def test_a_reason_is_cut_at_its_longest(user: User) -> None:
    _stage, _later, item = judged("0")
    accept_as_it_is(item.pk, user, "x" * 600, timezone.now())
    assert ItemAcceptance.objects.get().reason == "x" * 500
