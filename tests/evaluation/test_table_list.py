"""The list of tables: where it says that there is data the table can be made; else it says what is missing, and where
that is brought."""

import pytest
from django.http import QueryDict
from django.utils import timezone

from benchmarks.models import Benchmark
from benchmarks.services.benchmarks import create_from_recipe
from evaluation.selections.catalogue import catalogue_of
from evaluation.tables.registry import tables_of
from evaluation.tables.table import MissingData
from evaluation.tables.table_builder import build_table, missing_data
from tests.evaluation import runs
from tests.evaluation.sample_tables import model
from tests.evaluation.test_tables_boxes import LEFT, a_small_set, answer
from tests.evaluation.test_tables_caire import KEEN
from tests.evaluation.test_tables_caire import Study as Caire
from tests.evaluation.test_tables_culturalvqa import Study as Vqa
from tests.personas import World

pytestmark = pytest.mark.django_db


def missing_messages(benchmark: Benchmark) -> dict[str, str]:
    """What each table lacks, after making it: the list may not promise what the table cannot keep."""
    catalogue, at, query = catalogue_of(benchmark), timezone.now(), QueryDict()
    messages = {}
    for spec in tables_of(benchmark):
        lack = missing_data(catalogue, spec, query, at)
        messages[spec.key] = str(lack.message) if lack else ""
        try:
            build_table(benchmark, spec, query, at)
        except MissingData:
            assert messages[spec.key], spec.key
        else:
            assert not messages[spec.key], (spec.key, messages[spec.key])
    return messages


def test_table_list_with_people_only_and_with_models(world: World) -> None:
    study = Caire(world)
    messages = missing_messages(study.benchmark)
    assert messages["table-14"] == "" and "No model has scored" in messages["table-2"] == messages["table-17"]
    study.score("Keen", KEEN)
    assert missing_messages(study.benchmark)["table-2"] == ""


def test_answers_judged_in_one_way_only(world: World) -> None:
    study = Vqa(world)
    messages = missing_messages(study.benchmark)
    assert all(messages[key] for key in ("accuracy", "table-6", "without-picture", "sub-categories"))


def test_boxes_of_people_alone_give_table_4_and_no_accuracy(world: World) -> None:
    benchmark = create_from_recipe(world.team, "globalrg-grounding", "Grounding", "grounding", world.owner)
    campaign, items = a_small_set(world, benchmark)
    messages = missing_messages(benchmark)
    accuracy = ("grounding", "grounding-countries", "grounding-regions")
    assert not messages["collected"] and all("No model has answered" in messages[key] for key in accuracy)
    answer(world, campaign, "Grounding DINO", {items[0]: LEFT})
    assert not any(missing_messages(benchmark)[key] for key in accuracy)


def test_forced_choices_of_three_give_no_table_of_six(world: World) -> None:
    benchmark = create_from_recipe(world.team, "3xcm", "3XCM", "threex", world.owner)
    missing_messages(benchmark)
    new_collection = runs.collection(benchmark, {f"e{n}": {"country": "Japan", "language": "ja"} for n in range(3)})
    roles = {"correct": "e0", "language_biased": "e1", "irrelevant": "e2"}
    asked = runs.query(new_collection, "q0", {"country": "Japan", "concept": "tea"}, roles=roles)
    runs.create_ranking(runs.run(new_collection, model(world.team, "Lens"), "forced_choice"), asked, ["e0", "e1", "e2"])
    messages = missing_messages(benchmark)
    assert messages["association"] == ""
    for key in ("descriptor", "tests", "drift", "prompts", "query-sets", "silhouettes", "languages-tiers"):
        assert messages[key], key


def test_a_row_that_lacks_something_names_the_stage_and_leads_to_where_it_is_brought(world: World) -> None:
    benchmark = create_from_recipe(world.team, "caire-universal", "CAIRE", "caire-new", world.owner)
    client = world.client(world.owner)
    page = client.get(f"/b/{benchmark.slug}/tables/").content.decode()
    assert "The stage “Relevance rating” has no campaign yet." in page
    assert f'href="/b/{benchmark.slug}/campaigns/new/?stage=relevance"' in page
    own = client.get(f"/b/{benchmark.slug}/tables/table-2/").content.decode()
    assert f'href="/b/{benchmark.slug}/campaigns/new/?stage=relevance"' in own
    empty = create_from_recipe(world.team, "globalrg-retrieval", "Found", "found-new", world.owner)
    page = client.get(f"/b/{empty.slug}/tables/").content.decode()
    assert "There are no predictions of this kind yet." in page and f'href="/b/{empty.slug}/predictions/"' in page
    study = Caire(world)
    page = client.get(f"/b/{study.benchmark.slug}/tables/table-2/").content.decode()
    assert f'href="/b/{study.benchmark.slug}/campaigns/{study.campaign.pk}/answers/import/"' in page
