"""What a table reads: one version of a collection, named in every form; the reader chooses it, its runs, campaigns and
prompt variants."""

import csv
import io
import json
from typing import Any

import pytest

from benchmarks.models import Benchmark
from evaluation.tables.registry import tables_of
from papers.xcm.tables.trials import SIX, THREE
from people.models import Rater
from predictions.models import Collection, Run
from tests.evaluation import runs
from tests.evaluation.data import an_open_campaign, table
from tests.evaluation.output_forms import figures_page, table_data, table_forms
from tests.evaluation.sample_tables import SMALL, model, of_recipe, store_answers, tables_are
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
OLD, NEW = "trials@1", "trials@2"


@built_once
def benchmark(world: World) -> Benchmark:
    return of_recipe(world, "3xcm")


def trials(collection: Collection, rater: Rater, won: str, n: int, **more: Any) -> Run:
    """n trials of three, all won by one kind of candidate."""
    of = runs.run(collection, rater, "forced_choice", query_set="plain", **more)
    for number in range(n):
        about = {"concept": f"c{number}", "country": "Japan", "language": "ja"}
        named = {role: f"{role}-{number}" for role in THREE}
        asked, _new = collection.queries.get_or_create(query_set="plain", key=f"t{number}", roles=named, about=about)
        runs.create_ranking(of, asked, list(named.values()), [1.0 if role == won else 0.5 for role in THREE])
    return of


def version(benchmark: Benchmark, number: str, countries: dict[str, int]) -> Collection:
    new_collection = Collection.objects.create(benchmark=benchmark, key="trials", name="Trials", version=number)
    for country, n in countries.items():
        for place in range(n):
            new_collection.entries.create(key=f"{country}-{place}", about={"country": country, "concept": "train"})
    return new_collection


@built_once
def two_versions(benchmark: Benchmark, world: World) -> tuple[Run, Run]:
    """Of the first 117 pictures and wins of the right one; of the second 8, and wins of the biased one."""
    rater = model(world.team, "CLIP", family="Contrastive")
    first = trials(version(benchmark, "1", {"Japan": 100, "Thailand": 17}), rater, "correct", 4)
    second = trials(version(benchmark, "2", {"Japan": 8}), rater, "language_biased", 3)
    return first, second


def read(world: World, key: str, query: str = "") -> dict[str, Any]:
    return table_data(world.client(world.mara), world.benchmark.slug, key, query)


def shown_cells(data: dict[str, Any]) -> dict[str, list[str]]:
    return {row["label"]: [cell["shown"] for cell in row["cells"]] for row in data["rows"]}


def test_nothing_is_added_up_over_versions(world: World, two_versions: tuple[Run, Run]) -> None:
    assert shown_cells(read(world, "images-countries")) == {"JP": ["8"]}
    assert shown_cells(read(world, "images-concepts")) == {"train": ["8"]}
    assert shown_cells(read(world, "images-countries", f"collection={OLD}")) == {"JP": ["100"], "TH": ["17"]}
    assert shown_cells(read(world, "images-concepts", f"collection={OLD}")) == {"train": ["117"]}


def test_a_table_has_rows_of_one_version(world: World, two_versions: tuple[Run, Run]) -> None:
    assert shown_cells(read(world, "association")) == {"CLIP": ["0.00", "100.00", "0.00", ""]}
    old = read(world, "association", f"collection={OLD}")
    assert shown_cells(old) == {"CLIP": ["100.00", "0.00", "0.00", "0.00"]}
    assert [run["id"] for run in old["runs"]] == [two_versions[0].pk]


def test_the_choice_stands_in_every_form(world: World, two_versions: tuple[Run, Run]) -> None:
    client, slug = world.client(world.mara), world.benchmark.slug
    for number, name in (("1", OLD), ("2", NEW)):
        forms = table_forms(client, slug, "images-countries", f"collection={name}")
        data = json.loads(forms["json"])
        assert data["options"] == {"collection": name, "runs": "all"}
        assert data["choices"][0]["values"] == {NEW: "Trials, version 2", OLD: "Trials, version 1"}
        for form in ("page", "tex"):
            assert f"Collection: Trials, version {number}." in forms[form]
        rows = list(csv.DictReader(io.StringIO(forms["csv"])))
        assert {row["options"] for row in rows} == {f"collection={name}; runs=all"}
    page = table_forms(client, slug, "images-countries")["page"]
    assert f'<option value="{NEW}" selected>' in page and f'<option value="{OLD}">' in page
    assert 'name="collection" autocomplete="off" data-submits data-clears="runs"' in page


def test_an_unfinished_newer_version_is_not_taken(world: World, benchmark: Benchmark, two_versions: Any) -> None:
    trials(version(benchmark, "3", {"Japan": 1}), Rater.objects.get(name="CLIP"), "irrelevant", 1, complete=False)
    assert read(world, "association")["options"]["collection"] == NEW


@pytest.mark.parametrize("query", ["collection=trials@9", "collection=other@1", "runs=0", "runs=999999"])
def test_what_is_not_there_is_refused(world: World, two_versions: tuple[Run, Run], query: str) -> None:
    client = world.client(world.mara)
    for form in ("json", "csv", "tex"):
        reply = client.get(f"/b/{world.benchmark.slug}/tables/association.{form}?{query}")
        assert reply.status_code == 400 and reply.json()["parameter"] == query.split("=")[0]


def test_a_run_of_another_benchmark_is_no_choice(world: World, two_versions: tuple[Run, Run]) -> None:
    theirs = Collection.objects.create(benchmark=world.other_benchmark, key="trials", name="Theirs", version="9")
    other = trials(theirs, model(world.other_team, "CLIP"), "correct", 1)
    for query in (f"runs={other.pk}", "collection=trials@9"):
        reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/tables/association.json?{query}")
        assert reply.status_code == 400 and "Theirs" not in reply.content.decode()


def test_runs_are_chosen_one_by_one(world: World, two_versions: tuple[Run, Run]) -> None:
    other = trials(two_versions[1].pool, model(world.team, "SigLIP"), "irrelevant", 3)
    assert set(shown_cells(read(world, "association"))) == {"CLIP", "SigLIP"}
    one = read(world, "association", f"runs={other.pk}")
    assert set(shown_cells(one)) == {"SigLIP"} and one["options"]["runs"] == str(other.pk)
    assert "Runs: 1 of 2: SigLIP." in one["words"]
    # A run says its collection, where the address says none; with another collection it chooses nothing.
    assert read(world, "association", f"runs={two_versions[0].pk}")["options"]["collection"] == OLD
    kept = read(world, "association", f"runs={two_versions[0].pk}&collection={NEW}")
    assert set(shown_cells(kept)) == {"CLIP", "SigLIP"} and kept["options"]["runs"] == "all"


def test_each_kind_of_trials_takes_the_newest_collection_that_has_it(
    world: World, benchmark: Benchmark, two_versions: tuple[Run, Run]
) -> None:
    """Trials of six come in a newer collection: tables of three stay with theirs."""
    six = Collection.objects.create(benchmark=benchmark, key="six", name="Six", version="1")
    for query_set, about in (("descriptor", {"descriptor": "Kenya"}), ("plain six", {})):
        of = runs.run(six, Rater.objects.get(name="CLIP"), "forced_choice", query_set=query_set)
        named = {role: f"{role}-1" for role in SIX}
        facts = {"country": "Japan", "concept": "c", **about}
        asked = runs.query(six, "t1", facts, query_set=query_set, roles=named)
        runs.create_ranking(of, asked, list(named.values()), [0.9, 0.1, 0.1, 0.1, 0.1, 0.1])
    assert read(world, "association")["options"]["collection"] == NEW
    assert read(world, "descriptor")["options"]["collection"] == "six@1"
    assert read(world, "drift")["options"]["collection"] == "six@1"
    reply = world.client(world.mara).get(f"/b/{benchmark.slug}/tables/descriptor.json?collection={NEW}")
    assert reply.status_code == 400 and "six@1" in reply.json()["error"]


def test_embeddings_come_from_one_collection_of_texts_and_one_of_pictures(
    world: World, benchmark: Benchmark, two_versions: tuple[Run, Run]
) -> None:
    rater = Rater.objects.get(name="CLIP")
    for number in ("1", "2"):
        texts = Collection.objects.create(benchmark=benchmark, key="texts", name="Texts", version=number)
        for place in range(4):
            texts.entries.create(key=f"t{place}", about={"language": "ja" if place < 2 else "th"})
        of = runs.run(texts, rater, "embedding")
        apart = (0.0, 1.0) if number == "1" else (1.0, 0.01)  # the second version's texts are nearly one
        runs.vectors(of, {f"t{place}": (1.0, 0.0) if place < 2 else apart for place in range(4)})
    new = read(world, "association-countries")
    assert new["options"]["texts"] == "texts@2" and "Embeddings of texts: Texts, version 2." in new["words"]
    assert "pictures" not in new["options"], "there are none"
    old = read(world, "association-countries", "texts=texts@1")
    assert old["options"]["texts"] == "texts@1" and shown_cells(old)["Text silhouette"] == ["1.00"]


def test_figures_take_one_collection_too(world: World, two_versions: tuple[Run, Run]) -> None:
    client, slug = world.client(world.mara), world.benchmark.slug
    assert "Collection: Trials, version 2." in figures_page(client, slug)
    page = figures_page(client, slug, f"collection={OLD}")
    assert "Collection: Trials, version 1." in page and "version 2." not in page
    rows = list(csv.reader(io.StringIO(client.get(f"/b/{slug}/figures/wins.csv?collection={OLD}").content.decode())))
    assert [row[3] for row in rows if row[1] == "All countries"] == ["4", "0", "0"]
    assert client.get(f"/b/{slug}/figures/wins.csv?collection=none@1").status_code == 400


def test_no_table_of_a_paper_reads_two_collections(world: World, two_versions: tuple[Run, Run]) -> None:
    """Whatever a table over collections is about, the runs it names are of one; the list of models names each's."""
    client = world.client(world.mara)
    for spec in tables_of(world.benchmark):
        reply = client.get(f"/b/{world.benchmark.slug}/tables/{spec.key}.json")
        if reply.status_code == 200 and spec.key != "models":
            data = reply.json()
            assert len({(run["collection"], run["version"]) for run in data["runs"] if run["task"] != "embedding"}) == 1
            assert data["options"]["collection"] and any(choice["key"] == "runs" for choice in data["choices"])
    models = read(world, "models")
    assert shown_cells(models)["CLIP"][-1] == "trials@1, trials@2" and models["options"]["collection"] == "all"
    assert shown_cells(read(world, "models", f"collection={OLD}"))["CLIP"][-1] == OLD


def test_campaigns_and_prompt_variants_are_chosen(world: World) -> None:
    world.add_items(8)
    first = an_open_campaign(world, name="Round one")
    items = [item for item in world.items if item.origin == "Egypt"][:3]
    table(first, world.egypt, items, {world.nour: "123", world.tarek: "124"})
    second = an_open_campaign(world, name="Round two")
    table(second, world.egypt, items, {world.nour: "111", world.tarek: "222"})
    for setting, code in (("", "1"), ("top_20", "5")):
        store_answers(second, model(world.team, "Judge", setting), {(items[0], "Egypt"): code})
    with tables_are(world.benchmark, [SMALL]):
        both = read(world, "small")
        assert both["options"]["campaigns"] == "all"
        report = read(world, "small", f"campaigns={first.pk}")
        assert report["options"]["campaigns"] == str(first.pk) and report["selections"][0]["campaigns"] == [first.pk]
        assert any("Campaigns: 1 of 2: Relevance rating: Round one." in words for words in report["words"])
        [share] = [
            r["cells"][2]["estimate"]["value"] for r in report["rows"] if (r["group"], r["label"]) == ("Egypt",) * 2
        ]
        assert share == pytest.approx(2 / 3)
        refused = world.client(world.mara).get(f"/b/{world.benchmark.slug}/tables/small.json?campaigns=0")
        assert refused.status_code == 400 and refused.json()["parameter"] == "campaigns"
    of_recipe(world, "caire-universal")
    for query, variants in (("", "default, top_20"), ("settings=top_20", "top_20"), ("settings=default", None)):
        some = read(world, "models", query)
        assert [row["label"] for row in some["rows"]] == ["Judge"], "one row, however the model was asked"
        texts = dict(zip(some["columns"], some["rows"][0]["cells"], strict=True))
        assert texts.get("Prompt variants", {}).get("shown") == variants
        assert some["options"].get("settings") == (query.removeprefix("settings=") or None) or not query
    refused = world.client(world.mara).get(f"/b/{world.benchmark.slug}/tables/models.json?settings=other")
    assert refused.status_code == 400 and refused.json()["parameter"] == "settings"
