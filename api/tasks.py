from celery import shared_task
from django.utils import timezone

from api.protocol.idempotency import forget_old


@shared_task(name="api.forget_requests")
def forget_requests() -> None:
    """Idempotency keys that are older than their time."""
    forget_old(timezone.now())
