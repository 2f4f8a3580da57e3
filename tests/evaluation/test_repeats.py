"""Of two answers of one person the one given last counts, whenever it was stored; and every door sums in one order."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.http import QueryDict

from annotation.models import Annotation, Campaign
from evaluation.metrics.alpha import alpha
from evaluation.queries.answer_tables import field_answers
from evaluation.queries.observations import answers, observe
from evaluation.queries.ratings import cohort_ratings, ratings
from evaluation.reports.disagreement import codes_of
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import Selection, select
from tests.evaluation.data import NOON, an_open_campaign, give_ratings, of_condition
from tests.module_world import built_once
from tests.personas import World

BEFORE = NOON - timedelta(days=10)


@built_once
def history(world: World) -> Campaign:
    """Nour said 5 today; what she said ten days ago, 1, was brought in after that."""
    world.add_items(4)
    photo = of_condition(world.items, "natural")[0]
    today = an_open_campaign(world)
    give_ratings(today, world.egypt, world.nour, {photo: "5"})
    brought = an_open_campaign(world, name="Brought in later")
    give_ratings(brought, world.egypt, world.nour, {photo: "1"}, at=BEFORE)
    return today


def select_from(world: World, query: str) -> Selection:
    return select(catalogue_of(world.benchmark), QueryDict(query))


@pytest.mark.parametrize(("repeats", "code"), [("latest", "5"), ("first", "1")])
def test_what_was_given_later_counts_and_not_what_was_stored_later(
    world: World, history: Campaign, repeats: str, code: str
) -> None:
    selection = select_from(world, f"repeats={repeats}&cohort={world.egypt.pk}")
    [read] = [one for one in ratings(selection).cells.values() if one.n_ratings]
    assert read.value.tolist() == [float(code)]
    assert cohort_ratings(selection, world.egypt.pk).ratings.value.tolist() == [float(code)]
    seen = observe(selection)
    assert [seen.codes[c] for c in seen.code] == [code]
    assert [one.answer for one in answers(selection)] == [code]
    [unit] = {row[2] for row in field_answers(selection)}
    assert codes_of(selection, [unit]) == {unit: [(code, 1)]}


def test_of_two_given_in_one_moment_the_one_stored_later_is_the_latest(world: World, history: Campaign) -> None:
    Annotation.objects.update(submitted_at=NOON)
    selection = select_from(world, f"cohort={world.egypt.pk}")
    [read] = [one for one in ratings(selection).cells.values() if one.n_ratings]
    assert read.value.tolist() == [1.0]
    seen = observe(selection)
    assert [seen.codes[c] for c in seen.code] == ["1"]


@pytest.mark.parametrize("campaigns", [1, 2])
def test_every_door_has_the_same_ratings_in_the_same_order_however_they_were_stored(
    world: World, campaigns: int
) -> None:
    world.add_items(24)
    people = [world.nour, world.tarek, *world.add_annotators(world.egypt, 2)]
    natural = of_condition(world.items, "natural")
    rng = np.random.default_rng(5)
    rounds = [an_open_campaign(world, name=f"Round {n}") for n in range(campaigns)]
    for place in rng.permutation(len(natural) * len(people)):
        item, user = natural[place // len(people)], people[place % len(people)]
        if rng.random() < 0.8:
            give_ratings(rounds[place % campaigns], world.egypt, user, {item: str(rng.integers(1, 6))})
    selection = replace(select_from(world, f"cohort={world.egypt.pk}"), conditions=("natural",))
    [theirs] = ratings(selection).cells.values()
    ours = observe(selection).ratings
    for name in ("unit", "rater", "value"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()
    assert np.lexsort((theirs.rater, theirs.unit)).tolist() == list(range(theirs.n_ratings))
    one, other = alpha(ours, "ordinal"), alpha(theirs, "ordinal")
    assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
