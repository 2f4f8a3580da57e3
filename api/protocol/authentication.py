"""Who asks: a person in a browser, or a program with a token of theirs. It allows no more than its person may do."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import APIException, AuthenticationFailed, Throttled
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from api.protocol.request_counts import RateLimit, count_request
from people.models import ApiToken, User
from people.services.limits.login_throttle_keys import client_address
from people.services.tokens import find_token, is_allowed

MAX_FAILURES, FAILURE_SECONDS = 20, 60  # wrong tokens of one address


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. What looks like a token and is none is refused, not passed over."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        kind, *rest = get_authorization_header(request).split() or [b""]
        if kind.lower() != b"bearer":
            return None
        token = find_token(rest[0].decode("latin-1"), timezone.now()) if len(rest) == 1 else None
        if token is None:
            _count_failure(client_address(request))
            raise AuthenticationFailed(
                _("Invalid token: it is mistyped, expired or revoked, or a new password was set.")
            )
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def _count_failure(address: str) -> None:
    """Raises Throttled after too many. A valid token is never refused for others of the same address."""
    allowed, _states = count_request([RateLimit("failures", f"failures:{address}", MAX_FAILURES, FAILURE_SECONDS)])
    if not allowed:
        raise Throttled(FAILURE_SECONDS)


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token made under Me, Tokens for programs."}


class ScopeMissing(APIException):
    """The token does not allow this. `needs` is the scope that does."""

    status_code = 403
    default_code = "insufficient-scope"

    def __init__(self, needs: str) -> None:
        super().__init__(_("This token lacks the scope “%(scope)s”.") % {"scope": needs})
        self.needs = needs


class TokenLimited(APIException):
    """The token is for chosen benchmarks, and this is of none."""

    status_code = 403
    default_code = "token-limited"
    default_detail = gettext_lazy("This token is for chosen benchmarks only. Use one for all of them.")


class HasScope(BasePermission):
    """The scope that an operation names. A person in a browser has all of them."""

    def has_permission(self, request: Request, view: Any) -> bool:
        scope = view.scope_of(request)
        if scope and not has_scope(request, scope):
            raise ScopeMissing(scope)
        return True


def has_scope(request: Request, scope: str) -> bool:
    return not isinstance(request.auth, ApiToken) or is_allowed(request.auth, scope)


def allowed_benchmarks(request: Request) -> set[int] | None:
    """The benchmarks that the token was made for; None: all that its person may see."""
    chosen = request.auth.benchmark_ids if isinstance(request.auth, ApiToken) else []
    return set(chosen) or None
