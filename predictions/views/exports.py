"""Collections and runs taken away again. For those who see their page."""

from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, StreamingHttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.access import benchmark_for
from predictions.access import collection_for, run_for
from predictions.exports import collection_lines, run_lines


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


def _file(name: str, lines: Iterator[bytes]) -> StreamingHttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}.jsonl"'}
    return StreamingHttpResponse(lines, content_type="application/x-ndjson", headers=headers)
