"""Which measures a field's level of measurement allows, and what to say where one does not quite fit."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluation.metrics.agreement import alpha, percent_agreement
from evaluation.metrics.correlation import mean_pairwise_pearson, mean_pairwise_spearman
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval
from evaluation.metrics.kappa import cohen_kappa
from evaluation.metrics.leave_one_out import each_against_the_rest
from evaluation.metrics.partitions import adjusted_rand, keep_alpha, pairwise_f1

Compute = Callable[[Any, Interval], Estimate]  # of Ratings; of Partitions at the level of partitions
ORDERED = ("ordinal", "interval", "ratio")
_EQUAL_STEPS: str | Promise = _(
    "It treats the steps of the scale as equally wide, which an ordinal scale does not promise."
)


@dataclass(frozen=True)
class Measure:
    """One statistic: the levels it may be computed for, and a warning for those it fits badly."""

    key: str
    label: str | Promise
    explained: str | Promise
    levels: tuple[str, ...]
    compute: Compute = field(repr=False)
    warnings: dict[str, str | Promise] = field(default_factory=dict)
    from_zero: bool = False

    def warning(self, level: str) -> str | Promise:
        return self.warnings.get(level, "")


MEASURES: tuple[Measure, ...] = (
    Measure(
        "alpha_ordinal",
        _("Alpha, ordinal"),
        _("Krippendorff's alpha with the ordinal distance."),
        ORDERED,
        lambda ratings, interval: alpha(ratings, "ordinal", interval=interval),
    ),
    Measure(
        "alpha_nominal",
        _("Alpha, nominal"),
        _("Krippendorff's alpha with the nominal distance."),
        ("nominal", *ORDERED),
        lambda ratings, interval: alpha(ratings, "nominal", interval=interval),
        {level: _("It treats a near miss like a far one: the order of the scale is not used.") for level in ORDERED},
    ),
    Measure(
        "alpha_interval",
        _("Alpha, interval"),
        _("Krippendorff's alpha with the interval distance."),
        ORDERED,
        lambda ratings, interval: alpha(ratings, "interval", interval=interval),
        {"ordinal": _EQUAL_STEPS},
    ),
    Measure(
        "alpha_ratio",
        _("Alpha, ratio"),
        _("Krippendorff's alpha with the ratio distance."),
        ORDERED,
        lambda ratings, interval: alpha(ratings, "ratio", interval=interval),
        {
            "ordinal": _("It needs a true zero and equal steps, which an ordinal scale does not promise."),
            "interval": _("It needs a true zero, which an interval scale does not have."),
        },
    ),
    Measure(
        "spearman",
        _("Mean pairwise Spearman"),
        _("Spearman's rank correlation of every two raters over the units both rated, averaged over the pairs."),
        ORDERED,
        lambda ratings, interval: mean_pairwise_spearman(ratings, interval=interval),
    ),
    Measure(
        "pearson",
        _("Mean pairwise Pearson"),
        _("Pearson's correlation of every two raters over the units both rated, averaged over the pairs."),
        ORDERED,
        lambda ratings, interval: mean_pairwise_pearson(ratings, interval=interval),
        {"ordinal": _EQUAL_STEPS},
    ),
    Measure(
        "rest",
        _("Each against the rest, Spearman"),
        _(
            "Spearman's correlation of each rater with the mean of the others, averaged over the raters; beside it the "
            "least and the largest of them. It has no interval."
        ),
        ORDERED,
        lambda ratings, _interval: each_against_the_rest(ratings),
    ),
    Measure(
        "percent",
        _("Percent agreement"),
        _("The share of pairs of raters that gave the same code."),
        ("nominal", *ORDERED),
        lambda ratings, interval: percent_agreement(ratings, interval=interval),
        {level: _("It is not corrected for chance: people who guess agree too.") for level in ("nominal", *ORDERED)},
        from_zero=True,
    ),
    Measure(
        "kappa",
        _("Cohen's kappa"),
        _("Cohen's kappa of two raters; of more, its mean over all pairs."),
        ("nominal", *ORDERED),
        lambda ratings, interval: cohen_kappa(ratings, interval=interval),
        {level: _("It treats a near miss like a far one: the order of the scale is not used.") for level in ORDERED},
    ),
    Measure(
        "kappa_linear",
        _("Cohen's kappa, linear weights"),
        _("Cohen's kappa in which a disagreement weighs the steps it spans; of more raters, the mean over pairs."),
        ORDERED,
        lambda ratings, interval: cohen_kappa(ratings, weights="linear", interval=interval),
        {"ordinal": _EQUAL_STEPS},
    ),
    Measure(
        "kappa_quadratic",
        _("Cohen's kappa, quadratic weights"),
        _("Cohen's kappa in which a disagreement weighs its steps squared; of more raters, the mean over pairs."),
        ORDERED,
        lambda ratings, interval: cohen_kappa(ratings, weights="quadratic", interval=interval),
        {"ordinal": _EQUAL_STEPS},
    ),
    Measure(
        "pairwise_f1",
        _("Pairwise F1 of groupings"),
        _("Of all pairs of pictures that somebody put into one group, how far two people put the same ones together."),
        ("partition",),
        lambda given, interval: pairwise_f1(given, interval=interval),
        {"partition": _("It is not corrected for chance: few large groups agree by themselves.")},
        from_zero=True,
    ),
    Measure(
        "adjusted_rand",
        _("Adjusted Rand index"),
        _("How far two people's groupings agree beyond chance, with the sizes of their groups held fixed."),
        ("partition",),
        lambda given, interval: adjusted_rand(given, interval=interval),
    ),
    Measure(
        "keep_alpha",
        _("Alpha of keep or drop"),
        _("Krippendorff's alpha, nominal, of keeping a picture or not. Pictures somebody is unsure of are left out."),
        ("partition",),
        lambda given, interval: keep_alpha(given, interval=interval),
    ),
)
BY_KEY = {measure.key: measure for measure in MEASURES}
TABLE = "table"  # several at once, as CAIRE's Table 14 has them
TABLE_LABEL = _("Alpha, Spearman and Pearson")
GROUPINGS = ("pairwise_f1", "adjusted_rand", "keep_alpha")
GROUPINGS_LABEL = _("F1, Rand index and alpha")


def offered(level: str) -> tuple[Measure, ...]:
    return tuple(measure for measure in MEASURES if level in measure.levels)


def default_measure(level: str) -> str:
    """Alpha at the field's own level: the statistic that promises no more than the scale does."""
    return GROUPINGS[0] if level == "partition" else f"alpha_{level}"


def chosen(key: str, level: str) -> tuple[Measure, ...]:
    """The measures behind a choice on the page. The table has alpha at the field's level and both correlations."""
    if key == TABLE and level == "partition":
        return tuple(BY_KEY[one] for one in GROUPINGS)
    if key == TABLE:
        return tuple(BY_KEY[one] for one in (default_measure(level), "spearman", "pearson"))
    return (BY_KEY[key],) if key in BY_KEY else ()  # a text has none
