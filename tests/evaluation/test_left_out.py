"""What has no value is said beside every number: how many, why, between which ends; and how answers were come by."""

import json
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from scipy import stats

from annotation.fields.contract import Shown
from annotation.models import Campaign, Rating, Unit
from annotation.services import machine_answers
from annotation.services.machine_answers import Answer, Desk
from annotation.services.sheet_versions import sheet_of
from evaluation.metrics.agreement import alpha
from evaluation.metrics.counts import Ratings
from people.models import Rater
from predictions.models import Call
from predictions.services import answer_runs
from tests.evaluation.data import an_open_campaign, give
from tests.evaluation.test_measures import CHOICE, with_sheet
from tests.evaluation.test_people_page import NOMINAL
from tests.personas import World
from tests.predictions.elsewhere import bring, jsonl, kept, lm_eval, run_of

PEOPLE = {"nour": "1223412345", "tarek": "1123422345", "third": "1223412355"}
SAID = ["1", "2", "2", "no idea", "4", "9", "", "3", "4", "1"]
SCORED = [[-1.0, False]] * 4 + [[-0.1, True]]


def world_with(world: World, campaign: Campaign) -> Campaign:
    third = world.add_annotators(world.egypt, 1)[0]
    for user, codes in zip((world.nour, world.tarek, third), PEOPLE.values(), strict=True):
        give(campaign, world.egypt, user, dict(zip(world.items, codes, strict=True)))
    return campaign


@pytest.fixture
def campaign(world: World) -> Campaign:
    world.add_items(10)
    return world_with(world, an_open_campaign(world))


def asked(world: World, campaign: Campaign, said: list[Any], name: str = "tiny") -> Any:
    rows = [lm_eval({"id": item.key, "country": "Egypt"}, reply) for item, reply in zip(world.items, said, strict=True)]
    rows = [
        {**row, "filtered_resps": reply, "resps": [reply]} if isinstance(reply, list) else row
        for row, reply in zip(rows, said, strict=True)
    ]
    return run_of(bring(world, campaign, kept(jsonl(rows)), model=name, target="doc.country"))


def read(world: World, rest: str) -> Any:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/{rest}cohort={world.egypt.pk}")
    assert reply.status_code == 200, reply.content.decode()[-800:]
    return json.loads(reply.content) if ".json" in rest else reply.content.decode()


def test_a_model_says_what_was_left_out_and_why(world: World, campaign: Campaign) -> None:
    asked(world, campaign, SAID)
    [line] = read(world, "models.json?")["models"]
    states = {"unparseable": 1, "out_of_range": 1, "no_response": 1}
    assert line["left_out"] == {"n": 3, "states": states, "worst": None, "best": None}
    assert line["answered"]["value"] == 0.7 and line["overall"]["n_units"] == 7
    page = read(world, "models/?")
    assert "Left out 3: not readable 1, outside the scale 1, no response 1." in page
    assert "all wrong or all right" not in page, "a correlation has no such ends"
    assert "Left out 3:" in read(world, "judge/?")


def test_an_accuracy_lies_between_all_wrong_and_all_right(world: World) -> None:
    campaign = with_sheet(world, {**CHOICE, "key": "relevance", "config": NOMINAL})
    world.add_items(10 - len(world.items))
    campaign = world_with(world, campaign) if len(world.items) == 10 else campaign
    Rating.objects.update(value=None)
    codes = sorted({one["code"] for one in NOMINAL["options"]})
    asked(world, campaign, [one if one in codes or not one else "?" for one in SAID])
    [line] = read(world, "models.json?")["models"]
    n, value = line["overall"]["n_units"], line["overall"]["value"]
    gone = line["left_out"]["n"]
    assert gone >= 2 and line["left_out"]["worst"] == pytest.approx(n * value / (n + gone))
    assert line["left_out"]["best"] == pytest.approx((n * value + gone) / (n + gone))
    page = read(world, "models/?")
    worst, best = (f"{line['left_out'][end]:.2f}" for end in ("worst", "best"))
    assert f"it would lie between {worst} and {best}" in page
    assert f"it would lie between {worst} and {best}" in read(world, "judge/?")


def test_ways_of_asking_are_never_one_number_silently(world: World, campaign: Campaign) -> None:
    asked(world, campaign, [*SAID[:3], *[SCORED] * 7])
    words = "Its answers: 7 by log-probabilities of the codes, 3 from its words."
    for page in (read(world, "models/?"), read(world, "judge/?")):
        assert words in page and "different ways of asking are different measurements" in page
    assert read(world, "models.json?")["models"][0]["ways"] == {"text": 3, "logprobs": 7}
    assert read(world, "judge.json?")["ways"] == {"text": 3, "logprobs": 7}


def test_a_model_that_gave_nothing_readable_is_there(world: World, campaign: Campaign) -> None:
    asked(world, campaign, ["4"] * 10, name="fine")
    run = asked(world, campaign, ["prose"] * 10, name="mute")
    run.withdrawn_at = None  # a run of files without an answer makes room; a live one stands
    run.save()
    lines = {line["model"]: line for line in read(world, "models.json?")["models"]}
    assert lines["mute"]["overall"]["value"] is None and lines["mute"]["left_out"]["n"] == 10
    assert "Left out 10: not readable 10." in read(world, "models/?")


def test_a_withdrawn_run_left_nothing_out(world: World, campaign: Campaign) -> None:
    run = asked(world, campaign, SAID)
    answer_runs.withdraw(run, world.mara, timezone.now())
    assert read(world, "models.json?")["models"] == []
    answer_runs.bring_back(run, world.mara, timezone.now())
    [line] = read(world, "models.json?")["models"]
    assert line["left_out"]["n"] == 3 and line["overall"]["n_units"] == 7


def again(campaign: Campaign, name: str, table: list[str]) -> None:
    """What a model says each time: a word for each repeat, a letter for each item."""
    model = Rater.objects.get(kind="model", name=name)
    desk, now, sheet = Desk.of(campaign, model), timezone.now(), sheet_of(campaign.sheet_version)
    units = list(Unit.objects.filter(item__stage=campaign.stage, target="Egypt").order_by("item__key"))
    for repeat, codes in enumerate(table):
        some = [
            Answer(unit.pk, unit.item_id, repeat, f"run:{model.pk}:{unit.pk}-{repeat}:",
                   sheet.parse({"relevance": code}, Shown(unit.item_id)), now, now)
            for unit, code in zip(units, codes, strict=True) if code != "-"
        ]  # fmt: skip
        machine_answers.write(desk, some, now)


def test_a_model_that_is_asked_again_is_set_against_itself(world: World, campaign: Campaign) -> None:
    Rater.objects.create(kind="model", team=world.team, name="moody")
    table = ["1223412345", "1223412344", "12234123-5"]
    again(campaign, "moody", table)
    [line] = read(world, "models.json?")["models"]
    found = line["asked_again"]
    assert (found["same"]["value"], found["same"]["n_units"], found["repeats"]) == (0.9, 10, 3)
    matrix = np.array([[np.nan if c == "-" else float(c) for c in said] for said in table]).T
    assert found["alpha"]["value"] == pytest.approx(alpha(Ratings.from_matrix(matrix), "ordinal").value)
    assert line["overall"]["n_units"] == 10, "only the first answer counts beside people"
    page = read(world, "models/?")
    assert "Asked again" in page and "3 times" in page and "0.90" in page
    asked(world, campaign, ["4"] * 10, name="once")
    assert [one["asked_again"] is None for one in read(world, "models.json?")["models"]] == [False, True]


def test_two_judges_are_averaged_here_and_are_no_rater(world: World, campaign: Campaign) -> None:
    first, second = "1233412345", "2223312355"
    one = asked(world, campaign, list(first), name="one")
    other = asked(world, campaign, [*second[:-1], "prose"], name="other")
    n = Rater.objects.count()
    key = f"{one.rater_id}%2B{other.rater_id}"
    line = read(world, f"judge.json?judge={key}&")
    mean = np.mean([[float(c) for c in said] for said in (first, second)], axis=0)[:-1]
    people = np.mean([[float(c) for c in said] for said in PEOPLE.values()], axis=0)[:-1]
    egypt = line["cohorts"]["Egypt"]
    assert egypt["judge_with_the_rest"]["value"] == pytest.approx(stats.spearmanr(mean, people)[0])
    assert egypt["left_out"]["n"] == 1 and egypt["n_unanswered"] == 1
    assert "agreement_with_majority" not in egypt, "a mean has no code"
    assert [who["model"] for who in line["mean_of"]] == ["one", "other"] and Rater.objects.count() == n
    page = read(world, f"judge/?judge={key}&")
    assert "Judge: the mean of one + other, computed here" in page and "Agrees with the majority" not in page
    alone = read(world, f"judge.json?judge={one.rater_id}&")["cohorts"]["Egypt"]
    assert alone["agreement_with_majority"]["n_units"] > 0 and Call.objects.filter(run=other).count() == 10


def test_the_average_of_no_such_judges_is_refused(world: World, campaign: Campaign) -> None:
    one = asked(world, campaign, ["4"] * 10)
    url = f"/b/{world.benchmark.slug}/judge/?judge={one.rater_id}%2B999"
    assert world.client(world.mara).get(url).status_code == 400
