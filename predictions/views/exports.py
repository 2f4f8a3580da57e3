"""Collections and runs taken away again, and files to begin with. For those who see their page."""

import json
from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.access import benchmark_for
from jobs.formats.csv_safety import csv_lines
from predictions.access import collection_for, run_for
from predictions.queries.example_files import example_rows
from predictions.queries.exports import collection_lines, run_lines


@login_required
@require_safe
@never_cache
def collection(request: HttpRequest, slug: str, collection_id: int) -> StreamingHttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    found = collection_for(benchmark, collection_id)
    return _file(f"{benchmark.slug}-collection-{found.pk}", collection_lines(found))


@login_required
@require_safe
@never_cache
def run(request: HttpRequest, slug: str, run_id: int) -> StreamingHttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    found = run_for(benchmark, run_id)
    return _file(f"{benchmark.slug}-run-{found.pk}", run_lines(found))


@login_required
@require_safe
@never_cache
def example(request: HttpRequest, slug: str, example_name: str, form: str) -> HttpResponse:
    """A file of an import, with keys of this benchmark; 404 where there is nothing to name, or no such table."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    rows = example_rows(benchmark, example_name)
    if not rows or (form == "csv" and example_name == "embeddings"):
        raise Http404
    if form == "csv":
        text, kind = "".join(csv_lines(list(rows[0]), [list(row.values()) for row in rows])), "text/csv"
    else:
        told = ({name: value for name, value in row.items() if value != ""} for row in rows)
        text, kind = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in told), "application/x-ndjson"
    headers = {"Content-Disposition": f'attachment; filename="{benchmark.slug}-{example_name}.{form}"'}
    return HttpResponse(text, content_type=f"{kind}; charset=utf-8", headers=headers)


def _file(name: str, lines: Iterator[bytes]) -> StreamingHttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}.jsonl"'}
    return StreamingHttpResponse(lines, content_type="application/x-ndjson", headers=headers)
