"""The judge page: a model as one more annotator, and that page, JSON and CSV say the same."""

import csv
import io
import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

from annotation.models import Campaign
from evaluation.metrics.alpha import alpha
from evaluation.metrics.counts import Ratings
from people.models import Cohort, Rater
from tests.evaluation import simulated_study
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.evaluation.simulation import Study, StudyDesign, draw
from tests.personas import World

SMALL = StudyDesign(images=40, cohorts=3, raters=5, missing=0)


@pytest.fixture
def study() -> Study:
    return draw(SMALL, np.random.default_rng(2))


@pytest.fixture
def campaign(world: World, study: Study) -> Campaign:
    new_campaign = simulated_study.make_benchmark(study, world.team, world.mara)
    rows = simulated_study.long_file(study).decode().splitlines()
    gone = [row for row in rows if ",Middling," in row and row < "item-00010"]  # what could not be read
    assert (
        simulated_study.import_ratings(
            new_campaign, world.mara, "\n".join(r for r in rows if r not in gone).encode()
        ).state
        == "done"
    )
    return new_campaign


def judged_by(world: World, name: str, form: str = "json") -> Any:
    judge = Rater.objects.get(name=name).pk
    return world.client(world.mara).get(f"/b/simulated-caire/judge.{form}?judge={judge}")


def table(study: Study, cohort: int) -> np.ndarray:
    """(images, raters), full."""
    return study.of_cohort(cohort).to_matrix()


def test_alpha_without_and_with_the_judge(world: World, campaign: Campaign, study: Study) -> None:
    report = judged_by(world, "Keen").json()
    for cohort, label in enumerate(("Brazil", "China", "Egypt")):
        people = table(study, cohort)
        both = np.column_stack([people, study.scores[0][:, cohort]])
        line = report["cohorts"][label]
        assert line["alpha_people"]["value"] == pytest.approx(alpha(Ratings.from_matrix(people), "ordinal").value)
        assert line["alpha_with_judge"]["value"] == pytest.approx(alpha(Ratings.from_matrix(both), "ordinal").value)
        assert line["alpha_people"]["low"] < line["alpha_people"]["value"] < line["alpha_people"]["high"]


def test_the_judge_stands_among_the_people(world: World, campaign: Campaign, study: Study) -> None:
    line = judged_by(world, "Keen").json()["cohorts"]["China"]
    people = table(study, 1)
    rest = [stats.spearmanr(people[:, j], np.delete(people, j, 1).mean(axis=1))[0] for j in range(5)]
    assert sorted(one["value"] for one in line["people"]) == pytest.approx(sorted(rest))
    assert line["ceiling"]["value"] == pytest.approx(np.mean(rest))
    keen = study.scores[0][:, 1]
    assert line["judge_with_the_rest"]["n_raters"] == 5 + 1
    assert line["judge_with_the_rest"]["value"] == pytest.approx(stats.spearmanr(keen, people.mean(axis=1))[0])
    better = [stats.spearmanr(keen, np.delete(people, j, 1).mean(axis=1))[0] >= rest[j] for j in range(5)]
    assert line["at_least_as_good"]["value"] == pytest.approx(np.mean(better))


def test_what_the_judge_did_not_answer_is_counted_apart(world: World, campaign: Campaign) -> None:
    """Whether it was asked is not known, so nothing is made of it."""
    line = judged_by(world, "Middling").json()["cohorts"]["Egypt"]
    assert line["n_unanswered"] == 10
    assert "10 items that people rated have no answer of the judge." in page(world, "Middling")
    assert judged_by(world, "Keen").json()["cohorts"]["Egypt"]["n_unanswered"] == 0
    assert "no answer of the judge" not in page(world, "Keen", "&cohort=" + cohort_of(world, "Egypt"))


def cohort_of(world: World, label: str) -> str:
    return str(Cohort.objects.get(team=world.team, label=label).pk)


@pytest.mark.parametrize(
    "name", ["judge/?judge=99999", "judge.json?judge=x", "models/?truth=zz", "models.csv?statistic=z"]
)
def test_what_is_not_there_is_refused_and_not_replaced(world: World, campaign: Campaign, name: str) -> None:
    reply = world.client(world.mara).get(f"/b/simulated-caire/{name}")
    assert reply.status_code == 400
    assert "is not a value of" in reply.content.decode()


def test_people_who_never_vary_have_no_ceiling_for_that_reason(world: World) -> None:
    world.add_items(5)
    campaign = an_open_campaign(world)
    for user in (world.nour, world.tarek):
        give_ratings(campaign, world.egypt, user, dict.fromkeys(world.items, "3"))
    fields = {"rater": "heron", "rater_kind": "model", "target": "Egypt", "field": "relevance"}
    rows = [
        json.dumps({**fields, "item": one.key, "code": code}) for one, code in zip(world.items, "12345", strict=True)
    ]
    simulated_study.import_ratings(campaign, world.mara, "\n".join(rows).encode(), "heron.jsonl")
    line = world.client(world.mara).get("/b/sea-and-river/judge.json").json()["cohorts"]["Egypt"]
    assert line["ceiling"]["reason"] == "constant_ratings"


@pytest.mark.parametrize("kind", ["rating", "choice"])
def test_people_who_rated_different_items_have_no_ceiling_since_a_second_person_lacks(world: World, kind: str) -> None:
    if kind == "choice":
        stage = world.stage
        options = [{"code": code, "label": {"en": f"Kind {code}"}} for code in "12345"]
        stage.sheet["fields"][0] |= {"kind": "choice", "config": {"options": options}}
        stage.save()
    world.add_items(6)
    campaign = an_open_campaign(world, cohorts=[world.egypt])
    give_ratings(campaign, world.egypt, world.nour, dict(zip(world.items[:3], "123", strict=True)))
    give_ratings(campaign, world.egypt, world.tarek, dict(zip(world.items[3:], "345", strict=True)))
    fields = {"rater": "heron", "rater_kind": "model", "target": "Egypt", "field": "relevance"}
    rows = [json.dumps({**fields, "item": one.key, "code": "3"}) for one in world.items]
    simulated_study.import_ratings(campaign, world.mara, "\n".join(rows).encode(), "heron.jsonl")
    mara = world.client(world.mara)
    line = mara.get("/b/sea-and-river/judge.json").json()["cohorts"]["Egypt"]
    assert line["ceiling"]["reason"] == line["alpha_people"]["reason"] == "no_pairable_units"
    page = mara.get("/b/sea-and-river/judge/").content.decode()
    assert "No picture or text has been rated by two people yet." in page
    assert "rated no item in common" not in page


def page(world: World, name: str, more: str = "") -> str:
    judge = Rater.objects.get(name=name).pk
    text: str = world.client(world.mara).get(f"/b/simulated-caire/judge/?judge={judge}{more}").content.decode()
    return text


def test_several_judges_err_together_or_apart(world: World, campaign: Campaign, study: Study) -> None:
    panel = judged_by(world, "Keen").json()["panel"]
    ratings = np.concatenate([table(study, cohort) for cohort in range(3)])  # things x people, a cohort's own
    errors = study.scores.transpose(0, 2, 1).reshape(3, -1) - ratings.mean(axis=1)
    read = np.tile(np.arange(40) >= 10, 3)
    noise = ratings.var(axis=1, ddof=1).mean() / ratings.shape[1]
    pairs = ((0, 1, read), (0, 2, slice(None)), (1, 2, read))
    shared = np.mean([np.cov(errors[a][rows], errors[b][rows])[0, 1] for a, b, rows in pairs])
    own = np.mean([errors[0].var(ddof=1), errors[1][read].var(ddof=1), errors[2].var(ddof=1)])
    expected = (shared - noise) / (own - noise)
    assert panel["error_correlation"]["value"] == pytest.approx(expected)
    assert panel["error_correlation"]["extras"]["r_uncorrected"] == pytest.approx(shared / own)
    assert panel["error_correlation"]["resampled"] == "units and raters"
    assert panel["effective_judges"]["value"] == pytest.approx(3 / (1 + 2 * expected))
    shown = page(world, "Keen")
    assert f"{shared / own:.2f} without the correction".replace("-", "\u2212") in shown
    assert "All errors share the noise of that mean." in shown


def test_page_json_and_csv_say_the_same(world: World, campaign: Campaign) -> None:
    report, shown = judged_by(world, "Keen").json(), page(world, "Keen")
    assert report["judge"] == {"model": "Keen", "setting": "main"}
    rows = list(csv.DictReader(io.StringIO(judged_by(world, "Keen", "csv").content.decode().lstrip("\ufeff"))))
    for name in ("alpha_people", "alpha_with_judge", "judge_with_the_rest", "ceiling", "kappa"):
        value = report["cohorts"]["Egypt"][name]["value"]
        [row] = [one for one in rows if (one["cohort"], one["number"]) == ("Egypt", name)]
        assert float(row["value"]) == value
        assert f"{value:.2f}".replace("-", "\u2212") in shown
    assert [one["judge"] for one in rows if one["number"] == "effective_judges"] == [""]


def test_one_person_leaves_values_undefined_with_reasons(world: World, study: Study) -> None:
    new_campaign = simulated_study.make_benchmark(study, world.team, world.mara)
    rows = simulated_study.long_file(study).decode().splitlines()
    kept = [rows[0], *(row for row in rows[1:] if ",Brazil 0," in row or ",Keen," in row)]
    assert simulated_study.import_ratings(new_campaign, world.mara, "\n".join(kept).encode()).state == "done"
    report = judged_by(world, "Keen").json()
    line = report["cohorts"]["Brazil"]
    assert (line["alpha_people"]["reason"], line["alpha_people"]["n_raters"]) == ("too_few_raters", 1)
    assert line["alpha_with_judge"]["value"] is not None
    assert line["ceiling"]["reason"] == "too_few_raters"
    assert report["cohorts"]["China"]["judge_with_the_rest"]["value"] is None
    assert report["panel"] == {}
    text = page(world, "Keen")
    assert "No value:" in text
    assert "Several judges" not in text


def test_judge_errors_with_one_person_cannot_be_corrected(world: World, study: Study) -> None:
    """The uncorrected correlation stands nowhere in the place of the corrected one."""
    new_campaign = simulated_study.make_benchmark(study, world.team, world.mara)
    rows = simulated_study.long_file(study).decode().splitlines()
    several = (",Brazil 0,", ",Keen,", ",Middling,")
    kept = [rows[0], *(row for row in rows[1:] if any(name in row for name in several))]
    assert simulated_study.import_ratings(new_campaign, world.mara, "\n".join(kept).encode()).state == "done"
    panel = judged_by(world, "Keen").json()["panel"]
    assert {one["reason"] for one in panel.values()} == {"no_pairable_units"}
    assert {one["value"] for one in panel.values()} == {None}
    assert "no correction possible." in page(world, "Keen")


def test_without_a_model_the_page_says_what_to_do(world: World) -> None:
    client = world.client(world.mara)
    assert "so there is no judge. Import predictions." in client.get("/b/sea-and-river/judge/").content.decode()
    world.add_items(2)
    an_open_campaign(world)
    assert "so there is no judge. Import predictions." in client.get("/b/sea-and-river/judge/").content.decode()
    assert client.get("/b/sea-and-river/judge.json").json()["judge"] is None
