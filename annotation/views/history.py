"""What a person has answered and skipped, newest first; and opening an answer for a change."""

from datetime import datetime

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.models import Assignment
from annotation.pages.history import PAGE, Cursor, State, history_page
from annotation.services.answers import submit
from annotation.views.answers import STAYS, own_assignment_required, to_sheet
from people.pages.tabs import tabs_for
from people.views.request_helpers import current_user


@never_cache
@login_required
@require_safe
def history(request: HttpRequest) -> HttpResponse:
    before = Cursor.read(request.GET.get("before", ""))
    user = current_user(request)
    rows, more = history_page(user, PAGE, before)
    context = {"rows": rows, "more": more, "later": before is not None, "nav": tabs_for(user, "history")}
    return render(request, "annotation/history.html", context)


@own_assignment_required
def reopen_answer(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    """Open one's own answer again: it counts as it is until the new one is submitted. A skip stays until then."""
    if assignment.state == State.SKIPPED:
        return to_sheet(assignment, f"?change={assignment.pk}")
    try:
        submit.reopen(assignment.pk, assignment.rater, at)
    except submit.AssignmentStateError as refused:
        closed = refused.reason == "campaign_closed"
        messages.info(request, STAYS if closed else _("This answer can no longer be changed."))
        return redirect("annotation:history")
    return to_sheet(assignment, f"?change={assignment.pk}")


@own_assignment_required
def cancel_change(request: HttpRequest, assignment: Assignment, at: datetime) -> HttpResponse:
    """Back from a change, with the answer as it was."""
    try:
        submit.cancel_change(assignment, assignment.rater, at)
    except submit.AssignmentStateError:
        return to_sheet(assignment)
    messages.info(request, _("Your answer was not changed."))
    return redirect("annotation:history")
