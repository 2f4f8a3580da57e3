"""Which measures a field's level of measurement allows, and what to say where one does not quite fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluation.metrics.alpha import alpha, percent_agreement
from evaluation.metrics.box_agreement import mean_pairwise_overlap
from evaluation.metrics.box_alpha import box_alpha, box_f1
from evaluation.metrics.correlation import mean_pairwise_pearson, mean_pairwise_spearman
from evaluation.metrics.distance_alpha import AnswerTable
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval
from evaluation.metrics.kappa import cohen_kappa
from evaluation.metrics.leave_one_out import mean_rater_against_others
from evaluation.metrics.partitions import adjusted_rand, keep_alpha, pairwise_f1
from evaluation.metrics.sets import option_alpha, set_alpha
from evaluation.metrics.texts import exact_match, text_alpha

# Of Ratings at the levels of CODED, of Partitions for groupings, of an AnswerTable at every other level
Labels = dict[str, str | Promise]
Compute = Callable[[Any, Interval], Estimate]
ORDERED = ("ordinal", "interval", "ratio")
CODED = ("nominal", *ORDERED)
LEVEL_LABELS: dict[str, str | Promise] = {
    "nominal": _("Nominal"),
    "ordinal": _("Ordinal"),
    "interval": _("Interval"),
    "ratio": _("Ratio"),
    "set": _("Several options"),
    "box": _("Boxes"),
    "partition": _("Groups"),
    "text": _("Free text"),
    "none": _("Not compared"),
}
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


def _without_value(reason: str) -> Compute:
    def compute(table: AnswerTable, interval: Interval) -> Estimate:
        sizes = table.ratings.sizes.to_fields()
        return Estimate.undefined(reason=reason, method="none", level=interval.level, **sizes)

    return compute


def _overlap(table: AnswerTable, interval: Interval) -> Estimate:
    units: list[dict[int, Any]] = [{} for _unit in range(table.n_units)]
    for unit, rater, answer in zip(table.unit.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True):
        units[unit][rater] = table.distinct[answer]
    return mean_pairwise_overlap(units, interval=interval)


_WORDING: str | Promise = _("Agreement of wording is not agreement of content.")

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
        _("Spearman's rank correlation of every two raters over the items both rated, averaged over the pairs."),
        ORDERED,
        lambda ratings, interval: mean_pairwise_spearman(ratings, interval=interval),
    ),
    Measure(
        "pearson",
        _("Mean pairwise Pearson"),
        _("Pearson's correlation of every two raters over the items both rated, averaged over the pairs."),
        ORDERED,
        lambda ratings, interval: mean_pairwise_pearson(ratings, interval=interval),
        {"ordinal": _EQUAL_STEPS},
    ),
    Measure(
        "rest",
        _("Agreement with others (Spearman)"),
        _(
            "Spearman's correlation of each rater with the mean of the others, averaged over the "
            "raters, with the smallest and the largest value. It has no interval."
        ),
        ORDERED,
        lambda ratings, _interval: mean_rater_against_others(ratings),
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
    Measure(
        "alpha_masi",
        _("Alpha, MASI distance"),
        _("Krippendorff's alpha of the sets of options, with the MASI distance: a subset counts as half the way."),
        ("set",),
        lambda table, interval: set_alpha(table, "masi", interval=interval),
    ),
    Measure(
        "alpha_jaccard",
        _("Alpha, Jaccard distance"),
        _("Krippendorff's alpha of the sets of options; the distance is the share of options that only one chose."),
        ("set",),
        lambda table, interval: set_alpha(table, "jaccard", interval=interval),
    ),
    Measure(
        "overlap",
        _("Mean pairwise overlap"),
        _(
            "The overlap (IoU) of two people's boxes, best matched, averaged over the pairs of an item and then over "
            "items."
        ),
        ("box",),
        _overlap,
        {"box": _("It is not corrected for chance: large boxes overlap by themselves.")},
        from_zero=True,
    ),
    Measure(
        "alpha_overlap",
        _("Alpha of overlap"),
        _(
            "Krippendorff's alpha with the distance 1 minus overlap. By chance means boxes of different pictures; "
            "these overlap little, so alpha lies near the overlap itself."
        ),
        ("box",),
        lambda table, interval: box_alpha(table, interval=interval),
    ),
    Measure(
        "f1_overlap",
        _("F1 of boxes, overlap at least 0.5"),
        _("How many boxes of two people match with an overlap (IoU) of at least 0.5, as F1, averaged over pairs."),
        ("box",),
        lambda table, interval: box_f1(table, interval=interval),
        from_zero=True,
    ),
    Measure(
        "no_text_measure",
        _("Not compared"),
        _("Free text has no agreement by default."),
        ("text",),
        _without_value("free_text"),
    ),
    Measure(
        "exact_match",
        _("Exact match"),
        _("The share of pairs of people with the same text; case, punctuation and spaces aside."),
        ("text",),
        lambda table, interval: exact_match(table, interval=interval),
        {"text": _WORDING},
        from_zero=True,
    ),
    Measure(
        "alpha_text",
        _("Alpha of texts, nominal"),
        _("Krippendorff's alpha, nominal, of the texts; case, punctuation and spaces aside."),
        ("text",),
        lambda table, interval: text_alpha(table, interval=interval),
        {"text": _WORDING},
    ),
    Measure(
        "no_measure",
        _("Not compared"),
        _("These answers are not compared."),
        ("none",),
        _without_value("not_comparable"),
    ),
)
BY_KEY = {measure.key: measure for measure in MEASURES}
TABLE = "table"  # several at once, as CAIRE's Table 14 has them
TABLE_LABEL = _("Alpha, Spearman and Pearson")
GROUPINGS = ("pairwise_f1", "adjusted_rand", "keep_alpha")
GROUPINGS_LABEL = _("F1, Rand index and alpha")


def offered_measures(level: str) -> tuple[Measure, ...]:
    return tuple(measure for measure in MEASURES if level in measure.levels)


OPTIONS = "alpha_options"  # one for each option of a several-choice question
OPTIONS_LABEL = _("Alpha of each option")
_OPTION = "alpha_option:"
DEFAULTS = {
    "partition": GROUPINGS[0], "set": "alpha_masi", "box": "overlap", "text": "no_text_measure", "none": "no_measure",
}  # fmt: skip


def default_measure(level: str) -> str:
    """Alpha at the field's own level: the statistic that promises no more than the scale does."""
    return DEFAULTS.get(level, f"alpha_{level}")


def option_of(key: str) -> str | None:
    """The option whose alpha a measure is; None of every other measure."""
    return key.removeprefix(_OPTION) if key.startswith(_OPTION) else None


def measure_of(key: str) -> Measure:
    """Also the alpha of a single option, by its code. Raises KeyError."""
    option = option_of(key)
    if option is None:
        return BY_KEY[key]
    return Measure(
        key,
        _("Alpha, option %(option)s") % {"option": option},
        _("Krippendorff's alpha, nominal, of choosing the option or not."),
        ("set",),
        lambda table, interval: option_alpha(table, option, interval=interval),
    )


def select_measures(key: str, level: str, options: Sequence[str] = ()) -> tuple[Measure, ...]:
    """The measures behind a choice on the page. The table has alpha at the field's level and both correlations.

    ``options``: codes of a several-choice question, for the alpha of each.
    """
    if key == OPTIONS:
        return tuple(measure_of(_OPTION + option) for option in options)
    if key == TABLE and level == "partition":
        return tuple(BY_KEY[one] for one in GROUPINGS)
    if key == TABLE:
        return tuple(BY_KEY[one] for one in (default_measure(level), "spearman", "pearson"))
    return (BY_KEY[key],) if key in BY_KEY else ()  # a text has none


def measure_labels(level: str, options: Sequence[str] = ()) -> Labels:
    """What a question can be asked as. `options`: codes of a question with several choices."""
    labels: Labels = {m.key: m.label for m in offered_measures(level)}
    if options:
        labels[OPTIONS] = OPTIONS_LABEL
    if "spearman" in labels:
        labels[TABLE] = TABLE_LABEL
    if level == "partition":
        labels[TABLE] = GROUPINGS_LABEL
    return dict(sorted(labels.items(), key=lambda pair: pair[0] != default_measure(level)))
