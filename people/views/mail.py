"""Outgoing mail, for site admins: what became of each letter, and a test mail. Texts of letters are shown to nobody."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from people import access
from people.models import OutMail
from people.pages.tabs import tabs_for
from people.queries import mail_status
from people.services import mail as service
from people.views.request_helpers import current_user

SHOWN = 100  # of the latest letters


@never_cache
@login_required
@require_safe
def mail(request: HttpRequest) -> HttpResponse:
    if not access.is_site_admin_access(request.user, "mail"):
        raise Http404
    letters = OutMail.objects.exclude(kind=OutMail.Kind.NONE).order_by("-pk")[:SHOWN]
    context = {
        "letters": letters,
        "overview": mail_status.overview(),
        "nav": tabs_for(current_user(request), "status"),
    }
    return render(request, "people/mail.html", context)


@login_required
@require_POST
def mail_test(request: HttpRequest) -> HttpResponse:
    """To the admin's own address. The page that follows shows what the mail server answers."""
    if not current_user(request).is_staff:
        raise Http404
    service.mail_test(current_user(request), timezone.now())
    return redirect("people:mail")
