"""A benchmark made by an older version of its recipe is offered what it lacks, and nothing that it has is changed."""

import pytest

from annotation.models import Due
from benchmarks.models import Benchmark, Stage
from benchmarks.recipes.registry import recipe
from jobs.models import Event
from tests.chains.link_client import LinkClient, text_of
from tests.personas import World, make_items

pytestmark = pytest.mark.django_db
LACKING = ("relevance-labels", "lave")
NEWEST = recipe("culturalvqa").version


@pytest.fixture
def older(world: World) -> Benchmark:
    """Without two stages, and without the source of a third; one stage has another name."""
    form = {"recipe": "culturalvqa", "name": "Older", "slug": "older", "team": world.team.pk, "question": ""}
    assert world.client(world.mara).post("/benchmarks/new/", form).status_code == 302
    benchmark = Benchmark.objects.get(slug="older")
    benchmark.stages.filter(key__in=LACKING).delete()
    benchmark.stages.filter(key="answers").update(derivation={})
    benchmark.stages.filter(key="questions").update(name="Our questions", derivation={})
    make_items(benchmark.stages.get(key="questions"), 1)
    Benchmark.objects.filter(pk=benchmark.pk).update(recipe_version="1")
    return benchmark


def columns_of(stages: list[Stage]) -> dict[str, dict[str, object]]:
    return {row["key"]: row for row in Stage.objects.filter(pk__in=[stage.pk for stage in stages]).values()}


def test_one_press_adds_what_is_listed_and_changes_nothing_else(world: World, older: Benchmark) -> None:
    visitor = LinkClient(world.client(world.mara), "/b/older/")
    visitor.follow(f"See what version {NEWEST} adds")
    listed = text_of(visitor.page.partition('id="h-recipe"')[2].partition("</section>")[0])
    names = {spec.key: spec.name for spec in recipe("culturalvqa").stages}
    assert all(f"Stage: {names[key]}" in listed for key in LACKING) and f"Source of items: {names['answers']}" in listed
    assert "Our questions" not in listed, "a stage with items keeps its own source"
    before = columns_of(list(older.stages.all()))
    visitor.submit("Add them")
    assert "3 stages were added." in text_of(visitor.page) and "h-recipe" not in visitor.page
    assert [stage.key for stage in older.stages.all()] == [spec.key for spec in recipe("culturalvqa").stages]
    after = columns_of([*older.stages.exclude(key__in=LACKING)])
    answers, old_answers = after.pop("answers"), before.pop("answers")
    assert after == before
    assert answers["derivation"] and {**answers, "derivation": {}, "version": 1} == old_answers
    older.refresh_from_db()
    assert older.recipe_version == NEWEST and Event.objects.filter(verb="benchmark.recipe_additions").count() == 1
    assert Due.objects.filter(stage__key="answers").exists(), "what is accepted already becomes items"
    visitor.client.post("/b/older/stages/", {"additions": NEWEST})
    assert older.stages.count() == len(recipe("culturalvqa").stages)


def test_only_those_who_work_on_it_are_offered_them(world: World, older: Benchmark) -> None:
    assert "See what version" not in world.client(world.team_admin).get("/b/older/").content.decode()
    for person in (world.team_admin, world.stranger):
        assert world.client(person).post("/b/older/stages/", {"additions": NEWEST}).status_code == 404
    assert not older.stages.filter(key__in=LACKING).exists()
    world.client(world.mara).post("/b/older/stages/", {"additions": "2"})
    assert not older.stages.filter(key__in=LACKING).exists(), "not what another version added"


def test_a_benchmark_of_the_newest_version_is_offered_nothing(world: World, older: Benchmark) -> None:
    Benchmark.objects.filter(pk=older.pk).update(recipe_version=NEWEST)
    page = world.client(world.mara).get("/b/older/stages/").content.decode()
    assert "h-recipe" not in page, "what was removed on purpose is not offered again"


def test_a_benchmark_of_3xcms_first_version_gets_the_steps_between_its_stages(world: World) -> None:
    """It had merges, look-alikes and labels alone; labels that are imported already stay without a source."""
    form = {"recipe": "3xcm", "name": "First", "slug": "first", "team": world.team.pk, "question": ""}
    assert world.client(world.mara).post("/benchmarks/new/", form).status_code == 302
    benchmark = Benchmark.objects.get(slug="first")
    benchmark.stages.exclude(key__in=("merges", "look-alikes", "labels")).delete()
    benchmark.stages.update(derivation={})
    make_items(benchmark.stages.get(key="labels"), 1)
    Benchmark.objects.filter(pk=benchmark.pk).update(recipe_version="1")
    visitor = LinkClient(world.client(world.mara), "/b/first/stages/")
    visitor.submit("Add them")
    assert [stage.key for stage in benchmark.stages.all()] == [spec.key for spec in recipe("3xcm").stages]
    kinds = {stage.key: stage.derivation.get("kind", "") for stage in benchmark.stages.all()}
    assert (kinds["merges"], kinds["look-alikes"], kinds["unique"]) == ("pair", "cluster", "ungroup")
    assert kinds["labels"] == "" and benchmark.stages.get(key="labels").items.count() == 1


def test_caire_of_version_3_gets_its_new_stages_and_sources(world: World) -> None:
    """Version 3 had three stages, all imported; a stage with imported items stays as it is."""
    newest = recipe("caire-universal")
    form = {"recipe": newest.key, "name": "Third", "slug": "third", "team": world.team.pk, "question": ""}
    assert world.client(world.mara).post("/benchmarks/new/", form).status_code == 302
    third = Benchmark.objects.get(slug="third")
    third.stages.exclude(key__in=("relevance", "specific", "link-check")).delete()
    third.stages.update(derivation={}, filters=[])
    Benchmark.objects.filter(pk=third.pk).update(recipe_version="3")
    make_items(third.stages.get(key="specific"), 1)
    visitor = LinkClient(world.client(world.mara), "/b/third/")
    visitor.follow(f"See what version {newest.version} adds")
    visitor.submit("Add them")
    stages = {stage.key: stage for stage in third.stages.all()}
    assert list(stages) == [spec.key for spec in newest.stages]
    assert stages["relevance"].derivation["from"] == ["pick", "generated"]
    assert (stages["specific"].derivation, stages["specific"].filters) == ({}, []), "its items were imported"
    assert stages["specific-pictures"].derivation["from"] == ["specific-concepts"]
