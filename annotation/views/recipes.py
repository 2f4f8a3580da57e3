"""Recipes that people save: of a benchmark, as a file, in the list of a team, and loaded from a file."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.forms.recipes import RecipeFileForm, SaveRecipeForm, condition_rows, conditions_of
from annotation.pages.recipes import content_view, stages_with_drafts
from benchmarks.access import benchmark_for, may_remove_recipe, saved_recipe_for, team_for_recipes
from benchmarks.imports.recipe_file import FileProblem, RecipeFileError, parse_content
from benchmarks.models import Benchmark, SavedRecipe
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries.saved_recipes import offered_recipes, recipe_of
from benchmarks.recipes.recipe_json import file_text
from benchmarks.services.recipes.saved_recipes import (
    ItemVocabulary,
    checked_content,
    item_vocabulary,
    keep_recipe,
    recipe_content,
    set_removed,
)
from people.models import Team
from people.pages.tabs import tabs_for as site_tabs
from people.views.request_helpers import current_user


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def save_recipe(request: HttpRequest, slug: str) -> HttpResponse:
    """What a recipe of the benchmark holds, before it is downloaded or kept for the team."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    usual, posted = item_vocabulary(benchmark), request.POST or None
    initial = {**_usual_texts(benchmark), "concepts": "\n".join(usual.concepts)}
    form = SaveRecipeForm(posted, initial=initial)
    rows = condition_rows(posted if posted and "conditions-TOTAL_FORMS" in posted else None, usual.conditions)
    is_valid = request.method == "POST" and all([form.is_valid(), not rows.is_bound or rows.is_valid()])
    texts: dict[str, Any] = _usual_texts(benchmark)
    vocabulary = usual
    if is_valid:
        texts = form.cleaned_data
        conditions = conditions_of(rows, usual.conditions) if rows.is_bound else usual.conditions
        vocabulary = ItemVocabulary(texts["concepts"] if "concepts" in request.POST else usual.concepts, conditions)
    content = recipe_content(benchmark, texts["name"], texts["summary"], vocabulary)
    problems = _problems(content)
    if is_valid and not problems:
        if request.POST.get("do") == "download":
            return _download(content, 1)
        row, is_new = keep_recipe(benchmark.team, content, current_user(request))
        stored, same = _("Version %(number)s is saved for the team."), _("Version %(number)s holds the same already.")
        messages.success(request, (stored if is_new else same) % {"number": row.version})
        return redirect("annotation:saved_recipe", benchmark.team.slug, row.pk)
    context = {
        "benchmark": benchmark, "nav": tabs_for(request.user, benchmark, "stages"), "who_place": benchmark.name,
        "form": form, "rows": rows, "problems": problems,
        "view": None if problems else content_view(parse_content(content)),
        "drafts": stages_with_drafts(benchmark),
    }  # fmt: skip
    status = 400 if request.method == "POST" else 200
    return render(request, "annotation/recipes/save.html", context, status=status)


def _usual_texts(benchmark: Benchmark) -> dict[str, Any]:
    recipe = recipe_of(benchmark) if benchmark.saved_recipe else None
    return {"name": recipe.name if recipe else benchmark.name, "summary": benchmark.purpose}


def _problems(content: dict[str, Any]) -> list[FileProblem]:
    """What would keep the file from being loaded."""
    try:
        checked_content(parse_content(content))
    except RecipeFileError as error:
        return error.problems
    return []


def _download(content: dict[str, Any], version: int) -> HttpResponse:
    response = HttpResponse(file_text(content, version), content_type="application/json; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{content["key"]}.recipe.json"'
    return response


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def recipes(request: HttpRequest, slug: str) -> HttpResponse:
    """The team's recipes. Posted: one is loaded from a file."""
    team = team_for_recipes(request.user, slug, edit=request.method == "POST")
    form = RecipeFileForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        row, is_new = keep_recipe(team, form.content, current_user(request))
        stored, same = _("Loaded as version %(number)s."), _("The team has the same already, as version %(number)s.")
        messages.success(request, (stored if is_new else same) % {"number": row.version})
        return redirect("annotation:saved_recipe", team.slug, row.pk)
    rows = offered_recipes(Team.objects.filter(pk=team.pk)).select_related("created_by")
    context = _context(request, team, form=form, rows=rows)
    return render(request, "annotation/recipes/list.html", context, status=400 if form.errors else 200)


def _context(request: HttpRequest, team: Team, **more: Any) -> dict[str, Any]:
    return {"team": team, "nav": site_tabs(current_user(request), "teams"), **more}


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def saved_recipe(request: HttpRequest, slug: str, saved_recipe_id: int) -> HttpResponse:
    """One version, with what it holds and the other versions. Posted: take it off the list, or put it back."""
    team = team_for_recipes(request.user, slug, edit=request.method == "POST")
    row = saved_recipe_for(team, saved_recipe_id)
    removes = may_remove_recipe(request.user, row)
    if request.method == "POST":
        if not removes or request.POST.get("do") not in ("remove", "restore"):
            raise Http404
        return _set_removed(request, team, row)
    try:
        view, unreadable = content_view(parse_content(row.content)), []
    except RecipeFileError as error:  # of a release that had other rules
        view, unreadable = None, error.problems
    versions = SavedRecipe.objects.filter(team=team, key=row.key).order_by("-version").select_related("created_by")
    context = _context(request, team, row=row, view=view, problems=unreadable, versions=versions, removes=removes)
    return render(request, "annotation/recipes/recipe.html", context)


def _set_removed(request: HttpRequest, team: Team, row: SavedRecipe) -> HttpResponse:
    removed = request.POST["do"] == "remove"
    set_removed(row, timezone.now() if removed else None, current_user(request))
    taken, back = _("“%(name)s” is not offered any more."), _("“%(name)s” is offered again.")
    messages.success(request, (taken if removed else back) % {"name": row.name})
    return redirect("annotation:saved_recipe", team.slug, row.pk)


@login_required
@require_safe
def saved_recipe_file(request: HttpRequest, slug: str, saved_recipe_id: int) -> HttpResponse:
    """The file of a version."""
    row = saved_recipe_for(team_for_recipes(request.user, slug), saved_recipe_id)
    return _download(row.content, row.version)
