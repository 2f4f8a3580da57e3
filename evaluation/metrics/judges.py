"""A judge (a model that rates) as one more annotator: what it does to agreement, and where it stands among the people.
How far several judges err together: ``judge_errors.py``.

Everything here speaks of the units the judge rated, for both sides: else a judge that was asked about the easy units
only would seem to raise agreement.
Source: METRICS.md; Spearman with the rest as in ValueGround's Table 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.metrics.alpha import Level, alpha
from evaluation.metrics.counts import Bools, Floats, Ints, Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval
from evaluation.metrics.kappa import cohen_kappa
from evaluation.metrics.leave_one_out import OTHER_UNITS, rater_against_others
from evaluation.metrics.proportions import share_of

TWO_WAY = Interval()


def select_ratings(ratings: Ratings, keep: Bools) -> Ratings:
    """The ratings where ``keep`` (n,); units and raters are renumbered, so that nobody counts as missing."""
    units, unit = np.unique(ratings.unit[keep], return_inverse=True)
    raters, rater = np.unique(ratings.rater[keep], return_inverse=True)
    return Ratings(unit, rater, ratings.value[keep], int(units.size), int(raters.size))


def units_rated_by(ratings: Ratings, judge: int) -> Ratings:
    """All ratings of the units that the judge rated, units and raters numbered as before."""
    _check_judge(ratings, judge)
    rated = np.zeros(ratings.n_units, bool)
    rated[ratings.unit[ratings.rater == judge]] = True
    keep = rated[ratings.unit]
    return Ratings(ratings.unit[keep], ratings.rater[keep], ratings.value[keep], ratings.n_units, ratings.n_raters)


@dataclass(frozen=True)
class WithJudge:
    """Alpha among the people, and with the judge as one more of them, over the same units."""

    people: Estimate
    everybody: Estimate


def alpha_with_judge(ratings: Ratings, judge: int, level: Level, *, interval: Interval = TWO_WAY) -> WithJudge:
    """``judge`` is a rater's number in ``ratings``; every other rater counts as a person.

    Units: those the judge rated. Undefined as alpha is, each side for itself.
    """
    judged = units_rated_by(ratings, judge)
    people, everybody = (
        select_ratings(judged, judged.rater != judge),
        select_ratings(judged, np.ones(judged.n_ratings, bool)),
    )
    return WithJudge(alpha(people, level, interval=interval), alpha(everybody, level, interval=interval))


@dataclass(frozen=True)
class JudgePosition:
    """The judge's correlation with the mean of all people; each person's with the mean of the other people; and the
    share of the people that the judge does at least as well as, against the very same others."""

    judge: Estimate
    people: tuple[tuple[int, Estimate], ...]  # rater's number, over the units the judge rated
    at_least_as_good: Estimate


def judge_position(ratings: Ratings, judge: int, *, interval: Interval = OTHER_UNITS) -> JudgePosition:
    """Where a judge stands among the people: Spearman with the rest, over the units the judge rated.

    For ``at_least_as_good``, person j is taken out, and both j and the judge are correlated with the mean of those who
    remain, over the units j rated: so neither has the larger reference. A tie counts for the judge. Persons for whom
    one of the two is undefined are left out ("n_left_out"). Undefined: nobody can be compared ("no_pairs"). Its
    interval is Wilson's over the people: other people, the same units.
    """
    judged = units_rated_by(ratings, judge)
    humans = judged.rater != judge
    people = Ratings(judged.unit[humans], judged.rater[humans], judged.value[humans], judged.n_units, judged.n_raters)
    numbers = np.unique(people.rater)
    n_people, n_units = int(numbers.size), int(np.unique(judged.unit).size)
    found = [(int(j), rater_against_others(people, int(j), interval=interval)) for j in numbers]
    each = [(j, replace(estimate, n_raters=n_people)) for j, estimate in found]
    wins, compared = 0, 0
    for person, own in each:
        matched = _correlation_instead_of(judged, judge, person)
        if own.value is None or matched is None:
            continue
        compared += 1
        wins += matched >= own.value - 1e-12
    method, n_left_out = "share of people the judge does at least as well as", len(each) - compared
    if compared:
        best = share_of(wins, compared, method=method, extras={"n_left_out": n_left_out})
        best = replace(best, resampled="raters", n_units=n_units, n_raters=compared, n_ratings=judged.n_ratings)
    else:
        best = Estimate.undefined(
            reason="no_pairs" if each else "too_few_raters", method=method, n_units=n_units,
            n_raters=len(each), n_ratings=judged.n_ratings, resampled="raters", extras={"n_left_out": n_left_out},
        )  # fmt: skip
    own = rater_against_others(judged, judge, interval=interval)
    return JudgePosition(replace(own, n_raters=n_people + 1), tuple(each), best)


def _correlation_instead_of(judged: Ratings, judge: int, person: int) -> float | None:
    """The judge's Spearman with the people but ``person``, over the units that person rated."""
    theirs = np.zeros(judged.n_units, bool)
    theirs[judged.unit[judged.rater == person]] = True
    keep = theirs[judged.unit] & (judged.rater != person)
    some = Ratings(judged.unit[keep], judged.rater[keep], judged.value[keep], judged.n_units, judged.n_raters)
    return rater_against_others(some, judge, interval=Interval(over="none")).value


def majority(ratings: Ratings) -> tuple[Floats, Ints]:
    """(n_units,) the code most raters gave, NaN without a rating and where the first place is shared; and how many
    raters there were."""
    codes, code = np.unique(ratings.value, return_inverse=True)
    counts = np.zeros((ratings.n_units, max(codes.size, 1)), np.int64)
    np.add.at(counts, (ratings.unit, code), 1)
    most = counts.max(axis=1)
    clear = (most > 0) & ((counts == most[:, None]).sum(axis=1) == 1)
    winner: Floats = np.full(ratings.n_units, np.nan)
    if codes.size:
        winner[clear] = codes[counts.argmax(axis=1)[clear]]
    return winner, counts.sum(axis=1)


@dataclass(frozen=True)
class AgainstMajority:
    """``base_rate``: what a judge that always gives the people's commonest code would reach."""

    agreement: Estimate
    base_rate: Estimate
    kappa: Estimate
    base_code: float | None
    n_tied: int


def against_majority(ratings: Ratings, judge: int, *, codes: Sequence[float] | None = None) -> AgainstMajority:
    """How often a judge gives the code that most people gave, with the base rate and Cohen's kappa beside it.

    ``codes``: code to code, from the people's scale to the judge's, is the caller's business: both sides must use the
    same numbers here; where given, only units whose majority is one of them count. Units without a majority (a shared
    first place) are left out ("n_tied"). Intervals: Wilson's, units taken for independent.
    Undefined: no unit that both the judge and a majority speak about.
    """
    judged = units_rated_by(ratings, judge)
    humans = judged.rater != judge
    people = Ratings(judged.unit[humans], judged.rater[humans], judged.value[humans], judged.n_units, judged.n_raters)
    truth, raters = majority(people)
    judge_value: Floats = np.full(judged.n_units, np.nan)
    judge_value[judged.unit[~humans]] = judged.value[~humans]
    both = np.isfinite(truth) & np.isfinite(judge_value)
    if codes is not None:
        both &= np.isin(truth, np.asarray(codes, np.float64))
    right, judged_right = truth[both], judge_value[both]
    classes, counts = np.unique(right, return_counts=True)
    commonest = int(counts.max()) if counts.size else 0
    n, panel = int(both.sum()), int(np.unique(people.rater).size)
    pair = Ratings(np.tile(np.arange(n), 2), np.repeat([0, 1], n), np.concatenate([right, judged_right]), n, 2)
    return AgainstMajority(
        share_of(int((right == judged_right).sum()), n, method="agreement with the majority of people", n_raters=panel),
        share_of(commonest, n, method="share of the commonest code of the majority", n_raters=panel),
        cohen_kappa(pair),
        float(classes[counts.argmax()]) if counts.size else None,
        int(((raters > 0) & np.isnan(truth) & np.isfinite(judge_value)).sum()),
    )


def _check_judge(ratings: Ratings, judge: int) -> None:
    if not 0 <= judge < ratings.n_raters:
        raise ValueError(f"judge must lie in 0..{ratings.n_raters - 1}, got {judge}")
