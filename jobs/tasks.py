from celery import shared_task
from django.utils import timezone

from jobs.services import runner, uploads


@shared_task(name="jobs.run")
def run(job_id: int) -> None:
    runner.run(job_id)


@shared_task(name="jobs.requeue_stalled")
def requeue_stalled() -> int:
    return runner.requeue_stalled(timezone.now())


@shared_task(name="jobs.sweep_uploads")
def sweep_uploads() -> int:
    return uploads.sweep(timezone.now())
