"""Who may see the jobs of a benchmark, and what stands above them."""

from django.http import Http404
from django.urls import reverse

from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from jobs.access import JobScope
from people.models import User


def job_scope(user: User, ident: str) -> JobScope | None:
    slug = Benchmark.objects.filter(pk=int(ident)).values_list("slug", flat=True).first() if ident.isdigit() else None
    if slug is None:
        return None
    try:
        benchmark = benchmark_for(user, slug)
    except Http404:
        return None
    return JobScope(
        name=benchmark.name,
        url=reverse("benchmarks:detail", args=[slug]),
        nav=tabs_for(user, benchmark, ""),
        may_change=is_permitted(user, benchmark, "work_on"),
    )
