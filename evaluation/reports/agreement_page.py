"""The agreement report as a page sees it."""

from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.pages.status_text import format_moment
from evaluation.rendering.html import page_table
from evaluation.reports.agreement import AgreementReport, QuestionRow
from evaluation.reports.agreement_formats import to_latex
from evaluation.reports.agreement_headline import headline
from evaluation.reports.agreement_order import order_links, report_order, sort_report
from evaluation.reports.agreement_tables import conditions_table, question_label, questions_table
from evaluation.selections.measures import LEVEL_LABELS, default_measure, measure_labels
from evaluation.services.snapshots import MOST, ReportState


def report_context(report: AgreementReport, language: str, order: str = "") -> dict[str, Any]:
    """What templates/evaluation/parts/report.html takes. `order`: what the address says of the order of rows."""
    count = ngettext("%(n)s rating", "%(n)s ratings", report.n_ratings) % {"n": f"{report.n_ratings:,}"}
    measures = ", ".join(str(measure.label) for measure in report.measures)
    caption = _("%(caption)s, per cohort and condition") % {"caption": measures}
    chosen = report_order(report, order)
    ordered, (row_links, question_links) = sort_report(report, chosen), order_links(report, chosen)
    return {
        "beyond_chance": not any(m.from_zero for m in report.measures),
        "table": page_table(conditions_table(ordered, language), "agreement", caption, sorts=row_links),
        "sorted_by": chosen.value,
        "by": report.selection.by,
        "warnings": report.warnings,
        "counted": report.selection.description(report.catalogue, language),
        "watermark": report.watermark,
        "computed_at": report.computed_at,
        "count": count,
        "latex": to_latex(report, language),
        "part_title": part_title(report, language),
        "headline": headline(report, language),
        "questions": page_table(
            questions_table(ordered, language),
            "questions",
            _("Agreement of every question, by cohort"),
            heads=_question_heads(report, language),
            sorts=question_links,
        ),
        "benchmark": report.catalogue.benchmark,
        "query": urlencode(report.selection.to_params()),
    }


def _question_heads(report: AgreementReport, language: str) -> dict[str, dict[str, Any]]:
    """By the key of each question: its title, what it can be asked as, and the address of its rows by condition."""
    entry, selection = report.entry, report.selection
    rest = [pair for pair in selection.to_params() if pair[0] not in ("field", "measure", "by")]
    first = {row.field: row for row in reversed(report.questions)}
    return {
        field.key: {
            "title": question_label(report, field.key, language),
            "level": str(LEVEL_LABELS[first[field.key].level]) if field.key in first else "",
            "measures": _measure_choices(first[field.key], entry.options_of(field.key)) if field.key in first else [],
            "conditional": field.show_if is not None,
            "chosen": selection.by != "field" and selection.field == field.key,
            "query": urlencode([*rest, ("field", field.key)]),
        }
        for field in entry.sheet.fields
    }


def _measure_choices(row: QuestionRow, options: tuple[str, ...]) -> list[tuple[str, str, bool]]:
    """Values of the select, the default first and without a value, so that it leaves no trace in the address."""
    labels = measure_labels(row.level, options)
    default = default_measure(row.level)
    return [("" if m == default else f"{row.field}:{m}", str(label), m == row.asked_as) for m, label in labels.items()]


def client_state(found: ReportState) -> str:
    """What a live page has before it: the watermark; of a kept report, also how far it was behind."""
    return f"{found.watermark}-{found.now}" if found.stored else str(found.watermark)


def cached_state(state: ReportState, zone: ZoneInfo) -> dict[str, Any]:
    """Of a kept report: since when, and what has come since. Nothing of a live one."""
    if not state.stored:
        return {}
    text = _("As of %(moment)s; nothing has changed since.")
    if state.newer >= MOST:
        text = _("As of %(moment)s; more than %(n)s newer answers are not in it.")
    elif state.newer:
        text = ngettext(
            "As of %(moment)s; %(n)s newer answer is not in it.",
            "As of %(moment)s; %(n)s newer answers are not in it.",
            state.newer,
        )
    elif state.changed:
        text = _("As of %(moment)s. Answers or items have changed since.")
    moment = format_moment(state.computed_at, zone)
    return {
        "watermark": client_state(state),
        "kept": text % {"moment": moment, "n": f"{state.newer:,}"},
        "behind": state.changed,
    }


def part_title(report: AgreementReport, language: str) -> str:
    """Of the second table."""
    if report.selection.by == "field":
        return _("Every question, by condition")
    title = question_label(report, report.selection.field, language)
    return _("By condition: %(question)s") % {"question": title} if report.selection.by in ("cohort", "all") else title
