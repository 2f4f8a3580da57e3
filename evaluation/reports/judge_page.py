"""The judge report as a page sees it, and as files."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluation.metrics.estimate import Estimate
from evaluation.observations import ObservedRater
from evaluation.reports.agreement_page import SHARE, Axis, axis_for, estimate_bar
from evaluation.reports.call_text import methods_text, missing_answers_text
from evaluation.reports.comparison_filters import inclusion_text
from evaluation.reports.judge_report import JudgeReport, JudgeRow, Standing
from evaluation.reports.models_page import comparison_text, short_estimate
from evaluation.reports.number_format import format_number
from jobs.csv_safety import csv_lines
from predictions.queries import code_mass

MAJORITY = ("agreement", "base_rate", "kappa")


def judges_of(report: JudgeReport) -> dict[str, str]:
    """Who may judge, by what an address says: each model, the mean of all, and the mean that is looked at."""
    names = {str(pk): _named(who) for pk, who in report.judges}
    means = [tuple(who for _pk, who in report.judges)] if _may_average(report) else []
    words = {_key(some): _("the mean of all %(n)s") % {"n": len(some)} for some in means}
    if report.mean_of:
        chosen = ", ".join(_named(who) for who in report.mean_of)
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


def _named(who: ObservedRater) -> str:
    return f"{who.name}, {who.setting}" if who.setting else who.name


def _multi_select(report: JudgeReport) -> list[dict[str, Any]]:
    """To tick whose mean is looked at; of two there is but one mean, and the select has it."""
    if not _may_average(report) or len(report.judges) < 3:
        return []
    chosen = chosen_of(report).split("+")
    return [{"pk": pk, "name": _named(who), "chosen": str(pk) in chosen} for pk, who in report.judges]


def judge_context(report: JudgeReport, language: str) -> dict[str, Any]:
    """What templates/evaluation/judge.html takes."""
    alphas = [e for one in report.lines for e in (one.alpha.people, one.alpha.everybody)]
    nominal = report.selection.level == "nominal"
    placed = [e for one in report.lines for e in (one.standing.judge, *one.standing.people)]
    alpha_axis, strip_axis = axis_for(alphas), SHARE if nominal else axis_for(placed)
    return {
        "alpha_axis": alpha_axis,
        "strip_axis": strip_axis,
        "nominal": nominal,
        "averaged": bool(report.mean_of),
        "several": _multi_select(report),
        "asked": report.selection.to_params(),
        "ways": " ".join(
            words for words in (methods_text(report.ways), code_mass.code_mass_text(report.covered)) if words
        ),
        "rows": [_row(one, alpha_axis, strip_axis) for one in report.lines],
        "panel": _panel(report),
        "words": words(report, language),
    }


def _row(one: JudgeRow, alpha_axis: Axis, strip_axis: Axis) -> dict[str, Any]:
    return {
        "cohort": one.cohort.name,
        "alone": comparison_text(estimate_bar(one.alpha.people, alpha_axis), one.alpha.people),
        "with_judge": comparison_text(estimate_bar(one.alpha.everybody, alpha_axis), one.alpha.everybody),
        "standing": comparison_text(estimate_bar(one.standing.judge, strip_axis), one.standing.judge),
        "people_at": [strip_axis.at(e.value) for e in one.standing.people if e.value is not None],
        "ceiling_at": strip_axis.at(one.standing.ceiling.value) if one.standing.ceiling.value is not None else "",
        "sentences": list(_sentences(one.standing)),
        "ceiling": short_estimate(one.standing.ceiling),
        **({name: short_estimate(getattr(one.majority, name)) for name in MAJORITY} if one.majority else {}),
        "left_out": [words for words in (_ties_text(one), " ".join(_unanswered(one))) if words],
    }


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
        yield _("Measured against the very same others, it is at least as close as %(count)s of %(n)s.") % given


def _ties_text(one: JudgeRow) -> str:
    """Why fewer units have a majority than the judge rated."""
    n = one.majority.n_tied if one.majority else 0
    text = ngettext(
        "%(n)s unit with a shared first place left out.", "%(n)s units with a shared first place left out.", n
    )
    return text % {"n": n} if n else ""


def _unanswered(one: JudgeRow) -> Iterator[str]:
    """Of what people rated, what the judge has no answer for: not asked, or no value came of it. A sum of the two."""
    n = one.n_unanswered
    if not n:
        return
    text = ngettext(
        "%(n)s unit that people rated has no answer of the judge.",
        "%(n)s units that people rated have no answer of the judge.",
        n,
    )
    yield text % {"n": n}
    if one.n_unasked is None:
        yield _("Whether it was asked is not known.")
    elif one.n_unasked:
        text = ngettext("Not asked about %(n)s.", "Not asked about %(n)s.", one.n_unasked)
        yield text % {"n": one.n_unasked}
    if said := missing_answers_text(one.left_out):
        yield said


def _panel(report: JudgeReport) -> dict[str, Any] | None:
    if report.panel is None:
        return None
    errors, worth = report.panel
    count = len(report.judges)
    cancel = worth.value is not None and worth.value > count
    uncorrected = errors.extras.get("r_uncorrected")
    return {
        "count": count, "errors": _corrected(errors), "worth": _corrected(worth), "cancel": cancel,
        "bounds": report.selection.level == "nominal",
        "uncorrected": format_number(uncorrected) if isinstance(uncorrected, float) else "",
    }  # fmt: skip


def _corrected(estimate: Estimate) -> dict[str, Any]:
    """Without two people of a unit, their noise is not known: the uncorrected number must not stand there."""
    drawn = short_estimate(estimate)
    if estimate.reason == "no_pairable_units":
        drawn |= {"title": _("cannot be corrected."), "reason": _("No unit has been rated by two people.")}
    return drawn


def words(report: JudgeReport, language: str = "en") -> list[str]:
    """What was counted and by which rule."""
    if report.judge is None:
        return []
    *said, interval = inclusion_text(report.selection, report.catalogue, language)
    if report.mean_of:
        text = _("Judge: the mean of %(names)s, computed here; a unit without an answer of one of them is left out.")
        said.append(text % {"names": report.judge.name})
    if len([how for how in report.ways if how]) > 1:
        said.append(_("Answers that came by different ways of asking are different measurements: compare with care."))
    said.append(_("Both alphas are of the units the judge rated; with the judge, it is one rater more."))
    if report.selection.level == "nominal":
        said.append(
            _("Place among people: how often each says what most of the others say, shared first places left out.")
        )
    else:
        said.append(_("Place among people: each one's Spearman correlation with the mean of the others."))
        said.append(
            _(
                "The drawing sets the judge against the mean of all people, and each person against that of the "
                "others, one fewer; the count beside it leaves each person out of both."
            )
        )
        said.append(_("The judge's own interval speaks of other units and these people."))
    said.append(_("Ceiling: the people's own, on average; its interval is for other people."))
    if not report.mean_of:
        said.append(_("Base rate: what always giving the commonest code would reach."))
    if report.panel is not None and report.selection.level == "nominal":
        said.append(_("An error of a judge is not saying what most people of the cohort said."))
        said.append(
            _(
                "Codes without an order: people's noise cannot be taken off, so the correlation of the errors is an "
                "upper bound, and the number of independent judges a lower bound."
            )
        )
    elif report.panel is not None:
        said.append(_("An error of a judge is its code less the mean of the people's."))
        said.append(
            _(
                "All errors share the noise of that mean. It is estimated from the people who rated the same unit, "
                "and taken off the correlation of the errors; its interval is for other units and other people."
            )
        )
    return [*said, interval]


# Files


def to_json(report: JudgeReport) -> dict[str, Any]:
    names = {"model": report.judge.name, "setting": report.judge.setting} if report.judge else None
    panel = dict(zip(("error_correlation", "effective_judges"), report.panel, strict=True)) if report.panel else {}
    return {
        "benchmark": {"slug": report.catalogue.benchmark.slug, "name": report.catalogue.benchmark.name},
        "selection": report.selection.to_json(),
        "judge": names,
        "mean_of": [{"model": who.name, "setting": who.setting} for who in report.mean_of],
        "ways": dict(report.ways),
        "covered": report.covered.to_json() if report.covered else None,
        "words": words(report),
        "watermark": report.watermark,
        "computed_at": report.computed_at.isoformat(),
        "cohorts": {
            one.cohort.label: {name: estimate.to_json() for name, estimate in _numbers(one)}
            | {"people": [e.to_json() for e in one.standing.people]}
            | ({"n_tied": one.majority.n_tied} if one.majority else {})
            | {"n_unanswered": one.n_unanswered, "n_unasked": one.n_unasked, "left_out": one.left_out.to_json()}
            for one in report.lines
        },
        "panel": {name: estimate.to_json() for name, estimate in panel.items()},
    }


def _numbers(one: JudgeRow) -> Iterator[tuple[str, Estimate]]:
    yield "alpha_people", one.alpha.people
    yield "alpha_with_judge", one.alpha.everybody
    yield "judge_with_the_rest", one.standing.judge
    yield "ceiling", one.standing.ceiling
    if one.standing.at_least_as_good is not None:
        yield "at_least_as_good", one.standing.at_least_as_good
    if one.majority is not None:
        yield "agreement_with_majority", one.majority.agreement
        yield "base_rate", one.majority.base_rate
        yield "kappa", one.majority.kappa


CSV_COLUMNS = (
    "judge", "setting", "cohort", "number", "value", "low", "high", "n_units", "n_raters", "n_ratings", "confidence",
    "resampled", "method", "reason", "interval_reason", "stage", "field", "level", "counted", "watermark",
    "computed_at",
)  # fmt: skip


def to_csv(report: JudgeReport) -> Iterator[str]:
    return csv_lines(CSV_COLUMNS, _csv_rows(report))


def _csv_rows(report: JudgeReport) -> Iterator[list[Any]]:
    s, judge = report.selection, report.judge
    names = (judge.name, judge.setting) if judge else ("", "")
    rows = [(*names, one.cohort.label, number, e) for one in report.lines for number, e in _numbers(one)]
    if report.panel:
        of_panel = zip(("error_correlation", "effective_judges"), report.panel, strict=True)
        rows += [("", "", "", number, e) for number, e in of_panel]
    for name, setting, cohort, number, e in rows:
        yield [
            name, setting, cohort, number, e.value, e.low, e.high, e.n_units, e.n_raters, e.n_ratings, e.level,
            e.resampled, e.method, e.reason, e.interval_reason, s.stage, s.field, s.level, s.counted,
            report.watermark, report.computed_at.isoformat(),
        ]  # fmt: skip
