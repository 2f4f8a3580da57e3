"""Plans of builds: made, stopped, resumed; builds restarted, and sent back with a comment.

Locks: the stage of the pairs, then the plan, then its builds in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks.models import Benchmark
from jobs.models import record
from jobs.services import lifecycle as jobs
from papers.valueground.builder import prompts, states
from papers.valueground.builder.models import Build, BuildPlan, BuildSource, BuildStep
from papers.valueground.builder.queries import progress_of
from papers.valueground.survey.models import OptionPair, SurveyQuestion
from papers.valueground.survey.queries import current_pairs, current_survey, source_of
from papers.valueground.survey.rules import scale_of
from people.models import User
from predictions.models import Endpoint
from predictions.services.endpoints import endpoints
from predictions.services.sending.results import record_lost

KIND = "build_pairs"
MOST_ROUNDS = 9
MOST_COMMENT = 2000
Configuration = BuildPlan.Configuration


class BuildRefused(Exception):
    """Nothing was started or changed; the message says why and what to do."""


@dataclass(frozen=True)
class SourceChoice:
    """Who plans and who draws. `key` becomes the condition of the pairs."""

    key: str
    chat_endpoint: Endpoint
    chat_model: str
    image_endpoint: Endpoint
    image_model: str
    size: str = ""
    quality: str = ""


@dataclass(frozen=True)
class BuildSettings:
    """What a person chooses for a plan."""

    questions: Sequence[SurveyQuestion]
    sources: Sequence[SourceChoice]
    configuration: str = Configuration.PLANNER_EDITOR_CRITIC
    edit_rounds: int = 2
    replans: int = 2
    regenerate: str = BuildPlan.Regenerate.SIDE
    replan_when_spent: bool = False
    collapse_check: bool = True
    best_effort_to_review: bool = False
    base_seed: int = 0
    budget: Decimal | None = None
    banned_cues: Sequence[str] = prompts.BANNED_CUES
    anchor_words: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class BuildForecast:
    """`least`: US dollars of the pictures of builds that are accepted at once, `most`: of those that use every round.
    Planner and critic come on top. Both are None where a price is not known. `seedless`: names of endpoints of
    pictures that take no seed."""

    builds: int
    least: Decimal | None
    most: Decimal | None
    seedless: Sequence[str] = ()


def confirmed_questions(benchmark: Benchmark) -> list[SurveyQuestion]:
    """Questions of the current survey that can be built."""
    survey = current_survey(benchmark)
    if survey is None:
        return []
    return list(survey.questions.filter(state=SurveyQuestion.State.CONFIRMED))


def forecast(settings: BuildSettings, at: datetime) -> BuildForecast:
    """How many builds, and what their pictures cost between two bounds."""
    least = most = Decimal(0)
    known = True
    drawn, edited = _pictures(settings)
    for source in settings.sources:
        generated, edit = _image_prices(source, at)
        if generated is None or (edited[1] and edit is None):
            known = False
            continue
        least += (drawn[0] * generated + edited[0] * (edit or 0)) * len(settings.questions)
        most += (drawn[1] * generated + edited[1] * (edit or 0)) * len(settings.questions)
    n = len(settings.questions) * len(settings.sources)
    endpoints_without = {s.image_endpoint.name for s in settings.sources if "seed" not in s.image_endpoint.offers}
    return BuildForecast(n, least if known else None, most if known else None, sorted(endpoints_without))


def _pictures(settings: BuildSettings) -> tuple[tuple[int, int], tuple[int, int]]:
    """Pictures of a build that are drawn, and that are edited: at least and at most."""
    plans, rounds = settings.replans + 1, settings.edit_rounds + 1
    if settings.configuration == Configuration.PLANNER:
        return (2, 2), (0, 0)
    if settings.configuration == Configuration.PLANNER_CRITIC:
        return (2, 2 * plans * rounds), (0, 0)
    bases = rounds if settings.regenerate == BuildPlan.Regenerate.BASE else 1
    return (1, plans * bases), (2, 2 * plans * rounds)


def _image_prices(source: SourceChoice, at: datetime) -> tuple[Decimal | None, Decimal | None]:
    """Of a generated and of an edited picture."""
    generated, edited = (
        endpoints.image_price_of(source.image_endpoint, source.image_model, source.size, at, edited=flag)[1]
        for flag in (False, True)
    )
    return generated, edited


def plan_builds(benchmark: Benchmark, settings: BuildSettings, actor: User, at: datetime) -> BuildPlan:
    """Make a plan with a build for each question and source, and begin. Raises BuildRefused."""
    check(benchmark, settings, at)
    with transaction.atomic():
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)  # two plans of the same pairs
        _check_not_built(benchmark, settings)
        plan = _create_plan(benchmark, settings, actor)
        _create_builds(plan, settings)
        _begin(plan, actor, "builds.started")
    return plan


def check(benchmark: Benchmark, settings: BuildSettings, at: datetime) -> None:
    """Raises BuildRefused where such a plan could not succeed."""
    survey = current_survey(benchmark)
    if survey is None or not settings.questions:
        raise BuildRefused(_("No question is confirmed. Confirm option pairs on the page “Survey” first."))
    for question in settings.questions:
        if question.survey_id != survey.pk or question.state != SurveyQuestion.State.CONFIRMED:
            raise BuildRefused(_("%(key)s is not confirmed in the current survey. Confirm it on the page “Survey”.")
                               % {"key": question.key})  # fmt: skip
    keys = [source.key for source in settings.sources]
    if not keys or len(keys) != len(set(keys)):
        raise BuildRefused(_("Give at least one source, and each source a key of its own."))
    if not (0 <= settings.edit_rounds <= MOST_ROUNDS and 0 <= settings.replans <= MOST_ROUNDS):
        raise BuildRefused(_("At most %(most)s edit rounds and new plans are possible.") % {"most": MOST_ROUNDS})
    if settings.budget is not None and settings.budget <= 0:
        raise BuildRefused(_("A budget is above zero. Leave it empty for no limit."))
    for source in settings.sources:
        _check_source(benchmark, settings, source, at)


def _check_source(benchmark: Benchmark, settings: BuildSettings, source: SourceChoice, at: datetime) -> None:
    has_editor = settings.configuration == Configuration.PLANNER_EDITOR_CRITIC
    for endpoint in (source.chat_endpoint, source.image_endpoint):
        if endpoint.team_id != benchmark.team_id or endpoint.retired_at:
            raise BuildRefused(_("“%(name)s” is no endpoint that this team can use.") % {"name": endpoint.name})
    if source.chat_endpoint.kind != Endpoint.Kind.OPENAI:
        raise BuildRefused(_("“%(name)s” answers no chat. Choose a server that speaks the OpenAI protocol.")
                           % {"name": source.chat_endpoint.name})  # fmt: skip
    if source.image_endpoint.kind != Endpoint.Kind.OPENAI:
        text = (
            _("“%(name)s” cannot edit pictures. Choose a server that speaks the OpenAI protocol.")
            if has_editor
            else _("“%(name)s” makes no pictures. Choose a server that speaks the OpenAI protocol.")
        )
        raise BuildRefused(text % {"name": source.image_endpoint.name})
    if settings.configuration != Configuration.PLANNER and "images" not in source.chat_endpoint.offers:
        raise BuildRefused(_("“%(name)s” is shown no pictures, so it cannot be the critic. Tick “Pictures” there.")
                           % {"name": source.chat_endpoint.name})  # fmt: skip
    if settings.budget is not None:
        _check_prices(settings, source, at, has_editor=has_editor)


def _check_prices(settings: BuildSettings, source: SourceChoice, at: datetime, *, has_editor: bool) -> None:
    _prices, row = endpoints.price_of(source.chat_endpoint, source.chat_model, at)
    if not row:
        raise BuildRefused(_("A budget needs a price. Add the price of “%(model)s” at its endpoint.")
                           % {"model": source.chat_model})  # fmt: skip
    generated, edited = _image_prices(source, at)
    if generated is None:
        raise BuildRefused(_("A budget needs a price. Add the price of a generated picture for “%(model)s”.")
                           % {"model": source.image_model})  # fmt: skip
    if has_editor and edited is None:
        raise BuildRefused(_("A budget needs a price. Add the price of an edited picture for “%(model)s”.")
                           % {"model": source.image_model})  # fmt: skip
    if settings.budget is not None and generated > settings.budget:
        raise BuildRefused(_("The budget is below the price of one picture (%(price)s $).") % {"price": generated})


def _check_not_built(benchmark: Benchmark, settings: BuildSettings) -> None:
    rows = Build.objects.filter(
        plan__benchmark=benchmark, plan__configuration=settings.configuration,
        question__key__in=[question.key for question in settings.questions],
        source__key__in=[source.key for source in settings.sources],
    )  # fmt: skip
    build = rows.select_related("question", "source").first()
    if build is not None:
        raise BuildRefused(
            _("%(question)s has a build of “%(source)s” already. Leave it out, or use another key.")
            % {"question": build.question.key, "source": build.source.key}
        )


def _create_plan(benchmark: Benchmark, settings: BuildSettings, actor: User) -> BuildPlan:
    plan = BuildPlan.objects.create(
        benchmark=benchmark, survey=settings.questions[0].survey,
        questions=[question.key for question in settings.questions], configuration=settings.configuration,
        edit_rounds=settings.edit_rounds, replans=settings.replans, regenerate=settings.regenerate,
        replan_when_spent=settings.replan_when_spent, collapse_check=settings.collapse_check,
        best_effort_to_review=settings.best_effort_to_review, base_seed=settings.base_seed, budget=settings.budget,
        prompt_versions=dict(prompts.VERSIONS), banned_cues=list(settings.banned_cues),
        anchor_words={key: list(words) for key, words in settings.anchor_words.items()}, created_by=actor,
    )  # fmt: skip
    for source in settings.sources:
        BuildSource.objects.create(plan=plan, **{name: getattr(source, name) for name in SourceChoice.__annotations__})
    return plan


def _create_builds(plan: BuildPlan, settings: BuildSettings) -> None:
    sources, pairs = list(plan.sources.all()), current_pairs(settings.questions)
    builds = [
        Build(plan=plan, question=question, source=source, **_endpoints_of(question, pairs[question.pk]))
        for question in settings.questions
        for source in sources
    ]
    Build.objects.bulk_create(builds, batch_size=500)


def _endpoints_of(question: SurveyQuestion, pair: OptionPair) -> dict[str, object]:
    """Codes and labels of the confirmed pair."""
    scale = scale_of(source_of(question).options, source_of(question).adjustment)
    if pair.a is None or pair.b is None:
        raise BuildRefused(_("%(key)s has no pair of options. Set it on the page “Survey”.") % {"key": question.key})
    a, b = (scale.get(code, str(code)) for code in (pair.a, pair.b))
    return {"code_a": pair.a, "code_b": pair.b, "option_a": a, "option_b": b}


def _begin(plan: BuildPlan, actor: User | None, verb: str) -> None:
    """Send the job of the plan. Needs a transaction."""
    scope = plan.benchmark.scope
    job = jobs.start(KIND, _("Pairs of pictures"), scope=scope, actor=actor, params={"plan": plan.pk})
    BuildPlan.objects.filter(pk=plan.pk).update(state=BuildPlan.State.RUNNING, stopped_because="", job=job)
    plan.job, plan.state, plan.stopped_because = job, BuildPlan.State.RUNNING, ""
    record(actor, verb, scope=scope, target=f"build-plan:{plan.pk}")


def lock_plan(plan_id: int) -> BuildPlan:
    """The plan as it is now. Needs a transaction."""
    rows = BuildPlan.objects.select_related("benchmark__team", "job")
    return rows.select_for_update(no_key=True, of=("self",)).get(pk=plan_id)


def stop(plan: BuildPlan, actor: User) -> None:
    """Send nothing more; requests in flight are still read, and the builds can be resumed. Raises BuildRefused."""
    with transaction.atomic():
        locked = lock_plan(plan.pk)
        if locked.state != BuildPlan.State.RUNNING:
            raise BuildRefused(_("The plan is not running now."))
        BuildPlan.objects.filter(pk=plan.pk).update(state=BuildPlan.State.PAUSED, stopped_because="person")
        mark_stopped(locked)
        record(actor, "builds.stopped", scope=locked.benchmark.scope, target=f"build-plan:{plan.pk}")
        if locked.job is not None:
            jobs.request_cancel(locked.job, actor)


def mark_stopped(plan: BuildPlan, holder: str = "") -> None:
    """Builds that nobody, or this holder, holds stop where they are. Needs the plan's lock."""
    rows = Build.objects.filter(plan=plan, state__in=states.WORKING, holder=holder)
    rows.update(state=Build.State.STOPPED, reason="person", holder="", lease_until=None)


def resume(plan: BuildPlan, actor: User) -> None:
    """Go on with all builds that were stopped, failed or ran out of money. Raises BuildRefused."""
    with transaction.atomic():
        locked = lock_plan(plan.pk)
        if locked.state == BuildPlan.State.RUNNING:
            raise BuildRefused(_("The pairs are being built already."))
        n = _reopen(Build.objects.filter(plan=locked, state__in=states.RESUMABLE))
        if not n and not Build.objects.filter(plan=locked, state__in=states.WORKING).exists():
            raise BuildRefused(_("Every build has ended. Nothing is left to do."))
        _begin(locked, actor, "builds.resumed")


def restart(build: Build, actor: User) -> None:
    """Go on with one build that failed, was stopped or ran out of money. Raises BuildRefused."""
    with transaction.atomic():
        locked = lock_plan(build.plan_id)
        if not _reopen(Build.objects.filter(pk=build.pk, state__in=states.RESUMABLE)):
            raise BuildRefused(_("This build can not be resumed: it is running or has ended."))
        record(actor, "build.resumed", scope=locked.benchmark.scope, target=f"build:{build.pk}")
        if locked.state != BuildPlan.State.RUNNING:
            _begin(locked, actor, "builds.resumed")


def _reopen(builds: QuerySet[Build]) -> int:
    """Put builds back to where their log says they are, but for those that a person decided about."""
    rows = builds.filter(decision="").select_for_update(no_key=True, of=("self",))
    rows = rows.select_related("plan", "question", "replaces__plan")
    n = 0
    for build in rows.order_by("pk"):
        progress = progress_of(build)
        Build.objects.filter(pk=build.pk).update(
            state=progress.state, reason="", message="", holder="", lease_until=None, not_before=None, ended_at=None
        )
        n += 1
    return n


def raise_budget(plan: BuildPlan, budget: Decimal, actor: User) -> None:
    """What waited for money goes on. Raises BuildRefused."""
    with transaction.atomic():
        locked = lock_plan(plan.pk)
        if locked.budget is None or budget <= locked.budget:
            raise BuildRefused(_("Give a budget above the present one."))
        BuildPlan.objects.filter(pk=plan.pk).update(budget=budget)
        scope = locked.benchmark.scope
        record(actor, "builds.budget_raised", scope=scope, target=f"build-plan:{plan.pk}", budget=str(budget))
        if locked.state == BuildPlan.State.PAUSED and locked.stopped_because in ("budget", "price"):
            _reopen(Build.objects.filter(plan=locked, state=Build.State.OVER_BUDGET))
            _begin(locked, actor, "builds.resumed")


def order_revision(build: Build, comment: str, actor: User | None, target: str = Build.CommentTarget.BOTH) -> Build:
    """Order the next revision of a build, which begins with the critic and the comment; the one that was ordered
    already, where there is one. Needs a transaction. Raises BuildRefused."""
    plan = lock_plan(build.plan_id)
    current = Build.objects.select_for_update(no_key=True, of=("self",)).get(pk=build.pk)
    if (ordered := Build.objects.filter(replaces=current).first()) is not None:
        return ordered
    if current.decision == Build.Decision.GIVEN_UP:
        raise BuildRefused(_("The pair was given up. Take it back first."))
    is_finished = current.state in states.ENDED or current.decision
    if not is_finished:
        raise BuildRefused(_("Only a pair that is finished can be sent back."))
    comment = comment.strip()[:MOST_COMMENT]
    if not comment:
        raise BuildRefused(_("Say what should change."))
    revision = Build(
        plan=plan, question_id=current.question_id, source_id=current.source_id, revision=current.revision + 1,
        replaces=current, code_a=current.code_a, code_b=current.code_b, option_a=current.option_a,
        option_b=current.option_b, comment=comment, comment_target=target, comment_by=actor,
    )  # fmt: skip
    revision.save()
    Build.objects.filter(pk=revision.pk).update(state=progress_of(revision).state)
    if plan.state != BuildPlan.State.RUNNING:
        _begin(plan, actor, "builds.revision_ordered")
    return Build.objects.get(pk=revision.pk)


def withdraw_revision(build: Build) -> None:
    """The comment on this build is taken back: a revision of which nothing was asked is deleted, another one stops.
    Needs a transaction."""
    lock_plan(build.plan_id)
    revision = Build.objects.select_for_update(no_key=True, of=("self",)).filter(replaces=build).first()
    if revision is None or revision.state in states.ENDED:
        return
    if not BuildStep.objects.filter(build=revision).exists():
        revision.delete()
    else:
        write_off([revision], timezone.now())
        Build.objects.filter(pk=revision.pk).update(
            state=Build.State.STOPPED, reason="person", holder="", lease_until=None
        )


def write_off(builds: Sequence[Build], at: datetime) -> int:
    """Requests of these builds that were sent, whose replies nobody waits for, become lost attempts at the most that
    they cost; return how many. Needs a transaction that has locked the builds."""
    sent = BuildStep.objects.filter(build__in=builds, state=BuildStep.State.ASKED, sent_at__isnull=False)
    steps = list(sent.order_by("pk"))
    for step in steps:
        step.attempts_made += 1
        record_lost(step.scope, step.attempts_made, step.sent_at or at)
        Build.objects.filter(pk=step.build_id).update(unaccounted=F("unaccounted") + step.reserved)
        step.reserved, step.sent_at = Decimal(0), None
        step.save(update_fields=["attempts_made", "reserved", "sent_at"])
    return len(steps)
