"""Sentences that pages write from their numbers, and filter bars that show what matters and what was set."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from annotation.models import Campaign
from evaluation.figures import table_figures
from evaluation.figures.caption import caption_of
from evaluation.figures.drawing import heat_map
from evaluation.figures.drawing.axis import Value
from evaluation.figures.drawing.scene import Rect
from evaluation.figures.estimate_text import number_columns
from evaluation.figures.figure import Figure
from evaluation.metrics.proportions import share_of
from evaluation.reports.agreement_headline import _cohort_sentences, _pooled_sentence, _range_sentence
from evaluation.selections.catalogue import POOLED
from tests.chains.link_client import text_of
from tests.evaluation.data import of_condition, table
from tests.evaluation.test_agreement_page import campaign, rated  # noqa: F401  (fixtures)
from tests.personas import World


def page(world: World, query: str = "") -> str:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement/{query}")
    assert reply.status_code == 200
    return str(reply.content.decode())


def headline(world: World, query: str = "") -> str:
    match = re.search(r'<p class="headline">(.*?)</p>', page(world, query), re.DOTALL)
    return text_of(match[1]) if match else ""


def test_legend_says_from_how_many_items_on_a_value_is_not_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (share_of(n // 2, n, method="share") for n in (6, 20))
    assert str(table_figures._counted_words([few, many])).endswith(f"grey: fewer than {heat_map.SMALL}")
    assert "grey" not in str(table_figures._counted_words([many]))
    monkeypatch.setattr(heat_map, "SMALL", 5)
    assert "grey" not in str(table_figures._counted_words([few])), "one constant for the drawing and its words"


@pytest.mark.django_db
def test_headline_names_the_lowest_and_the_highest_cohort(world: World, rated: Campaign) -> None:  # noqa: F811
    words = headline(world)
    shown = dict(zip(cohorts_of(world), values_of(world), strict=True))
    assert words == f"Alpha, ordinal is {shown['Egypt']} in Egypt. 1 cohort has no value there."
    natural = of_condition(world.items, "natural")
    table(rated, world.brazil, natural[5:10], {world.bia: "11223", world.caio: "11223"})
    words = headline(world)
    assert words == f"Alpha, ordinal within a cohort lies between {shown['Egypt']} (Egypt) and 1.00 (Brazil)."
    assert not re.search("good|moderate|poor|low |high ", words), "it has no words of grade"


@pytest.mark.django_db
def test_headline_has_the_numbers_of_the_table_below_it(world: World, rated: Campaign) -> None:  # noqa: F811
    """Over all conditions, as the first table; not of one condition, whose numbers may be in another order."""
    for query in ("", "?by=all", "?condition=natural", "?as=relevance:alpha_nominal"):
        numbers = re.findall(r"\d\.\d\d", headline(world, query))
        assert numbers and set(numbers) <= set(values_of(world, query)), query


def values_of(world: World, query: str = "") -> list[str]:
    """The first number of each row of the table of questions; "" where there is none."""
    rows = questions_of(world, query)
    estimates = [next(iter(row["estimates"].values())) for row in rows]
    return ["" if one["value"] is None else f"{one['value']:.2f}" for one in estimates]


def cohorts_of(world: World) -> list[str]:
    return [row["cohort"]["label"] for row in questions_of(world, "")]


def questions_of(world: World, query: str) -> list[dict[str, Any]]:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement.json{query}")
    rows: list[dict[str, Any]] = reply.json()["questions"]
    return rows


def test_equal_cohorts_are_named_together() -> None:
    values = [(1.0, "Brazil"), (0.9999, "Egypt")]
    assert _range_sentence("Alpha, nominal", values) == "Alpha, nominal is 1.00 in Brazil and Egypt."
    assert _range_sentence("Alpha, nominal", values[:1]) == "Alpha, nominal is 1.00 in Brazil."


def row(pk: int, value: float | None) -> Any:
    cohort = SimpleNamespace(pk=pk, name=f"Cohort {pk}")
    measures, estimates = [SimpleNamespace(label="Alpha, nominal")], [SimpleNamespace(value=value)]
    return SimpleNamespace(cohort=cohort, measures=measures, estimates=estimates)


def test_row_of_all_cohorts_together_is_no_cohort_without_a_value() -> None:
    rows = [row(POOLED, None), row(1, 0.5), row(2, 0.6)]
    between = "Alpha, nominal within a cohort lies between 0.50 (Cohort 1) and 0.60 (Cohort 2)."
    assert (_pooled_sentence(rows), _cohort_sentences(rows)) == ([], [between])
    assert _cohort_sentences([*rows, row(3, None)]) == [between, "1 cohort has no value there."]


def test_all_cohorts_have_a_value_where_no_cohort_has_one() -> None:
    rows = [row(POOLED, 0.5), row(1, None), row(2, None)]
    assert _pooled_sentence(rows) == ["Alpha, nominal is 0.50 among the people of all cohorts together."]
    assert _cohort_sentences(rows) == []


@pytest.mark.django_db
def test_headline_of_nothing_says_what_is_needed(world: World, campaign: Campaign) -> None:  # noqa: F811
    assert headline(world) == "No cohort has a value yet: each item needs two answers."
    assert headline(world, "?by=time") == "", "weeks are no cohorts"


@pytest.mark.django_db
def test_three_filters_are_in_view_and_what_was_set_can_be_reset(world: World, rated: Campaign) -> None:  # noqa: F811
    bar = page(world).split('class="unfolded"')[1].split("</form>")[0]
    in_view, folded = bar.split('class="more-filters"')
    assert in_view.count("<select") <= 3 and 'name="measure"' in in_view
    sent = page(world, "?interval=units-and-raters&counted=counted&since=&measure=alpha_ordinal")
    assert "is-set" not in sent, "what the form sends of itself was not chosen"
    assert 'name="interval"' in folded and "is-set" not in bar and 'name="since"' in folded
    shown = page(world, "?interval=units&condition=natural")
    in_view = shown.split('class="unfolded"')[1].split('class="more-filters"')[0]
    assert (
        in_view.count("is-set") == 2 and 'href="?condition=natural"' in in_view and 'href="?interval=units"' in in_view
    )


def figure(*rows: tuple[str, float | None, int], alt: str = "Seen.") -> Figure:
    numbers = tuple((name, value, None, None, n, 3, "") for name, value, n in rows)
    return Figure("f", "F", alt, ("model", *number_columns()), numbers, lambda _width: None)  # type: ignore[arg-type, return-value]


def test_caption_names_the_extremes_of_values_on_enough_items() -> None:
    words = caption_of(figure(("a", 0.2, 20), ("b", 0.9, 8), ("c", 1.0, 7), ("d", None, 0)))
    assert "b" in words and "0.90" in words and "a" in words and "0.20" in words and "1.00" not in words
    assert "1 values on fewer than 8 items are not compared." in words
    assert caption_of(figure(("c", 1.0, 7))) == "Every value rests on fewer than 8 items: too few to compare."
    assert caption_of(figure(("d", None, 0))) == ""


def test_figure_without_such_numbers_has_its_text_where_it_is_short() -> None:
    short = Figure("f", "F", "Three boxes.", ("a", "b"), (), lambda _width: None)  # type: ignore[arg-type, return-value]
    assert caption_of(short) == "Three boxes."
    long = Figure("f", "F", "x" * 300, ("a", "b"), (), lambda _width: None)  # type: ignore[arg-type, return-value]
    assert caption_of(long) == ""


def test_value_on_few_items_has_no_colour_of_the_scale() -> None:
    cells = ((Value(0.9, 0.8, 1.0, 8), Value(0.9, 0.8, 1.0, 7), Value(None, why="none")),)
    for counted, patterns in (("n: items", ["", "faint", "hatch"]), ("", ["", "", "hatch"])):
        scene = heat_map.draw(heat_map.HeatMap(("m",), ("a", "b", "c"), cells, 0, 1, "r", "none", counted), 760)
        drawn = [mark for group in scene.groups for mark in group.marks if isinstance(mark, Rect)][:3]
        assert [mark.pattern for mark in drawn] == patterns
