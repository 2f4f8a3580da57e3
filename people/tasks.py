"""Sends the letters that wait. The only module that talks to a mail server (tests/architecture holds it)."""

import logging
import socket
from contextlib import suppress
from datetime import datetime, timedelta
from smtplib import (
    SMTPAuthenticationError,
    SMTPException,
    SMTPRecipientsRefused,
    SMTPResponseException,
    SMTPServerDisconnected,
)
from typing import Any

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.core.mail import BadHeaderError, EmailMessage, get_connection
from django.utils import timezone

from people.models import OutMail
from people.queries.mail_status import has_mail_server
from people.services import cleaning, mail, outgoing, token_notices

log = logging.getLogger(__name__)
ROUND = timedelta(seconds=80)  # then the next one goes on, which begins within seconds
SECONDS = 120  # before a worker is stopped that a single letter holds
MOST_BROKEN = 2  # connections that break in one round, before the server counts as away


@shared_task(name="people.send_mail", soft_time_limit=SECONDS, time_limit=SECONDS + 30)
def send_mail() -> int:
    """Send what is due. Returns the number of letters that the mail server accepted."""
    sender = Sender()
    try:
        return sender.send_due()
    except SoftTimeLimitExceeded:
        sender.stop(timezone.now())
        return sender.accepted
    finally:
        sender.close()


@shared_task(name="people.clean_up")
def clean_up() -> None:
    """Every hour, so that a machine that is off at night is cleaned as well."""
    log.info("Deleted: %s", cleaning.clean_up(timezone.now()))
    token_notices.warn_expiring(timezone.now())


class Sender:
    """One round over one connection, which is opened when the first letter is due."""

    def __init__(self) -> None:
        self.connection: Any = None
        self.letter: OutMail | None = None
        self.accepted = 0
        self.broken = 0

    def send_due(self) -> int:
        """Letter by letter, until nothing is due, the round is over or the server does not answer."""
        if outgoing.is_busy(timezone.now()):
            return 0
        end = timezone.now() + ROUND
        while (letter := outgoing.claim(timezone.now())) is not None:
            self.letter = letter
            if not has_mail_server():
                outgoing.no_server(letter, timezone.now())
            elif not mail.prepare(letter, timezone.now()):
                outgoing.suppress(letter, timezone.now(), kind=OutMail.Kind.NONE)
            elif not self._deliver(letter):
                break
            if timezone.now() >= end:
                break
        return self.accepted

    def stop(self, at: datetime) -> None:
        """One letter took longer than a round may. It counts as tried; the others only if the server took none."""
        if self.letter is not None:
            self.letter.refresh_from_db()
            if self.letter.state == OutMail.State.SENDING:
                outgoing.postpone(self.letter, "too_long", at)
        if not self.accepted:
            outgoing.postpone_all("timeout", at)

    def _deliver(self, letter: OutMail) -> bool:
        """Whether to go on with the next letter."""
        try:
            self._open()
        except (OSError, SMTPException) as error:  # it is the server's fault, not the letter's
            return self._postpone_all(letter, error)
        try:
            reply = self._transmit(letter)
        except (BadHeaderError, UnicodeError, ValueError):
            outgoing.fail(letter, "unsendable", timezone.now())
        except SMTPRecipientsRefused as error:
            code, text = next(iter(error.recipients.values()))
            self._refused(letter, code, text)
        except SMTPResponseException as error:
            self._refused(letter, error.smtp_code, error.smtp_error)
        except SMTPServerDisconnected as error:
            return self._postpone_broken(letter, error)
        except SMTPException:  # such as a letter in a character set that the server does not take
            outgoing.fail(letter, "unsendable", timezone.now())
        except OSError as error:
            return self._postpone_broken(letter, error)
        else:
            outgoing.accept(letter, reply, timezone.now())
            self.accepted += 1
        return True

    def _open(self) -> None:
        if self.connection is None:
            self.connection = get_connection()
            self.connection.open()

    def _transmit(self, letter: OutMail) -> str:
        """Send it; the server's answer to DATA, where the back end shows it."""
        answers: list[tuple[int, bytes]] = []
        line = getattr(self.connection, "connection", None)
        if line is not None and hasattr(line, "data"):
            send_data = type(line).data

            def data(content: Any) -> tuple[int, bytes]:
                answers.append(send_data(line, content))
                return answers[-1]

            line.data = data
        headers = {"Message-ID": letter.message_id}
        message = EmailMessage(letter.subject, letter.body, None, [letter.to], headers=headers)
        self.connection.send_messages([message])
        return _reply_text(*answers[-1]) if answers else ""

    def _refused(self, letter: OutMail, code: int, text: bytes | str) -> None:
        """The server answered: 5xx is for good, 4xx is for now. The connection is not used again."""
        if 500 <= code < 600:
            outgoing.fail(letter, _reply_text(code, text), timezone.now())
        else:
            outgoing.postpone(letter, _reply_text(code, text), timezone.now())
        self.close()

    def _postpone_broken(self, letter: OutMail, error: OSError) -> bool:
        """The line broke in the middle. One letter may be the cause; when it happens again, the server is."""
        self.broken += 1
        if self.broken >= MOST_BROKEN:
            return self._postpone_all(letter, error)
        outgoing.postpone(letter, fault_of(error), timezone.now())
        self.close()
        return True

    def _postpone_all(self, letter: OutMail, error: Exception) -> bool:
        log.warning("The mail server does not take mail: %s", error)
        outgoing.postpone(letter, fault_of(error), timezone.now())
        outgoing.postpone_all(fault_of(error), timezone.now())
        return False

    def close(self) -> None:
        if self.connection is not None:
            with suppress(OSError, SMTPException):
                self.connection.close()
            self.connection = None


def fault_of(error: Exception) -> str:
    """A code of people.queries.mail_status.FAULTS, or what the server said."""
    if isinstance(error, SMTPAuthenticationError):
        return "sign_in"
    if isinstance(error, SMTPResponseException):
        return _reply_text(error.smtp_code, error.smtp_error)
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if isinstance(error, socket.gaierror):
        return "unknown_host"
    if isinstance(error, SMTPServerDisconnected):  # what smtplib makes of a time-out, too
        return "timeout" if isinstance(error.__context__, TimeoutError) or "timed out" in str(error) else "closed"
    return "closed" if isinstance(error, ConnectionError) else "unreachable"


def _reply_text(code: int, text: bytes | str) -> str:
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return f"{code} {' '.join(words.split())}"[:300]
