"""What a team asks its people to agree to, and how they withdraw."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.services.answers import consent as services
from annotation.services.answers.consent import Agreement
from people.access import team_for_consent
from people.models import ConsentText, ConsentVersion, Team, User
from people.pages.tabs import tabs_for
from people.services import consent
from people.views.request_helpers import current_user, next_url


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def agree(request: HttpRequest, team_id: int) -> HttpResponse:
    """What the team asks its people to agree to, before they work."""
    user = current_user(request)
    team = team_for_consent(user, team_id)
    version = consent.current_version(team)
    wanted = request.POST.get("language") or request.GET.get("language") or translation.get_language() or "en"
    text = consent.text_for(version, wanted) if version else None
    if request.method == "POST" and version and text:
        if request.POST.get("version") == str(version.pk):
            count_earlier = request.POST.get("earlier") == "count"
            _report(request, services.agree(user, version, text.language, count_earlier=count_earlier))
            return HttpResponseRedirect(next_url(request, "annotation:work"))
        messages.warning(request, _("The text changed while you were reading. Read the new version and decide again."))
    return _show(request, user, team, version, text)


def _show(
    request: HttpRequest, user: User, team: Team, version: ConsentVersion | None, text: ConsentText | None
) -> HttpResponse:
    context = {
        "team": team,
        "version": version,
        "text": text,
        "languages": version.texts.order_by("language").values_list("language", flat=True) if version else [],
        "agreed": version and consent.has_consented(user, team),
        "earlier": services.count_withdrawn(user, team),
        "next": next_url(request, "annotation:work"),
        "nav": tabs_for(user),
    }
    return render(request, "annotation/consent/page.html", context)


def _report(request: HttpRequest, agreement: Agreement) -> None:
    if agreement.counted:
        text = ngettext("%(n)s earlier answer counts again.", "%(n)s earlier answers count again.", agreement.counted)
        messages.info(request, text % {"n": agreement.counted})
    if agreement.waiting:
        text = ngettext(
            "%(n)s earlier answer is kept and not counted: others have answered in the meantime.",
            "%(n)s earlier answers are kept and not counted: others have answered in the meantime.",
            agreement.waiting,
        )
        messages.info(request, text % {"n": agreement.waiting})


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: HttpRequest, team_id: int) -> HttpResponse:
    """Withdraw the consent to a team. The answers stay stored and are left out of figures and files."""
    user = current_user(request)
    team = team_for_consent(user, team_id)
    if request.method == "POST":
        answers = services.count_to_withdraw(user, team)
        if services.withdraw(user, team, timezone.now()) is not None:
            messages.info(request, _withdrawal_message(answers))
        return redirect("people:me")
    if not consent.has_any_consent(user, team):
        return redirect("people:me")
    context = {"team": team, "answers": services.count_to_withdraw(user, team), "nav": tabs_for(user)}
    return render(request, "annotation/consent/withdraw.html", context)


def _withdrawal_message(answers: int) -> str:
    if not answers:
        return _("Done. You get no more work from this team. If you change your mind, you can agree again at any time.")
    text = ngettext(
        "Your %(n)s answer is no longer counted. You can agree again at any time.",
        "Your %(n)s answers are no longer counted. You can agree again at any time.",
        answers,
    )
    return text % {"n": answers}
