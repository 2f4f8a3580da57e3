"""Sign in, sign out, and passwords."""

from typing import Any
from urllib.parse import unquote, urlsplit

from axes.utils import reset
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.forms import AuthenticationForm
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from django.views.generic import FormView

from people.forms.persons import (
    ChangePasswordForm,
    PasswordResetRequestForm,
    PasswordSetForm,
    SignInForm,
    interface_language,
)
from people.models import User
from people.pages.tabs import tabs_for
from people.queries import mail_status
from people.services import link_revocation, mail, profiles, tokens
from people.services.limits import login_throttle_keys, password_limit
from people.views.request_helpers import current_user, next_url
from people.views.sign_in_limit import limit_failures, refuse_password_mail

CHOSEN_LANGUAGE = "chosen_language"  # in the session of a visitor who has not signed in yet


@method_decorator(limit_failures, "dispatch")
class SignIn(views.LoginView):
    template_name = "people/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_redirect_url(self, *args: Any) -> str:
        """The way on never leads back to this page: who is signed in would go round in a circle."""
        wanted = super().get_redirect_url()
        return "" if unquote(urlsplit(wanted).path) == self.request.path else wanted

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs, demo=settings.DEMO)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """A language that was chosen in this visit, before signing in, is the person's from now on. A cookie alone does
        not say so: another person of this device may have chosen it."""
        chosen = self.request.session.pop(CHOSEN_LANGUAGE, "")
        response = super().form_valid(form)
        if chosen:
            profiles.set_language(current_user(self.request), chosen)
        return response


class SignOut(views.LogoutView):
    """By POST only. The browser forgets what it kept for this person: drafts, pictures, what they took with them. With
    `keep`, answers wait there that could not be sent: the page has emptied the rest."""

    http_method_names = ["post", "options"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = super().post(request, *args, **kwargs)
        response.headers["Clear-Site-Data"] = '"cache"' if "keep" in request.POST else '"cache", "storage"'
        return response


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Speak another language: kept with the person, and in a cookie for pages before sign-in."""
    response = HttpResponseRedirect(next_url(request, "home"))
    code = interface_language(request.POST.get("language", ""))
    if code:
        if request.user.is_authenticated:
            profiles.set_language(current_user(request), code)
        else:
            request.session[CHOSEN_LANGUAGE] = code
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, code, max_age=365 * 86400, samesite="Lax", httponly=True)
    return response


class PasswordResetRequest(FormView):  # type: ignore[type-arg]
    template_name = "people/password_forgotten.html"
    form_class = PasswordResetRequestForm
    success_url = reverse_lazy("people:password_sent")

    def form_valid(self, form: PasswordResetRequestForm) -> HttpResponse:
        """Nothing here depends on whether the address has an account."""
        at = timezone.now()
        seconds = password_limit.note_request(login_throttle_keys.client_address(self.request), at)
        if seconds:
            return refuse_password_mail(self.request, seconds)
        site = self.request.build_absolute_uri("/")
        mail.ask_password(form.cleaned_data["email"], site, at)
        return super().form_valid(form)


class PasswordResetSent(views.PasswordResetDoneView):
    template_name = "people/password_sent.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Without a mail server the page says who can help; on this machine, which command."""
        local = not mail_status.is_public_site()
        return super().get_context_data(
            no_mail_server=not mail_status.has_mail_server(),
            local=local,
            site=self.request.build_absolute_uri("/"),
            **kwargs,
        )


class PasswordSet(views.PasswordResetConfirmView):
    template_name = "people/password_new.html"
    form_class = PasswordSetForm
    success_url = reverse_lazy("people:sign_in")

    def form_valid(self, form: Form) -> HttpResponse:
        """Whoever can read the mailbox is the person: a lock-out ends, and links made before stop working."""
        response = super().form_valid(form)  # type: ignore[arg-type]
        user = self.user
        assert isinstance(user, User)  # a form of somebody unknown is never valid
        reset(username=user.email.lower())
        link_revocation.revoke_sign_in_links(user, timezone.now())
        tokens.revoke_all(user, timezone.now())
        messages.info(self.request, _("The new password is set. Sign in with it."))
        return response


class ChangePassword(views.PasswordChangeView):
    template_name = "people/password_change.html"
    form_class = ChangePasswordForm
    success_url = reverse_lazy("people:me")

    def form_valid(self, form: Form) -> HttpResponse:
        response = super().form_valid(form)  # type: ignore[arg-type]
        link_revocation.revoke_sign_in_links(current_user(self.request), timezone.now())
        tokens.revoke_all(current_user(self.request), timezone.now())
        messages.info(self.request, _("The new password is set. Other devices have to sign in again."))
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(nav=tabs_for(current_user(self.request), "me"), **kwargs)
