"""Withdrawing the items that are outside the present rule of their stage. Only for those who work on the benchmark."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation.services.derivation import outside_withdrawal
from benchmarks.access import stage_for
from people.views.request_helpers import current_user


@login_required
@require_POST
def withdraw(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    stage = stage_for(request.user, slug, stage_id)
    n = outside_withdrawal.withdraw(stage, current_user(request), timezone.now())
    messages.info(request, ngettext("%(n)s item was withdrawn.", "%(n)s items were withdrawn.", n) % {"n": n})
    return redirect("annotation:compose", slug, stage_id)
