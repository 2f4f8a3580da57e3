"""What is in a file and its author has withdrawn since: answers, and items that were made of answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation
from benchmarks.models import Benchmark
from jobs.queries.statements import fetch
from people.models import Consent
from releases.models import Release, ReleaseRow

# Which of these answers were handed on to which items of these stages, over any number of steps.
_HANDED_ON = """
WITH RECURSIVE down(answer, item) AS (
  SELECT d.annotation_id, d.item_id FROM annotation_itemsource d WHERE d.annotation_id = ANY(%s)
  UNION SELECT down.answer, d.item_id FROM down JOIN annotation_itemsource d ON d.source_id = down.item
)
SELECT down.answer, down.item FROM down JOIN benchmarks_item i ON i.id = down.item WHERE i.stage_id = ANY(%s)
"""


@dataclass(frozen=True)
class WithdrawnSince:
    """Answers in a release whose authors have withdrawn their consent since. Does not say who."""

    people: int = 0
    answers: int = 0

    @property
    def words(self) -> str:
        people = ngettext("%(n)s person", "%(n)s people", self.people) % {"n": self.people}
        answers = ngettext("%(n)s answer", "%(n)s answers", self.answers) % {"n": self.answers}
        text = _("Consent withdrawn since this release was frozen: %(people)s, %(answers)s.")
        return text % {"people": people, "answers": answers}


def withdrawn_since(release: Release) -> WithdrawnSince:
    if release.frozen_at is None:
        return WithdrawnSince()
    authors = dict(_answers_of_who_withdrew(release.benchmark, release.frozen_at).values_list("pk", "rater"))
    if not authors:
        return WithdrawnSince()
    rows = ReleaseRow.objects.filter(release=release)
    of_answers = rows.filter(table__endswith="/ratings") | rows.filter(table__endswith="/versions")
    shipped = set(of_answers.filter(number__in=authors).values_list("number", flat=True))
    pairs = _handed_on(authors, release.chosen.stages)
    items = rows.filter(table__endswith="/items", number__in={item for _answer, item in pairs})
    known = set(items.values_list("number", flat=True))
    shipped |= {answer for answer, item in pairs if item in known}
    return WithdrawnSince(len({authors[number] for number in shipped}), len(shipped))


def has_withdrawn_since(benchmark: Benchmark, campaigns: Iterable[int], stage: int, at: datetime) -> bool:
    """Whether somebody who answered in these campaigns, or of whose answers items of the stage were made, has withdrawn
    a consent since."""
    answers = _answers_of_who_withdrew(benchmark, at)
    if answers.filter(assignment__campaign__in=campaigns).exists():
        return True
    return bool(_handed_on(answers.values_list("pk", flat=True), [stage]))


def _answers_of_who_withdrew(benchmark: Benchmark, at: datetime) -> QuerySet[Annotation]:
    """All answers in the benchmark of people who have withdrawn a consent since."""
    withdrew = Consent.objects.filter(version__team=benchmark.team_id, withdrawn_at__gte=at)
    theirs = Annotation.objects.filter(rater__user__in=withdrew.values("user"))
    return theirs.filter(assignment__campaign__stage__benchmark=benchmark)


def _handed_on(answers: Iterable[int], stages: Sequence[int]) -> list[tuple[int, int]]:
    """Answers with the items of these stages that they were handed on to."""
    ids = list(answers)
    return [(answer, item) for answer, item in fetch(_HANDED_ON, [ids, list(stages)])] if ids else []
