"""Boxes of two people that are too far apart are settled by a third person, and only where they are."""

import pytest
from django.db import connection
from django.utils import timezone

from annotation.composer.validation import stage_problems
from annotation.models import Annotation, ItemSource, Resolution
from annotation.pages.next_actions import settle_disagreements
from annotation.queries.disputes import open_disputes
from annotation.services.answers import submit
from annotation.services.answers.submit import InvalidAnswers
from annotation.services.derivation.derived_items import rederive_stage
from annotation.services.review import reviews
from benchmarks.models import Item, Stage
from releases.rows.annotations import current_answers
from tests.annotation.chain.disputed_scene import FIRST, SETTLE, Disputes, corners, lower
from tests.annotation.chain.factories import answer, create_open_campaign, process_derivations
from tests.personas import World

pytestmark = pytest.mark.django_db


def number_of(scene: Disputes, box: list[list[float]]) -> str:
    """The number that a box has in the dispute."""
    [item] = scene.disputed()
    sides = [corners(shown) for shown in item.context["answers"]]
    return str(sides.index(box[0]) + 1)


def test_boxes_that_share_just_under_half_are_in_dispute_and_at_half_they_are_not() -> None:
    near, apart = Disputes(), Disputes()
    near.draw_both(lower(0.5))
    apart.draw_both(lower(0.49))
    assert near.disputed() == []
    [item] = apart.disputed()
    assert (item.key, item.context["field"], item.context["agreement"]) == ("boxes-000/box", "box", 0.49)
    assert item.context["numbers"] == ["1", "2"]


def test_there_is_nothing_to_settle_before_the_verifier_has_answered() -> None:
    scene = Disputes()
    scene.answer("boxes", scene.finder, box=FIRST)
    assert scene.disputed() == []


def test_those_whose_boxes_are_shown_are_never_offered_the_dispute() -> None:
    scene = Disputes()
    scene.draw_both(lower(0.2))
    assert scene.claim("settling", scene.finder) is None
    assert scene.claim("settling", scene.verifier) is None
    assert scene.claim("settling", scene.person()) is not None


def test_a_corrected_box_closes_the_dispute_and_what_was_settled() -> None:
    scene = Disputes()
    scene.draw_both(lower(0.2))
    scene.answer("settling", scene.person(), decision=number_of(scene, lower(0.2)), reason="closer")
    given = Annotation.objects.get(rater=scene.verifier, live=True)
    submit.reopen(given.assignment_id, scene.verifier, timezone.now())
    answer(given.assignment, box=lower(0.9))
    assert scene.disputed() == [] and scene.live() == []
    assert scene.gold() == FIRST[0]


def test_the_chosen_box_is_handed_on_and_both_people_s_boxes_stay() -> None:
    scene = Disputes()
    scene.draw_both(lower(0.2))
    assert scene.gold() == FIRST[0]
    third = scene.person()
    scene.answer("settling", third, decision=number_of(scene, lower(0.2)), reason="closer")
    [resolution] = scene.live()
    assert resolution.unit.item.stage == scene.boxes and resolution.by == third
    assert (resolution.field, resolution.reason, resolution.version) == ("box", "closer", 1)
    assert resolution.chosen_annotation is not None and resolution.chosen_annotation.rater == scene.verifier
    assert scene.gold() == lower(0.2)[0]
    [item] = scene.verification.items.filter(withdrawn_at=None)
    assert corners(item.context["first_box"]) == FIRST[0]  # the dispute itself stays as it was
    assert len(scene.disputed()) == 1 and process_derivations() == 0
    assert Annotation.objects.filter(live=True, counted=True, rater__in=[scene.finder, scene.verifier]).count() == 2


def test_another_box_may_be_given_and_cannot_be_decided_hands_nothing_on() -> None:
    scene, open_scene = Disputes(), Disputes()
    scene.draw_both(lower(0.2))
    scene.answer("settling", scene.person(), decision="another", box=lower(0.4), reason="both are off")
    [resolution] = scene.live()
    assert resolution.chosen_annotation is None and scene.gold() == lower(0.4)[0]
    open_scene.draw_both(lower(0.2))
    open_scene.answer("settling", open_scene.person(), decision="undecided", reason="two of them")
    assert Resolution.objects.get(unit__item__stage=open_scene.boxes).answer is None
    assert list(open_scene.later.items.filter(withdrawn_at=None)) == []


def test_a_decision_needs_a_reason_and_an_answer_that_is_there() -> None:
    scene = Disputes()
    scene.draw_both(lower(0.2))
    sheet = scene.claim("settling", scene.person())
    for raw in ({"decision": "1"}, {"decision": "3", "reason": "no such"}, {"decision": "another", "reason": "none"}):
        with pytest.raises(InvalidAnswers):
            answer(sheet, **raw)
    assert not Resolution.objects.exists()


def test_where_decisions_are_reviewed_one_holds_only_while_a_reviewer_accepts_it() -> None:
    scene = Disputes()
    Stage.objects.filter(pk=scene.settling.pk).update(acceptance="by_review")
    scene.draw_both(lower(0.2))
    decision = scene.answer("settling", scene.person(), decision=number_of(scene, lower(0.2)), reason="closer")
    assert scene.live() == [] and scene.gold() == FIRST[0]
    reviewer = scene.person().user
    assert reviewer is not None
    review = reviews.decide(decision.pk, reviewer, "accept", timezone.now())
    assert len(scene.live()) == 1 and scene.gold() == lower(0.2)[0]
    reviews.undo(review.pk, reviewer, timezone.now())
    assert scene.live() == [] and scene.gold() == FIRST[0]


def test_what_is_taken_back_no_longer_holds_and_the_next_decision_is_version_two() -> None:
    scene = Disputes()
    scene.draw_both(lower(0.2))
    third = scene.person()
    given = answer(scene.claim("settling", third), decision=number_of(scene, lower(0.2)), reason="closer")
    assert len(scene.live()) == 1  # in the same transaction: no worker was there yet
    submit.undo(given.assignment_id, third, timezone.now())
    assert scene.live() == [] and scene.gold() == FIRST[0]
    scene.answer("settling", third, decision=number_of(scene, FIRST), reason="after all")
    [resolution] = scene.live()
    assert (resolution.version, resolution.reason) == (2, "after all")
    assert Resolution.objects.count() == 2


def test_of_two_people_who_settle_the_same_dispute_the_later_decision_holds() -> None:
    scene = Disputes()
    scene.campaigns["settling"] = create_open_campaign(scene.settling, scene.cohort, target=2)
    scene.draw_both(lower(0.2))
    scene.answer("settling", scene.person(), decision=number_of(scene, lower(0.2)), reason="closer")
    later = scene.answer("settling", scene.person(), decision="another", box=lower(0.4), reason="both are off")
    [resolution] = scene.live()
    assert (resolution.annotation, resolution.version) == (later, 2) and scene.gold() == lower(0.4)[0]


def test_an_item_in_dispute_names_both_answers_as_its_sources() -> None:
    scene = Disputes()
    scene.draw_both(lower(0.2))
    [item] = scene.disputed()
    sources = ItemSource.objects.filter(item=item)
    assert {(source.source.stage.key, source.role) for source in sources} == {
        ("boxes", "candidate"), ("verification", "candidate"),
    }  # fmt: skip


def test_the_export_has_the_settled_answer_too() -> None:
    scene = Disputes()
    scene.draw_both(lower(0.2))
    third = scene.person()
    scene.answer("settling", third, decision="another", box=lower(0.4), reason="both are off")
    benchmark, campaign = scene.boxes.benchmark, scene.campaigns["boxes"]
    [row] = current_answers(benchmark, [campaign.pk])
    assert corners(row["answers"]["box"]) == FIRST[0] and corners(row["resolved"]["box"]) == lower(0.4)[0]
    assert row["resolved_by"] == benchmark.pseudonym(third.pk) and row["resolved_reason"] == {"box": "both are off"}
    settling = scene.campaigns["settling"]
    [other] = current_answers(benchmark, [settling.pk])
    assert (other["resolved"], other["resolved_by"], other["resolved_reason"]) == ({}, None, {})


def test_the_sheet_shows_numbers_without_names_and_a_stranger_gets_nothing(world: World) -> None:
    scene = Disputes(world.benchmark, cohort=world.egypt)
    scene.draw_both(lower(0.2))
    address = f"/work/{scene.campaigns['settling'].pk}/"
    page = world.client(world.nour).get(address).content.decode()
    assert "Answer 1" in page and "Answer 2" in page and "Answer 3" not in page
    for person in (scene.finder, scene.verifier):
        assert person.user is not None
        assert world.benchmark.pseudonym(person.pk) not in page and person.user.email not in page
    assert world.client(world.stranger).get(address).status_code == 404


def test_the_choices_of_a_dispute_name_the_answers_that_the_numbers_stand_for(world: World) -> None:
    scene = Disputes(world.benchmark, cohort=world.egypt)
    scene.draw_both(lower(0.2))
    page = world.client(world.nour).get(f"/work/{scene.campaigns['settling'].pk}/").content.decode()
    assert "<kbd>1</kbd><b><bdi>Answer 1</bdi></b>" in page and "<kbd>2</kbd><b><bdi>Answer 2</bdi></b>" in page
    assert "<bdi>Another</bdi>" in page


def test_a_sheet_that_asks_for_no_reason_cannot_be_published() -> None:
    scene = Disputes()
    stage, earlier = scene.settling, {"boxes": {}, "verification": {}}
    content = {"name": "S", "display": "image", "sheet": SETTLE, "target_answers": 1, "derivation": stage.derivation}
    assert stage_problems(content, earlier) == []
    short = {**content, "sheet": {"fields": SETTLE["fields"][:2]}}
    assert ["reason" in problem.words for problem in stage_problems(short, earlier)] == [True]


def test_open_disagreements_are_counted_by_stage_and_cohort_until_they_are_settled(world: World) -> None:
    scene = Disputes(world.benchmark, world.egypt)
    assert open_disputes(world.benchmark) == [] and settle_disagreements(world.benchmark, world.mara) is None
    scene.draw_both(lower(0.2))
    assert [(row.stage, row.cohort, row.n, row.is_asked) for row in open_disputes(world.benchmark)] == [
        (scene.settling, "", 1, True)
    ]
    action = settle_disagreements(world.benchmark, world.mara)
    assert action is not None and action.text == "1 disagreement waits for a decision."
    assert settle_disagreements(world.benchmark, world.nour) is None, "only who runs the benchmark"
    overview = world.client(world.mara).get(f"/b/{world.benchmark.slug}/").content.decode()
    assert 'id="open-disputes"' in overview
    scene.settling.items.update(intake=Item.Intake.DROPPED)
    assert open_disputes(world.benchmark) == [], "nobody is given an item that a filter dropped"
    scene.settling.items.update(intake="")
    scene.answer("settling", scene.person(), decision="undecided", reason="two of them")
    assert open_disputes(world.benchmark) == []


def test_an_item_that_lost_a_source_is_read_as_changed() -> None:
    scene = Disputes()
    scene.draw_both(lower(0.2))
    [item] = scene.disputed()
    more = ItemSource.objects.create(item=item, source=scene.boxes.items.get())
    before = last_transaction(item)
    rederive_stage(scene.settling)
    scene.disputed()
    assert not ItemSource.objects.filter(pk=more.pk).exists() and last_transaction(item) != before


def last_transaction(item: Item) -> str:
    """That wrote its row, as PostgreSQL keeps it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT xmin::text FROM benchmarks_item WHERE id = %s", [item.pk])
        return str(cursor.fetchone()[0])
