"""Answers of models and people become items that are judged: as long as they count, and of the runs chosen."""

from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, Due, ItemContributor, ItemSource, Slot, StageInput
from annotation.services.answers import model_answers, submit
from annotation.services.answers.model_answers import AnswerDestination
from annotation.services.campaigns import lifecycle
from annotation.services.derivation import derived_items
from annotation.services.queue import recount
from benchmarks.models import Item, Stage
from tests.annotation.chain.factories import (
    answer,
    claim_sheet,
    create_open_campaign,
    live_items,
    process_derivations,
)
from tests.annotation.chain.judged_scene import Scene
from tests.annotation.queue.factories import SKIPS, a_person

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> Any:
    yield
    assert list(recount.iter_differences()) == []


def test_two_runs_three_questions_and_three_people_make_six_and_nine_items() -> None:
    scene = Scene(questions=3, people="leave_one_out")
    scene.people_answer()
    first, second = scene.model_answers("A", 7), scene.model_answers("B", 8)
    assert len(scene.judged()) == 9, "no run is chosen"
    scene.choose((first, 7), (second, 8))
    judged = scene.judged()
    assert len([item for item in judged if "/m/" in item.key]) == 6
    assert len([item for item in judged if "/p~" in item.key]) == 9
    [item] = [item for item in judged if item.key == f"{scene.questions[0].key}/m/a-vlm"]
    assert item.text == scene.questions[0].text and item.context == {
        "question": scene.questions[0].key, "candidate": "A says", "candidate_by": "A", "setting": "vlm", "run": 7,
        "references": ["Asked tea", "Tea 0", "Tea 1", "Tea 2"],
    }  # fmt: skip
    roles = sorted(ItemSource.objects.filter(item=item).values_list("role", flat=True))
    assert roles == ["candidate", "item", "reference", "reference", "reference"]


def test_runs_of_a_prompt_variant_are_chosen_by_themselves_but_for_those_left_out() -> None:
    scene = Scene(runs={"settings": ["vlm"]})
    scene.people_answer()
    first, second = scene.model_answers("A", 7), scene.model_answers("B", 8)
    assert len(scene.judged()) == 2
    scene.choose((second, 8), chosen=False)
    assert [item.context["candidate_by"] for item in scene.judged()] == ["A"]
    scene.choose((second, 8))
    assert len(scene.judged()) == 2 and first.pk != second.pk
    assert StageInput.objects.get().state == "chosen"


def test_a_run_that_is_withdrawn_and_restored_keeps_its_items_and_their_verdicts() -> None:
    scene = Scene(runs={"settings": ["vlm"]})
    scene.people_answer()
    rater = scene.model_answers("A", 7)
    [item] = scene.judged()
    judging_campaign = create_open_campaign(scene.judge, scene.cohort)
    verdict = answer(claim_sheet(a_person(scene.cohort), judging_campaign, scene.cohort), good="1")
    destination = AnswerDestination.of(scene.replying, rater)
    ids = list(Annotation.objects.filter(rater=rater).values_list("pk", flat=True))
    model_answers.withdraw(destination, ids, timezone.now())
    assert scene.judged() == []
    model_answers.restore(destination, ids, timezone.now())
    assert scene.judged() == [item]
    verdict.refresh_from_db()
    assert verdict.live and verdict.counted


def test_a_further_reference_makes_the_next_version_and_undoing_it_restores_the_first() -> None:
    scene = Scene(runs={"settings": ["vlm"]}, when="now", target=2)
    scene.people_answer(1)
    scene.model_answers("A", 7)
    [first] = scene.judged()
    late = a_person(scene.cohort)
    annotation = answer(claim_sheet(late, scene.replying, scene.cohort), answer="Late tea")
    [second] = scene.judged()
    assert second.key == f"{first.key}.v2" and second.context["references"][-1] == "Late tea"
    first.refresh_from_db()
    assert first.withdrawn_because == "source"
    submit.undo(annotation.assignment_id, late, timezone.now())
    assert scene.judged() == [first]
    answer(claim_sheet(late, scene.replying, scene.cohort), answer="Late tea")
    assert scene.judged() == [second], "no third version"
    submit.undo(annotation.assignment_id, late, timezone.now())
    answer(claim_sheet(late, scene.replying, scene.cohort), answer="Coffee")
    assert [item.key for item in scene.judged()] == [f"{first.key}.v3"]


def test_a_key_that_an_imported_item_has_is_not_taken_twice() -> None:
    scene = Scene(runs={"settings": ["vlm"]})
    Item.objects.create(stage=scene.judge, key=f"{scene.questions[0].key}/m/a-vlm", text="imported")
    scene.people_answer()
    scene.model_answers("A", 7)
    derived = [item for item in scene.judged() if item.sources.exists()]
    derived_items.rederive_stage(scene.judge)
    assert [item for item in scene.judged() if item.sources.exists()] == derived and len(derived) == 1
    assert derived[0].key.startswith(f"{scene.questions[0].key}/m/a-vlm.")


def test_judged_items_wait_until_the_question_is_complete() -> None:
    scene = Scene(runs={"settings": ["vlm"]}, people="leave_one_out", least=2)
    scene.model_answers("A", 7)
    scene.people_answer(2)
    assert scene.judged() == []
    scene.people_answer(1)
    assert len(scene.judged()) == 4


def test_closing_the_campaign_ends_the_wait() -> None:
    scene = Scene(runs={"settings": ["vlm"]}, people="leave_one_out", least=2)
    scene.model_answers("A", 7)
    scene.people_answer(2)
    assert scene.judged() == []
    lifecycle.close(scene.replying, None, timezone.now())
    assert len(scene.judged()) == 3


def test_a_lower_target_ends_the_wait_and_a_higher_one_begins_it_again() -> None:
    scene = Scene(runs={"settings": ["vlm"]}, people="leave_one_out", least=2)
    scene.people_answer(2)
    assert scene.judged() == []
    place = scene.replying.cohorts.get()
    lifecycle.change_target(place, 2, None)
    two = scene.judged()
    assert len(two) == 2
    lifecycle.change_target(place, 3, None)
    assert scene.judged() == []
    lifecycle.change_target(place, 2, None)
    assert scene.judged() == two


def test_a_question_that_enough_people_skipped_waits_no_longer() -> None:
    scene = Scene(runs={"settings": ["vlm"]})
    Stage.objects.filter(pk=scene.reply.pk).update(retire_after_skips=2)
    scene.model_answers("A", 7)
    assert scene.judged() == []
    skippers = [a_person(scene.cohort) for _n in range(2)]
    for person in skippers:
        work = claim_sheet(person, scene.replying, scene.cohort)
        assert work is not None
        submit.skip(work.pk, person, SKIPS[0]["code"], "", timezone.now())
    assert len(scene.judged()) == 1


def test_only_who_wrote_the_question_is_refused_to_rate_answers_to_it() -> None:
    scene = Scene(runs={"settings": ["vlm"]})
    people = scene.people_answer()
    scene.model_answers("A", 7)
    [item] = scene.judged()
    rating = create_open_campaign(scene.judge, scene.cohort, target=4)
    assert claim_sheet(scene.writer, rating, scene.cohort) is None
    own = dict(ItemContributor.objects.filter(item=item, rater__kind="person").values_list("rater", "own"))
    assert own == {scene.writer.pk: True} | {person.pk: False for person in people}
    for person in people:
        work = claim_sheet(person, rating, scene.cohort)
        assert work is not None and work.unit.item == item
    assert list(recount.iter_differences()) == []


def test_the_author_of_a_candidate_is_refused_and_authors_of_references_are_not() -> None:
    scene = Scene(people="leave_one_out")
    people = scene.people_answer()
    by_author = {
        ItemSource.objects.get(item=item, role="candidate").annotation.rater_id: item  # type: ignore[union-attr]
        for item in scene.judged()
    }
    rating = create_open_campaign(scene.judge, scene.cohort, target=2)
    for person in people:
        items = set()
        while work := claim_sheet(person, rating, scene.cohort):
            items.add(work.unit.item)
            answer(work, good="1")
        assert items == {item for rater, item in by_author.items() if rater != person.pk}
    assert claim_sheet(scene.writer, rating, scene.cohort) is None
    assert not Slot.objects.filter(cohort__campaign=rating, open=True).exists()


def test_with_others_no_author_of_a_reference_may_judge() -> None:
    scene = Scene(runs={"settings": ["vlm"]}, staffing="others")
    people = scene.people_answer()
    scene.model_answers("A", 7)
    scene.judged()
    rating = create_open_campaign(scene.judge, scene.cohort)
    assert all(claim_sheet(person, rating, scene.cohort) is None for person in (*people, scene.writer))
    assert claim_sheet(a_person(scene.cohort), rating, scene.cohort) is not None


def test_a_kill_between_answer_and_derivation_loses_nothing() -> None:
    scene = Scene(runs={"settings": ["vlm"]})
    scene.people_answer()
    scene.model_answers("A", 7)
    with mock.patch.object(derived_items, "_write_sources", side_effect=SystemExit), pytest.raises(SystemExit):
        process_derivations()
    assert live_items(scene.judge) == [] and Due.objects.exists()
    assert len(scene.judged()) == 1 and not Due.objects.exists()


def test_deriving_again_changes_nothing() -> None:
    scene = Scene(questions=3, people="leave_one_out", runs={"settings": ["vlm"]})
    scene.people_answer()
    scene.model_answers("A", 7)
    scene.judged()
    before = [list(table.objects.order_by("pk").values()) for table in (Item, ItemSource, ItemContributor)]
    derived_items.rederive_stage(scene.judge)
    process_derivations()
    assert [list(table.objects.order_by("pk").values()) for table in (Item, ItemSource, ItemContributor)] == before


def test_the_number_of_queries_does_not_grow_with_the_questions() -> None:
    counts = []
    for questions in (2, 12):
        scene = Scene(questions=questions, people="leave_one_out", runs={"settings": ["vlm"]})
        scene.people_answer()
        scene.model_answers("A", 7)
        process_derivations()
        derived_items.rederive_stage(scene.judge)
        with CaptureQueriesContext(connection) as queries:
            derived_items._step(scene.judge.pk, timezone.now())
        counts.append(len(queries))
        assert len(live_items(scene.judge)) == 4 * questions
    assert counts[0] == counts[1]


def test_repeated_answers_are_judged_where_the_stage_asks_for_them() -> None:
    scene = Scene(runs={"settings": ["vlm"]}, repeats="all")
    scene.people_answer()
    scene.model_answers("A", 7)
    scene.model_answers("A", 7, {0: "Second thought"}, repeat=1)
    assert [item.key.rsplit("/", 1)[1] for item in scene.judged()] == ["a-vlm", "a-vlm-r2"]


def test_two_models_of_one_slug_are_two_items_and_the_first_keeps_its_key() -> None:
    scene = Scene(runs={"settings": ["vlm"]})
    scene.people_answer()
    scene.model_answers("GPT 4", 7)
    [first] = scene.judged()
    scene.model_answers("gpt-4", 8)
    both = scene.judged()
    assert first in both and len(both) == 2
    assert {item.context["candidate_by"] for item in both} == {"GPT 4", "gpt-4"}
