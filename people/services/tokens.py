"""What a program shows instead of a password: made by a person, shown to them once, kept as a digest."""

import hashlib
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from jobs.models import record
from people.models import ApiToken, User

START = "emic_"  # so that scanners of public repositories can find one that was committed by mistake
SHOWN = 12  # letters by which its owner tells it apart: START, and 42 of 256 bits
MOST = 20
DEFAULT_DAYS, MAX_DAYS = 90, 366
MAX_RATE = 10_000  # requests a minute
SEEN_EVERY = timedelta(minutes=1)  # a busy program writes its last use once in a while, not with each request


Scope = ApiToken.Scope
IMPLIED: dict[str, set[str]] = {
    Scope.READ: set(),
    Scope.EXPORT: {Scope.READ},
    Scope.WRITE: {Scope.READ},
    Scope.ADMIN: {Scope.WRITE, Scope.READ},
    Scope.ANSWER: set(),
}
Offered = Callable[[User], list[tuple[int, str]]]
OFFERED: list[Offered] = []
"""What a token can be made for: benchmarks, which the app above registers."""


def register_offered(offered: Offered) -> None:
    OFFERED.append(offered)


def offered_benchmarks(user: User) -> list[tuple[int, str]]:
    """Number and name of each benchmark that the person may make a token for."""
    return [row for offered in OFFERED for row in offered(user)]


class TooManyTokens(Exception):
    """MOST are in force already."""


def too_many_text() -> str:
    return _("You have %(n)s tokens. Revoke one that you no longer need.") % {"n": MOST}


def create_token(
    user: User,
    name: str,
    at: datetime,
    days: int = DEFAULT_DAYS,
    scopes: Sequence[str] = (Scope.READ,),
    benchmark_ids: Sequence[int] = (),
    actor: User | None = None,
    rate: int | None = None,
) -> tuple[ApiToken, str]:
    """A token for so many days, and its text, which nobody can read again. `actor`: who makes it, if not its user.
    `rate`: requests a minute, if not as the site. Raises TooManyTokens."""
    if not 1 <= days <= MAX_DAYS:
        raise ValueError(f"A token is for 1 to {MAX_DAYS} days.")
    if active_tokens(user, at).count() >= MOST:
        raise TooManyTokens
    if not scopes or not {*scopes} <= {*Scope.values}:
        raise ValueError(f"scopes must be among {', '.join(Scope.values)}, got {', '.join(scopes)}")
    text = START + secrets.token_urlsafe(32)
    expires_at = at + timedelta(days=days)
    token = ApiToken.objects.create(
        user=user, name=name, prefix=text[:SHOWN], scopes=sorted({*scopes}), digest=_digest(text),
        expires_at=expires_at, benchmark_ids=sorted({*benchmark_ids}), rate=rate,
    )  # fmt: skip
    record(actor or user, "token.made", target=f"token:{token.pk}", name=name, days=days, scopes=token.scopes)
    return token, text


def _valid(at: datetime) -> Q:
    """Not revoked, not expired, and made after its person's password was last set, by whatever way."""
    unchanged = Q(user__credentials_since=None) | Q(created_at__gte=F("user__credentials_since"))
    return Q(revoked_at=None, expires_at__gt=at) & unchanged


def valid_tokens(at: datetime) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(_valid(at))


def active_tokens(user: User, at: datetime) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(_valid(at), user=user).order_by("-pk")


def expired_tokens(user: User, at: datetime) -> QuerySet[ApiToken]:
    """The latest tokens that only their age has ended."""
    return ApiToken.objects.filter(user=user, revoked_at=None, expires_at__lte=at).order_by("-expires_at")[:5]


def revoke(token: ApiToken, actor: User, at: datetime) -> bool:
    """Whether it was in force until now."""
    revoked = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=at)
    if revoked:
        record(actor, "token.revoked", target=f"token:{token.pk}")
    return bool(revoked)


def revoke_all(user: User, at: datetime, actor: User | None = None) -> int:
    """With a new password, or when a link's maker is let out: a program is let out, too. Says how many there were."""
    revoked = ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=at)
    if revoked:
        record(actor or user, "token.revoked", target=f"user:{user.pk}", implied=True, tokens=revoked)
    return revoked


def find_token(text: str, at: datetime) -> ApiToken | None:
    """The token this is, with its user; None if it is none, is no longer valid, or the account is switched off."""
    token = ApiToken.objects.filter(_valid(at), digest=_digest(text), user__is_active=True)
    api_token = token.select_related("user").first()
    if api_token and (api_token.last_used_at is None or api_token.last_used_at < at - SEEN_EVERY):
        stale = Q(last_used_at=None) | Q(last_used_at__lt=at - SEEN_EVERY)
        ApiToken.objects.filter(stale, pk=api_token.pk).update(last_used_at=at)
    return api_token


def is_allowed(token: ApiToken, scope: str) -> bool:
    """Whether the token has the scope, or one that implies it. What its person may do is looked up besides."""
    return any(scope == owned or scope in IMPLIED.get(owned, ()) for owned in token.scopes)


def _digest(text: str) -> str:
    """Of 256 random bits: a slow hash would protect nothing more."""
    return hashlib.sha256(text.encode()).hexdigest()
