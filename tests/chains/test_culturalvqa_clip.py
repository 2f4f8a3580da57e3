"""CulturalVQA without scores: a tiny CLIP computes them as candidates arrive, and the limit on the page decides."""

from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from benchmarks.models import FilterVersion, ItemFact
from people.models import Cohort
from tests.chains.browser_client import BrowserSheets
from tests.chains.researcher import Researcher
from tests.chains.test_culturalvqa import COUNTRIES, FULL, Study, candidates, create_cohorts
from tests.personas import World
from tests.predictions.conftest import models_root, needs_models, trained  # noqa: F401
from tests.predictions.model_server import Server
from tests.predictions.shapes import MODEL

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def study(world: World, scripted_server: Server, models_root: Path) -> Study:  # noqa: F811
    Cohort.objects.filter(pk=world.brazil.pk).update(label="North", country="")  # none of the recipe's
    return Study(world, scripted_server, FULL, Researcher(world.client(world.team_admin)), BrowserSheets(_no_window, 0))


def _no_window(*_arguments: object) -> NoReturn:
    raise AssertionError("nobody opens a window here")


def scores() -> dict[str, float]:
    facts = ItemFact.objects.filter(key="clip_score")
    assert facts.count() == facts.values("item").distinct().count(), "each score exists once"
    return {key: float(value) for key, value in facts.values_list("item__key", "value")}


def test_scores_come_without_a_press_and_the_chosen_limit_decides(study: Study) -> None:
    researcher, size = study.researcher, study.size
    researcher.create_benchmark("culturalvqa", "Questions of two countries", study.world.team.pk)
    researcher.add_local_encoder("Tiny")
    researcher.request_scores("Candidate pictures", "Tiny", MODEL, "context.assertion")
    rows, pictures = candidates(size)
    researcher.import_items([{k: v for k, v in row.items() if k != "fact.clip_score"} for row in rows], pictures)
    of_right_shape = {row["key"] for row in rows if row["key"].rstrip("0123456789").endswith(("-", "low"))}
    assert set(scores()) == of_right_shape and len(of_right_shape) == 2 * (size.kept + size.each) == 36

    create_cohorts(study)
    researcher.go("Open the whole chain")
    researcher.submit(researcher.button("Open "))
    left = dict.fromkeys(COUNTRIES, size.labelled)
    for country in COUNTRIES:

        def label(_text: str, country: str = country) -> Mapping[str, str] | None:
            left[country] -= 1
            return {"relevant": "relevant" if left[country] % 2 else "irrelevant"} if left[country] >= 0 else None

        study.people[country][3].answer("Relevance of pictures", label)
    limit = sorted(scores().values())[len(of_right_shape) // 2]
    for chosen in (limit, limit + 1000):  # half of them, then none
        researcher.use_as_limit("relevant", f"{chosen:.2f}")
        at = FilterVersion.objects.latest("number").seen["clip_score"]["limit"]
        kept = {item.key for item in study.items("candidates") if item.intake == "kept"}
        assert kept == {key for key, score in scores().items() if score >= at}
        assert {item.key for item in study.items("questions")} <= kept
