"""3XCM's Figure 9: which tiers of languages are found at all, from the table that has them rank by rank."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.figures.drawing import bars
from evaluation.figures.drawing.colours import KINDS
from evaluation.figures.estimate_text import estimate_text, list_text, number_columns, numbers
from evaluation.figures.figure import Figure
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.figures.table_figures import spec_of, table_of
from evaluation.metrics.estimate import Estimate
from evaluation.tables.table import MissingData
from papers.xcm.tables.collection import TABLES
from papers.xcm.tables.prevalence import TIERS

TABLE = spec_of(TABLES["3xcm"], "languages-tiers")


def found_by_tier(ground: FigureData) -> Figure:
    """The table's last column, the first ten places together, a bar for each run."""
    table = table_of(ground, TABLE)
    runs: dict[str, dict[str, Estimate]] = {}
    for row in table.rows:
        if row.cells[-1].estimate is not None:
            runs.setdefault(str(row.group), {})[str(row.label)] = row.cells[-1].estimate
    tiers = [str(words) for words in TIERS.values()]
    if not runs:
        raise MissingData(TABLE.needs)
    stacks = tuple(
        bars.Stack(run, _shares(of, tiers), _count_units(of), _("no tier is known")) for run, of in runs.items()
    )
    drawing = bars.Stacks(tuple(tiers), KINDS[: len(tiers)], stacks, tuple("" for _tier in tiers))
    descriptions = [(run, ", ".join(f"{tier} {estimate_text(of[tier])}" for tier in tiers)) for run, of in runs.items()]
    return Figure(
        key="tiers-found",
        title=_("Tiers of languages among the first ten"),
        alt=list_text(descriptions, _("Share of the captions found that are of the tier:")),
        columns=(_("run"), _("tier"), *number_columns()),
        rows=tuple((run, tier, *numbers(of[tier])) for run, of in runs.items() for tier in tiers),
        draw=lambda width: bars.draw_stacks(drawing, width),
        words=(
            _("n is the number of captions among the first ten whose language is in the paper's Table 5."),
            *ground.words(),
        ),
    )


def _shares(of: dict[str, Estimate], tiers: list[str]) -> tuple[float, ...] | None:
    values = [of[tier].value for tier in tiers]
    return tuple(value for value in values if value is not None) if None not in values else None


def _count_units(of: dict[str, Estimate]) -> int:
    return next(iter(of.values())).n_units


FIGURES = (
    FigureSpec(
        "tiers-found",
        "Figure 9",
        gettext_lazy("Tiers of languages among the first ten"),
        TABLE.needs,
        found_by_tier,
    ),
)
