"""What a benchmark says of itself can be changed by those who work on it; and what its overview offers."""

import pytest
from django.utils import timezone

from annotation.services.campaigns import lifecycle
from annotation.services.sheets import stages as stages_of
from benchmarks.models import Benchmark, Stage
from benchmarks.services.benchmarks import create_blank
from jobs.models import Event

pytestmark = pytest.mark.django_db
SETTINGS = {
    "name": "Rivers",
    "purpose": "To see which dances people know.",
    "citation": "Mara, 2026",
    "licence": "CC BY 4.0",
}


def page(client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("person_name", ["owner", "mara"])
def test_those_who_work_on_it_say_what_it_is(world, person_name):
    base = f"/b/{world.benchmark.slug}/"
    client = world.client(getattr(world, person_name))
    assert f"{base}settings/" in page(client, base)
    assert client.post(f"{base}settings/", SETTINGS).status_code == 302
    benchmark = Benchmark.objects.get(pk=world.benchmark.pk)
    assert {name: getattr(benchmark, name) for name in SETTINGS} == SETTINGS
    assert benchmark.slug == world.benchmark.slug
    event = Event.objects.get(verb="benchmark.changed")
    assert (event.actor, event.scope) == (getattr(world, person_name), benchmark.scope)
    assert event.data == {"changed": ["name", "purpose", "citation", "licence"]}
    html = page(client, base)
    assert "To see which dances people know." in html and "CC BY 4.0" in html
    client.post(f"{base}settings/", SETTINGS)
    assert Event.objects.filter(verb="benchmark.changed").count() == 1  # nothing changed, nothing to tell


def test_nobody_else_does(world):
    url = f"/b/{world.benchmark.slug}/settings/"
    for user in (world.reviewer, world.nour, world.team_admin, world.manager, world.stranger, world.rival):
        assert world.client(user).get(url).status_code == 404, user
        assert world.client(user).post(url, SETTINGS).status_code == 404, user
    assert world.client().post(url, SETTINGS).status_code == 302
    assert Benchmark.objects.get(pk=world.benchmark.pk).name == world.benchmark.name
    assert not Event.objects.filter(verb="benchmark.changed").exists()
    assert url not in page(world.client(world.reviewer), f"/b/{world.benchmark.slug}/")


def test_a_benchmark_keeps_a_name_and_what_was_typed_stays(world):
    here = f"/b/{world.benchmark.slug}/settings/"
    answer = world.client(world.mara).post(here, {**SETTINGS, "name": " "})
    assert answer.status_code == 400 and SETTINGS["purpose"] in answer.content.decode()
    assert Benchmark.objects.get(pk=world.benchmark.pk).purpose == world.benchmark.purpose


def test_a_new_blank_benchmark_can_be_composed_at_once(world):
    made = create_blank(world.team, "Blank", "blank-one", world.mara, question="How well known is it?")
    [stage] = made.stages.all()
    client = world.client(world.mara)
    assert f"/b/blank-one/stages/{stage.pk}/" in page(client, "/b/blank-one/")
    assert f"/b/blank-one/stages/{stage.pk}/" not in page(world.client(world.team_admin), "/b/blank-one/")


def test_open_step_is_listed_only_for_a_stage_with_items_or_a_derivation(world):
    benchmark = create_blank(world.team, "Blank", "blank-one", world.mara, question="How well known is it?")
    client = world.client(world.mara)
    html = page(client, "/b/blank-one/stages/")
    assert "Needs items" in html and "Can be opened" not in html
    world.add_items(1)
    assert "Can be opened" in page(client, f"/b/{world.benchmark.slug}/stages/")
    campaign = lifecycle.create(world.stage, "Round 1", world.mara, {world.egypt: 1})
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    html = page(client, f"/b/{world.benchmark.slug}/stages/")
    assert '<span class="chip ok">Open</span>' in html and "Can be opened" not in html
    [stage] = benchmark.stages.all()
    assert not any(problem.blocks for problem in stages_of.problems(stage))


def test_a_derived_stage_offers_no_import(world):
    world.add_items(1)
    first = world.stage
    further = Stage.objects.create(benchmark=world.benchmark, key="further", name="Further", display="image", sheet={})
    client, base = world.client(world.mara), f"/b/{world.benchmark.slug}/"
    offer = f'href="{base}import/?stage='
    assert page(client, base).count(offer) == 3  # one for each stage, and one for what to do next
    Stage.objects.filter(pk=further.pk).update(derivation={"kind": "promote", "from": [first.key]})
    html = page(client, base)
    assert html.count(offer) == 1 and "Items come from accepted answers of" in html
    Stage.objects.filter(pk=first.pk).update(derivation={"kind": "promote", "from": ["earlier"]})
    assert offer not in page(client, base)
