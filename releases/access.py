"""The only way from a release's number to a release, for a person. Strangers get 404, everywhere."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from benchmarks.access import Can, benchmark_for, is_permitted
from benchmarks.models import Benchmark
from people.models import User
from releases.models import Release


def visible_releases(user: User | AnonymousUser, benchmark: Benchmark) -> QuerySet[Release]:
    """Owners and researchers see all; who else sees the benchmark, those that were published."""
    releases = benchmark.releases.all()
    return releases if is_permitted(user, benchmark, "work_on") else releases.filter(published_at__isnull=False)


def release_for(user: User | AnonymousUser, slug: str, release_id: int, *, can: Can = "see") -> Release:
    """A release that this person may open. Raises Http404."""
    if isinstance(user, AnonymousUser):
        raise Http404
    benchmark = benchmark_for(user, slug, can=can)
    rows = visible_releases(user, benchmark).select_related("job__created_by", "parent", "created_by")
    release = get_object_or_404(rows, pk=release_id)
    release.benchmark = benchmark
    return release
