"""Filters of candidates: which items of a stage are kept, dropped, or wait for a fact. Pure."""

from benchmarks.rules.filters.contract import Candidate, CandidatePicture, FilterError, FilterOutcome, FilterState
from benchmarks.rules.filters.pipeline import combine, judge_all
from benchmarks.rules.filters.registry import KINDS, FilterRule, parse_filters

__all__ = [
    "KINDS",
    "Candidate",
    "CandidatePicture",
    "FilterError",
    "FilterOutcome",
    "FilterRule",
    "FilterState",
    "combine",
    "judge_all",
    "parse_filters",
]
