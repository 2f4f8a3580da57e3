"""Every table and figure in every format, over benchmarks that were filled by their pages: empty, filled, and filled
twice with a second version. Nothing here writes a row into the database but the pages themselves.
"""

import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from evaluation.figures.general import GENERAL
from evaluation.figures.model_figures import MODELS
from evaluation.figures.registry import BY_RECIPE as FIGURES
from evaluation.tables.registry import BY_RECIPE as TABLES
from evaluation.tables.table_formats import to_csv, to_latex
from predictions.services.knowledge import indexes
from tests.evaluation.output_forms import check_files, check_rows, figure_forms, figures_page, table_forms
from tests.filling.public_client import PublicDoor
from tests.filling.studies import STUDIES
from tests.module_world import undone_at_the_end
from tests.personas import World, make_world
from tests.predictions.knowledge.colours import Colours

pytestmark = pytest.mark.django_db

# What the pages cannot fill today, with the reason. A line that is no longer true fails: the list can only shrink.
NO_TABLE: dict[tuple[str, str], str] = {}
NO_ORDER = "The recipe's people answer no question whose codes have an order."
NO_FIGURE: dict[tuple[str, str], str] = {
    **{(recipe, key): NO_ORDER for recipe in ("culturalvqa", "globalrg-grounding", "globalrg-retrieval", "3xcm")
       for key in ("annotators", "models-people")},
    ("globalrg-grounding", "cohorts-models"): "Models draw boxes, which have no code, and bring no pictures.",
}  # fmt: skip
# The question that the figures of every benchmark are about, where the first one has too few answers.
ASKED = {"culturalvqa": "stage=model-answers"}
ASKED_OF = {("culturalvqa", "cohorts-models"): "stage=answers&field=sure"}  # models rate no answers of models
ONCE, TWICE = "filled", "filled twice"
EACH_TABLE = [(recipe, spec.key) for recipe in STUDIES for spec in TABLES[recipe]]
EACH_FIGURE = [
    (recipe, spec.key) for recipe in STUDIES for spec in (*FIGURES.get(recipe, ()), *GENERAL, *MODELS)
]  # fmt: skip


@pytest.fixture(scope="module")
def module_world(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> Iterator[World]:
    """A world that all tests of this module share. What each test does besides is undone after it."""
    pytest.importorskip("faiss")
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        from django.conf import settings

        patch.setattr(settings, "VECTORS_ROOT", Path(tmp_path_factory.mktemp("vectors")))
        patch.setattr(indexes, "encoder_of", lambda _index: Colours())
        with undone_at_the_end():
            yield make_world()


@pytest.fixture(scope="module")
def doors() -> dict[str, PublicDoor]:
    return {}


@pytest.fixture(scope="module")
def study(request: pytest.FixtureRequest, module_world: World, doors: dict[str, PublicDoor]) -> PublicDoor:
    """A benchmark filled once, or twice; the second time over the first."""
    recipe, times = request.param
    if recipe not in doors:
        doors[recipe] = STUDIES[recipe].fill(module_world)
    if times == TWICE and not doors[recipe].filled_twice:
        STUDIES[recipe].fill_again(doors[recipe])
        doors[recipe].filled_twice = True
    connection.check_constraints()  # now, and not again at the end of each test
    return doors[recipe]


def parametrize_each(pairs: list[tuple[str, str]], times: str) -> Any:
    rows = [pytest.param((recipe, times), key, id=f"{recipe}, {key}, {times}") for recipe, key in pairs]
    return pytest.mark.parametrize(("study", "key"), rows, indirect=["study"])


def query_of(study: PublicDoor, key: str) -> str:
    return ASKED_OF.get((study.slug, key), ASKED.get(study.slug, ""))


def check_missing(client: Client, slug: str, kind: str, key: str, forms: tuple[str, ...], query: str = "") -> None:
    """The files answer 409 with a sentence."""
    for form in forms:
        reply = client.get(f"/b/{slug}/{kind}/{key}.{form}?{query}")
        assert reply.status_code == 409, f"{key}.{form}: {reply.status_code}"
        assert reply.json()["error"].endswith(".") and "None" not in reply.json()["error"]


@pytest.mark.parametrize("recipe", STUDIES)
def test_an_empty_benchmark_says_what_each_table_and_figure_needs(world: World, recipe: str) -> None:
    door = PublicDoor(world, recipe)
    first = TABLES[recipe][0].key
    for spec in TABLES[recipe]:
        page = door.page.get(door.at(f"tables/{spec.key}/"))
        assert page.status_code == 200 and 'id="latex"' not in page.content.decode(), spec.key
        check_missing(
            door.page, door.slug, "tables", spec.key, ("json", "csv", "tex") if spec.key == first else ("json",)
        )
    figures_page(door.page, door.slug)
    for figure in (*FIGURES.get(recipe, ()), *GENERAL, *MODELS):
        check_missing(door.page, door.slug, "figures", figure.key, ("csv",))


@parametrize_each(EACH_TABLE, ONCE)
def test_table_of_data_entered_on_pages(study: PublicDoor, key: str) -> None:
    if (study.slug, key) in NO_TABLE:
        check_missing(study.page, study.slug, "tables", key, ("json",))
        return
    data = json.loads(table_forms(study.page, study.slug, key)["json"])
    assert data["rows"] and (data["choices"] or not data["runs"] + data["selections"]), "it names what it read"


@parametrize_each(EACH_FIGURE, ONCE)
def test_figure_of_data_entered_on_pages(study: PublicDoor, key: str) -> None:
    if (study.slug, key) in NO_FIGURE:
        check_missing(study.page, study.slug, "figures", key, ("csv",), query_of(study, key))
        return
    figure_forms(study.page, study.slug, key, query_of(study, key))


@pytest.mark.parametrize("study", [pytest.param((recipe, ONCE), id=recipe) for recipe in STUDIES], indirect=True)
def test_pages_and_exports_of_data_entered_on_pages(study: PublicDoor) -> None:
    """Each page of numbers, its files, and each export; of every stage that was asked."""
    figures_page(study.page, study.slug, ASKED.get(study.slug, ""))
    for rest in ("tables/", "people/", "predictions/", "export/", "coverage/", "items/", "campaigns/", ""):
        assert study.page.get(study.at(rest), follow=True).status_code == 200, rest
    for stage in study.benchmark.stages.filter(campaigns__isnull=False).distinct():
        for rest in ("agreement/", "agreement.json", "agreement.csv", "agreement.tex", "models/", "models.json",
                     "models.csv", "judge/", "judge.json", "judge.csv", "disagreement/"):  # fmt: skip
            reply = study.page.get(study.at(rest), {"stage": stage.key})
            assert reply.status_code in (200, 400, 409), f"{rest} of {stage.key}: {reply.status_code}"
            check_rows(f"{rest} of {stage.key}", reply.content.decode("utf-8-sig"))
        for form in ("csv", "jsonl"):
            reply = study.page.post(study.at("export/"), {"stage": stage.pk, "form": form})
            assert reply.status_code == 200, f"export of {stage.key}"
            assert zipfile.ZipFile(io.BytesIO(b"".join(reply.streaming_content))).testzip() is None  # type: ignore[attr-defined]
    for collection in study.benchmark.collections.all():
        file = study.page.get(study.at(f"predictions/collections/{collection.pk}.jsonl"))
        assert file.status_code == 200 and b"".join(file.streaming_content)  # type: ignore[attr-defined]
    for run in study.benchmark.runs.filter(collection__isnull=False):
        file = study.page.get(study.at(f"predictions/runs/{run.pk}.jsonl"))
        assert file.status_code == 200 and b"".join(file.streaming_content)  # type: ignore[attr-defined]


@parametrize_each(EACH_TABLE, TWICE)
def test_a_table_after_a_second_version(study: PublicDoor, key: str) -> None:
    """The page and the files, and whatever can be chosen is chosen once. CSV and LaTeX are made of the JSON here, by
    what the address calls, so that each number is computed twice and not four times."""
    if (study.slug, key) in NO_TABLE:
        return
    data = json.loads(table_forms(study.page, study.slug, key, files=("json",))["json"])
    check_files(key, "".join(to_csv(data)), to_latex(data))
    for choice in data["choices"]:
        if len(choice["values"]) < 2:
            continue
        value = next(one for one in reversed(choice["values"]) if one not in choice["chosen"] or choice["several"])
        reply = study.page.get(study.at(f"tables/{key}.json"), {choice["key"]: value})
        assert reply.status_code in (200, 409), f"{choice['key']}={value}: {reply.content.decode()[:300]}"
        if reply.status_code == 200:
            chosen = next(one["chosen"] for one in reply.json()["choices"] if one["key"] == choice["key"])
            assert value in chosen, choice["key"]


@parametrize_each(EACH_FIGURE, TWICE)
def test_a_figure_after_a_second_version(study: PublicDoor, key: str) -> None:
    if (study.slug, key) not in NO_FIGURE:
        reply = study.page.get(study.at(f"figures/{key}.csv?{query_of(study, key)}"))
        assert reply.status_code == 200, reply.content.decode()[:300]


if os.environ.get("EMIC_LIST_GAPS"):  # lists what is still missing, for whoever shortens the lists above

    @pytest.mark.parametrize("study", [(recipe, ONCE) for recipe in STUDIES], indirect=True)
    def test_list_gaps(study: PublicDoor) -> None:
        for kind, pairs, form in (("tables", EACH_TABLE, "json"), ("figures", EACH_FIGURE, "csv")):
            for recipe, key in pairs:
                if recipe == study.slug:
                    reply = study.page.get(study.at(f"{kind}/{key}.{form}?{ASKED.get(recipe, '')}"))
                    if reply.status_code != 200:
                        print(reply.status_code, kind, recipe, key, reply.content.decode()[:160])
