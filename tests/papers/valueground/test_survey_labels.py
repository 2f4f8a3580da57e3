"""Labels of countries from the rows of a survey, against ten lines of the test's own."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from annotation.models import Campaign
from benchmarks.models import Benchmark, Item
from evaluation.tables.registry import tables_of
from papers.valueground.recipe import LABELLED
from papers.valueground.survey.models import Survey
from papers.valueground.survey.services import decisions
from papers.valueground.survey_labels import Label
from papers.valueground.tables.label_sources import label_of, load_label_sources
from tests.evaluation.sample_tables import model, store_answers, table
from tests.evaluation.test_tables_valueground import create_open_campaign, row
from tests.module_world import built_once
from tests.papers.valueground.survey_samples import (
    EIGHT,
    new_benchmark,
    questions_of,
    random_counts,
    upload,
    wvs_files,
)
from tests.personas import World

pytestmark = pytest.mark.django_db
# Codes of A and B and the places of the codes, by hand from the codebook and the adjustment.
PLACES: dict[str, tuple[int, int, dict[int, int]]] = {
    "Q56": (1, 3, {1: 1, 2: 3, 3: 2}),
    "Q111": (1, 2, {1: 1, 2: 2}),
    "Q119": (1, 5, {0: 3, 1: 1, 2: 2, 3: 4, 4: 5}),
    "Q221": (1, 3, {1: 1, 2: 2, 3: 3}),
    "Q241": (1, 10, {0: 1, **{code: code for code in range(1, 11)}}),
}
CODES = {key: sorted({*places, -1, *([3] if key == "Q111" else [4] if key == "Q221" else [])})
         for key, (_a, _b, places) in PLACES.items()}  # fmt: skip


def expected_label(key: str, counts: Mapping[str, int]) -> tuple[str | None, float | None]:
    """Side and margin by the rule of the paper: the option whose code is nearer to the mean of the valid codes."""
    a, b, places = PLACES[key]
    placed = [(places[int(code)], n) for code, n in counts.items() if int(code) in places]
    total = sum(n for _code, n in placed)
    if not total:
        return None, None
    mean = Fraction(sum(code * n for code, n in placed), total)
    to_a, to_b = abs(mean - a), abs(mean - b)
    margin = float(abs((mean - min(a, b)) / abs(a - b) - Fraction(1, 2)))
    return None if to_a == to_b else "a" if to_a < to_b else "b", margin


def labels_of(benchmark: Benchmark, keys: list[str], countries: tuple[str, ...] = LABELLED) -> dict[Any, Label]:
    sources = load_label_sources(benchmark, keys, (), countries)
    return {(key, c): label_of(source, c) for key, source in zip(keys, sources, strict=True) for c in countries}


def test_labels_of_the_real_questions_follow_the_rule_in_13_countries(world: World) -> None:
    benchmark = new_benchmark(world)
    counts = random_counts(CODES, seed=12)
    counts["Q56"]["Kenya"] = {"1": 40, "3": 11, "2": 40}  # a tie: better and worse alike, in any order of the codes
    counts["Q119"]["Japan"] = {"0": 9}  # only "hard to say", the middle of the scale
    del counts["Q221"]["Brazil"]
    counts["Q221"]["India"] = {"4": 50, "-1": 3}  # nobody who is allowed to vote
    counts["Q111"]["Turkey"] = {"3": 900, "1": 1, "2": 2}  # the adjustment leaves "other answer" out
    upload(world.client(world.owner), benchmark, {**wvs_files(), "counts": counts})
    assert {label.why for label in labels_of(benchmark, list(PLACES)).values()} <= {"codes_unresolved", "no_counts"}
    questions = questions_of(Survey.objects.get())
    for key in PLACES:
        decisions.confirm(questions[key], world.owner)
    labels = labels_of(benchmark, list(PLACES))
    for (key, country), label in labels.items():
        side, margin = expected_label(key, counts[key].get(country, {}))
        assert (label.side, label.margin) == (side, pytest.approx(margin)), (key, country)
    unscorable = {pair: label.why for pair, label in labels.items() if label.side is None}
    assert {("Q56", "Kenya"): "tie", ("Q119", "Japan"): "tie", ("Q221", "Brazil"): "no_counts",
            ("Q221", "India"): "no_counts"}.items() <= unscorable.items()  # fmt: skip
    assert {label.side for label in labels.values()} == {"a", "b", None}
    assert len(labels) == 65


@built_once
def benchmark(world: World) -> Benchmark:
    """Q10, Q2 and Q5 are confirmed; Q4 is only proposed."""
    benchmark = new_benchmark(world)
    counts = {
        "Q10": {"Egypt": {"1": 7, "2": 2}, "Brazil": {"1": 4, "2": 4}},
        "Q2": {"EG": {"1": 1, "3": 1, "2": 8}},
        "Q4": {"Egypt": {"1": 9}},
        "Q5": {"Egypt": {"0": 8, "3": 2}, "Brazil": {"3": 4}},
    }
    upload(world.client(world.owner), benchmark, {**EIGHT, "counts": counts})
    questions = questions_of(Survey.objects.get())
    decisions.confirm(questions["Q10"], world.owner)
    decisions.confirm(questions["Q5"], world.owner)
    decisions.confirm(questions["Q2"], world.owner)
    return benchmark


def answered(world: World, benchmark: Benchmark, keys: Mapping[str, tuple[str, str]]) -> Campaign:
    """A model chose picture A everywhere, in words and in pictures. `keys`: the option texts of each question."""
    stage = benchmark.stages.get(key="choice")
    items = [
        Item.objects.create(
            stage=stage, key=f"{key}-one", concept=key, condition="one", text=f"{key}?",
            context={"option_a": a, "option_b": b, "survey": {"Egypt": {"1": 1, "2": 99}}, "options": {"1": a, "2": b}},
        )
        for key, (a, b) in keys.items()
    ]  # fmt: skip
    campaign = create_open_campaign(world, benchmark, "choice", items, "Choices")
    for setting in ("main", "text_only"):
        answers = {(item, country): "a" for item in items for country in ("Egypt", "Brazil")}
        store_answers(campaign, model(world.team, "Alpha", setting), answers, field="choice")
    return campaign


TEXTS = {
    "Q10": ("Can be trusted", "Be careful"), "Q2": ("Better", "About the same"), "Q4": ("Nature", "Growth"),
    "Q5": ("Needed", "Not needed"), "Q77": ("x", "y"),
}  # fmt: skip


def test_tables_read_the_survey_and_not_the_columns_of_the_items(world: World, benchmark: Benchmark) -> None:
    answered(world, benchmark, TEXTS)
    built_table = table(benchmark, "labels")
    # Egypt: Q10 A; Q2 a mean outside "better" (1) to "the same" (2), nearer to B; Q5 is shown with its ends turned
    # round, mean (8 x 1 + 2 x 3) / 10 = 1.4 is "not needed", B. Q4 is not confirmed, Q77 is not in the survey.
    egypt, brazil = row(built_table, "Egypt"), row(built_table, "Brazil")
    names = ("Label A", "Label B", "Mean outside the options")
    assert [egypt[name].shown for name in names] == ["1", "2", "1"]
    assert egypt["Not scorable"].text == "Q4 (no codes), Q77 (no counts)"
    assert [brazil[name].shown for name in names] == ["1", "0", "0"]
    assert brazil["Not scorable"].text == "Q10 (exact tie), Q2 (no counts), Q4 (no counts), Q77 (no counts)"
    words = " ".join(str(sentence) for sentence in built_table.words)
    assert "as confirmed on the page Survey: Q10 (1, 2), Q5 (3, 1)." in words
    assert "of the texts shown: Q2 (1, 2)." in words
    assert "“pair” names other codes than the texts shown have; the texts count: Q2." in words
    assert "only the nearer one: Q2 Egypt." in words
    assert "Their pair of options is not confirmed, so they have no label: Q4." in words
    assert "They are not in the survey, so they have no label: Q77." in words


def test_a_decision_changes_the_tables_and_what_is_stored_of_them(world: World, benchmark: Benchmark) -> None:
    answered(world, benchmark, TEXTS)
    spec = next(spec for spec in tables_of(benchmark) if spec.key == "labels")
    states = [spec.state(benchmark)]  # type: ignore[misc]
    act = decisions.confirm(questions_of(Survey.objects.get())["Q4"], world.owner)
    assert row(table(benchmark, "labels"), "Egypt")["Label A"].shown == "2"
    states.append(spec.state(benchmark))  # type: ignore[misc]
    decisions.undo(Survey.objects.get(), act, world.owner)
    assert row(table(benchmark, "labels"), "Egypt")["Label A"].shown == "1"
    states.append(spec.state(benchmark))  # type: ignore[misc]
    assert len(set(states)) == 3, "a stored table is computed again after each of them"
