"""One sentence over the agreement page, written from the numbers of the table below it. It has no words of grade."""

from collections.abc import Sequence

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.sheets.sheet import localise
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.number_format import format_number
from evaluation.reports.agreement import AgreementReport, QuestionRow
from evaluation.selections.catalogue import POOLED

NAMED = ("cohort", "all")  # what rows are, where a row is a cohort


def headline(report: AgreementReport, language: str) -> str:
    """The chosen question: all cohorts together where the page shows them, the lowest and the highest cohort, and how
    many cohorts have no value. Empty where rows are no cohorts.
    """
    rows = [row for row in report.questions if row.field == report.selection.field]
    if report.selection.by not in NAMED or not rows:
        return ""
    sentences = [*_pooled_sentence(rows), *_cohort_sentences(rows)]
    if not sentences:
        return _("No cohort has a value yet: each item needs two answers.")
    return " ".join([*_question(report, language), *sentences])


def _question(report: AgreementReport, language: str) -> list[str]:
    """Which question the numbers are of, where the sheet has several."""
    fields = report.entry.sheet.fields
    if len(fields) < 2:
        return []
    [label] = [localise(field.label, language) for field in fields if field.key == report.selection.field]
    return [_("“%(question)s”:") % {"question": label.replace("{target}", "…")}]


def _pooled_sentence(rows: Sequence[QuestionRow]) -> list[str]:
    """People of all cohorts together, where they have a value."""
    values = [(_first(row.estimates), row) for row in rows if row.cohort.pk == POOLED]
    text = _("%(measure)s is %(value)s among the people of all cohorts together.")
    return [
        text % {"measure": _measure(row), "value": format_number(value)} for value, row in values if value is not None
    ]


def _cohort_sentences(rows: Sequence[QuestionRow]) -> list[str]:
    of_cohorts = [row for row in rows if row.cohort.pk != POOLED]
    values = [(value, row.cohort.name) for row in of_cohorts if (value := _first(row.estimates)) is not None]
    if not values:
        return []
    n = len(of_cohorts) - len(values)
    missing = ngettext("%(n)s cohort has no value there.", "%(n)s cohorts have no value there.", n) % {"n": n}
    return [_range_sentence(_measure(of_cohorts[0]), values), *([missing] if n else [])]


def _measure(row: QuestionRow) -> str:
    return str(row.measures[0].label)


def _first(estimates: Sequence[Estimate]) -> float | None:
    return estimates[0].value if estimates else None


def _range_sentence(measure: str, values: Sequence[tuple[float, str]]) -> str:
    low, high = min(values), max(values)
    words = {
        "measure": measure,
        "low": format_number(low[0]),
        "lowest": low[1],
        "high": format_number(high[0]),
        "highest": high[1],
    }
    if words["low"] == words["high"]:
        words["lowest"] = get_text_list([name for _value, name in values], _("and"))
        return _("%(measure)s is %(low)s in %(lowest)s.") % words
    return _("%(measure)s within a cohort lies between %(low)s (%(lowest)s) and %(high)s (%(highest)s).") % words
