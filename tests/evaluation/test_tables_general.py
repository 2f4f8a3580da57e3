"""The tables of a benchmark that was made from no paper: in every form, and what each lacks."""

import json
from dataclasses import replace
from typing import Any

import pytest
from django.http import QueryDict

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Benchmark, Item
from evaluation.reports.agreement import agreement
from evaluation.reports.judge_report import judge_report
from evaluation.reports.models_report import models_report
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import select
from evaluation.tables.general import GENERAL_TABLES
from evaluation.tables.registry import tables_of
from tests.chains.link_client import text_of
from tests.evaluation.data import NOON, an_open_campaign, table
from tests.evaluation.output_forms import table_forms
from tests.evaluation.sample_tables import model, store_answers
from tests.evaluation.test_measures import TEXT, with_sheet
from tests.module_world import built_once
from tests.personas import World, make_items

pytestmark = pytest.mark.django_db
KEYS = [spec.key for spec in GENERAL_TABLES]


@built_once
def composed(world: World) -> Benchmark:
    """A benchmark of no paper, with ratings by people of two cohorts and by two models."""
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="")
    world.benchmark.recipe = ""
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, world.items, {world.nour: "12345123", world.tarek: "12354124"})
    table(campaign, world.brazil, world.items, {world.bia: "54321543"})
    near, far = model(world.team, "Near"), model(world.team, "Far", "main")
    store_answers(campaign, near, {(item, "Egypt"): code for item, code in zip(world.items, "12345123", strict=True)})
    store_answers(campaign, far, {(item, "Egypt"): code for item, code in zip(world.items, "55115511", strict=True)})
    return world.benchmark


def cell(data: dict[str, Any], label: str, column: str) -> dict[str, Any]:
    row = next(row for row in data["rows"] if row["label"] == label)
    return dict(zip(data["columns"], row["cells"], strict=True))[column]  # type: ignore[no-any-return]


def forms_of(world: World, key: str) -> dict[str, Any]:
    forms = table_forms(world.client(world.mara), world.benchmark.slug, key)
    return {**forms, "data": json.loads(forms["json"])}


@pytest.mark.parametrize("key", KEYS)
def test_each_is_rendered_on_its_page_and_in_every_file(world: World, composed: Benchmark, key: str) -> None:
    forms = forms_of(world, key)
    assert {"page", "csv", "json", "tex"} <= set(forms) and forms["data"]["rows"]
    assert "tabular" in forms["tex"] and forms["csv"].count("\n") >= 2
    listed = world.client(world.mara).get(f"/b/{composed.slug}/tables/").content.decode()
    assert f"/b/{composed.slug}/tables/{key}/" in listed and "No data yet" not in listed


def test_the_numbers_are_those_of_the_reports(world: World, composed: Benchmark) -> None:
    catalogue = catalogue_of(composed)
    people = select(catalogue, QueryDict(""))
    expected = {row.cohort.label: row.estimates[0] for row in agreement(catalogue, people, NOON).questions}
    questions = forms_of(world, "all-questions")["data"]
    for label in ("Egypt", "Brazil"):
        shown = cell(questions, questions["rows"][0]["label"], label)["estimate"]
        assert (shown["value"], shown["low"], shown["reason"]) == (
            expected[label].value, expected[label].low, expected[label].reason,
        )  # fmt: skip
    assert expected["Brazil"].reason == "too_few_raters"
    everybody = replace(people, raters=("person", "model"))
    report = models_report(catalogue, everybody, {}, NOON)
    models = forms_of(world, "models-people")["data"]
    for line in report.lines:
        name = f"{line.rater.name} ({line.rater.setting})" if line.rater.setting else line.rater.name
        assert cell(models, name, "All cohorts")["estimate"]["value"] == line.overall.value
    ranking = forms_of(world, "ranking")["data"]
    assert ranking["rows"][0]["label"] == "Near"
    near = next(line for line in report.lines if line.rater.name == "Near")
    judge = judge_report(catalogue, everybody, [str(near.rater.pk)], NOON).lines
    judges = forms_of(world, "judges-people")["data"]
    for row in judge:
        shown = cell(judges, f"Near, {row.cohort.label}", "Judge with the others")["estimate"]
        assert (shown["value"], shown["reason"]) == (row.standing.judge.value, row.standing.judge.reason)


def test_ranking_of_a_judging_stage_has_the_authors_of_the_answers_and_not_the_judges(
    world: World, composed: Benchmark
) -> None:
    """Wren and Heron wrote every second answer each, and Near and Far judged all of them, as three people did."""
    composed.stages.update(derivation={"kind": "verdicts", "from": ["reply"], "params": {"field": "answer"}})
    for number, item in enumerate(world.items):
        author = {"candidate_by": "Heron" if number % 2 else "Wren", "setting": "", "candidate": "x"}
        Item.objects.filter(pk=item.pk).update(context=author)
    people = ("12345123", "12354124", "54321543")
    ratings = {
        name: [int(code) for codes in people for code in codes[start::2]] for name, start in (("Wren", 0), ("Heron", 1))
    }
    data = forms_of(world, "ranking")["data"]
    [group] = {row["group"] for row in data["rows"]}
    assert group.endswith("(authors of judged answers, mean of people's ratings)")
    rows = {row["label"]: [one["estimate"] for one in row["cells"][:2]] for row in data["rows"]}
    assert {*rows} == {"Heron", "Wren"}, "the judges have a table of their own"
    for name, codes in ratings.items():
        place, mean = rows[name]
        assert mean["value"] == pytest.approx(sum(codes) / len(codes))
        assert place["value"] == 1 + sum(sum(other) > sum(codes) for other in ratings.values())
        assert (mean["n_units"], mean["n_raters"], mean["n_ratings"]) == (4, 3, 12)
    assert any("Judges against people" in words for words in data["words"])
    judges = {row["label"].partition(",")[0] for row in forms_of(world, "judges-people")["data"]["rows"]}
    assert judges == {"Near", "Far (main)"}


def test_cohorts_that_are_asked_the_same_have_a_column_together(world: World, composed: Benchmark) -> None:
    composed.stages.update(has_target=False)
    questions = forms_of(world, "all-questions")["data"]
    catalogue = catalogue_of(composed)
    [report] = agreement(catalogue, select(catalogue, QueryDict("")), NOON).questions[:1]
    assert (report.cohort.label, questions["columns"][0]) == ("All cohorts", "All cohorts")
    shown = cell(questions, questions["rows"][0]["label"], "All cohorts")["estimate"]
    assert shown["value"] == report.estimates[0].value is not None


def test_every_cell_of_agreement_has_a_value_or_a_reason(world: World, composed: Benchmark) -> None:
    """A stage about cultures, one that asks all cohorts the same, and one that asks a single cohort."""
    first = world.stage
    both, egyptian = (
        composed.stages.create(
            key=key, name=key, position=place, display=first.display, sheet=first.sheet, has_target=False
        )
        for place, key in enumerate(("both", "egyptian"), start=1)
    )
    make_items(both, 4)
    make_items(egyptian, 4)
    for stage, cohorts in ((both, (world.egypt, world.brazil)), (egyptian, (world.egypt,))):
        campaign = lifecycle.create(stage, "Round 1", world.owner, dict.fromkeys(cohorts, 2))
        lifecycle.open_campaign(campaign, world.owner, NOON)
        table(campaign, world.egypt, list(stage.items.all()), {world.nour: "1234", world.tarek: "1243"})
    data = forms_of(world, "all-questions")["data"]
    cells = {row["group"].partition(":")[0]: row["cells"] for row in data["rows"]}
    assert data["columns"][0] == "All cohorts" and len(cells) == 3
    for row in cells.values():
        assert not any(each["empty"] for each in row)
        assert all(each["estimate"]["value"] is not None or each["estimate"]["reason"] for each in row)
    by_stage = {name: dict(zip(data["columns"], row, strict=True)) for name, row in cells.items()}
    own = select(catalogue_of(composed), QueryDict(f"stage={first.key}&by=all"), every_question=True)
    pooled = agreement(catalogue_of(composed), own, NOON).questions[0]
    shown = by_stage[first.name]["All cohorts"]["estimate"]
    assert pooled.cohort.label == "All cohorts" and shown["value"] == pooled.estimates[0].value is not None
    alone = by_stage["egyptian"]
    assert alone["All cohorts"]["estimate"] == alone["Egypt"]["estimate"] and alone["Egypt"]["estimate"]["value"]
    assert alone["Brazil"]["estimate"]["reason"] == "cohort_not_asked"
    page = text_of(world.client(world.mara).get(f"/b/{composed.slug}/tables/all-questions/").content.decode())
    assert (
        "The stage does not ask this cohort, or the cohort is not chosen." in page and "not in this table" not in page
    )


def test_the_pace_is_of_people_who_count(world: World, composed: Benchmark) -> None:
    """Every answer of `give` took 8.5 active seconds; models have none."""
    pace = forms_of(world, "pace")["data"]
    egypt = cell(pace, "Egypt", "Median time per answer (s)")["estimate"]
    assert (egypt["value"], egypt["n_units"], egypt["n_raters"], egypt["interval_reason"]) == (8.5, 16, 2, "not_smooth")
    assert cell(pace, "Brazil", "Timed answers")["shown"] == "8"


def test_an_empty_benchmark_says_what_each_table_lacks(world: World) -> None:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="")
    client = world.client(world.mara)
    listed = client.get(f"/b/{world.benchmark.slug}/tables/").content.decode()
    assert listed.count("No data yet") == len(KEYS)
    for key in KEYS:
        reply = client.get(f"/b/{world.benchmark.slug}/tables/{key}.json")
        assert reply.status_code == 409 and "campaign" in reply.json()["error"]
    assert client.get(f"/b/{world.benchmark.slug}/tables/pace/").status_code == 200
    assert world.client(world.stranger).get(f"/b/{world.benchmark.slug}/tables/pace/").status_code == 404


def test_a_benchmark_of_a_paper_has_the_papers_tables(world: World, composed: Benchmark) -> None:
    composed.recipe = "culturalvqa"
    assert not {spec.key for spec in tables_of(composed)} & {"all-questions", "pace"}


def test_people_without_models_lack_only_what_needs_models(world: World) -> None:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="")
    world.add_items(2)
    campaign: Campaign = an_open_campaign(world)
    table(campaign, world.egypt, world.items, {world.nour: "12", world.tarek: "13"})
    client = world.client(world.mara)
    status = {key: client.get(f"/b/{world.benchmark.slug}/tables/{key}.json").status_code for key in KEYS}
    assert status == {"all-questions": 200, "pace": 200, "models-people": 409, "ranking": 409, "judges-people": 409}


def test_list_says_that_tables_of_models_and_people_lack_people(world: World) -> None:
    """Models have answered, and nobody else: the page of the table has no row."""
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="")
    world.add_items(2)
    near = model(world.team, "Near")
    store_answers(an_open_campaign(world), near, {(item, "Egypt"): "1" for item in world.items})
    listed = world.client(world.mara).get(f"/b/{world.benchmark.slug}/tables/").content.decode()
    assert listed.count("No question has answers of people and of a model yet.") == 3


def test_a_sheet_may_begin_with_a_question_that_nobody_answered(world: World) -> None:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="")
    campaign = with_sheet(world, TEXT, *world.stage.sheet["fields"])
    table(campaign, world.egypt, world.items, {world.nour: "12345123", world.tarek: "12354124"})
    questions = forms_of(world, "all-questions")["data"]
    [alpha] = [row for row in questions["rows"] if row["label"] == "Alpha, ordinal"]
    assert cell(questions, alpha["label"], "Egypt")["estimate"]["n_raters"] == 2
    pace = forms_of(world, "pace")["data"]
    assert cell(pace, "Egypt", "Timed answers")["shown"] == "16"
