"""The models report as a page sees it, and as files."""

from collections.abc import Iterator
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from evaluation.metrics.estimate import Estimate
from evaluation.observations import ObservedRater
from evaluation.reason_text import interval_sentence, left_out_sentence, reason_sentence, reason_title
from evaluation.reports import call_text
from evaluation.reports.agreement_page import SHARE, Axis, axis_for, estimate_bar
from evaluation.reports.comparison_filters import inclusion_text
from evaluation.reports.model_comparison import GOLD, MAJORITY
from evaluation.reports.models_report import ModelRow, ModelsReport
from evaluation.reports.number_format import format_interval, format_number, format_percent
from jobs.csv_safety import csv_lines
from predictions.queries import code_mass

Words = str | Promise
STATISTIC_LABELS: dict[str, Words] = {
    "spearman": gettext_lazy("Spearman with the mean of people"),
    "pearson": gettext_lazy("Pearson with the mean of people"),
    "accuracy": gettext_lazy("Accuracy"),
}
TRUTH_LABELS: dict[str, Words] = {
    MAJORITY: gettext_lazy("What most people said"),
    GOLD: gettext_lazy("Gold of the items"),
}


def models_context(report: ModelsReport, language: str) -> dict[str, Any]:
    """What templates/evaluation/models.html takes."""
    overall = [one.overall for one in report.lines]
    wise = [one.image_wise for one in report.lines if one.image_wise is not None]
    axis = SHARE if report.statistic == "accuracy" else axis_for([*overall, *wise])
    return {
        "axis": axis,
        "overall_label": str(STATISTIC_LABELS[report.statistic]),
        "has_image_wise": bool(wise),
        "asked_again": any(one.again is not None for one in report.lines),
        "cohorts": [cohort.name for cohort in report.cohorts] if len(report.cohorts) > 1 else [],
        "rows": [_row(one, report, axis) for one in report.lines],
        "words": words(report, language),
        "count": ngettext("%(n)s model", "%(n)s models", len(report.lines)) % {"n": len(report.lines)},
    }


def _row(one: ModelRow, report: ModelsReport, axis: Axis) -> dict[str, Any]:
    return {
        "who": one.who,
        "about": about(one.who),
        "answered": format_percent(one.answered.value),
        "n": _asked(one, report.n_things),
        "overall": comparison_text(estimate_bar(one.overall, axis), one.overall),
        "image_wise": comparison_text(estimate_bar(one.image_wise, axis), one.image_wise)
        if one.image_wise is not None
        else None,
        "left_out": left_out_sentence(one.image_wise) if one.image_wise is not None else "",
        "asked": [words for words in _said_of_asking(one) if words],
        "again": _again(one),
        "band": rank_band(one.band, sum(other.band is not None for other in report.lines)),
        "by_cohort": [
            (cohort.name, short_estimate(estimate))
            for cohort, estimate in zip(report.cohorts, one.by_cohort, strict=True)
        ],
    }


def _asked(one: ModelRow, n_things: int) -> list[str]:
    """What the share answered is of, and how much of what people rated that is."""
    n = {"n": f"{one.answered.extras['count']:,}", "of": f"{one.answered.n_units:,}", "things": f"{n_things:,}"}
    if one.asked is None:
        rest = one.answered.value != 1
        return [_("%(n)s of %(things)s") % n, *([_("what else it was asked is not known")] if rest else [])]
    said = [_("%(n)s of %(of)s asked") % n]
    if one.answered.n_units < n_things:
        said.append(_("asked about %(of)s of %(things)s") % n)
    return said


def _said_of_asking(one: ModelRow) -> tuple[str, ...]:
    samples = call_text.sample_sentences(one.samples)
    incomplete = call_text.incomplete_sentence(one.incomplete)
    ways = call_text.methods_text(one.ways)
    return _without_value(one), incomplete, ways, code_mass.code_mass_text(one.covered), *samples


def _without_value(one: ModelRow) -> str:
    return call_text.missing_answers_text(one.left_out)


def _again(one: ModelRow) -> dict[str, Any] | None:
    """What it said when it was asked more than once."""
    if one.again is None:
        return None
    same, extras = short_estimate(one.again.same), one.again.same.extras
    if one.again.same.value is not None:
        same["n"] = f"n = {one.again.same.n_units:,}"
    lost = ""
    if extras["n_unreadable"]:
        text = ngettext(
            "%(n)s answer without a value is left out.", "%(n)s answers without a value are left out.",
            int(extras["n_unreadable"]),
        )  # fmt: skip
        lost = text % {"n": f"{extras['n_unreadable']:,}"}
        ends = {end: format_number(float(extras[end] or 0)) for end in ("worst", "best")}
        if one.again.same.value is not None:
            lost += " " + _("All others, or all the same: between %(worst)s and %(best)s.") % ends
    return {"same": same, "alpha": short_estimate(one.again.alpha), "repeats": one.again.repeats, "lost": lost}


def about(who: ObservedRater) -> str:
    """What is known of a model, in a line."""
    names = ("family", "parameters", "released")
    return " · ".join(str(who.about[name]) for name in names if who.about.get(name))


def rank_band(places: tuple[int, int] | None, count: int) -> str:
    """`count` models have a place."""
    if count < 2:
        return ""
    if places is None:
        return _("not placed")
    first, last = places
    if first == last:
        return _("%(place)s of %(count)s") % {"place": first, "count": count}
    return _("%(first)s to %(last)s of %(count)s") % {"first": first, "last": last, "count": count}


def comparison_text(drawn: dict[str, Any], estimate: Estimate) -> dict[str, Any]:
    """Without a unit that both rated, it is not that there are no ratings."""
    if estimate.reason != "no_ratings":
        return drawn
    return drawn | {"title": _("nothing shared."), "reason": _("People and the model have rated no unit in common.")}


def short_estimate(estimate: Estimate) -> dict[str, Any]:
    """One estimate in a narrow cell, without a ruler."""
    if estimate.value is None:
        return comparison_text({"title": reason_title(estimate), "reason": reason_sentence(estimate)}, estimate)
    interval = format_interval(estimate) or interval_sentence(estimate)
    return {
        "value": format_number(estimate.value),
        "interval": interval,
        "n": f"n = {estimate.n_units} × {estimate.n_raters}",
    }


def words(report: ModelsReport, language: str = "en") -> list[str]:
    """What was counted and by which rule."""
    said = inclusion_text(report.selection, report.catalogue, language)
    n = report.n_things
    text = ngettext(
        "%(n)s unit that people rated, each as one cohort saw it.",
        "%(n)s units that people rated, each as one cohort saw it.",
        n,
    )
    return [*said[:-1], text % {"n": f"{n:,}"}, *_rules(report), *_interval(report, said[-1]), *_places(report)]


def _rules(report: ModelsReport) -> Iterator[str]:
    if report.statistic != "accuracy":
        yield _(
            "The model's code beside the mean of the people's codes, unit by unit; all cohorts together, then each."
        )
    elif report.truth == MAJORITY:
        rule = _(
            "Right is the code that most people of the cohort gave; %(n)s units with a shared first place left out."
        )
        yield rule % {"n": report.n_tied}
    else:
        yield _("Right is the item's own gold answer; %(n)s units without one left out.") % {"n": report.n_tied}
    if report.statistic == "pearson" and report.selection.level == "ordinal":
        yield _("Pearson treats the steps of the scale as equally wide, which an ordinal scale does not promise.")
    if any(one.image_wise is not None for one in report.lines):
        yield _(
            "Image-wise: each item's Pearson correlation over the cohorts, averaged over the items; these cohorts only."
        )
    yield _(
        "Answered: of the units people rated, those that the model was asked about. What could not be read is none."
    )
    if any(len([how for how in one.ways if how]) > 1 for one in report.lines):
        yield _("Answers that came by different ways of asking are different measurements: compare with care.")
    if any(one.again is not None for one in report.lines):
        yield _("Asked again: the first answer counts; the others are set against it here only.")


def _interval(report: ModelsReport, jackknife: str) -> Iterator[str]:
    if report.too_many:
        yield _("Without intervals: there are too many models and ratings for them. Choose one campaign or cohort.")
    elif report.statistic != "accuracy":
        yield jackknife
    elif report.lines:
        yield _("Interval: 95 %%, Wilson's; over all cohorts together by drawing whole items.") % {}


def _places(report: ModelsReport) -> Iterator[str]:
    if sum(one.band is not None for one in report.lines) > 1:
        yield _(
            "Place: the range of ranks that paired permutation tests leave open: every two models, by item, corrected "
            "by Holm. The tests speak of other pictures and these people."
        )
    if report.n_untested:
        yield _("No places: %(n)s models are too many to test every two of them.") % {"n": report.n_untested}


# Files


def to_json(report: ModelsReport) -> dict[str, Any]:
    return {
        "benchmark": {"slug": report.catalogue.benchmark.slug, "name": report.catalogue.benchmark.name},
        "selection": report.selection.to_json(),
        "statistic": report.statistic,
        "truth": report.truth if report.statistic == "accuracy" else None,
        "words": words(report),
        "n_units": report.n_things,
        "n_tests": report.n_tests,
        "watermark": report.watermark,
        "computed_at": report.computed_at.isoformat(),
        "models": [_json(one, report) for one in report.lines],
    }


def _json(one: ModelRow, report: ModelsReport) -> dict[str, Any]:
    return {
        "model": one.who.name,
        "setting": one.who.setting,
        "about": dict(one.who.about),
        "answered": one.answered.to_json(),
        "asked": one.asked.to_json() if one.asked is not None else None,
        "overall": one.overall.to_json(),
        "image_wise": one.image_wise.to_json() if one.image_wise is not None else None,
        "by_cohort": {
            cohort.label: estimate.to_json() for cohort, estimate in zip(report.cohorts, one.by_cohort, strict=True)
        },
        "place": {"best": one.band[0], "worst": one.band[1]} if one.band else None,
        "ways": dict(one.ways),
        "covered": one.covered.to_json() if one.covered else None,
        "samples": [dict(sample) for sample in one.samples],
        "incomplete": one.incomplete,
        "left_out": one.left_out.to_json(),
        "asked_again": {
            "same": one.again.same.to_json(),
            "alpha": one.again.alpha.to_json(),
            "repeats": one.again.repeats,
            "n_without_value": one.again.same.extras["n_unreadable"],
        }
        if one.again is not None
        else None,
    }


CSV_COLUMNS = (
    "model", "setting", "number", "cohort", "value", "low", "high", "n_units", "n_raters", "n_ratings", "confidence",
    "resampled", "method", "reason", "interval_reason", "best_place", "worst_place", "stage", "field", "counted",
    "watermark", "computed_at", "left_out", "worst", "best", "ways",
    "least_covered", "median_covered", "covered_below_half", "sample", "incomplete",
)  # fmt: skip


def to_csv(report: ModelsReport) -> Iterator[str]:
    return csv_lines(CSV_COLUMNS, _csv_rows(report))


def _csv_rows(report: ModelsReport) -> Iterator[list[Any]]:
    s = report.selection
    for one in report.lines:
        for number, cohort, e in _numbers(one, report):
            yield [
                one.who.name, one.who.setting, number, cohort, e.value, e.low, e.high, e.n_units, e.n_raters,
                e.n_ratings, e.level, e.resampled, e.method, e.reason, e.interval_reason, *(one.band or ("", "")),
                s.stage, s.field, s.counted, report.watermark, report.computed_at.isoformat(),
                *_left_out_cells(one, number, e, report),
                ", ".join(f"{how or 'unknown'} {n}" for how, n in sorted(one.ways.items())),
                *((one.covered.least, one.covered.median, one.covered.low) if one.covered else ("", "", "")),
                " ".join(call_text.sample_sentences(one.samples)), one.incomplete or "",
            ]  # fmt: skip


def _left_out_cells(one: ModelRow, number: str, e: Estimate, report: ModelsReport) -> tuple[Any, ...]:
    if number == "same_in_all_repeats":
        return e.extras["n_unreadable"], e.extras["worst"], e.extras["best"]
    if number != report.statistic or e is not one.overall:
        return "", "", ""
    return one.left_out.n, one.left_out.worst, one.left_out.best


def _numbers(one: ModelRow, report: ModelsReport) -> Iterator[tuple[str, str, Estimate]]:
    yield "answered", "", one.answered
    if one.asked is not None:
        yield "asked", "", one.asked
    yield report.statistic, "", one.overall
    if one.image_wise is not None:
        yield "image_wise_pearson", "", one.image_wise
    for cohort, estimate in zip(report.cohorts, one.by_cohort, strict=True):
        yield report.statistic, cohort.label, estimate
    if one.again is not None:
        yield "same_in_all_repeats", "", one.again.same
        yield "alpha_over_repeats", "", one.again.alpha
