"""The page *Pairs* of ValueGround's benchmarks, and in it the page *Pair* of one build and the form of a plan."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.pages.item_revisions import REFUSED
from annotation.services.revisions.makers import maker_of
from annotation.services.revisions.returns import ReturnRefused
from benchmarks.access import is_permitted
from benchmarks.models import Benchmark
from benchmarks.models.revisions import BY_IMPORT
from benchmarks.pages.plugin_pages import PluginPage
from benchmarks.pages.tabs import tabs_for
from papers.valueground.builder import states
from papers.valueground.builder.forms import BuildPlanForm
from papers.valueground.builder.models import Build, BuildPlan
from papers.valueground.builder.pages.pair_log import PairLog, pair_log
from papers.valueground.builder.pages.pair_matrix import STATE_GROUPS, chip_of, label_of, newest_builds, pair_matrix
from papers.valueground.builder.pages.revision_forecast import revision_forecast
from papers.valueground.builder.services import decisions, plans
from papers.valueground.builder.services.plans import BuildRefused
from papers.valueground.builder.services.review_items import STAGE, send_back_with_comment
from papers.valueground.survey.models import SurveyQuestion
from papers.valueground.survey.queries import current_survey
from people.models import User
from people.views.request_helpers import current_user

KEY = "pairs"
LISTED = 25  # questions of a page
LONGEST = 60  # characters of a filter


def _text(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "")[:LONGEST].replace("\x00", "")


def _context(request: HttpRequest, benchmark: Benchmark, **more: Any) -> dict[str, Any]:
    return {"benchmark": benchmark, "nav": tabs_for(request.user, benchmark, KEY), "who_place": benchmark.name, **more}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def pairs_page(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """All pairs; with `pair`, the id of a build, that one alone; with `new` the form of a plan."""
    if request.method == "POST":
        return _act(request, benchmark)
    if "pair" in request.GET:
        return _pair(request, benchmark)
    if "new" in request.GET:
        return _form(request, benchmark, BuildPlanForm(benchmark=benchmark))
    asked = {name: _text(request, name) for name in ("state", "source", "q")}
    matrix = pair_matrix(benchmark, state=asked["state"], source=asked["source"], text=asked["q"])
    survey = current_survey(benchmark)
    confirmed = survey.questions.filter(state=SurveyQuestion.State.CONFIRMED).count() if survey else 0
    context = _context(
        request, benchmark, matrix=matrix, page=Paginator(matrix.rows, LISTED).get_page(_text(request, "page")),
        asked=asked, groups=[(key, GROUP_TEXTS[key]) for key in STATE_GROUPS], survey=survey, confirmed=confirmed,
        query=urlencode([(name, value) for name, value in asked.items() if value]),
        all_sources=sorted({build.source.key for build in newest_builds(benchmark)}) if asked["source"] else
        matrix.sources,
    )  # fmt: skip
    return render(request, "papers/valueground/pairs.html", context)


def _form(request: HttpRequest, benchmark: Benchmark, form: BuildPlanForm, **more: Any) -> HttpResponse:
    confirmed = len(plans.confirmed_questions(benchmark))
    context = _context(
        request, benchmark, form=form, confirmed=confirmed, endpoints=form.endpoints.exists(), **more
    )  # fmt: skip
    return render(request, "papers/valueground/pair_plan.html", context, status=400 if form.errors else 200)


def _act(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """A plan is priced, started, stopped or resumed; or a pair is resumed or sent back."""
    action = request.POST.get("do", "")
    if action in ("cost", "start"):
        return _start(request, benchmark, action)
    acts = {**PLAN_ACTIONS, **BUILD_ACTIONS}
    if action not in acts:
        raise Http404
    number = _number(request.POST.get("id", ""))
    rows: QuerySet[Any] = (
        BuildPlan.objects.filter(benchmark=benchmark)
        if action in PLAN_ACTIONS
        else Build.objects.filter(plan__benchmark=benchmark)
    )
    row = rows.filter(pk=number).first()
    if row is None:
        raise Http404
    try:
        message = acts[action](request, row, current_user(request))
    except (BuildRefused, ReturnRefused) as refused:
        reason = REFUSED[refused.reason] if isinstance(refused, ReturnRefused) else refused
        messages.error(request, str(reason))
    else:
        messages.success(request, message)
    return redirect(f"{request.path}?pair={row.pk}" if isinstance(row, Build) else request.path)


def _start(request: HttpRequest, benchmark: Benchmark, action: str) -> HttpResponse:
    form = BuildPlanForm(request.POST, benchmark=benchmark)
    if not form.is_valid():
        return _form(request, benchmark, form)
    settings, at = form.build_settings(), timezone.now()
    try:
        if action == "cost":
            plans.check(benchmark, settings, at)
            return _form(request, benchmark, form, outlook=plans.forecast(settings, at))
        plans.plan_builds(benchmark, settings, current_user(request), at)
    except BuildRefused as refused:
        form.add_error(None, str(refused))
        return _form(request, benchmark, form)
    return redirect(request.path)


def _stop(_request: HttpRequest, plan: BuildPlan, user: User) -> str:
    plans.stop(plan, user)
    return _("The plan was stopped. Requests in flight are still read.")


def _resume(_request: HttpRequest, plan: BuildPlan, user: User) -> str:
    plans.resume(plan, user)
    return _("The plan goes on.")


def _raise_budget(request: HttpRequest, plan: BuildPlan, user: User) -> str:
    try:
        budget = Decimal(request.POST.get("budget", "").strip()).quantize(Decimal("0.0001"))
    except InvalidOperation:
        raise BuildRefused(_("Give the budget as a number, such as 12.50.")) from None
    plans.raise_budget(plan, budget, user)
    return _("The budget was raised.")


def _restart(_request: HttpRequest, build: Build, user: User) -> str:
    plans.restart(build, user)
    return _("The pair is being built again from where it was.")


def _send_back(request: HttpRequest, build: Build, user: User) -> str:
    if not _can_return(request, build.plan.benchmark, build):
        raise Http404
    comment = request.POST.get("comment", "").replace("\x00", "")
    send_back_with_comment(build, comment, user, timezone.now(), request.POST.get("target", ""))
    return _("The pair was sent back with your comment.")


def _put_under_review(_request: HttpRequest, build: Build, user: User) -> str:
    decisions.put_under_review(build, user, timezone.now())
    return _("The pair was put under review.")


def _accept_as_it_is(request: HttpRequest, build: Build, user: User) -> str:
    decisions.accept_as_it_is(build, _reason(request), user, timezone.now())
    return _("The pair was accepted as it is. It goes on to the later stages.")


def _give_up(request: HttpRequest, build: Build, user: User) -> str:
    decisions.give_up(build, _reason(request), user, timezone.now())
    return _("The pair was given up.")


def _take_back(_request: HttpRequest, build: Build, user: User) -> str:
    was_given_up = build.decision == Build.Decision.GIVEN_UP
    decisions.take_back(build, user, timezone.now())
    if was_given_up:
        return _("The pair is not given up any more.")
    return _("The pair is not accepted as it is any more. The rule of its review decides.")


def _reason(request: HttpRequest) -> str:
    return request.POST.get("reason", "").replace("\x00", "")


PLAN_ACTIONS: dict[str, Any] = {"stop": _stop, "resume": _resume, "budget": _raise_budget}
BUILD_ACTIONS: dict[str, Any] = {
    "restart": _restart, "send_back": _send_back, "review": _put_under_review, "accept": _accept_as_it_is,
    "give_up": _give_up, "take_back": _take_back,
}  # fmt: skip
GROUP_TEXTS = {"working": gettext_lazy("In progress"), "interrupted": gettext_lazy("Can be resumed")}


def _pair(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    number = _number(_text(request, "pair"))
    rows = Build.objects.filter(plan__benchmark=benchmark).select_related(
        "question", "source", "plan", "item", "decided_by", "replaces__plan"
    )
    build = rows.filter(pk=number).first()
    if build is None:
        raise Http404
    log = pair_log(build, _text(request, "left"), _text(request, "right"), compared="changed" in request.GET)
    shown = [("pair", build.pk), *zip(("left", "right"), (picture.step.pk for picture in log.shown), strict=False)]
    context = _context(
        request, benchmark, log=log, build=build, can_return=_can_return(request, benchmark, build),
        targets=_targets(build), can_resume=build.state in states.RESUMABLE and not build.decision,
        can_review=decisions.can_put_under_review(build), can_accept=decisions.can_accept_as_it_is(build),
        forecast=revision_forecast(build), is_working=build.state in states.WORKING,
        is_accepted_as_it_is=build.decision == Build.Decision.AS_IT_IS, can_give_up=decisions.can_give_up(build),
        chip=chip_of(build), label=label_of(build), shown_query=urlencode(shown), **_neighbours(benchmark, log),
    )  # fmt: skip
    return render(request, "papers/valueground/pair.html", context)


def _number(text: str) -> int:
    """An id; 0, which no row has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _can_return(request: HttpRequest, benchmark: Benchmark, build: Build) -> bool:
    """Whether this person may send the pair back to the builder with a comment."""
    item = build.item
    if build.decision == Build.Decision.GIVEN_UP or not is_permitted(request.user, benchmark, "review"):
        return False
    if item is None:  # rounds used up or refused by a model, and nobody reviews what came of it
        return (
            build.state in (Build.State.BEST_EFFORT, Build.State.REFUSED)
            and not Build.objects.filter(replaces=build).exists()
        )
    if item.withdrawn_at is not None:
        return False
    maker = maker_of(item)
    return maker is not None and maker.key != BY_IMPORT


def _targets(build: Build) -> list[tuple[str, str, bool]]:
    """What a comment may be about, and which of it is chosen at first: where no pair was drawn, only the plan."""
    target = Build.CommentTarget
    has_pair = build.item_id is not None or build.state == Build.State.BEST_EFFORT
    offered = [target.A, target.B, target.BOTH, target.PLAN] if has_pair else [target.PLAN]
    return [(str(each.value), str(each.label), each == (target.BOTH if has_pair else target.PLAN)) for each in offered]


def _neighbours(benchmark: Benchmark, log: PairLog) -> dict[str, int | None]:
    """The pairs before and after this one, as the matrix has them."""
    builds = sorted(newest_builds(benchmark), key=lambda build: (build.question.position, build.source.key))
    places = [(build.question.key, build.source.key) for build in builds]
    own = log.build.question.key, log.build.source.key
    at = places.index(own) if own in places else -1
    before = builds[at - 1].pk if at > 0 else None
    return {"before": before, "after": builds[at + 1].pk if 0 <= at < len(builds) - 1 else None}


PAGES = (PluginPage(KEY, gettext_lazy("Pairs"), pairs_page, fills=STAGE),)
