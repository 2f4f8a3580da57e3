"""What pages say about moments."""

from datetime import UTC, datetime, timedelta

import pytest

from annotation.pages.status_text import time_ago

AT = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "words"),
    [
        (timedelta(seconds=59), "a moment ago"),
        (timedelta(seconds=-5), "a moment ago"),  # a clock that is a little ahead
        (timedelta(minutes=1, seconds=59), "1 minute ago"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(minutes=60), "1 hour ago"),
        (timedelta(hours=47, minutes=59), "47 hours ago"),
        (timedelta(hours=48), "2 days ago"),
        (timedelta(days=59), "59 days ago"),
        (timedelta(days=60), "8 Jan 2026"),
    ],
)
def test_how_long_ago_is_one_number_with_its_noun(since: timedelta, words: str) -> None:
    """Two numbers in one phrase, or a dual beside its numeral, read wrong in Arabic."""
    assert time_ago(AT - since, AT) == words
