"""The only way from an id in an address to what is of this app: in a benchmark or team already opened to the person."""

from django.http import Http404

from benchmarks.models import Benchmark
from people.models import Team
from predictions.models import (
    Call,
    Collection,
    Endpoint,
    EntityLink,
    FactRequest,
    KnowledgeBase,
    KnowledgeEntry,
    KnowledgeIndex,
    PlanSet,
    Run,
)


def collection_for(benchmark: Benchmark, collection_id: int) -> Collection:
    """A collection of this benchmark, which the person has been let into; 404 for those of others."""
    collection = Collection.objects.filter(benchmark=benchmark, pk=collection_id).first()
    if collection is None:
        raise Http404
    return collection


def run_for(benchmark: Benchmark, run_id: int) -> Run:
    """A run of this benchmark that answers no sheet (see `answer_run_for`); 404 for those of others."""
    runs = Run.objects.select_related("benchmark__team", "collection", "rater").filter(benchmark=benchmark, pk=run_id)
    run = runs.exclude(task=Run.Task.ANSWERS).first()
    if run is None:
        raise Http404
    return run


def fact_request_for(benchmark: Benchmark, request_id: int) -> FactRequest:
    """A request for a fact about a stage of this benchmark; 404 for those of others."""
    rows = FactRequest.objects.select_related("stage__benchmark", "run")
    request = rows.filter(stage__benchmark=benchmark, pk=request_id).first()
    if request is None:
        raise Http404
    return request


def answer_run_for(benchmark: Benchmark, run_id: int) -> Run:
    """A run of answers to a sheet, of this benchmark; 404 for those of others, and for runs of another kind."""
    rows = Run.objects.select_related(
        "benchmark__team", "campaign__stage", "campaign__sheet_version", "rater", "endpoint", "created_by", "plan_set"
    )
    run = rows.filter(benchmark=benchmark, pk=run_id, task=Run.Task.ANSWERS).first()
    if run is None:
        raise Http404
    return run


def plan_set_for(benchmark: Benchmark, plan_set_id: int) -> PlanSet:
    """A plan set of this benchmark, which the person has been let into; 404 for those of others."""
    rows = PlanSet.objects.select_related("benchmark__team", "created_by")
    plan_set = rows.filter(benchmark=benchmark, pk=plan_set_id).first()
    if plan_set is None:
        raise Http404
    return plan_set


def call_for(run: Run, call_id: int) -> Call:
    """A call of a run that the person has been let into."""
    call = Call.objects.select_related("item", "unit", "annotation").filter(run=run, pk=call_id).first()
    if call is None:
        raise Http404
    return call


def endpoint_for(team: Team, endpoint_id: int) -> Endpoint:
    """An endpoint of a team that the person has been let into; 404 for those of others."""
    endpoint = Endpoint.objects.select_related("team").filter(team=team, pk=endpoint_id).first()
    if endpoint is None:
        raise Http404
    return endpoint


def base_for(team: Team, base_id: int) -> KnowledgeBase:
    """A knowledge base of this team, which the person has been let into; 404 for those of others."""
    base = KnowledgeBase.objects.select_related("team").filter(team=team, pk=base_id).first()
    if base is None:
        raise Http404
    return base


def entry_for(base: KnowledgeBase, entry_id: int) -> KnowledgeEntry:
    entry = KnowledgeEntry.objects.filter(base=base, pk=entry_id).first()
    if entry is None:
        raise Http404
    return entry


def index_for(base: KnowledgeBase, index_id: int) -> KnowledgeIndex:
    """An index over a knowledge base that the person has been let into; 404 for those over others."""
    index = KnowledgeIndex.objects.select_related("base__team").filter(base=base, pk=index_id).first()
    if index is None:
        raise Http404
    return index


def linking_for(benchmark: Benchmark, run_id: int) -> Run:
    """A linking run of this benchmark; 404 for those of others, and for runs that link nothing."""
    rows = Run.objects.select_related("benchmark__team", "rater", "created_by", "knowledge_index__base__team")
    run = rows.filter(benchmark=benchmark, task=Run.Task.LINKING, pk=run_id).first()
    if run is None:
        raise Http404
    return run


def link_for(run: Run, item_id: int) -> EntityLink:
    link = EntityLink.objects.select_related("item__stage").filter(run=run, item=item_id).first()
    if link is None:
        raise Http404
    return link
