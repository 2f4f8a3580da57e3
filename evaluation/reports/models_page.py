"""The models report as a page sees it, and as files."""

from collections.abc import Iterator
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from evaluation.metrics.estimate import Estimate
from evaluation.queries.observations import ObservedRater
from evaluation.rendering import json_file
from evaluation.rendering.axis import SHARE, axis_for
from evaluation.rendering.html import page_table
from evaluation.rendering.number_format import format_number, format_percent
from evaluation.rendering.reason_text import left_out_sentence
from evaluation.rendering.report import NOTHING, Cell, Reason, Report, ReportColumn, Row, number
from evaluation.reports import call_text
from evaluation.reports.comparison_filters import inclusion_text
from evaluation.reports.model_comparison import GOLD, MAJORITY
from evaluation.reports.models_report import ModelRow, ModelsReport
from predictions.pages.variant_names import VariantNames
from predictions.queries import code_mass

Words = str | Promise
CSV_COLUMNS = (
    "model", "setting", "number", "cohort", "value", "low", "high", "n_units", "n_raters", "n_ratings", "confidence",
    "resampled", "method", "reason", "interval_reason", "best_place", "worst_place", "stage", "field", "counted",
    "watermark", "computed_at", "left_out", "worst", "best", "ways",
    "least_covered", "median_covered", "covered_below_half", "sample", "incomplete",
)  # fmt: skip
TOGETHER, COHORTS = ("answered", "overall", "image_wise", "place"), ("cohort",)  # columns of the page's tables
AGAIN = ("repeats", "same", "alpha")
STATISTIC_LABELS: dict[str, Words] = {
    "spearman": gettext_lazy("Spearman with the mean of people"),
    "pearson": gettext_lazy("Pearson with the mean of people"),
    "accuracy": gettext_lazy("Accuracy"),
}
TRUTH_LABELS: dict[str, Words] = {
    MAJORITY: gettext_lazy("Majority answer"),
    GOLD: gettext_lazy("Gold answers"),
}


def models_context(report: ModelsReport, language: str) -> dict[str, Any]:
    """What templates/evaluation/models.html takes."""
    table = models_table(report)
    label = str(STATISTIC_LABELS[report.statistic])
    again = any(line.again is not None for line in report.lines)
    repeated = _("Consistency of repeated requests")
    by_cohort = _("%(overall_label)s, by cohort") % {"overall_label": label}
    return {
        "table": page_table(table, "models", _("Models, all cohorts together"), TOGETHER),
        "again": page_table(table, "by-cohort", repeated, AGAIN, about=False) if again else None,
        "by_cohort": page_table(table, "by-cohort", by_cohort, COHORTS, about=False)
        if len(report.cohorts) > 1
        else None,
        "words": words(report, language),
        "count": ngettext("%(n)s model", "%(n)s models", len(report.lines)) % {"n": len(report.lines)},
    }


def models_table(report: ModelsReport) -> Report:
    """Every number of every model. The page shows it in three tables, CSV one number in a line."""
    overall = [line.overall for line in report.lines]
    wise = [line.image_wise for line in report.lines if line.image_wise is not None]
    axis = SHARE if report.statistic == "accuracy" else axis_for([*overall, *wise])
    statistic = str(STATISTIC_LABELS[report.statistic])
    columns = [
        ReportColumn(_("Answered"), "answered", "text", style="num", facts={"number": "answered"}),
        ReportColumn(key="asked", facts={"number": "asked"}),
        ReportColumn(statistic, "overall", axis=axis, style="wide", facts={"number": report.statistic}),
        ReportColumn(_("Image-wise"), "image_wise", axis=axis, style="wide", facts={"number": "image_wise_pearson"}),
        ReportColumn(_("Rank"), "place", "text", in_files=False),
        *(
            ReportColumn(
                cohort.name, "cohort", "short", brief=True, facts={"number": report.statistic, "cohort": cohort.label}
            )
            for cohort in report.cohorts
        ),
        ReportColumn(pgettext("how often", "Requests"), "repeats", "text", style="num", in_files=False),
        ReportColumn(_("Identical answers"), "same", "short", facts={"number": "same_in_all_repeats"}),
        ReportColumn(_("Alpha over its answers"), "alpha", "short", facts={"number": "alpha_over_repeats"}),
    ]
    shared = {
        "stage": report.selection.stage, "field": report.selection.field, "counted": report.selection.counted,
        "watermark": report.watermark, "computed_at": report.computed_at.isoformat(),
    }  # fmt: skip
    names = VariantNames(report.catalogue.benchmark)
    rows = tuple(_row(line, report, names) for line in report.lines)
    return Report(_("Model"), tuple(columns), rows, shared, CSV_COLUMNS)


def _row(row: ModelRow, report: ModelsReport, names: VariantNames) -> Row:
    wise, left_out = row.image_wise, row.left_out
    band = rank_band(row.band, sum(other.band is not None for other in report.lines))
    return Row(
        row.rater.name,
        (
            number(
                row.answered,
                text=format_percent(row.answered.value),
                notes=tuple(_answered_notes(row, report.n_things)),
            ),
            number(row.asked),
            comparison_cell(
                row.overall,
                notes=tuple(filter(None, _request_notes(row))),
                facts={"left_out": left_out.n, "worst": left_out.worst, "best": left_out.best},
            ),
            comparison_cell(wise, notes=tuple(filter(None, [left_out_sentence(wise)])))
            if wise is not None
            else NOTHING,
            Cell(text=band, empty=not band),
            *(comparison_cell(estimate) for estimate in row.by_cohort),
            *_repeat_cells(row),
        ),
        setting=names.name_of(row.rater.setting, report.selection.stage),
        about=model_info_text(row.rater),
        facts=_row_facts(row),
    )


def _row_facts(row: ModelRow) -> dict[str, Any]:
    best, worst = row.band or (None, None)
    facts = {
        "model": row.rater.name,
        "setting": row.rater.setting,
        "best_place": best,
        "worst_place": worst,
        "ways": ", ".join(f"{how or 'unknown'} {n}" for how, n in sorted(row.ways.items())),
        "sample": " ".join(call_text.sample_sentences(row.samples)),
        "incomplete": row.incomplete or None,
    }
    if row.covered is None:
        return facts
    least, median, low = row.covered.least, row.covered.median, row.covered.low
    return facts | {"least_covered": least, "median_covered": median, "covered_below_half": low}


def _answered_notes(row: ModelRow, n_things: int) -> list[str]:
    """What the share answered is of, and how much of what people rated that is."""
    if not n_things:
        return [_("People have rated none of its items")]
    if not row.answered.n_units:
        return [_("None of the items that people rated was sent")]
    n = {"n": f"{row.answered.extras['count']:,}", "of": f"{row.answered.n_units:,}", "things": f"{n_things:,}"}
    if row.asked is None:
        rest = row.answered.value != 1
        return [_("%(n)s of %(things)s") % n, *([_("other requests unknown")] if rest else [])]
    texts = [_("%(n)s of %(of)s requests") % n]
    if row.answered.n_units < n_things:
        texts.append(_("%(of)s of %(things)s items sent") % n)
    return texts


def _request_notes(row: ModelRow) -> tuple[str, ...]:
    samples = call_text.sample_sentences(row.samples)
    incomplete = call_text.incomplete_sentence(row.incomplete)
    ways = call_text.methods_text(row.ways)
    return _without_value(row), incomplete, ways, code_mass.code_mass_text(row.covered), *samples


def _without_value(one: ModelRow) -> str:
    return call_text.missing_answers_text(one.left_out)


def _repeat_cells(row: ModelRow) -> tuple[Cell, Cell, Cell]:
    """How often it was asked, the share of the same answers, and alpha; empty where it was asked once."""
    if row.again is None:
        return NOTHING, NOTHING, NOTHING
    same, repeats = row.again.same, row.again.repeats
    extras, lost = same.extras, ""
    if extras["n_unreadable"]:
        text = ngettext(
            "%(n)s answer without a value is left out.", "%(n)s answers without a value are left out.",
            int(extras["n_unreadable"]),
        )  # fmt: skip
        lost = text % {"n": f"{extras['n_unreadable']:,}"}
        ends = {end: format_number(float(extras[end] or 0)) for end in ("worst", "best")}
        if same.value is not None:
            lost += " " + _("Bounds: all others different, or all the same: between %(worst)s and %(best)s.") % ends
    facts = {"left_out": extras["n_unreadable"], "worst": extras["worst"], "best": extras["best"]}
    return (
        Cell(text=ngettext("%(n)s time", "%(n)s times", repeats) % {"n": repeats}),
        comparison_cell(same, n=f"n = {same.n_units:,}", notes=(lost,) if lost else (), facts=facts),
        comparison_cell(row.again.alpha),
    )


def model_info_text(rater: ObservedRater) -> str:
    """What is known of a model, in a line."""
    names = ("family", "parameters", "released")
    return " · ".join(str(rater.about[name]) for name in names if rater.about.get(name))


def rank_band(places: tuple[int, int] | None, count: int) -> str:
    """`count` models have a place."""
    if count < 2:
        return ""
    if places is None:
        return _("not ranked")
    first, last = places
    if first == last:
        return _("Rank %(place)s of %(count)s") % {"place": first, "count": count}
    return _("Rank %(first)s to %(last)s of %(count)s") % {"first": first, "last": last, "count": count}


def comparison_cell(estimate: Estimate, **more: Any) -> Cell:
    """A number of a model and people. Without a unit that both rated, it is not that there are no ratings."""
    if estimate.reason == "no_ratings":
        more["reason"] = Reason(_("no shared items."), _("People and the model have rated no item in common."))
    return number(estimate, **more)


def words(report: ModelsReport, language: str = "en") -> list[str]:
    """What was counted and by which rule."""
    texts = inclusion_text(report.selection, report.catalogue, language)
    n = report.n_things
    text = ngettext(
        "%(n)s item that people of one cohort rated.",
        "%(n)s items, each rated by people of one cohort.",
        n,
    )
    if report.is_pooled:
        text = ngettext("%(n)s item that people rated.", "%(n)s items that people rated.", n)
    return [*texts[:-1], text % {"n": f"{n:,}"}, *_rules(report), *_interval(report, texts[-1]), *_places(report)]


def _rules(report: ModelsReport) -> Iterator[str]:
    if report.statistic != "accuracy":
        yield _("The model's code and the mean of the people's codes, item by item: all cohorts together, then each.")
    elif report.truth == MAJORITY:
        rule = _("Correct answer: the option that most people of the cohort chose. Ties left out: %(n)s.")
        if report.is_pooled:
            rule = _(
                "Correct answer: the option that most people of all cohorts chose; in the columns of cohorts, most "
                "people of the cohort. Ties left out: %(n)s."
            )
        yield rule % {"n": report.n_tied}
    else:
        yield _("Correct answer: the gold answer of the item. Items without one left out: %(n)s.") % {
            "n": report.n_tied
        }
    if report.statistic == "pearson" and report.selection.level == "ordinal":
        yield _("Pearson treats the steps of the scale as equally wide, which an ordinal scale does not promise.")
    if any(one.image_wise is not None for one in report.lines):
        yield _(
            "Image-wise: each item's Pearson correlation over the cohorts, averaged over the items; these cohorts only."
        )
    yield _(
        "Answered: the share of the items sent to the model, among those that people rated, with a readable answer."
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
            "Rank: the range of ranks that paired permutation tests leave open, for every two "
            "models, by item, corrected by Holm. The tests are over pictures, for these people."
        )
    if report.n_untested:
        yield _("No ranks: %(n)s models are too many to test every two of them.") % {"n": report.n_untested}


def to_json(report: ModelsReport) -> dict[str, Any]:
    document: dict[str, Any] = json_file.to_json(
        {
            "benchmark": {"slug": report.catalogue.benchmark.slug, "name": report.catalogue.benchmark.name},
            "selection": report.selection.to_json(),
            "statistic": report.statistic,
            "truth": report.truth if report.statistic == "accuracy" else None,
            "words": words(report),
            "n_units": report.n_things,
            "n_tests": report.n_tests,
            "watermark": report.watermark,
            "computed_at": report.computed_at,
            "models": [_json(line, report) for line in report.lines],
        }
    )
    return document


def _json(row: ModelRow, report: ModelsReport) -> dict[str, Any]:
    again = None
    if row.again is not None:
        again = {"same": row.again.same, "alpha": row.again.alpha, "repeats": row.again.repeats}
        again["n_without_value"] = row.again.same.extras["n_unreadable"]
    return {
        "model": row.rater.name,
        "setting": row.rater.setting,
        "about": row.rater.about,
        "answered": row.answered,
        "asked": row.asked,
        "overall": row.overall,
        "image_wise": row.image_wise,
        "by_cohort": {cohort.label: e for cohort, e in zip(report.cohorts, row.by_cohort, strict=True)},
        "place": {"best": row.band[0], "worst": row.band[1]} if row.band else None,
        "ways": row.ways,
        "covered": row.covered.to_json() if row.covered else None,
        "samples": row.samples,
        "incomplete": row.incomplete,
        "left_out": row.left_out.to_json(),
        "asked_again": again,
    }
