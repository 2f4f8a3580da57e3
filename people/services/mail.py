"""Writes letters. A letter is a row of OutMail in the transaction of its cause; the worker sends it (people.tasks).

No request waits for a mail server. The link of a new password is made when the letter is sent, so the row of
an address that has no account is written in the same way as any other, and no such link is ever stored.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from email.utils import make_msgid, parseaddr
from urllib.parse import urljoin

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from people.models import CohortMember, EmailConfirmation, Invitation, Message, OutMail, User
from people.queries.mail_status import has_mail_server
from people.services import outgoing, profiles

PASSWORD_PAUSE = timedelta(minutes=profiles.PASSWORD_MAIL_MINUTES)
Kind, State = OutMail.Kind, OutMail.State
Link = Callable[[str], str]


def _letter(kind: str, to: str, at: datetime, **values: object) -> OutMail:
    """A row that is not saved yet. Without a mail server it ends here, and no link is stored."""
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
    mail = OutMail(kind=kind, to=to, at=at, changed_at=at, next_at=at, message_id=make_msgid(domain=domain), **values)
    mail.subject = " ".join(mail.subject.split())[:300]
    if not has_mail_server():
        mail.state, mail.next_at, mail.body = State.NO_SERVER, None, ""
    return mail


def mail_invitations(invitations: Iterable[tuple[Invitation, str]], link: Link, at: datetime) -> None:
    """A letter for each invitation that has an address; `link` makes the address of a token.

    Call it in the transaction that makes the invitations.
    """
    letters = []
    for invitation, token in invitations:
        if not invitation.email:
            continue
        place = invitation.cohort.name if invitation.cohort else invitation.team.name
        context = {"invitation": invitation, "place": place, "url": link(token)}
        letters.append(
            _letter(
                Kind.INVITATION,
                invitation.email,
                at,
                language=translation.get_language() or "",
                subject=_("An invitation to %(place)s") % {"place": place},
                body=render_to_string("people/mail/invitation.txt", context),
                created_by=invitation.created_by,
                scope=f"team:{invitation.team_id}",
                target=f"invitation:{invitation.pk}",
            )
        )
    OutMail.objects.bulk_create(letters)


def mail_message(message: Message, members: Iterable[CohortMember], at: datetime) -> None:
    """A letter to each member, in their own language. Call it in the transaction that writes the message."""
    letters = []
    for member in members:
        user = member.user
        language = user.language or settings.LANGUAGE_CODE
        with translation.override(language):
            context = {"message": message, "user": user, "place": message.cohort.name}
            body = render_to_string("people/mail/message.txt", context)
            subject = _("A message to %(place)s") % {"place": message.cohort.name}
        letters.append(
            _letter(
                Kind.MESSAGE,
                user.email,
                at,
                user=user,
                language=language,
                subject=subject,
                body=body,
                created_by=message.author,
                scope=f"team:{message.cohort.team_id}",
                target=f"message:{message.pk}",
            )
        )
    OutMail.objects.bulk_create(letters)


def mail_confirmation(confirmation: EmailConfirmation, url: str, at: datetime) -> None:
    """To an address that somebody gave with an invitation to another one."""
    invitation = confirmation.invitation
    place = invitation.cohort.name if invitation.cohort else invitation.team.name
    context = {"confirmation": confirmation, "place": place, "url": url}
    _letter(
        Kind.CONFIRMATION,
        confirmation.email,
        at,
        language=confirmation.language,
        subject=_("Confirm your address for Emic"),
        body=render_to_string("people/mail/confirmation.txt", context),
        scope=f"team:{invitation.team_id}",
        target=f"confirmation:{confirmation.pk}",
    ).save()


def mail_notice(user: User, subject: str, body: str, at: datetime, *, scope: str, target: str) -> None:
    """A letter of the site about a token or a webhook. Call it in the transaction of its cause, in the reader's
    language. An account without an address is left out."""
    if user.email and user.is_active:
        _letter(
            Kind.NOTICE, user.email, at, user=user, language=user.language, subject=subject, body=body, scope=scope,
            target=target,
        ).save()  # fmt: skip


def mail_test(user: User, at: datetime) -> OutMail:
    """A letter of an admin to themselves, to see what the mail server answers."""
    subject, body = _("A test e-mail from Emic"), _("This e-mail was sent to test the mail server.")
    mail = _letter(Kind.TEST, user.email, at, user=user, subject=subject, body=body, created_by=user)
    mail.save()
    return mail


def ask_password(email: str, site: str, at: datetime) -> None:
    """Somebody asks for a new password for this address. The same queries and one row, whether it has an account.

    One row in five minutes: nobody's mailbox is filled by others. The worker finds out whose address it is.
    """
    to = email.strip().lower()
    kinds = (Kind.PASSWORD, Kind.NONE)
    if OutMail.objects.filter(to=to, kind__in=kinds, at__gt=at - PASSWORD_PAUSE).exists():
        return
    _letter(Kind.PASSWORD, to, at, site=site, language=translation.get_language() or "").save()


def prepare(mail: OutMail, at: datetime) -> bool:
    """Complete the letter in memory. False when there is nothing to send."""
    if mail.kind == Kind.PASSWORD:
        return _prepare_password(mail, at)
    return True


def _prepare_password(mail: OutMail, at: datetime) -> bool:
    """Find the account of the address at the first try; make the link at every try."""
    user = User.objects.filter(email__iexact=mail.to, is_active=True).first()
    if user is None or not user.has_usable_password():
        return False
    if mail.user_id != user.pk:
        if not profiles.claim_mail_turn(user, at):
            return False
        OutMail.objects.filter(pk=mail.pk).update(user=user)
        earlier = OutMail.objects.filter(user=user, kind=Kind.PASSWORD, state__in=(State.QUEUED, State.RETRY))
        for each in earlier.exclude(pk=mail.pk):
            outgoing.suppress(each, at)
    mail.to = user.email
    with translation.override(user.language or mail.language or settings.LANGUAGE_CODE):
        context = {"user": user, "url": urljoin(mail.site, password_path(user))}
        mail.subject = _("A new password for Emic")
        mail.body = render_to_string("people/mail/password.txt", context)
    return True


def password_path(user: User) -> str:
    """The path of the page on which this person sets a new password; it works once, for three days."""
    uid, token = urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)
    return reverse("people:password_new", args=[uid, token])
