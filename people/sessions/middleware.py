from typing import Any

from django.conf import settings
from django.contrib import auth
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from people.models import User

BACKEND = "django.contrib.auth.backends.ModelBackend"


class SessionUserMiddleware(AuthenticationMiddleware):
    """As Django's, but the person who was read with the session is not read once more."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        person: Any = SimpleLazyObject(lambda: user_of(request))
        request.user = person


def user_of(request: HttpRequest) -> User | AnonymousUser:
    """Who is signed in. Whatever is unusual, and every refusal, is left to Django."""
    session = request.session
    owner = session.get(auth.SESSION_KEY)
    person: User | None = getattr(session, "person", None)
    if (
        person is not None
        and person.is_active
        and str(person.pk) == owner
        and session.get(auth.BACKEND_SESSION_KEY) == BACKEND
        and BACKEND in settings.AUTHENTICATION_BACKENDS
        and constant_time_compare(session.get(auth.HASH_SESSION_KEY, ""), person.get_session_auth_hash())
    ):
        return person
    return auth.get_user(request)
