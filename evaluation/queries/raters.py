"""Who answers in a benchmark: how much, how fast, and whether it counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, Max, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation, Assignment, Campaign, Exclusion, Participation
from annotation.queries.answers import answers_left_out
from benchmarks.models import Benchmark
from evaluation.rendering.number_format import format_percent
from jobs.models import Event
from people.models import Cohort, CohortMember, Rater

IDLE = timedelta(days=3)


@dataclass(frozen=True)
class RaterRow:
    """One rater in one cohort, over all campaigns of the benchmark. Who came in a file may be of no cohort, and was
    never seen here."""

    rater: Rater
    cohort: Cohort | None
    pseudonym: str
    done: int
    counted: int
    skipped: int
    median_seconds: float | None
    seen_at: datetime | None
    exclusion: Exclusion | None
    idle: bool
    left: bool = False

    @property
    def is_active(self) -> bool:
        return not (self.idle or self.left or self.exclusion or self.from_file)

    @property
    def from_file(self) -> bool:
        return self.seen_at is None

    @property
    def is_model(self) -> bool:
        return self.rater.kind == Rater.Kind.MODEL

    @property
    def skipped_share(self) -> float | None:
        shown = self.done + self.skipped
        return self.skipped / shown if shown else None

    @property
    def skipped_percent(self) -> str:
        return "" if self.from_file else format_percent(self.skipped_share)


# Done, counted and the median of active seconds, per person and cohort.
_DONE = """
  SELECT a.rater_id, a.cohort_id, count(*), count(*) FILTER (WHERE a.counted),
         percentile_cont(0.5) WITHIN GROUP (ORDER BY a.active_seconds)
  FROM annotation_annotation a JOIN annotation_assignment s ON s.id = a.assignment_id
  WHERE a.rater_id = ANY(%s) AND s.campaign_id = ANY(%s) AND a.live
    AND a.id <> ALL(%s)
  GROUP BY a.rater_id, a.cohort_id
"""


def cohorts_of(benchmark: Benchmark) -> list[Cohort]:
    asked = Cohort.objects.filter(campaigns__campaign__stage__benchmark=benchmark).distinct()
    return sorted(asked, key=lambda cohort: cohort.name)


def raters_of(
    benchmark: Benchmark, at: datetime, cohort: int | None = None, rater: int | None = None
) -> list[RaterRow]:
    """By cohort, then by name here, models last: never by how much or how well."""
    campaigns = list(Campaign.objects.filter(stage__benchmark=benchmark).values_list("pk", flat=True))
    taking_part = Participation.objects.filter(cohort__campaign__in=campaigns)
    if cohort is not None:
        taking_part = taking_part.filter(cohort__cohort=cohort)
    if rater is not None:
        taking_part = taking_part.filter(rater=rater)
    last_answers: dict[tuple[int, int | None], datetime | None] = dict.fromkeys(
        _from_files(benchmark, campaigns, cohort, rater)
    )
    last_answers |= {
        (row["rater"], row["cohort__cohort"]): row["seen"]
        for row in taking_part.values("rater", "cohort__cohort").annotate(seen=Max("last_seen_at"))
    }
    ids = sorted({r for r, _c in last_answers})
    left_out = list(answers_left_out(benchmark).filter(rater__in=ids).values_list("pk", "rater", "cohort"))
    done = _count_done(ids, campaigns, [answer for answer, _rater, _cohort in left_out])
    skipped = _count_skipped(ids, campaigns)
    raters = Rater.objects.filter(pk__in=ids).select_related("user").in_bulk()
    cohorts = Cohort.objects.in_bulk([c for _r, c in last_answers if c is not None])
    # Who has no answers but those is not listed: the page does not say who withdrew.
    gone = {(rater, cohort) for _answer, rater, cohort in left_out}
    excluded = {e.rater_id: e for e in Exclusion.objects.filter(benchmark=benchmark, lifted_at__isnull=True)}
    members = _members(ids, cohorts)
    lines = [
        RaterRow(
            rater=raters[r],
            cohort=cohorts[c] if c is not None else None,
            pseudonym=benchmark.pseudonym(r),
            **done.get((r, c), NOTHING)._asdict(),
            skipped=skipped.get((r, c), 0),
            seen_at=last,
            exclusion=excluded.get(r),
            idle=last is not None and last < at - IDLE,
            left=last is not None and (r, c) not in members,
        )
        for (r, c), last in last_answers.items()
        if (r, c) in done or (r, c) not in gone or r in excluded
    ]
    return sorted(lines, key=lambda line: (line.is_model, line.cohort.name if line.cohort else "", line.pseudonym))


def _from_files(
    benchmark: Benchmark, campaigns: Sequence[int], cohort: int | None, rater: int | None
) -> set[tuple[int, int | None]]:
    """Whose answers came in a file, by cohort; of withdrawn ones, only who is excluded, so that it can be lifted."""
    excluded = Exclusion.objects.filter(benchmark=benchmark, lifted_at__isnull=True).values("rater")
    rows = Annotation.objects.filter(assignment__campaign__in=campaigns, assignment__participation=None)
    rows = rows.filter(Q(live=True) | Q(rater__in=excluded))
    if cohort is not None:
        rows = rows.filter(cohort=cohort)
    if rater is not None:
        rows = rows.filter(rater=rater)
    return set(rows.values_list("rater", "cohort").distinct())


class AnswerCounts(NamedTuple):
    done: int
    counted: int
    median_seconds: float | None


NOTHING = AnswerCounts(0, 0, None)


def _members(raters: Iterable[int], cohorts: Iterable[int]) -> set[tuple[int, int | None]]:
    """Who belongs to which of the cohorts now."""
    rows = CohortMember.objects.filter(user__rater__in=list(raters), cohort__in=list(cohorts), left_at=None)
    return set(rows.values_list("user__rater", "cohort"))


def _count_done(
    raters: Sequence[int], campaigns: Sequence[int], left_out: list[int]
) -> dict[tuple[int, int | None], AnswerCounts]:
    with connection.cursor() as cursor:
        cursor.execute(_DONE, [list(raters), list(campaigns), left_out])
        return {(rater, cohort): AnswerCounts(*rest) for rater, cohort, *rest in cursor.fetchall()}


def _count_skipped(raters: Sequence[int], campaigns: Sequence[int]) -> dict[tuple[int, int | None], int]:
    rows = (
        Assignment.objects.filter(rater__in=raters, campaign__in=campaigns, participation__isnull=False)
        .values("rater", "participation__cohort__cohort")
        .annotate(n=Count("pk", filter=Q(state=Assignment.State.SKIPPED)))
    )
    return {(row["rater"], row["participation__cohort__cohort"]): row["n"] for row in rows}


def exclusions_of(benchmark: Benchmark, rater: Rater) -> list[Exclusion]:
    """All of them, also those that were lifted; the newest first."""
    rows = Exclusion.objects.filter(benchmark=benchmark, rater=rater).select_related("by", "lifted_by")
    return list(rows.order_by("-pk"))


def exclusion_effect_text(benchmark: Benchmark, rater: Rater) -> str:
    """What the last exclusion of this rater did, as the event of it says."""
    events = Event.objects.filter(scope=benchmark.scope, verb="rater.excluded", target=f"rater:{rater.pk}")
    event = events.order_by("-pk").first()
    if event is None:
        return ""
    answers, places = event.data.get("answers", 0), event.data.get("places", 0)
    answers_text = ngettext("%(n)s answer no longer counts", "%(n)s answers no longer count", answers) % {"n": answers}
    opened = ngettext("%(n)s answer reopened", "%(n)s answers reopened", places) % {"n": places}
    return _("%(answers)s; %(places)s.") % {"answers": answers_text, "places": opened}
