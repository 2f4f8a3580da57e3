"""Images are linked to entries as CAIRE does: nearest pictures, their entries together, ranked anew by text."""

from typing import Any

import numpy as np
import pytest

from jobs.models import Job
from jobs.services import lifecycle, runner
from predictions.models import EntityLink, KnowledgeBase, KnowledgeEntry, Run
from predictions.services.knowledge import linking, ranking
from predictions.services.knowledge.indexes import IndexRefused
from predictions.services.knowledge.linking import article_for, articles_for
from tests.personas import World
from tests.predictions.knowledge.colours import (
    PICTURES,
    RGB,
    Colours,
    a_base,
    built,
    import_entries,
    items_of,
    row,
    run_job,
)

SEEN = {"red": RGB["red"], "blue": RGB["blue"], "crimson": RGB["crimson"]}


def link_images(world: World, method: ranking.Method = "lemma_vt", over: str = "images", **how: Any) -> Run:
    run = linking.open_run(
        world.benchmark, world.mara, stage=world.stage, index=built(world, over), method=method, **how
    )
    job = run_job(Job.objects.get(pk=run.options["job"]))
    assert job.state == "done", job.error
    run.refresh_from_db()
    return run


def link_of(run: Run, key: str) -> EntityLink:
    return EntityLink.objects.get(run=run, item__key=key)


def test_similarity_takes_the_best_of_several_names_and_ties_go_by_key() -> None:
    image = np.array([1.0, 0.0], np.float32)
    texts = {"b": np.array([[0.6, 0.8], [0.8, 0.6]]), "a": np.array([[0.8, 0.6]]), "none": np.zeros((0, 2))}
    ranked = ranking.by_similarity(image, texts)
    assert [key for key, _score in ranked] == ["a", "b"]
    assert [score for _key, score in ranked] == pytest.approx([0.8, 0.8]), "not the mean of b's names"


def test_noise_of_32_bits_orders_nothing() -> None:
    texts = {"b": np.array([[0.6000001, 0.8]], np.float32), "a": np.array([[0.6, 0.8]], np.float32)}
    ranked = ranking.by_similarity(np.array([1.0, 0.0], np.float32), texts)
    assert [key for key, _score in ranked] == ["a", "b"], "the same words of two entries: by key"


def test_the_papers_example_ranked_by_frequency() -> None:
    counts = {"Pysanka": 13, "Easter egg": 10, "Easter": 6, "Ukraine": 2, "Romania": 1, "Folklore": 1, "Etymology": 1}
    found = [[name for name, n in counts.items() if place < n] for place in range(20)]
    near = [("Romania", 0.5037), ("Folklore", 0.5108), ("Etymology", 0.4942)]
    ranked = ranking.by_frequency(found, near)
    assert ranked[:4] == [("Pysanka", 13), ("Easter egg", 10), ("Easter", 6), ("Ukraine", 2)]
    assert [key for key, _n in ranked[4:]] == ["Folklore", "Romania", "Etymology"], "ties go by similarity"


def test_an_image_is_linked_by_names_of_the_entries_of_its_nearest_pictures(world: World, encoder: Colours) -> None:
    import_entries(world)
    items_of(world, SEEN)
    run = link_images(world, nearest=3)
    assert (run.complete, run.state, run.options["rows"], run.options["unlinked"]) == (True, "done", 3, 0)
    assert (run.rater.name, run.rater.setting, run.score_kind) == ("colours", "lemma_vt", "cosine")
    red = link_of(run, "red")
    assert red.keys[0] == "red" and set(red.keys) == {"red", "crimson", "warm"}, "the union of the three's entries"
    assert red.neighbours[0][:2] == ["red.png", "red"] and red.scores == sorted(red.scores, reverse=True)
    assert link_of(run, "blue").keys[:2] == ["blue", "navy"]
    image = encoder.images([PICTURES["red.png"]])[0]
    assert red.scores[0] == pytest.approx(float(image @ encoder.texts(["red"])[0]), abs=0.01)


def test_each_way_of_linking_ranks_its_own_way(world: World) -> None:
    import_entries(world)
    items_of(world, SEEN)
    by_frequency = link_of(link_images(world, "frequency_vt", nearest=4), "red")
    assert (by_frequency.keys[0], by_frequency.scores[0]) == ("warm", 3.0), "three of the four have it"
    by_gloss = link_of(link_images_again(world, "gloss_vt"), "red")
    assert "warm" not in by_gloss.keys, "it has no gloss"
    assert link_of(link_images(world, "lemma_t", "lemmas"), "blue").keys[0] == "blue"
    article = link_of(link_images(world, "article_t", "articles"), "blue")
    assert article.keys[0] == "blue" and "navy" not in article.keys and article.neighbours == []


def link_images_again(world: World, method: ranking.Method) -> Run:
    from predictions.models import KnowledgeIndex

    index = KnowledgeIndex.objects.get(over="images")
    run = linking.open_run(world.benchmark, world.mara, stage=world.stage, index=index, method=method)
    assert run_job(Job.objects.get(pk=run.options["job"])).state == "done"
    run.refresh_from_db()
    return run


def test_names_come_out_of_their_index_where_there_is_one(world: World, encoder: Colours) -> None:
    import_entries(world)
    items_of(world, SEEN)
    first = link_images(world)
    Run.objects.filter(pk=first.pk).update(withdrawn_at=first.created_at)
    built(world, "lemmas")
    encoder.read = 0
    second = link_images_again(world, "lemma_vt")
    assert encoder.read == 0
    for link in EntityLink.objects.filter(run=first):
        other = EntityLink.objects.get(run=second, item=link.item)
        assert other.keys == link.keys and np.allclose(other.scores, link.scores, atol=2e-3), "16-bit floats"


def test_a_picture_of_the_base_is_refused_and_its_nearest_still_shown(world: World) -> None:
    import_entries(world)
    [item] = items_of(world, {"known": (0, 0, 0)})
    from benchmarks.services.images import store_image

    image, _made = store_image(world.team, PICTURES["red.png"], name="red")
    item.images.update(image=image)
    run = link_images(world)
    link = link_of(run, "known")
    assert (link.keys, link.reason) == ([], "in_knowledge_base") and link.neighbours[0][2] == pytest.approx(1, abs=1e-3)
    assert run.options["unlinked"] == 1 and article_for(run, item) is None
    Run.objects.filter(pk=run.pk).update(withdrawn_at=run.created_at)
    index = run.knowledge_index
    assert index is not None
    wanted = linking.open_run(
        world.benchmark, world.mara, stage=world.stage, index=index, method="lemma_vt", refuse_known=False
    )
    run_job(Job.objects.get(pk=wanted.options["job"]))
    assert link_of(wanted, "known").keys[0] == "red", "who asks for it gets it"


def test_an_item_without_a_picture_has_a_reason_and_no_article(world: World) -> None:
    import_entries(world)
    from benchmarks.models import Item

    item = Item.objects.create(stage=world.stage, key="bare")
    items_of(world, {"red": RGB["red"]})
    run = link_images(world)
    assert link_of(run, "bare").reason == "no_image" and article_for(run, item) is None


def test_the_article_is_that_of_the_first_entry_and_no_longer_than_asked(world: World) -> None:
    import_entries(world, [row("red", "red.png", text="x" * 20_000), row("blue", "blue.png", text="", title="")])
    red, blue = items_of(world, {"red": RGB["red"], "blue": RGB["blue"]})
    run = link_images(world)
    found = article_for(run, red)
    assert found is not None and (found.entity, len(found.article), found.cut) == ("red", 15_000, True)
    assert found.titles == ("Red", "blue"), "an entry without a title goes by its name"
    short = article_for(run, red, longest=100, most_titles=1)
    assert short is not None and (len(short.article), short.titles) == (100, ("Red",))
    nothing = article_for(run, blue)
    assert nothing is not None and (nothing.key, nothing.article) == ("blue", ""), "no other entry's instead"


def test_articles_of_many_items_cost_three_queries(world: World, django_assert_num_queries: Any) -> None:
    import_entries(world)
    items = items_of(world, SEEN)
    run = link_images(world)
    each = {item.pk: article for item in items if (article := article_for(run, item))}
    assert len(each) > 2
    assert run.knowledge_index
    with django_assert_num_queries(3):
        assert articles_for(run, items) == each


def test_a_stopped_run_goes_on_and_links_nothing_twice(
    world: World, encoder: Colours, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "BATCH", 1)
    import_entries(world)
    items_of(world, SEEN)
    index = built(world)
    run = linking.open_run(world.benchmark, world.mara, stage=world.stage, index=index, method="lemma_vt")
    job = Job.objects.get(pk=run.options["job"])
    encoder.seen = 0

    def stop() -> None:
        if encoder.seen == 2:
            lifecycle.request_cancel(job, world.mara)

    encoder.after = stop
    runner.run(job.pk)
    run.refresh_from_db()
    assert (run.state, run.complete, run.links.count()) == ("cancelled", False, 2)
    lifecycle.resume(Job.objects.get(pk=job.pk), world.mara)
    runner.run(job.pk)
    run.refresh_from_db()
    assert (run.state, run.complete, run.links.count(), encoder.seen) == ("done", True, 3, 3)


def test_what_cannot_be_linked_is_refused_with_what_to_do(world: World) -> None:
    import_entries(world)
    items_of(world, {"red": RGB["red"]})
    index = built(world)
    how: dict[str, Any] = {"stage": world.stage, "index": index}
    with pytest.raises(IndexRefused, match="index over Names"):
        linking.open_run(world.benchmark, world.mara, method="lemma_t", **how)
    linking.open_run(world.benchmark, world.mara, method="lemma_vt", **how)
    with pytest.raises(IndexRefused, match="linked in this way"):
        linking.open_run(world.benchmark, world.mara, method="lemma_vt", **how)
    linking.open_run(world.benchmark, world.mara, method="gloss_vt", **how)
    KnowledgeBase.objects.filter(pk=index.base_id).update(team=world.other_team)
    index.refresh_from_db()
    index.base.refresh_from_db()
    with pytest.raises(IndexRefused, match="no such index"):
        linking.open_run(world.benchmark, world.mara, method="frequency_vt", **how)


def test_a_base_that_images_were_linked_to_stays_as_it_is(world: World) -> None:
    import_entries(world)
    items_of(world, SEEN)
    link_images(world)
    job = import_entries(world, [row("white", "green.png")])
    assert job.rows.get().reason == "closed" and not KnowledgeEntry.objects.filter(key="white").exists()
    with pytest.raises(IndexRefused, match="cannot be removed"):
        built(world)
    assert import_entries(world, [row("white")], None, a_base(world, "2")).rows.get().outcome == "created"
