"""Mail to people. A mail server that is away never stops the work: the link can be passed on by hand."""

import logging
from collections.abc import Sequence
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import BadHeaderError, EmailMessage, get_connection, send_mail
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from people.models import Invitation, Message
from people.services import memberships

log = logging.getLogger(__name__)


def send_invitation(request: HttpRequest, invitation: Invitation, token: str) -> tuple[str, bool]:
    """The invitation's address, and whether it was sent to the e-mail that was given."""
    url = request.build_absolute_uri(reverse("people:invitation", args=[token]))
    if not invitation.email:
        return url, False
    place = invitation.cohort.name if invitation.cohort else invitation.team.name
    body = render_to_string("people/mail/invitation.txt", {"invitation": invitation, "place": place, "url": url})
    try:
        send_mail(_("An invitation to %(place)s") % {"place": place}, body, None, [invitation.email])
    except (SMTPException, OSError, BadHeaderError) as error:
        log.warning("An invitation could not be mailed: %s", error)
        return url, False
    return url, True


def send_invitations(request: HttpRequest, made: Sequence[tuple[Invitation, str]]) -> list[tuple[str, bool]]:
    """For each, its address and whether it was sent. After a first failure no other is tried: the server is away."""
    done: list[tuple[str, bool]] = []
    away = False
    for invitation, token in made:
        if away or not invitation.email:
            done.append((request.build_absolute_uri(reverse("people:invitation", args=[token])), False))
            continue
        url, sent = send_invitation(request, invitation, token)
        away = not sent
        done.append((url, sent))
    return done


def send_message(message: Message) -> int:
    """A message to each active member, in their own language; says how many went out."""
    letters = []
    for member in memberships.active_members(message.cohort).exclude(user__simulated=True):
        with translation.override(member.user.language or settings.LANGUAGE_CODE):
            said = {"message": message, "user": member.user, "place": message.cohort.name}
            body = render_to_string("people/mail/message.txt", said)
            subject = _("A message to %(place)s") % {"place": message.cohort.name}
        letters.append(EmailMessage(subject, body, None, [member.user.email]))
    try:
        return get_connection().send_messages(letters) or 0
    except (SMTPException, OSError, BadHeaderError) as error:
        log.warning("A message could not be mailed: %s", error)
        return 0
