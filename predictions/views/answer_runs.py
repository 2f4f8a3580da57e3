"""A run's page: how far it is, what it costs, what can be done with it, and every call."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Campaign
from benchmarks.access import benchmark_for
from jobs.formats.numbers import parse_id
from people.views.request_helpers import current_user
from predictions.access import answer_run_for
from predictions.models import Run
from predictions.pages.runs import (
    STATES,
    calls_page,
    progress_context,
    replacing_run,
    retry_shares,
    run_summary,
    variant_of,
)
from predictions.pages.stage_inputs import renewed_note
from predictions.pages.variant_names import VariantNames
from predictions.queries import code_mass
from predictions.queries.progress import progress_of
from predictions.services.runs import answer_runs, following
from predictions.services.runs.unit_selection import count_new_units
from predictions.views.amounts import posted_budget
from predictions.views.overview import page_context


@login_required
@require_safe
@never_cache
def run(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    run = answer_run_for(benchmark, run_id)
    state = request.GET.get("state", "")
    state = state if state in STATES else ""
    progress = progress_of(run)
    failed, same = retry_shares(run, progress.by_state)
    context = progress_context(run, progress) | {
        "variant": variant_of(run, VariantNames(benchmark)),
        "failed": failed,
        "same_again": same,
        "about": run_summary(run),
        "came_since": count_new_units(run) if _may_grow(run) else 0,
        "covered": code_mass.code_mass_text(code_mass.code_mass_by_rater(run.calls.filter(repeat=0)).get(run.rater_id)),
        "page": calls_page(run, state, parse_id(request.GET.get("after"))),
        "chosen": state,
        "stands": replacing_run(run),
        "renewed": renewed_note(run.campaign.stage) if run.campaign and run.state != Run.State.RUNNING else "",
    }
    return render(request, "predictions/answer_run.html", page_context(request, benchmark, **context))


def _may_grow(run: Run) -> bool:
    """Whether more can be asked at all."""
    return bool(
        run.endpoint_id and not run.withdrawn_at and run.campaign and run.campaign.state != Campaign.State.CLOSED
    )


@login_required
@require_safe
@never_cache
def live(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """204 while nothing changed; the whole page again once nothing more will."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    found = answer_run_for(benchmark, run_id)
    context = progress_context(found, progress_of(found))
    if not context["live"]:
        return HttpResponse(headers={"HX-Refresh": "true"})
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    return render(request, "predictions/progress.html", context | {"benchmark": benchmark})


@login_required
@require_POST
def perform_action(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """Pause, resume, stop, ask failed calls again, raise the budget, read again, withdraw, bring back."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    run = answer_run_for(benchmark, run_id)
    act = ACTS.get(request.POST.get("do", ""))
    if act is None:
        raise BadRequest
    try:
        messages.info(request, act(request, run))
    except answer_runs.RunRefused as refused:
        messages.error(request, str(refused))
    return redirect("predictions:answer_run", benchmark.slug, run.pk)


def _pause(request: HttpRequest, run: Run) -> str:
    answer_runs.pause(run, current_user(request), timezone.now())
    return _("The run is pausing. Open requests finish; no new ones are sent.")


def _resume(request: HttpRequest, run: Run) -> str:
    answer_runs.resume(run, current_user(request), timezone.now())
    return _("The run resumes where it stopped.")


def _stop(request: HttpRequest, run: Run) -> str:
    answer_runs.stop(run, current_user(request), timezone.now())
    return _("The run was stopped. What was answered stays and counts.")


def _retry(request: HttpRequest, run: Run) -> str:
    states = [state for state in request.POST.getlist("states") if state in STATES]
    if not states:
        raise answer_runs.RunRefused(_("Choose which calls to ask again."))
    n = answer_runs.retry_failed(run, current_user(request), timezone.now(), states)
    if not n:
        return _("There was no such call.")
    return ngettext("%(n)s call is asked again.", "%(n)s calls are asked again.", n) % {"n": n}


def _raise_budget(request: HttpRequest, run: Run) -> str:
    budget = posted_budget(request)
    answer_runs.raise_budget(run, budget, current_user(request), timezone.now())
    return _("The budget is now $%(budget)s. The waiting requests are sent.") % {"budget": f"{budget:f}"}


def _extend(request: HttpRequest, run: Run) -> str:
    n = answer_runs.extend(run, current_user(request), timezone.now())
    if not n:
        return _("There are no new items.")
    return ngettext("%(n)s call was added.", "%(n)s calls were added.", n) % {"n": n}


def _follow(request: HttpRequest, run: Run) -> str:
    following.set_follows(run, True, current_user(request), timezone.now())
    return _("The run follows new items: it asks about each as it comes.")


def _follow_no_more(request: HttpRequest, run: Run) -> str:
    following.set_follows(run, False, current_user(request), timezone.now())
    return _("The run follows no new items any more.")


def _withdraw(request: HttpRequest, run: Run) -> str:
    answer_runs.withdraw(run, current_user(request), timezone.now())
    return _("The run was withdrawn. It is kept but not counted.")


def _restore(request: HttpRequest, run: Run) -> str:
    answer_runs.restore(run, current_user(request), timezone.now())
    return _("The run was restored and is counted.")


def _reread(request: HttpRequest, run: Run) -> str:
    answer_runs.start_reparse(run, current_user(request), timezone.now())
    return _("The replies are read again with the prompt as it is now. No model is asked.")


ACTS: dict[str, Callable[[HttpRequest, Run], str]] = {
    "pause": _pause,
    "resume": _resume,
    "stop": _stop,
    "retry": _retry,
    "budget": _raise_budget,
    "extend": _extend,
    "follow": _follow,
    "follow_no_more": _follow_no_more,
    "withdraw": _withdraw,
    "back": _restore,
    "reread": _reread,
}
