"""The one page of a site without an account: its first admin is made here."""

from django.contrib import messages
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from people.forms.persons import SetupForm
from people.services import site_setup
from people.services.limits import login_throttle_keys, sign_in_limit
from people.views.accept_links import BACKEND
from people.views.sign_in_limit import limit_failures


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@limit_failures
def page(request: HttpRequest) -> HttpResponse:
    """404 once the site has an account; who sends the form too late is led to sign in. A wrong key counts as a failed
    sign-in of its sender.
    """
    if site_setup.is_set_up():
        if request.method == "POST" and not request.user.is_authenticated:
            return _refuse_second(request)
        raise Http404
    form = SetupForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        response = _set_up(request, form)
        if response is not None:
            return response
    return render(request, "people/site_setup.html", {"form": form})


def _set_up(request: HttpRequest, form: SetupForm) -> HttpResponse | None:
    data = form.cleaned_data
    language = translation.get_language() or "en"
    try:
        user = site_setup.set_up(data["key"], data["email"], data["name"], data["password"], language)
    except site_setup.AlreadySetUp:
        return _refuse_second(request)
    except site_setup.WrongSetupKey:
        sign_in_limit.note_failure(login_throttle_keys.client_address(request), "site setup", timezone.now())
        form.add_error("key", _("This is not the setup key. Copy it from where the site was started."))
        return None
    login(request, user, backend=BACKEND)
    return redirect("home")


def _refuse_second(request: HttpRequest) -> HttpResponse:
    words = _("This site was set up a moment ago, so your account was not created. Ask its admin for an invitation.")
    messages.error(request, words)
    return redirect("people:sign_in")
