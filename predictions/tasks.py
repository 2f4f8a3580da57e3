from celery import shared_task
from django.utils import timezone

from predictions.services.collections import written_queries
from predictions.services.encoders import fact_requests
from predictions.services.images import remakes, withdrawn_prompts
from predictions.services.knowledge import link_checks
from predictions.services.runs import following


@shared_task(name=fact_requests.TASK)
def start_fact_jobs() -> int:
    """Told when items arrive or their filters' results change; the beat comes round for what was not told."""
    return fact_requests.start_pending()


@shared_task(name=following.TASK)
def follow_new_items() -> int:
    """Told when items arrive in a stage that a run follows; the beat comes round for what was not told."""
    return following.follow_new_items()


@shared_task(name=remakes.TASK)
def return_images() -> int:
    """Images of which somebody said “make again”. For the beat."""
    return remakes.return_images(timezone.now())


@shared_task(name=link_checks.TASK)
def follow_linked_items() -> int:
    """Checks of links leave with the picture that was linked, generated images with their prompt, and come back with
    it. For the beat."""
    at = timezone.now()
    return link_checks.follow_linked_items(at) + withdrawn_prompts.follow_prompts(at)


@shared_task(name=written_queries.TASK)
def follow_written_queries(stage_id: int | None = None) -> int:
    """Query sets follow the queries that are accepted, until a run has read them. Told when reviewers decide; the beat
    comes round for what else changed."""
    return written_queries.follow_written_queries(stage_id)
