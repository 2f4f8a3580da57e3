"""The independent package beside our alpha: when it is asked, what it says, and when it is left alone."""

from typing import Any

import numpy as np
import pytest

from annotation.models import Campaign
from evaluation.metrics.alpha import alpha
from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.reports import alpha_check as module
from evaluation.reports.alpha_check import bytes_needed, check_alpha, same_decimals
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World

GAPS = Ratings.from_matrix([[1, 1, np.nan], [2, 2, 3], [1, 2, 2], [4, np.nan, 4], [5, 5, 4], [3, np.nan, np.nan]])
CONSTANT = Ratings.from_matrix([[1, 1], [1, 1], [1, 1]])


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_both_say_the_same_to_twelve_decimals(level: Any) -> None:
    ours = alpha(GAPS, level)
    found = check_alpha(GAPS, level, ours)
    assert found.value == pytest.approx(ours.value, abs=1e-12)
    assert (found.decimals, found.same, found.words) == (12, True, "same to 12 decimals")


def test_difference_is_reported_with_the_digits_that_agree() -> None:
    right = alpha(GAPS, "nominal")
    assert right.value is not None
    wrong = Estimate.of(right.value + 3e-4, method="x", n_units=1, n_raters=2, n_ratings=2)
    found = check_alpha(GAPS, "nominal", wrong)
    assert (found.decimals, found.same, found.words) == (3, False, "differs after 3 decimals")
    assert not check_alpha(CONSTANT, "nominal", right).same


def test_without_variation_neither_has_a_value() -> None:
    found = check_alpha(CONSTANT, "ordinal", alpha(CONSTANT, "ordinal"))
    assert (found.value, found.reason, found.same) == (None, "no_value", True)
    nobody = Ratings.from_matrix(np.zeros((0, 0)))
    assert check_alpha(nobody, "ordinal", alpha(nobody, "ordinal")).reason == "no_value"


def test_it_is_not_asked_where_it_would_not_fit_in_memory() -> None:
    # 500 units by two raters, each rating a number of its own: 1,000 values, 500 x 1,000 x 1,000 x 32 bytes = 16 GB
    rng = np.random.default_rng(3)
    many = Ratings.from_matrix(rng.random((500, 2)))
    assert bytes_needed(500, 2, 1000) > 16e9
    found = check_alpha(many, "interval", alpha(many, "interval"))
    assert (found.value, found.reason) == (None, "too_large")
    assert found.words == "not available: it would take 16.0 GB"
    assert bytes_needed(10_000, 200, 5) < module.MOST_BYTES  # a large study still fits


def test_the_estimate_of_its_memory_is_about_right() -> None:
    import tracemalloc

    given = Ratings.from_matrix(np.random.default_rng(1).integers(1, 21, (1500, 12)).astype(float))
    tracemalloc.start()
    check_alpha(given, "ordinal", alpha(given, "ordinal"))
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.4 < peak / bytes_needed(1500, 12, 20) < 1.5


def test_without_the_package_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "package", None)
    found = check_alpha(GAPS, "nominal", alpha(GAPS, "nominal"))
    assert (found.reason, found.same) == ("not_installed", False)
    assert "verify" in found.words


@pytest.mark.parametrize(
    ("ours", "theirs", "decimals"), [(0.5, 0.5, 12), (0.5, 0.5 + 1e-13, 12), (0.5, 0.51, 1), (0.5, 1.5, 0), (-3, 8, 0)]
)
def test_decimals_that_are_the_same_are_counted(ours: float, theirs: float, decimals: int) -> None:
    assert same_decimals(ours, theirs) == decimals


@built_once
def rated(world: World) -> Campaign:
    world.add_items(20)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural[:5], {world.nour: "11223", world.tarek: "12233"})
    return campaign


def test_the_agreement_page_and_its_json_have_it_on_request(world: World, rated: Campaign) -> None:
    client, page = world.client(world.mara), f"/b/{world.benchmark.slug}/agreement/"
    assert "Check alpha with another library" in client.get(page).content.decode()
    assert "0.454545454545" not in client.get(page + "?measure=alpha_nominal").content.decode()
    shown = client.get(page + "?measure=alpha_nominal&second=1").content.decode()
    assert shown.count("0.454545454545") == 2  # 1 - 0.4 x 90 / 66, by both
    assert "same to 12 decimals" in shown
    assert "None of the measures shown is an alpha." in client.get(page + "?measure=percent&second=1").content.decode()
    data = client.get(page.rstrip("/") + ".json?measure=table&second=1").json()
    lines = {(line["cohort"], line["condition"]): line for line in data["second_opinion"]}
    assert lines["Egypt", "natural"]["same"]
    assert lines["Egypt", "natural"]["theirs"] == pytest.approx(lines["Egypt", "natural"]["ours"], abs=1e-12)
    assert lines["Brazil", "natural"]["reason"] == "no_value"
    assert "second_opinion" not in client.get(page.rstrip("/") + ".json").json()
