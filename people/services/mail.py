"""Mail to people. A mail server that is away never stops the work: the link can be passed on by hand."""

import logging
from smtplib import SMTPException

from django.core.mail import BadHeaderError, send_mail
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from people.models import Invitation

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
