"""Who answers in a benchmark, and whether their answers count."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.pages.status_text import time_zone_for
from annotation.queries.answers import withdrawn_of
from annotation.services.answers.exclusions import exclude, lift_exclusion
from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from evaluation.forms.raters import ReasonForm
from evaluation.queries.raters import (
    RaterRow,
    cohorts_of,
    cohorts_with_people,
    exclusion_effect_text,
    exclusions_of,
    raters_of,
)
from evaluation.rendering.html import page_table
from evaluation.rendering.sorting import PARAM, sort_links
from evaluation.reports.agreement_page import cached_state
from evaluation.reports.people import (
    halves_text,
    people_context,
    people_filters,
    people_table,
    person_differences,
    rater_state,
)
from evaluation.reports.people_order import FROM_LOWEST
from evaluation.reports.stored_people import PeoplePage, load_people
from evaluation.selections.catalogue import catalogue_of
from jobs.formats.numbers import parse_int
from people.access import may_manage
from people.models import Cohort
from people.views.request_helpers import current_user

ALL = "all"


@login_required
@require_safe
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """Reviewers see names of this benchmark only; those who work on it see who is behind them."""
    benchmark = benchmark_for(request.user, slug)
    cohorts = cohorts_of(benchmark)
    cohort = _cohort(benchmark, request.GET.get("cohort", ""), cohorts)
    works = is_permitted(request.user, benchmark, "work_on")
    people = load_people(benchmark, request.GET, cohort, timezone.now(), works=works)
    if people is None:
        raise Http404
    context = {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, "people"),
        "who_place": benchmark.name,
        "works": works,
        "sorted_by": people.order.value if PARAM in request.GET else "",
        "cohorts": cohorts,
        "cohort": cohort,
        "withdrawn": withdrawn_of(benchmark),
        **_neighbours(request, people),
        **cached_state(people.state, time_zone_for(current_user(request))),
    }
    if cohort:
        context |= people_context(people.numbers, people.rows)
        context["selects"] = people_filters(people.numbers, catalogue_of(benchmark), get_language() or "en")
    asked = _asked_query(request, cohort) if cohort else ""
    table = people_table(people.shown, people.numbers, benchmark, cohort=bool(cohort), works=works, asked=asked)
    keys = {key: key not in FROM_LOWEST for key in people.keys}
    links = sort_links(people.order, keys, request.GET, drops=["page"])
    context["table"] = page_table(table, "people", _("People who answer, by cohort"), sorts=links)
    return render(request, "evaluation/people.html", context)


def _asked_query(request: HttpRequest, cohort: Cohort) -> str:
    """The cohort, and the stage and question that its people are compared by, where the address names them."""
    chosen = [(name, request.GET[name]) for name in ("stage", "field") if request.GET.get(name)]
    return urlencode([("cohort", cohort.pk), *chosen])


def _neighbours(request: HttpRequest, people: PeoplePage) -> dict[str, Any]:
    """Where the page lies: `first` and `last` of `total`, and addresses of its neighbours."""
    number = parse_int(request.GET.get("page", "1"), maximum=99_999)
    start, end, total = people.start, people.start + len(people.shown), len(people.rows)

    def address(page: int) -> str:
        params = request.GET.copy()
        params["page"] = str(page)
        return params.urlencode()

    return {
        "first": start + 1,
        "last": end,
        "total": total,
        "earlier": address(number - 1) if start else "",
        "later": address(number + 1) if end < total else "",
    }


def _cohort(benchmark: Benchmark, asked: str, cohorts: list[Cohort]) -> Cohort | None:
    """The chosen cohort; where the address names none, the first by name in which somebody takes part. None: all."""
    if asked in ("", ALL):
        with_people = set() if asked else cohorts_with_people(benchmark)
        return next((cohort for cohort in cohorts if cohort.pk in with_people), None)
    matching = [cohort for cohort in cohorts if str(cohort.pk) == asked]
    if not matching:
        raise Http404
    return matching[0]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def person(request: HttpRequest, slug: str, rater_id: int) -> HttpResponse:
    """One person: what they did, and the two buttons. Only somebody who took part in this benchmark is found."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    lines = raters_of(benchmark, timezone.now(), rater=rater_id)
    if not lines:
        raise Http404
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and (request.POST.get("do") == "lift" or form.is_valid()):
        _decide(request, benchmark, lines[0], form)
        return redirect("evaluation:person", slug, rater_id)
    chip, state = rater_state(lines[0])
    cohort = next((line.cohort for line in lines if line.cohort and not line.is_model), None)
    language = get_language() or "en"
    context = {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, "people"),
        "who_place": benchmark.name,
        "differences": cohort and person_differences(catalogue_of(benchmark), cohort, rater_id, language),
        "chip": chip,
        "state": state,
        "lines": lines,
        "line": lines[0],
        "form": form,
        "lifting": "lift" in request.GET,
        "past": exclusions_of(benchmark, lines[0].rater),
        "effect": exclusion_effect_text(benchmark, lines[0].rater) if lines[0].exclusion else "",
    }
    return render(request, "evaluation/person.html", context, status=400 if form.errors else 200)


@login_required
@require_safe
@never_cache
def summary(request: HttpRequest, slug: str, rater_id: int) -> HttpResponse:
    """What the list shows of a person below their row: where they differ most, both halves, and what can be done."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    lines = raters_of(benchmark, timezone.now(), rater=rater_id)
    line = next((line for line in lines if str(line.cohort and line.cohort.pk) == request.GET.get("cohort")), None)
    if not lines or (line is None and "cohort" in request.GET):
        raise Http404
    line = line or lines[0]
    context: dict[str, Any] = {"benchmark": benchmark, "line": line}
    if line.cohort and not line.is_model:
        catalogue, language = catalogue_of(benchmark), get_language() or "en"
        people = load_people(benchmark, request.GET, line.cohort, timezone.now(), works=True)
        compared = people.numbers if people else None
        nominal = bool(compared and compared.selection.level == "nominal")
        context["halves"] = halves_text(compared.drift.get(rater_id), nominal=nominal) if compared else ""
        context["differences"] = person_differences(catalogue, line.cohort, rater_id, language, request.GET)
        context["manages"] = may_manage(request.user, line.cohort)
    return render(request, "evaluation/parts/person.html", context)


def _decide(request: HttpRequest, benchmark: Benchmark, line: RaterRow, form: ReasonForm) -> None:
    assert request.user.is_authenticated
    if request.POST.get("do") == "lift":
        count = lift_exclusion(benchmark, line.rater, request.user, timezone.now())
        text = ngettext("%(n)s answer counts again.", "%(n)s answers count again.", count) % {"n": count}
    elif request.POST.get("do") != "exclude":
        raise Http404
    else:
        exclude(benchmark, line.rater, form.cleaned_data["reason"], request.user, timezone.now())
        text = exclusion_effect_text(benchmark, line.rater)
    messages.success(request, text)
