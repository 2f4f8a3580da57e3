"""A stage that stops at full cells: nobody is given more of one, what is in hand counts, and a rejection reopens it."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Review, Slot
from annotation.queries.coverage import CoverageFilter, coverage_page
from annotation.services.campaigns import lifecycle
from annotation.services.queue import full_cells, recount, slots, units
from annotation.services.review import reviews
from annotation.services.sheets import stages
from benchmarks.models import Item, Stage
from people.services.raters import rater_of
from tests.annotation.chain.factories import ANSWER, a_stage, answer, claim_sheet, process_derivations
from tests.module_world import built_once
from tests.personas import World, stand_in

pytestmark = pytest.mark.django_db
WANTED = {"rows": "cohorts", "columns": "concepts", "names": ["music", "dance"], "per_cell": 1, "stop_when_full": True}


def add(stage: Stage, concept: str, n: int) -> list[Item]:
    first = stage.items.count()
    rows = (Item(stage=stage, key=f"i{first + at}", concept=concept, origin="Egypt") for at in range(n))
    made = Item.objects.bulk_create(rows)
    stand_in(made)
    return made


@built_once
def campaign(world: World) -> Campaign:
    """Six items of music for Egypt; one accepted is wanted, and a reviewer accepts."""
    stage = a_stage(
        world.benchmark, "ask", ANSWER, acceptance="by_review", own_items_only=True, has_target=True, coverage=WANTED
    )
    add(stage, "music", 6)
    campaign = lifecycle.create(stage, "Music", None, {world.egypt: 1}, seed=7)
    lifecycle.open_campaign(campaign, None, timezone.now())
    process_derivations()
    return campaign


def sheet_of(world: World, campaign: Campaign, person: Any) -> Assignment | None:
    return claim_sheet(rater_of(person), campaign, world.egypt)


def accept(world: World, given: Annotation) -> Review:
    review = reviews.decide(given.pk, world.reviewer, "accept", timezone.now())
    process_derivations()
    return review


def reject(world: World, review: Review) -> None:
    reviews.undo(review.pk, world.reviewer, timezone.now())
    reviews.decide(review.annotation_id, world.reviewer, "reject", timezone.now(), reason="mistake")


def open_slots(campaign: Campaign) -> int:
    return Slot.objects.filter(cohort__campaign=campaign, open=True).count()


def test_a_full_cell_closes_and_one_rejection_reopens_it(world: World, campaign: Campaign) -> None:
    first = answer(sheet_of(world, campaign, world.nour), answer="oud")
    process_derivations()
    assert open_slots(campaign) == 5 - reserved_count(world.nour), "an answer that waits for a reviewer fills nothing"
    review = accept(world, first)
    assert open_slots(campaign) == 0
    assert sheet_of(world, campaign, world.tarek) is None
    [row] = coverage_page(campaign, CoverageFilter(by="concept")).rows
    assert [(cell.asked, cell.counted) for cell in row.cells if cell] == [(1 + reserved_count(world.nour), 1)]
    assert recount.find_differences() == []
    reject(world, review)
    process_derivations()
    assert sheet_of(world, campaign, world.tarek) is not None and recount.find_differences() == []


def reserved_count(person: Any) -> int:
    return Assignment.objects.filter(rater__user=person, state="reserved").count()


def test_what_is_in_hand_when_the_cell_fills_is_sent_and_counts(world: World, campaign: Campaign) -> None:
    first = answer(sheet_of(world, campaign, world.nour), answer="oud")
    in_hand = sheet_of(world, campaign, world.tarek)
    accept(world, first)
    late = answer(in_hand, answer="drum")
    process_derivations()
    late.refresh_from_db()
    assert late.counted and open_slots(campaign) == 0 and recount.find_differences() == []
    assert accept(world, late) and open_slots(campaign) == 0


def test_a_worker_that_is_killed_leaves_the_work_to_the_next_and_twice_is_once(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answer(sheet_of(world, campaign, world.nour), answer="oud")

    def killed(*_args: Any, **_more: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(slots, "update_tally", killed)
        reviews.decide(first.pk, world.reviewer, "accept", timezone.now())
        with pytest.raises(KeyboardInterrupt):
            process_derivations()
    assert not Slot.objects.filter(cell_full=True).exists(), "nothing is done by halves"
    process_derivations()
    closed = list(Slot.objects.filter(cell_full=True).values_list("pk", "wanted"))
    assert len(closed) == 6
    assert full_cells.follow_cells(campaign.stage, [item.pk for item in campaign.stage.items.all()]) == 0
    assert recount.find_differences() == []


def test_new_items_of_a_full_cell_stay_closed_and_those_of_another_do_not(world: World, campaign: Campaign) -> None:
    accept(world, answer(sheet_of(world, campaign, world.nour), answer="oud"))
    add(campaign.stage, "music", 2), add(campaign.stage, "dance", 2)
    lifecycle.add_slots(campaign)
    process_derivations()
    assert open_slots(campaign) == 2
    assert set(Slot.objects.filter(open=True).values_list("unit__item__concept", flat=True)) == {"dance"}


def test_spellings_of_one_concept_are_one_cell(world: World, campaign: Campaign) -> None:
    """Each closes with what was accepted of the other, also where the answer is to an item of one spelling alone."""
    stage = campaign.stage
    stage.coverage = WANTED | {"per_cell": 2}
    stage.save()
    others = add(stage, "  Music", 2)
    lifecycle.add_slots(campaign)
    process_derivations()
    accept(world, answer(sheet_of(world, campaign, world.nour), answer="oud"))
    assert not Slot.objects.filter(cell_full=True).exists()
    spelt = list(Slot.objects.filter(unit__item__in=others).values_list("pk", flat=True))
    units.prioritise(campaign, spelt, None)
    sheet = sheet_of(world, campaign, world.tarek)
    assert sheet is not None and sheet.slot_id in spelt
    review = accept(world, answer(sheet, answer="drum"))
    assert Slot.objects.filter(cell_full=True).count() == 8 and recount.find_differences() == []
    reject(world, review)
    process_derivations()
    assert not Slot.objects.filter(cell_full=True).exists() and recount.find_differences() == []


def test_without_the_setting_full_cells_are_open_again(world: World, campaign: Campaign) -> None:
    accept(world, answer(sheet_of(world, campaign, world.nour), answer="oud"))
    assert open_slots(campaign) == 0
    remove_setting(world, campaign.stage)
    assert not Slot.objects.filter(cell_full=True).exists() and recount.find_differences() == []
    assert sheet_of(world, campaign, world.tarek) is not None


def remove_setting(world: World, stage: Stage) -> None:
    content = stages.content_of(stage) | {"coverage": {}}
    stages.save_draft(stage, content, stages.revision(stage, None), world.mara, timezone.now())
    stages.publish(stage, stages.revision(stage, stages.draft_of(stage)), world.mara, timezone.now())
    process_derivations()


def test_without_the_setting_full_cells_of_a_closed_campaign_stay_closed(world: World, campaign: Campaign) -> None:
    accept(world, answer(sheet_of(world, campaign, world.nour), answer="oud"))
    lifecycle.close(campaign, None, timezone.now())
    places = list(Slot.objects.order_by("pk").values_list("pk", "wanted", "cell_full"))
    remove_setting(world, campaign.stage)
    assert list(Slot.objects.order_by("pk").values_list("pk", "wanted", "cell_full")) == places
    assert Slot.objects.filter(cell_full=True).count() == 6 and recount.find_differences() == []


def test_cells_of_conditions_close_and_open_as_those_of_concepts_do(world: World, campaign: Campaign) -> None:
    stage = campaign.stage
    stage.coverage = WANTED | {"columns": "conditions", "names": ["natural", "generated"]}
    stage.save()
    stage.items.update(condition="natural")
    for item in add(stage, "music", 2):
        Item.objects.filter(pk=item.pk).update(condition="generated")
    lifecycle.add_slots(campaign)
    review = accept(world, answer(sheet_of(world, campaign, world.nour), answer="oud"))
    full = Slot.objects.filter(cell_full=True).values_list("unit__item__condition", flat=True)
    assert list(full) == ["natural"] * 6 and recount.find_differences() == []
    reject(world, review)
    process_derivations()
    assert not Slot.objects.filter(cell_full=True).exists() and recount.find_differences() == []


def test_cells_of_answers_that_count_at_once_close_too(world: World, campaign: Campaign) -> None:
    stage = campaign.stage
    stage.acceptance, stage.coverage = "on_submit", WANTED | {"counts": "answers", "per_cell": 2}
    stage.save()
    for person in (world.nour, world.tarek):
        answer(sheet_of(world, campaign, person), answer="oud")
    process_derivations()
    assert Slot.objects.filter(cell_full=True).count() == 6 and recount.find_differences() == []


def test_cells_of_answers_close_before_a_reviewer_accepts_anything(world: World, campaign: Campaign) -> None:
    stage = campaign.stage
    stage.coverage = WANTED | {"counts": "answers", "per_cell": 2}
    stage.save()
    for person in (world.nour, world.tarek):
        assert not Slot.objects.filter(cell_full=True).exists()
        answer(sheet_of(world, campaign, person), answer="oud")
        process_derivations()
    assert not Assignment.objects.filter(state="accepted").exists()
    assert Slot.objects.filter(cell_full=True).count() == 6 and recount.find_differences() == []


def test_a_closed_campaign_keeps_its_places_when_its_cell_fills_later(world: World, campaign: Campaign) -> None:
    waiting = answer(sheet_of(world, campaign, world.nour), answer="oud")
    lifecycle.close(campaign, None, timezone.now())
    process_derivations()
    places = list(Slot.objects.order_by("pk").values_list("pk", "wanted", "cell_full"))
    accept(world, waiting)
    assert Assignment.objects.filter(state="accepted").count() == 1
    assert list(Slot.objects.order_by("pk").values_list("pk", "wanted", "cell_full")) == places
    assert recount.find_differences() == []


def test_every_cell_has_its_first_item_before_any_has_its_second(world: World) -> None:
    """The best ranked of a search come first; without a rank, by key after the others."""
    stage = a_stage(world.benchmark, "ranked", ANSWER, own_items_only=True, has_target=True, coverage=WANTED)
    for concept in ("music", "dance"):
        for number, rank in enumerate(("3", "10", "", "2")):
            names = {"key": f"{concept}-{number}", "concept": concept, "origin": "Egypt"}
            Item.objects.create(stage=stage, context={"rank": rank} if rank else {}, **names)
    stand_in(list(stage.items.all()))
    ranked = lifecycle.create(stage, "Ranked", None, {world.egypt: 1}, seed=7)
    lifecycle.open_campaign(ranked, None, timezone.now())
    keys = list(
        Slot.objects.filter(cohort__campaign=ranked).order_by("position").values_list("unit__item__key", flat=True)
    )
    waves = [{key.rsplit("-", 1)[1] for key in keys[at : at + 2]} for at in range(0, 8, 2)]
    assert waves == [{"3"}, {"0"}, {"1"}, {"2"}]
