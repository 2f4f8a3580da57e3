"""What a manager says to a cohort: on each member's home until it was read, and by mail."""

from datetime import datetime

from django.db import transaction
from django.db.models import Count, F, QuerySet

from jobs.models import record
from people.models import Cohort, Message, MessageRead, User
from people.queries import mail_status
from people.services import mail, memberships, outgoing

MOST = 5  # unread ones on a home, the newest


@transaction.atomic
def send(cohort: Cohort, author: User, body: str, at: datetime) -> Message:
    """Say it to everybody who is a member now, on their page and by mail."""
    message = Message.objects.create(cohort=cohort, author=author, body=body.strip(), sent_at=at)
    record(author, "message.sent", scope=f"team:{cohort.team_id}", target=f"cohort:{cohort.pk}", message=message.pk)
    members = memberships.active_members(cohort).exclude(user__simulated=True)
    mail.mail_message(message, members.exclude(user__email=""), at)
    return message


@transaction.atomic
def withdraw(message: Message, actor: User, at: datetime) -> bool:
    """It is on no home any more, and letters that wait are not sent. What was mailed stays mailed."""
    if not Message.objects.filter(pk=message.pk, withdrawn_at=None).update(withdrawn_at=at):
        return False
    outgoing.suppress_target(f"message:{message.pk}", at)
    scope, target = f"team:{message.cohort.team_id}", f"cohort:{message.cohort_id}"
    record(actor, "message.withdrawn", scope=scope, target=target, message=message.pk)
    return True


def unread(user: User) -> QuerySet[Message]:
    """What was said to this person's cohorts since they joined, and they have not read."""
    member = {"cohort__members__user_id": user.pk, "cohort__members__left_at": None}
    since = {"sent_at__gte": F("cohort__members__joined_at")}
    messages = Message.objects.filter(withdrawn_at=None, **member, **since).exclude(reads__user_id=user.pk)
    return messages.select_related("author", "cohort").order_by("-sent_at")[:MOST]


def mark_read(message: Message, user: User, at: datetime) -> None:
    MessageRead.objects.get_or_create(message=message, user=user, defaults={"read_at": at})


def messages_of_cohort(cohort: Cohort) -> list[Message]:
    """The newest first, each with how many have read it, and in `mail` what became of its letters."""
    messages: list[Message] = list(
        cohort.messages.select_related("author").annotate(read=Count("reads")).order_by("-sent_at", "-pk")[:50]
    )
    states = mail_status.message_states(f"message:{message.pk}" for message in messages)
    for message in messages:
        message.mail = states.get(f"message:{message.pk}", "")  # type: ignore[attr-defined]
    return messages
