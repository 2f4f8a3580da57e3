from celery import shared_task
from django.utils import timezone

from api.models import Webhook
from api.protocol.idempotency import forget_old
from api.protocol.request_counts import forget_old_counts
from api.services import webhook_messages, webhooks
from api.services.webhook_sender import SENDERS


@shared_task(name="api.forget_requests")
def forget_requests() -> None:
    """Counts of requests, idempotency keys and deliveries of webhooks that are older than their time."""
    forget_old(timezone.now())
    forget_old_counts()
    webhooks.delete_old(timezone.now())


@shared_task(name="api.send_webhooks")
def send_webhooks() -> None:
    """Make messages of what happened. They are sent by threads: the worker's next task waits for none."""
    if Webhook.objects.filter(state=Webhook.State.ACTIVE).exists():
        webhook_messages.read_all(timezone.now())
        SENDERS.start()
