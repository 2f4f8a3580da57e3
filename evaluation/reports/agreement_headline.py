"""One sentence over the agreement page, written from the numbers of its table. It has no words of grade."""

from collections.abc import Sequence

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.sheets.conditions import condition_name
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.number_format import format_number
from evaluation.reports.agreement import AgreementReport
from evaluation.selections.catalogue import POOLED

NAMED = ("cohort", "all")  # what rows are, where a row is a cohort


def headline(report: AgreementReport, language: str) -> str:
    """The lowest and the highest cohort of the first condition that has values, and how many cohorts have none. Empty
    where rows are no cohorts.
    """
    if report.selection.by not in NAMED:
        return ""
    for at, condition in enumerate(report.conditions):
        values = _values(report, at)
        if values:
            name = condition_name(report.catalogue.benchmark, condition, language) if condition else ""
            return " ".join(filter(None, [_range_sentence(report, name, values), _missing_sentence(report, at)]))
    return _("No cohort has a value yet: each item needs two answers.")


def _values(report: AgreementReport, at: int) -> Sequence[tuple[float, str]]:
    named = [
        (_first(report, row.cells[at].estimates), row.cohort.name) for row in report.rows if row.cohort.pk != POOLED
    ]
    return [(value, name) for value, name in named if value is not None]


def _first(report: AgreementReport, estimates: Sequence[Estimate]) -> float | None:
    return estimates[0].value if estimates else None


def _range_sentence(report: AgreementReport, condition: str, values: Sequence[tuple[float, str]]) -> str:
    low, high = min(values), max(values)
    words = {
        "condition": condition,
        "measure": str(report.measures[0].label),
        "low": format_number(low[0]),
        "lowest": low[1],
        "high": format_number(high[0]),
        "highest": high[1],
    }
    if words["low"] == words["high"]:
        words["lowest"] = get_text_list([name for _value, name in values], _("and"))
        text = _("%(measure)s is %(low)s in %(lowest)s.")
        return (_("%(condition)s: %(measure)s is %(low)s in %(lowest)s.") if condition else text) % words
    if condition:
        text = _("%(condition)s: %(measure)s lies between %(low)s (%(lowest)s) and %(high)s (%(highest)s).")
        return text % words
    return _("%(measure)s lies between %(low)s (%(lowest)s) and %(high)s (%(highest)s).") % words


def _missing_sentence(report: AgreementReport, at: int) -> str:
    n = sum(_first(report, row.cells[at].estimates) is None for row in report.rows if row.cohort.pk != POOLED)
    if not n:
        return ""
    return ngettext("%(n)s cohort has no value there.", "%(n)s cohorts have no value there.", n) % {"n": n}
