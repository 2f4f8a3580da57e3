"""Tables that a researcher composes on a page: each kind in every form, and what does not fit is refused beside it."""

import json
import math
import re
from typing import Any

import pytest

from benchmarks.models import Benchmark, Item
from evaluation.models import BenchmarkTable
from evaluation.tables.registry import tables_of
from tests.chains.link_client import text_of
from tests.evaluation.data import an_open_campaign, table
from tests.evaluation.output_forms import table_data, table_forms
from tests.evaluation.sample_tables import model, store_answers
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
QUESTION = "relevance"


@built_once
def answered(world: World) -> Benchmark:
    """Eight items with ratings by three people and a model; the column “right” says 1 of half of them."""
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, world.items, {world.nour: "12345123", world.tarek: "12354124"})
    table(campaign, world.brazil, world.items, {world.bia: "54321543"})
    answers = {(item, "Egypt"): code for item, code in zip(world.items, "12345123", strict=True)}
    store_answers(campaign, model(world.team, "Near"), answers)
    for number, item in enumerate(world.items):
        Item.objects.filter(pk=item.pk).update(text=f"Thing {number}", context={"right": "1" if number % 2 else ""})
    return world.benchmark


def compose(world: World, kind: str, **more: Any) -> Any:
    stage = world.benchmark.stages.get().key
    data = {"name": f"My {kind}", "question": f"{stage}|{QUESTION}", "stage": stage, "rows": "item", "key": "right"}
    url = f"/b/{world.benchmark.slug}/tables/new/?kind={kind}"
    return world.client(world.mara).post(url, {**data, "measure": "", **more})


@pytest.mark.parametrize(("kind", "more", "columns"), [
    ("agreement", {}, None),
    ("models", {}, ["All cohorts", "Brazil", "Egypt"]),
    ("models", {"measure": "pearson"}, ["All cohorts", "Brazil", "Egypt"]),
    ("ranking", {"measure": "mean"}, ["Place", "Mean", "Answers"]),
    ("distribution", {"rows": "cohort"}, None),
    ("coverage", {}, None),
    ("accuracy", {"rows": "cohort"}, None),
])  # fmt: skip
def test_each_kind_is_made_of_choices_and_has_every_form(
    world: World, answered: Benchmark, kind: str, more: dict[str, Any], columns: list[str] | None
) -> None:
    reply = compose(world, kind, **more)
    assert reply.status_code == 302 and reply.url == f"/b/{answered.slug}/tables/my-{kind}/"
    data = json.loads(table_forms(world.client(world.mara), answered.slug, f"my-{kind}")["json"])
    assert data["rows"] and (columns is None or sorted(data["columns"]) == sorted(columns))


def test_a_ranking_has_the_highest_mean_first_with_the_places_it_may_have(world: World, answered: Benchmark) -> None:
    compose(world, "ranking", measure="mean")
    rows = table_data(world.client(world.mara), answered.slug, "my-ranking")["rows"]
    means = [row["cells"][1]["estimate"]["value"] for row in rows]
    assert len(rows) == 8 and means == sorted(means, reverse=True)
    place = rows[0]["cells"][0]["estimate"]
    assert place["low"] <= place["value"] <= place["high"] and place["n_raters"] == 3
    ends = [row["cells"][1]["estimate"][end] for row in rows for end in ("low", "high")]
    assert ends and all(1 <= end <= 5 for end in ends if end is not None), "the scale goes from 1 to 5"
    reasons = {row["cells"][1]["estimate"]["interval_reason"] for row in rows}
    assert "too_wide" in reasons, "an interval from 1 to 5 says nothing"


def test_n_of_a_ranking_is_items_and_raters_and_not_answers(world: World, answered: Benchmark) -> None:
    """Two conditions of several items each, rated by all three people; then each item by itself."""
    for rows, least in (("condition", 2), ("item", 1)):
        reply = compose(world, "ranking", measure="mean", rows=rows)
        data = table_data(world.client(world.mara), answered.slug, reply.url.rstrip("/").rpartition("/")[2])
        for row in data["rows"]:
            place, mean, answers = row["cells"]
            counts = [(cell["estimate"]["n_units"], cell["estimate"]["n_raters"]) for cell in (place, mean)]
            n_items, n_raters = counts[0]
            assert counts[1] == counts[0] and n_items >= least and (rows == "condition" or n_items == 1)
            assert place["estimate"]["resampled"] == mean["estimate"]["resampled"] == "raters"
            assert place["estimate"]["n_ratings"] == mean["estimate"]["n_ratings"] == int(answers["shown"])
            assert int(answers["shown"]) <= n_items * n_raters, "n = items x raters holds every answer once"


@pytest.mark.parametrize("kind", ["distribution", "accuracy"])
def test_n_of_a_share_is_items_and_raters_and_not_answers(world: World, answered: Benchmark, kind: str) -> None:
    compose(world, kind, rows="cohort")
    data = table_data(world.client(world.mara), answered.slug, f"my-{kind}")
    estimates = [cell["estimate"] for row in data["rows"] for cell in row["cells"] if cell.get("estimate")]
    with_people = [one for one in estimates if one["n_raters"] > 1]
    assert with_people and all(one["n_ratings"] <= one["n_units"] * one["n_raters"] for one in with_people)
    assert max(one["n_units"] for one in estimates) <= len(world.items)


SIDES = (("X", "Y"), ("Y", "Z"), ("X", "Z"), ("Y", "X"), ("Z", "Y"), ("Z", "X"))


@built_once
def compared(world: World) -> Benchmark:
    """Each pair of three things, both ways round, by three people: 1 is a win of side A, 2 of side B, 3 a tie.

    Wins: X 4 + 3.5 + 3, Y 2 + 2 + 3, Z 0 + 0.5 + 0, of 12 comparisons each.
    """
    world.add_items(len(SIDES))
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, world.items, {world.nour: "111222", world.tarek: "111223"})
    table(campaign, world.brazil, world.items, {world.bia: "211222"})
    for item, (first, second) in zip(world.items, SIDES, strict=True):
        Item.objects.filter(pk=item.pk).update(context={"option_a": first, "option_b": second})
    return world.benchmark


def ranked(world: World, measure: str) -> dict[str, list[dict[str, Any]]]:
    """By the name of a thing its place and its score."""
    assert compose(world, "ranking", measure=measure, first="1", second="2").status_code == 302
    rows = json.loads(table_forms(world.client(world.mara), world.benchmark.slug, "my-ranking")["json"])["rows"]
    return {row["label"]: [cell["estimate"] for cell in row["cells"][:2]] for row in rows}


def test_a_share_of_comparisons_won_counts_half_a_win_for_a_tie(world: World, compared: Benchmark) -> None:
    rows = ranked(world, "win_share")
    assert list(rows) == ["X", "Y", "Z"]
    assert [score["value"] for _place, score in rows.values()] == pytest.approx([10.5 / 12, 7 / 12, 0.5 / 12])
    for number, (place, _score) in enumerate(rows.values(), start=1):
        assert place["low"] <= place["value"] == number <= place["high"]
        assert (place["n_raters"], place["n_ratings"]) == (3, 12)


def test_things_that_no_pair_connects_are_ranked_apart(world: World, compared: Benchmark) -> None:
    """As where each cohort compares what its own people wrote: no strength of one says anything about the other's."""
    for item, sides in zip(
        world.items, [("X", "Y"), ("Y", "X"), ("X", "Y"), ("P", "Q"), ("P", "Q"), ("P", "Q")], strict=True
    ):
        Item.objects.filter(pk=item.pk).update(context=dict(zip(("option_a", "option_b"), sides, strict=True)))
    rows = ranked(world, "bradley_terry")
    assert sorted(place["value"] for place, _score in rows.values()) in ([1, 1, 2, 2], [1, 1.5, 1.5, 2])
    for group in ("XY", "PQ"):
        assert sum(rows[name][1]["value"] for name in group) == pytest.approx(0, abs=1e-6)
    data = table_data(world.client(world.mara), compared.slug, "my-ranking")
    assert {row["label"]: row["group"] for row in data["rows"]} in (
        {"X": "Group 1", "Y": "Group 1", "P": "Group 2", "Q": "Group 2"},
        {"P": "Group 1", "Q": "Group 1", "X": "Group 2", "Y": "Group 2"},
    )
    assert "No pair connects the groups" in str(data)


def test_strengths_solve_the_equations_of_bradley_and_terry(world: World, compared: Benchmark) -> None:
    """Wins are what the strengths expect, with half a win more each way in each pair: 6 + 1 comparisons of a pair."""
    rows = ranked(world, "bradley_terry")
    strengths = {name: score["value"] for name, (_place, score) in rows.items()}
    assert all(score["low"] < score["value"] < score["high"] for _place, score in rows.values())
    assert list(rows) == ["X", "Y", "Z"] and sum(strengths.values()) == pytest.approx(0, abs=1e-6)
    for name, wins in {"X": 10.5, "Y": 7, "Z": 0.5}.items():
        others = [strength for other, strength in strengths.items() if other != name]
        expected = sum(7 / (1 + math.exp(other - strengths[name])) for other in others)
        assert expected == pytest.approx(wins + 1, abs=1e-6)


def test_pairs_that_do_not_say_their_sides_are_not_ranked(world: World, compared: Benchmark) -> None:
    compose(world, "ranking", measure="win_share", first="1", second="2")
    Item.objects.filter(pk=world.items[0].pk).update(context={"option_a": "X"})
    mara, url = world.client(world.mara), f"/b/{compared.slug}/tables/my-ranking"
    for reply in (mara.get(f"{url}/"), mara.get(f"{url}.json")):
        assert "Some pairs do not say what both sides are." in reply.content.decode()


def test_a_table_is_changed_under_its_key_and_removed_for_good(world: World, answered: Benchmark) -> None:
    compose(world, "ranking", measure="mean")
    mara, url = world.client(world.mara), f"/b/{answered.slug}/tables/new/?table=my-ranking"
    stage = answered.stages.get().key
    changed = {"name": "Better", "question": f"{stage}|{QUESTION}", "rows": "condition", "measure": "mean"}
    assert mara.post(url, changed).url == f"/b/{answered.slug}/tables/my-ranking/"
    row = BenchmarkTable.objects.get()
    assert (row.key, row.name, row.rows, row.version) == ("my-ranking", "Better", "condition", 2)
    assert len(table_data(mara, answered.slug, "my-ranking")["rows"]) == 2, "two conditions"
    assert "Better" in mara.get(f"/b/{answered.slug}/tables/").content.decode()
    mara.post(url, {"do": "remove"})
    assert mara.get(f"/b/{answered.slug}/tables/my-ranking/").status_code == 404
    assert compose(world, "ranking", measure="mean").url.endswith("/my-ranking-2/")


def test_all_tables_of_a_benchmark_are_known_by_one_query(
    world: World, answered: Benchmark, django_assert_num_queries: Any
) -> None:
    for kind in ("coverage", "agreement", "distribution", "ranking"):
        compose(world, kind, measure="mean" if kind == "ranking" else "")
    with django_assert_num_queries(1):
        keys = [spec.key for spec in tables_of(answered) if spec.composed]
    assert keys == ["my-coverage", "my-agreement", "my-distribution", "my-ranking"]


def test_what_does_not_fit_is_refused_in_place(world: World, answered: Benchmark) -> None:
    for more, message in (
        ({"measure": "win_share"}, "Choose the answer."),
        ({"measure": "win_share", "first": "1", "second": "1"}, "Both sides cannot win by the same answer."),
        ({"question": "rating|nothing", "measure": "mean"}, "Select a valid choice."),
        ({"rows": "context.unknown", "measure": "mean"}, "Select a valid choice."),
    ):
        reply = compose(world, "ranking", **more)
        assert reply.status_code == 400 and message in reply.content.decode()
    assert not BenchmarkTable.objects.exists()
    assert world.client(world.mara).get(f"/b/{answered.slug}/tables/new/?kind=nothing").status_code == 404


def options_of(page: str, name: str) -> dict[str, str]:
    """Of a select what each value is called."""
    select = re.search(rf'<select[^>]*name="{name}".*?</select>', page, re.DOTALL)
    assert select, f"no {name}"
    return {
        value: text_of(label) for value, label in re.findall(r'<option value="([^"]*)"[^>]*>(.*?)</option>', select[0])
    }


def test_a_table_offers_the_answers_and_rows_of_the_chosen_question_by_their_labels(
    world: World, compared: Benchmark
) -> None:
    first, sheet = world.stage, {"fields": [{
        "key": "verdict", "kind": "choice", "version": 1, "label": {"en": "Does it convince?"}, "required": True,
        "config": {"options": [{"code": "0", "label": {"en": "No way"}}, {"code": "1", "label": {"en": "Sure"}}]},
    }]}  # fmt: skip
    judge = compared.stages.create(key="judge", name="Judge", position=1, display="candidate", sheet=sheet)
    context = {
        "candidate": "Tea",
        "candidate_by": "human",
        "setting": "",
        "run": None,
        "references": ["Tea"],
        "era": "x",
    }
    judge.items.create(key="j", origin="Egypt", context=context)
    mara, url = world.client(world.mara), f"/b/{compared.slug}/tables/new/?kind=ranking"
    page = mara.get(url).content.decode()
    assert list(options_of(page, "question")) == [f"{first.key}|{QUESTION}", "judge|verdict"]
    assert set(options_of(page, "first")) == {"", "1", "2", "3", "4", "5"}
    assert options_of(page, "first")["5"] == "Highly relevant" and "context.option_a" in options_of(page, "rows")
    page = mara.get(f"{url}&question=judge|verdict").content.decode()
    assert options_of(page, "first") == options_of(page, "second") == {"": "Choose", "0": "No way", "1": "Sure"}
    assert options_of(page, "rows") == {
        "item": "Items, by their text", "origin": "Origins", "context.candidate": "Judged answers",
        "context.candidate_by": "Authors of judged answers",
        "context.setting": "Prompt variants of judged answers", "context.era": "Their “era”",
    }  # fmt: skip
    assert mara.post(url, {"question": "judge|verdict", "measure": "mean", "rows": "origin"}).status_code == 302
    assert BenchmarkTable.objects.get().stage == "judge"
    assert mara.post(url, {"question": "judge|verdict", "measure": "mean", "rows": "concept"}).status_code == 400


def test_only_who_works_on_the_benchmark_composes_tables(world: World, answered: Benchmark) -> None:
    url = f"/b/{answered.slug}/tables/new/"
    for user in (world.reviewer, world.nour, world.rival, world.stranger):
        assert world.client(user).get(url).status_code == 404
        assert world.client(user).post(f"{url}?kind=coverage", {"stage": "rating"}).status_code == 404
    assert world.client(world.mara).get(url).status_code == 200


def test_an_item_that_is_called_all_has_a_column_of_its_own(world: World, answered: Benchmark) -> None:
    Item.objects.filter(pk=world.items[1].pk).update(text="All")
    compose(world, "accuracy")
    data = table_data(world.client(world.mara), answered.slug, "my-accuracy")
    assert data["columns"].count("All, %") == 2
    assert {len(row["cells"]) for row in data["rows"]} == {len(data["columns"])}
