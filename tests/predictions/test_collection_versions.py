"""A collection holds what its stage gives, and its next version is shown before it is made."""

import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign
from benchmarks.models import Item, Stage
from benchmarks.services.intake import by_hand
from jobs.models import Job
from jobs.services import runner
from people.services.raters import rater_of
from predictions.models import Collection, Entry, Query
from tests.annotation.chain.factories import (
    GOOD,
    RULE,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    items,
    process_derivations,
)
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
DIGEST = re.compile(r'name="digest" value="([0-9a-f]+)"')


@built_once
def stage(world: World) -> Stage:
    """Four pictures of music; people say which are good."""
    stage = a_stage(world.benchmark, "screen", GOOD, acceptance="by_rule", acceptance_rule=RULE, target_answers=1)
    items(stage, 4, concept="music", origin="Egypt")
    return stage


def rate(world: World, stage: Stage, *goods: str) -> Campaign:
    """Items get these answers, in the order of their turns."""
    campaign = create_open_campaign(stage, world.egypt)
    for good in goods:
        answer(claim_sheet(rater_of(world.nour), campaign, world.egypt), good=good)
    process_derivations()
    return campaign


def create(world: World, stage: Stage, **more: str) -> Any:
    data = {"stage": stage.pk, "name": "Set", "version": "1", "what": "images", "seed": "5", "queries": ["universals"]}
    url = reverse("predictions:collection_make", args=[world.benchmark.slug])
    return world.client(world.mara).post(url, {**data, **more})


def next_url(world: World, collection: Collection) -> str:
    return reverse("predictions:collection_next", args=[world.benchmark.slug, collection.pk])


def keys_of(collection: Collection) -> list[str]:
    return list(Entry.objects.filter(collection=collection).order_by("key").values_list("key", flat=True))


def accepted_keys(stage: Stage) -> list[str]:
    rows = Item.objects.filter(stage=stage, units__outcomes__state="accepted").exclude(intake="dropped")
    return list(rows.order_by("key").values_list("key", flat=True))


def test_only_accepted_results_go_in_and_none_are_refused_with_what_to_do(world: World, stage: Stage) -> None:
    reply = create(world, stage)
    assert reply.status_code == 400 and "Nothing is accepted in the stage" in reply.content.decode()
    assert not Collection.objects.exists()
    rate(world, stage, "1", "0", "1")
    assert create(world, stage).status_code == 302
    collection = Collection.objects.get()
    assert keys_of(collection) == accepted_keys(stage) and len(keys_of(collection)) == 2
    assert (collection.stage, collection.seed, collection.params["of"]) == (stage, 5, "accepted")
    assert Query.objects.get(collection=collection).relevant == keys_of(collection)


def test_all_kept_items_go_in_where_that_is_chosen_and_what_a_filter_drops_does_not(world: World, stage: Stage) -> None:
    dropped = stage.items.get(key="screen-001")
    by_hand.decide(dropped, "dropped", "blurred", world.mara, timezone.now())  # type: ignore[arg-type]
    assert create(world, stage, of="kept").status_code == 302
    assert keys_of(Collection.objects.get()) == ["screen-000", "screen-002", "screen-003"]


def test_where_nobody_is_asked_the_kept_items_go_in(world: World, stage: Stage) -> None:
    Stage.objects.filter(pk=stage.pk).update(target_answers=0)
    assert create(world, stage).status_code == 302
    assert len(keys_of(Collection.objects.get())) == 4


def test_the_next_version_lists_what_comes_and_goes_and_the_first_one_stays(world: World, stage: Stage) -> None:
    campaign = rate(world, stage, "1", "0", "1")
    create(world, stage)
    first = Collection.objects.get()
    before = list(Entry.objects.filter(collection=first).values())
    mara = world.client(world.mara)
    same = mara.get(next_url(world, first)).content.decode()
    assert "The stage gives the same entries as version 1" in same and not DIGEST.search(same)
    gone = keys_of(first)[0]
    by_hand.decide(stage.items.get(key=gone), "dropped", "it shows a logo", world.mara, timezone.now())  # type: ignore[arg-type]
    answer(claim_sheet(rater_of(world.nour), campaign, world.egypt), good="1")
    process_derivations()
    page = mara.get(next_url(world, first)).content.decode()
    assert "Entries that go (1)" in page and "Entries that come (1)" in page and gone in page
    assert "A filter or a person dropped its item" in page and "The new version has 2 entries." in page
    assert Collection.objects.count() == 1, "looking makes nothing"
    [digest] = DIGEST.findall(page)
    assert mara.post(next_url(world, first), {"digest": digest}).status_code == 302
    second = Collection.objects.latest("pk")
    assert (second.version, second.key, second.seed, second.params) == ("2", first.key, first.seed, first.params)
    assert keys_of(second) == accepted_keys(stage) and gone not in keys_of(second)
    assert list(Entry.objects.filter(collection=first).values()) == before
    index = mara.get(reverse("predictions:index", args=[world.benchmark.slug])).content.decode()
    assert next_url(world, second) in index and next_url(world, first) not in index


def test_a_change_after_the_first_look_is_listed_and_nothing_is_created(world: World, stage: Stage) -> None:
    campaign = rate(world, stage, "1", "1")
    create(world, stage)
    first = Collection.objects.get()
    by_hand.decide(stage.items.get(key=keys_of(first)[0]), "dropped", "blurred", world.mara, timezone.now())  # type: ignore[arg-type]
    mara = world.client(world.mara)
    [digest] = DIGEST.findall(mara.get(next_url(world, first)).content.decode())
    answer(claim_sheet(rater_of(world.nour), campaign, world.egypt), good="1")
    process_derivations()
    late = mara.post(next_url(world, first), {"digest": digest})
    assert late.status_code == 409 and "The stage has changed since you looked" in late.content.decode()
    assert "Entries that come (1)" in late.content.decode() and Collection.objects.count() == 1
    assert mara.post(next_url(world, first), {}).status_code == 409, "nobody makes a version unseen"


def test_an_entry_that_says_something_else_is_listed_with_what_differs(world: World, stage: Stage) -> None:
    rate(world, stage, "1")
    create(world, stage)
    collection = Collection.objects.get()
    Item.objects.filter(key__in=keys_of(collection)).update(concept="dance", context={"rank": "2"})
    page = world.client(world.mara).get(next_url(world, collection)).content.decode()
    assert "Entries that change (1)" in page and "Differs in: concept, rank" in page
    assert "Entries that go" not in page and "Entries that come" not in page


def test_nothing_is_added_to_a_version_by_a_file_and_one_of_a_file_has_no_next(world: World, stage: Stage) -> None:
    rate(world, stage, "1")
    create(world, stage)
    collection = Collection.objects.get()
    mara, url = world.client(world.mara), reverse("predictions:collection_new", args=[world.benchmark.slug])
    for version in ("1", "9"):
        file = SimpleUploadedFile("set.jsonl", b'{"kind": "entry", "key": "more"}\n')
        mara.post(url, {"name": "Set", "version": version, "file": file})
        runner.run(Job.objects.latest("pk").pk)
    assert len(keys_of(collection)) == 1 and Job.objects.earliest("pk").rows.get().reason == "closed"
    of_file = Collection.objects.get(version="9")
    reply = mara.get(next_url(world, of_file), follow=True).content.decode()
    assert keys_of(of_file) == ["more"] and "This collection came from a file" in reply


def test_only_who_works_on_the_benchmark_sees_a_next_version(world: World, stage: Stage) -> None:
    rate(world, stage, "1")
    create(world, stage)
    url = next_url(world, Collection.objects.get())
    for user in (world.stranger, world.rival, world.nour, world.reviewer):
        assert world.client(user).get(url).status_code == 404
        assert world.client(user).post(url, {"digest": "0"}).status_code == 404
