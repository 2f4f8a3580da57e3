"""What a person has typed is kept as they type."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from annotation.models import Assignment, Draft
from annotation.services.answers.submit import ANSWERED, AlreadyAnswered, AssignmentStateError
from annotation.services.transactions import in_transaction
from annotation.sheets.opening_log import merge_openings
from jobs.queries.statements import fetch
from people.models import Rater

MOST_BYTES = 64 * 1024

UNDER_LOCK = """
SELECT a.state, a.lease_until, c.lease_minutes, d.version
FROM annotation_assignment a JOIN annotation_campaign c ON c.id = a.campaign_id
  LEFT JOIN annotation_draft d ON d.assignment_id = a.id
WHERE a.id = %s AND a.rater_id = %s FOR NO KEY UPDATE OF a
"""


class DraftTooLong(Exception):
    """More than a draft may hold; nothing was kept of it."""


class DraftConflict(Exception):
    """Another page has saved since this one read; `current` is what it saved."""

    def __init__(self, current: Draft) -> None:
        super().__init__("a newer draft exists")
        self.current = current


@in_transaction
def save(
    assignment_id: int,
    rater: Rater,
    answers: Mapping[str, Any],
    base_version: int,
    at: datetime,
    trace: Mapping[str, Any] | None = None,
) -> Draft:
    """Save over version `base_version` (0: the first), which must be the current one. Typing renews the lease.

    `trace` (see annotation.sheets.opening_log) is added to what was noted before.
    """
    if len(json.dumps(dict(answers), ensure_ascii=False).encode()) > MOST_BYTES:
        raise DraftTooLong
    rows = fetch(UNDER_LOCK, [assignment_id, rater.pk])
    if not rows:
        raise AssignmentStateError("not_yours")
    state, lease_until, lease_minutes, version = rows[0]
    if state in ANSWERED and version is None:
        raise AlreadyAnswered
    if version is None:
        draft = Draft(assignment_id=assignment_id, version=0)
    else:
        draft = Draft.objects.get(assignment_id=assignment_id)
        if draft.answers == dict(answers) and draft.trace == merge_openings(draft.trace, trace or {}):
            return draft  # a save sent again, or another page that says the same
        if draft.version != base_version:
            raise DraftConflict(draft)
    draft.trace = merge_openings(draft.trace, trace or {})
    draft.answers, draft.version, draft.saved_at = dict(answers), max(draft.version, base_version) + 1, at
    draft.save()
    lease = at + timedelta(minutes=lease_minutes)
    if state == Assignment.State.RESERVED and lease_until < at + (lease - at) / 2:
        Assignment.objects.filter(pk=assignment_id).update(lease_until=lease)
    return draft
