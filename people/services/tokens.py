"""What a program shows instead of a password: made by a person, shown to them once, kept as a digest."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from jobs.models import record
from people.models import ApiToken, User

START = "emic_"  # so that scanners of public repositories can find one that was committed by mistake
SHOWN = 12  # letters by which its owner tells it apart: START, and 42 of 256 bits
MOST = 20
SEEN_EVERY = timedelta(minutes=1)  # a busy program writes its last use once in a while, not with each request


class TooManyTokens(Exception):
    """MOST are in force already."""


def make(user: User, name: str, at: datetime) -> tuple[ApiToken, str]:
    """A token and its text, which nobody can read again. Raises TooManyTokens."""
    if in_force(user).count() >= MOST:
        raise TooManyTokens
    text = START + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(user=user, name=name, prefix=text[:SHOWN], digest=_digest(text))
    record(user, "token.made", target=f"token:{token.pk}", name=name)
    return token, text


def in_force(user: User) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(user=user, revoked_at=None).order_by("-pk")


def revoke(token: ApiToken, actor: User, at: datetime) -> bool:
    """Whether it was in force until now."""
    found = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=at)
    if found:
        record(actor, "token.revoked", target=f"token:{token.pk}")
    return bool(found)


def revoke_all(user: User, at: datetime) -> int:
    """With a new password, or when a link's maker is let out: a program is let out, too. Says how many there were."""
    found = in_force(user).update(revoked_at=at)
    if found:
        record(user, "token.revoked", target=f"user:{user.pk}", implied=True, tokens=found)
    return found


def bearer_of(text: str, at: datetime) -> ApiToken | None:
    """The token this is, with its user; None if it is none, was revoked, or its user's account is switched off."""
    token = ApiToken.objects.filter(digest=_digest(text), revoked_at=None, user__is_active=True)
    found = token.select_related("user").first()
    if found and (found.last_used_at is None or found.last_used_at < at - SEEN_EVERY):
        stale = Q(last_used_at=None) | Q(last_used_at__lt=at - SEEN_EVERY)
        ApiToken.objects.filter(stale, pk=found.pk).update(last_used_at=at)
    return found


def _digest(text: str) -> str:
    """Of 256 random bits: a slow hash would protect nothing more."""
    return hashlib.sha256(text.encode()).hexdigest()
