"""What is known to be right, and who could answer: files apart from the ratings."""

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Campaign, ItemSource
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item
from releases.models import WithheldFile
from tests.annotation.chain.factories import a_stage
from tests.evaluation.data import NOON, an_open_campaign, give_ratings, of_condition, table
from tests.module_world import built_once
from tests.personas import SHEET, World, stand_in
from tests.releases.description_schemas import croissant_problems
from tests.releases.release_steps import address, built, csv_rows, files_of

pytestmark = pytest.mark.django_db
DRAWN = {"kind": "sample", "from": ["relevance"], "of": "kept", "without": "clip", "params": {"n": 10}, "seed": 1}


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(12)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural")[:4], {world.nour: "1234", world.tarek: "12.5"})
    return campaign


def drawn_stage(world: World, campaign: Campaign) -> dict[str, Item]:
    """A stage for the calibration of a filter: two items with a majority, one without, one without answers."""
    stage, sources = world.stage, list(world.items)
    labels = a_stage(world.benchmark, "labels", SHEET, derivation=DRAWN, has_target=True)
    drawn = {name: Item.objects.create(stage=labels, key=name) for name in ("agreed", "divided", "empty")}
    for item, source in zip(drawn.values(), sources, strict=False):
        ItemSource.objects.create(item=item, source=source)
    stand_in(list(drawn.values()))
    opened = lifecycle.create(labels, "Labels", world.owner, {world.egypt: 2})
    lifecycle.open_campaign(opened, world.owner, NOON)
    give_ratings(opened, world.egypt, world.nour, {drawn["agreed"]: "4", drawn["divided"]: "1"})
    give_ratings(opened, world.egypt, world.tarek, {drawn["agreed"]: "4", drawn["divided"]: "5"})
    assert stage.key == "relevance"
    return drawn


def test_given_labels_and_majorities_of_a_drawn_sample_are_gold(world: World, campaign: Campaign) -> None:
    Item.objects.filter(pk=world.items[5].pk).update(context={"gold": "koshari|ful", "gold_entity": ["Q1"]})
    drawn_stage(world, campaign)
    files = files_of(world, built(world))
    rows = csv_rows(files["gold.csv"])
    given = [(row["item"], row["question"], row["answer"], row["n"]) for row in rows if row["basis"] == "given"]
    key = world.items[5].key
    assert given == [(key, "gold", "koshari", ""), (key, "gold", "ful", ""), (key, "gold_entity", "Q1", "")]
    named = ("item", "question", "answer", "n", "answers", "drawn_from_stage", "drawn_from")
    assert [tuple(row[name] for name in named) for row in rows if row["basis"] == "calibration"] == [
        ("agreed", "relevance", "4", "2", "2", "relevance", world.items[0].key),
        ("divided", "relevance", "", "", "2", "relevance", world.items[1].key),
    ]


def test_a_drawn_item_that_was_withdrawn_has_no_known_answer(world: World, campaign: Campaign) -> None:
    drawn_stage(world, campaign)
    Item.objects.filter(key="agreed").update(withdrawn_at=timezone.now())
    assert [row["item"] for row in csv_rows(files_of(world, built(world))["gold.csv"])] == ["divided"]


def test_a_release_without_known_answers_has_no_file_of_them(world: World, campaign: Campaign) -> None:
    files = files_of(world, built(world))
    assert "gold.csv" not in files
    assert "gold" not in {record["name"] for record in json.loads(files["croissant.json"])["recordSet"]}


def test_labels_of_a_withheld_split_are_for_owners_alone(world: World, campaign: Campaign) -> None:
    drawn_stage(world, campaign)
    release = built(world, train=1, test=99, seed=3, group_by="item", withhold="on")
    assert csv_rows(files_of(world, release)["gold.csv"]) == []
    stored = WithheldFile.objects.get(release=release, path="withheld/gold.csv")
    assert stored.rows == 2
    reply: Any = world.client(world.owner).get(address(release, f"withheld/{stored.pk}/"))
    assert [row["item"] for row in csv_rows(b"".join(reply.streaming_content))] == ["agreed", "divided"]
    assert world.client(world.mara).get(address(release, f"withheld/{stored.pk}/")).status_code == 404
    pages = {user: world.client(user).get(address(release)).content.decode() for user in (world.owner, world.mara)}
    assert "withheld/gold.csv" in pages[world.owner]
    assert "withheld/gold.csv" not in pages[world.mara]


def rules(world: World, version: str) -> dict[tuple[str, str], dict[str, str]]:
    rows = csv_rows(files_of(world, built(world, version=version))["eligibility.csv"])
    assert "R-" not in str(rows) and "@" not in str(rows)
    return {(row["cohort"], row["rule"]): row for row in rows}


def test_rules_on_who_could_answer_are_counted_and_small_groups_are_not(world: World, campaign: Campaign) -> None:
    later = timezone.now() + timedelta(minutes=1)
    for user in world.add_annotators(world.egypt, 6):
        give_ratings(campaign, world.egypt, user, {world.items[0]: "2"}, at=later)
    give_ratings(campaign, world.brazil, world.bia, {world.items[0]: "2"}, at=later)
    first = rules(world, "1.0.0")
    assert first["Egypt", "cohort"]["people"] == "8"
    assert first["Brazil", "cohort"]["people"] == "", "one person is not counted"
    assert first["Egypt", "consent"]["people"] == "", "two answered before they agreed: 6 of 8 would tell so"
    for user in (world.nour, world.tarek):
        give_ratings(campaign, world.egypt, user, {of_condition(world.items, "natural")[5]: "2"}, at=later)
    consent = rules(world, "1.1.0")["Egypt", "consent"]
    assert (consent["people"], consent["version"], consent["campaign"]) == ("8", "1", str(campaign.pk))
    assert consent["text"] == world.consent_version.texts.get(language="en").body


def test_both_files_are_described_for_programs_by_columns_and_types(world: World, campaign: Campaign) -> None:
    Item.objects.filter(pk=world.items[5].pk).update(context={"gold": "koshari"})
    drawn_stage(world, campaign)
    files = files_of(world, built(world))
    content = json.loads(files["croissant.json"])
    assert croissant_problems(content) == []
    sets = {record["name"]: record["field"] for record in content["recordSet"]}
    distribution = {file["@id"]: file for file in content["distribution"]}
    for name in ("gold", "eligibility"):
        path = f"{name}.csv"
        assert distribution[path]["encodingFormat"] == "text/csv"
        assert distribution[path]["sha256"] == hashlib.sha256(files[path]).hexdigest()
        rows, fields = csv_rows(files[path]), sets[name]
        assert [field["source"]["extract"]["column"] for field in fields] == list(rows[0])
        for field in fields:
            values = [row[field["name"]] for row in rows if row[field["name"]]]
            assert field["dataType"] != "sc:Integer" or all(value.isdigit() for value in values)
            assert field["description"] and field["source"]["fileObject"] == {"@id": path}
    integers = {f"{name}/{field['name']}" for name in ("gold", "eligibility") for field in sets[name]
                if field["dataType"] == "sc:Integer"}  # fmt: skip
    assert integers == {"gold/n", "gold/answers", "eligibility/campaign", "eligibility/version", "eligibility/people"}
