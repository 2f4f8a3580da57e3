"""What a person has answered and skipped, newest first; and opening an answer for a change."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Prefetch, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.fields.bound import Answered, answered
from annotation.models import Annotation, Assignment
from annotation.services import answers
from annotation.services.sheet_versions import sheet_of
from annotation.views.answers import of_assignment, person, to_sheet
from annotation.views.faces import skip_options, speech_for
from annotation.words import Chip, chip_of, note_of, zone_of
from people.models import User
from people.tabs import tabs_for

PAGE = 50
State = Assignment.State
LISTED = (State.SUBMITTED, State.RETURNED, State.ACCEPTED, State.REJECTED, State.SKIPPED)
CHANGE = {State.SUBMITTED: gettext_lazy("Change"), State.RETURNED: gettext_lazy("Correct")}


@dataclass(frozen=True)
class Past:
    """One row of the history."""

    assignment_id: int
    at: datetime
    when: str
    work: str
    answers: list[Answered]
    skipped: str
    note: str
    chip: Chip
    change: str


@dataclass(frozen=True)
class Cursor:
    """Where a page of the history ends: keyset, so that page 100 costs what page 1 does."""

    at: datetime
    id: int

    def __str__(self) -> str:
        return f"{self.at.isoformat()}_{self.id}"

    @property
    def urlsafe(self) -> str:
        return quote(str(self), safe="")

    @classmethod
    def read(cls, said: str) -> "Cursor | None":
        moment, _sign, number = said.rpartition("_")
        try:
            at = datetime.fromisoformat(moment)
        except ValueError:
            return None
        if timezone.is_naive(at) or not number.isdecimal() or len(number) > 18:
            return None
        return cls(at, int(number))


def past_of(user: User, limit: int, before: Cursor | None = None) -> tuple[list[Past], Cursor | None]:
    """A page of what this person did, and where the next begins."""
    rows = Assignment.objects.filter(rater__user=user, state__in=LISTED).order_by("-changed_at", "-pk")
    if before is not None:
        rows = rows.filter(changed_at__lte=before.at).filter(Q(changed_at__lt=before.at) | Q(pk__lt=before.id))
    live = Annotation.objects.filter(live=True).select_related("sheet_version")
    rows = rows.select_related("campaign__stage", "participation__cohort__cohort").prefetch_related(
        Prefetch("annotations", queryset=live, to_attr="live_ones")
    )
    found = list(rows[: limit + 1])
    shown = [_past(user, row) for row in found[:limit]]
    more = Cursor(found[limit - 1].changed_at, found[limit - 1].pk) if len(found) > limit else None
    return shown, more


def _past(user: User, row: Assignment) -> Past:
    lives: list[Annotation] = getattr(row, "live_ones", [])
    live = lives[0] if lives else None
    cohort = row.participation.cohort.cohort if row.participation else None
    speech = speech_for(cohort)
    sheet = sheet_of(live.sheet_version) if live else None
    reasons = {option.code: speech.say(option.label) for option in skip_options(row.campaign.stage.skip_reasons)}
    closed = row.campaign.state == row.campaign.State.CLOSED
    return Past(
        assignment_id=row.pk,
        at=row.changed_at,
        when=when(row.changed_at, zone_of(user, cohort)),
        work=row.campaign.name,
        answers=answered(sheet.fields, speech, live.answers) if sheet and live else [],
        skipped=reasons.get(row.skip_reason, row.skip_reason) if row.state == State.SKIPPED else "",
        note=note_of(live),
        chip=chip_of(row, live),
        change="" if closed else str(CHANGE.get(State(row.state), "")),
    )


def when(at: datetime, zone: ZoneInfo) -> str:
    """The time today, then yesterday, then the date."""
    local, today = at.astimezone(zone), timezone.now().astimezone(zone).date()
    if local.date() == today:
        return f"{local:%H:%M}"
    if local.date() == today - timedelta(days=1):
        return _("Yesterday")
    return date_format(local.date(), "j M" if local.year == today.year else "j M Y")


@never_cache
@login_required
@require_safe
def history(request: HttpRequest) -> HttpResponse:
    before = Cursor.read(request.GET.get("before", ""))
    user = person(request)
    rows, more = past_of(user, PAGE, before)
    context = {"rows": rows, "more": more, "later": before is not None, "nav": tabs_for(user, "history")}
    return render(request, "annotation/history.html", context)


@of_assignment
def change(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    """Open one's own answer again. It counts as it is until the new one is submitted."""
    try:
        answers.reopen(assignment.pk, assignment.rater, at)
    except answers.Unclaimable:
        messages.info(request, _("This answer cannot be changed any more."))
        return redirect("annotation:history")
    return to_sheet(assignment, f"?change={assignment.pk}")
