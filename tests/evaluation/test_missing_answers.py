"""What has no value is said beside every number: how many, why, between which ends; and how answers were come by."""

import csv
import io
import json
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from scipy import stats

from annotation.fields.contract import Shown
from annotation.models import Campaign, Rating, Unit
from annotation.services.answers import model_answers
from annotation.services.answers.model_answers import AnswerDestination, ModelAnswer
from annotation.services.sheets.sheet_versions import sheet_of
from evaluation.metrics.alpha import alpha
from evaluation.metrics.counts import Ratings
from people.models import Rater
from predictions.models import Call, Endpoint, Run
from predictions.services.runs import answer_runs
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.evaluation.test_measures import CHOICE, with_sheet
from tests.evaluation.test_people_page import NOMINAL
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.model_file_samples import import_file, jsonl, lm_eval, run_of, store_file

PEOPLE = {"nour": "1223412345", "tarek": "1123422345", "third": "1223412355"}
REPLIES = ["1", "2", "2", "no idea", "4", "9", "", "3", "4", "1"]
SCORED = [[-1.0, False]] * 4 + [[-0.1, True]]


def world_with(world: World, campaign: Campaign) -> Campaign:
    third = world.add_annotators(world.egypt, 1)[0]
    for user, codes in zip((world.nour, world.tarek, third), PEOPLE.values(), strict=True):
        give_ratings(campaign, world.egypt, user, dict(zip(world.items, codes, strict=True)))
    return campaign


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(10)
    return world_with(world, an_open_campaign(world))


def import_replies(world: World, campaign: Campaign, replies: list[Any], name: str = "tiny") -> Any:
    rows = [
        lm_eval({"id": item.key, "country": "Egypt"}, reply) for item, reply in zip(world.items, replies, strict=True)
    ]
    rows = [
        {**row, "filtered_resps": reply, "resps": [reply]} if isinstance(reply, list) else row
        for row, reply in zip(rows, replies, strict=True)
    ]
    return run_of(import_file(world, campaign, store_file(jsonl(rows)), model=name, target="doc.country"))


def read(world: World, rest: str) -> Any:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/{rest}cohort={world.egypt.pk}")
    assert reply.status_code == 200, reply.content.decode()[-800:]
    return json.loads(reply.content) if ".json" in rest else reply.content.decode()


def read_csv(world: World, rest: str) -> list[dict[str, str]]:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/{rest}cohort={world.egypt.pk}")
    return list(csv.DictReader(io.StringIO(b"".join(reply).decode("utf-8-sig"))))  # type: ignore[call-overload]


def test_a_model_says_what_was_left_out_and_why(world: World, campaign: Campaign) -> None:
    import_replies(world, campaign, REPLIES)
    [line] = read(world, "models.json?")["models"]
    states = {"unparseable": 1, "out_of_range": 1, "no_response": 1}
    assert line["left_out"] == {"n": 3, "states": states, "worst": None, "best": None, "n_undecided": 0}
    assert line["answered"]["value"] == 0.7 and line["overall"]["n_units"] == 7
    page = read(world, "models/?")
    assert "Left out 3: unreadable reply 1, out of range 1, no response 1." in page
    assert "Bounds if" not in page, "a correlation has no such ends"
    assert "Left out 3:" in read(world, "judge/?")


def test_an_accuracy_lies_between_all_wrong_and_all_right(world: World) -> None:
    campaign = with_sheet(world, {**CHOICE, "key": "relevance", "config": NOMINAL})
    world.add_items(10 - len(world.items))
    campaign = world_with(world, campaign) if len(world.items) == 10 else campaign
    Rating.objects.update(value=None)
    codes = sorted({one["code"] for one in NOMINAL["options"]})
    import_replies(world, campaign, [one if one in codes or not one else "?" for one in REPLIES])
    [line] = read(world, "models.json?")["models"]
    n, value = line["overall"]["n_units"], line["overall"]["value"]
    gone = line["left_out"]["n"]
    assert gone >= 2 and line["left_out"]["worst"] == pytest.approx(n * value / (n + gone))
    assert line["left_out"]["best"] == pytest.approx((n * value + gone) / (n + gone))
    page = read(world, "models/?")
    worst, best = (f"{line['left_out'][end]:.2f}" for end in ("worst", "best"))
    assert f"Bounds if all were wrong or right: {worst} to {best}" in page
    assert f"Bounds if all were wrong or right: {worst} to {best}" in read(world, "judge/?")


def test_ways_of_asking_are_never_one_number_silently(world: World, campaign: Campaign) -> None:
    import_replies(world, campaign, [*REPLIES[:3], *[SCORED] * 7])
    words = "Answer methods: 7 from how likely the text is, 3 from free text."
    for page in (read(world, "models/?"), read(world, "judge/?")):
        assert words in page and "different ways of asking are different measurements" in page
    assert read(world, "models.json?")["models"][0]["ways"] == {"text": 3, "likelihood": 7}
    assert read(world, "judge.json?")["ways"] == {"text": 3, "likelihood": 7}


def test_a_model_that_gave_nothing_readable_is_there(world: World, campaign: Campaign) -> None:
    import_replies(world, campaign, ["4"] * 10, name="fine")
    run = import_replies(world, campaign, ["prose"] * 10, name="mute")
    run.withdrawn_at = None  # a run of files without an answer makes room; a live one stands
    run.save()
    lines = {line["model"]: line for line in read(world, "models.json?")["models"]}
    assert lines["mute"]["overall"]["value"] is None and lines["mute"]["left_out"]["n"] == 10
    assert "Left out 10: unreadable reply 10." in read(world, "models/?")


def test_a_withdrawn_run_left_nothing_out(world: World, campaign: Campaign) -> None:
    run = import_replies(world, campaign, REPLIES)
    answer_runs.withdraw(run, world.mara, timezone.now())
    assert read(world, "models.json?")["models"] == []
    answer_runs.restore(run, world.mara, timezone.now())
    [line] = read(world, "models.json?")["models"]
    assert line["left_out"]["n"] == 3 and line["overall"]["n_units"] == 7


def repeat_answers(campaign: Campaign, name: str, table: list[str]) -> None:
    """What a model says each time: a word for each repeat, a letter for each item."""
    model = Rater.objects.get(kind="model", name=name)
    destination, now, sheet = AnswerDestination.of(campaign, model), timezone.now(), sheet_of(campaign.sheet_version)
    units = list(Unit.objects.filter(item__stage=campaign.stage, target="Egypt").order_by("item__key"))
    for repeat, codes in enumerate(table):
        some = [
            ModelAnswer(unit.pk, unit.item_id, repeat, f"run:{campaign.pk}-{model.pk}:{unit.pk}-{repeat}:",
                   sheet.parse({"relevance": code}, Shown(unit.item_id)), now, now, campaign.pk)
            for unit, code in zip(units, codes, strict=True) if code != "-"
        ]  # fmt: skip
        model_answers.write(destination, some, now)


def test_a_model_that_is_asked_again_is_set_against_itself(world: World, campaign: Campaign) -> None:
    Rater.objects.create(kind="model", team=world.team, name="moody")
    table = ["1223412345", "1223412344", "12234123-5"]
    repeat_answers(campaign, "moody", table)
    [line] = read(world, "models.json?")["models"]
    repeated = line["asked_again"]
    assert (repeated["same"]["value"], repeated["same"]["n_units"], repeated["repeats"]) == (0.9, 10, 3)
    matrix = np.array([[np.nan if c == "-" else float(c) for c in codes] for codes in table]).T
    assert repeated["alpha"]["value"] == pytest.approx(alpha(Ratings.from_matrix(matrix), "ordinal").value)
    assert line["overall"]["n_units"] == 10, "only the first answer counts beside people"
    page = read(world, "models/?")
    assert "Repeated requests" in page and "3 times" in page and "0.90" in page
    import_replies(world, campaign, ["4"] * 10, name="once")
    assert [one["asked_again"] is None for one in read(world, "models.json?")["models"]] == [False, True]


def test_repeats_without_a_value_are_listed_with_self_agreement(world: World, campaign: Campaign) -> None:
    """Ten items, three times: one differs, one has a refusal between two 4s, one was answered once of three times."""
    shy = Rater.objects.create(kind="model", team=world.team, name="shy")
    run = Run.objects.create(
        benchmark=world.benchmark, campaign=campaign, rater=shy, task="answers", source="here", complete=True
    )
    repeat_answers(campaign, "shy", ["1223412345", "1223-12-44", "1223412-45"])
    for place, repeat, state in (
        (4, 1, "refused"),
        (7, 1, "unparseable"),
        (7, 2, "unparseable"),
        (0, 3, "over_budget"),
    ):
        unit = Unit.objects.get(item=world.items[place], target="Egypt")
        Call.objects.create(run=run, item=unit.item, unit=unit, repeat=repeat, state=state, reason="x", replies=[1])
    [line] = read(world, "models.json?")["models"]
    found = line["asked_again"]
    assert (found["repeats"], found["n_without_value"]) == (3, 3), "what was never sent is nothing without a value"
    same = found["same"]
    # Nine answered twice, eight of them always the same; one of these lacks an answer, and the tenth may be either.
    assert (same["value"], same["n_units"]) == (pytest.approx(8 / 9), 9)
    assert (same["extras"]["worst"], same["extras"]["best"]) == (0.7, 0.9)
    page = read(world, "models/?")
    assert (
        "3 answers without a value are left out. Bounds: all others different, or all the same: between 0.70 and 0.90."
        in page
    )
    row = next(one for one in read_csv(world, "models.csv?") if one["number"] == "same_in_all_repeats")
    assert (row["left_out"], row["worst"], row["best"]) == ("3", "0.7", "0.9")


def test_a_model_asked_in_two_campaigns_and_again_in_each_is_set_against_all_its_answers(
    world: World, campaign: Campaign
) -> None:
    Rater.objects.create(kind="model", team=world.team, name="moody")
    repeat_answers(campaign, "moody", ["1223412345", "1223412345"])
    repeat_answers(an_open_campaign(world, name="Second"), "moody", ["1223412345", "1223412344"])
    [line] = read(world, "models.json?")["models"]
    assert (line["asked_again"]["repeats"], line["asked_again"]["same"]["value"]) == (4, 0.9)


def test_two_judges_are_averaged_here_and_are_no_rater(world: World, campaign: Campaign) -> None:
    first, second = "1233412345", "2223312355"
    first_model = import_replies(world, campaign, list(first), name="one")
    other = import_replies(world, campaign, [*second[:-1], "prose"], name="other")
    n = Rater.objects.count()
    key = f"{first_model.rater_id}%2B{other.rater_id}"
    line = read(world, f"judge.json?judge={key}&")
    mean = np.mean([[float(c) for c in codes] for codes in (first, second)], axis=0)[:-1]
    people = np.mean([[float(c) for c in codes] for codes in PEOPLE.values()], axis=0)[:-1]
    egypt = line["cohorts"]["Egypt"]
    assert egypt["judge_with_the_rest"]["value"] == pytest.approx(stats.spearmanr(mean, people)[0])
    assert egypt["left_out"]["n"] == 1 and egypt["n_unanswered"] == 1
    assert "agreement_with_majority" not in egypt, "a mean has no code"
    assert [who["model"] for who in line["mean_of"]] == ["one", "other"] and Rater.objects.count() == n
    page = read(world, f"judge/?judge={key}&")
    assert "Judge: the mean of one + other, computed here" in page and "Agrees with the majority" not in page
    alone = read(world, f"judge.json?judge={first_model.rater_id}&")["cohorts"]["Egypt"]
    assert alone["agreement_with_majority"]["n_units"] > 0 and Call.objects.filter(run=other).count() == 10


def test_the_average_of_no_such_judges_is_refused(world: World, campaign: Campaign) -> None:
    one = import_replies(world, campaign, ["4"] * 10)
    url = f"/b/{world.benchmark.slug}/judge/?judge={one.rater_id}%2B999"
    assert world.client(world.mara).get(url).status_code == 400


def create_models(world: World, campaign: Campaign, codes_by_model: dict[str, str]) -> dict[str, int]:
    """Models that rated, by name: their ids."""
    rater_ids = {name: Rater.objects.create(kind="model", team=world.team, name=name).pk for name in codes_by_model}
    for name, codes in codes_by_model.items():
        repeat_answers(campaign, name, [codes])
    return rater_ids


SEVEN = dict(zip("abcdefg", ("1233412345", "2223312355", "1111122222", "5432112345", "3333334444", "1212121212",
                             "54-2112345"), strict=True))  # fmt: skip


@pytest.mark.parametrize("chosen", ["ab", "afe", "ag", "abcdefg"])
def test_the_mean_of_any_judges_can_be_looked_at(world: World, campaign: Campaign, chosen: str) -> None:
    pks = create_models(world, campaign, SEVEN)
    scores = np.array([[np.nan if c == "-" else float(c) for c in SEVEN[name]] for name in chosen])
    mean = scores.mean(axis=0)
    read_by_all = np.isfinite(mean)
    people = np.mean([[float(c) for c in one] for one in PEOPLE.values()], axis=0)
    rho = stats.spearmanr(mean[read_by_all], people[read_by_all])[0]
    apart = "&".join(f"judge={pks[name]}" for name in chosen)
    joined = "judge=" + "%2B".join(str(pks[name]) for name in reversed(chosen))
    for query in (apart, joined):
        report = read(world, f"judge.json?{query}&")
        assert "".join(who["model"] for who in report["mean_of"]) == "".join(sorted(chosen))
        assert report["cohorts"]["Egypt"]["judge_with_the_rest"]["value"] == pytest.approx(rho)
        assert report["cohorts"]["Egypt"]["n_unanswered"] == int((~read_by_all).sum())
    page = read(world, f"judge/?{apart}&")
    key = "+".join(str(pk) for pk in sorted(pks[name] for name in chosen))
    assert f'<option value="{key}" selected>' in page
    for name, pk in pks.items():
        ticked = f'name="judge" value="{pk}" checked>' in page
        assert ticked == (name in chosen), "the form shows whose mean it is"
    assert f"judge={'%2B'.join(key.split('+'))}" in page, "its files are of the same judges"


def test_codes_without_an_order_have_no_mean(world: World) -> None:
    campaign = with_sheet(world, {**CHOICE, "key": "relevance", "config": NOMINAL})
    give_ratings(campaign, world.egypt, world.nour, dict.fromkeys(world.items, "1"))
    Rating.objects.update(value=None)
    n = len(world.items)
    pks = create_models(world, campaign, dict.fromkeys("abc", "1" * n))
    address = f"/b/{world.benchmark.slug}/judge/?judge={pks['a']}"
    page = world.client(world.mara).get(address).content.decode()
    assert "the mean of" not in page and 'type="checkbox" name="judge"' not in page
    refused = world.client(world.mara).get(f"{address}&judge={pks['b']}")
    assert refused.status_code == 400 and "Codes without an order have no mean." in refused.content.decode()


def test_n_of_a_judge_is_of_the_units_it_rated_and_the_people_compared(world: World, campaign: Campaign) -> None:
    pks = create_models(world, campaign, {"few": "12341-----"})
    line = read(world, f"judge.json?judge={pks['few']}&")["cohorts"]["Egypt"]
    assert line["at_least_as_good"]["n_units"] == 5
    assert [(one["n_units"], one["n_raters"]) for one in line["people"]] == [(5, 3)] * 3, "the judge is none of them"
    assert line["judge_with_the_rest"]["n_raters"] == 3 + 1


@built_once
def divided(world: World) -> Campaign:
    """Two people who say the same of all but the last item."""
    campaign = with_sheet(world, {**CHOICE, "key": "relevance", "config": NOMINAL})
    n = len(world.items)
    for user, last in ((world.nour, "1"), (world.tarek, "2")):
        give_ratings(campaign, world.egypt, user, dict(zip(world.items, "1" * (n - 1) + last, strict=True)))
    Rating.objects.update(value=None)
    return campaign


def test_a_divided_unit_is_left_out_of_both_pages_alike(world: World, divided: Campaign) -> None:
    """One rule for what is left out: whatever people rated and the model gave no value for."""
    n = len(world.items)
    import_replies(world, divided, ["?", *["1"] * (n - 2), "?"])
    [model] = read(world, "models.json?")["models"]
    judge = read(world, "judge.json?")["cohorts"]["Egypt"]
    right = n - 2  # of those that can be right; one more has no value
    told = {"n": 2, "states": {"unparseable": 2}, "worst": right / (right + 1), "best": 1.0, "n_undecided": 1}
    assert model["left_out"] == judge["left_out"] == told
    assert (judge["n_unanswered"], judge["n_unasked"]) == (2, 0)
    words = "Left out 2: unreadable reply 2. For 1 of them no answer is correct. Bounds if the others were all wrong"
    assert words in read(world, "models/?") and words in read(world, "judge/?")


def import_some_replies(world: World, campaign: Campaign, replies: list[str]) -> Any:
    """A model that was asked about the first items only."""
    rows = [
        lm_eval({"id": item.key, "country": "Egypt"}, reply) for item, reply in zip(world.items, replies, strict=False)
    ]
    return run_of(import_file(world, campaign, store_file(jsonl(rows)), model="sampled", target="doc.country"))


def test_answered_is_of_what_a_model_was_asked(world: World, campaign: Campaign) -> None:
    import_some_replies(world, campaign, ["1", "2", "2", "no idea"])
    [line] = read(world, "models.json?")["models"]
    assert (line["answered"]["value"], line["answered"]["n_units"]) == (0.75, 4)
    assert (line["asked"]["value"], line["asked"]["n_units"], line["left_out"]["n"]) == (0.4, 10, 1)
    page = read(world, "models/?")
    assert "75 %" in page and "3 of 4 requests" in page and "4 of 10 items sent" in page
    assert "7 items that people rated have no answer of the judge. Not asked about 6. Left out 1:" in read(
        world, "judge/?"
    )
    pks = create_models(world, campaign, {"untold": "123-------"})
    untold = next(one for one in read(world, "models.json?")["models"] if one["model"] == "untold")
    assert (untold["asked"], untold["answered"]["n_units"]) == (None, 10)
    page = read(world, "models/?")
    assert "3 of 10" in page and "other requests unknown" in page
    assert "Whether it was asked is not known." in read(world, f"judge/?judge={pks['untold']}&")


@pytest.mark.parametrize(
    ("how", "left_out"),
    [
        ({"state": "over_budget", "reason": "budget"}, 1),
        ({"state": "failed", "reason": "stopped"}, 1),
        ({"state": "failed", "reason": "no_image"}, 1),
        ({"state": "failed", "reason": "timeout", "attempts_made": 3}, 2),
    ],
    ids=["budget", "stopped", "no-picture", "timeout"],
)
def test_what_was_never_sent_is_no_failure_of_the_model(
    world: World, campaign: Campaign, how: dict[str, Any], left_out: int
) -> None:
    run = import_some_replies(world, campaign, ["1", "2", "2", "no idea"])
    run.endpoint = Endpoint.objects.create(team=world.team, name="tiny", created_at=timezone.now())
    run.save()
    unit = Unit.objects.get(item=world.items[5], target="Egypt")
    Call.objects.create(run=run, item=world.items[5], unit=unit, ended_at=timezone.now(), **how)
    [line] = read(world, "models.json?")["models"]
    assert (line["left_out"]["n"], line["answered"]["n_units"]) == (left_out, 3 + left_out)
