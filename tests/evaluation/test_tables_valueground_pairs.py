"""ValueGround's tables of pairs of pictures: scores by the rubric, and the automatic judge against people."""

from collections.abc import Mapping
from datetime import timedelta

import numpy as np
import pytest
from django.db.models import F
from scipy import stats

from annotation.models import Annotation, Assignment, Campaign, Rating, Tally, Unit
from benchmarks.models import Benchmark, Item
from benchmarks.rules.acceptance import Rule, judge
from benchmarks.services.benchmarks import create_from_recipe
from evaluation.metrics.counts import Ratings
from evaluation.metrics.human_ceiling import leave_one_annotator_out
from evaluation.metrics.judges import judge_position
from evaluation.metrics.rater_means import with_rater_means
from evaluation.tables.table import MissingData
from papers.valueground.recipe import RULE
from papers.valueground.tables.rubric import FIELDS
from people.models import Rater
from people.services.raters import rater_of
from tests.evaluation.data import NOON
from tests.evaluation.sample_tables import model
from tests.evaluation.test_tables_valueground import check_near, create_open_campaign, numbers, row, table
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
# Match A, match B, pair match, no cue of each of six pairs; the total is (a/2 + b/2 + m/2 + cue) / 4.
JUDGES = {
    "One": ("2221", "2211", "1101", "0200", "2121", "1221"),
    "Two": ("2221", "1211", "1111", "0000", "2221", "1111"),
}
PEOPLE = {"nour": ("2221", "2211", "1111", "0100", "2121", "2221"),
          "tarek": ("2211", "2221", "0111", "1000", "2221", "1211"),
          "bia": ("1221", "2111", "1001", "0200", "2121", "12.1")}  # fmt: skip
MADE = [{"backbone": "GPT", "configuration": "Planner only"}] * 2 + [
    {"backbone": "Gemini", "configuration": "Planner+Critic"}
] * 2


@built_once
def benchmark(world: World) -> Benchmark:
    return create_from_recipe(world.team, "valueground", "ValueGround", "valueground", world.owner)


@built_once
def items(benchmark: Benchmark) -> list[Item]:
    stage = benchmark.stages.get(key="pair-review")
    return [
        Item.objects.create(
            stage=stage, key=f"pair-{n}", concept=f"Q{n // 2 + 1}", condition=("gemini", "gpt")[n % 2], text="Family?",
            context={"option_a": "Yes", "option_b": "No"} | (MADE[n] if n < len(MADE) else {}),
        )
        for n in range(6)
    ]  # fmt: skip


@built_once
def campaign(world: World, benchmark: Benchmark, items: list[Item]) -> Campaign:
    return create_open_campaign(world, benchmark, "pair-review", items, "Pairs")


def fill(campaign: Campaign, rater: Rater, items: list[Item], codes: tuple[str, ...], world: World) -> None:
    """One sheet for each item, a digit for each field; a dot where there is none."""
    cohort = None if rater.kind == Rater.Kind.MODEL else world.egypt
    for item, digits in zip(items, codes, strict=True):
        answers = {field: code for field, code in zip(FIELDS, digits, strict=True) if code != "."}
        unit, _new = Unit.objects.get_or_create(item=item, target="")
        hand = Assignment.objects.create(
            campaign=campaign, unit=unit, rater=rater, state="submitted", in_hand=False, reserved_at=NOON,
            shown_at=NOON, changed_at=NOON,
        )  # fmt: skip
        sheet = Annotation.objects.create(
            assignment=hand, rater=rater, version=1, client_key=f"{hand.pk}", answers=answers, cohort=cohort,
            sheet_version=campaign.sheet_version, language="en", shown_at=NOON,
            submitted_at=NOON + timedelta(seconds=5),
        )  # fmt: skip
        Rating.objects.bulk_create(
            Rating(
                annotation=sheet, campaign=campaign, cohort=cohort, unit=unit, rater=rater, field=field, code=code,
                value=float(code),
            )
            for field, code in answers.items()
        )  # fmt: skip
    row = campaign.cohorts.order_by("pk").values("pk")[:1]
    Tally.objects.filter(cohort__in=row, shard=0).update(changes=F("changes") + len(items))


@built_once
def judged(world: World, campaign: Campaign, items: list[Item]) -> Campaign:
    for name, codes in JUDGES.items():
        fill(campaign, model(world.team, name), items, codes, world)
    return campaign


@built_once
def both(world: World, judged: Campaign, items: list[Item]) -> Campaign:
    for name, codes in PEOPLE.items():
        fill(judged, rater_of(getattr(world, name)), items, codes, world)
    return judged


def total(digits: str) -> float:
    a, b, match, cue = (float(one) for one in digits)
    return (a / 2 + b / 2 + match / 2 + cue) / 4


def columns(scores_by_rater: Mapping[str, tuple[str, ...]], place: int) -> np.ndarray:
    """Pairs x raters; place 4 is the total."""
    value = [[total(one) if place == 4 else float(one[place]) for one in codes] for codes in scores_by_rater.values()]
    return np.array(value).T


def test_mean_scores_by_how_the_pairs_were_made(benchmark: Benchmark, judged: Campaign) -> None:
    built_table = table(benchmark, "table-1")
    assert [(one.group, one.label) for one in built_table.rows] == [
        ("GPT", "Planner only"), ("Gemini", "Planner+Critic"), ("", "gemini"), ("", "gpt"),
    ]  # fmt: skip
    # Two pairs. Match A: (2 + 2) / 2 and (2 + 1) / 2: mean 1.75. Match B 2 and 2. Pair match 2 and 1. No cue 1 and 1.
    # Totals: 1 and 1; 7/8 and 6/8: mean (1 + 13/16) / 2.
    first = row(built_table, "Planner only")
    check_near(numbers(first), [(1.75, 2), (2, 2), (1.5, 2), (1, 2), ((1 + 13 / 16) / 2, 2)])
    assert first["Total"].printed is not None
    assert (first["Total"].shown, first["Total"].printed.text) == ("0.906", "0.733")
    assert first["Match A"].estimate is not None
    assert first["Match A"].estimate.n_raters == 2
    assert numbers(row(built_table, "gpt"))[0] == (1, 1)


def test_the_same_by_people(benchmark: Benchmark, both: Campaign) -> None:
    built_table = table(benchmark, "table-1", "scored_by=person")
    # Match A of the first two pairs: (2 + 2 + 1) / 3 and (2 + 2 + 2) / 3.
    check_near(numbers(row(built_table, "Planner only"))[:1], [((5 / 3 + 2) / 2, 2)])
    # Bia gave the sixth pair no third point: she counts for the rest, and the total is of the two whole sheets.
    sixth = dict(zip((*FIELDS, "total"), numbers(row(built_table, "gpt")), strict=True))
    check_near([sixth["pair_match"], sixth["total"]], [((2 + 1) / 2, 1), ((total("2221") + total("1211")) / 2, 1)])


def test_without_a_judge_the_scores_are_those_of_people(
    world: World, benchmark: Benchmark, campaign: Campaign, items: list[Item]
) -> None:
    with pytest.raises(MissingData):
        table(benchmark, "table-1")
    for name, codes in PEOPLE.items():
        fill(campaign, rater_of(getattr(world, name)), items, codes, world)
    by_default = table(benchmark, "table-1")
    assert by_default.chosen["scored_by"] == "person"
    of_people = table(benchmark, "table-1", "scored_by=person")
    assert numbers(row(by_default, "gpt")) == numbers(row(of_people, "gpt"))
    with pytest.raises(MissingData):
        table(benchmark, "table-1", "scored_by=model")
    fill(campaign, model(world.team, "One"), items, JUDGES["One"], world)
    assert table(benchmark, "table-1").chosen["scored_by"] == "model"


def test_the_judge_against_the_mean_of_people(
    world: World, benchmark: Benchmark, judged: Campaign, items: list[Item]
) -> None:
    whole = PEOPLE | {"bia": (*PEOPLE["bia"][:5], "1211")}
    for name, codes in whole.items():
        fill(judged, rater_of(getattr(world, name)), items, codes, world)
    for place, table_row in enumerate(table(benchmark, "table-4").rows):
        judges, people = columns(JUDGES, place).mean(axis=1), columns(whole, place)
        expected = [
            stats.pearsonr(judges, people.mean(axis=1)).statistic,
            stats.spearmanr(judges, people.mean(axis=1)).statistic,
            leave_one_annotator_out(Ratings.from_matrix(people), "pearson").value,
            leave_one_annotator_out(Ratings.from_matrix(people), "spearman").value,
            judge_position(
                Ratings.from_matrix(np.column_stack([people, judges])), people.shape[1]
            ).at_least_as_good.value,
        ]
        values = [one.estimate.value for one in table_row.cells if one.estimate]
        assert values == pytest.approx(expected), table_row.label
        same = with_rater_means(judges, Ratings.from_matrix(people), "pearson")
        first = table_row.cells[0].estimate
        assert first is not None
        assert (first.n_units, first.n_raters, first.resampled) == (6, 3, "units and raters")
        assert (first.low, first.high) == (pytest.approx(same.low), pytest.approx(same.high))


def test_the_note_of_table_4_states_both_references(benchmark: Benchmark, both: Campaign) -> None:
    words = " ".join(str(line) for line in table(benchmark, "table-4").words)
    assert "against the mean of all people" in words and "a reference of one person more" in words
    assert "the mean of the same other people" in words


def test_annotators_are_averaged_or_pooled(benchmark: Benchmark, both: Campaign) -> None:
    averaged, pooled = (row(table(benchmark, "table-4", f"people={how}"), "Total") for how in ("averaging", "pooling"))
    name = "People, Pearson"
    assert averaged["Judge, Pearson"].shown == pooled["Judge, Pearson"].shown
    assert averaged[name].estimate is not None
    assert pooled[name].estimate is not None
    assert averaged[name].estimate.value != pytest.approx(pooled[name].estimate.value)
    assert averaged[name].printed is not None
    assert averaged[name].printed.text == "0.581"


def test_pairs_that_no_judge_scored_do_not_count(
    world: World, benchmark: Benchmark, campaign: Campaign, items: list[Item]
) -> None:
    fill(campaign, model(world.team, "One"), items[:4], JUDGES["One"][:4], world)
    for name, codes in PEOPLE.items():
        fill(campaign, rater_of(getattr(world, name)), items[1:], codes[1:], world)
    cells = row(table(benchmark, "table-4"), "Match A")
    assert [one.estimate.n_units for one in cells.values() if one.estimate] == [3, 3, 3, 3, 3]


def test_without_judges_or_people_it_says_what_to_bring(
    world: World, benchmark: Benchmark, campaign: Campaign, items: list[Item]
) -> None:
    fill(campaign, rater_of(world.nour), items, PEOPLE["nour"], world)
    with pytest.raises(MissingData, match="No automatic judge"):
        table(benchmark, "table-4")
    with pytest.raises(MissingData, match="no ratings"):
        table(benchmark, "table-1", "scored_by=model")


@pytest.mark.parametrize(
    ("digits", "worth", "failed"),
    [("2221", 1.0, ()), ("1221", 0.875, ()), ("1121", 0.75, ("match",)), ("2211", 0.875, ("pair_match",)),
     ("2220", 0.75, ("no_cue",)), ("0010", 0.125, ("match", "pair_match", "no_cue"))],
)  # fmt: skip
def test_the_total_and_the_rule_of_the_paper(digits: str, worth: float, failed: tuple[str, ...]) -> None:
    # Total = (Q1/2 + Q2/2 + Q3/2 + Q4) / 4. Accept iff Q1 + Q2 >= 3, Q3 = 2 and Q4 = 1; what fails is named.
    sheet = {field: float(code) for field, code in zip(FIELDS, digits, strict=True)}
    for over in ("majority", "means"):
        verdict = judge(Rule.from_json(RULE | {"over": over}), [sheet])
        assert (verdict.state, verdict.failed) == ("rejected" if failed else "accepted", failed)
        assert verdict.numbers["score"] == pytest.approx(worth) == pytest.approx(total(digits))
