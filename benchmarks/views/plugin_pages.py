from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse

from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from benchmarks.pages.plugin_pages import BY_RECIPE, pages_of


@login_required
def page(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """A page of a plugin, for a benchmark of its recipe. A key that no plugin has answers 404 before the benchmark is
    looked up, so that it leaves no event."""
    if not any(one.key == key for pages in BY_RECIPE.values() for one in pages):
        raise Http404
    benchmark: Benchmark = benchmark_for(request.user, slug, can="see")
    plugin_page = next((one for one in pages_of(benchmark) if one.key == key), None)
    if plugin_page is None:
        raise Http404
    if plugin_page.can != "see":
        benchmark = benchmark_for(request.user, slug, can=plugin_page.can)
    return plugin_page.view(request, benchmark)
