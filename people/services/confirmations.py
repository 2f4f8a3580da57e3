"""An invitation that was mailed to one address, accepted with another: the other one is confirmed by a link first.

Until then nobody knows whose address it is. The owner chooses the password and agrees to the consent text when the
account is made; neither is taken from whoever asked for the confirmation.
"""

import secrets
from datetime import datetime, timedelta

from django.db import transaction

from people.models import EmailConfirmation, Invitation, User
from people.services import links, mail

HOURS = 24
MOST = 5  # addresses tried with one invitation: nobody mails strangers by it


class TooManyAddresses(Exception):
    """MOST links were asked for with this invitation."""


def needs_confirmation(invitation: Invitation, email: str) -> bool:
    """An invitation that was mailed proves its own address. One that is passed on by hand names none."""
    return bool(invitation.email) and invitation.email.lower() != email.lower()


@transaction.atomic
def ask(invitation: Invitation, person: links.NewPerson, link: mail.Link, at: datetime) -> EmailConfirmation:
    """Mail a link to the new address. No account is made, no password is stored, and the invitation stays open.

    Raises LinkRefused("registered"), TooManyAddresses.
    """
    if User.objects.filter(email__iexact=person.email).exists():
        raise links.LinkRefused("registered")
    Invitation.objects.select_for_update().get(pk=invitation.pk)
    if invitation.confirmations.count() >= MOST:
        raise TooManyAddresses
    token = secrets.token_urlsafe(32)
    confirmation = EmailConfirmation.objects.create(
        invitation=invitation,
        token_hash=links.hash_of(token),
        expires_at=min(at + timedelta(hours=HOURS), invitation.expires_at),
        email=person.email,
        name=person.name,
        language=person.language,
        time_zone=person.time_zone,
    )
    mail.mail_confirmation(confirmation, link(token), at)
    return confirmation


def find(token: str, at: datetime) -> EmailConfirmation:
    """The open confirmation of this token, or LinkRefused. Looking does not use it up."""
    waiting = EmailConfirmation.objects.select_related("invitation__team", "invitation__cohort")
    confirmation = waiting.filter(token_hash=links.hash_of(token)).first()
    if confirmation is None:
        raise links.LinkRefused("unknown")
    links.require_open(confirmation, at)
    links.require_open(confirmation.invitation, at)
    return confirmation


@transaction.atomic
def confirm(confirmation: EmailConfirmation, password: str, at: datetime) -> User:
    """Make the account with the password that the owner of the address chose, and join. The caller signs them in.

    Raises LinkRefused.
    """
    links.consume(confirmation, at)
    person = links.NewPerson(
        confirmation.email, confirmation.name, password, confirmation.language, confirmation.time_zone
    )
    return links.register(confirmation.invitation, person, at)
