"""Returning an item with a comment, and undoing it. For those who may review in the benchmark."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.access import item_for, item_return_for
from annotation.pages.item_revisions import REFUSED
from annotation.services.revisions import returns
from annotation.services.revisions.returns import ReturnRefused
from annotation.sheets.sheet import strip_nul
from benchmarks.access import benchmark_for, is_permitted
from people.views.request_helpers import current_user


@login_required
@require_POST
def return_item(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    benchmark, user = benchmark_for(request.user, slug, can="review"), current_user(request)
    item = item_for(benchmark, item_id)
    try:
        returns.return_item(item.pk, user, str(strip_nul(request.POST.get("comment", ""))), timezone.now())
    except ReturnRefused as error:
        messages.error(request, str(REFUSED[error.reason]))
    else:
        messages.success(request, _("The item was returned with your comment."))
    return _back_to_item(slug, item_id)


@login_required
@require_POST
def undo_item_return(request: HttpRequest, slug: str, return_id: int) -> HttpResponse:
    benchmark, user = benchmark_for(request.user, slug, can="review"), current_user(request)
    row = item_return_for(benchmark, return_id)
    try:
        returns.undo_return(row.pk, user, timezone.now(), runs=is_permitted(user, benchmark, "work_on"))
    except ReturnRefused as error:
        messages.error(request, str(REFUSED[error.reason]))
    else:
        messages.success(request, _("The return was undone. The item is in use again."))
    return _back_to_item(slug, row.item_id)


def _back_to_item(slug: str, item_id: int) -> HttpResponse:
    return redirect(f"{reverse('benchmarks:item', args=[slug, item_id])}#revision-loop")
