"""Messages to a cohort: written by its managers, read by its members."""

from datetime import UTC

from django.contrib import messages as notices
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from people import access
from people.forms.teams import MessageForm
from people.locales.time_zones import zone_named
from people.pages.tabs import tabs_for
from people.queries import mail_status
from people.services import memberships
from people.services import messages as services
from people.views.request_helpers import current_user


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def messages(request: HttpRequest, cohort_id: int) -> HttpResponse:
    """What was said to the cohort, who has read it, and a new one."""
    cohort = access.cohort_for(request.user, cohort_id, manage=True)
    form = MessageForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        services.send(cohort, current_user(request), form.cleaned_data["body"], timezone.now())
        notices.success(request, _("The message is on the members' pages."))
        return redirect("people:messages", cohort.pk)
    context = {
        "cohort": cohort,
        "part": "messages",
        "zone": zone_named(current_user(request).time_zone or cohort.time_zone) or UTC,
        "form": form,
        "sent": services.messages_of_cohort(cohort),
        "no_mail_server": not mail_status.has_mail_server(),
        "active": memberships.active_members(cohort).count(),
        "nav": tabs_for(current_user(request), "teams"),
        "who_place": cohort.team.name,
    }
    return render(request, "people/messages.html", context)


@login_required
@require_POST
def withdraw(request: HttpRequest, message_id: int) -> HttpResponse:
    message = access.message_for(request.user, message_id)
    if services.withdraw(message, current_user(request), timezone.now()):
        notices.info(request, _("The message is hidden. E-mails already sent cannot be recalled."))
    return redirect("people:messages", message.cohort_id)


@login_required
@require_POST
def read(request: HttpRequest, message_id: int) -> HttpResponse:
    """A member has read it: it is not shown again."""
    services.mark_read(access.received_message(request.user, message_id), current_user(request), timezone.now())
    return redirect("annotation:work")
