"""Offline packs: taking one, its page, giving it back. Each person has only their own."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.access import open_work_for
from annotation.models import CampaignCohort
from annotation.pages import packs as pages
from annotation.services.queue import packs
from annotation.services.queue.packs import PackRefused
from annotation.views.answers import is_script_request
from jobs.formats.numbers import parse_id
from people.models import User
from people.services.raters import rater_of
from people.views.request_helpers import current_user


@never_cache
@login_required
@require_safe
def page(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """All sheets of a person's pack on one page, which their browser may keep for when there is no line."""
    user, at = current_user(request), timezone.now()
    place = open_work_for(user, campaign_id)
    pack = packs.pack_of(rater_of(user), place, at)
    return render(request, "annotation/pack/page.html", pages.pack_page(user, place, pack, at))


@never_cache
@login_required
@require_POST
def take(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Reserve a pack. Only a script can keep one on the device, so nobody else takes one."""
    user, at = current_user(request), timezone.now()
    place = open_work_for(user, campaign_id)
    if not is_script_request(request):
        return redirect("annotation:work")
    try:
        pack = packs.take_pack(rater_of(user), place, at)
    except PackRefused as refused:
        return JsonResponse({"words": pages.refusal_text(refused.reason, refused.until, user, place)}, status=409)
    return JsonResponse(_pack_json(user, place, [row.pk for row in pack], pack[0].lease_until or at, at))


def _pack_json(user: User, place: CampaignCohort, ids: list[int], until: datetime, at: datetime) -> dict[str, Any]:
    return {
        "assignments": ids,
        "until": until.isoformat(),
        "ends": pages.end_text(until, user, place),
        "now": at.isoformat(),
        "page": reverse("annotation:pack", args=[place.campaign_id]),
    }


@never_cache
@login_required
@require_POST
def give_back(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """All of a pack; with `assignment`, only those, as where a device has no room for them."""
    user = current_user(request)
    place = open_work_for(user, campaign_id)
    ids = [parse_id(text) for text in request.POST.getlist("assignment")]
    only = None if "assignment" not in request.POST else [pk for pk in ids if pk]
    released = packs.give_back(rater_of(user), place, timezone.now(), only)
    if is_script_request(request):
        return JsonResponse({"released": released})
    words = ngettext("%(n)s item was given back.", "%(n)s items were given back.", released)
    messages.info(request, words % {"n": released})
    return redirect("annotation:work")
