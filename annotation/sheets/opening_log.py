"""What a person opened before they answered, as their browser noted it.

{"opened": [{"part", "at", "seconds", "gate_answered", "text_typed"}]}: `part` is what was opened (Layout.part), `at`
when (ISO 8601), `seconds` since the sheet was shown, `gate_answered` whether the question before it had an answer by
then, `text_typed` whether any text had been written. Empty: nothing could be noted, for there was no script.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

MOST_OPENED = 20
MOST_CHARACTERS = 20_000
LONGEST = 24 * 3600.0
AHEAD = timedelta(minutes=5)

Trace = dict[str, Any]


def parse_openings(posted: Any, part: str, since: datetime, at: datetime) -> Trace:
    """What a page sent, kept to what can be: known parts, no more than some, and times from `since`, when the sheet
    was handed out, until now; clocks that differ a little are forgiven."""
    if not isinstance(posted, str) or not posted or len(posted) > MOST_CHARACTERS:
        return {}
    try:
        data = json.loads(posted)
    except (ValueError, RecursionError):
        return {}
    rows = data.get("opened") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        return {}
    opened = [_parse_opening(row, part, since, at) for row in rows[:MOST_OPENED]]
    return {"opened": [opening for opening in opened if opening]}


def merge_openings(stored: Mapping[str, Any], sent: Mapping[str, Any]) -> Trace:
    """What a draft has noted already, and what came since; an opening cannot be taken back. The view is that of
    the page that sends: a draft may have been begun on another device."""
    merged: Trace = {"view": sent["view"]} if "view" in sent else {}
    if "opened" not in stored and "opened" not in sent:
        return merged
    rows = {(row["part"], row["at"]): row for row in [*stored.get("opened", []), *sent.get("opened", [])]}
    return {"opened": sorted(rows.values(), key=lambda row: str(row["at"]))[:MOST_OPENED], **merged}


def _parse_opening(row: Any, part: str, since: datetime, at: datetime) -> Trace | None:
    if not isinstance(row, dict) or row.get("part") != part or not part:
        return None
    moment = _parse_moment(row.get("at"), since, at)
    seconds = row.get("seconds")
    if moment is None or isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    if not 0 <= seconds <= LONGEST:  # NaN is not
        return None
    marks = {key: row.get(key) is True for key in ("gate_answered", "text_typed")}
    passed = max(0.0, (at - since).total_seconds())
    return {"part": part, "at": moment, "seconds": round(min(float(seconds), passed), 1), **marks}


def _parse_moment(moment_text: Any, since: datetime, at: datetime) -> str | None:
    try:
        moment = datetime.fromisoformat(moment_text)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None or not since - AHEAD <= moment <= at + AHEAD:
        return None
    return max(moment, since).isoformat(timespec="seconds")
