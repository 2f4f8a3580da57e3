"""Pages call prompt variants and other codes by their texts; files keep the codes, which programs read."""

import pytest

from annotation.models import Unit
from benchmarks.models import Benchmark, BenchmarkCondition
from evaluation.selections.catalogue import catalogue_of
from evaluation.tables.label_names import label_names
from evaluation.tables.registry import tables_of
from people.models import Rater
from predictions.pages.variant_names import VariantNames
from tests.chains.link_client import text_of
from tests.evaluation.sample_tables import model, store_answers
from tests.evaluation.test_tables_general import composed  # noqa: F401  (a fixture)
from tests.personas import World

pytestmark = pytest.mark.django_db
CODE, TEXT = "vlm_few_shot", "From the picture, with examples"


@pytest.fixture
def asked(world: World, composed: Benchmark) -> Benchmark:  # noqa: F811
    """A third model answers in a way of its own, which the benchmark has a name for."""
    BenchmarkCondition.objects.create(
        benchmark=composed, key="few", name={"en": TEXT}, stage=world.stage.key, prompt="sheet", setting=CODE
    )
    answers = {(item, "Egypt"): code for item, code in zip(world.items, "12345543", strict=True)}
    campaign = world.stage.campaigns.get()
    store_answers(campaign, model(world.team, "Third", CODE), answers)
    return composed


def page(world: World, path: str) -> str:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/{path}")
    assert reply.status_code == 200
    return text_of(reply.text)


def file(world: World, path: str) -> str:
    return bytes(world.client(world.mara).get(f"/b/{world.benchmark.slug}/{path}").getvalue()).decode()


def test_the_judge_page_names_how_judges_were_asked_and_its_files_keep_the_code(world: World, asked: Benchmark) -> None:
    third, near = Rater.objects.get(name="Third"), Rater.objects.get(name="Near")
    shown = page(world, f"judge/?judge={third.pk}")
    assert f"Third {TEXT} compared with annotators" in shown and f"Third, {TEXT}" in shown and CODE not in shown
    mean = page(world, f"judge/?judge={third.pk}&judge={near.pk}")
    assert f"Near + Third, {TEXT}" in mean and CODE not in mean
    assert CODE in file(world, f"judge.csv?judge={third.pk}") and TEXT not in file(world, f"judge.csv?judge={third.pk}")
    assert f'"setting": "{CODE}"' in file(world, f"judge.json?judge={third.pk}")


def test_the_page_of_an_item_names_how_models_were_asked(world: World, asked: Benchmark) -> None:
    unit = Unit.objects.get(item=world.items[0], target="Egypt")
    shown = page(world, f"disagreement/{unit.pk}/?stage={world.stage.key}")
    assert f"Third, {TEXT}" in shown and CODE not in shown


def test_tables_name_how_models_were_asked_and_their_files_keep_the_code(world: World, asked: Benchmark) -> None:
    named = 0
    for spec in tables_of(asked):
        shown, rows = page(world, f"tables/{spec.key}/"), file(world, f"tables/{spec.key}.csv")
        shown = shown.partition("begin{table")[0]  # what follows is the LaTeX file
        assert CODE not in shown and CODE.replace("_", " ") not in shown, spec.key
        assert TEXT not in rows
        if f"Third ({CODE.replace('_', ' ')})" in rows:
            named += 1
            assert f"Third ({TEXT})" in shown
    assert named, "a table has a row for each model"


def test_labels_are_named_as_tables_write_them(world: World, asked: Benchmark) -> None:
    labels = [
        "Third (vlm_few_shot, plain)",
        "Third, vlm_few_shot",
        "Third (else)",
        "Base, lemma_vt",
        "lemma_vt",
        "Egypt",
    ]
    data = {
        "rows": [{"label": label, "group": ""} for label in labels],
        "columns": [f"Third ({CODE})"], "selections": [],
    }  # fmt: skip
    texts = {"lemma_vt": "Entries by their names"}
    names = label_names(catalogue_of(asked), data, VariantNames(asked), texts)
    assert (
        names.items()
        >= {
            f"Third ({CODE})": f"Third ({TEXT})",
            "Third (vlm_few_shot, plain)": f"Third ({TEXT}, plain)",
            "Third, vlm_few_shot": f"Third ({TEXT})",
            "Base, lemma_vt": "Base, Entries by their names",
            "lemma_vt": "Entries by their names",
            "Egypt": "Egypt",
        }.items()
    )
    assert "Third (else)" not in names
