"""CulturalVQA's figures of points: accuracy by release date, and against what a country's questions are like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.figures.drawing import points
from evaluation.figures.drawing.axis import ticks
from evaluation.figures.drawing.colours import INDIGO, MADDER
from evaluation.figures.drawing.scatter import correlation_words
from evaluation.figures.drawing.shapes import Sign, sign
from evaluation.figures.estimate_text import estimate_text, list_text, number_columns, numbers, value_of
from evaluation.figures.figure import Figure
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.figures.table_figures import ACCURACY, heat_spec, option_words, spec_of, table_of
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Row
from evaluation.tables.table import MissingData, Table
from evaluation.tables.targets import label_set_of
from papers.culturalvqa.tables.accuracy import SIDES, TABLES, western_words
from papers.culturalvqa.tables.data import Profile, counted_questions
from papers.culturalvqa.tables.judgements import judged_answers, models_in_setting
from predictions.queries.model_details import known_models

RELEASES = spec_of(TABLES["culturalvqa"], "releases")
CORRELATIONS = spec_of(TABLES["culturalvqa"], "correlations")
UPWARDS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
PANELS = 8
# Western closed, open, not known; then the other countries: solid is closed.
SIGNS = (
    Sign("disc", INDIGO), Sign("disc", INDIGO, open=True), Sign("plus", INDIGO),
    Sign("up", MADDER), Sign("up", MADDER, open=True), Sign("cross", MADDER),
)  # fmt: skip


@dataclass(frozen=True)
class Released:
    """A model's release: what stands with it, the day it is drawn at, and whether it is open (None: not known)."""

    name: str
    date_text: str
    day: date | None
    is_open: bool | None
    western: Estimate | None
    other: Estimate | None


def day_of(text: str) -> date | None:
    """YYYY-MM-DD; of YYYY-MM the middle of the month, of YYYY that of the year. None: not a date.

    >>> day_of("2024-05"), day_of("May 24")
    (datetime.date(2024, 5, 15), None)
    """
    full = {4: f"{text}-07-01", 7: f"{text}-15"}.get(len(text), text)
    try:
        return date.fromisoformat(full) if full.count("-") == 2 else None
    except ValueError:
        return None


def by_release(ground: FigureData) -> Figure:
    """The numbers of the table of releases: plain means over the Western and over the other countries."""
    table = table_of(ground, RELEASES)
    opened = _openness_by_model(ground)
    releases = [
        Released(
            str(row.label),
            date_text,
            day_of(date_text),
            opened.get(str(row.label)),
            estimates.get(str(SIDES[True])),
            estimates.get(str(SIDES[False])),
        )
        for row in table.rows
        if (date_text := str(row.cells[0].text).strip()) and (estimates := _estimates(table, row))
    ]
    dated = [release for release in releases if release.day]
    if not dated:
        raise MissingData(_("No release date can be read. Write it as YYYY-MM-DD in the model details (“released”)."))
    kinds = [_kind(release.is_open) for release in dated]
    drawing = points.Points(
        (points.PointPanel(_("Accuracy by release date"), _series_words(), tuple(_series(dated))),),
        _("Released"), str(ACCURACY), _months([release.day for release in dated if release.day]), UPWARDS,
        tuple((SIGNS[k], _sign_words(k)) for k in range(len(SIGNS)) if k % 3 in kinds),
        (points.Trend((0, 1, 2), INDIGO), points.Trend((3, 4, 5), MADDER, "7 4")),
        SIGNS,
    )  # fmt: skip
    pairs = [(f"{release.name} ({release.date_text})", _pair_words(release)) for release in dated]
    return Figure(
        key="by-release",
        title=_("Accuracy by release date"),
        alt=list_text(pairs, _("Accuracy: %(sides)s.") % {"sides": ", ".join(map(str, table.columns[1:]))}),
        columns=(_("model"), _("released"), _("open"), _("countries"), *number_columns()),
        rows=tuple(
            (release.name, release.date_text, _open_words(release.is_open), side, *numbers(estimate))
            for release in releases
            for side, estimate in ((_("Western"), release.western), (_("other"), release.other))
            if estimate is not None
        ),
        draw=lambda width: points.draw(drawing, width),
        words=tuple(_release_words(ground, releases)),
    )


def _estimates(table: Table, row: Row) -> dict[str, Estimate]:
    """By the side of the countries; one of which the benchmark has none is missing."""
    cells = zip(map(str, table.columns), row.cells, strict=True)
    return {name: cell.estimate for name, cell in cells if cell.estimate is not None}


def _openness_by_model(ground: FigureData) -> dict[str, bool]:
    opened = {known.name: known.about.get("open") for known in known_models(ground.benchmark.team)}
    return {name: is_open for name, is_open in opened.items() if isinstance(is_open, bool)}


def _kind(is_open: bool | None) -> int:
    return 2 if is_open is None else 1 if is_open else 0


def _series(dated: Sequence[Released]) -> list[points.Series]:
    series = []
    for kind in range(len(SIGNS)):
        some = [release for release in dated if _kind(release.is_open) == kind % 3]
        spots = tuple(
            points.PlotPoint(release.name, float(release.day.toordinal()), value_of(estimate))
            for release in some
            if release.day and (estimate := release.western if kind < 3 else release.other) is not None
        )
        series.append(points.Series(kind, spots))
    return series


def _series_words() -> str:
    return _("Solid line: Western. Dashed: other countries")


def _sign_words(kind: int) -> str:
    return str(
        (
            _("Western countries, closed model"), _("Western countries, open model"), _("Western countries, not known"),
            _("Other countries, closed model"), _("Other countries, open model"), _("Other countries, not known"),
        )[kind]
    )  # fmt: skip


def _open_words(is_open: bool | None) -> str:
    return _("not known") if is_open is None else _("yes") if is_open else _("no")


def _pair_words(release: Released) -> str:
    return ", ".join(estimate_text(side) for side in (release.western, release.other) if side is not None)


def _release_words(ground: FigureData, releases: Sequence[Released]) -> list[str]:
    sentences = [
        _("Plain means over countries, however many questions each has."),
        *map(str, western_words(label_set_of(ground.benchmark), {})),
        _("Lines are least squares through the models, three or more of them."),
        _("A date without a day is placed in the middle of its month or year."),
    ]
    unread = [release.name for release in releases if not release.day]
    if unread:
        sentences.append(_("Without a date that can be read, so not drawn: %(names)s.") % {"names": ", ".join(unread)})
    return [*sentences, *option_words(ground), *ground.words()]


def _months(days: Sequence[date]) -> tuple[points.Tick, ...]:
    """Beginnings of months before the first to after the last day, at most about eight of them."""
    first, last = min(days), max(days) + timedelta(days=1)
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    step = next(s for s in (1, 2, 3, 6, 12, 24, 60, 120, 1200) if months / s <= 8)
    begin = (first.year * 12 + first.month - 1) // step * step
    month_ticks: list[points.Tick] = []
    while not month_ticks or month_ticks[-1][0] < last.toordinal():
        year, month = begin // 12, begin % 12 + 1
        month_ticks.append((float(date(year, month, 1).toordinal()), f"{year}" if step >= 12 else f"{year}-{month:02}"))
        begin += step
    return tuple(month_ticks)


def against(
    key: str, title: str, x: str, of: Callable[[Profile], float | None], column: int, ground: FigureData
) -> Figure:
    """Each country a point; `of` says where it stands across, `column` of the table of correlations has the rho."""
    table = table_of(ground, CORRELATIONS)
    rho = {str(row.label): row.cells[column].estimate for row in table.rows}
    judged, profiles = (
        judged_answers(ground),
        {counted_question.country: counted_question for counted_question in counted_questions(ground)},
    )
    at = {c: of(profiles[c]) for c in judged.countries if c in profiles}
    where = {country: value for country, value in at.items() if value is not None}
    if not where:
        raise MissingData(_("There are no questions yet. Accept some, or import them into the stage “answers”."))
    panels, rows, descriptions = [], [], []
    for place, (name, some) in enumerate(models_in_setting(judged, "vlm")):
        by_country = {country: some.of(country=country).accuracy for country in where}
        rows += [
            (name, country, where[country], len(profiles[country].questions), *numbers(estimate))
            for country, estimate in by_country.items()
        ]
        estimate = rho[name] or Estimate.undefined(reason="too_few_points", method="spearman", n_units=len(where))
        descriptions.append((name, estimate_text(estimate)))
        if place < PANELS:
            spots = tuple(points.PlotPoint(c, where[c], value_of(e)) for c, e in by_country.items())
            panels.append(
                points.PointPanel(name, correlation_words("rho", value_of(estimate)), (points.Series(0, spots),))
            )
    across = points.number_ticks(ticks(min(where.values()), max(where.values()), 4))
    drawing = points.Points(tuple(panels), x, str(ACCURACY), across, UPWARDS, signs=(sign(0),), columns=2)
    more = [_("The table has the models beyond the first %(n)s.") % {"n": PANELS}] if len(descriptions) > PANELS else []
    return Figure(
        key=key,
        title=title,
        alt=list_text(descriptions, _("Spearman's rho over %(n)s countries:") % {"n": len(where)}),
        columns=(_("model"), _("country"), x, _("questions"), *number_columns()),
        rows=tuple(rows),
        draw=lambda width: points.draw(drawing, width),
        words=(_("One point for each country; intervals upwards draw its questions."), *more, *option_words(ground),
               *ground.words()),
    )  # fmt: skip


def against_length(ground: FigureData) -> Figure:
    x = _("Words in a question, mean")
    return against(
        "length", _("Accuracy against the length of questions"), x, lambda profile: profile.question_words, 1, ground
    )


def against_answers(ground: FigureData) -> Figure:
    x = _("Answers per question, mean")
    return against(
        "answers-each", _("Accuracy against answers per question"), x, lambda profile: profile.answers_each, 2, ground
    )


FIGURES = (
    heat_spec(spec_of(TABLES["culturalvqa"], "accuracy"), measure=ACCURACY),
    heat_spec(spec_of(TABLES["culturalvqa"], "without-picture"), measure=ACCURACY, number="Figure 5"),
    heat_spec(spec_of(TABLES["culturalvqa"], "facets"), measure=ACCURACY, number="Figure 7"),
    FigureSpec("by-release", "Figure 1", gettext_lazy("Accuracy by release date"), RELEASES.needs, by_release),
    FigureSpec(
        "length", "Figure 12", gettext_lazy("Accuracy against the length of questions"), CORRELATIONS.needs,
        against_length,
    ),
    FigureSpec(
        "answers-each", "", gettext_lazy("Accuracy against answers per question"), CORRELATIONS.needs, against_answers
    ),
)  # fmt: skip
