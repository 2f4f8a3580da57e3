"""An estimate is a number with its interval, or the reason there is none; never NaN."""

import json

import pytest

from evaluation.metrics.estimate import Estimate

COUNTS = {"method": "test", "n_units": 3, "n_raters": 2, "n_ratings": 5}


def test_a_value_carries_its_interval_and_what_was_resampled() -> None:
    estimate = Estimate.of(0.5, interval=(0.25, 0.75), resampled="units", missing_share=1 / 6, **COUNTS)
    assert (estimate.low, estimate.value, estimate.high) == (0.25, 0.5, 0.75)
    assert estimate.resampled == "units"
    assert estimate.reason is None and estimate.interval_reason is None


def test_without_a_value_there_is_a_reason_in_words() -> None:
    estimate = Estimate.undefined(reason="no_variation", extras={"percent_agreement": 1.0}, **COUNTS)
    assert estimate.value is None
    assert estimate.reason_text is not None and "All ratings are the same" in estimate.reason_text
    assert estimate.extras["percent_agreement"] == 1.0


def test_a_value_may_stand_without_an_interval_and_says_why() -> None:
    estimate = Estimate.of(0.5, interval_reason="too_few_raters_for_interval", **COUNTS)
    assert estimate.low is None and estimate.high is None
    assert "three raters" in str(estimate.interval_reason_text)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_nothing_that_is_not_finite_gets_in(bad: float) -> None:
    with pytest.raises(ValueError, match="value must be a finite number"):
        Estimate.of(bad, **COUNTS)
    with pytest.raises(ValueError, match="low must be a finite number"):
        Estimate.of(0.5, interval=(bad, 1.0), **COUNTS)
    with pytest.raises(ValueError, match="missing_share must be a finite number"):
        Estimate.of(0.5, missing_share=bad, **COUNTS)
    with pytest.raises(ValueError, match="spread must be a finite number"):
        Estimate.of(0.5, extras={"spread": bad}, **COUNTS)


def test_contradictions_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown reason 'because'"):
        Estimate.undefined(reason="because", **COUNTS)
    with pytest.raises(ValueError, match="upside down"):
        Estimate.of(0.5, interval=(0.9, 0.1), **COUNTS)
    with pytest.raises(ValueError, match="level must lie between"):
        Estimate.of(0.5, level=95, **COUNTS)


def test_to_json_is_plain_and_complete() -> None:
    estimate = Estimate.of(0.5, interval=(0.25, 0.75), resampled="units", extras={"n_pairs": 3}, **COUNTS)
    plain = json.loads(json.dumps(estimate.to_json(), allow_nan=False))
    assert plain["value"] == 0.5 and plain["resampled"] == "units" and plain["extras"] == {"n_pairs": 3}
    assert Estimate.undefined(reason="no_ratings", **COUNTS).to_json()["reason"] == "no_ratings"
