"""Pages of local models: what can be begun, what is said when it cannot, and nobody else sees any of it."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from benchmarks.models import Item, ItemFact, ItemImage, Stage
from benchmarks.services.benchmarks import create_from_recipe
from benchmarks.services.intake import judging
from jobs.services import runner
from predictions.forms.encoders import CollectionBuildForm
from predictions.models import Collection, Query, Run
from predictions.services.collections import builder
from predictions.services.collections.builder import CollectionPlan
from tests.chains.researcher import do_waiting_work
from tests.personas import World
from tests.pictures import encode_picture, plain
from tests.predictions.colour_encoder import find_by_colour
from tests.predictions.shapes import MODEL, a_collection, a_run, an_endpoint, store

pytestmark = pytest.mark.django_db


def url(world: World, name: str, *more: Any) -> str:
    return reverse(f"predictions:{name}", args=[world.benchmark.slug, *more])


def post(world: World, route: str, /, *more: Any, **data: Any) -> Any:
    return world.client(world.mara).post(url(world, route, *more), data)


def get(world: World, route: str, /, *more: Any, **data: Any) -> str:
    answer = world.client(world.mara).get(url(world, route, *more), data)
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_empty_benchmark_says_what_to_do_next(world: World) -> None:
    assert "Create a collection from the items of a stage" in get(world, "encode")
    assert "Add an endpoint" in get(world, "facts")
    assert "This stage has no filter by a fact yet." in get(world, "calibrate", world.stage.pk)


def test_a_run_is_begun_and_its_progress_is_the_jobs_page(world: World, models_root: Path) -> None:
    collection = a_collection(world, 1)
    data = {"collection": collection.pk, "task": "retrieval", "query_set": "captions", "model": f" {MODEL} "}
    data |= {"most": "5", "endpoint": an_endpoint(world).pk, "name": "Tiny"}
    page = get(world, "encode")
    assert "local-dir:tiny" in page and "No encoder has been run here yet" in page
    answer = post(world, "encode", **data)
    run = Run.objects.get()
    assert answer.status_code == 302 and answer["location"] == reverse("jobs:job", args=[run.job_id])
    assert run.model == MODEL and run.rater.name == "Tiny"
    runner.run(run.job_id)
    page = get(world, "encode")
    assert "Done" in page and "16" in page and "Similar pictures" in page
    again = post(world, "encode", **data)
    assert again.status_code == 400 and "Withdraw it first" in again.content.decode()
    framed = post(world, "encode", **{**data, "template": "no place"})
    assert (
        framed.status_code == 400
        and "Write {text}" in framed.content.decode()
        and "no place" in framed.content.decode()
    )


def test_models_of_this_machine_are_proposed(world: World, models_root: Path, settings: Any) -> None:
    settings.HUB_MODELS = ["ViT-B-32/laion2b_s34b_b79k"]
    a_collection(world, 1)
    an_endpoint(world)
    names = '<option value="local-dir:tiny"><option value="ViT-B-32/laion2b_s34b_b79k">'
    for route in ("encode", "facts"):
        page = get(world, route)
        assert names in page and re.search(r'<input[^>]*name="model"[^>]*list="models"', page)


def test_vectors_that_were_made_before_are_told_and_a_ranking_leads_to_its_table(
    world: World, models_root: Path
) -> None:
    """As a job of no work it would read as one that did nothing."""
    collection = a_collection(world, 1)
    entries = collection.entries.count()
    ranked = a_run(world, collection)
    job = ranked.job
    assert job and job.done == job.total == entries + 16, "pictures and queries, each once"
    page = world.client(world.mara).get(reverse("jobs:job", args=[job.pk])).content.decode()
    tables = reverse("evaluation:tables", args=[world.benchmark.slug])
    assert f'href="{tables}"' in page and "View tables" in page and "made before" not in page
    assert f'href="{tables}"' in get(world, "encode") and f'href="{tables}"' in get(world, "index")
    again = a_run(world, collection, "embedding").job
    assert again and again.done == again.total == entries
    page = world.client(world.mara).get(reverse("jobs:job", args=[again.pk])).content.decode()
    assert f"Vectors made before, and taken as they are: {entries} of {entries} entries." in page


def test_forced_choice_is_offered_for_queries_with_candidates_only(world: World) -> None:
    collection = a_collection(world, 1)
    data = {"collection": collection.pk, "task": "forced_choice", "model": MODEL, "most": "5"}
    data |= {"endpoint": an_endpoint(world).pk, "query_set": "captions"}
    page = get(world, "encode")
    assert "choice, with candidates to choose between" in page and "captions, with candidates" not in page
    wrong = post(world, "encode", **data)
    assert wrong.status_code == 400 and 'id="id_query_set_error"' in wrong.content.decode() and not Run.objects.exists()
    Query.objects.filter(query_set="choice").delete()
    assert 'value="forced_choice"' not in get(world, "encode")
    assert 'value="linking"' not in get(world, "run_new") and 'value="retrieval"' in get(world, "run_new")


def test_of_a_made_collection_each_query_set_says_what_it_lacks(world: World) -> None:
    world.add_items(4, images=True)
    data = {"stage": world.stage.pk, "of": "kept", "name": "Everyday", "version": "1", "what": "images", "seed": "1"}
    data |= {"queries": ["universals", "native", "three", "six"]}
    html = world.client(world.mara).post(url(world, "collection_make"), data, follow=True).content.decode()
    concepts = Query.objects.filter(query_set="universals").count()
    assert f"The collection has 4 entries and {concepts} queries: universals {concepts}." in html
    for name in ("native", "plain", "descriptor"):
        assert f"“{name}” has no query for 4 pictures. 4: no words in the language of its country." in html, name
    assert "concept_in_native" in html


def test_the_stages_where_people_correct_merge_and_name_are_chosen_already(world: World) -> None:
    benchmark = create_from_recipe(world.team, "3xcm", "Words", "words", world.owner)
    form = CollectionBuildForm(benchmark=benchmark)
    chosen = {name: form[name].initial for name in ("labels_from", "renamed_by", "names_from", "queries_from")}
    keys = {stage.pk: stage.key for stage in benchmark.stages.all()}
    assert {name: keys.get(pk) for name, pk in chosen.items()} == {
        "labels_from": "labels", "renamed_by": "merges", "names_from": "concepts", "queries_from": None,
    }  # fmt: skip
    empty = CollectionBuildForm(benchmark=world.benchmark)
    assert not any(empty[name].initial for name in chosen)


def test_without_the_packages_the_page_says_so(world: World, monkeypatch: Any) -> None:
    monkeypatch.setattr("predictions.backends.torch_setup.installed", lambda: False)
    assert "Run ./emic models, then restart." in get(world, "encode")


def test_a_collection_is_made_and_a_wrong_line_is_named(world: World) -> None:
    world.add_items(8)
    data = {"stage": world.stage.pk, "of": "kept", "name": "Everyday", "version": "1", "what": "images", "seed": "1"}
    data |= {"queries": ["universals", "native"], "languages": "Japan = ja"}
    data |= {"words": "wedding | | ar | زفاف\nwedding | | pt | casamento"}
    wrong = post(world, "collection_make", **{**data, "words": "wedding | ar\n"})
    assert wrong.status_code == 400 and "Line 1: write it as concept" in wrong.content.decode()
    assert "wedding | ar" in wrong.content.decode(), "what was typed is kept"
    assert "of-languages" not in wrong.content.decode(), "what has a value is shown, whatever the queries are"
    assert 'class="stack of-trials"' in wrong.content.decode(), "what these queries do not need is out of the way"
    assert post(world, "collection_make", **data).status_code == 302
    made = Collection.objects.get()
    texts = set(Query.objects.filter(collection=made, query_set="native").values_list("text", flat=True))
    assert texts == {"زفاف"} and Query.objects.filter(collection=made, query_set="universals").count() == 4
    assert not re.search(r'value="universals"[^>]*checked', get(world, "collection_make")), (
        "this benchmark's recipe ranks nothing"
    )
    again = post(world, "collection_make", **data)
    assert again.status_code == 400 and "another version" in again.content.decode()
    assert "Everyday" in get(world, "index")


def test_facts_are_looked_for_where_an_endpoint_fits(world: World, models_root: Path) -> None:
    world.add_items(2, images=True)
    encoder, detector = an_endpoint(world), an_endpoint(world, "detector")
    data = {"stage": world.stage.pk, "what": "clip_score", "model": MODEL, "words": "concept", "threshold": "0.5"}
    wrong = post(world, "facts", **data, endpoint=detector.pk)
    assert wrong.status_code == 400 and "Choose another endpoint" in wrong.content.decode()
    assert post(world, "facts", **data, endpoint=encoder.pk).status_code == 302
    runner.run(Run.objects.get().job_id)
    page = get(world, "facts")
    assert (
        "facts.clip_score" in page
        and "2 items have the fact" in page
        and url(world, "calibrate", world.stage.pk) in page
    )


def test_look_alikes_stand_on_both_sides_of_the_threshold(world: World, models_root: Path) -> None:
    run = a_run(world, a_collection(world, 2), "embedding")
    page = get(world, "near_duplicates", run.pk, threshold="0.9")
    assert page.count("<img") >= 12 and "Just below the threshold" in page and "of 112 pairs compared" in page
    assert "No pair lies on this side" in get(world, "near_duplicates", run.pk, threshold="1")


def test_look_alikes_from_a_threshold_on_are_dropped_by_one_press(
    world: World, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of three pictures have nearly one colour; of another country the same colour stays."""
    settings.VECTORS_ROOT = tmp_path / "vectors"
    find_by_colour(monkeypatch, {})
    places = {"a": ("red", "Brazil"), "b": ("#e00010", "Brazil"), "c": ("blue", "Brazil"), "d": ("red", "Egypt")}
    for key, (colour, country) in places.items():
        item = Item.objects.create(stage=world.stage, key=key, concept="tea", origin=country)
        image = store(world.team, encode_picture(plain(colour=colour), "PNG"))
        ItemImage.objects.create(item=item, role="image", image=image)
    built = builder.build_collection(CollectionPlan(world.stage, "All", of=builder.KEPT), world.mara)
    run = a_run(world, built.collection, "embedding")
    page = get(world, "near_duplicates", run.pk, threshold="0.99")
    number = re.findall(r'name="number" value="(\d+)"', page)[0]
    stale = post(world, "near_duplicates", run.pk, threshold="0.99", number="77")
    assert stale.status_code == 400 and "Somebody else changed the filters" in stale.content.decode()
    assert not ItemFact.objects.filter(key="look_alikes").exists()
    reply = post(world, "near_duplicates", run.pk, threshold="0.99", number=number)
    assert reply.status_code == 302 and reply["location"] == reverse(
        "benchmarks:filters", args=[world.benchmark.slug, world.stage.pk]
    )
    do_waiting_work()
    states = dict(Item.objects.filter(key__in=places, stage=world.stage).values_list("key", "intake"))
    assert states == {"a": "kept", "b": "dropped", "c": "kept", "d": "kept"}
    late = Item.objects.create(stage=world.stage, key="e", concept="tea", origin="Brazil")
    image = store(world.team, encode_picture(plain(colour="#e00011"), "PNG"))
    ItemImage.objects.create(item=late, role="image", image=image)
    judging.judge_items(Stage.objects.get(pk=world.stage.pk), [late.pk])
    late.refresh_from_db()
    assert late.intake == "waiting", "nobody has compared it"
    filters = reverse("benchmarks:filters", args=[world.benchmark.slug, world.stage.pk])
    page = world.client(world.mara).get(filters).content.decode()
    assert "1 picture came after look-alikes were dropped." in page
    assert reverse("predictions:collection_next", args=[world.benchmark.slug, built.collection.pk]) in page
    following = builder.build_collection(CollectionPlan(world.stage, "All", "2", of=builder.KEPT), world.mara)
    entries = following.collection.entries.values_list("key", "about__item")
    assert {item or key for key, item in entries} == {"a", "c", "d", "e"}
    run = a_run(world, following.collection, "embedding")
    page = world.client(world.mara).get(filters).content.decode()
    assert reverse("predictions:near_duplicates", args=[world.benchmark.slug, run.pk]) in page
    page = get(world, "near_duplicates", run.pk, threshold="0.99")
    number = re.findall(r'name="number" value="(\d+)"', page)[0]
    post(world, "near_duplicates", run.pk, threshold="0.99", number=number)
    do_waiting_work()
    late.refresh_from_db()
    assert late.intake == "dropped", "it is like the first"
    page = get(world, "near_duplicates", run.pk, threshold="1")
    number = re.findall(r'name="number" value="(\d+)"', page)[0]
    assert post(world, "near_duplicates", run.pk, threshold="1", number=number).status_code == 302
    do_waiting_work()
    assert Item.objects.get(key="b", stage=world.stage).intake == "kept", (
        "another threshold takes the place of the first"
    )
    assert len(Stage.objects.get(pk=world.stage.pk).filters) == 1
    for user in (world.stranger, world.rival, world.nour, world.reviewer):
        address = url(world, "near_duplicates", run.pk)
        assert world.client(user).post(address, {"threshold": "0.9", "number": "1"}).status_code == 404


def test_stages_and_runs_of_others_are_not_found(world: World) -> None:
    other = world.other_benchmark.stages.get()
    assert world.client(world.mara).get(url(world, "calibrate", other.pk)).status_code == 404
    for user in (world.stranger, world.rival, world.nour, world.reviewer):
        for name, more in (("encode", ()), ("facts", ()), ("collection_make", ()), ("calibrate", (world.stage.pk,))):
            assert world.client(user).get(url(world, name, *more)).status_code == 404, (user, name)
            assert world.client(user).post(url(world, name, *more), {"name": "x"}).status_code == 404


def test_a_made_collection_is_run_without_a_file(world: World, models_root: Path) -> None:
    world.add_items(8, images=True)
    made = builder.build_collection(CollectionPlan(world.stage, "Own", of="kept", queries=("universals",)), world.mara)
    run = a_run(world, made.collection, query_set="universals")
    assert run.complete and run.options["rows"] == 4 and run.created_at < timezone.now()


def test_a_retrieval_set_is_searched_by_its_universals_and_without_queries_a_page_says_so(world: World) -> None:
    form = {"recipe": "globalrg-retrieval", "name": "R", "slug": "r", "team": world.team.pk, "question": ""}
    assert world.client(world.mara).post("/benchmarks/new/", form).status_code == 302
    page = world.client(world.mara).get("/b/r/predictions/collection/make/").content.decode()
    assert re.search(r'<input[^>]*value="universals"[^>]*checked', page)
    world.add_items(2)
    data = {"stage": world.stage.pk, "of": "kept", "name": "Bare", "version": "1", "what": "images", "seed": "1"}
    page = world.client(world.mara).post(url(world, "collection_make"), data, follow=True).content.decode()
    assert "entries and no query. No model can search it." in page
