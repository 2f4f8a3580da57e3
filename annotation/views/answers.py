"""What a person does with the sheet before them. A script gets the next sheet; without one, a redirect to it."""

import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation.access import assignment_for
from annotation.displays.layout import Layout
from annotation.models import Annotation, Assignment, CampaignCohort
from annotation.services import again, allocation, answers, drafts
from annotation.services.allocation import Work
from annotation.services.sheet_versions import sheet_of
from annotation.sheets import storable
from annotation.trace import Trace, read_trace
from annotation.views.faces import (
    Bench,
    Refusal,
    answered_in_words,
    bench_of,
    face_of,
    instructions_of,
    language,
    moment,
    place_of,
    reasons_of,
    undoable,
)
from annotation.views.pictures import bring_with_sheet
from jobs.numbers import parse_int
from people.models import User

STAYS = gettext_lazy("This work is closed. Your answer stays as it was.")
View = Callable[[HttpRequest, int], HttpResponse]


def scripted(request: HttpRequest) -> bool:
    return request.headers.get("X-Requested-With") == "emic"


def of_assignment(act: Callable[[HttpRequest, Assignment, datetime], HttpResponse]) -> View:
    """POST by the signed-in person on an assignment of their own; anything else is not there."""

    def view(request: HttpRequest, assignment_id: int) -> HttpResponse:
        return act(request, assignment_for(person(request), assignment_id), timezone.now())

    return never_cache(login_required(require_POST(view)))


def person(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def to_sheet(assignment: Assignment, query: str = "") -> HttpResponse:
    return redirect(reverse("annotation:sheet", args=[assignment.campaign_id]) + query)


def next_sheet(
    request: HttpRequest,
    assignment: Assignment,
    work: Work,
    at: datetime,
    *,
    gave: Annotation | None = None,
    notice: str = "",
) -> HttpResponse:
    """The same for every deed: the sheet that comes next, and what can be undone."""
    if not scripted(request):
        if notice:
            messages.info(request, notice)
        return to_sheet(assignment, f"?after={assignment.pk}" if gave or undoable(assignment, gave, at) else "")
    bench = bench_of(
        person(request), place_of(assignment), work, at, undo=undoable(assignment, gave, at), notice=notice
    )
    return render(request, "annotation/sheet/fragment.html", {"bench": bench})


@of_assignment
def submit(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    if "bring" in request.POST:  # without a script, a picture comes with the sheet
        bring_with_sheet(request, assignment, at)
        return to_sheet(assignment, f"?change={assignment.pk}")
    sheet = sheet_of(assignment.campaign.sheet_version)
    submission = answers.Submission(
        raw=sheet.read_form(request.POST),
        client_key=said(request, "client_key")[:64] or str(uuid.uuid4()),
        shown_at=moment(request.POST.get("shown_at", ""), at, assignment.reserved_at),
        active_seconds=seconds(request.POST.get("active_seconds", "")),
        language=language(),
        confirmed=tuple(request.POST.getlist("confirmed")),
        trace=trace_in(request, assignment, at),
    )
    try:
        done = answers.submit(assignment, assignment.rater, submission, at)
    except answers.AnswersRefused as refused:
        refusal = Refusal(submission.raw, refused.parsed, submission.confirmed, submission.trace)
        return not_yet(request, assignment, at, refusal)
    except answers.AlreadyAnswered:
        return in_two_windows(request, assignment, at, submission)
    except answers.Unclaimable as refused:
        return elsewhere(request, assignment, at, not_taken(assignment, refused.reason))
    if done.changed:
        return to_history(request, _("Your new answer is saved."))
    return next_sheet(request, assignment, done.work, at, gave=done.annotation)


def not_taken(assignment: Assignment, reason: str) -> str:
    """Why an answer was not taken. Only a change leaves one that stays."""
    if reason == "decided":
        return _("A reviewer has decided on this answer meanwhile. It stays as it was.")
    if assignment.state != Assignment.State.SUBMITTED:
        return _("The last answer could not be taken. Here is what is open now.")
    return str(STAYS) if reason == "campaign_closed" else _("Your answer stays as it was.")


def to_history(request: HttpRequest, words: str) -> HttpResponse:
    """Where a change began. A script is told to go there."""
    messages.info(request, words)
    to = reverse("annotation:history")
    return JsonResponse({"go": to}) if scripted(request) else redirect(to)


def not_yet(request: HttpRequest, assignment: Assignment, at: datetime, refusal: Refusal) -> HttpResponse:
    """The same sheet with what is wrong; nothing that was written is emptied."""
    place = place_of(assignment)
    bench = bench_of(person(request), place, Work(None, None, None), at)
    return not_taken_yet(request, place, replace(bench, hand=face_of(assignment, at, refusal)))


def not_taken_yet(request: HttpRequest, place: CampaignCohort, bench: Bench) -> HttpResponse:
    context: dict[str, Any] = {"bench": bench}
    if scripted(request):
        return render(request, "annotation/sheet/fragment.html", context, status=422)
    context |= {"instructions": instructions_of(place), "reasons": reasons_of(place)}
    return render(request, "annotation/sheet/page.html", context, status=422)


def in_two_windows(
    request: HttpRequest, assignment: Assignment, at: datetime, submission: answers.Submission
) -> HttpResponse:
    """Another window answered it. Where it says something else, both are shown, and nothing that was written goes."""
    live = Annotation.objects.filter(assignment=assignment, live=True).first()
    written = {key: value for key, value in submission.raw.items() if value not in ("", [], {}, None)}
    if live is None or not written or written == live.answers:
        return elsewhere(request, assignment, at, _("This was already answered in another window. Here is the next."))
    try:
        work = again.written_beside(assignment, assignment.rater, submission.raw, submission.trace, at)
    except answers.Unclaimable as refused:
        words = [not_taken(assignment, refused.reason), *own_words(assignment, written)]
        return elsewhere(request, assignment, at, " ".join(words))
    place = place_of(assignment)
    bench = bench_of(person(request), place, work, at)
    assert bench.hand is not None
    other = answered_in_words(assignment, live)
    return not_taken_yet(request, place, replace(bench, hand=replace(bench.hand, other=other)))


def own_words(assignment: Assignment, written: Mapping[str, Any]) -> list[str]:
    """What was typed, where its sheet may not be shown again: it can be read and copied."""
    sheet = sheet_of(assignment.campaign.sheet_version)
    texts = [str(written[one.key]) for one in sheet.fields if sheet.level(one.key) == "text" and one.key in written]
    return [_("What you wrote here: %(text)s") % {"text": " / ".join(texts)}] if texts else []


def elsewhere(request: HttpRequest, assignment: Assignment, at: datetime, notice: str) -> HttpResponse:
    work = allocation.open_work(assignment.rater, place_of(assignment), at)
    return next_sheet(request, assignment, work, at, notice=notice)


@of_assignment
def skip(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    reasons = [row["code"] for row in assignment.campaign.stage.skip_reasons]
    reason, note = request.POST.get("reason", ""), said(request, "note")
    if reason not in reasons:
        return elsewhere(request, assignment, at, _("Choose a reason, then skip."))
    try:
        work = answers.skip(assignment, assignment.rater, reason, note[:300], at)
    except (answers.AlreadyAnswered, answers.Unclaimable):
        return elsewhere(request, assignment, at, _("This one was not in your hands any more. Here is the next."))
    assignment.refresh_from_db(fields=["state", "skip_reason", "changed_at"])
    return next_sheet(request, assignment, work, at)


@of_assignment
def undo(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    skipped = version_in(request) == 0  # the strip was about a skip
    try:
        if skipped:
            work = again.undo_skip(assignment, assignment.rater, at)
            assignment.refresh_from_db(fields=["state", "changed_at"])  # there is nothing more to take back
        else:
            work = answers.undo(assignment, assignment.rater, at, version_in(request))
    except answers.Unclaimable as refused:
        words = _("It is too late to undo this. You can still change it from your history.")
        if skipped:
            words = _("This skip can no longer be undone. Under Your answers you can still answer it.")
        elif refused.reason in answers.KEPT_ONLY or refused.reason == "another_version":
            words = _("This can no longer be undone. Your answer stays as it was.")
        return elsewhere(request, assignment, at, words)
    if not scripted(request):
        return to_sheet(assignment, f"?change={assignment.pk}")
    return next_sheet(request, assignment, work, at)


def version_in(request: HttpRequest) -> int | None:
    return parse_int(request.POST.get("version"), default=None)


@of_assignment
def report(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    try:
        answers.report_problem(assignment, assignment.rater, said(request, "text").strip()[:4000], at)
        words, status = _("Thank you. The researchers will look at it."), 200
    except answers.Unclaimable as refused:
        words, status = _("Say in a few words what is wrong."), 422
        if refused.reason == "enough_reports":
            words = _("You have reported this one several times. The researchers will look at it.")
    if scripted(request):
        return JsonResponse({"words": words}, status=status)
    messages.info(request, words)
    return to_sheet(assignment)


@of_assignment
def draft(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    """Save what is not submitted yet. An older window is told, and overwrites nothing."""
    sheet = sheet_of(assignment.campaign.sheet_version)
    version = parse_int(request.POST.get("draft_version"))
    try:
        trace = trace_in(request, assignment, at)
        saved = drafts.save(assignment.pk, assignment.rater, sheet.read_form(request.POST), version, at, trace)
    except drafts.DraftConflict as conflict:
        newer = conflict.current
        return JsonResponse({"version": newer.version, "saved_at": newer.saved_at.isoformat()}, status=409)
    except drafts.DraftTooLong:
        return JsonResponse({"words": _("This is too long to be kept as a draft. Make it shorter.")}, status=413)
    except (answers.AlreadyAnswered, answers.Unclaimable):
        words = _("This one was answered in another window.")
        return JsonResponse({"words": words}, status=410)
    return JsonResponse({"version": saved.version, "saved_at": saved.saved_at.isoformat()})


def trace_in(request: HttpRequest, assignment: Assignment, at: datetime) -> Trace:
    part = Layout.from_json(assignment.campaign.stage.layout).part
    return read_trace(request.POST.get("trace", ""), part, assignment.reserved_at, at)


def said(request: HttpRequest, name: str) -> str:
    return str(storable(request.POST.get(name, "")))


def seconds(value: str) -> float | None:
    """What a browser measured; the service keeps it to what is possible."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
