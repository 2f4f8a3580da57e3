"""A mean of numbers of a table: over those that are defined, the cultures taken as drawn."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.averages import mean_of
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Scale


def estimates_of(*values: float | None) -> list[Estimate]:
    return [
        Estimate.undefined(reason="no_ratings", method="m")
        if value is None
        else Estimate.of(value, method="m", n_units=10, n_raters=4, n_ratings=40)
        for value in values
    ]


def test_mean_and_interval_by_hand() -> None:
    """.2 .4 .9: mean .5; s^2 = (.09 + .01 + .16) / 2 = .13; step t(2) x sqrt(.13 / 3)."""
    estimate = mean_of(estimates_of(0.2, 0.4, 0.9), "cohorts")
    step = stats.t.ppf(0.975, 2) * np.sqrt(0.13 / 3)
    assert estimate.value == pytest.approx(0.5)
    assert (estimate.low, estimate.high) == (pytest.approx(0.5 - step), pytest.approx(0.5 + step))
    assert (estimate.resampled, estimate.n_units, estimate.n_raters, estimate.n_ratings) == ("cohorts", 30, 4, 120)


def test_it_is_scipys_t_interval_and_knows_no_order() -> None:
    values = np.random.default_rng(0).normal(size=9)
    found = mean_of(estimates_of(*values), "cohorts", level=0.9)
    low, high = stats.t.interval(0.9, 8, values.mean(), stats.sem(values))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert mean_of(estimates_of(*values[::-1]), "cohorts", level=0.9).low == pytest.approx(low)


def test_the_undefined_are_left_out_and_counted_not_taken_for_zero() -> None:
    estimate = mean_of(estimates_of(0.4, None, 0.6, None), "cells")
    assert estimate.value == pytest.approx(0.5)
    assert (estimate.extras["n_averaged"], estimate.extras["n_undefined"]) == (2, 2)
    assert estimate.interval_reason == "too_few_clusters_for_interval"


@pytest.mark.parametrize("name, least", [("Fisher z", -1), ("logit", 0), ("log(1 - x)", -np.inf)])
def test_an_interval_keeps_inside_what_such_a_number_can_be(name: Any, least: float) -> None:
    """.75 .96 .97: the plain step would end at 1.20. On the scale: centre g(mean), step g'(mean) t s / sqrt(3)."""
    values = (0.75, 0.96, 0.97)
    assert mean_of(estimates_of(*values), "cohorts").high > 1
    estimate = mean_of(estimates_of(*values), "cohorts", scale=Scale(name))
    assert estimate.low is not None and estimate.high is not None
    assert least < estimate.low < estimate.value < estimate.high < 1
    mean, error = np.mean(values), stats.sem(values)
    step = stats.t.ppf(0.975, 2) * error
    expected = {
        "Fisher z": np.tanh(np.arctanh(mean) + step / (1 - mean**2)),
        "logit": 1 / (1 + np.exp(-(np.log(mean / (1 - mean)) + step / (mean * (1 - mean))))),
        "log(1 - x)": 1 - (1 - mean) * np.exp(-step / (1 - mean)),
    }
    assert estimate.high == pytest.approx(expected[name])
    assert mean_of(estimates_of(1.0, 1.0, 1.0), "cohorts", scale=Scale(name)).interval_reason == "no_spread"


def test_one_country_is_no_average() -> None:
    found = mean_of(estimates_of(0.4, None, None), "cohorts")
    assert (found.value, found.reason, found.extras["n_left_out"], found.extras["n_all"]) == (None, "one_of_many", 2, 3)


@pytest.mark.parametrize("values", [(), (None,), (None, None)])
def test_without_a_value_there_is_no_mean(values: tuple[None, ...]) -> None:
    found = mean_of(estimates_of(*values), "cohorts")
    assert (found.value, found.reason) == (None, "one_of_many" if values else "nothing_counted")


def test_one_value_and_equal_values_have_no_interval() -> None:
    assert mean_of(estimates_of(0.3, 0.4), "cohorts").interval_reason == "too_few_clusters_for_interval"
    assert mean_of(estimates_of(0.3, 0.3, 0.3), "cohorts").interval_reason == "no_spread"
