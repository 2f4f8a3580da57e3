"""Going through the instructions before work: what was before a person and how long, what they answered, whether they
are ready. Time is the server's; a page only says how much of it its reader was there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.signing import BadSignature, Signer

from annotation.instructions.protocol import Protocol
from annotation.models import CampaignCohort, InstructionText, InstructionVersion, Readiness
from annotation.services.campaigns.instructions import newest_version, required_text, text_for
from annotation.services.queue.locks import lock_participation_of
from annotation.services.transactions import in_transaction
from jobs.models import record
from people.models import Rater

_SIGNER = Signer(salt="annotation.readiness")


@dataclass(frozen=True)
class ReadinessState:
    """The newest instructions as this person has them. `row` is None until they do something."""

    version: InstructionVersion
    text: InstructionText
    parts: Protocol
    row: Readiness | None

    @property
    def seen(self) -> Mapping[str, Any]:
        return self.row.seen if self.row else {}

    @property
    def answers(self) -> Mapping[str, str]:
        return self.row.answers if self.row else {}

    @property
    def passed(self) -> bool:
        return self.row is not None and self.row.passed_at is not None

    @property
    def is_all_seen(self) -> bool:
        return self.parts.is_seen_in_full(self.seen)

    def seconds_left(self, key: str) -> int:
        """Whole seconds that a material still asks for."""
        material = self.parts.material(key)
        left = (material.seconds if material else 0) - float(self.seen.get(key, 0))
        return max(0, int(left + 0.999))


def readiness_of(place: CampaignCohort, rater: Rater, language: str) -> ReadinessState | None:
    """None where there are no instructions. Reads only."""
    version = newest_version(place.campaign)
    if version is None:
        return None
    text = (required_text if version.required else text_for)(version, place.cohort_id, language)
    if text is None:
        return None
    rows = Readiness.objects.filter(version=version, participation__cohort=place, participation__rater=rater)
    return ReadinessState(version, text, Protocol.from_json(text.parts), rows.first())


def unread(places: Iterable[CampaignCohort], rater: Rater) -> set[int]:
    """Those (by id) whose newest instructions are a text alone that this person has not gone through yet.

    They are shown once, on the way to the work. Where there is more to do than to read, `required` says whether.
    """
    places = list(places)
    newest_ones = InstructionVersion.objects.filter(campaign__in=[place.campaign_id for place in places])
    newest_ones = newest_ones.order_by("campaign", "-number").distinct("campaign").prefetch_related("texts")
    plain = {version.campaign_id: version.pk for version in newest_ones if _is_plain(version)}
    passed = Readiness.objects.filter(participation__rater=rater, version__in=plain.values(), passed_at__isnull=False)
    done = set(passed.values_list("participation__cohort_id", "version_id"))
    asked = ((place.pk, plain[place.campaign_id]) for place in places if place.campaign_id in plain)
    return {place for place, version in asked if (place, version) not in done}


def _is_plain(version: InstructionVersion) -> bool:
    parts = [Protocol.from_json(text.parts) for text in version.texts.all()]
    return bool(parts) and not any(part.materials or part.quiz for part in parts)


@dataclass(frozen=True)
class _Ticket:
    """What a ticket says: seconds counted before for this material and for all of them, and since when it is open."""

    before: float
    of_all: float
    since: float


def sign_ticket(ready: ReadinessState, rater: Rater, key: str, at: datetime) -> str:
    """Says to whom and since when a material is open, and what had been counted before. Without it no time is
    counted."""
    counted = f"{float(ready.seen.get(key, 0)):.1f}:{_sum(ready.seen):.1f}:{at.timestamp():.1f}"
    return _SIGNER.sign(f"{rater.pk}:{ready.version.pk}:{key}:{counted}")


def _sum(viewed: Mapping[str, Any]) -> float:
    return sum(float(seconds) for seconds in viewed.values())


@in_transaction
def add_viewing_time(
    place: CampaignCohort,
    rater: Rater,
    ready: ReadinessState,
    key: str,
    ticket_text: str,
    seconds: float | None,
    at: datetime,
) -> ReadinessState:
    """Count the time a material was open: what the page says it was looked at, at most what passed since its ticket.

    Without `seconds` (no script) all the time that passed counts. A forged ticket and somebody else's count nothing;
    the same one again, or from two windows, counts once. Of materials open side by side one at a time is looked at:
    together they count no more than what passed.
    """
    material = ready.parts.material(key)
    opened = _parse_ticket(ticket_text, rater, ready.version.pk, key)
    if material is None or opened is None:
        return ready
    passed = max(0.0, at.timestamp() - opened.since)
    row = _row(place, rater, ready, at)
    had = float(row.seen.get(key, 0))
    counted = opened.before + (passed if seconds is None else min(max(seconds, 0.0), passed))
    left = opened.of_all + passed - (_sum(row.seen) - had)
    row.seen = {**row.seen, key: round(max(had, min(counted, left)), 1)}
    row.save(update_fields=["seen"])
    return ReadinessState(ready.version, ready.text, ready.parts, row)


def _parse_ticket(ticket_text: str, rater: Rater, version: int, key: str) -> _Ticket | None:
    try:
        whose, *numbers = _SIGNER.unsign(ticket_text).rsplit(":", 3)
        mine = whose == f"{rater.pk}:{version}:{key}"
        return _Ticket(*map(float, numbers)) if mine else None
    except (BadSignature, TypeError, ValueError):
        return None


def _row(place: CampaignCohort, rater: Rater, ready: ReadinessState, at: datetime) -> Readiness:
    seat = lock_participation_of(rater.pk, place.pk, at)  # its lock orders what two windows of one person say
    return Readiness.objects.get_or_create(participation_id=seat.id, version=ready.version)[0]


@in_transaction
def answer_question(
    place: CampaignCohort, rater: Rater, ready: ReadinessState, key: str, code: str, at: datetime
) -> ReadinessState:
    """One question of the quiz. After the last one it is passed, or it begins anew."""
    question = ready.parts.question(key)
    row = _row(place, rater, ready, at)
    if question is None or question.option(code) is None or row.passed_at or not ready.parts.is_seen_in_full(row.seen):
        return ReadinessState(ready.version, ready.text, ready.parts, row)
    if key not in row.answers:  # what was answered and explained is not answered again in the same try
        row.answers = {**row.answers, key: code}
        if all(one.key in row.answers for one in ready.parts.quiz):
            row.tries += 1
            if ready.parts.count_right_answers(row.answers) >= ready.parts.pass_mark:
                _pass(place, rater, row, at)
        row.save()
    return ReadinessState(ready.version, ready.text, ready.parts, row)


@in_transaction
def restart_quiz(place: CampaignCohort, rater: Rater, ready: ReadinessState, at: datetime) -> None:
    """The quiz from its first question, once all were answered and too few rightly."""
    row = _row(place, rater, ready, at)
    if row.passed_at is None and all(question.key in row.answers for question in ready.parts.quiz):
        row.answers = {}
        row.save(update_fields=["answers"])


@in_transaction
def confirm_read(place: CampaignCohort, rater: Rater, ready: ReadinessState, at: datetime) -> bool:
    """I have read them: where there is no quiz. Says whether it was enough."""
    row = _row(place, rater, ready, at)
    if row.passed_at is None and not ready.parts.quiz and ready.parts.is_seen_in_full(row.seen):
        _pass(place, rater, row, at)
        row.save()
    return row.passed_at is not None


def _pass(place: CampaignCohort, rater: Rater, row: Readiness, at: datetime) -> None:
    row.passed_at = at
    scope, target = f"benchmark:{place.campaign.stage.benchmark_id}", f"campaign:{place.campaign_id}"
    record(rater.user, "campaign.ready", scope=scope, target=target, tries=row.tries)
