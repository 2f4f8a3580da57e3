"""A cell of a table: how its number is rounded, and how it stands beside what the paper prints."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Cell, PrintedValue, Rounding
from evaluation.tables.table import TableOption


def number(value: float) -> Estimate:
    return Estimate.of(value, method="test", n_units=5, n_raters=2, n_ratings=10)


NONE = Estimate.undefined(reason="no_variation", method="test")


@pytest.mark.parametrize(
    ("value", "rounding", "shown"),
    [
        (0.285, Rounding(2), "0.29"),  # the nearest binary number is 0.28499...
        (-0.285, Rounding(2), "-0.29"),
        (2.5, Rounding(0), "3"),  # half up, not to even
        (0.125, Rounding(2), "0.13"),
        (0.285, Rounding(0, 100), "29"),  # 0.285 x 100 is 28.499999999999996 in binary
        (0.6789, Rounding(1, 100), "67.9"),
        (0.6789, Rounding(1, 100, cut=True), "67.8"),
        (-0.129, Rounding(2, cut=True), "-0.12"),  # further decimals are left off, towards zero
        (0.1 + 0.2, Rounding(1, cut=True), "0.3"),
        (1 - 0.9 - 0.1, Rounding(2), "0.00"),  # -2.8e-17: no sign before nothing
        (-0.004, Rounding(2), "0.00"),
        (1.0, Rounding(3), "1.000"),
        (1e-9, Rounding(2), "0.00"),
        (12345.678, Rounding(1), "12345.7"),
    ],
)
def test_rounding_is_that_of_decimal_numbers(value: float, rounding: Rounding, shown: str) -> None:
    assert rounding.text(value) == shown
    assert rounding.text(np.float64(value)) == shown


@given(st.integers(-(10**6), 10**6), st.integers(0, 4))
@settings(max_examples=80, deadline=None)
def test_rounding_is_within_half_a_unit_and_cutting_within_one(thousandths: int, decimals: int) -> None:
    exact = Decimal(thousandths) / 1000
    unit = Decimal(1).scaleb(-decimals)
    rounded = Decimal(Rounding(decimals).text(thousandths / 1000))
    cut = Decimal(Rounding(decimals, cut=True).text(thousandths / 1000))
    assert abs(rounded - exact) <= unit / 2
    assert abs(cut) <= abs(exact)
    assert abs(cut - exact) < unit


@pytest.mark.parametrize(
    ("value", "rounding", "printed", "mark"),
    [
        (0.314, Rounding(2), "0.31", "same"),
        (0.314, Rounding(2), " 0.31", "same"),
        (0.314, Rounding(2), ".31", "same"),
        (-0.314, Rounding(2), "\u22120.31", "same"),  # papers print a true minus
        (0.399, Rounding(2), "0.39", "rounding"),  # the paper cut where we round
        (0.399, Rounding(2), "0.41", "differs"),
        (0.399, Rounding(2), "0.4", "same"),  # what we show is 0.40
        (0.38, Rounding(2), "0.4", "rounding"),
        (0.28, Rounding(2), "0.4", "differs"),
        (0.6789, Rounding(1, 100), "67.8", "rounding"),
        (0.6789, Rounding(1, 100), "68.9", "differs"),
        (0.5, Rounding(0, 100), "51", "rounding"),
        (0.5, Rounding(0, 100), "52", "differs"),
        (0.5, Rounding(0, 100), "n/a", "differs"),
        (0.5, Rounding(2), "NaN", "differs"),
    ],
)
def test_cell_equals_differs_or_is_rounded_otherwise_than_printed(
    value: float, rounding: Rounding, printed: str, mark: str
) -> None:
    assert Cell(number(value), rounding=rounding, printed=PrintedValue(printed)).mark == mark


def test_a_cell_the_paper_does_not_print_has_no_mark() -> None:
    assert Cell(number(0.3)).mark == ""


def test_without_a_value_nothing_is_shown_and_what_the_paper_prints_differs() -> None:
    cell = Cell(NONE, printed=PrintedValue("0.00"))
    assert (cell.shown, cell.mark) == ("", "differs")


def test_names_are_compared_as_they_are() -> None:
    assert Cell(text="Japan", printed=PrintedValue("Japan")).mark == "same"
    assert Cell(text="Japan", printed=PrintedValue("Peru")).mark == "differs"
    assert (
        Cell(text="3", printed=PrintedValue("4")).mark == "differs"
    )  # a name that looks like a number is still a name


def test_an_options_first_value_is_its_default() -> None:
    assert TableOption("gain", "Gain", {"linear": "linear", "binary": "binary"}).default == "linear"
