"""A model is no person: an export names it, so that it stays who it is wherever the export is brought."""

import csv
import io
import json
from typing import Any

import pytest

from annotation.models import Annotation, Campaign, Rating, Review
from annotation.services.campaigns import lifecycle
from benchmarks.models import Stage
from people.models import Rater
from people.services.raters import rater_of
from tests.annotation.files.test_answer_files import export_zip, import_answers, rows_of
from tests.evaluation.data import NOON, an_open_campaign, of_condition, table
from tests.importing import outcomes
from tests.module_world import built_once
from tests.personas import World, make_items
from tests.releases.test_export import download_files

MODEL = {"rater": "LLaVA-1.5", "rater_kind": "model", "setting": "main", "cohort": None, "target": "Egypt"}
ABOUT = {"family": "LLaVA", "open": True}


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1234"})
    import_answers(campaign, rows_of(world, {**MODEL, "about": ABOUT}, {**MODEL, "setting": "text_only"}), "a.jsonl")
    return campaign


def read(world: World, form: str) -> list[dict[str, Any]]:
    data = download_files(world.client(world.mara), world, form)[f"ratings.{form}"].decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(data))) if form == "csv" else list(map(json.loads, data.splitlines()))


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_model_has_its_name_and_a_person_a_pseudonym(world: World, campaign: Campaign, form: str) -> None:
    rows = read(world, form)
    models = [row for row in rows if row["rater_kind"] == "model"]
    assert [(row["rater"], row["setting"]) for row in models] == [("LLaVA-1.5", "main"), ("LLaVA-1.5", "text_only")]
    about = [json.loads(row["model_info"]) if form == "csv" else row["model_info"] for row in models]
    assert about == [ABOUT, {}]
    people = {(row["rater"], row["model_info"] or "") for row in rows if row["rater_kind"] == "person"}
    assert people == {(world.benchmark.pseudonym(rater_of(world.nour).pk), "")}


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_in_another_place_it_keeps_its_name_and_meets_its_other_answers(
    world: World, campaign: Campaign, form: str
) -> None:
    """The other team knows the model in one of its settings already."""
    theirs = Rater.objects.create(kind="model", team=world.other_team, name="LLaVA-1.5", setting="main")
    stage = world.other_benchmark.stages.get()
    make_items(stage, 8)
    world.other_cohort.label = "Egypt"
    world.other_cohort.save()
    other = lifecycle.create(stage, "Round", None, {world.other_cohort: 2})
    lifecycle.open_campaign(other, None, NOON)
    job = import_answers(other, export_zip(world, campaign, form))
    assert set(outcomes(job).values()) == {("created", "")}, list(job.rows.values())
    found = Rater.objects.filter(team=world.other_team, kind="model").order_by("setting")
    assert [(one.name, one.setting, one.about) for one in found] == [
        ("LLaVA-1.5", "main", ABOUT), ("LLaVA-1.5", "text_only", {}),
    ]  # fmt: skip
    assert Rating.objects.filter(campaign=other, rater=theirs).count() == 1
    people = Rater.objects.filter(team=world.other_team, kind="person")
    assert [one.name for one in people] == [world.benchmark.pseudonym(rater_of(world.nour).pk)]


def test_in_the_same_place_it_is_found_again(world: World, campaign: Campaign) -> None:
    raters = Rater.objects.count()
    assert set(outcomes(import_answers(campaign, export_zip(world, campaign, "csv"))).values()) == {("unchanged", "")}
    again = an_open_campaign(world, name="Empty")
    import_answers(again, export_zip(world, campaign, "jsonl"))
    assert Rater.objects.count() == raters
    answers = Annotation.objects.filter(assignment__campaign=again, rater__kind="model")
    assert {one.rater.setting for one in answers} == {"main", "text_only"}


def test_what_an_older_export_called_it_is_still_understood(world: World, campaign: Campaign) -> None:
    """Until now exports named models by pseudonym."""
    model = Rater.objects.get(kind="model", setting="main")
    again = an_open_campaign(world, name="Empty")
    import_answers(again, rows_of(world, {**MODEL, "rater": world.benchmark.pseudonym(model.pk)}), "a.jsonl")
    assert Annotation.objects.get(assignment__campaign=again).rater == model


def test_no_model_answers_in_the_name_of_a_person(world: World, campaign: Campaign) -> None:
    """A pseudonym of a person, said to be a model's, is refused; the row beside it is taken."""
    again = an_open_campaign(world, name="Empty")
    raters = Rater.objects.count()
    name = world.benchmark.pseudonym(rater_of(world.nour).pk)
    job = import_answers(again, rows_of(world, {**MODEL, "rater": name, "about": ABOUT}, MODEL), "a.jsonl")
    assert outcomes(job) == {1: ("error", "is_a_person"), 2: ("created", "")}
    words = job.rows.get(number=1).message
    assert words.startswith(f"“{name}” is the pseudonym of a person here") and "Write the model's name." in words
    assert Annotation.objects.get(assignment__campaign=again).rater.name == "LLaVA-1.5"
    assert Rater.objects.count() == raters and not Rater.objects.filter(kind="person").exclude(about={}).exists()


def test_decisions_name_the_model_that_they_are_about(world: World, campaign: Campaign) -> None:
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_review")
    for one in Annotation.objects.filter(rater__kind="model"):  # decided on before models were left out of reviews
        Review.objects.create(annotation=one, reviewer=world.reviewer, decision="accept", at=NOON)
    lines = download_files(world.client(world.mara), world)["reviews.jsonl"].splitlines()
    assert [json.loads(line)["author"] for line in lines] == ["LLaVA-1.5"] * 2


def test_the_codebook_says_so(world: World, campaign: Campaign) -> None:
    book = json.loads(download_files(world.client(world.mara), world)["codebook.json"])
    columns = {one["name"]: one for one in book["columns"]}
    assert "a model's name" in columns["rater"]["meaning"] and columns["rater"]["type"] == "text"
    assert columns["model_info"]["meaning"].startswith("What is known of a model")
