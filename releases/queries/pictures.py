"""The pictures that leave a benchmark: of its items, and of answers that may be read."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Annotation, ItemSource, Upload
from annotation.models.answers import CONSENT_WITHDRAWN
from annotation.queries.answers import answers_left_out
from benchmarks.models import Benchmark, Image, ItemImage


def pictures_of(benchmark: Benchmark, *, stage: str = "") -> QuerySet[Image]:
    """By their numbers. `stage`: only of this one, by its key.

    A picture that somebody brought who withdrew their consent is among them only where another use of it is, also one
    that was sent after the withdrawal.
    """
    gone = ItemSource.objects.filter(item=OuterRef("item"), annotation__uncounted_because=CONSENT_WITHDRAWN)
    uses = ItemImage.objects.filter(image=OuterRef("pk"), item__stage__benchmark=benchmark)
    uses = uses.filter(Q(item__withdrawn_at=None) | ~Exists(gone))
    answers = Annotation.objects.filter(assignment=OuterRef("assignment"))
    brought = Upload.objects.filter(image=OuterRef("pk"), assignment__unit__item__stage__benchmark=benchmark)
    brought = brought.filter(Exists(answers), ~Exists(answers.filter(uncounted_because=CONSENT_WITHDRAWN)))
    sent_later = answers_left_out(benchmark).filter(assignment__in=Upload.objects.values("assignment"))
    brought = brought.exclude(assignment__in=list(sent_later.values_list("assignment", flat=True)))
    if stage:
        uses, brought = uses.filter(item__stage__key=stage), brought.filter(assignment__unit__item__stage__key=stage)
    return Image.objects.filter(Exists(uses) | Exists(brought), team=benchmark.team_id)
