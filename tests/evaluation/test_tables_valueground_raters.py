"""Whose answers stand in ValueGround's tables, and out of how many they were asked: on the study of its tables.

Labels: Egypt Q1 A, Q2 B; Brazil Q1 A, Q2 A; Q3 none. With two sources that is eight instances with a label.
"""

from collections.abc import Mapping

import pytest

from annotation.models import Campaign, Unit
from benchmarks.models import Benchmark, Item
from people.models import Rater
from predictions.models import Call, Run
from tests.evaluation.data import NOON
from tests.evaluation.sample_tables import model, store_answers, table
from tests.evaluation.test_tables_valueground import (
    alignment,
    benchmark,
    check_near,
    choice,
    create_open_campaign,
    numbers,
    pairs,
    row,
)
from tests.personas import World

__all__ = ["alignment", "benchmark", "choice"]  # fixtures
pytestmark = pytest.mark.django_db
Letters = Mapping[tuple[str, str, str], str]  # question, source, country -> letter, or how the call ended without one


def create_run(world: World, campaign: Campaign, name: str, setting: str, letters: Letters, prompt: str = "") -> Rater:
    """A run with its calls."""
    benchmark = campaign.stage.benchmark
    items = {(one.concept, one.condition): one for one in Item.objects.filter(stage=campaign.stage)}
    rater = model(world.team, name, setting)
    run = Run.objects.create(
        benchmark=benchmark, campaign=campaign, rater=rater, model="m", task="answers", source="here", state="done",
        complete=True, prompt=prompt,
    )  # fmt: skip
    answered = {(items[q, s], country): code for (q, s, country), code in letters.items() if code in "ab"}
    store_answers(campaign, rater, answered, field="choice")
    for (question, source, country), code in letters.items():
        item, state = items[question, source], "answered" if code in "ab" else code
        unit, _new = Unit.objects.get_or_create(item=item, target=country)
        Call.objects.create(run=run, item=item, unit=unit, repeat=0, state=state, attempts_made=1, ended_at=NOON,
                            reason="" if state == "answered" else "no_letter")  # fmt: skip
    return rater


SAMPLE = {
    ("Q1", "gpt", "Egypt"): "a", ("Q2", "gpt", "Egypt"): "a", ("Q1", "gpt", "Brazil"): "unparseable",
    ("Q2", "gemini", "Brazil"): "refused", ("Q3", "gpt", "Egypt"): "unparseable",
    ("Q1", "gemini", "Egypt"): "over_budget",
}  # fmt: skip


def test_what_a_model_was_never_asked_is_not_left_out(world: World, benchmark: Benchmark, choice: Campaign) -> None:
    """Four instances with a label went out: one right, one wrong, two without a letter. Eight others never did."""
    create_run(world, choice, "Vee", "main", SAMPLE)
    whole = row(table(benchmark, "figure-3"), "Vee")["All"].estimate
    assert whole is not None and (whole.value, whole.n_units) == (0.5, 2)
    assert [whole.extras[name] for name in ("n_unreadable", "worst", "best")] == [2, 1 / 4, 3 / 4]
    wrong = row(table(benchmark, "figure-3", "unreadable=wrong"), "Vee")
    check_near(numbers(wrong), [(0, 2), (1 / 2, 2), (1 / 4, 4)])
    # Beta's answers came without calls: what others were asked and it has no answer for, it could not be read about.
    beta = row(table(benchmark, "figure-3"), "Beta")["All"].estimate
    assert beta is not None and beta.extras["n_unreadable"] == 1


def test_items_without_a_readable_model_answer_count(world: World, benchmark: Benchmark) -> None:
    items = pairs(benchmark, "choice")
    made = create_open_campaign(world, benchmark, "choice", list(items.values()), "Alone")
    create_run(world, made, "Vee", "main", {
        ("Q1", "gpt", "Egypt"): "a", ("Q1", "gpt", "Brazil"): "refused", ("Q2", "gpt", "Egypt"): "unparseable",
    })  # fmt: skip
    whole = row(table(benchmark, "figure-3"), "Vee")["All"].estimate
    assert whole is not None and (whole.value, whole.n_units) == (1, 1)
    assert [whole.extras[name] for name in ("n_unreadable", "worst", "best")] == [2, 1 / 3, 1]
    check_near(numbers({"": row(table(benchmark, "figure-3", "unreadable=wrong"), "Vee")["All"]}), [(1 / 3, 3)])
    # A country of which every call failed has a column, and its cell says what there was.
    brazil = row(table(benchmark, "figure-3"), "Vee")["Brazil"].estimate
    assert brazil is not None and (brazil.reason, brazil.extras["n_unreadable"]) == ("nothing_counted", 1)
    page = world.client(world.owner).get(f"/b/{benchmark.slug}/tables/figure-3/").content.decode()
    assert "n = 0</bdi>; left out 1" in page
    assert "left out 2; between 33.3 and 100.0" in page


def test_a_model_that_gave_nothing_readable_is_a_row(world: World, benchmark: Benchmark, choice: Campaign) -> None:
    create_run(world, choice, "Mute", "main", {("Q1", "gpt", "Egypt"): "refused", ("Q2", "gpt", "Egypt"): "refused"})
    built_table = table(benchmark, "figure-3")
    mute = row(built_table, "Mute")["All"].estimate
    assert mute is not None and mute.value is None and mute.extras["n_unreadable"] == 2
    average = row(built_table, "Average")["All"].estimate
    assert average is not None and average.value == pytest.approx((3 / 4 + 2 / 7) / 2)
    assert (average.n_raters, average.extras["n_left_out"], average.extras["n_all"]) == (2, 1, 3)
    assert [one.label for one in table(benchmark, "bands").rows] == ["Alpha", "Beta"], "the others keep their places"
    page = world.client(world.owner).get(f"/b/{benchmark.slug}/tables/figure-3/").content.decode()
    assert "n = 8 × 2</bdi>; 2 of 3 models; 7 to 8 each; left out 3; between" in page


def test_an_average_says_what_its_models_left_out_and_over_how_many_each(
    world: World, benchmark: Benchmark, choice: Campaign
) -> None:
    create_run(world, choice, "Vee", "main", SAMPLE)
    average = row(table(benchmark, "figure-3"), "Average")["All"].estimate
    assert average is not None
    # Alpha 6 of 8; Beta 2 of 7 and one without; Vee 1 of 2 and two without.
    assert average.value == pytest.approx((6 / 8 + 2 / 7 + 1 / 2) / 3)
    assert average.extras["n_unreadable"] == 3
    assert average.extras["worst"] == pytest.approx((6 / 8 + 2 / 8 + 1 / 4) / 3)
    assert average.extras["best"] == pytest.approx((6 / 8 + 3 / 8 + 3 / 4) / 3)
    assert (average.n_units, average.n_raters, average.n_ratings) == (8, 3, 17)
    assert average.missing_share == pytest.approx(1 - 17 / 24)
    wrong = row(table(benchmark, "figure-3", "unreadable=wrong"), "Average")["All"].estimate
    assert wrong is not None and wrong.value == pytest.approx(average.extras["worst"])
    page = world.client(world.owner).get(f"/b/{benchmark.slug}/tables/figure-3/").content.decode()
    assert "n = 8 × 3</bdi>; 2 to 8 each; left out 3; between" in page


def test_a_setting_of_ones_own_is_a_rater_of_its_own(world: World, benchmark: Benchmark, alignment: Campaign) -> None:
    choice = Campaign.objects.get(stage__key="choice")
    before = table(benchmark, "table-2")
    hot = {("Q1", "gpt", "Egypt"): "b", ("Q2", "gpt", "Egypt"): "b"}
    create_run(world, choice, "Alpha", "main hot", hot)
    create_run(world, choice, "Alpha", "of mine", {("Q1", "gpt", "Egypt"): "a"}, prompt="valueground-text")
    create_run(world, choice, "Alpha", "text-only, hot", {("Q1", "gpt", "Brazil"): "b"})
    create_run(
        world, choice, "Alpha", "main_no_country", {("Q1", "gpt", "Brazil"): "a"}, prompt="valueground-main-no-country"
    )
    built_table = table(benchmark, "table-2")
    for name in ("Alpha", "Beta"):
        assert numbers(row(built_table, name)) == numbers(row(before, name)), (
            "nobody's answers are mixed with another's"
        )
    check_near(numbers(row(built_table, "Alpha, main hot"))[:1], [(1 / 2, 2)])
    check_near(numbers(row(built_table, "Alpha, of mine"))[1:2], [(1, 1)])
    check_near(numbers(row(built_table, "Alpha, text-only, hot"))[1:2], [(0, 1)])
    check_near(numbers(row(built_table, "Alpha, main_no_country"))[:1], [(1, 1)])
    assert [one.label for one in table(benchmark, "figure-3").rows] == [
        "Alpha", "Alpha, main hot", "Alpha, main_no_country", "Beta", "Average",
    ]  # fmt: skip
    for key in ("table-5", "table-6", "table-8"):
        notes = " ".join(map(str, table(benchmark, key).words))
        assert (
            "without answers both with pictures and with words alone: Alpha, main hot; Alpha, main_no_country;" in notes
        )


def test_main_and_no_setting_are_two_ways_of_asking(world: World, benchmark: Benchmark, choice: Campaign) -> None:
    before = numbers(row(table(benchmark, "figure-3"), "Alpha"))
    create_run(world, choice, "Alpha", "", {("Q1", "gemini", "Egypt"): "b", ("Q2", "gemini", "Egypt"): "b"})
    create_run(world, choice, "Plain", "", {("Q1", "gemini", "Egypt"): "a"})
    built_table = table(benchmark, "figure-3")
    assert numbers(row(built_table, "Alpha")) == before
    check_near(numbers({"": row(built_table, "Alpha, no setting")["All"]}), [(1 / 2, 2)])
    check_near(numbers({"": row(built_table, "Plain")["All"]}), [(1, 1)])


def test_identities_hold_with_raters_of_all_kinds(world: World, benchmark: Benchmark, choice: Campaign) -> None:
    create_run(world, choice, "Vee", "main", SAMPLE)
    create_run(world, choice, "Vee", "text_only", {("Q1", "gpt", "Egypt"): "b", ("Q2", "gemini", "Egypt"): "b"})
    create_run(world, choice, "Vee", "main hot", {("Q1", "gpt", "Egypt"): "b"})
    for key, address in (("table-5", ""), ("table-6", ""), ("table-6", "over_models=mean")):
        for table_row in table(benchmark, key, address).rows:
            if table_row.cells[0].estimate and table_row.cells[0].estimate.reason == "not_asked":
                continue
            reversal, harmful, beneficial, drop = (c.estimate.value for c in table_row.cells if c.estimate)
            assert None not in (reversal, harmful, beneficial, drop), table_row.label
            assert reversal == pytest.approx((harmful or 0) + (beneficial or 0)), table_row.label
            assert drop == pytest.approx((harmful or 0) - (beneficial or 0)), table_row.label
