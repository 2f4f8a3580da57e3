"""Images of which somebody said “make again” are returned to the service that made them, with the remark.

The answer is the comment of the return, so a kill between the two repeats nothing: an item has one live return.
"""

from datetime import datetime

from django.utils.translation import gettext as _

from annotation.models import Annotation
from annotation.services.revisions import returns
from benchmarks.models import ItemReturn
from people.models import Rater

TASK = "predictions.return_images"
FIELD, AGAIN, REMARK = "keep", "again", "remark"


def return_images(at: datetime) -> int:
    """Return every live image with such an answer; return how many were."""
    answers = Annotation.objects.filter(
        live=True, counted=True, rater__kind=Rater.Kind.PERSON, answers__contains={FIELD: AGAIN},
        assignment__unit__item__withdrawn_at=None, assignment__unit__item__image_order__isnull=False,
    ).exclude(assignment__unit__item__in=ItemReturn.objects.filter(undone_at=None).values("item"))  # fmt: skip
    rows = answers.select_related("assignment__unit", "rater__user").order_by("pk")
    return sum(_return(answer, at) for answer in rows.iterator(chunk_size=500))


def _return(answer: Annotation, at: datetime) -> bool:
    user, comment = answer.rater.user, str(answer.answers.get(REMARK) or "").strip()
    if user is None:
        return False
    try:
        returns.return_item(answer.assignment.unit.item_id, user, comment or _("Make the image again."), at)
    except returns.ReturnRefused:
        return False
    return True
