"""A sheet before a person: what its templates draw. Nothing here writes."""

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone, translation

from annotation.displays import Display, Shown, display
from annotation.displays.layout import Layout, Said, about, said
from annotation.displays.shown import shown_for
from annotation.fields.bound import Answered, answered
from annotation.fields.contract import Option
from annotation.fields.form import Choice, Speech, choices
from annotation.models import Annotation, Assignment, CampaignCohort, Draft
from annotation.progress import Progress, progress_of
from annotation.protocol import Parts
from annotation.review_pages import Decided, asked_back
from annotation.services.allocation import Work
from annotation.services.answers import KEPT_ONLY, OWN
from annotation.services.instructions import newest, text_for
from annotation.services.sheet_versions import sheet_of
from annotation.services.uploads import brought
from annotation.sheets import Parsed
from annotation.views.drawing import Filled, drawn_fields, drawn_with, from_draft, rules_of
from annotation.words import Why, moment_of, why_nothing, zone_of
from people.models import Cohort, User

RULES, FOLD = "js/rules.js", "js/fold.js"
MANY = 3  # fields; more of them are asked in a smaller voice


@dataclass(frozen=True)
class Face:
    """One sheet. The one ahead is drawn too, so that a person can go on without a line."""

    assignment_id: int
    base: str
    shown: Shown
    display: Display
    said: Said
    fields: str
    many: bool
    facts: str
    trace: str
    client_key: str
    shown_at: datetime
    draft_version: int
    draft_saved_at: datetime | None
    refused: bool
    changing: str
    asked_back: Decided | None = None
    """Why a reviewer returned the answer that is open for a change."""
    skipped: str = ""
    """Why this person skipped it, if they take it up again."""
    other: Sequence[Answered] = ()
    """What another window answered meanwhile; what was written in this one is open as a change of it."""


@dataclass(frozen=True)
class Undoable:
    """The answer just given, while it can be taken back."""

    assignment_id: int
    version: int
    answers: list[Answered]
    seconds: int
    about: str = ""
    skipped: str = ""
    """The reason, if it was no answer but a skip."""


@dataclass(frozen=True)
class Bench:
    """All that changes from one sheet to the next."""

    campaign_id: int
    name: str
    cohort_name: str
    team_id: int
    progress: Progress
    hand: Face | None
    ahead: Face | None
    nothing: Why | None
    undo: Undoable | None
    notice: str
    zone: str = ""
    scripts: Sequence[str] = ()
    styles: Sequence[str] = ()
    rules: Mapping[str, Any] = field(default_factory=dict)
    keys: Sequence[tuple[str, Any]] = ()


@dataclass(frozen=True)
class Refusal:
    """Answers as they came, and what became of them."""

    raw: Mapping[str, Any]
    parsed: Parsed
    confirmed: Collection[str] = ()
    trace: Mapping[str, Any] = field(default_factory=dict)


def language() -> str:
    return translation.get_language() or "en"


def speech_for(cohort: Cohort | None, target: str = "") -> Speech:
    return Speech(language(), cohort.name if cohort is not None else target)


def place_of(assignment: Assignment) -> CampaignCohort:
    """Where a person's assignment belongs. Only a model's has no participation."""
    assert assignment.participation is not None
    return assignment.participation.cohort


def face_of(assignment: Assignment, at: datetime, refusal: Refusal | None = None) -> Face:
    """`assignment` comes joined with what a sheet needs: see access.assignment_for."""
    cohort = place_of(assignment).cohort
    shown = shown_for(assignment.unit, cohort, brought(assignment))
    draft: Draft | None = getattr(assignment, "draft", None)
    stage, sheet = assignment.campaign.stage, sheet_of(assignment.campaign.sheet_version)
    trace = refusal.trace if refusal else draft.trace if draft else {}
    words = said(Layout.from_json(stage.layout), shown, language())
    return Face(
        assignment_id=assignment.pk,
        base=reverse("annotation:submit", args=[assignment.pk]).removesuffix("submit"),
        shown=shown,
        display=display(stage.display),
        said=words,
        fields=fields_of(assignment, shown, words, draft, refusal),
        many=len(sheet.fields) > MANY,
        facts=json.dumps(shown.facts) if sheet.checks and shown.facts else "",
        trace=json.dumps(trace, separators=(",", ":")) if trace else "",
        client_key=str(uuid.uuid4()),
        shown_at=at,
        draft_version=draft.version if draft else 0,
        draft_saved_at=draft.saved_at if draft else None,
        refused=refusal is not None,
        changing=changing(assignment, cohort) if draft else "",
        skipped=reason_in_words(assignment),
        asked_back=asked_back(assignment, zone_of(assignment.rater.user or User(), cohort), language()),
    )


def changing(assignment: Assignment, cohort: Cohort) -> str:
    """When the answer was given that is open for a change; empty for new work."""
    if assignment.state not in OWN:
        return ""
    return moment_of(assignment.changed_at, zone_of(assignment.rater.user or User(), cohort))


def fields_of(assignment: Assignment, shown: Shown, words: Said, draft: Draft | None, refusal: Refusal | None) -> str:
    """The fields as HTML. Nearly always they are empty, and then the same for everybody of a culture."""
    version, rule = assignment.campaign.sheet_version, assignment.campaign.rule_version_id
    if draft is None and refusal is None and not any(one.draws_item for one in sheet_of(version).fields):
        return drawn_fields(version, rule, words, language(), shown.target_name)
    filled = from_draft(draft)
    if refusal:
        filled = Filled(refusal.raw, refusal.parsed, tuple(refusal.confirmed))
    return drawn_with(version, rule, words, Speech(language(), shown.target_name), shown, filled)


def reasons_of(place: CampaignCohort) -> list[Choice]:
    """Why one may skip, with their keys."""
    return choices(skip_options(place.campaign.stage.skip_reasons), (), speech_for(place.cohort))


def skip_options(rows: Any) -> list[Option]:
    return [Option(str(row["code"]), dict(row["label"])) for row in rows]


def files_of(place: CampaignCohort) -> tuple[list[str], list[str]]:
    """Scripts and styles that this campaign's sheets need beyond those of every sheet."""
    stage, sheet = place.campaign.stage, sheet_of(place.campaign.sheet_version)
    how, forms = display(stage.display), [one.form for one in sheet.fields]
    ruled = sheet.checks or sheet.score or place.campaign.rule_version_id or any(one.show_if for one in sheet.fields)
    own = [RULES if ruled else "", FOLD if stage.layout.get("fold") else ""]
    scripts = dict.fromkeys([*own, how.script, *(one.script for one in forms)])
    styles = dict.fromkeys([how.style, *(one.style for one in forms)])
    return [one for one in scripts if one], [one for one in styles if one]


def keys_of(place: CampaignCohort) -> list[tuple[str, Any]]:
    """What further keys do, for the list of them."""
    forms = [one.form for one in sheet_of(place.campaign.sheet_version).fields]
    found = [*display(place.campaign.stage.display).keys, *(key for form in forms for key in getattr(form, "keys", ()))]
    return list(dict.fromkeys(found))


def bench_of(
    user: User, place: CampaignCohort, work: Work, at: datetime, *, undo: Undoable | None = None, notice: str = ""
) -> Bench:
    nothing, campaign = work.nothing, place.campaign
    scripts, styles = files_of(place)
    return Bench(
        campaign_id=place.campaign_id,
        name=place.campaign.name,
        cohort_name=place.cohort.name,
        team_id=place.cohort.team_id,
        progress=progress_of([place.pk])[place.pk],
        hand=face_of(work.hand, at) if work.hand else None,
        ahead=face_of(work.ahead, at) if work.ahead else None,
        nothing=why_nothing(nothing.reason, nothing.until, zone_of(user, place.cohort)) if nothing else None,
        undo=undo,
        notice=notice,
        zone=str(zone_of(user, place.cohort)),
        scripts=scripts,
        styles=styles,
        keys=keys_of(place),
        rules=rules_of(campaign.sheet_version, campaign.rule_version_id, language(), place.cohort.name),
    )


def undoable(assignment: Assignment, live: Annotation | None, at: datetime) -> Undoable | None:
    """None once the grace time is over, and where `answers.undo` would refuse."""
    grace = timedelta(seconds=settings.UNDO_SECONDS)
    if assignment.state == Assignment.State.SKIPPED and live is None:
        left = (assignment.changed_at + grace - at).total_seconds()
        skipped = reason_in_words(assignment)
        return Undoable(assignment.pk, 0, [], int(left), about_of(assignment), skipped) if left >= 1 else None
    if live is None or not live.live or at - live.submitted_at > grace:
        return None
    if live.uncounted_because in KEPT_ONLY.values():
        return None
    left = (live.submitted_at + grace - at).total_seconds()
    given = answered_in_words(assignment, live)
    return Undoable(assignment.pk, live.version, given, max(1, int(left)), about_of(assignment))


def answered_in_words(assignment: Assignment, live: Annotation) -> list[Answered]:
    sheet = sheet_of(assignment.campaign.sheet_version)
    return answered(sheet.fields, speech_for(place_of(assignment).cohort), live.answers)


def reason_in_words(assignment: Assignment) -> str:
    """Why it was skipped; empty if it is not."""
    if assignment.state != Assignment.State.SKIPPED:
        return ""
    speech = speech_for(place_of(assignment).cohort)
    reasons = {one.code: speech.say(one.label) for one in skip_options(assignment.campaign.stage.skip_reasons)}
    return reasons.get(assignment.skip_reason, assignment.skip_reason)


def about_of(assignment: Assignment) -> str:
    """What this person was asked about: the words of the item that lay before them; empty where pictures say it."""
    stage, item = assignment.campaign.stage, assignment.unit.item
    how, context = display(stage.display), {"concept": item.concept, **item.context} if item.concept else item.context
    shown = Shown(item.pk, target=assignment.unit.target, text=item.text, context=context)
    return about(Layout.from_json(stage.layout), shown, language(), text=bool(how.shows or how.aside))


@dataclass(frozen=True)
class Instructions:
    number: int
    body: str
    language: str
    parts: Parts = field(default_factory=Parts)


def instructions_of(place: CampaignCohort) -> Instructions | None:
    """The newest ones, for this cohort in the page's language; the cohort is named as on the sheet."""
    version = newest(place.campaign)
    found = text_for(version, place.cohort_id, language()) if version else None
    if version is None or found is None:
        return None
    body = found.body.replace("{target}", place.cohort.name)
    return Instructions(version.number, body, found.language, Parts.from_json(found.parts))


def moment(value: str, at: datetime, earliest: datetime) -> datetime | None:
    """A time a browser says, kept between what is possible; its clock may be wrong. None: it said none."""
    try:
        said = datetime.fromisoformat(value)
    except ValueError:
        return None
    if timezone.is_naive(said):
        return None
    return min(max(said, earliest), at)
