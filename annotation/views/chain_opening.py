"""One form that opens all stages of a benchmark for its cohorts."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.forms.chain_opening import ChainForm
from annotation.pages.campaigns import REFUSALS
from annotation.pages.chain_opening import (
    OpeningPart,
    StageState,
    chain_rows,
    chain_work,
    chosen_cohorts,
    opening_label,
    opening_parts,
    stage_defaults,
    stage_states,
)
from annotation.services.campaigns.chain_opening import ChainRefused, OpenedChain, StageRefusal, open_chain
from benchmarks.access import benchmark_for, may_create_cohorts
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries.recipe_cohorts import recipe_cohorts
from people.models import Cohort
from people.views.request_helpers import current_user


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def open_page(request: HttpRequest, slug: str) -> HttpResponse:
    """`do` says whether the form is only computed anew or carried out."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    cohorts = sorted(Cohort.objects.filter(team=benchmark.team_id), key=lambda cohort: cohort.name)
    states = stage_states(benchmark, cohorts)
    chosen = chosen_cohorts(benchmark, cohorts, states)
    form = ChainForm(request.POST or None, stages=stage_defaults(states), cohorts=cohorts, chosen=chosen)
    parts = opening_parts(benchmark, request.POST or None)
    is_valid = request.method == "POST" and all(
        [form.is_valid(), *(part_form.is_valid() for _part, part_form in parts)]
    )
    if not is_valid or request.POST.get("do") != "open":
        return _page(request, benchmark, form, states, parts)
    try:
        chain = open_chain(benchmark, form.openings(), current_user(request), timezone.now())
    except ChainRefused as refused:
        return _page(request, benchmark, form, states, parts, refused.refusals)
    messages.success(request, _result(chain))
    for part, part_form in parts:
        for sentence in part.carry_out(benchmark, part_form, current_user(request), timezone.now()):
            messages.info(request, sentence)
    return redirect("benchmarks:detail", slug)


def _page(
    request: HttpRequest,
    benchmark: Benchmark,
    form: ChainForm,
    states: list[StageState],
    parts: list[tuple[OpeningPart, Form]],
    refusals: list[StageRefusal] | None = None,
) -> HttpResponse:
    cohorts = list(form.team_cohorts)
    named = recipe_cohorts(benchmark)
    work = chain_work(states, form.openings()) if not form.errors else None
    context = {
        "benchmark": benchmark,
        "form": form,
        "rows": chain_rows(form, states, cohorts),
        "cohorts": cohorts,
        "missing": [row for row in named if row.cohort is None],
        "own_cohorts": not named,
        "parts": [(part.template, part_form) for part, part_form in parts],
        "may_create": may_create_cohorts(request.user, benchmark),
        "work": work,
        "opening": opening_label(work),
        "refusals": [(each.stage, [REFUSALS.get(code, code) for code in each.reasons]) for each in refusals or ()],
        "nav": tabs_for(request.user, benchmark, "overview"),
        "who_place": benchmark.name,
    }
    status = 400 if form.errors or refusals or any(part_form.errors for _part, part_form in parts) else 200
    return render(request, "annotation/campaigns/chain.html", context, status=status)


def _result(chain: OpenedChain) -> str:
    if not chain.changed:
        return _("Everything is open already. Nothing was changed.")
    parts = []
    if chain.campaigns:
        n = len(chain.campaigns)
        parts.append(ngettext("%(n)s stage is open.", "%(n)s stages are open.", n) % {"n": n})
    if chain.joined:
        n = len({row.cohort_id for row in chain.joined})
        parts.append(
            ngettext(
                "%(n)s cohort joined stages that were open.", "%(n)s cohorts joined stages that were open.", n
            ) % {"n": n}
        )  # fmt: skip
    return " ".join(parts)
