"""The questions of the agreement report as JSON, CSV and LaTeX, and how one estimate is written in each."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from annotation.sheets import localise
from evaluation.measures import LEVEL_LABELS, Measure
from evaluation.metrics.estimate import Estimate
from evaluation.reason_text import interval_sentence, not_counted_sentence, reason_title
from evaluation.reports.agreement import AgreementReport, QuestionRow
from evaluation.reports.latex import tex
from evaluation.reports.number_format import MINUS, format_interval, format_number, format_percent
from jobs.csv_safety import csv_lines


def in_json(estimate: Estimate) -> dict[str, Any]:
    """With the digits that pages show, and what is left out in words."""
    return {
        **estimate.to_json(),
        "shown": shown_value(estimate),
        "shown_interval": format_interval(estimate),
        "left_out": not_counted_sentence(estimate),
    }


def shown_value(estimate: Estimate) -> str:
    return "" if estimate.value is None else format_number(estimate.value)


def tex_estimate(estimate: Estimate) -> str:
    """Value, interval and n, or the reason why there is none."""
    if estimate.value is None:
        return r"\emph{" + tex(reason_title(estimate) or (estimate.reason or "").replace("_", " ")) + "}"
    interval = format_interval(estimate).replace(MINUS, "-")
    number = format_number(estimate.value).replace(MINUS, "-")
    size = rf"$n = {estimate.n_units} \times {estimate.n_raters}$"
    beside = f"${interval}$" if interval else tex(interval_sentence(estimate))
    return f"${number}$" + (rf" {{\scriptsize {beside}}}" if beside else "") + rf" {{\scriptsize {size}}}"


def questions_in_json(report: AgreementReport, language: str) -> list[dict[str, Any]]:
    """In the order of the sheet, each with a row for every cohort."""
    return [
        {
            "field": row.field,
            "question": question_label(report, row, language),
            "level": row.level,
            "measure": row.asked_as,
            "cohort": {"id": row.cohort.pk, "label": row.cohort.label, "country": row.cohort.country},
            "n_ratings": row.n_ratings,
            "n_units_not_shown": row.n_hidden_units,
            "warnings": row.warnings,
            "estimates": {m.key: in_json(e) for m, e in zip(row.measures, row.estimates, strict=True)},
        }
        for row in report.questions
    ]


def question_label(report: AgreementReport, row: QuestionRow, language: str) -> str:
    return localise(report.entry.sheet.field(row.field).label, language).replace("{target}", "…")


QUESTION_COLUMNS = (
    "question", "level", "measure", "cohort", "value", "low", "high", "shown", "shown_interval", "n_units", "n_raters",
    "n_ratings", "missing_share", "left_out", "n_units_not_shown", "confidence", "resampled", "method", "reason",
    "interval_reason", "stage", "counted", "withdrawn", "watermark", "computed_at",
)  # fmt: skip


def questions_to_csv(report: AgreementReport) -> Iterator[str]:
    """One line per question, cohort and measure."""
    return csv_lines(QUESTION_COLUMNS, _csv_rows(report))


def _each(report: AgreementReport) -> Iterator[tuple[QuestionRow, Measure, Estimate]]:
    for row in report.questions:
        for measure, estimate in zip(row.measures, row.estimates, strict=True):
            yield row, measure, estimate


def _csv_rows(report: AgreementReport) -> Iterator[list[Any]]:
    s = report.selection
    for row, measure, e in _each(report):
        yield [
            row.field, row.level, measure.key, row.cohort.label, e.value, e.low, e.high, shown_value(e),
            format_interval(e), e.n_units, e.n_raters, e.n_ratings, e.missing_share, not_counted_sentence(e),
            row.n_hidden_units, e.level, e.resampled, e.method, e.reason, e.interval_reason, s.stage, s.counted,
            report.catalogue.withdrawn.words, report.watermark, report.computed_at.isoformat(),
        ]  # fmt: skip


def questions_to_latex(report: AgreementReport, language: str) -> str:
    """A booktabs table: a line per question, cohort and measure; what was counted in the caption."""
    heads = [_("Question"), _("Level"), _("Measure"), _("Cohort"), _("Value"), _("Missing")]
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\begin{tabular}{llllrr}",
        r"\toprule",
        " & ".join(map(tex, heads)) + r" \\",
        r"\midrule",
    ]
    for row, measure, estimate in _each(report):
        named = [question_label(report, row, language), LEVEL_LABELS[row.level], measure.label, row.cohort.label]
        missing = tex(format_percent(estimate.missing_share))
        lines.append(" & ".join([*(tex(str(one)) for one in named), tex_estimate(estimate), missing]) + r" \\")
    s = report.selection
    withdrawn = [report.catalogue.withdrawn.words] if report.catalogue.withdrawn.answers else []
    caption = " ".join([s.who_words(report.catalogue, ""), s.inclusion_text(), *withdrawn, s.interval_words()])
    lines += [r"\bottomrule", r"\end{tabular}", r"\caption{" + tex(caption) + "}", r"\end{table}", ""]
    return "\n".join(lines)
