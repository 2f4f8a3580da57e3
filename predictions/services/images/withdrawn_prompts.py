"""A generated image leaves with the prompt that it was made of, and returns with it."""

from datetime import datetime

from annotation.services.derivation.derived_items import follow_sources
from benchmarks.models import Stage
from predictions.models import ImagePlan


def follow_prompts(at: datetime) -> int:
    """Return how many images left or returned. For the beat."""
    stages = Stage.objects.filter(pk__in=ImagePlan.objects.values("stage"), derivation={})
    return sum(follow_sources(stage, at) for stage in stages.order_by("pk"))
