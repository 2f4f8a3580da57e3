"""A table with columns of its own, between its upload and its import: how it is read, and what each column is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, BinaryIO, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.core.files.base import File
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from benchmarks.access import benchmark_for
from benchmarks.forms.table_mapping import TableMappingForm
from benchmarks.imports.manifest import has_known_columns
from benchmarks.imports.problems import SourceProblem
from benchmarks.imports.tables.mapping import MappedTable
from benchmarks.imports.tables.table import NeedsAnswer, TableLook, look
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries.table_columns import proposals_for
from benchmarks.services import imports, storage
from benchmarks.services.imports import StoredImport
from people.views.request_helpers import current_user

SALT, LIFETIME = "benchmarks.import-table", 24 * 3600


def mapping_address(stage: Stage, files: StoredImport) -> str:
    """The page where the columns of a stored table are matched, for this stage."""
    signed = signing.dumps({"stage": stage.pk, **asdict(files)}, salt=SALT, compress=True)
    return reverse("benchmarks:import_table", args=[stage.benchmark.slug], query={"table": signed})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def import_table(request: HttpRequest, slug: str) -> HttpResponse:
    """What the table is, asked where it does not say; then what its columns are."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    signed = request.GET.get("table", "")
    try:
        stage, files = _stored(benchmark, signed)
        with storage.open_binary(files.manifest) as file:
            beginning = look(file, encoding=request.GET.get("encoding", ""), sheet=request.GET.get("sheet", ""))
    except NeedsAnswer as question:
        context = {
            "question": question.name,
            "choices": question.choices,
            "signed": signed,
            "name": files.manifest_name,
        }
        return _page(request, benchmark, context)
    except (SourceProblem, signing.BadSignature, FileNotFoundError) as problem:
        text = (
            str(problem) if isinstance(problem, SourceProblem) else _("The file is no longer there. Choose it again.")
        )
        messages.error(request, text)
        return redirect("benchmarks:import", slug)
    form = _form(request, stage, beginning)
    if request.method == "POST" and form.is_valid():
        table = MappedTable(beginning.format, form.mapping(), beginning.columns)
        return redirect("jobs:job", imports.start_stored(stage, current_user(request), files, table).pk)
    names = {"name": files.manifest_name, "with_archive": files.archive}
    return _page(request, benchmark, {**names, "form": form, "stage": stage, "look": beginning})


def _stored(benchmark: Benchmark, signed: str) -> tuple[Stage, StoredImport]:
    """Raises BadSignature, and Http404 for what is of another benchmark."""
    data: dict[str, Any] = signing.loads(signed, salt=SALT, max_age=LIFETIME)
    stage = benchmark.stages.filter(pk=data.pop("stage")).first()
    if stage is None:
        raise Http404
    return stage, StoredImport(**data)


def _form(request: HttpRequest, stage: Stage, beginning: TableLook) -> TableMappingForm:
    proposed = proposals_for(stage, beginning)
    earlier = imports.earlier_mapping(stage, beginning.columns)
    posted = (request.POST,) if request.method == "POST" else ()
    return TableMappingForm(*posted, stage=stage, look=beginning, proposed=proposed, earlier=earlier)


def _page(request: HttpRequest, benchmark: Benchmark, context: dict[str, Any]) -> HttpResponse:
    form = context.get("form")
    context |= {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, "import"),
        "who_place": benchmark.name,
    }
    status = 400 if form is not None and form.errors else 200
    return render(request, "benchmarks/import_table.html", context, status=status)


def needs_mapping(upload: File[bytes] | None) -> bool:
    """Whether a manifest has columns of its own."""
    return upload is not None and not has_known_columns(cast(BinaryIO, upload))
