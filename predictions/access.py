"""The only way from an id in an address to what is of this app: in a benchmark or team already opened to the person."""

from django.shortcuts import get_object_or_404

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
    return get_object_or_404(Collection, benchmark=benchmark, pk=collection_id)


def run_for(benchmark: Benchmark, run_id: int) -> Run:
    """A run of this benchmark that answers no sheet (see `answer_run_for`); 404 for those of others."""
    runs = Run.objects.select_related("benchmark__team", "collection", "rater").filter(benchmark=benchmark, pk=run_id)
    return get_object_or_404(runs.exclude(task=Run.Task.ANSWERS))


def fact_request_for(benchmark: Benchmark, request_id: int) -> FactRequest:
    """A request for a fact about a stage of this benchmark; 404 for those of others."""
    rows = FactRequest.objects.select_related("stage__benchmark", "run")
    return get_object_or_404(rows, stage__benchmark=benchmark, pk=request_id)


def answer_run_for(benchmark: Benchmark, run_id: int) -> Run:
    """A run of answers to a sheet, of this benchmark; 404 for those of others, and for runs of another kind."""
    rows = Run.objects.select_related(
        "benchmark__team", "campaign__stage", "campaign__sheet_version", "rater", "endpoint", "created_by", "plan_set"
    )
    return get_object_or_404(rows, benchmark=benchmark, pk=run_id, task=Run.Task.ANSWERS)


def plan_set_for(benchmark: Benchmark, plan_set_id: int) -> PlanSet:
    """A plan set of this benchmark, which the person has been let into; 404 for those of others."""
    rows = PlanSet.objects.select_related("benchmark__team", "created_by")
    return get_object_or_404(rows, benchmark=benchmark, pk=plan_set_id)


def call_for(run: Run, call_id: int) -> Call:
    """A call of a run that the person has been let into."""
    return get_object_or_404(Call.objects.select_related("item", "unit", "annotation"), run=run, pk=call_id)


def endpoint_for(team: Team, endpoint_id: int) -> Endpoint:
    """An endpoint of a team that the person has been let into; 404 for those of others."""
    return get_object_or_404(Endpoint.objects.select_related("team"), team=team, pk=endpoint_id)


def base_for(team: Team, base_id: int) -> KnowledgeBase:
    """A knowledge base of this team, which the person has been let into; 404 for those of others."""
    return get_object_or_404(KnowledgeBase.objects.select_related("team"), team=team, pk=base_id)


def entry_for(base: KnowledgeBase, entry_id: int) -> KnowledgeEntry:
    return get_object_or_404(KnowledgeEntry, base=base, pk=entry_id)


def index_for(base: KnowledgeBase, index_id: int) -> KnowledgeIndex:
    """An index over a knowledge base that the person has been let into; 404 for those over others."""
    return get_object_or_404(KnowledgeIndex.objects.select_related("base__team"), base=base, pk=index_id)


def linking_for(benchmark: Benchmark, run_id: int) -> Run:
    """A linking run of this benchmark; 404 for those of others, and for runs that link nothing."""
    rows = Run.objects.select_related("benchmark__team", "rater", "created_by", "knowledge_index__base__team")
    return get_object_or_404(rows, benchmark=benchmark, task=Run.Task.LINKING, pk=run_id)


def link_for(run: Run, item_id: int) -> EntityLink:
    return get_object_or_404(EntityLink.objects.select_related("item__stage"), run=run, item=item_id)
