"""What the page of a stage's cells shows: each cell with its numbers, why it is not full, and what to do about it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.models import Campaign
from annotation.queries.coverage_cells import (
    CellRow,
    GapReason,
    StageCells,
    WantedCell,
    coverage_of,
    daily_counts,
    stage_cells,
)
from benchmarks.access import is_permitted, may_create_cohorts
from benchmarks.models import Benchmark, Stage
from benchmarks.queries.overview import condition_names
from benchmarks.queries.recipe_cohorts import recipe_cohorts
from benchmarks.rules.coverage import CoverageSpec
from benchmarks.rules.forecast import Forecast, Plan, forecast, plan
from benchmarks.templatetags.texts import label_for
from people.access import is_team_admin, may_manage
from people.models import User

GAPS: Mapping[GapReason, tuple[Any, Any]] = {
    "no_cohort": (gettext_lazy("No cohort"), gettext_lazy("The team has no cohort of this label.")),
    "no_candidates": (gettext_lazy("No items"), gettext_lazy("There is no item for this cell.")),
    "waiting_for_facts": (
        gettext_lazy("Waits for facts"),
        gettext_lazy("Every item that is left waits for a fact, such as a score."),
    ),
    "campaign_closed": (
        gettext_lazy("Not open"),
        gettext_lazy("No campaign of this stage is open to this cohort now."),
    ),
    "nobody_active": (
        gettext_lazy("Nobody active"),
        gettext_lazy("Nobody of this cohort submitted an answer in the last seven days."),
    ),
    "in_work": (gettext_lazy("In progress"), gettext_lazy("People of this cohort have it on their pages.")),
    "candidates_used_up": (
        gettext_lazy("Items used up"),
        gettext_lazy("Every item of this cell was decided, and too few were accepted."),
    ),
    "retired_by_skips": (
        gettext_lazy("Retired by skips"),
        gettext_lazy("The items that are left were retired because too many people skipped them."),
    ),
}
STATES = (
    ("in_work", ngettext_lazy("%(n)s item in progress", "%(n)s items in progress", "n")),
    ("left", ngettext_lazy("%(n)s item left", "%(n)s items left", "n")),
    ("waiting", ngettext_lazy("%(n)s item waits for a fact", "%(n)s items wait for a fact", "n")),
    ("retired", ngettext_lazy("%(n)s item retired by skips", "%(n)s items retired by skips", "n")),
    ("rejected", ngettext_lazy("%(n)s item not accepted", "%(n)s items not accepted", "n")),
)
FOLDED_FROM = 6  # labels without a cohort
UNDECIDED = gettext_lazy("The answers did not decide")


@dataclass(frozen=True)
class CellLink:
    """What can be done about a cell, and where."""

    text: str
    url: str


@dataclass(frozen=True)
class CellView:
    """A cell of the table. `gap`: why it is not full, in short; `marked`: it has the chosen reason."""

    cell: WantedCell
    column: str
    gap: str
    url: str
    marked: bool
    is_open: bool

    @property
    def label(self) -> str:
        """What a screen reader says."""
        numbers = {"row": self.cell.row.name, "column": self.column, "n": self.cell.done, "wanted": self.cell.wanted}
        text = _("%(row)s, %(column)s: %(n)s of %(wanted)s") % numbers
        return f"{text}; {self.gap}" if self.gap else text

    @property
    def classes(self) -> str:
        """A gap is framed, unless people work on it; without a cohort it is pale, for it may be most of the table."""
        styles = {None: "full", "in_work": "part", "no_cohort": "none"}
        return f"{styles.get(self.cell.gap, 'hole')} v{self.cell.step}{' marked' if self.marked else ''}"


@dataclass(frozen=True)
class RowView:
    """`gap`: the reason that all its cells have, if they have the same."""

    row: CellRow
    cells: Sequence[CellView]
    gap: str


@dataclass(frozen=True)
class OpenCell:
    """The cell that was opened: `states` and `reasons` as (text, number)."""

    cell: WantedCell
    sentence: str
    links: Sequence[CellLink]
    states: Sequence[str]
    reasons: Sequence[tuple[Any, int]]

    @property
    def percent(self) -> float:
        return min(100.0, 100 * self.cell.done / self.cell.wanted)


@dataclass(frozen=True)
class CellsPage:
    """`gaps`: how many cells have each reason, as (name, n, address). `plan` is None where no dates are set.
    `folded`: how many rows of labels without a cohort are left out."""

    stage: Stage
    spec: CoverageSpec
    cells: StageCells
    names: Mapping[str, Mapping[str, str]]
    rows: Sequence[RowView]
    gaps: Sequence[tuple[str, int, str]]
    chosen: str
    plan: Plan | None
    forecast: Forecast
    open_cell: OpenCell | None
    campaigns: Sequence[Campaign]
    folded: int = 0

    @property
    def behind(self) -> float:
        return -self.plan.ahead if self.plan else 0.0

    @property
    def percent(self) -> float:
        return 100 * self.cells.done / self.cells.wanted if self.cells.wanted else 0.0


def stages_with_coverage(benchmark: Benchmark) -> list[Stage]:
    stages = [stage for stage in benchmark.stages.all() if coverage_of(stage)]
    for stage in stages:
        stage.benchmark = benchmark
    return stages


def cells_page(stage: Stage, spec: CoverageSpec, user: User, params: Mapping[str, str], at: datetime) -> CellsPage:
    """`params` of the address: `gap` shows only rows with this reason, `row` and `column` open a cell. Labels without a
    cohort are many where few cohorts work: they are shown on request, or where there is nothing else."""
    cells = stage_cells(stage, spec, at)
    campaigns = list(stage.campaigns.filter(opened_at__isnull=False).order_by("-opened_at", "-pk"))
    names = condition_names(stage.benchmark) if spec.columns == "conditions" else {}
    chosen = params.get("gap", "") if params.get("gap") in GAPS else ""
    titles = {column: label_for(column, names) for column in cells.columns}
    opened = cells.cells.get((params.get("row", ""), params.get("column", "")))
    rows = []
    for row in cells.rows:
        views = [_view(cells.cells[row.key, column], titles[column], chosen, opened) for column in cells.columns]
        if not chosen or any(view.cell.gap == chosen for view in views):
            gaps = {view.gap for view in views}
            rows.append(RowView(row, views, gaps.pop() if len(gaps) == 1 else ""))
    with_cohort = [row for row in rows if row.row.state or (opened and opened.row == row.row)]
    without = len(rows) - len(with_cohort)
    folded = without if with_cohort and without >= FOLDED_FROM and not chosen else 0
    rows = with_cohort if folded else rows
    today = at.date()
    return CellsPage(
        stage, spec, cells, names, rows, _gap_numbers(cells), chosen,
        plan(cells.wanted, cells.done, *_dates(campaigns), today),
        forecast(daily_counts(stage, spec, at), cells.wanted - cells.done, today),
        _open_cell(stage, opened, user, campaigns) if opened else None, campaigns, folded,
    )  # fmt: skip


def _view(cell: WantedCell, title: str, chosen: str, opened: WantedCell | None) -> CellView:
    gap = str(GAPS[cell.gap][0]) if cell.gap else ""
    query = {"row": cell.row.key, "column": cell.column} | ({"gap": chosen} if chosen else {})
    return CellView(cell, title, gap, f"?{urlencode(query)}#hole", bool(chosen) and cell.gap == chosen, cell is opened)


def _gap_numbers(cells: StageCells) -> list[tuple[str, int, str]]:
    """How many cells have each reason, in the order of the reasons."""
    numbers = Counter(cell.gap for cell in cells.cells.values() if cell.gap)
    return [(str(name), numbers[gap], gap) for gap, (name, _words) in GAPS.items() if numbers[gap]]


def _dates(campaigns: Sequence[Campaign]) -> tuple[date | None, date | None]:
    """From the first opening to the last day; no last day while a campaign that runs has none."""
    running = [campaign for campaign in campaigns if campaign.state != Campaign.State.CLOSED] or list(campaigns)
    first = [campaign.opens_on for campaign in running if campaign.opens_on]
    last = [campaign.closes_on for campaign in running if campaign.closes_on]
    return min(first, default=None), max(last) if last and len(last) == len(running) else None


def _open_cell(stage: Stage, cell: WantedCell, user: User, campaigns: Sequence[Campaign]) -> OpenCell:
    numbers = [(getattr(cell.counts, name), text) for name, text in STATES]
    return OpenCell(
        cell,
        str(GAPS[cell.gap][1]) if cell.gap else "",
        _links(stage, cell, user, campaigns) if cell.gap else (),
        [str(text % {"n": n}) for n, text in numbers if n],
        _reasons(stage, cell.counts.reasons),
    )


def _reasons(stage: Stage, reasons: Mapping[str, int]) -> list[tuple[Any, int]]:
    """Codes in words: an option of a question, a clause of the rule, a reason of reviewers."""
    texts: dict[str, Any] = {"rule=undecided": {"en": str(UNDECIDED)}}
    texts |= {f"review={row['code']}": row["label"] for row in stage.review_reasons}
    texts |= {f"rule={row['key']}": row.get("words") or {} for row in stage.acceptance_rule.get("clauses", ())}
    for field in stage.sheet.get("fields", ()):
        options = [row for rows in (field.get("config") or {}).values() if isinstance(rows, list) for row in rows]
        texts |= {f"{field.get('key')}={row['code']}": row.get("label") or {} for row in options if _has_code(row)}
    counted = sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0]))
    return [(texts.get(code) or {"en": code.partition("=")[2]}, n) for code, n in counted]


def _has_code(row: Any) -> bool:
    return isinstance(row, Mapping) and "code" in row


def _links(stage: Stage, cell: WantedCell, user: User, campaigns: Sequence[Campaign]) -> list[CellLink]:
    """What this person can do about the gap; nothing where they cannot."""
    benchmark, works = stage.benchmark, is_permitted(user, stage.benchmark, "work_on")
    cohort = cell.row.state.cohort if cell.row.state else None
    match cell.gap:
        case "no_cohort":
            return _cohort_links(benchmark, cell, user)
        case "no_candidates" | "candidates_used_up":
            return _item_links(stage) if works else []
        case "waiting_for_facts" if works:
            url = reverse("benchmarks:filters", args=[benchmark.slug, stage.pk])
            return [CellLink(_("View what items wait for"), url)]
        case "campaign_closed":
            return [CellLink(_("View campaigns"), reverse("annotation:campaigns", args=[benchmark.slug]))]
        case "nobody_active" if cohort is not None and may_manage(user, cohort):
            return [
                CellLink(_("Send message"), reverse("people:messages", args=[cohort.pk])),
                CellLink(_("Invite people"), reverse("people:cohort_invite", args=[cohort.pk])),
            ]
        case "nobody_active" | "in_work" | "retired_by_skips":
            return _work_links(stage, cell, user, campaigns)
    return []


def _cohort_links(benchmark: Benchmark, cell: WantedCell, user: User) -> list[CellLink]:
    named = {entry.spec.label for entry in recipe_cohorts(benchmark)}
    if cell.row.label.text in named and may_create_cohorts(user, benchmark):
        return [CellLink(_("Create the recipe's cohorts"), reverse("benchmarks:cohorts", args=[benchmark.slug]))]
    if is_team_admin(user, benchmark.team):
        return [CellLink(_("Create a cohort"), reverse("people:cohort_new", args=[benchmark.team.slug]))]
    return []


def _item_links(stage: Stage) -> list[CellLink]:
    """More items come by an import, or from the stages that this one is made of."""
    slug = stage.benchmark.slug
    if sources := (stage.derivation or {}).get("from"):
        url = f"{reverse('benchmarks:items', args=[slug])}?{urlencode({'stage': sources[0]})}"
        return [CellLink(_("View the items it is made of"), url)]
    url = f"{reverse('benchmarks:import', args=[slug])}?{urlencode({'stage': stage.key})}"
    return [CellLink(_("Import items"), url)]


def _work_links(stage: Stage, cell: WantedCell, user: User, campaigns: Sequence[Campaign]) -> list[CellLink]:
    """Answers that wait for a reviewer, and the cell's answers with the people who could give more."""
    slug, links = stage.benchmark.slug, []
    column_field = "condition" if stage.coverage.get("columns") == "conditions" else "concept"
    reviewed = stage.acceptance == Stage.Acceptance.BY_REVIEW and cell.counts.in_work
    if reviewed and is_permitted(user, stage.benchmark, "review"):
        links.append(CellLink(_("Review answers"), reverse("annotation:review_queue", args=[slug])))
    if campaigns:
        query = {"campaign": campaigns[0].pk, "by": "item", column_field: cell.column}
        url = f"{reverse('annotation:coverage', args=[slug])}?{urlencode(query)}"
        links.append(CellLink(_("View answers and people"), url))
    return links
