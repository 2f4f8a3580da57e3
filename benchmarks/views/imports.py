from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.access import benchmark_for
from benchmarks.forms.crossing import CrossingForm
from benchmarks.forms.imports import ImportForm
from benchmarks.forms.typed_rows import TypedRowsForm
from benchmarks.imports.columns import columns_of, sample_of
from benchmarks.imports.records import Defaults
from benchmarks.models import Stage
from benchmarks.pages.plugin_pages import pages_of
from benchmarks.pages.tabs import tabs_for
from benchmarks.services import imports
from benchmarks.views.import_tables import mapping_address, needs_mapping
from benchmarks.views.items import without_stage
from jobs.formats.csv_safety import csv_lines
from jobs.models import Job
from jobs.queries import job_reports
from people.views.request_helpers import current_user


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def import_items(request: HttpRequest, slug: str) -> HttpResponse:
    """Upload a zip. The work itself is a job; its page follows it."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    stages = list(benchmark.stages.all())
    if not stages:
        return without_stage(request, benchmark, "import")
    stage = _selected_stage(stages, key=request.GET.get("stage", ""), number=request.POST.get("stage", ""))
    do = request.POST.get("do", "") if request.method == "POST" else ""
    crossing = CrossingForm(*((request.POST,) if do == "cross" else ()), stage=stage)
    typed = TypedRowsForm(*((request.POST,) if do == "type" else ()), stage=stage)
    written: CrossingForm | TypedRowsForm | None = crossing if do == "cross" else typed if do == "type" else None
    if written and _takes_words(stage) and written.is_valid():
        return redirect("jobs:job", _start_written(request, stage, written).pk)
    form = ImportForm(*(() if written else (request.POST or None, request.FILES or None)), stage=stage)
    if request.method == "POST" and not written and form.is_valid():
        return _take_upload(request, stage, form)
    context = {
        "benchmark": benchmark,
        "form": form,
        "crossing": crossing if _takes_words(stage) else None,
        "typed": typed if _takes_words(stage) else None,
        "stage": stage,
        "stages": stages,
        "columns": columns_of(stage),
        "faulty": do if written and written.errors else "",
        "plugin_imports": [page for page in pages_of(benchmark) if page.imports],
        "jobs": job_reports.recent(benchmark.scope, imports.KIND),
        "nav": tabs_for(request.user, benchmark, "import"),
        "who_place": benchmark.name,
    }
    return render(request, "benchmarks/import.html", context)


def _take_upload(request: HttpRequest, stage: Stage, form: ImportForm) -> HttpResponse:
    """Import the files of the valid form; a table with columns of its own once they are matched."""
    data = form.cleaned_data
    has_own_columns = needs_mapping(data["manifest"])
    files = imports.store_files(
        data.get("archive"), data["manifest"], form.defaults(), complete=data["complete"],
        correct_facts=data["correct_facts"],
    )  # fmt: skip
    if has_own_columns:
        return redirect(mapping_address(stage, files))
    return redirect("jobs:job", imports.start_stored(stage, current_user(request), files).pk)


def _start_written(request: HttpRequest, stage: Stage, form: CrossingForm | TypedRowsForm) -> Job:
    """Import the rows of the valid form: a job that is not named after a file."""
    files = imports.store_files(None, form.manifest(), Defaults())
    return imports.start_stored(stage, current_user(request), replace(files, name=Path(files.name).stem))


def _takes_words(stage: Stage) -> bool:
    """Whether items of words alone are brought into the stage."""
    return stage.pictures == Stage.Pictures.NONE and not stage.derivation


def _selected_stage(stages: Sequence[Stage], *, key: str = "", number: str = "") -> Stage:
    """The one that is named; else the first whose items are not derived. Raises Http404 if it is not there."""
    named = [stage for stage in stages if (str(stage.pk) == number if number else stage.key == key)]
    if not stages or ((key or number) and not named):
        raise Http404
    imported = [stage for stage in stages if not stage.derivation]
    return (named or imported or list(stages))[0]


@login_required
@require_safe
def example_manifest(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A manifest to fill in: every item the recipe expects, or a few rows as an example. `?stage=` names the stage."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    head, rows = sample_of(_selected_stage(list(benchmark.stages.all()), key=request.GET.get("stage", "")))
    response = StreamingHttpResponse(csv_lines(head, rows), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="manifest.csv"'
    return response
