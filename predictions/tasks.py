from celery import shared_task

from predictions.services.encoders import fact_requests


@shared_task(name=fact_requests.TASK)
def start_fact_jobs() -> int:
    """Told when items arrive or their filters' results change; the beat comes round for what was not told."""
    return fact_requests.start_pending()
