"""A stage that bars who had a part in an item says before it opens how many people it takes."""

from typing import Any

import pytest
from django.test import Client

from annotation.services.campaigns import lifecycle
from benchmarks.models import Stage
from people.models import CohortMember
from tests.annotation.chain.factories import ANSWER
from tests.chains.link_client import text_of
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
PAGE = "/b/sea-and-river/chain/open/"
JUDGED = {"field": "answer", "runs": {"settings": [""]}}
TEXTS = {"option_a": "a.answer", "option_b": "b.answer"}


def add_stage(world: World, key: str, **values: Any) -> Stage:
    position = world.benchmark.stages.count()
    shown = {"display": "words", "pictures": "none", "sheet": ANSWER, "has_target": False, "target_answers": 1}
    return Stage.objects.create(
        benchmark=world.benchmark, key=key, name=key.title(), position=position, **{**shown, **values}
    )


def derived(kind: str, source: str, **params: Any) -> dict[str, Any]:
    return {"kind": kind, "from": [source], "of": "results", "params": params}


@built_once
def judge(world: World) -> Stage:
    """Answers of two people to each word are what models' answers are judged by."""
    Stage.objects.filter(benchmark=world.benchmark).delete()
    words = add_stage(world, "words", target_answers=2)
    words.items.create(key="w", text="Patience")
    judged = derived("verdicts", "words", **JUDGED)
    return add_stage(world, "judge", display="candidate", staffing="others", derivation=judged)


def chain_page(client: Client) -> str:
    reply = client.get(PAGE)
    assert reply.status_code == 200
    return text_of(reply.content.decode())


def warning(people: str, needed: int, wanted: int, barred: int) -> str:
    return (
        f"Too few people: {people}. {needed} are needed: {wanted} answer an item, and up to {barred} had a part in it "
        "and may not. Invite more people, or change who may answer."
    )


def test_two_people_cannot_judge_what_both_answered(world: World, judge: Stage) -> None:
    mara = world.client(world.mara)
    assert warning("Brazil 2, Egypt 2", 3, 1, 2) in chain_page(mara)
    world.add_annotators(world.egypt, 1)
    assert warning("Brazil 2", 3, 1, 2) in chain_page(mara), "three are enough in Egypt"
    world.add_annotators(world.brazil, 1)
    assert "Too few people" not in chain_page(mara)
    left = CohortMember.objects.filter(cohort=world.egypt).first()
    assert left is not None
    left.user.is_active = False
    left.user.save()
    assert warning("Egypt 2", 3, 1, 2) in chain_page(mara), "who cannot sign in judges nothing"


def test_a_draft_says_it_before_it_opens(world: World, judge: Stage) -> None:
    campaign = lifecycle.create(judge, "Round 1", world.mara, {world.egypt: 2})
    mara = world.client(world.mara)
    url = f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/"
    assert warning("Egypt 2", 4, 2, 2) in text_of(mara.get(url).content.decode())
    Stage.objects.filter(pk=judge.pk).update(staffing="anyone")
    assert "Too few people" not in mara.get(url).content.decode()


def test_only_who_is_barred_counts(world: World, judge: Stage) -> None:
    mara = world.client(world.mara)
    Stage.objects.filter(pk=judge.pk).update(staffing="not_own")
    assert "Too few people" not in chain_page(mara), "nobody owns what a model answered"
    Stage.objects.filter(pk=judge.pk).update(derivation=derived("verdicts", "words", **JUDGED, references="none"))
    assert "Too few people" not in chain_page(mara)
    by_people = derived("verdicts", "words", field="answer", people="leave_one_out")
    Stage.objects.filter(pk=judge.pk).update(derivation=by_people, target_answers=2)
    assert warning("Brazil 2, Egypt 2", 3, 2, 1) in chain_page(mara), "the author of each answer"


def test_pairs_of_answers_bar_both_authors_and_what_follows_them(world: World, judge: Stage) -> None:
    pairs = derived("pair", "words", per="answer", context=TEXTS, sides="answer")
    Stage.objects.filter(pk=judge.pk).update(
        key="pairs", name="Pairs", display="pair", derivation=pairs, staffing="anyone"
    )
    judged = derived("verdicts", "pairs", **JUDGED)
    add_stage(world, "judge", display="candidate", staffing="not_own", derivation=judged)
    mara = world.client(world.mara)
    assert warning("Brazil 2, Egypt 2", 3, 1, 2) in chain_page(mara)
    Stage.objects.filter(key="judge").update(target_in_all=True)
    assert "Too few people" not in chain_page(mara), "two of the other cohort may"
