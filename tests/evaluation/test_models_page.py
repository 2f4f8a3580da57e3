"""The models page: each model beside the people, who may see it, and that page, JSON and CSV say the same."""

import csv
import io
import re
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from scipy import stats

from annotation.models import Campaign, SheetVersion
from evaluation.metrics import model_ranks
from evaluation.reports import board_models, models_report
from evaluation.tasks import renew_board
from tests.chains.link_client import text_of
from tests.evaluation import simulated_study
from tests.evaluation.data import an_open_campaign
from tests.evaluation.simulation import Study, StudyDesign, draw
from tests.personas import World, make_items

SMALL = StudyDesign(images=40, cohorts=4, raters=5)


@pytest.fixture
def study() -> Study:
    return draw(SMALL, np.random.default_rng(1))


@pytest.fixture
def campaign(world: World, study: Study) -> Campaign:
    new_campaign = simulated_study.make_benchmark(study, world.team, world.mara)
    job = simulated_study.import_ratings(new_campaign, world.mara, simulated_study.long_file(study))
    assert job.state == "done"
    return new_campaign


def numbers(world: World, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = world.client(world.mara).get(f"/b/simulated-caire/models.json?{query}").json()
    return found


def mean_of(study: Study, cohort: int) -> Any:
    """(images,) by a plain loop."""
    mine = study.cohort == cohort
    return [study.value[mine & (study.image == image)].mean() for image in range(study.recipe.images)]


def test_each_model_is_compared_with_the_means_of_people(world: World, campaign: Campaign, study: Study) -> None:
    report = numbers(world)
    assert [one["model"] for one in report["models"]] == ["Guessing", "Keen", "Middling"]
    assert report["n_units"] == 160
    for model_row, place in zip(report["models"], (2, 0, 1), strict=True):
        assert (model_row["setting"], model_row["answered"]["value"]) == ("main", 1)
        for cohort, label in enumerate(("Brazil", "China", "Egypt", "Germany")):
            rho = stats.spearmanr(study.scores[place][:, cohort], mean_of(study, cohort))[0]
            assert model_row["by_cohort"][label]["value"] == pytest.approx(rho)
            assert model_row["by_cohort"][label]["low"] < rho < model_row["by_cohort"][label]["high"]
        means = np.column_stack([mean_of(study, cohort) for cohort in range(4)])
        assert model_row["overall"]["value"] == pytest.approx(
            stats.spearmanr(study.scores[place].ravel(), means.ravel())[0]
        )
        rows = [stats.pearsonr(scores, row)[0] for scores, row in zip(study.scores[place], means, strict=True)
                if np.ptp(scores) and np.ptp(row)]  # fmt: skip
        assert model_row["image_wise"]["value"] == pytest.approx(np.mean(rows))


def test_overview_shows_the_best_model_once_a_worker_has_compared_them(world: World, campaign: Campaign) -> None:
    def overview() -> str:
        return text_of(world.client(world.mara).get("/b/simulated-caire/").content.decode())

    assert "Best of" not in overview(), "nothing is computed while the page waits"
    assert board_models.load_best(campaign.stage.benchmark) is None
    renew_board(campaign.stage.benchmark_id)
    [best] = [row for row in numbers(world)["models"] if row["model"] == "Keen"]
    value, low, high = (f"{best['overall'][key]:.2f}" for key in ("value", "low", "high"))
    assert f"Best of 3 models {value} [{low}, {high}] n = 160 ×" in overview()
    assert re.search(r"Keen\b[^.]* Rank 1 of 3 [^.]*: Spearman with the mean of people", overview())
    assert world.client(world.stranger).get("/b/simulated-caire/").status_code == 404


def test_no_best_model_where_no_model_answered(world: World) -> None:
    world.add_items(2)
    an_open_campaign(world)
    assert board_models.compute(world.benchmark, timezone.now()) == {}
    renew_board(world.benchmark.pk)
    assert board_models.load_best(world.benchmark) is None
    assert "Best of" not in world.client(world.mara).get(f"/b/{world.benchmark.slug}/").content.decode()


def test_no_best_model_by_another_question_than_the_first(world: World, campaign: Campaign) -> None:
    """Whether people are sure of an answer in words does not say which model answers best."""
    benchmark, at = campaign.stage.benchmark, timezone.now()
    assert board_models.compute(benchmark, at)["name"] == "Keen"
    words = {"key": "answer", "kind": "text", "version": 1, "label": {"en": "Your answer"}, "config": {}}
    old = campaign.sheet_version  # another version, for a sheet is kept by its number
    definition = old.definition | {"fields": [words, *old.definition["fields"]]}
    version = SheetVersion.objects.create(
        stage=campaign.stage, major=old.major, minor=old.minor + 1, definition=definition
    )
    Campaign.objects.filter(pk=campaign.pk).update(sheet_version=version)
    assert board_models.compute(benchmark, at) == {}


def test_places_are_bands_that_the_data_bear_out(world: World, campaign: Campaign) -> None:
    places = {one["model"]: one["place"] for one in numbers(world)["models"]}
    assert places["Keen"] == {"best": 1, "worst": 1}
    assert places["Guessing"]["worst"] == 3 > places["Keen"]["worst"]


def test_page_json_and_csv_say_the_same(world: World, campaign: Campaign) -> None:
    report = numbers(world, "statistic=pearson")
    page = world.client(world.mara).get("/b/simulated-caire/models/?statistic=pearson").content.decode()
    file = world.client(world.mara).get("/b/simulated-caire/models.csv?statistic=pearson").content.decode()
    rows = list(csv.DictReader(io.StringIO(file.lstrip("\ufeff"))))
    for model_row in report["models"]:
        value = model_row["by_cohort"]["Egypt"]["value"]
        [row] = [r for r in rows if (r["model"], r["number"], r["cohort"]) == (model_row["model"], "pearson", "Egypt")]
        assert float(row["value"]) == value
        assert f"{value:.2f}".replace("-", "\u2212") in page
        assert f"{model_row['overall']['value']:.2f}" in page
    assert "Pearson treats the steps of the scale as equally wide" in page
    assert len(rows) == 3 * (3 + 4)


def test_a_filter_narrows_both_sides(world: World, campaign: Campaign, study: Study) -> None:
    egypt = campaign.cohorts.get(cohort__label="Egypt").cohort_id
    found = numbers(world, f"cohort={egypt}&condition=natural&interval=none")
    assert found["n_units"] == 20
    [keen] = [one for one in found["models"] if one["model"] == "Keen"]
    assert (keen["image_wise"], list(keen["by_cohort"])) == (None, ["Egypt"])
    rho = stats.spearmanr(study.scores[0][:20, 2], mean_of(study, 2)[:20])[0]
    assert keen["overall"]["value"] == pytest.approx(rho)
    assert keen["overall"]["interval_reason"] == "not_asked"


def test_one_rater_gives_no_interval_and_a_constant_model_no_value(world: World, study: Study) -> None:
    """Only one person of one country, and a model that says 3 to everything."""
    new_campaign = simulated_study.make_benchmark(study, world.team, world.mara)
    rows = simulated_study.long_file(study).decode().splitlines()
    kept = [rows[0], *(row for row in rows[1:] if ",Brazil 0," in row or ",Keen," in row)]
    kept += [row.replace(",Keen,", ",Flat,")[:-1] + "3" for row in kept if ",Keen," in row]
    assert simulated_study.import_ratings(new_campaign, world.mara, "\n".join(kept).encode()).state == "done"
    rows_by_model = {one["model"]: one for one in numbers(world)["models"]}
    assert rows_by_model["Keen"]["by_cohort"]["Brazil"]["interval_reason"] == "too_few_raters_for_interval"
    assert rows_by_model["Keen"]["by_cohort"]["China"]["reason"] == "no_ratings"
    assert (rows_by_model["Flat"]["overall"]["value"], rows_by_model["Flat"]["overall"]["reason"]) == (
        None,
        "constant_side",
    )
    assert (rows_by_model["Keen"]["place"], rows_by_model["Flat"]["place"]) == ({"best": 1, "worst": 1}, None)
    page = world.client(world.mara).get("/b/simulated-caire/models/").content.decode()
    assert "No value:" in page
    assert "No interval: fewer than 3 raters" in page


@pytest.mark.parametrize("name", ["models", "judge"])
def test_the_question_is_named_where_it_is_the_only_one(world: World, campaign: Campaign, name: str) -> None:
    page = world.client(world.mara).get(f"/b/simulated-caire/{name}/").content.decode()
    assert 'name="field"' not in page, "there is nothing to choose"
    assert re.search(r'<(h2|p class="headline") dir="auto">How much does this picture have to do with …\?</', page)


def test_without_a_model_the_page_says_what_to_do(world: World) -> None:
    empty = world.client(world.mara).get("/b/sea-and-river/models/").content.decode()
    assert "No model has answered yet. Run a model on a campaign, or import its answers." in empty
    world.add_items(2)
    opened = an_open_campaign(world)
    page = world.client(world.mara).get("/b/sea-and-river/models/").content.decode()
    assert "No model has answered yet. Run a model on a campaign, or import its answers." in page
    assert f"/b/sea-and-river/campaigns/{opened.pk}/answers/import/" in page
    assert world.client(world.mara).get("/b/sea-and-river/models.json").json()["models"] == []


def test_without_a_model_the_page_names_the_stage_among_several(world: World) -> None:
    """The board may count answers of models to another stage, so "no model has answered" would not be true."""
    world.add_items(2)
    an_open_campaign(world)
    first = world.stage
    shown = {"display": first.display, "layout": first.layout, "sheet": first.sheet}
    stage = world.benchmark.stages.create(key="next", name="Next", position=9, **shown)
    make_items(stage, 2)
    an_open_campaign(world, stage=stage)
    for key, name in ((first.key, first.name), ("next", "Next")):
        page = text_of(world.client(world.mara).get(f"/b/sea-and-river/models/?stage={key}").content.decode())
        assert f"No model has answered the stage “{name}” yet. Run a model on a campaign" in page


def test_invalid_selection_is_reported(world: World, campaign: Campaign) -> None:
    page = world.client(world.mara).get("/b/simulated-caire/models/?cohort=0")
    assert (page.status_code, "is not a value of" in page.content.decode()) == (400, True)


@pytest.mark.parametrize("name", ["models/", "models.json", "models.csv", "judge/", "judge.json", "judge.csv"])
def test_it_is_for_those_who_may_read_the_agreement(world: World, campaign: Campaign, name: str) -> None:
    def status(user: Any) -> int:
        return world.client(user).get(f"/b/simulated-caire/{name}").status_code

    assert [status(who) for who in (world.mara, world.team_admin)] == [200, 200]
    assert [status(who) for who in (world.nour, world.manager, world.stranger, world.rival)] == [404] * 4
    assert status(None) == 302


def test_too_many_models_and_ratings_go_without_intervals_then_not_at_all(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3 models times some 2,000 ratings by people."""
    whole = numbers(world)
    monkeypatch.setattr(models_report, "MOST_WITH_INTERVALS", 1000)
    bare = numbers(world)
    assert any("Without intervals" in note for note in bare["words"])
    assert not any("Without intervals" in note for note in whole["words"])
    for one, other in zip(whole["models"], bare["models"], strict=True):
        assert other["overall"]["value"] == pytest.approx(one["overall"]["value"], abs=1e-12)
        assert (other["overall"]["low"], other["overall"]["interval_reason"]) == (None, "not_asked")
    monkeypatch.setattr(models_report, "MOST", 1000)
    answer = world.client(world.mara).get("/b/simulated-caire/models/")
    assert answer.status_code == 400
    assert "Choose one campaign" in answer.content.decode()
    assert world.client(world.mara).get("/b/simulated-caire/models.csv").status_code == 400


def test_models_too_many_to_test_have_no_place_and_the_page_says_so(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_ranks, "MOST", 2)
    found = numbers(world)
    assert [one["place"] for one in found["models"]] == [None] * 3
    assert any("3 models are too many" in note for note in found["words"])
