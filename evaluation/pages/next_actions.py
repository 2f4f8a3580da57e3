"""What numbers add to the next action of the overview: see benchmarks.pages.next_actions."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation, Campaign
from annotation.pages.unpaired import pair_settings_address, should_have_pairs
from annotation.queries.board_counts import ChainProgress, chain_progress
from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.next_actions import NextAction
from people.models import User


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
        return _wait_for_stage(benchmark, *progress.unanswered)
    if not progress.is_complete or not works:
        return _view_tables(benchmark, progress)
    if progress.returned:
        return _await_revisions(benchmark, progress.returned)
    if action := _edit_unpaired(benchmark):
        return action
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


def _view_tables(benchmark: Benchmark, progress: ChainProgress) -> NextAction:
    answered, wanted = progress.answered, progress.wanted
    words = {"n": number_format(answered, use_l10n=True), "wanted": number_format(wanted, use_l10n=True)}
    return NextAction(
        _("The tables are ready."),
        _("View the tables"),
        reverse("evaluation:tables", args=[benchmark.slug]),
        _("%(n)s of %(wanted)s answers are there; the tables follow new ones.") % words if wanted else "",
        (_("View agreement"), reverse("evaluation:agreement", args=[benchmark.slug])),
    )


def _wait_for_stage(benchmark: Benchmark, stage: Stage, wanted: int) -> NextAction:
    """A stage that follows has items, and nobody has answered there."""
    text = ngettext(
        "“%(stage)s” has no answer yet; %(n)s is wanted.", "“%(stage)s” has no answer yet; %(n)s are wanted.", wanted
    )
    return NextAction(
        text % {"stage": stage.name, "n": number_format(wanted, use_l10n=True)},
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
        _("Open the chain"),
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


def _export(benchmark: Benchmark) -> NextAction:
    return NextAction(
        _("All wanted answers are there."),
        _("Export"),
        reverse("releases:export", args=[benchmark.slug]),
        second=(_("View the tables"), reverse("evaluation:tables", args=[benchmark.slug])),
    )
