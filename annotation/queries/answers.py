"""Reads that more than one page shares, each of small work however many answers there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, Count, IntegerField, Q, QuerySet, Sum
from django.db.models.expressions import RawSQL
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation, Tally
from annotation.models.answers import CONSENT_WITHDRAWN
from annotation.queries.consent_withdrawal import NO_CONSENT, left_out_sql, withdrawn_sql
from benchmarks.models import Benchmark
from benchmarks.services.imports import KIND
from jobs.models import Job
from people.models import Consent, Rater


@dataclass(frozen=True)
class Withdrawn:
    """Answers that are left out because their authors withdrew: of how many `people`, of all who answered (`of`)."""

    people: int = 0
    of: int = 0
    answers: int = 0

    @property
    def words(self) -> str:
        """One sentence; "" if nobody withdrew."""
        if not self.answers:
            return ""
        people = ngettext("%(n)s of %(of)s people withdrew", "%(n)s of %(of)s people withdrew", self.people)
        answers = ngettext("%(n)s answer left out", "%(n)s answers left out", self.answers) % {"n": self.answers}
        return _("%(people)s; %(answers)s.") % {
            "people": people % {"n": self.people, "of": self.of},
            "answers": answers,
        }


TABLE = "annotation_annotation"
AUTHOR = "(SELECT user_id FROM people_rater WHERE id = annotation_annotation.rater_id)"


def _of_team(sql: str, team: int) -> RawSQL:
    """A condition on a query of Annotation itself, not on one within another, with the team in place of its marks."""
    return RawSQL(sql, [team] * sql.count("%s"), BooleanField())  # noqa: S611


def is_left_out(team: int) -> RawSQL:
    """Whether nobody may read an answer, since its author withdrew: also of versions that were replaced, and of what
    was sent after the withdrawal. For queries of Annotation itself."""
    return _of_team(left_out_sql(TABLE, AUTHOR, "%s"), team)


def answers_left_out(benchmark: Benchmark) -> QuerySet[Annotation]:
    """Live answers that are in no number and in no file, because their authors withdrew: also those that were sent
    after the withdrawal, from a sheet that was open."""
    withdrew = who_withdrew(benchmark.team_id)
    sent_later = _of_team(withdrawn_sql(TABLE, AUTHOR, "%s"), benchmark.team_id)
    return Annotation.objects.filter(
        Q(uncounted_because=CONSENT_WITHDRAWN)
        | Q(uncounted_because=NO_CONSENT) & Q(rater__user__in=withdrew) & Q(sent_later),
        assignment__campaign__stage__benchmark=benchmark,
        live=True,
    )


def who_withdrew(team: int) -> QuerySet[Consent, Any]:
    """Rows with the `user` of each consent of the team that was withdrawn, also of people who agreed again."""
    return Consent.objects.filter(version__team=team, withdrawn_at__isnull=False).values("user")


def is_of_withdrawn(team: int) -> Q:
    """Rows with a `rater` who withdrew their consent to this team and did not agree again. Where such a row is shown
    without its author's answers, its name tells who withdrew."""
    agreed = Consent.objects.filter(version__team=team, withdrawn_at=None).values("user")
    return Q(rater__user__in=who_withdrew(team)) & ~Q(rater__user__in=agreed)


def withdrawn_of(benchmark: Benchmark, campaigns: Sequence[int] | None = None) -> Withdrawn:
    """In the whole benchmark, or in these campaigns of it. Does not say who withdrew."""
    chosen = {} if campaigns is None else {"assignment__campaign__in": campaigns}
    out = answers_left_out(benchmark).filter(rater__kind=Rater.Kind.PERSON, **chosen)
    counts = out.aggregate(people=Count("rater", distinct=True), answers=Count("pk"))
    if not counts["answers"]:
        return Withdrawn()  # normally: the other count would read every answer
    rows = Annotation.objects.filter(
        assignment__campaign__stage__benchmark=benchmark, rater__kind=Rater.Kind.PERSON, live=True, **chosen
    )
    return Withdrawn(**counts, of=rows.aggregate(of=Count("rater", distinct=True))["of"])


def watermark(benchmark: Benchmark) -> int:
    """Grows with every change of an answer in this benchmark, with each item that a derivation makes, withdraws or
    restores, and with what imports tell of its items: a live page that has seen it need not be drawn again. Numbers are
    cut by what is known of items. A row for each import is read, and for each cohort of a campaign 16. Runs of
    predictions move it not: see `predictions.queries.results.state_of`.
    """
    rows = Tally.objects.filter(cohort__campaign__stage__benchmark=benchmark)
    changes = rows.aggregate(all=Sum("changes"))["all"] or 0
    imports = Job.objects.filter(scope=benchmark.scope, kind=KIND)
    created_by_imports = imports.aggregate(all=Sum(Cast(KT("result__counts__created"), IntegerField())))["all"] or 0
    item_changes = benchmark.stages.aggregate(all=Sum("changes"))["all"] or 0
    return int(changes + created_by_imports + item_changes)
