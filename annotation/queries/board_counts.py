"""How far each stage is in each cohort, for the board of a benchmark. A fixed number of aggregated queries.

Wanted and given answers are those of annotation.queries.progress, as on every other page.
"""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from django.core.cache import cache
from django.db.models import Count, Exists, Max, OuterRef, QuerySet

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Participation
from annotation.queries.exhausted_cohorts import Exhaustion, exhausted_cohorts
from annotation.queries.opened_stages import RUNNING
from annotation.queries.progress import Progress, progress_of
from annotation.queries.sql import AVAILABLE
from benchmarks.models import Benchmark, ItemReturn, Stage
from benchmarks.queries.availability import is_available
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.rules.forecast import DAYS
from jobs.models import Event
from jobs.queries.read_once import read_once
from jobs.queries.statements import fetch
from people.models import Cohort, CohortMember, Rater

# Answers of people by what reviewers said; those from files belong to no row of a campaign.
REVIEWS = f"""
SELECT c.stage_id, p.cohort_id, a.state, count(*), min(a.changed_at)
FROM annotation_campaign c JOIN annotation_assignment a ON a.campaign_id = c.id
  JOIN annotation_annotation an ON an.assignment_id = a.id AND an.live
    AND (an.counted OR an.uncounted_because = 'rejected')
  JOIN people_rater r ON r.id = a.rater_id AND r.kind = 'person'
  JOIN annotation_unit u ON u.id = a.unit_id JOIN benchmarks_item i ON i.id = u.item_id
  LEFT JOIN annotation_participation p ON p.id = a.participation_id
WHERE c.stage_id = ANY(%s) AND a.state IN ('submitted', 'returned', 'accepted', 'rejected') AND {AVAILABLE}
GROUP BY 1, 2, 3
"""
# What rules say of units, by stage and by the cohort whose people were asked.
OUTCOMES = """
SELECT c.stage_id, s.cohort_id, grouping(s.cohort_id), o.state, count(DISTINCT o.id)
FROM annotation_campaign c JOIN annotation_outcome o ON o.campaign_id = c.id
  JOIN annotation_unit u ON u.id = o.unit_id JOIN benchmarks_item i ON i.id = u.item_id
  LEFT JOIN (annotation_slot s JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id)
    ON s.unit_id = o.unit_id AND cc.campaign_id = o.campaign_id
WHERE c.stage_id = ANY(%s) AND i.withdrawn_at IS NULL
GROUP BY GROUPING SETS ((c.stage_id, s.cohort_id, o.state), (c.stage_id, o.state))
"""
DAILY = """
SELECT p.cohort_id, (an.submitted_at AT TIME ZONE 'UTC')::date, count(*)
FROM annotation_campaign c JOIN annotation_assignment a ON a.campaign_id = c.id
  JOIN annotation_participation p ON p.id = a.participation_id JOIN annotation_annotation an ON an.assignment_id = a.id
WHERE c.stage_id = ANY(%s) AND an.counted AND an.submitted_at >= %s AND an.submitted_at < %s GROUP BY 1, 2
"""
RECENT = f"""
SELECT count(*), count(DISTINCT an.rater_id)
FROM annotation_campaign c JOIN annotation_assignment a ON a.campaign_id = c.id
  JOIN annotation_annotation an ON an.assignment_id = a.id AND an.live AND an.counted
  JOIN people_rater r ON r.id = a.rater_id AND r.kind = 'person'
  JOIN annotation_unit u ON u.id = a.unit_id JOIN benchmarks_item i ON i.id = u.item_id
WHERE c.stage_id = ANY(%s) AND an.submitted_at > %s AND {AVAILABLE}
"""

MANY = 200_000  # answers of a benchmark, whose full days are read once in LASTING seconds
LASTING = 900


@dataclass
class CohortCounts:
    """One cohort at one stage, over all its opened campaigns. `answered` of `wanted` answers are there; by the rule or
    by reviewers `accepted` and so on; `oldest`: since when the first answer waits for review. `pictures`: of sheets, on
    which people disagree; who counts them adds them. `rows`: in campaigns."""

    wanted: int = 0
    answered: int = 0
    waiting: int = 0
    oldest: datetime | None = None
    returned: int = 0
    accepted: int = 0
    rejected: int = 0
    undecided: int = 0
    for_fact: int = 0
    revisions: int = 0
    pictures: int = 0
    per_day: Counter[date] = field(default_factory=Counter)
    last_seen: datetime | None = None
    rows: list[CampaignCohort] = field(default_factory=list)

    def copy(self) -> "CohortCounts":
        return replace(self, per_day=Counter(self.per_day), rows=list(self.rows))

    @property
    def missing(self) -> int:
        return max(0, self.wanted - self.answered)

    @property
    def waits(self) -> bool:
        """Whether somebody else is to do something with answers that are there."""
        return bool(self.waiting or self.returned or self.revisions or self.for_fact or self.pictures)

    def add_review(self, state: str, n: int, oldest: datetime) -> None:
        if state == "submitted":
            self.waiting += n
            self.oldest = min(filter(None, (self.oldest, oldest)))
        elif state == "returned":
            self.returned += n
        elif state == "accepted":
            self.accepted += n
        else:
            self.rejected += n

    def add_outcome(self, state: str, n: int) -> None:
        if state == "accepted":
            self.accepted += n
        elif state == "rejected":
            self.rejected += n
        elif state == "undecided":
            self.undecided += n
        else:
            self.for_fact += n

    def add(self, other: "CohortCounts") -> None:
        """What a rule says is left out: it is said once of an item that several cohorts share."""
        self.wanted, self.answered = self.wanted + other.wanted, self.answered + other.answered
        self.revisions += other.revisions
        self.per_day.update(other.per_day)
        self.rows += other.rows


@dataclass(frozen=True)
class ChainCounts:
    """`cells` by stage and cohort, `totals` by stage. `members`: people in each cohort. `for_models`: ids of campaigns
    that were opened for models and imports only. `exhausted`: by its row, a cohort of a campaign of which nobody may
    give what is missing."""

    cohorts: Sequence[Cohort]
    cells: Mapping[tuple[int, int], CohortCounts]
    totals: Mapping[int, CohortCounts]
    members: Mapping[int, int]
    for_models: frozenset[int]
    exhausted: Mapping[int, Exhaustion]


def count_recent_answers(stages: Sequence[Stage], since: datetime) -> tuple[int, int]:
    """Answers of people that count, given since then, and how many people gave them. One query."""
    [(answers, people)] = fetch(RECENT, [[stage.pk for stage in stages], since])
    return answers, people


def chain_counts(stages: Sequence[Stage], at: datetime) -> ChainCounts:
    answers = _read_answers(stages)
    rows, of_row, cells, totals = answers.rows, answers.of_row, answers.cells, answers.totals
    cohorts = {row.cohort_id: row.cohort for row in rows.values()}
    _read_pace(stages, of_row, at)
    _read_reviews(stages, of_row, totals)
    _read_returns(stages, cells, cohorts, totals)
    _add_up(cells, totals)
    _read_outcomes(stages, of_row, totals)
    members = _members(cohorts)
    lacking = [row for counts in cells.values() if counts.missing for row in counts.rows]
    in_order = sorted(cohorts.values(), key=lambda cohort: cohort.name)
    return ChainCounts(in_order, cells, totals, members, answers.for_models, _exhausted(lacking, members))


def _exhausted(lacking: Iterable[CampaignCohort], members: Mapping[int, int]) -> dict[int, Exhaustion]:
    """Those of these rows that are at work and have people, of whom nobody may give what is missing."""
    worked_on = [row.pk for row in lacking if row.campaign.state in RUNNING and members.get(row.cohort_id)]
    return read_once(("exhausted", frozenset(worked_on)), lambda: exhausted_cohorts(worked_on))


@dataclass(frozen=True)
class _StageAnswers:
    """Answers given and wanted: by stage and cohort, and by stage where no cohort is named. `of_row`: those of a row's
    stage and cohort; `progress`: of the row alone. `rows`: of every opened campaign. `for_models`: ids of campaigns
    without people, which have no counts."""

    rows: Mapping[int, CampaignCohort]
    progress: Mapping[int, Progress]
    of_row: Mapping[int, CohortCounts]
    cells: dict[tuple[int, int], CohortCounts]
    totals: Mapping[int, CohortCounts]
    for_models: frozenset[int]

    def copy(self) -> "_StageAnswers":
        """Others' counts stay as they are when these are added to."""
        cells = {key: counts.copy() for key, counts in self.cells.items()}
        of_row = {pk: cells[self.rows[pk].campaign.stage_id, self.rows[pk].cohort_id] for pk in self.of_row}
        totals = {stage: counts.copy() for stage, counts in self.totals.items()}
        return replace(self, cells=cells, of_row=of_row, totals=totals)


def _read_answers(stages: Sequence[Stage]) -> _StageAnswers:
    """The board and the next action of one page read them once."""
    key = "answers of stages", tuple(sorted(stage.pk for stage in stages))
    return read_once(key, lambda: _read_stage_answers(stages)).copy()


def _read_stage_answers(stages: Sequence[Stage]) -> _StageAnswers:
    rows = CampaignCohort.objects.filter(campaign__stage__in=stages, campaign__opened_at__isnull=False)
    rows_by_id = {row.pk: row for row in rows.select_related("campaign", "cohort").order_by("campaign", "pk")}
    scope = f"benchmark:{stages[0].benchmark_id}" if stages else ""
    for_models = opened_for_models({row.campaign for row in rows_by_id.values()}, scope)
    cells: dict[tuple[int, int], CohortCounts] = {}
    of_row: dict[int, CohortCounts] = {}
    for row in rows_by_id.values():
        if row.campaign_id not in for_models:
            of_row[row.pk] = cells.setdefault((row.campaign.stage_id, row.cohort_id), CohortCounts())
            of_row[row.pk].rows.append(row)
    totals = {stage.pk: CohortCounts() for stage in stages}
    progress = _read_progress(of_row)
    _read_files(stages, cells, totals)
    return _StageAnswers(rows_by_id, progress, of_row, cells, totals, for_models)


def _add_up(cells: Mapping[tuple[int, int], CohortCounts], totals: Mapping[int, CohortCounts]) -> None:
    for (stage, _cohort), counts in cells.items():
        totals[stage].add(counts)


@dataclass(frozen=True)
class StageProgress:
    """Answers of people given and wanted at a stage, as the board has them for all its cohorts together. `is_stuck`:
    some are missing, and nobody left may give them."""

    stage: Stage
    answered: int
    wanted: int
    is_stuck: bool = False


@dataclass(frozen=True)
class ChainProgress:
    """`incomplete`: stages in which people still owe answers. `unopened`: those that ask people and were never opened,
    but for those in which the recipe asks nobody.

    `unanswered`: the first open stage that has items and no answer yet, though some are wanted.
    `returned`: items that were returned to those who made them, and have no next revision yet.
    """

    incomplete: Sequence[StageProgress]
    unopened: Sequence[Stage]
    unanswered: StageProgress | None = None
    returned: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether every answer that an open stage asks for is there."""
        return not self.incomplete

    @property
    def is_over(self) -> bool:
        """Whether nobody has an answer to give: all are there, or nobody left may give those that are missing."""
        return all(stage.is_stuck for stage in self.incomplete)


def chain_progress(benchmark: Benchmark) -> ChainProgress:
    """A stage is incomplete where a cohort of a campaign that is open or paused owes answers; a closed campaign wants
    nothing more. Six queries, and two or three where a stage is incomplete."""
    stages = list(benchmark.stages.all())
    answers = _read_answers(stages)
    _add_up(answers.cells, answers.totals)
    lacking = [
        answers.rows[pk]
        for pk, progress in answers.progress.items()
        if progress.submitted < progress.wanted and answers.rows[pk].campaign.state in RUNNING
    ]
    exhausted = _exhausted(lacking, _members({row.cohort_id: row.cohort for row in lacking})) if lacking else {}
    owing = {row.campaign.stage_id for row in lacking}
    working = {row.campaign.stage_id for row in lacking if row.pk not in exhausted}
    opened = {row.campaign.stage_id for row in answers.rows.values()}
    totals = answers.totals
    incomplete = [
        StageProgress(stage, totals[stage.pk].answered, totals[stage.pk].wanted, is_stuck=stage.pk not in working)
        for stage in stages
        if stage.pk in owing
    ]
    return ChainProgress(
        incomplete,
        [stage for stage in _asking_stages(benchmark, stages) if stage.pk not in opened],
        next((stage for stage in incomplete if not stage.answered and not stage.is_stuck), None),
        _open_returns(stages).count(),
    )


def _asking_stages(benchmark: Benchmark, stages: Sequence[Stage]) -> list[Stage]:
    """Those that ask people. Where the recipe, as it is now, asks none, people are optional: an older version of it may
    have asked them."""
    recipe = recipe_of(benchmark)
    optional = {spec.key for spec in recipe.stages if not spec.target_answers} if recipe else set()
    return [stage for stage in stages if stage.target_answers and stage.key not in optional]


def opened_for_models(campaigns: Iterable[Campaign], scope: str) -> frozenset[int]:
    """Those in which nobody is given work: opened for models and imports, and never opened to people since. `scope`: of
    the events of their benchmark."""
    paused = {f"campaign:{row.pk}": row for row in campaigns if row.state == Campaign.State.PAUSED}
    if not paused:
        return frozenset()
    events = Event.objects.filter(scope=scope, verb="campaign.opened_for_imports", target__in=paused)
    marked = {paused[target].pk for target in events.values_list("target", flat=True)}
    # Somebody who only follows an address to a paused campaign has a participation, and no work.
    worked = Participation.objects.filter(cohort__campaign__in=marked, assignments__isnull=False)
    return frozenset(marked - set(worked.order_by().values_list("cohort__campaign", flat=True).distinct()))


def _read_progress(of_row: Mapping[int, CohortCounts]) -> dict[int, Progress]:
    """Add it to the counts, and return it by row."""
    progress_by_row = progress_of(of_row)
    for row, progress in progress_by_row.items():
        of_row[row].wanted += progress.wanted
        of_row[row].answered += progress.submitted
    return progress_by_row


def _read_pace(stages: Sequence[Stage], of_row: Mapping[int, CohortCounts], at: datetime) -> None:
    seen = Participation.objects.filter(cohort__in=of_row).order_by().values_list("cohort")
    for row, last in seen.annotate(last=Max("last_seen_at")):
        of_row[row].last_seen = max(filter(None, (of_row[row].last_seen, last)))
    today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    ids = [stage.pk for stage in stages]
    for row, day, n in _read_days(ids, today, answered=sum(counts.answered for counts in of_row.values())):
        if row in of_row:
            of_row[row].per_day[day] += n


def _read_days(stages: Sequence[int], today: datetime, *, answered: int) -> Iterable[tuple[int, date, int]]:
    """Answers by row and day of the full days before `today`. What comes later changes them only where it withdraws
    answers, so that those of many `answered` are kept for a while."""

    def read() -> list[tuple[int, date, int]]:
        return list(fetch(DAILY, [stages, today - timedelta(days=DAYS), today]))

    if answered < MANY:
        return read()
    key = f"board:days:{'-'.join(map(str, stages))}:{today:%Y-%m-%d}"
    return cache.get_or_set(key, read, LASTING) or ()


def _read_files(
    stages: Sequence[Stage], cells: dict[tuple[int, int], CohortCounts], totals: Mapping[int, CohortCounts]
) -> None:
    """Answers of people that came in files: nobody was asked for them."""
    of_rater = Assignment.objects.filter(rater=OuterRef("pk"), participation=None, campaign__stage__in=stages)
    people = list(Rater.objects.filter(Exists(of_rater), kind=Rater.Kind.PERSON).values_list("pk", flat=True))
    if not people:
        return  # models' answers, of which there may be many, need not be read
    rows = Annotation.objects.filter(
        is_available("assignment__unit__item__"), assignment__campaign__stage__in=stages,
        assignment__participation=None, live=True, counted=True, run=None, rater__in=people,
    )  # fmt: skip
    grouped = rows.order_by().values_list("assignment__campaign__stage", "cohort").annotate(n=Count("pk"))
    for stage, cohort, n in grouped:
        of_cell = cells.setdefault((stage, cohort), CohortCounts()) if cohort is not None else totals[stage]
        of_cell.answered += n


def _read_reviews(
    stages: Sequence[Stage], of_row: Mapping[int, CohortCounts], totals: Mapping[int, CohortCounts]
) -> None:
    reviewed = [stage.pk for stage in stages if stage.acceptance == Stage.Acceptance.BY_REVIEW]
    for stage, row, state, n, oldest in fetch(REVIEWS, [reviewed]) if reviewed else ():
        totals[stage].add_review(state, n, oldest)
        if row in of_row:
            of_row[row].add_review(state, n, oldest)


def _read_outcomes(
    stages: Sequence[Stage], of_row: Mapping[int, CohortCounts], totals: Mapping[int, CohortCounts]
) -> None:
    ruled = [stage.pk for stage in stages if stage.acceptance == Stage.Acceptance.BY_RULE]
    for stage, row, is_total, state, n in fetch(OUTCOMES, [ruled]) if ruled else ():
        if is_total:
            totals[stage].add_outcome(state, n)
        elif row in of_row:
            of_row[row].add_outcome(state, n)


def _read_returns(
    stages: Sequence[Stage],
    cells: Mapping[tuple[int, int], CohortCounts],
    cohorts: Mapping[int, Cohort],
    totals: Mapping[int, CohortCounts],
) -> None:
    """Items that were returned and have no next revision yet, by the cohort that they come from."""
    labels = {cohort.label: pk for pk, cohort in cohorts.items()}
    for stage, origin, n in _open_returns(stages).values_list("item__stage", "item__origin").annotate(n=Count("pk")):
        (cells.get((stage, labels.get(origin, 0))) or totals[stage]).revisions += n


def _open_returns(stages: Sequence[Stage]) -> QuerySet[ItemReturn]:
    return ItemReturn.objects.filter(item__stage__in=stages, undone_at=None, item__replaced_by=None).order_by()


def _members(cohorts: Mapping[int, Cohort]) -> dict[int, int]:
    rows = CohortMember.objects.filter(cohort__in=cohorts, left_at=None).order_by()
    return dict(rows.values_list("cohort").annotate(n=Count("pk")))
