"""Agreement of reviewers on the answers that two of them decided on."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from benchmarks.models import Stage
from evaluation.metrics.alpha import alpha, percent_agreement
from evaluation.metrics.intervals import Interval
from evaluation.queries.reviewers import decision_ratings
from evaluation.rendering.axis import SHARE, axis_for
from evaluation.rendering.report import Report, ReportColumn, Row, number

CSV_COLUMNS = (
    "stage", "number", "value", "low", "high", "n_units", "n_raters", "n_ratings", "confidence", "resampled", "method",
    "reason", "interval_reason",
)  # fmt: skip
OVER_ANSWERS = Interval(over="units")  # for these reviewers: a benchmark has few, and no others are meant


def reviewer_agreement(stages: Sequence[Stage]) -> Report:
    """By stage the percent agreement and nominal alpha of first and second decisions; n is answers and reviewers."""
    ratings = decision_ratings(stages)
    numbers = [
        (
            stage,
            percent_agreement(ratings[stage.pk], interval=OVER_ANSWERS),
            alpha(ratings[stage.pk], "nominal", interval=OVER_ANSWERS),
        )
        for stage in stages
    ]
    columns = (
        ReportColumn(_("Percent agreement"), "agreement", axis=SHARE, style="wide", facts={"number": "agreement"}),
        ReportColumn(
            _("Krippendorff's alpha (nominal)"), "alpha", axis=axis_for(value for _stage, _share, value in numbers),
            style="wide", facts={"number": "alpha"},
        ),
    )  # fmt: skip
    rows = tuple(
        Row(stage.key, (number(share), number(value)), name=stage.name, facts={"stage": stage.key})
        for stage, share, value in numbers
    )
    return Report(_("Stage"), columns, rows, csv_columns=CSV_COLUMNS)
