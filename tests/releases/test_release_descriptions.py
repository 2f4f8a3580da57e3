"""What a release says of itself: a card that Hugging Face reads, a citation, and Croissant for programs."""

import json

import yaml

from annotation.models import Campaign
from benchmarks.models import Benchmark
from releases.descriptions.licences import spdx_identifier
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.personas import World
from tests.releases.release_steps import built, files_of


def study(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1234", world.tarek: "12.5"})
    hostile = 'Bread: "a"\n---\n# {x} \\ é'
    values = {"licence": "CC BY 4.0", "purpose": 'Why: "x"\n---\nend', "name": hostile, "citation": "Doe 2026"}
    Benchmark.objects.filter(pk=world.benchmark.pk).update(**values)
    return campaign


def test_the_head_of_the_card_names_every_parquet_table(world: World) -> None:
    study(world)
    files = files_of(world, built(world))
    text = files["README.md"].decode()
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["license"] == "cc-by-4.0"
    assert head["pretty_name"].startswith('Bread: "a"\n---')
    assert head["language"] == ["ar", "pt"]
    configs = {config["config_name"]: config["data_files"] for config in head["configs"]}
    assert configs.keys() == {"relevance-ratings", "relevance-items", "pictures"}
    assert {path["path"] for paths in configs.values() for path in paths} == {p for p in files if p.endswith("parquet")}
    assert "Answers: 7 of people, 0 of models. Given between 2026-03-01 and 2026-03-01." in text
    assert "People by cohort: Brazil (0), Egypt (2)." in text
    assert "no licence known (8)" in text
    assert "- limitations\n" in text and "- curation rationale" not in text
    assert "configs:" not in files_of(world, built(world, version="1.1.0", formats=["csv"]))["README.md"].decode()


def test_the_citation_is_readable_whatever_the_names_are(world: World) -> None:
    study(world)
    release = built(world)
    cff = yaml.safe_load(files_of(world, release)["CITATION.cff"])
    assert cff["title"].startswith('Bread: "a"') and cff["license"] == "CC-BY-4.0"
    assert (cff["cff-version"], cff["type"], cff["version"]) == ("1.2.0", "dataset", "1.0.0")
    assert cff["authors"] == [{"name": world.team.name}]
    assert f"{cff['date-released']}" == f"{release.created_at:%Y-%m-%d}"


def test_croissant_names_files_with_checksums_and_every_column(world: World) -> None:
    study(world)
    release = built(world)
    files = files_of(world, release)
    content = json.loads(files["croissant.json"])
    sums = dict(release.files.values_list("path", "sha256"))
    assert {file["@id"]: file["sha256"] for file in content["distribution"]} == {
        path: digest for path, digest in sums.items() if path.endswith(".parquet")
    }
    columns = {record["name"]: [field["name"] for field in record["field"]] for record in content["recordSet"]}
    header = files["csv/relevance/ratings.csv"].decode("utf-8-sig").splitlines()[0].split(",")
    assert columns["relevance/ratings"] == header
    assert columns["pictures"] == files["csv/pictures.csv"].decode("utf-8-sig").splitlines()[0].split(",")
    for name in ("name", "description", "license", "creator", "datePublished", "version", "citeAs", "inLanguage"):
        assert content[name], name
    assert content["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert content["rai:annotatorDemographics"] == ["Brazil: 0 people", "Egypt: 2 people"]


def test_licences_are_known_by_how_people_write_them() -> None:
    assert [spdx_identifier(text) for text in ("CC BY-SA 4.0", "cc-by-4.0 International", "mit", "ours", "")] == [
        "CC-BY-SA-4.0", "CC-BY-4.0", "MIT", "", "",
    ]  # fmt: skip
