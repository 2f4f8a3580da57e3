"""What campaigns and reviews add to the next action of the overview: see benchmarks.pages.next_actions."""

from collections.abc import Collection, Sequence
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation, Campaign, CampaignCohort
from annotation.pages.kept_pictures import waiting_pictures
from annotation.pages.mixed_pairs import open_stages_with_mixed_items, remedy_address, remedy_text, who_answers_address
from annotation.queries.disputes import open_disputes
from annotation.queries.opened_stages import RUNNING, lacks_people, opened_stages, running_stages
from annotation.queries.resolutions import settles_disputes
from annotation.queries.review_queue import count_waiting_answers
from benchmarks.access import is_permitted, may_create_cohorts
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.next_actions import NextAction
from benchmarks.pages.stage_sources import FILLING_PAGES, FillingPage, filling_page, source_page
from benchmarks.pages.tabs import can_review
from benchmarks.queries.recipe_cohorts import cohorts_of_team, recipe_cohorts
from benchmarks.queries.stage_states import stages_with_items, stages_with_kept_items
from jobs.queries.read_together import read_for_each
from people.models import CohortMember, User


def create_cohorts(benchmark: Benchmark, user: User) -> NextAction | None:
    """The team has none of the recipe's cohorts, or none at all, and nobody was asked yet."""
    if opened_stages(benchmark):
        return None
    may_create, rows = may_create_cohorts(user, benchmark), recipe_cohorts(benchmark)
    if not (may_create or is_permitted(user, benchmark, "work_on")):
        return None
    if any(row.cohort for row in rows) or (not rows and cohorts_of_team(benchmark)):
        return None
    asked = _("No cohort yet. The recipe asks %(n)s.") % {"n": len(rows)}
    return NextAction(
        asked if rows else _("No cohort yet."),
        _("Create cohorts") if may_create else _("See who can create cohorts"),
        reverse("benchmarks:cohorts", args=[benchmark.slug]),
        _("A cohort is a group of people who share a culture."),
    )


def open_chain(benchmark: Benchmark, user: User) -> NextAction | None:
    """No campaign was ever opened."""
    if not is_permitted(user, benchmark, "work_on") or not benchmark.stages.exists() or opened_stages(benchmark):
        return None
    return NextAction(
        _("Nobody is asked yet."),
        _("Open the whole chain"),
        reverse("annotation:chain_open", args=[benchmark.slug]),
        _("One form opens every stage for its cohorts."),
    )


def review(benchmark: Benchmark, user: User) -> NextAction | None:
    """Answers wait for a decision that this reader may make."""
    if not can_review(user, benchmark):
        return None
    waiting = read_for_each(benchmark, count_waiting_answers, user)
    if waiting is None:
        return None
    n, oldest = waiting
    days = (timezone.now() - oldest).days
    age = ngettext("The oldest waits for %(n)s day.", "The oldest waits for %(n)s days.", days) % {"n": days}
    return NextAction(
        ngettext("%(n)s answer waits for review.", "%(n)s answers wait for review.", n) % {"n": n},
        _("Review answers"),
        reverse("annotation:review_queue", args=[benchmark.slug]),
        age if days else "",
    )


def settle_disagreements(benchmark: Benchmark, user: User) -> NextAction | None:
    """People's answers disagree, and nobody has decided."""
    rows = open_disputes(benchmark) if is_permitted(user, benchmark, "work_on") else []
    if not rows:
        return None
    n = sum(row.n for row in rows)
    text = ngettext("%(n)s disagreement waits for a decision.", "%(n)s disagreements wait for a decision.", n)
    closed = next((row.stage for row in rows if not row.is_asked), None)
    if closed is not None:
        return NextAction(
            text % {"n": n},
            _("Open the whole chain"),
            reverse("annotation:chain_open", args=[benchmark.slug]),
            _("Nobody is asked: “%(stage)s” is not open.") % {"stage": closed.name},
        )
    return NextAction(
        text % {"n": n},
        _("View disagreements"),
        f"{reverse('benchmarks:items', args=[benchmark.slug])}?{urlencode({'stage': rows[0].stage.key})}",
        _("People whose answers are not shown decide in “%(stage)s”.") % {"stage": rows[0].stage.name},
    )


def settle_pictures(benchmark: Benchmark, user: User) -> NextAction | None:
    """People disagree about pictures of contact sheets, or were not sure, and no stage settles that."""
    if not is_permitted(user, benchmark, "work_on"):
        return None
    stages = list(benchmark.stages.all())
    settled = {key for stage in stages if settles_disputes(stage) for key in stage.derivation.get("from", ())}
    counts = waiting_pictures(stages)
    stage = next((stage for stage in stages if stage.pk in counts and stage.key not in settled), None)
    if stage is None:
        return None
    text = ngettext(
        "%(n)s picture of “%(stage)s” waits: people disagree about it, or were not sure.",
        "%(n)s pictures of “%(stage)s” wait: people disagree about them, or were not sure.",
        counts[stage.pk],
    ) % {"n": number_format(counts[stage.pk], use_l10n=True), "stage": stage.name}
    campaign = Campaign.objects.filter(stage=stage, state__in=RUNNING).order_by("-pk").first()
    shown = _("View pictures"), f"{reverse('annotation:kept_pictures', args=[benchmark.slug, stage.pk])}?show=waits"
    if campaign is None:
        open_page = reverse("annotation:chain_open", args=[benchmark.slug])
        detail = _("Nobody is asked: “%(stage)s” is not open.") % {"stage": stage.name}
        return NextAction(text, _("Open the whole chain"), open_page, detail, shown)
    return NextAction(
        text,
        _("Edit campaign"),
        reverse("annotation:campaign", args=[benchmark.slug, campaign.pk]),
        _(
            "Raise “Answers per item” to an odd number: the majority decides. "
            "The pictures of a sheet go on when it has these answers."
        ),
        shown,
    )


def fill_stage(benchmark: Benchmark, user: User) -> NextAction | None:
    """An open stage of the recipe has no items, and there is what a page makes them of."""
    if benchmark.recipe not in FILLING_PAGES or not is_permitted(user, benchmark, "work_on"):
        return None
    stages = {stage.key: stage for stage in benchmark.stages.all()}
    for stage in stages.values():
        page = filling_page(stage) if stage.pk in running_stages(benchmark) else None
        if page is None or not page.after or stage.pk in stages_with_items(benchmark):
            continue
        source = stages.get(page.after)
        if source is not None and _may_fill(page, source, benchmark):
            lacking = next((stages[key] for key in page.needs if _is_empty(stages.get(key), benchmark)), None)
            if lacking is not None:
                return _import_items(lacking, _("“%(later)s” shows them.") % {"later": stage.name})
            values = {"stage": stage.name, "page": page.label, "source": source.name}
            return NextAction(
                _("“%(stage)s” has no items yet.") % values, str(page.label), page.url(stage),
                _("They are made of “%(source)s”, on the page “%(page)s”.") % values,
            )  # fmt: skip
    return None


def import_followed_stage(benchmark: Benchmark, user: User) -> NextAction | None:
    """Open stages have no items, since the stage that they follow takes its items from an import, and has none.

    A stage with another source that has items is not held up.
    """
    if not is_permitted(user, benchmark, "work_on") or not running_stages(benchmark):
        return None
    stages, filled = list(benchmark.stages.all()), stages_with_items(benchmark)
    for stage in stages:
        if stage.derivation or stage.pk in filled or source_page(stage) is not None:
            continue
        held_up = [other for other in _followers(stage, stages, filled) if other.pk in running_stages(benchmark)]
        if held_up:
            names = ", ".join(f"“{other.name}”" for other in held_up)
            return _import_items(stage, _("These stages wait for them: %(stages)s.") % {"stages": names})
    return None


def _followers(stage: Stage, stages: Sequence[Stage], filled: Collection[int]) -> list[Stage]:
    """Stages without items all of whose sources are this one, or follow it so."""
    keys = {stage.key}
    followers = []
    for other in stages:
        sources = (other.derivation or {}).get("from", ())
        if sources and other.pk not in filled and keys.issuperset(sources):
            keys.add(other.key)
            followers.append(other)
    return followers


def _may_fill(page: FillingPage, source: Stage, benchmark: Benchmark) -> bool:
    """Whether the page has what it makes items of."""
    if source.pk not in stages_with_kept_items(benchmark):
        return False
    answers = Annotation.objects.filter(assignment__campaign__stage=source, live=True, counted=True)
    return not page.answered or answers.exists()


def _is_empty(stage: Stage | None, benchmark: Benchmark) -> bool:
    return stage is not None and stage.pk not in stages_with_items(benchmark)


def _import_items(stage: Stage, detail: str) -> NextAction:
    """A stage of imported items has none; `detail`: what needs them."""
    address = f"{reverse('benchmarks:import', args=[stage.benchmark.slug])}?{urlencode({'stage': stage.key})}"
    return NextAction(_("“%(stage)s” has no items yet.") % {"stage": stage.name}, _("Import items"), address, detail)


def invite_people(benchmark: Benchmark, user: User) -> NextAction | None:
    """Items wait for people, and nobody has joined a cohort that is asked."""
    if not is_permitted(user, benchmark, "work_on") or not lacks_people(benchmark):
        return None
    return _invite(benchmark, _("Items wait for people. Share the invitation links, or create more of them."))


def _invite(benchmark: Benchmark, detail: str) -> NextAction:
    cohorts = reverse("benchmarks:cohorts", args=[benchmark.slug])
    return NextAction(_("Nobody has joined a cohort yet."), _("View the cohorts"), cohorts, detail)


def separate_cultures(benchmark: Benchmark, user: User) -> NextAction | None:
    """Every item of an open stage is about two cultures, and each cohort gets only what is its own."""
    if not is_permitted(user, benchmark, "work_on"):
        return None
    mixed = next((row for row in open_stages_with_mixed_items(benchmark) if row.n == row.items), None)
    if mixed is None:
        return None
    return NextAction(
        _("“%(stage)s”: %(problem)s.") % {"stage": mixed.stage.name, "problem": mixed.text},
        _("Edit stage"),
        remedy_address(benchmark, mixed.stage),
        remedy_text(mixed.stage),
        (_("Choose who answers"), who_answers_address(benchmark, mixed.stage)),
    )


def wait_for_people(benchmark: Benchmark, user: User) -> NextAction | None:
    """Stages are open: people are invited, or at work."""
    if not is_permitted(user, benchmark, "work_on") or not opened_stages(benchmark):
        return None
    asked = CampaignCohort.objects.filter(campaign__stage__benchmark=benchmark, campaign__state__in=RUNNING)
    if asked.exists() and not CohortMember.objects.filter(cohort__campaigns__in=asked, left_at=None).exists():
        return _invite(benchmark, _("Share the invitation links, or create more of them on a cohort's page."))
    return NextAction(
        _("People have the work on their pages."),
        _("View coverage"),
        reverse("annotation:coverage", args=[benchmark.slug]),
    )
