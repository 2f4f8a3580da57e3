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


def read_trace(posted: Any, part: str, at: datetime) -> Trace:
    """What a page sent, kept to what can be: known parts, times that are not to come, no more than some."""
    if not isinstance(posted, str) or not posted or len(posted) > MOST_CHARACTERS:
        return {}
    try:
        data = json.loads(posted)
    except (ValueError, RecursionError):
        return {}
    rows = data.get("opened") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        return {}
    opened = [_opened(row, part, at) for row in rows[:MOST_OPENED]]
    return {"opened": [one for one in opened if one]}


def merged(kept: Mapping[str, Any], sent: Mapping[str, Any]) -> Trace:
    """What a draft has noted already, and what came since; an opening cannot be taken back."""
    if "opened" not in kept and "opened" not in sent:
        return {}
    rows = {(row["part"], row["at"]): row for row in [*kept.get("opened", []), *sent.get("opened", [])]}
    return {"opened": sorted(rows.values(), key=lambda row: str(row["at"]))[:MOST_OPENED]}


def _opened(row: Any, part: str, at: datetime) -> Trace | None:
    if not isinstance(row, dict) or row.get("part") != part or not part:
        return None
    moment = _moment(row.get("at"), at)
    seconds = row.get("seconds")
    if moment is None or isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    if not 0 <= seconds <= LONGEST:  # NaN is not
        return None
    marks = {key: row.get(key) is True for key in ("gate_answered", "text_typed")}
    return {"part": part, "at": moment, "seconds": round(float(seconds), 1), **marks}


def _moment(said: Any, at: datetime) -> str | None:
    try:
        moment = datetime.fromisoformat(said)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None or moment > at + AHEAD or moment < at - timedelta(days=400):
        return None
    return moment.isoformat(timespec="seconds")
