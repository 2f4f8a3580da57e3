"""The level of a question decides which measures are offered, and which is taken when none is asked for."""

import re
from typing import Any, get_args

import pytest
from django.http import QueryDict
from django.utils import timezone, translation

from annotation.fields.contract import AgreementLevel
from annotation.models import Annotation, Campaign, Rating
from evaluation.metrics.estimate import REASONS, Estimate
from evaluation.rendering.axis import FULL, SHORT, axis_for
from evaluation.rendering.html import estimate_bar
from evaluation.rendering.number_format import format_number, format_percent
from evaluation.rendering.reason_text import NO_INTERVAL, NO_VALUE, interval_sentence, reason_sentence, reason_title
from evaluation.reports.agreement import agreement
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.measures import LEVEL_LABELS, MEASURES, default_measure, offered_measures, select_measures
from evaluation.selections.selection import SelectionError, select
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.personas import World

CHOICE: dict[str, Any] = {
    "key": "sort", "kind": "choice", "version": 1, "label": {"en": "What is it?"}, "help": {}, "required": True,
    "config": {"many": False, "options": [{"code": code, "label": {"en": code}} for code in ("food", "dress", "-")]},
}  # fmt: skip
TEXT: dict[str, Any] = {
    "key": "note", "kind": "text", "version": 1, "label": {"en": "Say more"}, "help": {}, "required": False,
    "config": {"long": True, "max_length": 200},
}  # fmt: skip


def keys(level: str) -> set[str]:
    return {measure.key for measure in offered_measures(level)}


def test_only_what_the_level_allows_is_offered() -> None:
    assert keys("nominal") == {"alpha_nominal", "percent", "kappa"}
    whole = {
        "partition": {"pairwise_f1", "adjusted_rand", "keep_alpha"},
        "set": {"alpha_masi", "alpha_jaccard"},
        "box": {"overlap", "alpha_overlap", "f1_overlap"},
        "text": {"no_text_measure", "exact_match", "alpha_text"},
        "none": {"no_measure"},
    }
    assert {level: keys(level) for level in whole} == whole
    assert keys("ordinal") == {measure.key for measure in MEASURES} - set().union(*whole.values())


@pytest.mark.parametrize("level", get_args(AgreementLevel))
def test_every_level_has_a_name_and_offers_its_default(level: str) -> None:
    assert level in LEVEL_LABELS and default_measure(level) in keys(level)


def test_the_default_fits_and_needs_no_warning() -> None:
    for level in ("nominal", "ordinal", "interval", "ratio", "set", "text", "none"):
        [measure] = select_measures(default_measure(level), level)
        assert level in measure.levels
        assert not measure.warning(level)
    [overlap] = select_measures(default_measure("box"), "box")
    assert "not corrected for chance" in str(overlap.warning("box"))
    assert [m.key for m in select_measures("alpha_options", "set", ["a", "b"])] == ["alpha_option:a", "alpha_option:b"]
    assert [m.key for m in select_measures("table", "ordinal")] == ["alpha_ordinal", "spearman", "pearson"]


def with_sheet(world: World, *fields: dict[str, Any]) -> Campaign:
    stage = world.stage
    stage.sheet = {"fields": list(fields)}
    stage.save()
    world.add_items(8)
    return an_open_campaign(world)


def test_codes_without_an_order_are_compared_as_they_are(world: World) -> None:
    campaign = with_sheet(world, CHOICE)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1123", world.tarek: "1223"})
    names = {"1": "food", "2": "dress", "3": "-"}
    for rating in Rating.objects.all():
        Rating.objects.filter(pk=rating.pk).update(field="sort", code=names[rating.code], value=None)
    catalogue = catalogue_of(world.benchmark)
    selection = select(catalogue, QueryDict(""))
    assert (selection.level, selection.measure) == ("nominal", "alpha_nominal")
    report = agreement(catalogue, selection, timezone.now())
    cell = next(c for row in report.rows for c in row.cells if row.cohort == world.egypt and c.condition == "natural")
    # 1 of 4 pairs disagrees: D_o = 2 / 8. Codes 3, 3, 2: D_e = (64 - 9 - 9 - 4) / (8 x 7) = 42 / 56. alpha = 2/3.
    assert cell.estimates[0].value == pytest.approx(2 / 3)
    with pytest.raises(SelectionError, match="spearman"):
        select(catalogue, QueryDict("measure=spearman"))


def test_a_question_without_a_measure_by_default_says_why(world: World) -> None:
    with_sheet(world, TEXT)
    with pytest.raises(SelectionError, match="No question"):
        select(catalogue_of(world.benchmark), QueryDict(""))
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement/")
    assert page.status_code == 200
    assert "No agreement by default." in page.content.decode()
    judge = world.client(world.mara).get(f"/b/{world.benchmark.slug}/judge/")
    assert "No stage asks a question with options or a scale" in judge.content.decode()


def test_rounds_with_different_codes_are_not_mixed(world: World) -> None:
    world.add_items(4)
    first = an_open_campaign(world)
    world.stage.refresh_from_db()
    second = with_sheet(world, CHOICE)
    catalogue = catalogue_of(world.benchmark)
    assert select(catalogue, QueryDict("")).campaigns == (second.pk,)
    with pytest.raises(SelectionError, match="different options"):
        select(catalogue, QueryDict(f"campaign={first.pk}&campaign={second.pk}"))


def test_an_older_round_is_read_by_its_own_sheet(world: World) -> None:
    world.add_items(4)
    first = an_open_campaign(world)
    with_sheet(world, CHOICE)
    selection = select(catalogue_of(world.benchmark), QueryDict(f"campaign={first.pk}"))
    assert (selection.field, selection.level) == ("relevance", "ordinal")


def test_a_selection_carries_what_was_asked_and_no_more(world: World) -> None:
    world.add_items(4)
    an_open_campaign(world)
    selection = select(catalogue_of(world.benchmark), QueryDict("measure=percent&someone=else&cohort="))
    assert selection.to_params() == [("measure", "percent")]
    assert select(catalogue_of(world.benchmark), QueryDict("measure=percent")) == selection
    assert Annotation.objects.count() == 0


TITLE_SUFFICES = {"no_ratings", "nothing_counted"}


def test_every_reason_has_words() -> None:
    assert set(NO_VALUE) | set(NO_INTERVAL) == set(REASONS)
    for language in ("en", "ar"):
        with translation.override(language):
            for reason in NO_VALUE:
                estimate = Estimate.undefined(reason=reason, method="x", n_raters=1)
                assert reason_title(estimate)
                assert reason_sentence(estimate) or reason in TITLE_SUFFICES
            for reason in set(NO_INTERVAL) - {"no_value", "not_asked"}:
                some = Estimate.of(0.5, interval_reason=reason, method="x", n_units=1, n_raters=1, n_ratings=1)
                assert interval_sentence(some)


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


@pytest.mark.parametrize("reason", sorted(NO_VALUE))
def test_a_reason_is_given_once(reason: str) -> None:
    """Title and sentence stand side by side: "No ratings yet. There are no ratings yet." says nothing twice."""
    estimate = Estimate.undefined(reason=reason, method="x", n_raters=1)
    assert not words_of(reason_title(estimate)) <= words_of(reason_sentence(estimate))


def test_numbers_are_shown_so_that_none_says_more_than_it_knows() -> None:
    assert [format_number(x) for x in (0.415, -0.114, -0.001, 1.0)] == ["0.42", "−0.11", "0.00", "1.00"]
    assert [format_percent(x) for x in (None, 0.0, 0.0004, 0.015, 0.5, 0.9996, 1.0)] == [
        "", "0 %", "0.1 %", "1.5 %", "50 %", "99.9 %", "100 %",
    ]  # fmt: skip


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate.of(value, interval=(low, high), method="x", n_units=9, n_raters=3, n_ratings=27)


def test_the_axis_holds_what_it_shows_and_says_what_it_cuts() -> None:
    assert axis_for([estimate(0.5, -0.1, 0.7)]) is SHORT
    assert axis_for([estimate(0.5, -0.3, 0.7)]) is FULL
    drawn = estimate_bar(estimate(-0.5, -3.0, 0.2), FULL)
    assert (drawn["low"], drawn["at"], drawn["cut"]) == ("0.0", "60.0", True)
    assert not estimate_bar(estimate(0.5, 0.4, 0.6), SHORT)["cut"]
