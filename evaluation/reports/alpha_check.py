"""Alpha once more, by the independent package `krippendorff` (extra [verify]): asked for, never needed.

This is the one module that knows the package, which is under GPL-3. It is not asked where it would not fit in memory.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from annotation.sheets.conditions import condition_name
from benchmarks.models import Benchmark
from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.html import page_table
from evaluation.rendering.number_format import MINUS
from evaluation.rendering.report import Cell, Report, ReportColumn
from evaluation.rendering.report import Row as ReportRow
from evaluation.reports.agreement import AgreementReport, Row, row_groups
from evaluation.selections.selection import Params

package: Any = import_module("krippendorff") if find_spec("krippendorff") else None

DECIMALS = 12
ALIKE = 9  # with fewer decimals the same, something is wrong with one of us
MOST_BYTES = 256 * 1024**2
ALPHAS = {f"alpha_{level}": level for level in ("nominal", "ordinal", "interval", "ratio")}
WHY_NOT: dict[str, str | Promise] = {
    "not_installed": gettext_lazy("not available: the package krippendorff is not installed (extra “verify”)"),
    "too_large": gettext_lazy("not available: it would not fit in memory"),
    "no_value": gettext_lazy("no value either"),
    "refused": gettext_lazy("differs: the package gives no value"),
}


@dataclass(frozen=True)
class AlphaCheck:
    """`value` is the package's; `decimals` how many are the same as ours, DECIMALS at most. Else `reason`, of WHY_NOT.

    `needs` is what the package would take, in bytes.
    """

    value: float | None = None
    decimals: int | None = None
    reason: str = ""
    needs: int = 0

    @property
    def same(self) -> bool:
        return self.reason == "no_value" or (self.decimals is not None and self.decimals >= ALIKE)

    @property
    def words(self) -> str:
        if self.reason == "too_large":
            return _("not available: it would take %(gb).1f GB") % {"gb": self.needs / 1e9}
        if self.reason:
            return str(WHY_NOT[self.reason])
        if self.same:
            return _("same to %(n)s decimals") % {"n": self.decimals}
        return _("differs after %(n)s decimals") % {"n": self.decimals}


def check_alpha(ratings: Ratings, level: str, ours: Estimate) -> AlphaCheck:
    """What the package says of the same ratings at the same level."""
    needs = bytes_needed(ratings.n_units, ratings.n_raters, np.unique(ratings.value).size)
    if package is None:
        return AlphaCheck(reason="not_installed", needs=needs)
    if needs > MOST_BYTES:
        return AlphaCheck(reason="too_large", needs=needs)
    theirs = _alpha(ratings, level)
    if theirs is None:
        return AlphaCheck(reason="no_value" if ours.value is None else "refused", needs=needs)
    if ours.value is None:
        return AlphaCheck(theirs, 0, needs=needs)
    return AlphaCheck(theirs, same_decimals(ours.value, theirs), needs=needs)


def bytes_needed(units: int, raters: int, values: int) -> int:
    """At its peak: the table, its comparison with each value, and four arrays of units x values x values."""
    return 8 * raters * units + raters * units * values + 8 * units * values + 32 * units * values**2


def same_decimals(ours: float, theirs: float) -> int:
    """How many decimals of the two are the same, to half a unit of the last."""
    apart = abs(ours - theirs)
    return DECIMALS if apart < 0.5 * 10**-DECIMALS else max(0, min(DECIMALS, math.floor(-math.log10(2 * apart))))


def _alpha(ratings: Ratings, level: str) -> float | None:
    """None where the package has no value: nothing to pair, or no variation."""
    table = np.full((ratings.n_raters, ratings.n_units), np.nan)
    table[ratings.rater, ratings.unit] = ratings.value
    if not table.size:
        return None
    try:
        with np.errstate(all="ignore"):
            value = float(package.alpha(reliability_data=table, level_of_measurement=level))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _format_alpha(value: float | None) -> str:
    return "" if value is None else f"{value:.{DECIMALS}f}".replace("-", MINUS)


def check_json(report: AgreementReport, params: Params) -> dict[str, Any]:
    """For the report's JSON, where the address asks: `second=1`."""
    return {"second_opinion": [row.facts for row in check_table(report).rows]} if _requested(params) else {}


def check_context(report: AgreementReport, params: Params) -> dict[str, Any]:
    """For templates/evaluation/parts/second_opinion.html, where the address asks."""
    caption = _("Check with another library")
    return {"second_opinion": page_table(check_table(report), "", caption)} if _requested(params) else {}


def _requested(params: Params) -> bool:
    return params.getlist("second") == ["1"]


def check_table(report: AgreementReport) -> Report:
    """For each alpha of the report, ours and the package's; the ratings are read again. No rows without any alpha."""
    columns = (
        ReportColumn(_("Condition"), shape="text"),
        ReportColumn(_("Measure"), shape="text"),
        ReportColumn(_("Ours"), shape="text", style="num wide"),
        ReportColumn(_("Theirs"), shape="text", style="num wide"),
        ReportColumn(_("Comparison"), shape="text", style="wide"),
    )
    rows: list[ReportRow] = []
    if any(measure.key in ALPHAS for measure in report.measures):
        ratings = {part.key: part.read for part in row_groups(report.catalogue, report.selection)}
        rows = [line for row in report.rows for line in _rows(row, ratings[row.part], report.catalogue.benchmark)]
    return Report(_("Cohort"), columns, tuple(rows))


def _rows(row: Row, read: Any, benchmark: Benchmark) -> Iterator[ReportRow]:
    for cell in row.cells:
        for measure, ours in zip(row.measures, cell.estimates, strict=True):
            if measure.key in ALPHAS:
                check = check_alpha(read.cells[row.cohort.pk, cell.condition], ALPHAS[measure.key], ours)
                chip = "ok" if check.same else "hollow" if check.value is None else "back"
                facts: dict[str, Any] = {
                    "cohort": row.cohort.label, "part": row.part, "condition": cell.condition, "measure": measure.key,
                    "ours": ours.value, "theirs": check.value, "ours_shown": _format_alpha(ours.value),
                    "theirs_shown": _format_alpha(check.value), "same": check.same, "reason": check.reason,
                    "words": check.words,
                }  # fmt: skip
                condition = condition_name(benchmark, cell.condition, get_language() or "en") if cell.condition else ""
                texts = (condition, str(measure.label), facts["ours_shown"], facts["theirs_shown"])
                cells = (*(Cell(text=text) for text in texts), Cell(text=check.words, chip=chip))
                yield ReportRow(row.cohort.label, cells, about=row.part, facts=facts)
