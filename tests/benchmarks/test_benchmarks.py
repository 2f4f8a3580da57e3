"""Benchmarks are made whole: stages, an owner, an event, a secret of their own."""

import re

import pytest

from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark, Role, Stage
from benchmarks.recipes.registry import RECIPES, UnknownRecipe
from benchmarks.services.benchmarks import SlugTaken, create_blank, create_from_recipe
from benchmarks.services.roles import LastOwner, NotATeamMember, remove_role, set_role
from jobs.models import Event

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda one: one.key)
def test_a_recipe_writes_its_stages_and_makes_its_owner(world, recipe):
    benchmark = create_from_recipe(world.team, recipe.key, "Ours", "ours", world.mara)
    benchmark.refresh_from_db()
    assert [stage.key for stage in benchmark.stages.all()] == [stage.key for stage in recipe.stages]
    for row, spec in zip(benchmark.stages.all(), recipe.stages, strict=True):
        assert (row.sheet, row.target_answers, row.instructions) == (spec.sheet, spec.target_answers, spec.instructions)
    assert (benchmark.recipe, benchmark.recipe_version) == (recipe.key, recipe.version)
    assert len(benchmark.pseudonym_key) == 32
    assert benchmark_for(world.mara, "ours", can="own") == benchmark
    event = Event.objects.get(scope=benchmark.scope, verb="benchmark.created")
    assert event.actor == world.mara and event.data["recipe"] == recipe.key


def test_two_benchmarks_give_one_person_two_names(world):
    first = create_from_recipe(world.team, "caire-universal", "One", "one", world.mara)
    second = create_from_recipe(world.team, "caire-universal", "Two", "two", world.mara)
    assert first.pseudonym(7) == first.pseudonym(7) != second.pseudonym(7)
    assert re.fullmatch(r"R-[0-9a-f]{12}", first.pseudonym(7)), "long enough that thousands of people do not collide"


def test_a_taken_address_and_an_unknown_recipe_leave_nothing_behind(world):
    before = (Benchmark.objects.count(), Stage.objects.count(), Role.objects.count())
    with pytest.raises(SlugTaken):
        create_from_recipe(world.team, "caire-universal", "Again", world.other_benchmark.slug, world.mara)
    with pytest.raises(UnknownRecipe):
        create_from_recipe(world.team, "caire", "New", "new", world.mara)
    assert (Benchmark.objects.count(), Stage.objects.count(), Role.objects.count()) == before


def test_a_blank_one_asks_its_own_question(world):
    benchmark = create_blank(world.team, "Tea", "tea", world.mara, question="Would you find this tea in {target}?")
    (field,) = benchmark.stages.get().sheet["fields"]
    assert field["label"] == {"en": "Would you find this tea in {target}?"}
    assert benchmark.recipe == ""


def test_roles_are_for_team_members_and_one_owner_stays(world):
    benchmark = world.benchmark
    with pytest.raises(NotATeamMember):
        set_role(benchmark, world.rival, Role.Name.REVIEWER, world.owner)
    with pytest.raises(LastOwner):
        remove_role(benchmark, world.owner, world.owner)
    with pytest.raises(LastOwner):
        set_role(benchmark, world.owner, Role.Name.REVIEWER, world.owner)
    set_role(benchmark, world.mara, Role.Name.OWNER, world.owner)
    remove_role(benchmark, world.owner, world.mara)
    assert not benchmark.roles.filter(user=world.owner).exists()
    assert Event.objects.filter(scope=benchmark.scope, verb__in=("role.given", "role.taken")).count() == 2
