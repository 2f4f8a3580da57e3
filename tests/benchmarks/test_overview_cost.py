"""The overview asks the database as often for many stages as for one, and remembers nothing between two pages."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.access import is_permitted, permissions_asked_once
from benchmarks.models import Role, Stage
from benchmarks.queries import overview
from tests.personas import World


def count_queries(world: World) -> int:
    client = world.client(world.mara)
    address = f"/b/{world.benchmark.slug}/"
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


def test_more_stages_take_no_more_queries(world: World) -> None:
    world.add_items(3)
    few, sheet = count_queries(world), world.stage.sheet
    for number in range(4):
        Stage.objects.create(benchmark=world.benchmark, key=f"s{number}", name=f"S {number}", position=number + 5,
                             sheet=sheet, pictures="none")  # fmt: skip
    assert count_queries(world) <= few + 1, "and one that a stage without items may ask"


def test_pictures_of_each_stage_are_its_own_and_at_most_six(world: World) -> None:
    world.add_items(8)
    stage = world.stage
    empty = Stage.objects.create(benchmark=world.benchmark, key="other", name="Other", position=9, sheet=stage.sheet)
    strips = overview.sample_pictures([stage, empty])
    assert len(strips[stage.pk]) == 6 and strips[empty.pk] == []
    assert {use.item.stage_id for use in strips[stage.pk]} == {stage.pk}


def test_permissions_are_asked_again_for_each_page_and_each_person(world: World) -> None:
    with permissions_asked_once():
        assert is_permitted(world.mara, world.benchmark, "work_on")
        with CaptureQueriesContext(connection) as queries:
            assert is_permitted(world.mara, world.benchmark, "work_on")
        assert not queries.captured_queries
        for person in (world.stranger, world.rival, world.nour):
            assert not is_permitted(person, world.benchmark, "work_on"), "what is known is known of one person"
        assert not is_permitted(world.mara, world.other_benchmark, "work_on")
    Role.objects.filter(benchmark=world.benchmark, user=world.mara).delete()
    assert not is_permitted(world.mara, world.benchmark, "work_on")
    assert world.client(world.mara).get(f"/b/{world.benchmark.slug}/").status_code == 404
