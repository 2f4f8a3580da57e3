"""The only way from an id in an address to a collection or a run, for those who work on its benchmark."""

from django.http import Http404

from benchmarks.models import Benchmark
from predictions.models import Collection, Run


def collection_for(benchmark: Benchmark, collection_id: int) -> Collection:
    """A collection of this benchmark, which the person has been let into; 404 for those of others."""
    found = Collection.objects.filter(benchmark=benchmark, pk=collection_id).first()
    if found is None:
        raise Http404
    return found


def run_for(benchmark: Benchmark, run_id: int) -> Run:
    """A run of this benchmark, which the person has been let into; 404 for those of others."""
    found = Run.objects.select_related("benchmark__team", "collection", "rater").filter(benchmark=benchmark, pk=run_id)
    run = found.first()
    if run is None:
        raise Http404
    return run
