"""What the views of this app share about requests."""

from collections.abc import Callable, Iterable
from datetime import datetime

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from people.models import Invitation, OutMail, User
from people.queries import mail_status
from people.services import links


def current_user(request: HttpRequest) -> User:
    """Who is asking. Only behind `login_required`."""
    assert isinstance(request.user, User)
    return request.user


def next_url(request: HttpRequest, otherwise: str) -> str:
    """The path that the request asks to continue with, if it is one of this site; else the page named `otherwise`.

    It begins with `/`. Redirect to it with HttpResponseRedirect: `redirect` would look for a view of that name first.
    """
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    is_local = wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, {request.get_host()})
    return wanted if is_local else reverse(otherwise)


def link_maker(request: HttpRequest) -> Callable[[str], str]:
    """Makes the address of an invitation's token, as this request reached the site."""
    return lambda token: request.build_absolute_uri(reverse("people:invitation", args=[token]))


def listed_invitations(rows: Iterable[Invitation], at: datetime) -> list[tuple[Invitation, str, OutMail | None]]:
    """Each invitation with its state and its letter, if it has one."""
    listed = list(rows)
    letters = mail_status.letters_of(f"invitation:{row.pk}" for row in listed)
    return [(row, links.link_state(row, at), letters.get(f"invitation:{row.pk}")) for row in listed]
