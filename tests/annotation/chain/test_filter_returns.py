"""A picture that a filter drops goes back to the person who brought it, once, with the reason."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Assignment, Review
from annotation.services.queue import recount
from annotation.services.revisions import filter_returns, returns
from annotation.tasks import derive
from benchmarks.models import FilterResult, FormerJudge, Item, ItemFact, ItemReturn, Stage
from benchmarks.services.intake import by_hand
from benchmarks.services.intake.judging import judge_items
from tests.annotation.chain.factories import answer, claim_sheet, create_open_campaign, live_items
from tests.annotation.chain.test_revisions import Scene
from tests.annotation.queue.factories import a_person
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
OBJECTS = {"key": "objects", "kind": "fact", "params": {"key": "objects", "least": 3}, "returns": True}


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> Any:
    yield
    assert list(recount.iter_differences()) == []


@built_once
def scene() -> Scene:
    scene = Scene()
    Stage.objects.filter(pk=scene.judge.pk).update(filters=[OBJECTS])
    scene.judge.refresh_from_db()
    return scene


def bring(scene: Scene, number: int, objects: int) -> Item:
    """A picture is brought, and a detector finds so many objects in it."""
    scene.bring(number)
    [item] = live_items(scene.judge)
    count(item, objects)
    return item


def count(item: Item, objects: int) -> None:
    ItemFact.objects.create(item=item, key="objects", value=objects, source="detector", version=str(objects))
    judge_items(item.stage, [item.pk])


def test_a_picture_with_too_little_in_it_is_returned_once_and_replaced(scene: Scene) -> None:
    first = bring(scene, 1, 2)
    assert first.stage.items.get().intake == "dropped"
    assert filter_returns.return_dropped(timezone.now()) == 1
    assert filter_returns.return_dropped(timezone.now()) == 0, "a worker that is asked twice"
    derive()
    sheet = Assignment.objects.get(rater=scene.finder)
    review = Review.objects.get(annotation__assignment=sheet)
    assert (sheet.state, review.decision, review.reviewer) == ("returned", "return", None)
    assert review.comment.startswith("A program found 2 things in your picture. At least 3 are needed")
    second = bring(scene, 2, 3)
    assert (second.revision, second.replaces, second.stage.items.get(pk=second.pk).intake) == (2, first, "kept")
    derive()
    assert ItemReturn.objects.count() == 1 and not FormerJudge.objects.exists()
    assert Assignment.objects.get(rater=scene.finder).state == "submitted"


def test_the_reason_is_in_the_language_in_which_the_finder_answered(scene: Scene) -> None:
    scene.bring(1)
    Annotation.objects.update(language="ar")
    [item] = live_items(scene.judge)
    count(item, 2)
    assert filter_returns.return_dropped(timezone.now()) == 1
    assert "2" in ItemReturn.objects.get().comment


def test_what_somebody_answered_or_decided_on_stays(scene: Scene) -> None:
    item = bring(scene, 1, 5)
    campaign = create_open_campaign(scene.judge, scene.cohort)
    answer(claim_sheet(a_person(scene.cohort), campaign, scene.cohort), good="1")
    count(item, 1)  # another detector
    assert scene.judge.items.get().intake == "dropped"
    assert filter_returns.return_dropped(timezone.now()) == 0


def test_a_return_that_is_undone_is_not_made_again_and_the_picture_can_be_kept_by_hand(scene: Scene) -> None:
    item = bring(scene, 1, 2)
    filter_returns.return_dropped(timezone.now())
    derive()
    returns.undo_return(ItemReturn.objects.get().pk, scene.reviewer, timezone.now(), runs=True)
    derive()
    assert Assignment.objects.get(rater=scene.finder).state == "submitted"
    assert filter_returns.return_dropped(timezone.now()) == 0
    item.refresh_from_db()
    by_hand.decide(item, FilterResult.State.KEPT, "It is clear", scene.reviewer, timezone.now())
    item.refresh_from_db()
    assert item.intake == "kept" and item.withdrawn_at is None


def test_a_filter_that_does_not_say_so_returns_nothing(scene: Scene) -> None:
    plain = {name: value for name, value in OBJECTS.items() if name != "returns"}
    Stage.objects.filter(pk=scene.judge.pk).update(filters=[plain])
    scene.judge.refresh_from_db()
    bring(scene, 1, 2)
    assert filter_returns.return_dropped(timezone.now()) == 0 and not ItemReturn.objects.exists()


def test_whether_a_filter_returns_is_chosen_on_its_form_where_pictures_may_be_brought(world: World) -> None:
    client, address = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/filters/edit/"
    form = {"kind": "fact", "key": "objects", "least": "3", "returns": "on", "number": "0"}
    assert "returns" not in client.get(address, {"kind": "fact"}).content.decode()
    assert client.post(address, form).status_code == 302
    assert "returns" not in Stage.objects.get(pk=world.stage.pk).filters[0], "its pictures are imported"
    Stage.objects.filter(pk=world.stage.pk).update(filters=[], derivation={"kind": "promote", "from": ["find"]})
    assert 'name="returns"' in client.get(address, {"kind": "fact"}).content.decode()
    client.post(address, {**form, "number": "2"})
    assert Stage.objects.get(pk=world.stage.pk).filters[0]["returns"] is True
    assert world.client(world.nour).post(address, form).status_code == 404
