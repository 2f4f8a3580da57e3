"""What numbers add to the next action of the overview: see benchmarks.pages.next_actions."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation, Campaign
from annotation.pages.mixed_pairs import open_stages_with_mixed_items, remedy_address
from annotation.pages.unpaired import pair_settings_address, should_have_pairs
from annotation.queries.board_counts import StageProgress, chain_progress
from annotation.queries.coverage_cells import StageCells, coverage_of, stage_cells
from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.next_actions import NextAction
from people.models import User
from predictions.pages.awaited_answers import await_judged_answers
from predictions.queries.unfinished_runs import failed_calls, unfinished_runs

NAMED = 3  # stages without all their answers


def _has_answers(benchmark: Benchmark) -> bool:
    rows = Annotation.objects.filter(assignment__campaign__stage__benchmark=benchmark, live=True, counted=True)
    return rows.exists()


def use_answers(benchmark: Benchmark, user: User) -> NextAction | None:
    """There are answers: their tables; for who works on the benchmark and misses none, what was returned, the stages
    that are left, or the export. How far the chain is, is read once."""
    if not _has_answers(benchmark):
        return None
    progress = chain_progress(benchmark)
    works = is_permitted(user, benchmark, "work_on")
    if works and progress.unanswered is not None:
        return _wait_for_stage(benchmark, progress.unanswered)
    runs = unfinished_runs(benchmark).count()
    if runs or not (progress.is_over if works else progress.is_complete):
        return _view_first_tables(benchmark, progress.incomplete, runs)
    if not works:
        return _view_tables(benchmark, _("The tables are ready."))
    if progress.returned:
        return _await_revisions(benchmark, progress.returned)
    if action := _edit_unpaired(benchmark) or await_judged_answers(benchmark):
        return action
    if progress.incomplete:
        return _export_what_is_there(benchmark, progress.incomplete)
    return _open_the_rest(benchmark, progress.unopened) if progress.unopened else _export(benchmark)


def _await_revisions(benchmark: Benchmark, n: int) -> NextAction:
    text = ngettext(
        "%(n)s item was returned to who made it, and waits for its next version.",
        "%(n)s items were returned to those who made them, and wait for their next versions.",
        n,
    )
    return NextAction(
        text % {"n": number_format(n, use_l10n=True)},
        _("View the tables"),
        reverse("evaluation:tables", args=[benchmark.slug]),
        second=(_("View items"), reverse("benchmarks:items", args=[benchmark.slug])),
    )


def _view_tables(benchmark: Benchmark, text: str, detail: str = "") -> NextAction:
    return NextAction(
        text,
        _("View the tables"),
        reverse("evaluation:tables", args=[benchmark.slug]),
        detail,
        (_("View agreement"), reverse("evaluation:agreement", args=[benchmark.slug])),
    )


def _view_first_tables(benchmark: Benchmark, incomplete: Sequence[StageProgress], runs: int) -> NextAction:
    """People or models owe answers. The numbers are those of the board's row for all cohorts. `runs`: of models, that
    are not over."""
    sentences = [_("Answers of people: %(stages)s.") % {"stages": _named(incomplete)}] if incomplete else []
    if runs:
        text = ngettext("%(n)s run of a model is not over.", "%(n)s runs of models are not over.", runs)
        sentences.append(text % {"n": number_format(runs, use_l10n=True)})
    return _view_tables(benchmark, _("View the tables of the answers so far."), " ".join(sentences))


def _named(incomplete: Sequence[StageProgress]) -> str:
    """The first stages with how far they are, and how many more there are."""
    stages = [_answers_of(row) for row in incomplete[:NAMED]]
    if more := len(incomplete) - len(stages):
        stages.append(ngettext("%(n)s more stage", "%(n)s more stages", more) % {"n": more})
    return ", ".join(stages)


def _answers_of(row: StageProgress) -> str:
    numbers = {"n": number_format(row.answered, use_l10n=True), "wanted": number_format(row.wanted, use_l10n=True)}
    return _("“%(stage)s” has %(n)s of %(wanted)s") % {"stage": row.stage.name, **numbers}


def _wait_for_stage(benchmark: Benchmark, progress: StageProgress) -> NextAction:
    """A stage that follows has items, and nobody has answered there."""
    n = progress.wanted
    text = ngettext(
        "“%(stage)s” has no answer yet; %(n)s is wanted.", "“%(stage)s” has no answer yet; %(n)s are wanted.", n
    )
    return NextAction(
        text % {"stage": progress.stage.name, "n": number_format(n, use_l10n=True)},
        _("View coverage"),
        reverse("annotation:coverage", args=[benchmark.slug]),
        _("People have the work on their pages. The tables show the stages that have answers."),
        (_("View the tables"), reverse("evaluation:tables", args=[benchmark.slug])),
    )


def _open_the_rest(benchmark: Benchmark, unopened: Sequence[Stage]) -> NextAction:
    """Stages that nobody was asked in."""
    n = len(unopened)
    text = ngettext(
        "All answers of the open stages are there. %(n)s stage is not open yet: %(stages)s.",
        "All answers of the open stages are there. %(n)s stages are not open yet: %(stages)s.",
        n,
    )
    return NextAction(
        text % {"n": n, "stages": ", ".join(f"“{stage.name}”" for stage in unopened)},
        _("Open the whole chain"),
        reverse("annotation:chain_open", args=[benchmark.slug]),
        second=(_("View the tables"), reverse("evaluation:tables", args=[benchmark.slug])),
    )


def _edit_unpaired(benchmark: Benchmark) -> NextAction | None:
    """An open stage of pairs that has none, though all that is wanted is answered."""
    running = (Campaign.State.OPEN, Campaign.State.PAUSED)
    stages = benchmark.stages.filter(derivation__kind="pair", campaigns__state__in=running, items=None)
    stage = next(filter(should_have_pairs, stages), None)
    if stage is None:
        return None
    return NextAction(
        _("“%(stage)s” has no pairs yet.") % {"stage": stage.name},
        _("Edit stage"),
        pair_settings_address(benchmark, stage),
        _("All other answers are there. “Source of items” says which pairs result."),
        (_("View the tables"), reverse("evaluation:tables", args=[benchmark.slug])),
    )


def _export_what_is_there(benchmark: Benchmark, stuck: Sequence[StageProgress]) -> NextAction:
    """Answers are missing, and nobody left may give them."""
    return NextAction(
        _("Nobody left may give the answers that are missing: %(stages)s.") % {"stages": _named(stuck)},
        _("Export"),
        reverse("releases:export", args=[benchmark.slug]),
        _("Invite more people, close the campaign, or export what is there."),
        (_("View coverage"), reverse("annotation:coverage", args=[benchmark.slug])),
    )


def _export(benchmark: Benchmark) -> NextAction:
    """All wanted answers are there; where a stage says what its cells want, as far as these are full. What else is
    short stands beside it, with the way to it."""
    sentences, second = _shortfalls(benchmark)
    export = _("Export"), reverse("releases:export", args=[benchmark.slug])
    gap = _stage_with_gaps(benchmark)
    if gap is None:
        return NextAction(_("All wanted answers are there."), *export, " ".join(sentences), second)
    numbers = {"stage": gap.stage.name, "n": gap.cells.full, "all": len(gap.cells.cells)}
    text = _("“%(stage)s” has what it wants in %(n)s of %(all)s cells.") % numbers
    detail = " ".join([_("All answers that people were asked for are there."), *sentences])
    cells = _("View the cells"), reverse("annotation:coverage_cells", args=[benchmark.slug, gap.stage.pk])
    first, other = (export, cells) if gap.is_closed else (cells, export)
    return NextAction(text, *first, detail, other)


def _shortfalls(benchmark: Benchmark) -> tuple[list[str], tuple[str, str]]:
    """What failed or waits for nobody, in sentences, and a link: to the last of it, or else to the tables."""
    second = _("View the tables"), reverse("evaluation:tables", args=[benchmark.slug])
    sentences = []
    if n := failed_calls(benchmark).count():
        text = ngettext("%(n)s call of a model failed.", "%(n)s calls of models failed.", n)
        sentences.append(text % {"n": number_format(n, use_l10n=True)})
        second = _("View runs"), reverse("predictions:index", args=[benchmark.slug])
    for mixed in open_stages_with_mixed_items(benchmark)[:1]:
        sentences.append(_("“%(stage)s”: %(problem)s.") % {"stage": mixed.stage.name, "problem": mixed.text})
        second = _("Edit stage"), remedy_address(benchmark, mixed.stage)
    return sentences, second


@dataclass(frozen=True)
class StageGap:
    """A stage with cells that have less than is wanted. `is_closed`: its campaigns take no answers any more."""

    stage: Stage
    cells: StageCells
    is_closed: bool


def _stage_with_gaps(benchmark: Benchmark) -> StageGap | None:
    """The first stage in which a cell of a cohort that was asked has less than is wanted."""
    for stage in benchmark.stages.exclude(coverage={}).select_related("benchmark__team"):
        spec = coverage_of(stage)
        cells = stage_cells(stage, spec, timezone.now()) if spec else None
        states = [cell.row.state for cell in cells.cells.values() if cell.gap and cell.row.state] if cells else []
        if cells and any(state.is_asked for state in states):
            takes_answers = (Campaign.State.OPEN, Campaign.State.PAUSED)
            is_closed = not Campaign.objects.filter(stage=stage, state__in=takes_answers).exists()
            return StageGap(stage, cells, is_closed)
    return None
