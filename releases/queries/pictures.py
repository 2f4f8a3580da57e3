"""The pictures that leave a benchmark: of its items, and of answers that may be read."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Annotation, Upload
from annotation.models.answers import CONSENT_WITHDRAWN
from annotation.queries.answers import is_left_out, who_withdrew
from benchmarks.models import Benchmark, Image, ItemImage
from releases.queries.shipped_answers import items_without_consent


def pictures_of(benchmark: Benchmark, *, stage: str = "") -> QuerySet[Image]:
    """By their numbers. `stage`: only of this one, by its key.

    A picture that somebody brought who withdrew their consent is among them only where another use of it is, also one
    that was sent after the withdrawal, or with an answer that was undone.
    """
    uses = ItemImage.objects.filter(image=OuterRef("pk"), item__stage__benchmark=benchmark)
    stages = list(benchmark.stages.values_list("pk", flat=True))
    uses = uses.exclude(item__in=items_without_consent(stages))
    brought = Upload.objects.filter(image=OuterRef("pk"), assignment__unit__item__stage__benchmark=benchmark)
    brought = brought.filter(Exists(Annotation.objects.filter(assignment=OuterRef("assignment"))))
    brought = brought.exclude(assignment__in=_left_out_assignments(benchmark))
    if stage:
        uses, brought = uses.filter(item__stage__key=stage), brought.filter(assignment__unit__item__stage__key=stage)
    return Image.objects.filter(Exists(uses) | Exists(brought), team=benchmark.team_id)


def _left_out_assignments(benchmark: Benchmark) -> list[int]:
    """Those whose answers nobody may read and pictures came with."""
    with_pictures = Upload.objects.filter(assignment__unit__item__stage__benchmark=benchmark).values("assignment")
    theirs = Q(uncounted_because=CONSENT_WITHDRAWN) | Q(rater__user__in=who_withdrew(benchmark.team_id))
    answers = Annotation.objects.filter(theirs & Q(is_left_out(benchmark.team_id)))
    return list(answers.filter(assignment__in=with_pictures).values_list("assignment", flat=True).distinct())
