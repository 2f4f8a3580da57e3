"""Throughput and waiting time of reviewers, for those who run the benchmark."""

from dataclasses import dataclass
from datetime import timedelta

from annotation.pages.review_turns import Reader
from annotation.pages.reviews import waiting_time
from annotation.queries.reviewer_pace import ReviewerPace, present_wait, reviewer_paces

DAYS = 30


@dataclass(frozen=True)
class PaceRow:
    pace: ReviewerPace
    wait: str


@dataclass(frozen=True)
class PacePage:
    """`wait` and `longest` of the answers that wait now, of which there are `n`."""

    rows: list[PaceRow]
    n: int
    wait: str
    longest: str
    days: int = DAYS


def pace_of(reader: Reader) -> PacePage:
    """Of the last 30 days. Three queries."""
    rows = reviewer_paces(reader.benchmark, reader.at - timedelta(days=DAYS), str(reader.zone))
    now = present_wait(reader.benchmark, reader.at)
    return PacePage(
        rows=[PaceRow(pace, _duration(reader, pace.median_wait)) for pace in rows],
        n=now.n,
        wait=_duration(reader, now.median),
        longest=_duration(reader, now.longest),
    )


def _duration(reader: Reader, seconds: float | None) -> str:
    return "" if seconds is None else waiting_time(reader.at - timedelta(seconds=seconds), reader.at)
