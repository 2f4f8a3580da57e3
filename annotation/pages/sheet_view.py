"""A sheet before a person: what its templates draw. Nothing here writes."""

import json
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import get_script_prefix, reverse
from django.utils import timezone, translation

from annotation.displays import Display, Shown, display
from annotation.displays.answer_culture import layout_for_person
from annotation.displays.layout import Layout, ResolvedLayout, visible_context
from annotation.displays.shown_item import build_shown
from annotation.fields.bound_field import AnswerView, answer_views
from annotation.fields.contract import Option
from annotation.fields.form import Localiser, OptionView, option_views
from annotation.instructions.protocol import Protocol
from annotation.models import Annotation, Assignment, CampaignCohort, Draft
from annotation.pages.decisions import DecisionView
from annotation.pages.disputes import Dispute, dispute_of
from annotation.pages.field_rendering import (
    SheetInput,
    from_draft,
    render_answers,
    render_empty_fields,
    render_filled_fields,
    rules_of,
)
from annotation.pages.recipe_names import recipe_name
from annotation.pages.reviews import return_note
from annotation.pages.status_text import NoWorkText, format_moment, no_work_text, time_zone_for
from annotation.queries.progress import Progress, progress_of, usable_progress
from annotation.services.answers.submit import KEPT_ONLY, OWN
from annotation.services.answers.uploads import uploads_for_sheet
from annotation.services.campaigns.instructions import newest_version, text_for
from annotation.services.queue.next_work import Work
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.sheets.sheet import ParsedSheet, Sheet
from people.locales import overlay
from people.models import Cohort, User

DRAWN_SECONDS = 300  # for which a drawing is used again, far less than an address of a picture holds
SMALL = 2000  # characters of an item whose drawing is kept: not one of hundreds of pictures
RULES, FOLD = "js/rules.js", "js/collapsible.js"
SIDE_BY_SIDE = 2  # pictures; more of them are laid out in a grid that scrolls
MANY = 3  # fields; more of them are asked in a smaller voice


@dataclass(frozen=True)
class SheetView:
    """One sheet. The one ahead is drawn too, so that a person can go on without a line."""

    assignment_id: int
    base: str
    shown: Shown
    display: Display
    layout: ResolvedLayout
    fields: str
    single: bool
    """One question alone, which fits a phone's screen together with the item."""
    many: bool
    facts: str
    trace: str
    client_key: str
    shown_at: datetime
    draft_version: int
    draft_saved_at: datetime | None
    refused: bool
    changing: str
    asked_back: DecisionView | None = None
    """Why a reviewer returned the answer that is open for a change."""
    skipped: str = ""
    """Why this person skipped it, if they take it up again."""
    dispute: Dispute | None = None
    """The answers that this sheet settles."""
    other: Sequence[AnswerView] = ()
    """What another window answered meanwhile; what was written in this one is open as a change of it."""

    @property
    def shown_at_text(self) -> str:
        return timezone.localtime(self.shown_at).isoformat()

    @property
    def has_images(self) -> bool:
        return bool(self.shown.images)

    @property
    def zooms(self) -> bool:
        return bool(self.display.roles) and self.has_images

    @property
    def stage_html(self) -> str:
        return self._draw(self.display.template)

    @property
    def tools_html(self) -> str:
        return self._draw(self.display.tools)

    @property
    def aside_html(self) -> str:
        return self._draw(self.display.aside)

    @property
    def cultures_html(self) -> str:
        if not self.layout.cultures:
            return ""
        return render_to_string("annotation/displays/cultures.html", {"cultures": self.layout.cultures})

    @property
    def texts_html(self) -> str:
        """What the layout shows, where the display leaves that to the panel."""
        if not self.layout.show or self.display.shows:
            return ""
        return render_to_string("annotation/displays/labelled_texts.html", {"lines": self.layout.show})

    def _draw(self, template: str) -> str:
        if not template:
            return ""
        spoken, period, item = language(), int(time.time()) // DRAWN_SECONDS, repr(self.shown)
        drawing = ItemDrawing(template, self.layout, spoken, overlay.revision(spoken), period, item, self.shown)
        return _drawn(drawing) if len(item) <= SMALL else _drawn.__wrapped__(drawing)


@dataclass(frozen=True)
class ItemDrawing:
    """What an item's part of a sheet depends on."""

    template: str
    layout: ResolvedLayout
    language: str
    revision: int
    period: int
    item: str
    shown: Shown = field(compare=False)


@lru_cache(maxsize=512)
def _drawn(drawing: ItemDrawing) -> str:
    """Each sheet is drawn twice, ahead and in hand, and for several people. Addresses of pictures in it grow old."""
    return render_to_string(drawing.template, {"shown": drawing.shown, "layout": drawing.layout})


@dataclass(frozen=True)
class UndoOffer:
    """The answer just given, while it can be taken back."""

    assignment_id: int
    version: int
    answers: str
    """In words, as HTML."""
    seconds: int
    about: str = ""
    skipped: str = ""
    """The reason, if it was no answer but a skip."""

    @property
    def base(self) -> str:
        return base_of(self.assignment_id)


@dataclass(frozen=True)
class WorkPage:
    """All that changes from one sheet to the next."""

    user: User
    place: CampaignCohort
    progress: Progress
    hand: SheetView | None
    ahead: SheetView | None
    nothing: NoWorkText | None
    undo: UndoOffer | None
    notice: str
    on_screen: int | None = None
    """The assignment in hand, where the page shows its sheet already. It is not drawn again: `hand` is None."""

    @property
    def campaign_id(self) -> int:
        return self.place.campaign_id

    @property
    def name(self) -> str:
        return recipe_name(self.place.campaign.name)

    @property
    def cohort_name(self) -> str:
        return self.place.cohort.name

    @property
    def team_id(self) -> int:
        return self.place.cohort.team_id

    @property
    def zone(self) -> str:
        return str(time_zone_for(self.user, self.place.cohort))

    @property
    def scripts(self) -> Sequence[str]:
        return files_of(self.place)[0]

    @property
    def styles(self) -> Sequence[str]:
        return files_of(self.place)[1]

    @property
    def keys(self) -> Sequence[tuple[str, Any]]:
        return keys_of(self.place)

    @property
    def rules(self) -> Mapping[str, Any]:
        campaign = self.place.campaign
        return rules_of(campaign.sheet_version, language(), self.cohort_name)


@dataclass(frozen=True)
class RejectedAnswers:
    """Answers as they came, and what became of them."""

    raw: Mapping[str, Any]
    parsed: ParsedSheet
    confirmed: Collection[str] = ()
    trace: Mapping[str, Any] = field(default_factory=dict)


def base_of(assignment_id: int) -> str:
    """Where the addresses of what a person does with an assignment begin."""
    return f"{_base_of_all(get_script_prefix())}{assignment_id}/"


@lru_cache(maxsize=8)
def _base_of_all(_prefix: str) -> str:
    return reverse("annotation:submit", args=[0]).removesuffix("0/submit")


def language() -> str:
    return translation.get_language() or "en"


def localiser_for(cohort: Cohort | None, target: str = "") -> Localiser:
    return Localiser(language(), cohort.name if cohort is not None else target)


def place_of(assignment: Assignment) -> CampaignCohort:
    """Where a person's assignment belongs. Only a model's has no participation."""
    assert assignment.participation is not None
    return assignment.participation.cohort


def build_sheet_view(assignment: Assignment, at: datetime, refusal: RejectedAnswers | None = None) -> SheetView:
    """`assignment` comes joined with what a sheet needs: see access.assignment_for."""
    cohort, spoken = place_of(assignment).cohort, language()
    shown = build_shown(assignment.unit, cohort, uploads_for_sheet(assignment))
    draft: Draft | None = getattr(assignment, "draft", None)
    stage, sheet = assignment.campaign.stage, sheet_of(assignment.campaign.sheet_version)
    trace = refusal.trace if refusal else draft.trace if draft else {}
    words = layout_for_person(stage, shown, cohort, spoken)
    return SheetView(
        assignment_id=assignment.pk,
        base=base_of(assignment.pk),
        shown=shown,
        display=display(stage.display),
        layout=words,
        fields=fields_of(assignment, shown, words, draft, refusal),
        single=is_single(sheet, shown),
        many=len(sheet.fields) > MANY,
        facts=json.dumps(shown.facts) if sheet.checks and shown.facts else "",
        trace=json.dumps(trace, separators=(",", ":")) if trace else "",
        client_key=str(uuid.uuid4()),
        shown_at=at,
        draft_version=draft.version if draft else 0,
        draft_saved_at=draft.saved_at if draft else None,
        refused=refusal is not None,
        changing=changed_answer_date(assignment, cohort) if draft else "",
        skipped=reason_in_words(assignment),
        dispute=dispute_of(stage, sheet, shown, Localiser(spoken, shown.target_name)),
        asked_back=returned_because(assignment, cohort),
    )


def is_single(sheet: Sheet, shown: Shown) -> bool:
    return len(sheet.fields) == 1 and len(shown.images) <= SIDE_BY_SIDE and sheet.fields[0].fits_phone(shown)


def returned_because(assignment: Assignment, cohort: Cohort) -> DecisionView | None:
    """Why a reviewer returned the answer that is open for a change."""
    if assignment.state != Assignment.State.RETURNED:
        return None
    return return_note(assignment, time_zone_for(assignment.rater.user or User(), cohort), language())


def changed_answer_date(assignment: Assignment, cohort: Cohort) -> str:
    """When the answer was given that is open for a change; empty for new work."""
    if assignment.state not in OWN:
        return ""
    return format_moment(assignment.changed_at, time_zone_for(assignment.rater.user or User(), cohort))


def fields_of(
    assignment: Assignment, shown: Shown, words: ResolvedLayout, draft: Draft | None, refusal: RejectedAnswers | None
) -> str:
    """The fields as HTML. Nearly always they are empty, and then the same for everybody of a culture."""
    version = assignment.campaign.sheet_version
    if (
        draft is None
        and refusal is None
        and not any(sheet_field.draws_item for sheet_field in sheet_of(version).fields)
    ):
        return render_empty_fields(version, words, language(), shown.target_name)
    filled = from_draft(draft)
    if refusal:
        filled = SheetInput(refusal.raw, refusal.parsed, tuple(refusal.confirmed))
    return render_filled_fields(version, words, Localiser(language(), shown.target_name), shown, filled)


def reasons_of(place: CampaignCohort) -> list[OptionView]:
    """Why one may skip, with their keys."""
    return option_views(skip_options(place.campaign.stage.skip_reasons), (), localiser_for(place.cohort))


def skip_options(rows: Any) -> list[Option]:
    return [Option(str(row["code"]), dict(row["label"])) for row in rows]


def files_of(place: CampaignCohort) -> tuple[list[str], list[str]]:
    """Scripts and styles that this campaign's sheets need beyond those of every sheet."""
    stage, sheet = place.campaign.stage, sheet_of(place.campaign.sheet_version)
    how, forms = display(stage.display), [sheet_field.form for sheet_field in sheet.fields]
    ruled = sheet.checks or any(sheet_field.show_if for sheet_field in sheet.fields)
    own = [RULES if ruled else "", FOLD if stage.layout.get("fold") else ""]
    scripts = dict.fromkeys([*own, how.script, *(form.script for form in forms)])
    styles = dict.fromkeys([how.style, *(form.style for form in forms)])
    return [script for script in scripts if script], [style for style in styles if style]


def keys_of(place: CampaignCohort) -> list[tuple[str, Any]]:
    """What further keys do, for the list of them."""
    forms = [sheet_field.form for sheet_field in sheet_of(place.campaign.sheet_version).fields]
    keys = [*display(place.campaign.stage.display).keys, *(key for form in forms for key in getattr(form, "keys", ()))]
    return list(dict.fromkeys(keys))


def build_work_page(
    user: User,
    place: CampaignCohort,
    work: Work,
    at: datetime,
    *,
    undo: UndoOffer | None = None,
    notice: str = "",
    tallied: Progress | None = None,
    showing: int | None = None,
) -> WorkPage:
    """`tallied`: the sums of the cohort's tallies, where the caller has just read them. `showing`: the assignment whose
    sheet the page went on to before it heard from the server.
    """
    nothing = work.no_work
    on_screen = showing if work.current and work.current.pk == showing else None
    return WorkPage(
        user=user,
        place=place,
        progress=usable_progress(place.pk, tallied) if tallied else progress_of([place.pk])[place.pk],
        hand=build_sheet_view(work.current, at) if work.current and on_screen is None else None,
        ahead=build_sheet_view(work.prefetched, at) if work.prefetched else None,
        nothing=no_work_text(nothing.reason, nothing.until, time_zone_for(user, place.cohort)) if nothing else None,
        undo=undo,
        notice=notice,
        on_screen=on_screen,
    )


def undo_offer(assignment: Assignment, live: Annotation | None, at: datetime) -> UndoOffer | None:
    """None once the grace time is over, and where `answers.undo` would refuse."""
    grace = timedelta(seconds=settings.UNDO_SECONDS)
    if assignment.state == Assignment.State.SKIPPED and live is None:
        left = (assignment.changed_at + grace - at).total_seconds()
        skipped = reason_in_words(assignment)
        return UndoOffer(assignment.pk, 0, "", int(left), shown_context(assignment), skipped) if left >= 1 else None
    if live is None or not live.live or at - live.submitted_at > grace:
        return None
    if live.uncounted_because in KEPT_ONLY.values():
        return None
    left = (live.submitted_at + grace - at).total_seconds()
    version, cohort = assignment.campaign.sheet_version, place_of(assignment).cohort
    answers = render_answers(version, localiser_for(cohort), live.answers)
    return UndoOffer(assignment.pk, live.version, answers, max(1, int(left)), shown_context(assignment))


def answer_texts(assignment: Assignment, live: Annotation) -> list[AnswerView]:
    sheet = sheet_of(assignment.campaign.sheet_version)
    return answer_views(sheet.fields, localiser_for(place_of(assignment).cohort), live.answers)


def reason_in_words(assignment: Assignment) -> str:
    """Why it was skipped; empty if it is not."""
    if assignment.state != Assignment.State.SKIPPED:
        return ""
    speech = localiser_for(place_of(assignment).cohort)
    reasons = {
        skip_option.code: speech.say(skip_option.label)
        for skip_option in skip_options(assignment.campaign.stage.skip_reasons)
    }
    return reasons.get(assignment.skip_reason, assignment.skip_reason)


def shown_context(assignment: Assignment) -> str:
    """What this person was asked about: the words of the item that lay before them; empty where pictures say it."""
    stage, item = assignment.campaign.stage, assignment.unit.item
    how, context = display(stage.display), {"concept": item.concept, **item.context} if item.concept else item.context
    shown = Shown(item.pk, target=assignment.unit.target, text=item.text, context=context)
    return visible_context(Layout.from_json(stage.layout), shown, language(), text=bool(how.shows or how.aside))


@dataclass(frozen=True)
class Instructions:
    number: int
    body: str
    language: str
    parts: Protocol = field(default_factory=Protocol)


def instructions_of(place: CampaignCohort) -> Instructions | None:
    """The newest ones, for this cohort in the page's language; the cohort is named as on the sheet."""
    version = newest_version(place.campaign)
    text = text_for(version, place.cohort_id, language()) if version else None
    if version is None or text is None:
        return None
    body = text.body.replace("{target}", place.cohort.name)
    return Instructions(version.number, body, text.language, Protocol.from_json(text.parts))


def clamp_time(value: str, at: datetime, earliest: datetime) -> datetime | None:
    """A time a browser says, kept between what is possible; its clock may be wrong. None: it said none."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if timezone.is_naive(moment):
        return None
    return min(max(moment, earliest), at)
