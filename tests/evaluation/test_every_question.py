"""Agreement of every question of a mixed sheet: composed, answered by three people through the sheet, in every form."""

import csv
import io
import re
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from annotation.models import Annotation, Campaign
from evaluation.metrics.boxes import overlap
from evaluation.metrics.sets import jaccard_distance, masi_distance
from evaluation.rendering.reason_text import NO_INTERVAL
from tests.api.clients import program
from tests.evaluation.mixed import mixed_sheet, rows_of
from tests.module_world import built_once
from tests.personas import World

FITS, SEEN, MAIN, NAME, WHY = range(5)
KEYS = ["fits", "seen", "main", "name", "why"]


@built_once
def campaign(world: World) -> Campaign:
    made = mixed_sheet(world)
    assert Annotation.objects.filter(live=True).count() == 16
    return made


def alpha_of(place: int, distance: Callable[[Any, Any], float]) -> float:
    """By the definition, pair by pair."""
    units: dict[int, list[Any]] = {}
    for item, _person, answer in rows_of(place):
        units.setdefault(item, []).append(answer)
    paired = [answers for answers in units.values() if len(answers) > 1]
    every = [answer for answers in paired for answer in answers]
    n = len(every)
    observed = sum(sum(distance(a, b) for a, b in permutations(one, 2)) / (len(one) - 1) for one in paired) / n
    return 1 - observed / (sum(distance(a, b) for a, b in permutations(every, 2)) / (n * (n - 1)))


def url(world: World, rest: str = "") -> str:
    return f"/b/{world.benchmark.slug}/agreement{rest}"


def questions(world: World, query: str = "") -> dict[str, dict[str, Any]]:
    reply = world.client(world.mara).get(url(world, f".json?{query}"))
    assert reply.status_code == 200, reply.content
    return {row["field"]: row for row in reply.json()["questions"]}


def only_estimate(row: dict[str, Any]) -> dict[str, Any]:
    [estimate] = row["estimates"].values()
    return dict(estimate)


def test_each_question_has_the_number_of_its_level(world: World, campaign: Campaign) -> None:
    rows_by_question = questions(world)
    assert list(rows_by_question) == KEYS, "in the order of the sheet"
    assert [(row["level"], row["measure"]) for row in rows_by_question.values()] == [
        ("ordinal", "alpha_ordinal"), ("set", "alpha_masi"), ("box", "overlap"), ("text", "no_text_measure"),
        ("nominal", "alpha_nominal"),
    ]  # fmt: skip
    assert only_estimate(rows_by_question["seen"])["value"] == pytest.approx(alpha_of(SEEN, masi_distance))
    # (1 + 1/2 + 1/2) / 3, (5/8 + 5/8 + 1) / 3, 1, (4/5 + 4/5 + 1) / 3, (1 + 1/2 + 1/2) / 3
    assert only_estimate(rows_by_question["main"])["value"] == pytest.approx((2 + 2.25 + 3 + 2.6 + 2) / 15)
    assert only_estimate(rows_by_question["why"])["value"] == pytest.approx(alpha_of(WHY, lambda a, b: float(a != b)))
    assert (only_estimate(rows_by_question["name"])["value"], only_estimate(rows_by_question["name"])["reason"]) == (
        None,
        "free_text",
    )
    for key in ("fits", "seen", "main"):
        estimate = only_estimate(rows_by_question[key])
        assert (estimate["n_units"], estimate["n_raters"], estimate["n_ratings"]) == (5, 3, 15), key
        assert estimate["left_out"] == "Left out: 1 item with one answer.", key
        assert estimate["missing_share"] == 0, key
    assert (
        only_estimate(rows_by_question["main"])["low"]
        < only_estimate(rows_by_question["main"])["value"]
        < only_estimate(rows_by_question["main"])["high"]
    )


def test_a_question_that_is_shown_after_some_answers_counts_where_it_was_shown(
    world: World, campaign: Campaign
) -> None:
    """Three saw it at the first item, two at the second, one at the fifth; nobody at the other three."""
    row = questions(world)["why"]
    estimate = only_estimate(row)
    assert (estimate["n_units"], estimate["n_raters"], estimate["n_ratings"]) == (2, 3, 5)
    assert estimate["left_out"] == "Left out: 1 item with one answer."
    assert (row["n_units_not_shown"], estimate["missing_share"]) == (3, 0), (
        "the third person never saw the second item's"
    )
    detail = world.client(world.mara).get(url(world, ".json?field=why")).json()["rows"][0]
    # 18 places of 6 items and 3 people: 6 answers, 10 not shown, 2 skipped
    assert detail["missing_of_asked"] == pytest.approx(1 - 6 / 8)


def test_a_question_is_asked_as_the_reader_chooses(world: World, campaign: Campaign) -> None:
    expected = {
        "seen:alpha_jaccard": alpha_of(SEEN, jaccard_distance),
        "main:alpha_overlap": alpha_of(MAIN, lambda a, b: 1 - overlap(a, b)),
        "main:f1_overlap": 1.0,  # every two boxes of an item overlap by half or more
        "name:exact_match": 7 / 15,  # of three pairs of people the same name: 3, 1, 1, 1, 1
        "fits:percent": (3 + 1 + 3 + 1 + 1) / 15,
    }
    for asked_as, value in expected.items():
        field, measure = asked_as.split(":")
        row = questions(world, f"as={asked_as}")[field]
        assert row["measure"] == measure
        assert only_estimate(row)["value"] == pytest.approx(value), asked_as
    page = world.client(world.mara).get(url(world, "/?as=main:f1_overlap&as=fits:percent")).content.decode()
    assert '<option value="main:f1_overlap" selected>' in page and '<option value="fits:percent" selected>' in page


def test_each_option_of_a_set_has_an_alpha_of_its_own(world: World, campaign: Campaign) -> None:
    row = questions(world, "as=seen:alpha_options")["seen"]
    for option in ("food", "dress", "rite"):
        estimate = row["estimates"][f"alpha_option:{option}"]
        expected = alpha_of(SEEN, lambda a, b, option=option: float((option in a) != (option in b)))  # type: ignore[misc]
        assert estimate["value"] == pytest.approx(expected)
    page = world.client(world.mara).get(url(world, "/?as=seen:alpha_options")).content.decode()
    assert "<em>Rites</em>" in page, "by its label"


def test_page_files_and_rest_say_the_same_of_every_question(world: World, campaign: Campaign) -> None:
    client, query = world.client(world.mara), "?as=name:exact_match"
    report = client.get(url(world, ".json" + query)).json()["questions"]
    rest = program(world.mara).get(f"/api/v1/benchmarks/{world.benchmark.slug}/agreement/{query}").json()["questions"]
    assert rest == report
    text = client.get(url(world, "/questions.csv" + query)).content.decode("utf-8-sig")
    lines = {row["question"]: row for row in csv.DictReader(io.StringIO(text))}
    latex = client.get(url(world, "/questions.tex" + query)).content.decode()
    page = client.get(url(world, "/" + query)).content.decode()
    table = page[page.index('id="questions-title"') : page.index('<div class="wrap cards agreement')]
    assert list(lines) == KEYS == [row["field"] for row in report]
    assert r"\begin{tabular}" in latex
    for row in report:
        estimate, line = only_estimate(row), lines[row["field"]]
        assert row["question"].split(" …")[0] in latex and row["question"] in table
        for name in ("n_units", "n_raters", "n_ratings"):
            assert line[name] == str(estimate[name])
        assert (line["shown"], line["shown_interval"]) == (estimate["shown"], estimate["shown_interval"])
        assert line["left_out"] == estimate["left_out"]
        shown = re.escape(estimate["shown"])
        assert re.search(rf'<b><bdi dir="ltr">{shown}</bdi></b>', table)
        assert rf"$n = {estimate['n_units']} \times {estimate['n_raters']}$" in latex
        assert f'<bdi dir="ltr">{estimate["n_units"]}</bdi>' in table
        if estimate["interval_reason"] not in (None, "not_asked"):
            assert str(NO_INTERVAL[estimate["interval_reason"]]) in latex
    assert any(only_estimate(row)["interval_reason"] for row in report), "the case of no interval occurs"


def test_every_question_can_be_looked_at_by_condition_and_on_the_people_page(world: World, campaign: Campaign) -> None:
    """`?field=main` answered 400."""
    client, rows_by_question = world.client(world.mara), questions(world)
    for key in KEYS:
        for rest in ("/", ".json", ".csv", ".tex", "/live/"):
            assert client.get(url(world, f"{rest}?field={key}")).status_code == 200, (rest, key)
        assert client.get(url(world, f"/?by=time&field={key}")).status_code == 200, key
        people = client.get(f"/b/{world.benchmark.slug}/people/?cohort={world.egypt.pk}&field={key}")
        assert people.status_code == 200 and only_estimate(rows_by_question[key])["shown"] in people.content.decode(), (
            key
        )
    cut = client.get(url(world, ".json?by=field")).json()["rows"]
    assert [row["field"] for row in cut] == KEYS


def test_the_page_says_level_measure_and_why_there_is_no_value(world: World, campaign: Campaign) -> None:
    page = world.client(world.mara).get(url(world, "/")).content.decode()
    for words in ("Several options", "Boxes", "Free text", "Alpha, MASI distance", "Mean pairwise overlap",
                  "No agreement by default", "Not shown for 3 items.", "Left out: 1 item with one answer.",
                  ):  # fmt: skip
        assert words in page, words


def test_a_measure_that_a_level_does_not_admit_is_named(world: World, campaign: Campaign) -> None:
    wrong = ("as=main:alpha_ordinal", "as=nothing:alpha_nominal", "as=main", "as=fits:percent&as=fits:kappa")
    for query in wrong:
        for rest in ("/", ".json", "/questions.csv", "/questions.tex"):
            assert world.client(world.mara).get(url(world, f"{rest}?{query}")).status_code == 400, (rest, query)


def test_strangers_find_no_questions(world: World, campaign: Campaign) -> None:
    for rest in ("/questions.csv", "/questions.tex"):
        for user in (world.stranger, world.rival, world.nour, world.manager):
            assert world.client(user).get(url(world, rest)).status_code == 404
        assert world.client(world.reviewer).get(url(world, rest)).status_code == 200


def test_what_is_kept_of_large_data_is_the_same(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = questions(world, "as=seen:alpha_options")
    monkeypatch.setattr("evaluation.reports.stored_agreement.THRESHOLD", 1)
    assert questions(world, "as=seen:alpha_options") == live
    assert questions(world, "as=seen:alpha_options") == live, "the second time out of what is kept"
