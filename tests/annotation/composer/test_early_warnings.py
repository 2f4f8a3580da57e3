"""What a researcher is told before the first answers: that no pair can result. Nothing is refused for it."""

from typing import Any

import pytest

from annotation.services.sheets import stages
from benchmarks.models import Stage
from tests.annotation.chain.factories import ANSWER, GOOD, a_stage
from tests.annotation.composer.test_pages import post_form
from tests.module_world import built_once
from tests.personas import World, stand_in

pytestmark = pytest.mark.django_db
WORDS = {"display": "words", "pictures": "none"}


@built_once
def topics(world: World) -> Stage:
    """Three words without a concept, of three countries."""
    stage = a_stage(world.benchmark, "topics", ANSWER, **WORDS)
    rows = (("rain", "Brazil"), ("bread", "Egypt"), ("guests", "Peru"))
    stand_in([stage.items.create(key=key, text=key, origin=origin, context={"set": "a"}) for key, origin in rows])
    return stage


def pairs(world: World, source: str, by: Any, **params: Any) -> Stage:
    context = {"option_a": "a.item.text", "option_b": "b.item.text"}
    derivation = {"kind": "pair", "from": [source], "params": {"by": by, "context": context, **params}}
    return a_stage(
        world.benchmark, "same", GOOD, display="pair", pictures="none", derivation=derivation, own_items_only=True
    )


def warnings_of(stage: Stage) -> list[str]:
    problems = [problem for problem in stages.problems(stage) if problem.path == "derivation.params.by"]
    assert not any(problem.blocks for problem in problems)
    return [problem.words for problem in problems]


MISSING = "No pair will result: no item of “Topics” has a value for “%s”, which both must share."
DIFFERENT = "No pair will result: no two items of “Topics” share “%s”, and both must."


@pytest.mark.parametrize(("by", "params", "warning"), [
    (["item.concept"], {}, MISSING % "concept"),
    ("item.context.facet", {}, MISSING % "facet"),
    ("item.origin", {}, DIFFERENT % "origin"),
    (["item.context.set", "item.origin"], {}, DIFFERENT % "set, origin"),
    ("item.context.set", {}, ""),
    ("item.context.set", {"sides": "item.origin"}, ""),
    ("item.context.set", {"sides": "item.context.set"}, DIFFERENT % "set"),
    ("item.origin", {"per": "answer", "sides": "unit.cohort"}, ""),
    ("answer", {}, ""),
    ((), {}, ""),
])  # fmt: skip
def test_pairs_that_can_share_nothing_are_named_before_anybody_answers(
    world: World, topics: Stage, by: Any, params: dict[str, Any], warning: str
) -> None:
    assert warnings_of(pairs(world, "topics", by, **params)) == ([warning] if warning else [])


@pytest.mark.parametrize(("concept", "warns"), [
    ({}, True), ({"concept": "item.context.set"}, False), ({"concept": "answer"}, False),
])  # fmt: skip
def test_a_chain_is_followed_to_where_a_value_would_come_from(
    world: World, topics: Stage, concept: dict[str, str], warns: bool
) -> None:
    """The proverbs have the concept of their topic unless their stage says otherwise."""
    derivation = {"kind": "promote", "from": ["topics"], "params": {"text": "answer", **concept}}
    a_stage(world.benchmark, "proverbs", ANSWER, derivation=derivation, **WORDS)
    assert bool(warnings_of(pairs(world, "proverbs", ["item.concept"]))) is warns


def test_items_that_are_imported_later_bring_no_warning(world: World) -> None:
    a_stage(world.benchmark, "topics", ANSWER, **WORDS)
    assert warnings_of(pairs(world, "topics", ["item.concept"])) == []


def test_the_stage_is_published_with_the_warning_and_opening_shows_it_too(world: World, topics: Stage) -> None:
    stage = pairs(world, "topics", ["item.concept"])
    mara, base = world.client(world.mara), f"/b/{world.benchmark.slug}"
    url = f"{base}/stages/{stage.pk}/"
    assert post_form(mara, url, "publish", change={"s:name": "Same meaning"}).status_code == 302
    warning = "No pair will result: no item of “Topics” has a value for “concept”"
    assert warning in mara.get(url).content.decode(), "once, after publishing"
    assert warning in mara.get(f"{base}/chain/open/").content.decode()
    topics.items.update(concept="weather")
    assert warning not in mara.get(f"{base}/chain/open/").content.decode()
