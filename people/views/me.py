from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from people.forms.persons import ProfileForm
from people.models import Consent
from people.pages.tabs import tabs_for
from people.services import consent, memberships, profiles
from people.views.request_helpers import current_user


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def me(request: HttpRequest) -> HttpResponse:
    """My name, language and time zone; my cohorts; what I agreed to."""
    user = current_user(request)
    form = ProfileForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        profiles.change(user, **{key: form.cleaned_data[key] for key in ("name", "language", "time_zone")})
        with translation.override(form.cleaned_data["language"] or translation.get_language()):
            messages.info(request, _("Saved."))
        return redirect("people:me")
    consents = Consent.objects.filter(user=user, withdrawn_at__isnull=True).select_related("version__team")
    withdrawn = consent.withdrawn_teams(user)
    context = {
        "form": form,
        "cohorts": memberships.active_cohorts(user),
        "consents": consents.order_by("version__team__name", "-version__number"),
        "withdrawn": withdrawn,
        "programs": user.is_staff or user.team_memberships.exists(),
        "nav": tabs_for(user, "me"),
    }
    return render(request, "people/me.html", context)
