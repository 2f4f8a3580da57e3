"""The two links that open a door: an invitation, and a sign-in link. Looking at them changes nothing."""

from functools import wraps
from typing import Any, Protocol

from django.contrib.auth import login, update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from people.forms.persons import ConfirmForm, JoinForm, RegisterForm
from people.models import ConsentText, Invitation, User
from people.queries import mail_status
from people.services import confirmations, consent, links
from people.views.request_helpers import current_user

BACKEND = "django.contrib.auth.backends.ModelBackend"


class TokenView(Protocol):
    def __call__(self, request: HttpRequest, token: str) -> HttpResponse: ...


def explains_refusal(view: TokenView) -> TokenView:
    """A link that does not work says why, in one page; an unknown one is not found."""

    @wraps(view)
    def wrapped(request: HttpRequest, token: str) -> HttpResponse:
        try:
            return view(request, token)
        except links.LinkRefused as refused:
            status = 404 if refused.reason == "unknown" else 410
            return render(request, "people/link_refused.html", {"reason": refused.reason}, status=status)

    return wrapped


def _consent_text(invitation: Invitation) -> ConsentText | None:
    """People who join a cohort agree to the team's text; researchers are not asked."""
    version = consent.current_version(invitation.team) if invitation.cohort else None
    return consent.text_for(version, translation.get_language() or "en") if version else None


def _complete_joining(request: HttpRequest, user: User, text: ConsentText | None) -> HttpResponse:
    """Agreement is to the text that was shown; if another came into force meanwhile, work will ask for that one."""
    if text and request.POST.get("version") == str(text.version_id):
        consent.agree(user, text.version, text.language)
    return redirect("home")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@explains_refusal
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Who is signed in joins; anybody else makes an account. Either way the link is then used up."""
    at = timezone.now()
    invitation = links.find_invitation(token, at)
    text = _consent_text(invitation)
    known = request.user.is_authenticated
    form_class = JoinForm if known else RegisterForm
    initial = {"email": invitation.email}
    form = form_class(request.POST or None, asks_consent=text is not None, initial=initial)
    if request.method == "POST" and form.is_valid():
        if known:
            links.accept(invitation, current_user(request), at)
            current_user(request).refresh_from_db(fields=["sessions_ended"])
            update_session_auth_hash(request, current_user(request))  # whoever accepts stays signed in
            return _complete_joining(request, current_user(request), text)
        response = _register(request, form, invitation, text)
        if response is not None:
            return response
    context = {"invitation": invitation, "form": form, "text": text, "path": request.path}
    return render(request, "people/invitation.html", context)


def _register(
    request: HttpRequest, form: JoinForm, invitation: Invitation, text: ConsentText | None
) -> HttpResponse | None:
    """Make the account and sign in, or ask for a confirmation of the address; or say on the form why neither."""
    data: dict[str, Any] = form.cleaned_data
    zone = data["time_zone"] or (invitation.cohort.time_zone if invitation.cohort else "")
    language = translation.get_language() or "en"
    new = links.NewPerson(data["email"], data["name"], data["password"], language, zone)
    try:
        if confirmations.needs_confirmation(invitation, new.email):
            return _ask_confirmation(request, form, invitation, new)
        user = links.register(invitation, new, timezone.now())
    except links.LinkRefused as refused:
        if refused.reason != "registered":
            raise
        form.add_error(
            "email",
            _(
                "This address cannot be used with this invitation. If it is yours, sign in first, "
                "then open this link again."
            ),
        )
        return None
    login(request, user, backend=BACKEND)
    return _complete_joining(request, user, text)


def _ask_confirmation(
    request: HttpRequest, form: JoinForm, invitation: Invitation, new: links.NewPerson
) -> HttpResponse | None:
    """Another address than the one that the invitation was mailed to: its owner has to open a link first."""
    if not mail_status.has_mail_server():
        words = _("This invitation is for %(email)s. No mail server is set up, so another address cannot be confirmed.")
        form.add_error("email", words % {"email": invitation.email})
        return None

    def link(token: str) -> str:
        return request.build_absolute_uri(reverse("people:confirm", args=[token]))

    try:
        confirmation = confirmations.ask(invitation, new, link, timezone.now())
    except confirmations.TooManyAddresses:
        words = _("Too many addresses were tried with this invitation. Use %(email)s, or ask for a new invitation.")
        form.add_error("email", words % {"email": invitation.email})
        return None
    return render(request, "people/confirm_sent.html", {"confirmation": confirmation})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@explains_refusal
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows a form, POST makes the account: a messenger that looks at the link does not use it up.

    Whoever opens the link owns the address; whoever typed it may be somebody else. So password and consent are the
    owner's, given here.
    """
    at = timezone.now()
    confirmation = confirmations.find(token, at)
    text = _consent_text(confirmation.invitation)
    form = ConfirmForm(request.POST or None, asks_consent=text is not None, confirmation=confirmation)
    if request.method == "POST" and form.is_valid():
        user = confirmations.confirm(confirmation, form.cleaned_data["password"], at)
        login(request, user, backend=BACKEND)
        return _complete_joining(request, user, text)
    cohort, team = confirmation.invitation.cohort, confirmation.invitation.team
    context = {"confirmation": confirmation, "place": cohort.name if cohort else team.name, "form": form, "text": text}
    return render(request, "people/confirm.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@explains_refusal
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows a button, POST signs in: a messenger that looks at the link does not use it up."""
    at = timezone.now()
    link = links.find_sign_in_link(token, at)
    if request.method != "POST":
        return render(request, "people/sign_in_link.html", {"link": link})
    other = request.user.is_authenticated and request.user.pk != link.user_id
    user = links.use_sign_in_link(link, at)
    login(request, user, backend=BACKEND)
    response = redirect("home")
    if other:
        response.headers["Clear-Site-Data"] = '"cache"'  # pages forget what else another person left: see base.js
    return response
