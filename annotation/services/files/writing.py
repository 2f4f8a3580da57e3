"""Answers of a file into the database: a step's rows are read and written together, and judged one after the other."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.imports.rows import model_as_person_problem, model_info_problem
from annotation.models import (
    Annotation,
    Assignment,
    Campaign,
    Rating,
    Review,
    Unit,
    Upload,
)
from annotation.queries.review_queue import REJECTED
from annotation.services.answers import model_answers
from annotation.services.answers.inclusion import recompute_counted
from annotation.services.derivation import outbox
from annotation.services.files.raters import Name, raters_for
from annotation.services.files.rows import ImportTarget, ParsedAnswer
from annotation.services.files.withdrawals import WITHDRAWN
from annotation.services.queue import slots
from annotation.services.review.reviews import BECOMES, Decision
from annotation.services.sheets import rule_versions
from jobs.models import JobRow
from jobs.queries.statements import execute, fetch
from people.models import Rater
from people.services.raters import add_model_info, model_conflict

Outcome = JobRow.Outcome
CLOSED = "closed"
Judged = tuple[str, str, str]
"""Outcome, reason and message."""
Pair = tuple[int, int]
"""A unit and a rater: what an assignment of a campaign is known by."""

HELD = """
SELECT a.unit_id, a.rater_id, a.id, a.participation_id IS NOT NULL
FROM unnest(%(units)s::bigint[], %(raters)s::bigint[]) AS w(unit_id, rater_id)
JOIN annotation_assignment a
  ON a.campaign_id = %(campaign)s AND a.unit_id = w.unit_id AND a.rater_id = w.rater_id AND a.repeat = 0
"""


@dataclass
class FileWriteBatch:
    """What a step's answers are judged against, and what is to be written when all are judged."""

    place: ImportTarget
    at: datetime
    rule: str
    held: dict[Pair, tuple[int, bool]]
    known: dict[int, list[Annotation]]
    reviews: dict[int, str]
    by_run: set[int]
    made: list[tuple[Annotation, ParsedAnswer, int]] = field(default_factory=list)
    back: list[tuple[Annotation, str]] = field(default_factory=list)
    states: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))


def write(place: ImportTarget, ready: Sequence[ParsedAnswer], now: datetime) -> list[Judged]:
    """What becomes of each. Needs a transaction that holds the team's row."""
    raters = raters_for(place.campaign, {_name(one) for one in ready})
    known, refused = _reported_model_info(ready, raters)
    fine = [one for one in ready if one.number not in refused]
    judged = iter(_write_answers(place, fine, raters, now))
    results = [refused.get(one.number) or next(judged) for one in ready]
    for name, about in known.items():
        if any(_name(one) == name and how[0] != Outcome.ERROR for one, how in zip(ready, results, strict=True)):
            add_model_info(raters[name], about, place.actor, place.campaign.stage.benchmark.scope)
    return results


def analyze() -> None:
    """Refresh the statistics of the tables that answers are written to.

    Without them PostgreSQL plans as for empty tables: 18 seconds instead of 2 for 650 answers in a new database.
    """
    execute("ANALYZE annotation_assignment, annotation_annotation, annotation_rating", [])


def _name(one: ParsedAnswer) -> Name:
    return one.row.kind, one.row.rater, one.row.setting


def _reported_model_info(
    ready: Sequence[ParsedAnswer], raters: Mapping[Name, Rater]
) -> tuple[dict[Name, dict[str, Any]], dict[int, Judged]]:
    """What is told of each model, and by number the answers that tell otherwise of it, or are in a person's name."""
    known: dict[Name, dict[str, Any]] = {}
    refused: dict[int, Judged] = {}
    for answer in ready:
        name = _name(answer)
        if name not in raters:
            refused[answer.number] = (Outcome.ERROR, "is_a_person", model_as_person_problem(answer.row.rater))
            continue
        so_far = known.get(name, dict(raters[name].about))
        if at := model_conflict(so_far, answer.row.about):
            words = model_info_problem(answer.row.rater, at, so_far[at], answer.row.about[at])
            refused[answer.number] = (Outcome.ERROR, "known_otherwise", words)
        elif answer.row.about:
            known[name] = {**so_far, **answer.row.about}
    return known, refused


def _write_answers(
    place: ImportTarget, ready: Sequence[ParsedAnswer], raters: Mapping[Name, Rater], now: datetime
) -> list[Judged]:
    units = _units(ready)
    pairs = [_pair(one, raters, units) for one in ready]
    step = _step(place, ready, pairs, {one.pk for one in raters.values()}, now)
    judged = [_classify(step, one, pair) for one, pair in zip(ready, pairs, strict=True)]
    _save(step)
    changed = [one for one, (outcome, *_rest) in zip(ready, judged, strict=True) if outcome in _CHANGES]
    outbox.mark_items_due({one.item.pk for one in changed})
    _tally(place, changed)
    return judged


_CHANGES = (Outcome.CREATED, Outcome.UPDATED)


UnitKey = tuple[int, str, int | None]
"""Of a unit: item, target, and the label set's id."""


def _unit_key(one: ParsedAnswer) -> UnitKey:
    return one.item.pk, one.target, one.label_set.pk if one.label_set else None


def _pair(one: ParsedAnswer, raters: Mapping[Name, Rater], units: Mapping[UnitKey, int]) -> Pair:
    return units[_unit_key(one)], raters[_name(one)].pk


def _units(ready: Sequence[ParsedAnswer]) -> dict[UnitKey, int]:
    wanted = {_unit_key(one) for one in ready}

    def find_units() -> dict[UnitKey, int]:
        rows = Unit.objects.filter(item__in={item for item, *_rest in wanted})
        columns = rows.values_list("pk", "item_id", "target", "label_set_id")
        return {(item, target, label_set): pk for pk, item, target, label_set in columns}

    missing = wanted - set(known := find_units())
    if not missing:
        return known
    units = [Unit(item_id=item, target=target, label_set_id=label_set) for item, target, label_set in missing]
    Unit.objects.bulk_create(units, ignore_conflicts=True)
    return find_units()


def _step(
    place: ImportTarget, ready: Sequence[ParsedAnswer], pairs: Sequence[Pair], raters: set[int], now: datetime
) -> FileWriteBatch:
    assignments = _assignments_of(place, ready, pairs, now)
    known: dict[int, list[Annotation]] = defaultdict(list)
    rows = Annotation.objects.filter(assignment__in=[pk for pk, _theirs in assignments.values()]).order_by(
        "-live", "-version"
    )
    for row in rows.only("assignment", "version", "client_key", "answers", "live", "uncounted_because"):
        known[row.assignment_id].append(row)
    taken_back = [one.pk for many in known.values() for one in many if one.uncounted_because == WITHDRAWN]
    reviews = Review.objects.filter(annotation__in=taken_back, undone_at=None).values_list("annotation_id", "decision")
    return FileWriteBatch(
        place=place,
        at=now,
        rule=rule_versions.acceptance_stamp(place.campaign),
        held=assignments,
        known=known,
        reviews=dict(reviews),
        by_run=model_answers.raters_with_run_answers(place.campaign, raters),
    )


def _assignments_of(
    place: ImportTarget, ready: Sequence[ParsedAnswer], pairs: Sequence[Pair], now: datetime
) -> dict[Pair, tuple[int, bool]]:
    """Of each pair its assignment, made where there was none, and whether the campaign itself gave it to a person.

    Somebody may be given the unit at this moment: the constraint decides, and is read again.
    """
    assignments = _existing_answers(place, pairs)
    missing = {pair: one for pair, one in zip(reversed(pairs), reversed(ready), strict=True) if pair not in assignments}
    if not missing:
        return assignments
    Assignment.objects.bulk_create(
        [
            Assignment(
                campaign=place.campaign, unit_id=unit, rater_id=rater, state=Assignment.State.SUBMITTED, in_hand=False,
                reserved_at=one.row.shown_at, shown_at=one.row.shown_at, changed_at=now,
            )
            for (unit, rater), one in missing.items()
        ],
        ignore_conflicts=True,
    )  # fmt: skip
    return assignments | _existing_answers(place, list(missing))


def _existing_answers(place: ImportTarget, pairs: Sequence[Pair]) -> dict[Pair, tuple[int, bool]]:
    wanted = sorted(set(pairs))
    params = {"units": [u for u, _r in wanted], "raters": [r for _u, r in wanted], "campaign": place.campaign.pk}
    return {(unit, rater): (pk, theirs) for unit, rater, pk, theirs in fetch(HELD, params)}


def _classify(step: FileWriteBatch, answer: ParsedAnswer, pair: Pair) -> Judged:
    assignment, theirs = step.held[pair]
    if theirs:
        return _assigned_in_campaign(step, answer, assignment)
    if pair[1] in step.by_run:
        message = _(
            "“%(rater)s” already has answers from a run with this prompt variant. Withdraw that "
            "run, or use another “setting”."
        )
        return Outcome.ERROR, "of_a_run", message % {"rater": answer.row.rater}
    key = step.place.key(answer.number)
    for known in step.known[assignment]:
        if known.client_key == key and not known.live and known.uncounted_because == WITHDRAWN:
            _restore(step, known, answer)
            return Outcome.UPDATED, "brought_back", _("The answer was withdrawn and has been restored.")
        if known.client_key == key or (known.live and known.answers == answer.parsed.answers):
            return Outcome.UNCHANGED, "", ""
        if known.live:
            message = _(
                "“%(rater)s” has a different answer to this already. The current answer was not "
                "changed. Withdraw the earlier import, then import one file with everything."
            )
            return Outcome.ERROR, "answered", message % {"rater": answer.row.rater}
    _create(step, answer, pair, assignment, key)
    return Outcome.CREATED, "", ""


def _assigned_in_campaign(step: FileWriteBatch, answer: ParsedAnswer, assignment: int) -> Judged:
    """Whom the campaign gave the item answers it there: a file says nothing in their place."""
    if any(known.live and known.answers == answer.parsed.answers for known in step.known[assignment]):
        return Outcome.UNCHANGED, "", ""
    message = _("“%(rater)s” already has this item in the campaign. Delete the row.")
    return Outcome.ERROR, "already_there", message % {"rater": answer.row.rater}


def _not_counted_reason(step: FileWriteBatch, one: ParsedAnswer) -> str:
    """Why an answer of a file cannot count: what the file says of it, or that the campaign is closed."""
    return one.row.because or (CLOSED if step.place.campaign.state == Campaign.State.CLOSED else "")


def _state(because: str) -> str:
    return Assignment.State.REJECTED if because == REJECTED else Assignment.State.SUBMITTED


def _create(step: FileWriteBatch, answer: ParsedAnswer, pair: Pair, assignment: int, key: str) -> None:
    because = _not_counted_reason(step, answer)
    earlier = max((known.version for known in step.known[assignment]), default=0)
    annotation = Annotation(
        assignment_id=assignment,
        rater_id=pair[1],
        version=max(answer.row.version, earlier + 1),
        client_key=key,
        answers=answer.parsed.answers,
        sheet_version_id=step.place.campaign.sheet_version_id,
        rule_version=step.rule if answer.row.rule is None else answer.row.rule,
        cohort=answer.cohort,
        language=answer.row.language,
        shown_at=answer.row.shown_at,
        submitted_at=answer.row.at,
        active_seconds=answer.row.seconds,
        confirmed=list(answer.confirmed),
        trace=dict(answer.row.trace),
        live=True,
        counted=not because,
        uncounted_because=because,
        at_submit=because,
        run=step.place.run,
    )
    step.known[assignment].insert(0, annotation)
    step.made.append((annotation, answer, pair[0]))
    step.states[_state(because)].append(assignment)


def _restore(step: FileWriteBatch, known: Annotation, answer: ParsedAnswer) -> None:
    """As it was: what reviewers decided before it was withdrawn holds."""
    decision = step.reviews.get(known.pk)
    known.live, known.at_submit = True, _not_counted_reason(step, answer)
    step.back.append((known, BECOMES[Decision(decision)] if decision else _state(known.at_submit)))


def _save(step: FileWriteBatch) -> None:
    for state, assignments in step.states.items():
        Assignment.objects.filter(pk__in=assignments).exclude(state=state).update(state=state)
    Annotation.objects.bulk_create([annotation for annotation, _one, _unit in step.made])
    Rating.objects.bulk_create([rating for made in step.made for rating in _ratings(step.place, *made)])
    for annotation, one, _unit in step.made:
        for image in one.pictures:
            uploaded = {"at": one.row.at}
            Upload.objects.get_or_create(assignment_id=annotation.assignment_id, image=image, defaults=uploaded)
    _save_restored(step)
    recompute_counted([one.pk for one, *_rest in step.made] + [known.pk for known, _state in step.back])


def _ratings(place: ImportTarget, annotation: Annotation, answer: ParsedAnswer, unit: int) -> Iterable[Rating]:
    for code in answer.parsed.codes:
        yield Rating(
            annotation=annotation, campaign=place.campaign, cohort=answer.cohort, unit_id=unit,
            rater_id=annotation.rater_id, field=code.field, code=code.code, value=code.value, live=True,
            counted=annotation.counted,
        )  # fmt: skip


def _save_restored(step: FileWriteBatch) -> None:
    """Current again; whether they count is decided afterwards."""
    by_reason: dict[str, list[int]] = defaultdict(list)
    by_state: dict[str, list[int]] = defaultdict(list)
    for known, state in step.back:
        by_reason[known.at_submit].append(known.pk)
        by_state[state].append(known.assignment_id)
    for because, pks in by_reason.items():
        Annotation.objects.filter(pk__in=pks).update(live=True, at_submit=because)
        Rating.objects.filter(annotation__in=pks).update(live=True)
    for state, assignments in by_state.items():
        Assignment.objects.filter(pk__in=assignments).update(state=state, changed_at=step.at)


def _tally(place: ImportTarget, changed: Sequence[ParsedAnswer]) -> None:
    """Imported answers take no place, and pages of numbers see that there are new ones: also those of no cohort."""
    if not changed:
        return
    touched = {place.cohorts[one.row.cohort].pk for one in changed if one.row.cohort}
    if any(not one.row.cohort for one in changed) and not touched:
        touched = {min(cohort.pk for cohort in place.cohorts.values())} if place.cohorts else set()
    for cohort in sorted(touched):
        slots.update_tally(cohort, 0)
