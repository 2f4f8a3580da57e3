"""Items of words are made by a form: each concept with each label of a set, in one sentence."""

from typing import Any

import pytest

from benchmarks.models import Benchmark, Item, Stage
from benchmarks.rules.crossing import crossed_rows
from benchmarks.rules.label_sets.contract import LabelSpec
from benchmarks.services.benchmarks import create_from_recipe
from jobs.models import Job
from jobs.services import runner
from tests.importing import page_of
from tests.personas import World

pytestmark = pytest.mark.django_db
SENTENCE = "A photo of {concept} in {origin}"


@pytest.fixture
def finding(world: World) -> Stage:
    """A stage of words; the recipe names countries and any concept."""
    benchmark: Benchmark = create_from_recipe(world.team, "globalrg-grounding", "Words", "words", world.mara)
    return Stage.objects.get(benchmark=benchmark, key="finding")


def cross(world: World, stage: Stage, user: Any = None, **changes: str) -> Any:
    fields = {"concepts": "dance\nhead coverings\n\ndance", "label_set": "recipe-globalrg-grounding",
              "labels": "india\nMexico", "sentence": SENTENCE} | changes  # fmt: skip
    data = {"stage": stage.pk, "do": "cross"} | {f"cross-{name}": value for name, value in fields.items()}
    return world.client(user or world.mara).post(page_of(stage), data)


def run_last_job() -> Job:
    job = Job.objects.latest("pk")
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    return job


def test_each_concept_is_crossed_with_each_label_once(world: World, finding: Stage) -> None:
    for _press in range(2):
        assert cross(world, finding).status_code == 302
        job = run_last_job()
    assert job.result["counts"] == {"unchanged": 4}, "made again, it adds nothing"
    texts = dict(Item.objects.filter(stage=finding).values_list("key", "text"))
    assert texts == {
        f"{slug}/{concept.replace(' ', '-')}": f"A photo of {concept} in {country}"
        for slug, country in (("in", "India"), ("mx", "Mexico")) for concept in ("dance", "head coverings")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"labels": "Atlantis"}, "“Atlantis” is no label of this set"),
        ({"sentence": "A photo of {concept}"}, "does not have {origin}"),
        ({"concepts": "x" * 130}, "too long"),
        ({"concepts": "\n".join(f"thing {n}" for n in range(20_001)), "labels": "India"}, "Make at most 20,000"),
    ],
)
def test_a_form_that_makes_no_good_items_makes_none(
    world: World, finding: Stage, changes: dict[str, str], problem: str
) -> None:
    reply = cross(world, finding, **changes)
    assert reply.status_code == 200 and problem in reply.content.decode()
    assert not Job.objects.exists()


def test_only_stages_of_words_offer_it_and_only_to_those_who_work_on_the_benchmark(
    world: World, finding: Stage
) -> None:
    pictures = world.stage
    assert "Concepts with labels" in world.client(world.mara).get(f"{page_of(finding)}?stage=finding").content.decode()
    assert "Concepts with labels" not in world.client(world.mara).get(page_of(pictures)).content.decode()
    assert cross(world, pictures).status_code == 200 and not Job.objects.exists()
    assert cross(world, finding, user=world.stranger).status_code == 404


def test_names_in_other_scripts_have_keys_of_their_own() -> None:
    rows = list(crossed_rows(["رقص", "طعام", "a b", "a-b!"], [LabelSpec("x", "{concept}")], SENTENCE))
    assert len({row["key"] for row in rows}) == 4
    assert rows[0]["text"] == "A photo of رقص in {concept}", "a name is never filled in itself"
