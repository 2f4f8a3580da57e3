"""Withdrawing an item and restoring it. For those who work on the benchmark."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.access import item_for
from annotation.pages.item_withdrawals import REFUSED
from annotation.services.revisions import item_withdrawals
from benchmarks.access import benchmark_for
from people.views.request_helpers import current_user


@login_required
@require_POST
def withdraw_item(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    item, user = item_for(benchmark_for(request.user, slug, can="work_on"), item_id), current_user(request)
    return _perform(
        request, slug, item_id, lambda: item_withdrawals.withdraw(item, user, timezone.now()),
        _("The item is withdrawn."),
    )  # fmt: skip


@login_required
@require_POST
def restore_item(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    item, user = item_for(benchmark_for(request.user, slug, can="work_on"), item_id), current_user(request)
    return _perform(
        request, slug, item_id, lambda: item_withdrawals.restore(item, user), _("The item is in use again.")
    )


def _perform(request: HttpRequest, slug: str, item_id: int, act: Callable[[], None], done: str) -> HttpResponse:
    try:
        act()
    except item_withdrawals.WithdrawalRefused as error:
        messages.error(request, str(REFUSED[error.reason]))
    else:
        messages.success(request, done)
    return redirect(f"{reverse('benchmarks:item', args=[slug, item_id])}#withdrawal")
