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
from annotation.views.answers import is_script_request
from people.models import Rater
from people.pages.tabs import tabs_for
from people.services.raters import rater_of
from people.views.request_helpers import current_user


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
    chosen_option: QuizOption
    right: list[QuizOption]


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def ready(request: HttpRequest, campaign_id: int) -> HttpResponse:
    user, at = current_user(request), timezone.now()
    place, rater = open_work_for(user, campaign_id), rater_of(user)
    refused = check_gate(place.pk, rater.pk, at).refused
    readiness_state = readiness.readiness_of(place, rater, language())
    if refused in SHUTS_OUT or readiness_state is None:
        return redirect("annotation:sheet", campaign_id)
    if request.method == "POST":
        return _perform_action(request, place, rater, readiness_state)
    context = _context(request, place, rater, readiness_state) | {
        "nav": tabs_for(user, "work"),
        "waits": refused == "not_ready",
    }
    response = render(request, "annotation/protocol/ready.html", context)
    films = sorted({material.origin for material in readiness_state.parts.materials if material.plays})
    if films:
        response._csp_update = {"media-src": films}  # type: ignore[attr-defined]  # read by the policy's middleware
    return response


def _context(
    request: HttpRequest, place: CampaignCohort, rater: Rater, readiness_state: ReadinessState
) -> dict[str, Any]:
    materials = readiness_state.parts.materials
    asked = request.GET.get("open", "")
    waiting = next((material.key for material in materials if not _is_done(readiness_state, material)), "")
    opened = asked if readiness_state.parts.material(asked) else waiting
    at = timezone.now()
    steps = [
        MaterialStep(
            material,
            _is_done(readiness_state, material),
            readiness_state.seconds_left(material.key),
            readiness.sign_ticket(readiness_state, rater, material.key, at) if material.key == opened else "",
        )
        for material in materials
    ]
    quiz = readiness_state.parts.quiz
    unanswered = [question for question in quiz if question.key not in readiness_state.answers]
    explained = _quiz_feedback(readiness_state, request.GET.get("after", ""))
    return {
        "place": place,
        "found": readiness_state,
        "body": readiness_state.text.body.replace("{target}", place.cohort.name),
        "steps": steps,
        "question": unanswered[0] if unanswered and readiness_state.is_all_seen and not explained else None,
        "explained": explained,
        "number": len(quiz) - len(unanswered) + 1,
        "over": bool(quiz) and not unanswered,
        "right": readiness_state.parts.count_right_answers(readiness_state.answers),
    }


def _is_done(readiness_state: ReadinessState, material: Material) -> bool:
    return material.key in readiness_state.seen and not readiness_state.seconds_left(material.key)


def _quiz_feedback(readiness_state: ReadinessState, key: str) -> QuizFeedback | None:
    question = readiness_state.parts.question(key)
    chosen_option = question.option(readiness_state.answers.get(key, "")) if question else None
    if question is None or chosen_option is None:
        return None
    return QuizFeedback(question, chosen_option, [option for option in question.options if option.right])


def _perform_action(
    request: HttpRequest, place: CampaignCohort, rater: Rater, readiness_state: ReadinessState
) -> HttpResponse:
    at, act = timezone.now(), request.POST.get("act", "")
    page_url = reverse("annotation:ready", args=[place.campaign_id])
    if act == "seen":
        return _record_viewing(request, place, rater, readiness_state)
    if act == "answer":
        key = request.POST.get("question", "")
        readiness_state = readiness.answer_question(
            place, rater, readiness_state, key, request.POST.get("option", ""), at
        )
        if key not in readiness_state.answers:
            messages.info(request, _("Choose one of the answers."))
            return redirect(f"{page_url}#quiz")
        return redirect(f"{page_url}?after={key}#quiz")
    if act == "again":
        readiness.restart_quiz(place, rater, readiness_state, at)
        return redirect(f"{page_url}#quiz")
    if readiness.confirm_read(place, rater, readiness_state, at):
        return redirect("annotation:sheet", place.campaign_id)
    messages.info(request, _("You have not finished all the material. The unfinished part is open now."))
    return redirect(page_url)


def _record_viewing(
    request: HttpRequest, place: CampaignCohort, rater: Rater, readiness_state: ReadinessState
) -> HttpResponse:
    """A script says now and then how long the material was really in view; a button says that one is through."""
    key, seconds_text = request.POST.get("material", ""), request.POST.get("seconds", "")
    seconds = _seconds(seconds_text)
    readiness_state = readiness.add_viewing_time(
        place, rater, readiness_state, key, request.POST.get("ticket", ""), seconds, timezone.now()
    )
    left = readiness_state.seconds_left(key)
    if is_script_request(request):
        return JsonResponse({"left": left})
    page_url = reverse("annotation:ready", args=[place.campaign_id])
    if left:
        text = ngettext(
            "Please spend %(n)s more second on this part.", "Please spend %(n)s more seconds on this part.", left
        )
        messages.info(request, text % {"n": left})
        return redirect(f"{page_url}?open={key}#m-{key}")
    return redirect(f"{page_url}#next")


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else 0.0
