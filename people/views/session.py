"""Signing in without leaving the page: for a sheet whose session ended while somebody was writing."""

from django.contrib.auth import login
from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from people.forms.persons import SignInForm
from people.views.sign_in_limit import limit_failures


@limit_failures
@sensitive_post_parameters("password")
@never_cache
@ensure_csrf_cookie
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_on_page(request: HttpRequest) -> JsonResponse:
    """Who is signed in, by number; by POST, sign in. The answer brings a token that fits the session.

    `person` in the form says whose page it is: nobody else is signed in on it. A lock-out answers 429 (AxesMiddleware).
    """
    if request.method != "POST":
        return JsonResponse({"person": request.user.pk})
    form = SignInForm(request, data=request.POST)
    if not form.is_valid():
        words = [str(problem) for problems in form.errors.values() for problem in problems]
        return JsonResponse({"words": " ".join(dict.fromkeys(words))}, status=422)
    user = form.get_user()
    if str(user.pk) != request.POST.get("person"):
        words_for_others = _("This page was opened by another account. Go to the sign-in page to continue with yours.")
        return JsonResponse({"words": words_for_others}, status=409)
    login(request, user)
    return JsonResponse({"person": user.pk})
