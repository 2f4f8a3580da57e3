"""What is in the files of a release: answers of its campaigns without those that it withholds, their reviews and skips,
and items. Nothing of people who withdrew their consent."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL

from annotation.models import Annotation, Assignment, Review
from annotation.models.answers import CONSENT_WITHDRAWN
from annotation.queries.answers import answers_left_out, is_left_out, is_of_withdrawn, who_withdrew
from annotation.queries.consent_withdrawal import NO_CONSENT
from benchmarks.models import Item
from releases.models import Release, ReleaseItem
from releases.rows.items import WITH_CONSENT

_WITHOUT_CONSENT = f"""SELECT i.id FROM benchmarks_item i
  WHERE i.stage_id = ANY(%s) AND NOT {WITH_CONSENT.replace("{item}", "i")}"""  # noqa: S608


def shipped_answers(release: Release) -> QuerySet[Annotation]:
    answers = Annotation.objects.filter(assignment__campaign__in=release.chosen.campaigns, live=True)
    sent_later = answers_left_out(release.benchmark).filter(uncounted_because=NO_CONSENT)
    answers = answers.exclude(uncounted_because=CONSENT_WITHDRAWN)
    answers = answers.exclude(pk__in=list(sent_later.values_list("pk", flat=True)))
    return answers.filter(not_withheld(release, "assignment__unit__item"))


def shipped_reviews(release: Release) -> QuerySet[Review]:
    """Decisions that are in force, also those on versions that were replaced."""
    reviews = Review.objects.filter(annotation__assignment__campaign__in=release.chosen.campaigns, undone_at=None)
    left_out = Annotation.objects.filter(
        is_left_out(release.benchmark.team_id), rater__user__in=who_withdrew(release.benchmark.team_id),
        pk__in=reviews.values("annotation"),
    )  # fmt: skip
    reviews = reviews.exclude(annotation__in=list(left_out.values_list("pk", flat=True)))
    return reviews.filter(not_withheld(release, "annotation__assignment__unit__item"))


def shipped_skips(release: Release) -> QuerySet[Assignment]:
    """Without those of people who have withdrawn every consent."""
    skips = Assignment.objects.filter(campaign__in=release.chosen.campaigns, state=Assignment.State.SKIPPED)
    skips = skips.exclude(is_of_withdrawn(release.benchmark.team_id))
    return skips.filter(not_withheld(release, "unit__item"))


def shipped_items(release: Release) -> QuerySet[Item]:
    """Also withdrawn ones, and those whose answers are withheld."""
    stages = release.chosen.stages
    return Item.objects.filter(stage__in=stages).exclude(pk__in=items_without_consent(stages))


def items_without_consent(stages: Sequence[int]) -> RawSQL:
    """The ids of items that are in no file, since they were made of what somebody gave who withdrew their consent."""
    return RawSQL(_WITHOUT_CONSENT, [list(stages)])  # noqa: S611


def not_withheld(release: Release, item: str) -> Q:
    """That an answer is about no item whose answers the release withholds. `item`: the path to the item. Needs the
    splits of the release.
    """
    if not release.chosen.withheld:
        return Q()
    withheld: Any = ReleaseItem.objects.filter(release=release, split=release.chosen.withheld).values("item")
    return ~Q(**{f"{item}__in": withheld})
