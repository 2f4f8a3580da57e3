"""What a manager says to a cohort: on each member's home until it was read, and by mail."""

import logging
from datetime import datetime

from celery import current_app
from django.db import transaction
from django.db.models import Count, F, QuerySet
from kombu.exceptions import OperationalError

from jobs.models import record
from people.models import Cohort, Message, MessageRead, User

log = logging.getLogger(__name__)
MOST = 5  # unread ones on a home, the newest


@transaction.atomic
def send(cohort: Cohort, author: User, body: str, at: datetime) -> Message:
    """Say it to everybody who is a member now. The mails go out afterwards: see people.tasks."""
    message = Message.objects.create(cohort=cohort, author=author, body=body.strip(), sent_at=at)
    record(author, "message.sent", scope=f"team:{cohort.team_id}", target=f"cohort:{cohort.pk}", message=message.pk)
    transaction.on_commit(lambda: _tell(message.pk))
    return message


def _tell(message_id: int) -> None:
    """A broker that is away keeps nobody waiting: the message is on everybody's page all the same."""
    try:
        current_app.send_task("people.mail_message", (message_id,), retry=False)
    except (OperationalError, OSError):
        log.warning("The mails of message %s could not be asked for", message_id)


@transaction.atomic
def withdraw(message: Message, actor: User, at: datetime) -> bool:
    """It is on no home any more. What was mailed stays mailed."""
    if not Message.objects.filter(pk=message.pk, withdrawn_at=None).update(withdrawn_at=at):
        return False
    scope, target = f"team:{message.cohort.team_id}", f"cohort:{message.cohort_id}"
    record(actor, "message.withdrawn", scope=scope, target=target, message=message.pk)
    return True


def unread(user: User) -> QuerySet[Message]:
    """What was said to this person's cohorts since they joined, and they have not read."""
    member = {"cohort__members__user_id": user.pk, "cohort__members__left_at": None}
    since = {"sent_at__gte": F("cohort__members__joined_at")}
    found = Message.objects.filter(withdrawn_at=None, **member, **since).exclude(reads__user_id=user.pk)
    return found.select_related("author", "cohort").order_by("-sent_at")[:MOST]


def mark_read(message: Message, user: User, at: datetime) -> None:
    MessageRead.objects.get_or_create(message=message, user=user, defaults={"read_at": at})


def sent_to(cohort: Cohort) -> QuerySet[Message]:
    """The newest first, each with how many have read it."""
    return cohort.messages.select_related("author").annotate(read=Count("reads")).order_by("-sent_at", "-pk")[:50]
