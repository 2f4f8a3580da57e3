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


# Done, counted and the median of active seconds, per person and cohort. Answers to withdrawn items are in no number.
_DONE = """
  SELECT a.rater_id, a.cohort_id, count(*), count(*) FILTER (WHERE a.counted AND w.id IS NULL),
         percentile_cont(0.5) WITHIN GROUP (ORDER BY a.active_seconds)
  FROM annotation_annotation a JOIN annotation_assignment s ON s.id = a.assignment_id
  LEFT JOIN (
    SELECT u.id FROM annotation_unit u JOIN benchmarks_item i ON i.id = u.item_id
    WHERE i.withdrawn_at IS NOT NULL AND i.stage_id IN (SELECT stage_id FROM annotation_campaign WHERE id = ANY(%s))
  ) w ON w.id = s.unit_id
  WHERE a.rater_id = ANY(%s) AND s.campaign_id = ANY(%s) AND a.live
    AND a.id <> ALL(%s)
  GROUP BY a.rater_id, a.cohort_id
"""


def cohorts_of(benchmark: Benchmark) -> list[Cohort]:
    asked = Cohort.objects.filter(campaigns__campaign__stage__benchmark=benchmark).distinct()
    return sorted(asked, key=lambda cohort: cohort.name)


def cohorts_with_people(benchmark: Benchmark) -> set[int]:
    """Ids of the cohorts in which somebody takes part in a campaign of the benchmark."""
    seats = Participation.objects.filter(cohort__campaign__stage__benchmark=benchmark).order_by()
    return set(seats.values_list("cohort__cohort", flat=True).distinct())


@dataclass(frozen=True)
class RaterCounts:
    """Answers of one rater in one cohort, over all campaigns. `withdrawn`: their author withdrew, so that the rater is
    listed only where an exclusion can be lifted: the page does not say who withdrew."""

    rater: int
    cohort: int | None
    done: int
    counted: int
    median_seconds: float | None
    skipped: int
    withdrawn: bool


def raters_of(
    benchmark: Benchmark, at: datetime, cohort: int | None = None, rater: int | None = None
) -> list[RaterRow]:
    """By cohort, then by name here, models last: never by how much or how well."""
    return rater_rows(benchmark, rater_counts(benchmark, cohort, rater), at)


def rater_counts(benchmark: Benchmark, cohort: int | None = None, rater: int | None = None) -> list[RaterCounts]:
    """Of everybody who took part or whose answers came in a file. Reads every answer of theirs."""
    campaigns = _campaigns(benchmark)
    listed = _from_files(benchmark, campaigns, cohort, rater) | set(_last_seen(campaigns, cohort, rater))
    ids = sorted({r for r, _c in listed})
    left_out = list(answers_left_out(benchmark).filter(rater__in=ids).values_list("pk", "rater", "cohort"))
    done = _count_done(ids, campaigns, [answer for answer, _rater, _cohort in left_out])
    skipped = _count_skipped(ids, campaigns)
    gone = {(r, c) for _answer, r, c in left_out} - set(done)
    return [
        RaterCounts(r, c, *done.get((r, c), NOTHING), skipped.get((r, c), 0), withdrawn=(r, c) in gone)
        for r, c in sorted(listed, key=lambda pair: (pair[0], pair[1] or 0))
    ]


def rater_rows(benchmark: Benchmark, counts: Sequence[RaterCounts], at: datetime) -> list[RaterRow]:
    """The same counts with who the raters are and how they stand today, in the order of `raters_of`."""
    last_seen = _last_seen(_campaigns(benchmark))
    ids = {of.rater for of in counts}
    raters = Rater.objects.filter(pk__in=ids).select_related("user").in_bulk()
    cohorts = Cohort.objects.in_bulk({of.cohort for of in counts if of.cohort is not None})
    excluded = {e.rater_id: e for e in Exclusion.objects.filter(benchmark=benchmark, lifted_at__isnull=True)}
    members = _members(ids, cohorts)
    rows = [
        RaterRow(
            rater=raters[of.rater],
            cohort=cohorts[of.cohort] if of.cohort is not None else None,
            pseudonym=benchmark.pseudonym(of.rater),
            done=of.done,
            counted=of.counted,
            median_seconds=of.median_seconds,
            skipped=of.skipped,
            seen_at=last,
            exclusion=excluded.get(of.rater),
            idle=last is not None and last < at - IDLE,
            left=last is not None and (of.rater, of.cohort) not in members,
        )
        for of in counts
        for last in [last_seen.get((of.rater, of.cohort))]
        if of.rater in raters and (not of.withdrawn or of.rater in excluded)
    ]
    return sorted(rows, key=lambda row: (row.is_model, row.cohort.name if row.cohort else "", row.pseudonym))


def _campaigns(benchmark: Benchmark) -> list[int]:
    return list(Campaign.objects.filter(stage__benchmark=benchmark).values_list("pk", flat=True))


def _last_seen(
    campaigns: Sequence[int], cohort: int | None = None, rater: int | None = None
) -> dict[tuple[int, int | None], datetime | None]:
    """When each of those who take part was here last, by rater and cohort."""
    taking_part = Participation.objects.filter(cohort__campaign__in=campaigns)
    if cohort is not None:
        taking_part = taking_part.filter(cohort__cohort=cohort)
    if rater is not None:
        taking_part = taking_part.filter(rater=rater)
    rows = taking_part.values("rater", "cohort__cohort").annotate(seen=Max("last_seen_at"))
    return {(row["rater"], row["cohort__cohort"]): row["seen"] for row in rows}


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
        cursor.execute(_DONE, [list(campaigns), list(raters), list(campaigns), left_out])
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
