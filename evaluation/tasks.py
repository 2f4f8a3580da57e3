from celery import shared_task
from django.utils import timezone

from evaluation.status import mark_beat


@shared_task(name="evaluation.beat")
def beat() -> None:
    """Shows on the status page that beat and worker live."""
    mark_beat(timezone.now())
