"""The main numbers of two releases: agreement of each question and cohort, as each release printed it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from releases.models import Release

Key = tuple[str, str, str, str]
"""Stage, question, cohort and measure."""


@dataclass(frozen=True)
class PrintedNumber:
    """`value` is null where there is none, and `reason` says why. `shown` has the digits that pages show."""

    value: float | None
    low: float | None
    high: float | None
    shown: str
    interval: str
    reason: str
    items: int
    raters: int


@dataclass(frozen=True)
class MainNumber:
    """`before` and `now`: null where the release has no such number."""

    stage: str
    question: str
    cohort: str
    measure: str
    before: PrintedNumber | None
    now: PrintedNumber | None


def main_numbers(release: Release, earlier: Release) -> list[MainNumber]:
    """All that either release has, in the order of the later one. A stage whose agreement was not computed has none."""
    before, now = dict(_printed(earlier)), dict(_printed(release))
    keys = [*now, *(key for key in before if key not in now)]
    return [MainNumber(*key, before.get(key), now.get(key)) for key in keys]


def _printed(release: Release) -> Iterator[tuple[Key, PrintedNumber]]:
    reports = json.loads(release.facts.get("agreement", {}).get("json", "{}"))
    for stage, report in reports.items():
        for question in report.get("questions", ()):
            for measure, estimate in question["estimates"].items():
                key = (stage, question["field"], question["cohort"]["label"], measure)
                yield key, _number(estimate)


def _number(estimate: dict[str, Any]) -> PrintedNumber:
    return PrintedNumber(
        value=estimate["value"],
        low=estimate["low"],
        high=estimate["high"],
        shown=estimate["shown"],
        interval=estimate["shown_interval"],
        reason=estimate["reason_text"] or "",
        items=estimate["n_units"],
        raters=estimate["n_raters"],
    )
