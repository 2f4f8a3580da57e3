"""Before work: instructions, what is to be read or seen, a short quiz."""

import math
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access import open_work_for
from annotation.instructions.protocol import Material, QuizOption, QuizQuestion
from annotation.models import CampaignCohort
from annotation.pages.sheet_view import language
from annotation.queries.gate import SHUTS_OUT, check_gate
from annotation.services.campaigns import readiness
from annotation.services.campaigns.readiness import ReadinessState
from annotation.views.answers import is_script_request, person
from people.models import Rater
from people.services.raters import rater_of
from people.tabs import tabs_for


@dataclass(frozen=True)
class MaterialStep:
    """A material as it is for this person. `ticket` is set where it is open."""

    material: Material
    done: bool
    left: int
    ticket: str


@dataclass(frozen=True)
class QuizFeedback:
    """A question just answered."""

    question: QuizQuestion
    given: QuizOption
    right: list[QuizOption]


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def ready(request: HttpRequest, campaign_id: int) -> HttpResponse:
    user, at = person(request), timezone.now()
    place, rater = open_work_for(user, campaign_id), rater_of(user)
    refused = check_gate(place.pk, rater.pk, at).refused
    found = readiness.readiness_of(place, rater, language())
    if refused in SHUTS_OUT or found is None:
        return redirect("annotation:sheet", campaign_id)
    if request.method == "POST":
        return _done(request, place, rater, found)
    context = _context(request, place, rater, found) | {"nav": tabs_for(user, "work"), "waits": refused == "not_ready"}
    response = render(request, "annotation/protocol/ready.html", context)
    films = sorted({one.origin for one in found.parts.materials if one.plays})
    if films:
        response._csp_update = {"media-src": films}  # type: ignore[attr-defined]  # read by the policy's middleware
    return response


def _context(request: HttpRequest, place: CampaignCohort, rater: Rater, found: ReadinessState) -> dict[str, Any]:
    materials = found.parts.materials
    asked = request.GET.get("open", "")
    waiting = next((one.key for one in materials if not _is_done(found, one)), "")
    opened = asked if found.parts.material(asked) else waiting
    at = timezone.now()
    steps = [
        MaterialStep(
            one,
            _is_done(found, one),
            found.missing(one.key),
            readiness.sign_ticket(found, rater, one.key, at) if one.key == opened else "",
        )
        for one in materials
    ]
    unanswered = [one for one in found.parts.quiz if one.key not in found.answers]
    explained = _explained(found, request.GET.get("after", ""))
    return {
        "place": place,
        "found": found,
        "body": found.text.body.replace("{target}", place.cohort.name),
        "steps": steps,
        "question": unanswered[0] if unanswered and found.all_seen and not explained else None,
        "explained": explained,
        "number": len(found.parts.quiz) - len(unanswered) + 1,
        "over": bool(found.parts.quiz) and not unanswered,
        "right": found.parts.right(found.answers),
    }


def _is_done(found: ReadinessState, one: Material) -> bool:
    return one.key in found.seen and not found.missing(one.key)


def _explained(found: ReadinessState, key: str) -> QuizFeedback | None:
    question = found.parts.question(key)
    given = question.option(found.answers.get(key, "")) if question else None
    if question is None or given is None:
        return None
    return QuizFeedback(question, given, [one for one in question.options if one.right])


def _done(request: HttpRequest, place: CampaignCohort, rater: Rater, found: ReadinessState) -> HttpResponse:
    at, act = timezone.now(), request.POST.get("act", "")
    here = reverse("annotation:ready", args=[place.campaign_id])
    if act == "seen":
        return _record_viewing(request, place, rater, found)
    if act == "answer":
        key = request.POST.get("question", "")
        found = readiness.answer_question(place, rater, found, key, request.POST.get("option", ""), at)
        if key not in found.answers:
            messages.info(request, _("Choose one of the answers."))
            return redirect(f"{here}#quiz")
        return redirect(f"{here}?after={key}#quiz")
    if act == "again":
        readiness.restart_quiz(place, rater, found, at)
        return redirect(f"{here}#quiz")
    if readiness.confirm_read(place, rater, found, at):
        return redirect("annotation:sheet", place.campaign_id)
    messages.info(request, _("Something is not read or seen yet. It is open now."))
    return redirect(here)


def _record_viewing(request: HttpRequest, place: CampaignCohort, rater: Rater, found: ReadinessState) -> HttpResponse:
    """A script says now and then how long the material was really in view; a button says that one is through."""
    key, said = request.POST.get("material", ""), request.POST.get("seconds", "")
    seconds = _seconds(said)
    found = readiness.add_viewing_time(
        place, rater, found, key, request.POST.get("ticket", ""), seconds, timezone.now()
    )
    left = found.missing(key)
    if is_script_request(request):
        return JsonResponse({"left": left})
    here = reverse("annotation:ready", args=[place.campaign_id])
    if left:
        text = ngettext("Take %(n)s more second for it.", "Take %(n)s more seconds for it.", left)
        messages.info(request, text % {"n": left})
        return redirect(f"{here}?open={key}#m-{key}")
    return redirect(f"{here}#next")


def _seconds(said: str) -> float | None:
    try:
        number = float(said)
    except ValueError:
        return None
    return number if math.isfinite(number) else 0.0
