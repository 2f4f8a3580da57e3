"""An invitation that was mailed to one address, accepted with another: the other one is confirmed by a link first."""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction

from people.models import ConsentText, EmailConfirmation, Invitation, User
from people.services import consent, links, mail

HOURS = 24
MOST = 5  # addresses tried with one invitation: nobody mails strangers by it


class TooManyAddresses(Exception):
    """MOST links were asked for with this invitation."""


def needs_confirmation(invitation: Invitation, email: str) -> bool:
    """An invitation that was mailed proves its own address. One that is passed on by hand names none."""
    return bool(invitation.email) and invitation.email.lower() != email.lower()


@transaction.atomic
def ask(
    invitation: Invitation, person: links.NewPerson, text: ConsentText | None, link: mail.Link, at: datetime
) -> EmailConfirmation:
    """Mail a link to the new address. No account is made, and the invitation stays open.

    `text` is the consent text that the person agreed to. Raises LinkRefused("registered"), TooManyAddresses.
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
        password=make_password(person.password),
        language=person.language,
        time_zone=person.time_zone,
        consent_version=text.version if text else None,
        consent_language=text.language if text else "",
    )
    mail.mail_confirmation(confirmation, link(token), at)
    return confirmation


def find(token: str, at: datetime) -> EmailConfirmation:
    """The open confirmation of this token, or LinkRefused. Looking does not use it up."""
    waiting = EmailConfirmation.objects.select_related("invitation__team", "invitation__cohort", "consent_version")
    confirmation = waiting.filter(token_hash=links.hash_of(token)).first()
    if confirmation is None:
        raise links.LinkRefused("unknown")
    links.require_open(confirmation, at)
    links.require_open(confirmation.invitation, at)
    return confirmation


@transaction.atomic
def confirm(confirmation: EmailConfirmation, at: datetime) -> User:
    """Make the account, join, and agree to what was agreed to. The caller signs the person in. Raises LinkRefused."""
    links.take(confirmation, at)
    try:
        with transaction.atomic():
            user = User.objects.create(
                email=confirmation.email.lower(),
                name=confirmation.name,
                password=confirmation.password,
                language=confirmation.language,
                time_zone=confirmation.time_zone,
                credentials_since=at,
            )
    except IntegrityError as error:
        raise links.LinkRefused("registered") from error
    links.accept(confirmation.invitation, user, at)
    if confirmation.consent_version:
        consent.agree(user, confirmation.consent_version, confirmation.consent_language)
    EmailConfirmation.objects.filter(pk=confirmation.pk).update(password="")
    return user
