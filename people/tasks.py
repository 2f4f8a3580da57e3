from celery import shared_task

from people.models import Message
from people.services import mail


@shared_task(name="people.mail_message")
def mail_message(message_id: int) -> int:
    """A message to a cohort, by mail. One that was withdrawn meanwhile is not sent."""
    message = Message.objects.select_related("cohort", "author").filter(pk=message_id, withdrawn_at=None).first()
    return mail.send_message(message) if message else 0
