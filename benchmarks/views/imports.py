from collections.abc import Iterable, Sequence

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.access import benchmark_for
from benchmarks.forms.imports import ImportForm
from benchmarks.models import Benchmark, Stage
from benchmarks.recipes.contract import Recipe
from benchmarks.recipes.registry import find
from benchmarks.services import imports
from benchmarks.tabs import tabs_for
from jobs import readers
from jobs.spreadsheets import csv_lines
from people.views.asking import person

COLUMNS = ("file", "key", "concept", "country", "condition", "source", "licence", "alt", "prompt")
EXAMPLES = (
    ("tea/01.jpg", "tea-01", "tea", "Egypt", "natural", "https://example.org/1", "CC BY 4.0", "Tea", ""),
    ("tea/02.jpg", "tea-02", "tea", "Brazil", "generated", "a model's name", "CC0", "Tea", "A photo of tea"),
)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def bring(request: HttpRequest, slug: str) -> HttpResponse:
    """Upload a zip. The work itself is a job; its page follows it."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    stages = list(benchmark.stages.all())
    form = ImportForm(request.POST or None, request.FILES or None, stages=stages)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        job = imports.start_upload(
            said["stage"],
            person(request),
            archive=said["archive"],
            manifest=said["manifest"],
            defaults=form.defaults(),
        )
        return redirect("jobs:job", job.pk)
    recipe = find(benchmark.recipe)
    context = {
        "benchmark": benchmark,
        "form": form,
        "recipe": recipe,
        "samples": _samples(recipe, stages) if recipe else [],
        "jobs": readers.recent(benchmark.scope, imports.KIND),
        "nav": tabs_for(request.user, benchmark, "items"),
        "who_place": benchmark.name,
    }
    return render(request, "benchmarks/import.html", context)


def _samples(recipe: Recipe, stages: Iterable[Stage]) -> list[Stage]:
    """Stages that an example can be written for; none where one example does for all."""
    written = {one.key for one in recipe.stages if one.sample}
    if recipe.concepts and recipe.conditions:  # the recipe's own manifest does for the others
        written |= {one.key for one in recipe.stages if written and not one.derivation}
    return [one for one in stages if one.key in written]


@login_required
@require_safe
def sample(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A manifest to fill in: every item the recipe expects, or a few rows as an example. `?stage=` names the stage."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    head, rows = _sample(benchmark, request.GET.get("stage", ""))
    response = StreamingHttpResponse(csv_lines(head, rows), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="manifest.csv"'
    return response


def _sample(benchmark: Benchmark, stage: str) -> tuple[Sequence[str], Iterable[Sequence[str]]]:
    recipe = find(benchmark.recipe)
    listed = recipe is not None and bool(recipe.concepts and recipe.conditions)  # then its first stage has a manifest
    wanted = stage or (recipe.stages[0].key if recipe and listed else "")
    stages = recipe.stages if recipe else ()
    written = next((one.sample for one in stages if one.sample and wanted in ("", one.key)), ())
    if written:
        head = list(dict.fromkeys(name for row in written for name in row))
        return head, [[row.get(name, "") for name in head] for row in written]
    expected = recipe.expected_items() if recipe else iter(())
    rows = (
        (f"{one.key}.jpg", one.key, one.concept, one.origin, one.condition, "", "", "", one.prompt) for one in expected
    )
    return COLUMNS, rows if listed else EXAMPLES
