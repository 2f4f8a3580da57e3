"""The judge report as a page sees it, and as files."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluation.metrics.estimate import Estimate
from evaluation.queries.observations import ObservedRater
from evaluation.rendering import json_file
from evaluation.rendering.axis import SHARE, axis_for
from evaluation.rendering.html import page_table, short_number
from evaluation.rendering.number_format import format_number
from evaluation.rendering.report import NOTHING, Cell, Reason, Report, ReportColumn, Row, number
from evaluation.reports.call_text import methods_text, missing_answers_text
from evaluation.reports.comparison_filters import inclusion_text
from evaluation.reports.judge_report import JudgeReport, JudgeRow, Standing
from evaluation.reports.models_page import comparison_cell
from predictions.queries import code_mass

CSV_COLUMNS = (
    "judge", "setting", "cohort", "number", "value", "low", "high", "n_units", "n_raters", "n_ratings", "confidence",
    "resampled", "method", "reason", "interval_reason", "stage", "field", "level", "counted", "watermark",
    "computed_at",
)  # fmt: skip
ALPHAS = ("alpha_people", "alpha_with_judge")  # columns of the page's tables
STANDING = ("judge_with_the_rest", "ceiling", "agreement_with_majority", "base_rate", "kappa")


def judges_of(report: JudgeReport) -> dict[str, str]:
    """Who may judge, by what an address says: each model, the mean of all, and the mean that is looked at."""
    names = {str(pk): _judge_label(report, who) for pk, who in report.judges}
    means = [tuple(who for _pk, who in report.judges)] if _may_average(report) else []
    words = {_key(some): _("the mean of all %(n)s") % {"n": len(some)} for some in means}
    if report.mean_of:
        chosen = ", ".join(_judge_label(report, who) for who in report.mean_of)
        words.setdefault(_key(report.mean_of), _("the mean of %(names)s") % {"names": chosen})
    return names | words


def chosen_of(report: JudgeReport) -> str:
    """As `judges_of` names it."""
    return _key(report.mean_of) if report.mean_of else str(report.judge.pk) if report.judge else ""


def _may_average(report: JudgeReport) -> bool:
    """Codes without an order have no mean."""
    return len(report.judges) > 1 and report.selection.level != "nominal"


def _key(judges: Sequence[ObservedRater]) -> str:
    """The same for the same judges, whatever they are called."""
    return "+".join(str(pk) for pk in sorted(who.pk for who in judges))


def _judge_label(report: JudgeReport, who: ObservedRater) -> str:
    variant = report.variant_of(who)
    return f"{who.name}, {variant}" if variant else who.name


def _mean_name(report: JudgeReport) -> str:
    return " + ".join(_judge_label(report, who) for who in report.mean_of)


def _multi_select(report: JudgeReport) -> list[dict[str, Any]]:
    """To tick whose mean is looked at; of two there is but one mean, and the select has it."""
    if not _may_average(report) or len(report.judges) < 3:
        return []
    chosen = chosen_of(report).split("+")
    return [{"pk": pk, "name": _judge_label(report, who), "chosen": str(pk) in chosen} for pk, who in report.judges]


def judge_context(report: JudgeReport, language: str) -> dict[str, Any]:
    """What templates/evaluation/judge.html takes."""
    table = judge_table(report)
    alone = _("Alpha among people, and with the judge, by cohort")
    among = _("Agreement with others: the judge and each person, by cohort")
    return {
        "averaged": bool(report.mean_of),
        "several": _multi_select(report),
        "judge": _shown_judge(report),
        "asked": report.selection.to_params(),
        "ways": " ".join(
            words for words in (methods_text(report.ways), code_mass.code_mass_text(report.covered)) if words
        ),
        "alphas": page_table(table, "judge", alone, ALPHAS),
        "standing": page_table(table, "judge", among, STANDING),
        "panel": _panel(report),
        "words": words(report, language),
    }


def _shown_judge(report: JudgeReport) -> dict[str, str]:
    """Its name, and how it was asked; of a mean all its judges."""
    if report.judge is None:
        return {}
    if report.mean_of:
        return {"name": _mean_name(report)}
    return {"name": report.judge.name, "setting": report.variant_of(report.judge)}


def judge_table(report: JudgeReport) -> Report:
    """Every number of every cohort. The page shows it in two tables, CSV one number in a line."""
    alphas = [e for line in report.lines for e in (line.alpha.people, line.alpha.everybody)]
    placed = [e for line in report.lines for e in (line.standing.judge, *line.standing.people)]
    nominal = report.selection.level == "nominal"
    standing = _("Agreement with the majority of others") if nominal else _("Spearman with the others")
    axis, strip = axis_for(alphas), SHARE if nominal else axis_for(placed)
    columns = (
        ReportColumn(_("People alone"), "alpha_people", axis=axis, style="wide"),
        ReportColumn(_("With the judge"), "alpha_with_judge", axis=axis, style="wide"),
        ReportColumn(
            standing, "judge_with_the_rest", "strip", axis=strip, short=_("Rank among annotators"), style="wide"
        ),
        ReportColumn(_("Human ceiling"), "ceiling", "short"),
        ReportColumn(key="at_least_as_good"),
        ReportColumn(_("Agrees with the majority"), "agreement_with_majority", "short"),
        ReportColumn(_("Base rate"), "base_rate", "short"),
        ReportColumn(_("Cohen's kappa"), "kappa", "short"),
    )
    judge = {"judge": report.judge.name, "setting": report.judge.setting} if report.judge else {}
    rows = tuple(_row(line, judge) for line in report.lines)
    named = tuple(replace(column, facts={"number": column.key}) for column in columns)
    return Report(_("Cohort"), named, rows, _shared_data(report), CSV_COLUMNS)


def panel_table(report: JudgeReport) -> Report:
    """The two numbers of all judges together, for CSV."""
    numbers = _panel_numbers(report)
    columns = tuple(ReportColumn(facts={"number": name}) for name in numbers)
    rows = (Row("", tuple(number(estimate) for estimate in numbers.values())),) if numbers else ()
    return Report("", columns, rows, _shared_data(report), CSV_COLUMNS)


def _panel_numbers(report: JudgeReport) -> dict[str, Estimate]:
    return dict(zip(("error_correlation", "effective_judges"), report.panel, strict=True)) if report.panel else {}


def _shared_data(report: JudgeReport) -> dict[str, Any]:
    s = report.selection
    named = {"stage": s.stage, "field": s.field, "level": s.level, "counted": s.counted}
    return named | {"watermark": report.watermark, "computed_at": report.computed_at.isoformat()}


def _row(row: JudgeRow, judge: dict[str, str]) -> Row:
    standing, majority = row.standing, row.majority
    left_out = tuple(filter(None, (_ties_text(row), " ".join(_unanswered_notes(row)))))
    rates = [NOTHING] * 3
    if majority is not None:
        rates = [
            comparison_cell(majority.agreement, notes=left_out),
            comparison_cell(majority.base_rate),
            comparison_cell(majority.kappa),
        ]
    return Row(
        row.cohort.label,
        (
            comparison_cell(row.alpha.people),
            comparison_cell(row.alpha.everybody),
            comparison_cell(
                standing.judge, people=standing.people, ceiling=standing.ceiling,
                notes=(" ".join(_sentences(standing)),),
            ),
            comparison_cell(standing.ceiling, notes=() if majority is not None else left_out),
            number(standing.at_least_as_good),
            *rates,
        ),
        name=row.cohort.name,
        facts={**judge, "cohort": row.cohort.label},
    )  # fmt: skip


def _sentences(standing: Standing) -> Iterator[str]:
    """The strip in words."""
    values = sorted(e.value for e in standing.people if e.value is not None)
    if not values:
        yield _("No person can be compared with the others yet.")
        return
    text = ngettext("%(n)s person: %(low)s.", "%(n)s people: %(low)s to %(high)s.", len(values))
    yield text % {"n": len(values), "low": format_number(values[0]), "high": format_number(values[-1])}
    best = standing.at_least_as_good
    if best is not None and best.value is not None:
        given = {"count": best.extras["count"], "n": best.n_raters}
        yield _("At least as close as %(count)s of %(n)s annotators, each compared with the same others.") % given


def _ties_text(one: JudgeRow) -> str:
    """Why fewer units have a majority than the judge rated."""
    n = one.majority.n_tied if one.majority else 0
    text = ngettext("%(n)s tie left out.", "%(n)s ties left out.", n)
    return text % {"n": n} if n else ""


def _unanswered_notes(row: JudgeRow) -> Iterator[str]:
    """Of what people rated, what the judge has no answer for: not asked, or no value came of it. A sum of the two."""
    n = row.n_unanswered
    if not n:
        return
    text = ngettext(
        "%(n)s item that people rated has no answer of the judge.",
        "%(n)s items that people rated have no answer of the judge.",
        n,
    )
    yield text % {"n": n}
    if row.n_unasked is None:
        yield _("Whether it was asked is not known.")
    elif row.n_unasked:
        text = ngettext("Not asked about %(n)s.", "Not asked about %(n)s.", row.n_unasked)
        yield text % {"n": row.n_unasked}
    if missing_text := missing_answers_text(row.left_out):
        yield missing_text


def _panel(report: JudgeReport) -> dict[str, Any] | None:
    if report.panel is None:
        return None
    errors, worth = report.panel
    count = len(report.judges)
    cancel = worth.value is not None and worth.value > count
    uncorrected = errors.extras.get("r_uncorrected")
    return {
        "count": count, "errors": short_number(_corrected_cell(errors)), "worth": short_number(_corrected_cell(worth)),
        "cancel": cancel, "bounds": report.selection.level == "nominal",
        "uncorrected": format_number(uncorrected) if isinstance(uncorrected, float) else "",
    }  # fmt: skip


def _corrected_cell(estimate: Estimate) -> Cell:
    """Without two people of a unit, their noise is not known: the uncorrected number must not stand there."""
    if estimate.reason != "no_pairable_units":
        return comparison_cell(estimate)
    return number(estimate, reason=Reason(_("no correction possible."), _("No item has been rated by two people.")))


def words(report: JudgeReport, language: str = "en") -> list[str]:
    """What was counted and by which rule."""
    if report.judge is None:
        return []
    *texts, interval = inclusion_text(report.selection, report.catalogue, language)
    if report.mean_of:
        text = _("Judge: the mean of %(names)s, computed here. An item without an answer of one of them is left out.")
        texts.append(text % {"names": _mean_name(report)})
    if len([how for how in report.ways if how]) > 1:
        texts.append(_("Answers that came by different ways of asking are different measurements: compare with care."))
    texts.append(_("Both alphas use the items that the judge rated. The second includes the judge as one more rater."))
    if report.selection.level == "nominal":
        texts.append(_("Rank among people: how often each agrees with the majority of the others, ties left out."))
    else:
        texts.append(_("Rank among people: the Spearman correlation of each with the mean of the others."))
        texts.append(
            _(
                "The drawing compares the judge with the mean of all people, and each person with "
                "the mean of the others. The count leaves each person out of both."
            )
        )
        texts.append(_("The interval of the judge is over items, for these people."))
    texts.append(_("Ceiling: the people's own, on average; its interval is for other people."))
    if not report.mean_of:
        texts.append(_("Base rate: what always giving the commonest code would reach."))
    if report.panel is not None and report.selection.level == "nominal":
        texts.append(_("An error of a judge is an answer that differs from the majority of the people."))
        texts.append(
            _(
                "Codes without an order: the noise of people cannot be corrected for, so the "
                "correlation of the errors is an upper bound, and the number of independent judges a "
                "lower bound."
            )
        )
    elif report.panel is not None:
        texts.append(_("An error of a judge is its code less the mean of the people's."))
        texts.append(
            _(
                "All errors share the noise of that mean. It is estimated from the people who rated "
                "the same item, and subtracted from the correlation of the errors. Its interval is "
                "over items and raters."
            )
        )
    return [*texts, interval]


def to_json(report: JudgeReport) -> dict[str, Any]:
    judge = report.judge
    table = judge_table(report)
    document: dict[str, Any] = json_file.to_json(
        {
            "benchmark": {"slug": report.catalogue.benchmark.slug, "name": report.catalogue.benchmark.name},
            "selection": report.selection.to_json(),
            "judge": {"model": judge.name, "setting": judge.setting} if judge else None,
            "mean_of": [{"model": who.name, "setting": who.setting} for who in report.mean_of],
            "ways": report.ways,
            "covered": report.covered.to_json() if report.covered else None,
            "words": words(report),
            "watermark": report.watermark,
            "computed_at": report.computed_at,
            "cohorts": {
                line.cohort.label: {**_estimates(table, row), **_json(line)}
                for line, row in zip(report.lines, table.rows, strict=True)
            },
            "panel": _panel_numbers(report),
        }
    )
    return document


def _estimates(table: Report, row: Row) -> dict[str, Estimate | None]:
    cells = zip(table.columns, row.cells, strict=True)
    return {column.key: cell.estimate for column, cell in cells if not cell.empty}


def _json(row: JudgeRow) -> dict[str, Any]:
    return {
        "people": row.standing.people,
        **({"n_tied": row.majority.n_tied} if row.majority else {}),
        "n_unanswered": row.n_unanswered,
        "n_unasked": row.n_unasked,
        "left_out": row.left_out.to_json(),
    }
