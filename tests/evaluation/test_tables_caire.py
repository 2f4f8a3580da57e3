"""CAIRE's tables from a database small enough to count by hand, and what stands there when something is missing."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from django.http import QueryDict
from django.template.loader import render_to_string

from annotation.models import Campaign, Rating
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item
from benchmarks.services.benchmarks import create_from_recipe
from evaluation.metrics.alpha import alpha
from evaluation.metrics.counts import Ratings
from evaluation.rendering.reason_text import reason_sentence
from evaluation.rendering.report import Cell
from evaluation.selections.catalogue import catalogue_of
from evaluation.tables.page import table_context
from evaluation.tables.registry import table_of, tables_of
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_builder import build_table
from evaluation.tables.table_formats import to_csv, to_json, to_latex
from evaluation.tables.table_inputs import InvalidOption
from people.models import Cohort, Rater
from tests.evaluation.data import NOON, give_ratings
from tests.evaluation.output_forms import table_forms
from tests.evaluation.sample_tables import model, store_answers
from tests.module_world import built_once
from tests.personas import World, make_cohort, stand_in

pytestmark = pytest.mark.django_db
LABELS = ("Egypt", "Brazil", "China")
# people: item -> cohort -> one digit for each of two raters
PEOPLE = {
    "a": {"Egypt": "55", "Brazil": "13", "China": "12"},
    "b": {"Egypt": "21", "Brazil": "54", "China": "33"},
    "c": {"Egypt": "12", "Brazil": "22", "China": "45"},
    "d": {"Egypt": "33", "Brazil": "35", "China": "44"},
}
ORIGIN = {"a": "Egypt", "b": "Brazil", "c": "China", "d": "Egypt"}
CONCEPT = {"a": "dance", "b": "dance", "c": "lunch", "d": "lunch"}
KEEN = {"a": (5, 2, 1), "b": (1, 5, 3), "c": (1, 2, 5), "d": (3, 3, 3)}  # the model is constant on d
MEANS = {item: [np.mean([int(d) for d in PEOPLE[item][label]]) for label in LABELS] for item in PEOPLE}


class Study:
    def __init__(self, world: World) -> None:
        self.world = world
        self.benchmark = create_from_recipe(world.team, "caire-universal", "CAIRE", "caire", world.owner)
        self.cohorts: dict[str, Cohort] = {"Egypt": world.egypt, "Brazil": world.brazil}
        self.cohorts["China"] = make_cohort(world.team, "China")
        self.stage = self.benchmark.stages.get(key="relevance")
        self.items = {
            key: Item.objects.create(
                stage=self.stage, key=key, concept=CONCEPT[key], origin=ORIGIN[key], condition="natural"
            )
            for key in PEOPLE
        }
        stand_in(list(self.items.values()))
        self.campaign = self.open("relevance")
        for label, cohort in self.cohorts.items():
            raters = world.add_annotators(cohort, 2, prefix=f"r-{label.lower()}")
            for place, user in enumerate(raters):
                give_ratings(
                    self.campaign, cohort, user, {self.items[key]: PEOPLE[key][label][place] for key in PEOPLE}
                )

    def open(self, key: str) -> Campaign:
        stage = self.benchmark.stages.get(key=key)
        made = lifecycle.create(stage, key, self.world.owner, dict.fromkeys(self.cohorts.values(), 2))
        lifecycle.open_campaign(made, self.world.owner, NOON)
        return made

    def score(self, name: str, scores: Mapping[str, tuple[int, ...]], setting: str = "") -> None:
        rater = model(self.world.team, name, setting)
        answers = {
            (self.items[key], label): str(code)
            for key, row in scores.items()
            for label, code in zip(LABELS, row, strict=True)
        }
        store_answers(self.campaign, rater, answers)

    def table(self, key: str, query: str = "") -> Table:
        spec = table_of(self.benchmark, key)
        assert spec is not None
        return build_table(self.benchmark, spec, QueryDict(query), NOON)


@built_once
def study(world: World) -> Study:
    return Study(world)


def cell(table: Table, row: str, column: str, group: str = "") -> Cell:
    [found] = [one for one in table.rows if one.label == row and one.group.startswith(group)]
    return found.cells[[str(name) for name in table.columns].index(column)]


def value(found: Cell) -> float:
    assert found.estimate is not None and found.estimate.value is not None, found
    return found.estimate.value


def r(x: Any, y: Any) -> float:
    return float(np.corrcoef(x, y)[0, 1])


def test_every_table_of_the_spec_is_there(study: Study) -> None:
    numbers = " ".join(spec.number for spec in tables_of(study.benchmark))
    for wanted in ("1", "2", "3", "8", "10", "11", "14", "15", "16", "17"):
        assert wanted in numbers.replace(",", " ").split(), wanted


def test_agreement_is_of_each_country_by_itself(study: Study) -> None:
    table = study.table("table-14")
    matrix = [[int(d) for d in PEOPLE[key]["Egypt"]] for key in PEOPLE]
    agreement_cell = cell(table, "Krippendorff's alpha, ordinal distance", "Egypt, Natural")
    assert value(agreement_cell) == alpha(Ratings.from_matrix(matrix), "ordinal").value
    assert (
        agreement_cell.rounding.scale == 100
        and agreement_cell.printed is not None
        and agreement_cell.printed.text == "35"
    )
    assert "not public" in str(agreement_cell.printed.known)
    first, second = zip(*matrix, strict=True)
    assert value(cell(table, "Mean pairwise Pearson", "Egypt, Natural")) == pytest.approx(r(first, second))
    means = [value(cell(table, "Mean pairwise Pearson", f"{label}, Natural")) for label in LABELS]
    average = cell(table, "Mean pairwise Pearson", "Average, Natural")
    assert value(average) == pytest.approx(np.mean(means)) and average.estimate.resampled == "countries"


def test_distance_is_an_option_and_is_listed(study: Study) -> None:
    table = study.table("table-14", "alpha=nominal")
    assert [row.label for row in table.rows][:2] == [
        "Krippendorff's alpha, nominal distance",
        "Weighted alpha, interval distance",
    ]
    assert any("Krippendorff's alpha: nominal distance." in str(words) for words in table.words)
    with pytest.raises(InvalidOption):
        study.table("table-14", "alpha=squared")


def test_table_2_is_image_wise_by_the_country_of_the_prompt(study: Study) -> None:
    """Egypt has the pictures a and d; the model gives d one score for all, so only a counts."""
    study.score("Keen", KEEN)
    table = study.table("table-2")
    egypt = cell(table, "Keen", "Egypt, Natural", "CAIRE")
    assert value(egypt) == pytest.approx(r(KEEN["a"], MEANS["a"]))
    assert egypt.estimate.extras["n_rows"] == 1 and egypt.estimate.extras["n_rows_constant"] == 1
    brazil = value(cell(table, "Keen", "Brazil, Natural"))
    assert brazil == pytest.approx(r(KEEN["b"], MEANS["b"]))
    china = value(cell(table, "Keen", "China, Natural"))
    assert value(cell(table, "Keen", "Average, Natural")) == pytest.approx((value(egypt) + brazil + china) / 3)


def test_n_counts_included_pictures_and_exclusions_are_listed(study: Study) -> None:
    """Of Egypt's two pictures the model gives one the same score for all: one is in. Half has no score of China's c."""
    study.score("Half", {"a": KEEN["a"], "b": KEEN["b"], "d": KEEN["d"]})
    built_table = study.table("table-2")
    egypt, average = (cell(built_table, "Half", f"{name}, Natural").estimate for name in ("Egypt", "Average"))
    assert egypt is not None and egypt.n_units == 1
    assert average is not None and (average.n_units, average.extras["n_left_out"], average.extras["n_all"]) == (2, 1, 3)
    data = to_json(built_table, catalogue_of(study.benchmark))
    left_out = {c: one["left_out"] for c, one in zip(data["columns"], data["rows"][0]["cells"], strict=True)}
    assert (left_out["Egypt, Natural"], left_out["Average, Natural"]) == ("1 of 2 left out", "1 of 3 left out")
    latex, lines = to_latex(data), list(csv.DictReader(io.StringIO("".join(to_csv(data)).lstrip("\ufeff"))))
    assert "1 of 3 left out" in latex
    [averages_line] = [one for one in lines if one["column"] == "Average, Natural" and one["row"].startswith("Half")]
    assert (averages_line["left_out"], averages_line["n_ratings"]) == ("1", str(average.n_ratings))
    drawn = table_context({**data, "stored": False, "newer": 0, "changed": False}, QueryDict("detail=1"))
    of_egypt = drawn["table"]["groups"][0]["rows"][0]["cells"][data["columns"].index("Egypt, Natural")]
    assert "1 of 2 left out" in render_to_string("evaluation/tables/cell.html", {"cell": of_egypt})
    assert any("is left out; n counts" in words for words in data["words"])


def test_a_picture_seen_by_two_countries_only_says_that_it_needs_three(study: Study) -> None:
    rater = model(study.world.team, "Two")
    answers = {(study.items["a"], label): code for label, code in zip(LABELS[:2], "15", strict=True)}
    store_answers(study.campaign, rater, answers)
    found = cell(study.table("table-2"), "Two", "Egypt, Natural").estimate
    assert found is not None and found.reason == "too_few_cohorts"
    assert "3 cohorts" in reason_sentence(found)


def test_the_other_reading_runs_over_the_pictures(study: Study) -> None:
    study.score("Keen", KEEN)
    table = study.table("table-2", "reading=country")
    expected = r([KEEN[k][0] for k in "abcd"], [MEANS[k][0] for k in "abcd"])
    assert value(cell(table, "Keen", "Egypt, Natural")) == pytest.approx(expected)
    average = cell(study.table("table-17"), "Egypt", "With the average, Natural")
    assert value(average) == pytest.approx(expected), "Table 17's last column is the same number"


def test_concepts_and_averages_by_hand(study: Study) -> None:
    study.score("Keen", KEEN)
    lunch = cell(study.table("table-15"), "lunch", "Keen, CAIRE, Natural")
    assert value(lunch) == pytest.approx(r(KEEN["c"], MEANS["c"])), "d is constant"
    dance = cell(study.table("table-15"), "dance", "Keen, CAIRE, Natural")
    assert value(dance) == pytest.approx((r(KEEN["a"], MEANS["a"]) + r(KEEN["b"], MEANS["b"])) / 2)

    def averaged(keys: str) -> float:
        return r(*(np.mean([side[key] for key in keys], axis=0) for side in (KEEN, MEANS)))

    table = study.table("table-16")
    concepts = value(cell(table, "Keen", "Averaged by concept, Natural"))
    assert concepts == pytest.approx((averaged("ab") + averaged("cd")) / 2)
    assert value(cell(table, "Keen", "Averaged over all pictures, Natural")) == pytest.approx(averaged("abcd"))


def test_each_annotator_by_hand(study: Study) -> None:
    study.score("Keen", KEEN)
    table = study.table("table-17")
    each = [r([KEEN[k][0] for k in "abcd"], [int(PEOPLE[k]["Egypt"][n]) for k in "abcd"]) for n in (0, 1)]
    for column, expected in (
        ("Mean", np.mean(each)), ("Largest", max(each)), ("Smallest", min(each)), ("Median", np.median(each)),
        ("Standard deviation", np.std(each, ddof=1)),
    ):  # fmt: skip
        assert value(cell(table, "Egypt", f"{column}, Natural")) == pytest.approx(expected), column
    assert cell(table, "Egypt", "Largest, Natural").estimate.interval_reason == "not_smooth"


def test_models_stand_by_how_they_were_asked(study: Study) -> None:
    study.score("Keen", KEEN)
    study.score("Keen", KEEN, "no_retrieval")
    study.score("Coder", KEEN, "cosine")
    groups = [(row.group, row.label) for row in study.table("table-2").rows]
    assert groups == [
        ("Vision-language encoders (baseline 1)", "Coder"),
        ("Vision-language models (baseline 2)", "Keen"),
        ("CAIRE", "Keen"),
    ]


def test_a_model_that_always_says_three_has_no_correlation_and_says_why(study: Study) -> None:
    study.score("Flat", dict.fromkeys(PEOPLE, (3, 3, 3)))
    for key, row in (("table-2", "Flat"), ("table-16", "Flat"), ("table-17", "Egypt")):
        found = next(one for one in study.table(key).rows if one.label == row).cells[0]
        assert found.estimate.reason == "constant_side" and found.shown == ""


def test_what_was_not_scored_is_left_out(study: Study) -> None:
    study.score("Half", {"a": KEEN["a"], "b": KEEN["b"]})
    table = study.table("table-2")
    assert cell(table, "Half", "China, Natural").estimate.reason == "no_ratings"
    assert cell(table, "Half", "Average, Natural").estimate.extras["n_undefined"] == 1


def test_the_spread_of_scores(study: Study) -> None:
    study.score("Keen", KEEN)
    table = study.table("spread")
    assert value(cell(table, "Keen, CAIRE", "Coverage in percent, Natural")) == 1
    assert value(cell(study.table("spread", "threshold=5"), "People, mean", "Coverage in percent, Natural")) == 1 / 3
    assert 0 < value(cell(table, "People, mean", "Jensen-Shannon distance, Natural")) < 1


def test_without_models_it_says_what_to_bring(study: Study) -> None:
    for key in ("table-2", "table-15", "table-16", "table-17"):
        with pytest.raises(MissingData, match="No model has scored"):
            study.table(key)
    with pytest.raises(MissingData, match="No image has been linked"):
        study.table("table-3")
    with pytest.raises(MissingData, match="no campaign yet"):
        study.table("table-1")


GOLD = {"oni": "Japan|Akita", "kente": ["Ghana", "Ashanti"]}
# by item: label -> (CAIRE, without retrieval, with the right article)
RARE_CODES = {
    "oni": {"Japan": (5, 4, 5), "Akita": (2, 1, 4), "Kyoto": (4, 1, 1)},
    "kente": {"Ghana": (4, 2, 4), "Mali": (1, 5, 1)},
}


def rare(study: Study) -> None:
    stage = study.benchmark.stages.get(key="specific")
    items = {key: Item.objects.create(stage=stage, key=key, concept=key, context={"gold": GOLD[key]}) for key in GOLD}
    stand_in(list(items.values()))
    campaign = study.open("specific")
    for place, setting in enumerate(("", "no_retrieval", "gold_context")):
        rater = model(study.world.team, "Keen", setting)
        answers = {
            (items[key], label): str(codes[place]) for key, row in RARE_CODES.items() for label, codes in row.items()
        }
        store_answers(campaign, rater, answers)


def test_f1_on_the_specific_set_by_hand(study: Study) -> None:
    """At least 4. CAIRE: Japan, Ghana right, Kyoto wrong, Akita missed, Ashanti never scored: TP 2 FP 1 FN 1, 4/6.
    Without retrieval: Japan right, Mali wrong, Akita and Ghana missed: 2/5. With the right article: 3 of 3, 1."""
    rare(study)
    table = study.table("table-1")
    main, without = table.rows[1], table.rows[0]
    assert (main.label, main.group, without.label) == ("Keen", "CAIRE", "Keen (no retrieval)")
    assert value(main.cells[0]) == pytest.approx(4 / 6) and main.cells[0].estimate.extras["n_unscored"] == 1
    assert value(without.cells[0]) == pytest.approx(2 / 5) and without.cells[1].empty
    assert value(main.cells[1]) == value(main.cells[2]) == pytest.approx(4 / 6 - 2 / 5)
    gold = study.table("table-10").rows[0]
    assert value(gold.cells[0]) == 1 and value(gold.cells[1]) == pytest.approx(4 / 6)
    assert value(study.table("table-1", "threshold=5").rows[1].cells[0]) == pytest.approx(2 / 4)
    samples = study.table("table-1", "average=samples").rows[1].cells[0]
    assert value(samples) == pytest.approx((2 / 4 + 1) / 2), "oni: TP 1, FP 1, FN 1; kente: Ghana alone was scored"


def test_the_gain_equals_the_difference_of_the_columns_over_common_answers(study: Study) -> None:
    """The model without retrieval gave nothing for Kyoto: its F1 is over four pairs, CAIRE's over five, the gain over
    four. Over the four common pairs: CAIRE TP 2, FN 1, 4/5; without retrieval TP 1, FP 1, FN 2, 2/5."""
    rare(study)
    Rating.objects.filter(rater__setting="no_retrieval", unit__target="Kyoto", live=True).update(live=False)
    own, common = study.table("table-1"), study.table("table-1", "answers=common")
    columns = [(value(one.rows[1].cells[0]), value(one.rows[0].cells[0])) for one in (own, common)]
    assert columns == [pytest.approx((4 / 6, 2 / 5)), pytest.approx((4 / 5, 2 / 5))]
    assert value(own.rows[1].cells[1]) == pytest.approx(4 / 5 - 2 / 5)
    assert value(common.rows[1].cells[1]) == pytest.approx(columns[1][0] - columns[1][1])
    words = " ".join(str(line) for line in own.words)
    assert "the model scored (n = 4–5)" in words and "both models scored (n = 4)" in words
    assert "the strongest baseline was chosen on these data" in words.lower()
    assert "(n = 4)" in " ".join(str(line) for line in common.words)


def test_f1_has_a_reason_where_no_gold_label_was_asked(study: Study) -> None:
    """A run over the cohorts asks for Egypt and Brazil, where the gold labels are Japan and Ghana."""
    rare(study)
    campaign = Campaign.objects.get(stage__key="specific")
    items = list(Item.objects.filter(stage=campaign.stage))
    for setting in ("top_20", "no_retrieval", "gold_context"):
        store_answers(campaign, model(study.world.team, "Beside", setting), {(one, "Egypt"): "5" for one in items})
    forms = table_forms(study.world.client(study.world.owner), "caire", "table-1")
    data = json.loads(forms["json"])
    rows = {row["label"]: row["cells"] for row in data["rows"]}
    reasons = [cell["estimate"]["reason"] for cell in rows["Beside (top 20)"]]
    assert reasons == ["no_gold_asked", "no_gold_asked", "nothing_counted"], "with the baseline it shares no pair"
    assert not any(cell["shown"] for cell in rows["Beside (top 20)"])
    assert rows["Beside (no retrieval)"][0]["estimate"]["value"] is None
    assert "Strongest baseline: Keen" in " ".join(data["words"]), "one without a value is none"
    assert "asked for none of the gold labels" in forms["page"] and "asked for none of the gold labels" in forms["tex"]
    gold = study.table("table-10")
    assert cell_of(gold, "Beside (gold context)").reason == "no_gold_asked"


def cell_of(table: Table, row: str) -> Any:
    return next(one.cells[0].estimate for one in table.rows if one.label == row)


def test_a_picture_without_gold_labels_counts_for_nothing(study: Study) -> None:
    rare(study)
    before = study.table("table-1").rows[1].cells[0]
    stage = study.benchmark.stages.get(key="specific")
    other = Item.objects.create(stage=stage, key="unknown", concept="unknown")
    rater = Rater.objects.get(name="Keen", setting="")
    store_answers(Campaign.objects.get(stage=stage), rater, {(other, "Japan"): "5"})
    after = study.table("table-1").rows[1].cells[0]
    assert before.estimate == after.estimate, "nobody knows what is right of it"


def test_pictures_without_gold_labels_are_named(study: Study) -> None:
    rare(study)
    Item.objects.filter(stage__key="specific").update(context={})
    with pytest.raises(MissingData, match="gold"):
        study.table("table-1")
