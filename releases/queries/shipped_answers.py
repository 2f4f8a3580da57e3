"""The answers that are in the files of a release: those of its campaigns without those that it withholds."""

from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import Annotation
from annotation.queries.consent_withdrawal import NEVER_SELECTED
from releases.models import Release, ReleaseItem


def shipped_answers(release: Release) -> QuerySet[Annotation]:
    answers = Annotation.objects.filter(assignment__campaign__in=release.chosen.campaigns, live=True)
    answers = answers.exclude(uncounted_because__in=NEVER_SELECTED)
    return answers.filter(not_withheld(release, "assignment__unit__item"))


def not_withheld(release: Release, item: str) -> Q:
    """That an answer is about no item whose answers the release withholds. `item`: the path to the item. Needs the
    splits of the release.
    """
    if not release.chosen.withheld:
        return Q()
    withheld: Any = ReleaseItem.objects.filter(release=release, split=release.chosen.withheld).values("item")
    return ~Q(**{f"{item}__in": withheld})
