from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from people import access
from people.forms.persons import ProfileForm
from people.models import Consent
from people.pages.tabs import tabs_for
from people.services import consent, memberships, profiles
from people.views.request_helpers import current_user, next_url

THEMES = ("auto", "light", "dark")


@require_POST
def appearance(request: HttpRequest) -> HttpResponse:
    """Light or dark, or as the device. Kept in a cookie: it belongs to the screen and its room, not to the person."""
    response = HttpResponseRedirect(next_url(request, "people:me"))
    if (theme := request.POST.get("theme")) in THEMES:
        response.set_cookie("emic_theme", theme, max_age=365 * 86400, samesite="Lax", httponly=True)
    return response


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
        "languages": access.visible_languages(user),
        "programs": user.is_staff or user.team_memberships.exists(),
        "nav": tabs_for(user, "me"),
    }
    return render(request, "people/me.html", context)
