"""A cohort's people in numbers: each against the rest, and all of them together."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from django.http import QueryDict
from django.template.defaultfilters import floatformat
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from annotation.sheets.sheet import localise
from benchmarks.models import Benchmark
from evaluation.figures.drawing.text import isolate_direction
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.leave_one_out import rater_against_others
from evaluation.metrics.rater_drift import drift, share_agreeing_with_others, significant_drifts
from evaluation.queries.answer_tables import cohort_answer_tables
from evaluation.queries.raters import RaterRow
from evaluation.queries.ratings import cohort_ratings
from evaluation.rendering.axis import axis_for
from evaluation.rendering.html import estimate_bar
from evaluation.rendering.number_format import MINUS, format_number, format_percent
from evaluation.rendering.report import Cell, Reason, Report, ReportColumn, Row, number
from evaluation.reports.differing_items import DifferingItems, differing_items
from evaluation.reports.filters import build_select as a_select
from evaluation.selections.catalogue import Catalogue
from evaluation.selections.measures import CODED
from evaluation.selections.selection import Selection, SelectionError, select
from people.models import Cohort

PERSON_PAGES = ("person", "person_summary")  # names of addresses


@dataclass(frozen=True)
class CohortNumbers:
    """`rest`: for each rater, the agreement with the others; `drift`: the second half of the answers against the first.
    Both are empty where answers have no code: one against all others has no meaning there."""

    selection: Selection
    together: Estimate
    rest: dict[int, Estimate]
    drift: dict[int, Estimate]


def numbers(catalogue: Catalogue, cohort: Cohort, asked: QueryDict | None = None) -> CohortNumbers | None:
    """By the default selection, or the stage and question that are `asked` for; None where there is nothing to be
    measured."""
    selection = cohort_selection(catalogue, cohort, asked)
    if selection is None:
        return None
    [measure] = selection.measures
    if selection.level not in CODED:
        given = cohort_answer_tables(selection).cells[cohort.pk, ""]
        return CohortNumbers(selection, measure.compute(given, selection.interval_spec), {}, {})
    read = cohort_ratings(selection, cohort.pk)
    nominal = selection.level == "nominal"
    places = {rater: number for number, rater in enumerate(read.raters)}
    against = share_agreeing_with_others if nominal else rater_against_others
    return CohortNumbers(
        selection,
        measure.compute(read.ratings, selection.interval_spec),
        {rater: against(read.ratings, place) for rater, place in places.items()},
        {rater: drift(read.ratings, read.at, place, nominal=nominal) for rater, place in places.items()},
    )


def cohort_selection(catalogue: Catalogue, cohort: Cohort, asked: QueryDict | None = None) -> Selection | None:
    """The default selection of a cohort, or the stage and question that are `asked` for; None where there is none."""
    query = QueryDict(f"cohort={cohort.pk}", mutable=True)
    for name in ("stage", "field") if asked else ():
        query.setlist(name, asked.getlist(name) if asked else [])
    if not catalogue.stages:
        return None
    try:
        return select(catalogue, query, every_question=True)
    except SelectionError:
        return None


def person_differences(
    catalogue: Catalogue, cohort: Cohort, rater: int, language: str, asked: QueryDict | None = None
) -> DifferingItems | None:
    """Where a person differs most from their cohort; None where answers have no code, or nobody else answered too.
    `asked`: names the stage and question, where not those of the default selection."""
    selection = cohort_selection(catalogue, cohort, asked)
    if selection is None or selection.level not in CODED:
        return None
    return differing_items(selection, selection.question_label(catalogue, language), rater)


def people_context(cohort_numbers: CohortNumbers | None, lines: list[RaterRow]) -> dict[str, Any]:
    """What templates/evaluation/people.html takes of a cohort that was picked, besides its table."""
    paces = [one.median_seconds for one in lines if one.median_seconds is not None]
    shown = sum(one.done + one.skipped for one in lines)
    context: dict[str, Any] = {
        "count": len(lines),
        "active": sum(one.is_active for one in lines),
        "pace": median(paces) if paces else None,
        "skipped": format_percent(sum(one.skipped for one in lines) / shown) if shown else "",
        "shown": shown,
    }
    if cohort_numbers is None:
        return context
    return context | {
        "compared": bool(cohort_numbers.rest),
        "nominal": cohort_numbers.selection.level == "nominal",
        "drifts_tested": significant_drifts(cohort_numbers.drift)[1],
        "together": estimate_bar(cohort_numbers.together, axis_for([cohort_numbers.together])),
        "measure": cohort_numbers.selection.measures[0].label,
    }


def halves_text(change: Estimate | None, *, nominal: bool) -> str:
    """The two means that a change over time is the difference of; empty where it has no value."""
    if change is None or change.value is None:
        return ""
    words = {f"n_{half}": change.extras[f"n_{half}"] for half in ("first", "second")}
    for half in ("first", "second"):
        mean = format_number(float(change.extras[half] or 0))
        words[half] = mean if nominal or mean.startswith(MINUS) or mean == "0.00" else f"+{mean}"
    if nominal:
        text = _(
            "Share of the others who gave the same answer: first half %(first)s (n = %(n_first)s), second half "
            "%(second)s (n = %(n_second)s)."
        )
    else:
        text = _(
            "Distance from the mean of the others, in points of the scale: first half %(first)s (n = %(n_first)s), "
            "second half %(second)s (n = %(n_second)s)."
        )
    return text % words


def people_table(
    lines: list[RaterRow],
    cohort_numbers: CohortNumbers | None,
    benchmark: Benchmark,
    *,
    cohort: bool,
    works: bool,
    asked: str = "",
) -> Report:
    """A row per person. `cohort`: all are of one, which has no column then; `works`: names and addresses too. `asked`:
    the query of what people are compared by, for what opens below a row."""
    compared = cohort_numbers if cohort_numbers and cohort_numbers.rest else None
    marked = significant_drifts(compared.drift)[0] if compared else set()
    repeats = cohort and all(line.counted == line.done for line in lines)  # then one column says both
    counts = {"done": _("Done")} | ({} if repeats else {"counted": _("Counted in results")})
    columns = [
        *([] if cohort else [ReportColumn(_("Cohort"), shape="text", sort_key="cohort")]),
        ReportColumn(_("State"), shape="text"),
        *(ReportColumn(head, shape="text", style="num", sort_key=key) for key, head in counts.items()),
        ReportColumn(_("Median time per answer (s)"), shape="text", style="num", sort_key="seconds"),
        *(_compared_columns(compared) if compared else ()),
        ReportColumn(_("Skipped"), shape="text", style="num", sort_key="skipped"),
        *([ReportColumn(_("Last seen"), shape="text", style="num", sort_key="seen")] if works else []),
    ]
    rows = []
    for line in lines:
        seconds = "" if line.median_seconds is None else floatformat(line.median_seconds, "1u")
        chip, state = rater_state(line)
        cells = [
            *([] if cohort else [Cell(text=line.cohort.name if line.cohort else pgettext("cohort", "none"))]),
            Cell(text=state, chip=chip),
            *(Cell(text=str(n)) for n in (line.done, line.counted)[: len(counts)]),
            Cell(text=seconds),
            *(_compared_cells(line.rater.pk, compared, marked) if compared else ()),
            Cell(text=line.skipped_percent),
            *([Cell(at=line.seen_at)] if works else []),
        ]
        row = Row(line.pseudonym, tuple(cells))
        rows.append(_with_name(row, line, benchmark, asked) if works else row)
    return Report(_("Pseudonym"), tuple(columns), tuple(rows))


def _with_name(row: Row, line: RaterRow, benchmark: Benchmark, asked: str) -> Row:
    """With who is behind the pseudonym, and the addresses of their page and of what opens below their row."""
    user = line.rater.user
    name = (user and user.name) or line.rater.name
    simulated = _("simulated")  # makemessages does not read texts inside an f-string
    about = f"{isolate_direction(name)} · {simulated}" if user and user.simulated else name
    page, part = (reverse(f"evaluation:{name}", args=[benchmark.slug, line.rater.pk]) for name in PERSON_PAGES)
    cohort = f"cohort={line.cohort.pk}" if line.cohort else ""
    return replace(row, about=about, href=page, opens=f"{part}?{asked or cohort}")


def rater_state(line: RaterRow) -> tuple[str, str]:
    """How a rater stands in a benchmark: the class of the chip, and a word."""
    states = (
        (line.exclusion, "no", _("Excluded")), (line.is_model, "hollow", _("Model")),
        (line.from_file, "hollow", _("From a file")), (line.left, "hollow", _("Left")),
        (line.idle, "wait", _("Idle")), (True, "ok", _("Active")),
    )  # fmt: skip
    return next((chip, word) for holds, chip, word in states if holds)


def _compared_columns(compared: CohortNumbers) -> tuple[ReportColumn, ReportColumn]:
    nominal = compared.selection.level == "nominal"
    head = _("Agreement with others (share)") if nominal else _("Agreement with others (Spearman)")
    axis = axis_for(list(compared.rest.values()), from_zero=nominal)
    return (
        ReportColumn(head, axis=axis, short=_("Agreement with others"), style="wide", sort_key="agreement"),
        ReportColumn(_("Change over time"), shape="short", style="num drift", sort_key="change"),
    )


def _compared_cells(rater: int, compared: CohortNumbers, marked: Collection[int]) -> tuple[Cell, Cell]:
    """In the first, n is the number of units shared with somebody; the others are always all."""
    rest, change = compared.rest.get(rater), compared.drift.get(rater)
    if rest is None:
        absent = Estimate.undefined(reason="no_ratings", method="none")
        return number(absent, reason=Reason("", _("no answers that count"))), number(change)
    with_others = number(rest, n=f"n = {rest.n_units}")
    if change is None or change.value is None:
        return with_others, number(change)
    halves = f"n = {change.extras['n_first']} + {change.extras['n_second']}"
    mark = {"chip": "back", "text": _("Changed")} if rater in marked else {}
    return with_others, number(change, n=halves, signed=True, **mark)


def people_filters(cohort_numbers: CohortNumbers | None, catalogue: Catalogue, language: str) -> list[dict[str, Any]]:
    """Which question people are compared by, where there are several."""
    if cohort_numbers is None:
        return []
    stage = next(one for one in catalogue.stages if one.key == cohort_numbers.selection.stage)
    selects = []
    if len(catalogue.stages) > 1:
        called = {one.key: one.called for one in catalogue.stages}
        selects.append(a_select("stage", _("Stage"), called, stage.key, clears="field"))
    fields = next(one for one in stage.campaigns if one.id in cohort_numbers.selection.campaigns).sheet.fields
    if len(fields) > 1:
        asked = {one.key: localise(one.label, language).replace("{target}", "…") for one in fields}
        selects.append(a_select("field", _("Question"), asked, cohort_numbers.selection.field))
    return selects
