"""Letters to owners of tokens that expire soon, so that a program does not stop without a word."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from people.models import ApiToken, TeamMember, User
from people.services.mail import mail_notice
from people.services.tokens import valid_tokens

BEFORE = timedelta(days=7)


def warn_expiring(at: datetime) -> int:
    """One letter for each token, seven days before it expires; none for one that was made for no longer than that.
    Returns how many there were."""
    soon = valid_tokens(at).filter(
        warned_at=None, expires_at__lte=at + BEFORE, expires_at__gt=F("created_at") + BEFORE, user__is_active=True
    )
    return sum(_warn(token, at) for token in soon.select_related("user").order_by("pk"))


def _warn(token: ApiToken, at: datetime) -> int:
    with transaction.atomic():
        if not ApiToken.objects.filter(pk=token.pk, warned_at=None).update(warned_at=at):
            return 0
        for reader in _readers(token.user):
            _write(token, reader, at)
    return 1


def _readers(user: User) -> list[User]:
    """The owner of the token; of a service account the admins of its team."""
    if not user.is_service:
        return [user]
    admins = TeamMember.objects.filter(team__members__user=user, role=TeamMember.Role.ADMIN, user__is_active=True)
    return [admin.user for admin in admins.select_related("user").order_by("pk")]


def _write(token: ApiToken, reader: User, at: datetime) -> None:
    """In the reader's language."""
    with translation.override(reader.language or "en"):
        values = {"name": token.name, "date": date_format(token.expires_at, "DATE_FORMAT"), "account": token.user.name}
        if token.user.is_service:
            subject = _("A token of “%(account)s” expires on %(date)s")
            body = _(
                "The token “%(name)s” of the service account “%(account)s” expires on %(date)s. Programs that use it"
                " are refused then.\n\n"
                "Create a new token on the page of the service account, and give it to the program."
            )
        else:
            subject = _("Your token “%(name)s” expires on %(date)s")
            body = _(
                "The token “%(name)s” for programs expires on %(date)s. Programs that use it are refused then.\n\n"
                "Create a new token on the page Me, Tokens for programs, and give it to the program."
            )
    mail_notice(reader, subject % values, body % values, at, scope="", target=f"token:{token.pk}")
