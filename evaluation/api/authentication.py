"""Who asks: a person in a browser, or a program with a token of theirs. Both may read what the person may read."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.throttling import UserRateThrottle

from people.models import ApiToken, User
from people.services.tokens import find_token


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. What looks like a token and is none is refused, not passed over."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        kind, *rest = get_authorization_header(request).split() or [b""]
        if kind.lower() != b"bearer":
            return None
        token = find_token(rest[0].decode("latin-1"), timezone.now()) if len(rest) == 1 else None
        if token is None:
            raise AuthenticationFailed(
                _("Invalid token: it is mistyped, expired or revoked, or a new password was set.")
            )
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token made under Me, Tokens for programs."}


class Throttle(UserRateThrottle):
    """Each person's requests, all their programs together. Counted in each process of the site on its own, in Django's
    cache: without a cache server that is the process's memory, so the limit is at least this, and nothing breaks."""

    scope = "person"
