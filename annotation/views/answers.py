"""What a person does with the sheet before them. A script gets the next sheet; without one, a redirect to it."""

import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.messages import get_messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
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
from annotation.pages.sheet_shell import draw_fragment
from annotation.pages.sheet_view import (
    RejectedAnswers,
    WorkPage,
    answer_texts,
    build_sheet_view,
    build_work_page,
    clamp_time,
    instructions_of,
    language,
    place_of,
    reasons_of,
    undo_offer,
)
from annotation.pages.status_text import not_counted_note
from annotation.queries.progress import Progress
from annotation.services.answers import drafts, problem_reports, undo_and_conflicts
from annotation.services.answers import submit as answer_services
from annotation.services.queue import next_work
from annotation.services.queue.next_work import Work
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.sheets.opening_log import Trace, parse_openings
from annotation.sheets.sheet import strip_nul
from annotation.sheets.sheet_view_record import parse_view
from annotation.views.pictures import upload_with_sheet
from jobs.formats.numbers import parse_int
from people.views.request_helpers import current_user

STAYS = gettext_lazy("This campaign is closed. Your answer was not changed.")
View = Callable[[HttpRequest, int], HttpResponse]


def is_script_request(request: HttpRequest) -> bool:
    return request.headers.get("X-Requested-With") == "emic"


def is_from_pack(request: HttpRequest) -> bool:
    """Whether a sheet of a pack sends it: the next ones are on the device."""
    return is_script_request(request) and "pack" in request.POST


def own_assignment_required(act: Callable[[HttpRequest, Assignment, datetime], HttpResponse]) -> View:
    """POST by the signed-in person on an assignment of their own; anything else is not there."""

    def view(request: HttpRequest, assignment_id: int) -> HttpResponse:
        return act(request, assignment_for(current_user(request), assignment_id), timezone.now())

    return never_cache(login_required(require_POST(view)))


def to_sheet(assignment: Assignment, query: str = "") -> HttpResponse:
    return redirect(reverse("annotation:sheet", args=[assignment.campaign_id]) + query)


def respond_with_next(
    request: HttpRequest,
    assignment: Assignment,
    work: Work,
    at: datetime,
    *,
    gave: Annotation | None = None,
    notice: str = "",
    tallied: Progress | None = None,
) -> HttpResponse:
    """The same for every deed: the sheet that comes next, and what can be undone."""
    if is_from_pack(request):
        return JsonResponse({"words": notice})
    if not is_script_request(request):
        if notice:
            messages.info(request, notice)
        return to_sheet(assignment, f"?after={assignment.pk}" if gave or undo_offer(assignment, gave, at) else "")
    user, place, undo = current_user(request), place_of(assignment), undo_offer(assignment, gave, at)
    showing = None if notice or get_messages(request) else parse_int(request.POST.get("showing"), default=None)
    work_page = build_work_page(user, place, work, at, undo=undo, notice=notice, tallied=tallied, showing=showing)
    return fragment_response(request, work_page)


def fragment_response(request: HttpRequest, work_page: WorkPage, status: int = 200) -> HttpResponse:
    """The sheets for a script."""
    return HttpResponse(draw_fragment(work_page, get_token(request), get_messages(request)), status=status)


@own_assignment_required
def submit(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    if "bring" in request.POST:  # without a script, a picture comes with the sheet
        upload_with_sheet(request, assignment, at)
        return to_sheet(assignment, f"?change={assignment.pk}")
    sheet = sheet_of(assignment.campaign.sheet_version)
    submission = answer_services.Submission(
        raw=sheet.read_form(request.POST),
        client_key=posted_text(request, "client_key")[:64] or str(uuid.uuid4()),
        shown_at=clamp_time(request.POST.get("shown_at", ""), at, assignment.reserved_at),
        active_seconds=posted_seconds(request.POST.get("active_seconds", "")),
        language=language(),
        confirmed=tuple(request.POST.getlist("confirmed")),
        trace=posted_openings(request, assignment, at) | posted_view(request, assignment),
        draft_version=parse_int(request.POST.get("draft_version"), default=None),
        from_pack=is_from_pack(request),
    )
    try:
        done = answer_services.submit(assignment, assignment.rater, submission, at)
    except answer_services.InvalidAnswers as refused:
        refusal = RejectedAnswers(submission.raw, refused.parsed, submission.confirmed, submission.trace)
        return respond_with_errors(request, assignment, at, refusal)
    except answer_services.AlreadyAnswered:
        return show_conflict(request, assignment, at, submission)
    except answer_services.AssignmentStateError as refused:
        return respond_with_refusal(request, assignment, at, refused.reason, submission.raw)
    if done.changed:
        return to_history(request, _("Your new answer is saved."))
    late = not_counted_note(done.annotation) if is_from_pack(request) and done.annotation.at_submit else ""
    return respond_with_next(
        request, assignment, done.work, at, gave=done.annotation, notice=late, tallied=done.progress
    )


def refusal_text(assignment: Assignment, reason: str) -> str:
    """Why an answer was not taken. Only a change leaves one that stays."""
    if reason == "decided":
        return _("This answer has been reviewed, so it cannot be changed.")
    if assignment.state != Assignment.State.SUBMITTED:
        return _(
            "Your last answer was not submitted, because the item is no longer open to you. Here is your next item."
        )
    return str(STAYS) if reason == "campaign_closed" else _("Your answer was not changed.")


def to_history(request: HttpRequest, words: str) -> HttpResponse:
    """Where a change began. A script is told to go there."""
    messages.info(request, words)
    to = reverse("annotation:history")
    return JsonResponse({"go": to}) if is_script_request(request) else redirect(to)


def respond_with_errors(
    request: HttpRequest, assignment: Assignment, at: datetime, refusal: RejectedAnswers
) -> HttpResponse:
    """The same sheet with what is wrong; nothing that was written is emptied."""
    place = place_of(assignment)
    work_page = build_work_page(current_user(request), place, Work(None, None, None), at)
    return render_errors(request, place, replace(work_page, hand=build_sheet_view(assignment, at, refusal)))


def render_errors(request: HttpRequest, place: CampaignCohort, work_page: WorkPage) -> HttpResponse:
    if is_script_request(request):
        return fragment_response(request, work_page, 422)
    context = {"work_page": work_page, "instructions": instructions_of(place), "reasons": reasons_of(place)}
    return render(request, "annotation/sheet/page.html", context, status=422)


def show_conflict(
    request: HttpRequest, assignment: Assignment, at: datetime, submission: answer_services.Submission
) -> HttpResponse:
    """Another window answered it. Where it says something else, both are shown, and nothing that was written goes."""
    live = Annotation.objects.filter(assignment=assignment, live=True).first()
    written = {key: value for key, value in submission.raw.items() if value not in ("", [], {}, None)}
    if live is None or not written or written == live.answers:
        return respond_with_open_work(
            request, assignment, at, _("This item was answered in another window. Here is the next item.")
        )
    try:
        work = undo_and_conflicts.save_conflicting_answer(
            assignment, assignment.rater, submission.raw, submission.trace, at
        )
    except answer_services.AssignmentStateError as refused:
        return respond_with_refusal(request, assignment, at, refused.reason, written)
    place = place_of(assignment)
    work_page = build_work_page(current_user(request), place, work, at)
    assert work_page.hand is not None
    other = answer_texts(assignment, live)
    return render_errors(request, place, replace(work_page, hand=replace(work_page.hand, other=other)))


def respond_with_refusal(
    request: HttpRequest, assignment: Assignment, at: datetime, reason: str, written: Mapping[str, Any]
) -> HttpResponse:
    """An answer that is not stored. The header keeps a script from calling it saved."""
    words = [refusal_text(assignment, reason), *typed_texts(assignment, written)]
    response = respond_with_open_work(request, assignment, at, " ".join(words))
    response.headers["X-Emic-Refused"] = reason
    return response


def typed_texts(assignment: Assignment, written: Mapping[str, Any]) -> list[str]:
    """What was typed, where its sheet may not be shown again: it can be read and copied."""
    sheet = sheet_of(assignment.campaign.sheet_version)
    texts = [str(written[one.key]) for one in sheet.fields if sheet.level(one.key) == "text" and written.get(one.key)]
    return [_("What you wrote here: %(text)s") % {"text": " / ".join(texts)}] if texts else []


def respond_with_open_work(request: HttpRequest, assignment: Assignment, at: datetime, notice: str) -> HttpResponse:
    if is_from_pack(request):
        return respond_with_next(request, assignment, answer_services.NO_NEXT, at, notice=notice)
    work = next_work.get_or_claim_work(assignment.rater, place_of(assignment), at)
    return respond_with_next(request, assignment, work, at, notice=notice)


@own_assignment_required
def skip(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    reasons = [row["code"] for row in assignment.campaign.stage.skip_reasons]
    reason, note = request.POST.get("reason", ""), posted_text(request, "note")
    if reason not in reasons:
        return respond_with_open_work(request, assignment, at, _("Choose a reason, then skip."))
    try:
        work = answer_services.skip(
            assignment, assignment.rater, reason, note[:300], at, from_pack=is_from_pack(request)
        )
    except (answer_services.AlreadyAnswered, answer_services.AssignmentStateError):
        return respond_with_open_work(
            request, assignment, at, _("This item is no longer assigned to you. Here is the next.")
        )
    assignment.refresh_from_db(fields=["state", "skip_reason", "changed_at"])
    return respond_with_next(request, assignment, work, at)


@own_assignment_required
def undo(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    skipped = posted_version(request) == 0  # the strip was about a skip
    try:
        if skipped:
            work = undo_and_conflicts.undo_skip(assignment, assignment.rater, at)
            assignment.refresh_from_db(fields=["state", "changed_at"])  # there is nothing more to take back
        else:
            work = answer_services.undo(assignment, assignment.rater, at, posted_version(request))
    except answer_services.AssignmentStateError as refused:
        if undo_and_conflicts.is_taken_back(assignment, posted_version(request)):
            return respond_with_open_work(request, assignment, at, "")  # the reply was lost, and it is asked for again
        words = _("It is too late to undo this. You can still change it under “Your answers”.")
        if skipped:
            words = _("This skip can no longer be undone. You can still answer the item under “Your answers”.")
        elif refused.reason in answer_services.KEPT_ONLY or refused.reason == "another_version":
            words = _("This can no longer be undone. Your answer was not changed.")
        return respond_with_open_work(request, assignment, at, words)
    if not is_script_request(request):
        return to_sheet(assignment, f"?change={assignment.pk}")
    return respond_with_next(request, assignment, work, at)


def posted_version(request: HttpRequest) -> int | None:
    return parse_int(request.POST.get("version"), default=None)


@own_assignment_required
def report(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    try:
        problem_reports.report_problem(assignment, assignment.rater, posted_text(request, "text").strip()[:4000], at)
        words, status = _("Thank you. The researchers will look at it."), 200
    except answer_services.AssignmentStateError as refused:
        words, status = _("Describe the problem in a few words."), 422
        if refused.reason == "enough_reports":
            words = _("You have reported this item several times. The researchers will look at it.")
    if is_script_request(request):
        return JsonResponse({"words": words}, status=status)
    messages.info(request, words)
    return to_sheet(assignment)


@own_assignment_required
def draft(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    """Save what is not submitted yet. An older window is told, and overwrites nothing."""
    sheet = sheet_of(assignment.campaign.sheet_version)
    version = parse_int(request.POST.get("draft_version"))
    try:
        trace = posted_openings(request, assignment, at)
        saved = drafts.save(assignment.pk, assignment.rater, sheet.read_form(request.POST), version, at, trace)
    except drafts.DraftConflict as conflict:
        newer = conflict.current
        return JsonResponse({"version": newer.version, "saved_at": newer.saved_at.isoformat()}, status=409)
    except drafts.DraftTooLong:
        return JsonResponse({"words": _("This is too long to be kept as a draft. Make it shorter.")}, status=413)
    except (answer_services.AlreadyAnswered, answer_services.AssignmentStateError):
        words = _("This item was answered in another window.")
        return JsonResponse({"words": words}, status=410)
    return JsonResponse({"version": saved.version, "saved_at": saved.saved_at.isoformat()})


def posted_openings(request: HttpRequest, assignment: Assignment, at: datetime) -> Trace:
    part = Layout.from_json(assignment.campaign.stage.layout).part
    return parse_openings(request.POST.get("trace", ""), part, assignment.reserved_at, at)


def posted_view(request: HttpRequest, assignment: Assignment) -> Trace:
    fields = {field.key for field in sheet_of(assignment.campaign.sheet_version).fields}
    view = parse_view(request.POST.get("view", ""), fields)
    return {"view": view} if view else {}


def posted_text(request: HttpRequest, name: str) -> str:
    return str(strip_nul(request.POST.get(name, "")))


def posted_seconds(value: str) -> float | None:
    """What a browser measured; the service keeps it to what is possible."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
