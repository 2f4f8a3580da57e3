from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from people.access import team_to_agree_with
from people.forms.persons import ProfileForm
from people.models import Consent
from people.services import consent, memberships, profiles
from people.tabs import tabs_for
from people.views.asking import next_url, person


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def me(request: HttpRequest) -> HttpResponse:
    """My name, language and time zone; my cohorts; what I agreed to."""
    user = person(request)
    form = ProfileForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        profiles.change(user, **{key: form.cleaned_data[key] for key in ("name", "language", "time_zone")})
        with translation.override(form.cleaned_data["language"] or translation.get_language()):
            messages.info(request, _("Kept."))
        return redirect("people:me")
    given = Consent.objects.filter(user=user, withdrawn_at__isnull=True).select_related("version__team")
    context = {
        "form": form,
        "cohorts": memberships.active_cohorts(user),
        "consents": given.order_by("version__team__name", "-version__number"),
        "programs": user.is_staff or user.team_memberships.exists(),
        "nav": tabs_for(user, "me"),
    }
    return render(request, "people/me.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def agree(request: HttpRequest, team_id: int) -> HttpResponse:
    """What the team asks its people to agree to, before they work."""
    user = person(request)
    team = team_to_agree_with(user, team_id)
    version = consent.current_version(team)
    wanted = request.POST.get("language") or request.GET.get("language") or translation.get_language() or "en"
    text = consent.text_for(version, wanted) if version else None
    if request.method == "POST" and version and text:
        if request.POST.get("version") == str(version.pk):
            consent.agree(user, version, text.language)
            return redirect(next_url(request, "annotation:work"))
        messages.warning(request, _("The text changed while you read. This is the new one."))
    context = {
        "team": team,
        "version": version,
        "text": text,
        "languages": version.texts.order_by("language").values_list("language", flat=True) if version else [],
        "agreed": version and consent.has_consented(user, team),
        "next": next_url(request, "annotation:work"),
        "nav": tabs_for(user),
    }
    return render(request, "people/consent.html", context)


@login_required
@require_POST
def withdraw(request: HttpRequest, team_id: int) -> HttpResponse:
    """Take consent back. What was answered before stays; nothing new is handed out."""
    user = person(request)
    team = team_to_agree_with(user, team_id)
    if consent.withdraw(user, team, timezone.now()):
        messages.info(request, _("Your consent is withdrawn. You get no more work until you agree again."))
    return redirect("people:me")
