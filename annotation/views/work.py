"""The annotator's home, and the sheet page."""

from datetime import datetime

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.access import assignment_for, open_work_for
from annotation.models import Annotation, Assignment
from annotation.pages import sheet_view
from annotation.pages.home import home_of
from annotation.queries.gate import SHUTS_OUT
from annotation.services.answers import submit
from annotation.services.queue import next_work
from annotation.services.queue.next_work import Work
from annotation.views.answers import fragment_response, is_script_request
from jobs.formats.numbers import parse_id
from people.models import User
from people.pages.tabs import tabs_for
from people.services.raters import rater_of
from people.views.request_helpers import current_user


@never_cache
@login_required
@require_safe
def work(request: HttpRequest) -> HttpResponse:
    user = current_user(request)
    home = home_of(user, timezone.now())
    return render(request, "annotation/work.html", {"home": home, "nav": tabs_for(user, "work")})


@never_cache
@login_required
@require_safe
def sheet(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """What is in hand, or the answer that is opened for a change, or why there is nothing."""
    user, at = current_user(request), timezone.now()
    place = open_work_for(user, campaign_id)
    claimed = next_work.get_or_claim_work(rater_of(user), place, at)
    if claimed.no_work and claimed.no_work.reason == "no_consent" and not is_script_request(request):
        query = urlencode({"next": request.get_full_path()})
        return redirect(f"{reverse('annotation:consent', args=[place.cohort.team_id])}?{query}")
    if (
        claimed.no_work
        and claimed.no_work.reason == "not_ready"
        and "change" not in request.GET
        and not is_script_request(request)
    ):
        return redirect("annotation:ready", campaign_id)
    changed = reopened_assignment(user, campaign_id, request.GET.get("change", ""))
    if changed is not None and not (claimed.no_work and claimed.no_work.reason in SHUTS_OUT):
        claimed = Work(changed, claimed.current if claimed.current != changed else claimed.prefetched, None)
    undo = previous_answer(user, campaign_id, request.GET.get("after", ""), at)
    work_page = sheet_view.build_work_page(user, place, claimed, at, undo=undo)
    if is_script_request(request):
        return fragment_response(request, work_page)
    context = {"work_page": work_page, "asked": request.GET.get("open", "")}
    context |= {"instructions": sheet_view.instructions_of(place), "reasons": sheet_view.reasons_of(place)}
    return render(request, "annotation/sheet/page.html", context)


def own_assignment(user: User, campaign_id: int, assignment_text: str) -> Assignment | None:
    """An assignment named in the address; None when it is not this person's, or of another campaign."""
    try:
        assignment = assignment_for(user, parse_id(assignment_text))
    except Http404:
        return None
    return assignment if assignment.campaign_id == campaign_id else None


def reopened_assignment(user: User, campaign_id: int, assignment_text: str) -> Assignment | None:
    """An answer opened for a change has a draft until it is submitted again. What was skipped may be taken up again."""
    assignment = own_assignment(user, campaign_id, assignment_text)
    if assignment is not None and assignment.state == Assignment.State.SKIPPED:
        return assignment
    if assignment is None or assignment.state in submit.DECIDED or getattr(assignment, "draft", None) is None:
        return None
    return assignment


def previous_answer(user: User, campaign_id: int, assignment_text: str, at: datetime) -> sheet_view.UndoOffer | None:
    """Without a script, the answer just given is named in the address."""
    assignment = own_assignment(user, campaign_id, assignment_text)
    if assignment is None:
        return None
    return sheet_view.undo_offer(assignment, Annotation.objects.filter(assignment=assignment, live=True).first(), at)
