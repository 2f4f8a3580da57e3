from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.access import benchmark_for, is_permitted, permissions_asked_once, visible_benchmarks
from benchmarks.forms.benchmarks import BLANK, TAKEN, CreateForm
from benchmarks.models import Benchmark
from benchmarks.pages import panels
from benchmarks.pages.benchmark_list import benchmark_list
from benchmarks.pages.board import board_of
from benchmarks.pages.next_actions import next_action
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries import overview
from benchmarks.queries.recipe_additions import recipe_additions
from benchmarks.queries.recipe_cohorts import recipe_cohorts
from benchmarks.recipes.registry import RECIPES
from benchmarks.services.benchmarks import SlugTaken
from jobs.queries.read_once import rows_read_once
from people.access import visible_teams
from people.forms.teams import TeamForm
from people.models import User
from people.pages import tabs as people_tabs
from people.pages.job_scope import team_job_progress
from people.queries.accounts import has_other_accounts
from people.views.request_helpers import current_user


@login_required
@require_safe
def benchmarks(request: HttpRequest) -> HttpResponse:
    user = current_user(request)
    may_create = visible_teams(user).exists()
    first_team = None if may_create or not user.is_staff else TeamForm()
    context = {
        "list": benchmark_list(visible_benchmarks(user), user, timezone.now()),
        "may_create": may_create,
        "first_team": first_team,
        "is_alone": first_team is not None and not has_other_accounts(user),
    }
    context |= team_job_progress(user) | {"nav": people_tabs.tabs_for(user, "benchmarks")}
    return render(request, "benchmarks/list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Any member of a team may make a benchmark there, and becomes its owner."""
    user = current_user(request)
    teams = visible_teams(user)
    if not teams:
        raise Http404
    form = CreateForm(request.POST or None, teams=teams, initial={"recipe": RECIPES[0].key})
    chosen = form.saved.get(request.GET.get("recipe", ""))
    if chosen is not None:
        form.initial.update(recipe=request.GET["recipe"], team=chosen.team_id)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("benchmarks:detail", form.create(user).slug)
        except SlugTaken:
            form.add_error("slug", TAKEN)
    context = {"form": form, "recipes": RECIPES, "blank": BLANK, "nav": people_tabs.tabs_for(user, "benchmarks")}
    context |= {"saved": form.saved, "teams": teams}
    return render(request, "benchmarks/create.html", context)


@login_required
@require_safe
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark, user = benchmark_for(request.user, slug), current_user(request)
    with permissions_asked_once(), rows_read_once():
        return render(request, "benchmarks/detail.html", _overview(request, benchmark, user))


def _overview(request: HttpRequest, benchmark: Benchmark, user: User) -> dict[str, Any]:
    stages, board = overview.stages(benchmark), board_of(benchmark, user, timezone.now(), request.GET.dict())
    views = [(view, column.source) for view, column in zip(stages, board.columns, strict=True)]
    return {
        "benchmark": benchmark,
        "stages": views,
        "collecting": [row for row in views if not row[0].stage.target_answers],
        "items": sum(stage_view.total for stage_view in stages),
        "roles": overview.roles(benchmark),
        "cohorts": recipe_cohorts(benchmark),
        "condition_names": overview.condition_names(benchmark),
        "panels": panels.panels(benchmark),
        "board": board,
        "action": next_action(benchmark, user),
        "works": is_permitted(request.user, benchmark, "work_on"),
        "additions": recipe_additions(benchmark),
        "names_roles": is_permitted(request.user, benchmark, "roles"),
        "nav": tabs_for(request.user, benchmark, "overview"),
        "who_place": benchmark.name,
    }
