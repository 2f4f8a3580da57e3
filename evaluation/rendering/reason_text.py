"""Reasons in words: a short name and a sentence for every code an Estimate may give."""

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from evaluation.metrics.estimate import REASONS, Estimate

Words = str | Promise
NO_VALUE: dict[str, tuple[Words, Words]] = {
    "free_text": (
        _("Free text."),
        _("No agreement by default. Choose a measure on the page “Agreement”, under “Measure”."),
    ),
    "not_comparable": (_("Not compared."), _("Each person uploads a picture of their own.")),
    "own_culture": (_("Not compared."), _("Each cohort is asked about its own culture.")),
    "cohort_not_asked": (_("Not asked."), _("The stage does not ask this cohort, or the cohort is not chosen.")),
    "not_asked": (_("Not asked."), _("Nobody was asked about this label.")),
    "no_ratings": (_("No ratings yet."), ""),
    "too_few_raters": (_("Too few ratings."), ""),  # worded with its number below
    "no_pairable_units": (_("Too few ratings."), _("No picture or text has been rated by two people yet.")),
    "one_unit": (_("Too few ratings."), _("Only one item has been rated twice. Alpha needs two.")),
    "no_variation": (_("No variation."), _("All ratings are the same, so agreement is undefined.")),
    "no_pairs": (_("Too few ratings."), _("No two people have rated enough of the same items.")),
    "no_pairs_joined": (_("Nothing to compare."), _("No person put two pictures into one group.")),
    "one_of_many": (_("Nothing to average."), _("Fewer than two values to average.")),
    "nothing_counted": (_("Nothing to count."), ""),
    "too_few_answers": (
        _("Too few answers."),
        _("People's answers were judged, but no question here has three of them."),
    ),
    "too_few_points": (_("Too few ratings."), _("Fewer than 3 items have both values.")),
    "too_few_cohorts": (_("Too few cohorts."), _("Fewer than 3 cohorts have both values.")),
    "constant_side": (_("No variation."), _("One of the two sides is the same throughout.")),
    "errors_cancel": (_("Not estimable."), _("The errors cancel each other: no number of independent judges fits.")),
    "no_gold_asked": (
        _("The model was not asked."),
        _("The model was asked for none of the gold labels. Ask it for them, or import its scores of them."),
    ),
    "judges_as_good_as_people": (
        _("No errors to share."),
        _("The judges' errors vary no more than the people's own noise."),
    ),
    "never_correct": (
        _("Nothing to divide by."),
        _("No trial was won by the correct candidate."),
    ),
    "no_relevant": (_("Unknown correct entry."), _("It is not known which entries are right for these queries.")),
    "list_too_short": (_("List too short."), _("A list has fewer entries than this measure needs.")),
    "unknown_labels": (_("Label missing."), _("One of the first entries has no such label.")),
    "one_cluster": (
        _("Too few clusters."),
        _("There is one cluster only, or nothing shares its cluster with another."),
    ),
    "zero_below": (_("Nothing to divide by."), _("The value it is divided by is 0.")),
    "constant_ratings": (_("No variation."), _("In every pair, one of the two gave the same rating throughout.")),
    "too_few_for_halves": (
        _("Too few ratings."),
        _("Each half of the answers needs five items that another person has rated too."),
    ),
    "no_order_in_time": (
        _("No order in time."),
        _("The answers have the same time, as those of a file without times, so neither half is the earlier one."),
    ),
}
NOT_COMPARED = ("free_text", "not_comparable")  # nothing is missing: such answers have no number by themselves
NO_INTERVAL: dict[str, Words] = {
    "not_asked": "",
    "too_few_raters_for_interval": _("No interval: fewer than 3 raters"),
    "too_few_units_for_interval": _("No interval: fewer than 3 items"),
    "too_few_clusters_for_interval": _("No interval: fewer than 3 clusters"),
    "too_few_points_for_interval": _("No interval: fewer than 4 points"),
    "too_wide": _("No interval: from so few answers it would span the whole scale"),
    "no_spread": _("No interval: the value is the same without any single item or rater"),
    "unstable": _("No interval: without one of the items or raters there is no value"),
    "errors_may_cancel": _("No interval: within the interval of the correlation, the errors may cancel each other"),
    "out_of_range": _("No interval: the value is outside its scale, as an estimate from few data may be"),
    "not_smooth": _("No interval: not defined for a maximum, minimum or median of few raters"),
    "one_image_suffices": _("No interval: not defined for a share of labels that one picture is enough to reach"),
    "too_large_for_interval": _("No interval: with so many vectors it would take minutes"),
    "no_value": "",
}


def reason_title(estimate: Estimate) -> str:
    assert estimate.reason is not None
    return str(NO_VALUE[estimate.reason][0]) if estimate.reason in NO_VALUE else ""


def reason_sentence(estimate: Estimate) -> str:
    """Why there is no value, with the numbers that make it plain; empty where the title has said it all."""
    assert estimate.reason is not None
    if estimate.reason == "too_few_raters":
        return ngettext(
            "%(n)s person so far; two are needed.", "%(n)s people so far; two are needed.", estimate.n_raters
        ) % {"n": estimate.n_raters}
    if estimate.reason == "no_variation":
        return gettext("All %(n)s ratings that can be compared are the same; percent agreement 100 %%.") % {
            "n": estimate.extras.get("n_ratings_pairable", estimate.n_ratings)
        }
    return str(NO_VALUE[estimate.reason][1]) if estimate.reason in NO_VALUE else REASONS[estimate.reason]


def interval_sentence(estimate: Estimate) -> str:
    return str(NO_INTERVAL.get(estimate.interval_reason or "not_asked", estimate.interval_reason_text))


RESAMPLED: dict[str, Words] = {
    "units and raters": _("items and raters"),
    "units": _("items"),
    "raters": _("raters"),
    "concepts and raters": _("concepts and raters"),
    "concepts": _("concepts"),
    "clusters of units": _("whole clusters of items"),
    "questions": _("questions"),
    "countries": _("countries"),
    "cells": _("cells"),
}


def resampled_text(estimate: Estimate) -> str:
    """What the interval takes as drawn; empty without an interval."""
    return "" if estimate.low is None else str(RESAMPLED.get(estimate.resampled, estimate.resampled))


def left_out_sentence(estimate: Estimate) -> str:
    """How many of what a mean is over have no number and so are not in it; empty where all are."""
    out, every = (int(estimate.extras.get(name) or 0) for name in ("n_left_out", "n_all"))
    if not out or estimate.value is None or every < 2:
        return ""
    return ngettext("%(out)s of %(every)s left out", "%(out)s of %(every)s left out", out) % {
        "out": f"{out:,}", "every": f"{every:,}",
    }  # fmt: skip


def not_counted_sentence(estimate: Estimate) -> str:
    """Units with answers that do not enter the value, and why; empty where all do."""
    if estimate.value is None:
        return ""
    alone, apart = (int(estimate.extras.get(f"n_units_not_{why}") or 0) for why in ("pairable", "compared"))
    parts = []
    if alone:
        text = ngettext("Left out: %(n)s item with one answer.", "Left out: %(n)s items with one answer.", alone)
        parts.append(text % {"n": f"{alone:,}"})
    if apart:
        text = ngettext(
            "Left out: %(n)s item that no two compared people share.",
            "Left out: %(n)s items that no two compared people share.",
            apart,
        )
        parts.append(text % {"n": f"{apart:,}"})
    return " ".join(parts)
