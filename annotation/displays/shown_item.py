"""From database rows to the frozen view that displays and field kinds see."""

from collections.abc import Iterable

from annotation.fields.contract import Shown, ShownImage
from annotation.models import Unit
from benchmarks.models import Image
from people.models import Cohort


def build_shown(unit: Unit, cohort: Cohort | None, uploads: Iterable[ShownImage] = ()) -> Shown:
    """Prefetch `item__images__image` and `item__facts` when there are many. The target is named as the cohort calls
    itself. Of several facts with one key the newest is shown."""
    item = unit.item
    own = cohort is not None and unit.label_set_id is None and unit.target == cohort.label
    return Shown(
        item_id=item.pk,
        target=unit.target,
        target_name=cohort.name if cohort is not None and own else unit.target,
        text=item.text,
        context={"concept": item.concept, **item.context} if item.concept else item.context,
        images=tuple(
            ShownImage(use.role, use.image_id, use.image.sha256, use.image.width, use.image.height, use.alt)
            for use in sorted(item.images.all(), key=lambda use: use.role)
        ),
        facts={fact.key: fact.value for fact in sorted(item.facts.all(), key=lambda fact: fact.pk)},
        uploads=tuple(uploads),
        answer_target=item.answer_target,
    )


def upload_info(image: Image, source: str = "") -> ShownImage:
    """A picture that somebody brought, by "file" or "url" if that is known."""
    return ShownImage("upload", image.pk, image.sha256, image.width, image.height, source=source)
