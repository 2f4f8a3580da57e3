"""Answers of models that are asked here, written many at once as a run gets them. They take no place in the queue, as
those that come in a file; a model answers a campaign by a run or by files, never by both."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Rating, Review
from annotation.services.answers.inclusion import recompute_counted
from annotation.services.answers.submit import OF_FILES
from annotation.services.derivation import outbox
from annotation.services.queue import slots
from annotation.services.review.reviews import BECOMES, Decision
from annotation.services.sheets import rule_versions
from annotation.sheets.sheet import ParsedSheet
from jobs.queries.statements import fetch
from people.models import Rater

OF_RUNS = "run:"  # so begin the keys of answers that a run wrote
REPEAT, CLOSED, EXCLUDED, WITHDRAWN, SUPERSEDED = "repeat", "closed", "excluded", "withdrawn", "superseded"

# Assignments are made where there are none; the others come with their newest version and their live answer.
HANDS = """
WITH asked AS (
  SELECT * FROM unnest(%(units)s::bigint[], %(repeats)s::int[], %(shown)s::timestamptz[])
    AS t(unit_id, repeat, shown_at)
), made AS (
  INSERT INTO annotation_assignment (campaign_id, unit_id, rater_id, repeat, state, in_hand, reserved_at, shown_at,
    changed_at, skip_reason, skip_note)
  SELECT %(campaign)s, unit_id, %(rater)s, repeat, 'submitted', false, shown_at, shown_at, %(at)s, '', '' FROM asked
  ON CONFLICT DO NOTHING RETURNING id, unit_id, repeat
)
SELECT id, unit_id, repeat, 0, NULL::bigint, NULL, NULL FROM made
UNION ALL
SELECT a.id, a.unit_id, a.repeat,
  (SELECT coalesce(max(version), 0) FROM annotation_annotation an WHERE an.assignment_id = a.id),
  live.id, live.client_key, live.answers::text
FROM asked JOIN annotation_assignment a ON a.campaign_id = %(campaign)s AND a.unit_id = asked.unit_id
    AND a.rater_id = %(rater)s AND a.repeat = asked.repeat
  LEFT JOIN annotation_annotation live ON live.assignment_id = a.id AND live.live
"""
STATE = """
SELECT c.state, EXISTS (SELECT FROM annotation_exclusion e JOIN benchmarks_stage st ON st.id = c.stage_id
  WHERE e.benchmark_id = st.benchmark_id AND e.rater_id = %s AND e.lifted_at IS NULL)
FROM annotation_campaign c WHERE c.id = %s
"""
TAKE_BACK = """
WITH gone AS (
  UPDATE annotation_annotation SET live = false, counted = false, uncounted_because = %(because)s
  WHERE id = ANY(%(ids)s) AND live RETURNING id
)
UPDATE annotation_rating r SET live = false, counted = false FROM gone WHERE r.annotation_id = gone.id
"""
WRITE = """
WITH kept AS (
  INSERT INTO annotation_annotation (assignment_id, rater_id, version, client_key, answers, sheet_version_id,
    rule_version, language, shown_at, submitted_at, confirmed, trace, live, counted, uncounted_because, at_submit, run)
  SELECT a.assignment_id, %(rater)s, a.version, a.key, a.answers::jsonb, %(sheet)s, %(rule)s, 'en', a.shown_at, a.at,
    '[]', '{}', true, a.because = '', a.because, CASE WHEN a.because = 'excluded' THEN '' ELSE a.because END,
    a.run
  FROM unnest(%(assignments)s::bigint[], %(versions)s::int[], %(keys)s::text[], %(answers)s::text[],
    %(shown)s::timestamptz[], %(ats)s::timestamptz[], %(because)s::text[], %(runs)s::bigint[])
    AS a(assignment_id, version, key, answers, shown_at, at, because, run)
  RETURNING id, assignment_id, counted
), ratings AS (
  INSERT INTO annotation_rating
    (annotation_id, campaign_id, unit_id, rater_id, field, code, value, live, counted)
  SELECT kept.id, %(campaign)s, c.unit_id, %(rater)s, c.field, c.code, c.value, true, kept.counted
  FROM kept JOIN unnest(%(of)s::bigint[], %(units)s::bigint[], %(fields)s::text[], %(codes)s::text[],
    %(values)s::float8[]) AS c(assignment_id, unit_id, field, code, value) ON c.assignment_id = kept.assignment_id
), told AS (
  UPDATE annotation_assignment a SET state = 'submitted', changed_at = %(at)s FROM kept
  WHERE a.id = kept.assignment_id AND a.state <> 'submitted'
)
SELECT id, assignment_id FROM kept
"""


class MixedSources(Exception):
    """The model has other answers in this campaign: of a file, or of another run."""


@dataclass(frozen=True)
class AnswerDestination:
    """Where a model's answers to a campaign are written. `cohort`: whose tally tells pages that there are new ones."""

    campaign: Campaign
    rater: Rater
    rule: str
    cohort: int | None

    @classmethod
    def of(cls, campaign: Campaign, rater: Rater) -> "AnswerDestination":
        first = CampaignCohort.objects.filter(campaign=campaign).order_by("pk").values_list("pk", flat=True).first()
        return cls(campaign, rater, rule_versions.acceptance_stamp(campaign), first)


@dataclass(frozen=True)
class ModelAnswer:
    """One readable reply. `key` begins the keys of all answers that come of the same question, such as "run:7:12:";
    `run`: the id of the run that asked."""

    unit: int
    item: int
    repeat: int
    key: str
    parsed: ParsedSheet
    shown_at: datetime
    at: datetime
    run: int


class AssignmentRow(NamedTuple):
    assignment: int
    version: int
    live: int | None
    key: str | None
    answers: str | None


def has_file_answers(campaign: Campaign, rater: Rater) -> bool:
    """Whether answers of a file stand in this model's name."""
    own = Annotation.objects.filter(assignment__campaign=campaign, rater=rater, live=True)
    return own.filter(client_key__startswith=OF_FILES).exists()


def raters_with_run_answers(campaign: Campaign, raters: Collection[int]) -> set[int]:
    """Of these raters, the models whose answers here are a run's."""
    own = Annotation.objects.filter(
        rater=OuterRef("pk"), assignment__campaign=campaign, live=True, client_key__startswith=OF_RUNS
    )
    rows = Rater.objects.filter(pk__in=raters, kind=Rater.Kind.MODEL).filter(Exists(own))
    return set(rows.values_list("pk", flat=True))


def write(destination: AnswerDestination, answers: Sequence[ModelAnswer], at: datetime) -> dict[str, int]:
    """The annotation of each by its `key`; needs a transaction.

    The same answer to the same question stands as it is, another one takes its place. Repeats are kept and not
    counted, and so is what the campaign does not count. Raises MixedSources before anything of another
    origin is touched.
    """
    if not answers:
        return {}
    hands = _assignment_rows(destination, answers, at)
    written_ids: dict[str, int] = {}
    new: list[tuple[ModelAnswer, AssignmentRow]] = []
    for answer in answers:
        hand = hands[answer.unit, answer.repeat]
        if hand.live is not None and not str(hand.key).startswith(answer.key):
            raise MixedSources
        if hand.live is not None and json.loads(str(hand.answers)) == answer.parsed.answers:
            written_ids[answer.key] = hand.live
        else:
            new.append((answer, hand))
    old = [hand.live for _one, hand in new if hand.live is not None]
    if old:
        fetch(TAKE_BACK, {"ids": old, "because": SUPERSEDED})
    if new:
        written_ids |= _write_answers(destination, new, at)
        outbox.mark_items_due({one.item for one, _hand in new})
        _schedule_derivation(destination)
    return written_ids


def _assignment_rows(
    destination: AnswerDestination, answers: Sequence[ModelAnswer], at: datetime
) -> dict[tuple[int, int], AssignmentRow]:
    params: dict[str, Any] = {"campaign": destination.campaign.pk, "rater": destination.rater.pk, "at": at}
    assignment_rows: dict[tuple[int, int], AssignmentRow] = {}
    missing = list(answers)
    while missing:  # what another transaction has just made is seen the next time
        params["units"], params["repeats"] = [answer.unit for answer in missing], [answer.repeat for answer in missing]
        params["shown"] = [answer.shown_at for answer in missing]
        for pk, unit, repeat, *rest in fetch(HANDS, params):
            assignment_rows[unit, repeat] = AssignmentRow(pk, *rest)
        missing = [answer for answer in missing if (answer.unit, answer.repeat) not in assignment_rows]
    return assignment_rows


def _write_answers(
    destination: AnswerDestination, new: Sequence[tuple[ModelAnswer, AssignmentRow]], at: datetime
) -> dict[str, int]:
    because = _not_counted_reason(destination)
    codes = [(hand.assignment, answer.unit, code) for answer, hand in new for code in answer.parsed.codes]
    rows = fetch(
        WRITE,
        {
            "rater": destination.rater.pk, "campaign": destination.campaign.pk,
            "sheet": destination.campaign.sheet_version_id, "rule": destination.rule, "at": at,
            "assignments": [hand.assignment for _one, hand in new],
            "versions": [hand.version + 1 for _one, hand in new],
            "keys": [f"{answer.key}{hand.version + 1}" for answer, hand in new],
            "answers": [json.dumps(answer.parsed.answers) for answer, _hand in new],
            "shown": [answer.shown_at for answer, _hand in new], "ats": [answer.at for answer, _hand in new],
            "because": [REPEAT if answer.repeat else because for answer, _hand in new],
            "runs": [answer.run for answer, _hand in new],
            "of": [assignment for assignment, _unit, _code in codes],
            "units": [unit for _assignment, unit, _code in codes],
            "fields": [code.field for *_rest, code in codes], "codes": [code.code for *_rest, code in codes],
            "values": [None if code.value is None else float(code.value) for *_rest, code in codes],
        },
    )  # fmt: skip
    ids = {assignment: pk for pk, assignment in rows}
    return {answer.key: ids[hand.assignment] for answer, hand in new}


def _not_counted_reason(destination: AnswerDestination) -> str:
    """Why what a model says now does not count; empty where it does. As for what comes in a file."""
    [(state, excluded)] = fetch(STATE, [destination.rater.pk, destination.campaign.pk])
    return CLOSED if state == Campaign.State.CLOSED else EXCLUDED if excluded else ""


def _schedule_derivation(destination: AnswerDestination) -> None:
    if destination.cohort is not None:
        slots.update_tally(destination.cohort, 0)


def withdraw(destination: AnswerDestination, annotations: Sequence[int], at: datetime, because: str = WITHDRAWN) -> int:
    """Take these back: kept, neither live nor counted. Says how many stood. Needs a transaction."""
    live = Annotation.objects.filter(pk__in=annotations, live=True)
    rows = list(live.select_for_update(no_key=True).values_list("pk", "assignment_id"))
    ids = [pk for pk, _assignment in rows]
    fetch(TAKE_BACK, {"ids": ids, "because": because})
    hands = Assignment.objects.filter(pk__in=[assignment for _pk, assignment in rows])
    hands.update(state=Assignment.State.RELEASED, changed_at=at)
    outbox.mark_answers_due(ids)
    _schedule_derivation(destination)
    return len(rows)


def restore(destination: AnswerDestination, annotations: Sequence[int], at: datetime) -> int:
    """Those that were withdrawn stand again, as reviewers left them. Says how many. Needs a transaction. Raises
    MixedSources where other answers of the model stand in their places."""
    rows = Annotation.objects.filter(pk__in=annotations, live=False, uncounted_because=WITHDRAWN)
    back = list(rows.select_for_update(no_key=True, of=("self",)).select_related("assignment"))
    hands = [one.assignment_id for one in back]
    if Annotation.objects.filter(assignment__in=hands, live=True).exists():
        raise MixedSources
    decided = Review.objects.filter(annotation__in=back, undone_at=None).values_list("annotation_id", "decision")
    decisions: Mapping[int, str] = dict(decided)
    closed = CLOSED if _not_counted_reason(destination) == CLOSED else ""
    groups: dict[tuple[str, str], list[Annotation]] = {}
    for annotation in back:
        decision = decisions.get(annotation.pk)
        state = str(BECOMES[Decision(decision)]) if decision else str(Assignment.State.SUBMITTED)
        groups.setdefault((REPEAT if annotation.assignment.repeat else closed, state), []).append(annotation)
    for (at_submit, state), many in groups.items():
        own = Q(pk__in=[one.pk for one in many])
        Annotation.objects.filter(own).update(live=True, at_submit=at_submit)
        Rating.objects.filter(annotation__in=many).update(live=True)
        Assignment.objects.filter(pk__in=[one.assignment_id for one in many]).update(state=state, changed_at=at)
    recompute_counted([one.pk for one in back])
    outbox.mark_answers_due([one.pk for one in back])
    _schedule_derivation(destination)
    return len(back)
